"""`surefoot demo`: the main job, on bundled data."""

from __future__ import annotations

import csv
from importlib.resources import files as resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import surefoot as sf
from surefoot import stats
from surefoot.cli import terminal
from surefoot.cli.report import show, writable
from surefoot.core.formatting import number, span
from surefoot.core.tally import Tally
from surefoot.files.reading import read

if TYPE_CHECKING:
    import polars as pl

    from surefoot.table.rollouts import Rollouts


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The page to write: .html, .pdf, .md, .tex or .json.")
    ] = Path("surefoot-demo.html"),
    data: Annotated[
        Path | None, typer.Option("--data", help="Also write the rollouts as a CSV, to try other commands on.")
    ] = None,
    checkpoints: Annotated[
        Path | None,
        typer.Option(
            "--checkpoints", help="Also write rollouts of six checkpoints as a CSV, for best, slices and gate."
        ),
    ] = None,
    as_json: terminal.AsJson = False,
) -> None:
    """Run an example analysis on bundled data.

    Prints the tables, writes one page, opens nothing.

    Examples:

        surefoot demo

        surefoot demo -o /tmp/demo.html

        surefoot demo --data results.csv --checkpoints checkpoints.csv
    """

    writable(output)
    rollouts = example_rollouts()
    if data is not None:
        terminal.in_folder(data, "--data")
        rollouts.polars().write_csv(data)
    if checkpoints is not None:
        terminal.in_folder(checkpoints, "--checkpoints")
        example_checkpoints().write_csv(checkpoints)
    with terminal.busy("comparing and drawing"):
        made = sf.report(
            rollouts,
            title=f"Demo: a simulated partial-credit study (seed {SEED})",
            command=f"surefoot demo -o {output}",
        )
        made.save(output)
    if as_json:
        terminal.show_json(made.data())
        return
    typer.echo("Published success counts, with what they support (95% confidence; ends rounded outward):")
    terminal.table(["policy", "task", "k/n", "rate", "Wilson interval", "at least (guaranteed)"], _published())
    for source in dict.fromkeys(row["source"] for row in _counts()):
        typer.echo(f"Source: {source}")
    typer.echo(f"\nA simulated study: {made.overview.rollouts} rollouts of two policies in the same conditions.")
    show(made)
    typer.echo(f"\nWrote {output}{': open it in a browser' if output.suffix == '.html' else ''}.")
    if data is not None:
        typer.echo(f"Wrote {data}: try `surefoot report {data}`, or any other command.")
    if checkpoints is not None:
        typer.echo(f"Wrote {checkpoints}: try `surefoot best {checkpoints}`.")


def _published() -> list[list[str]]:
    rows = []
    for row in _counts():
        tally = Tally(int(row["successes"]), int(row["rollouts"]))
        interval, bound = stats.wilson(tally), stats.clopper_pearson_lower(tally)
        counts = f"{tally.successes}/{tally.trials}"
        ends = span(interval.low, interval.high)
        rows.append([row["policy"], row["task"], counts, number(tally.rate), ends, number(bound.value, toward="down")])
    return rows


def _counts() -> list[dict[str, str]]:
    text = (resources("surefoot.files") / "examples" / "published_counts.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


SEED = 20260
TASKS = {"fold towel": 0.93, "pour ice": 0.96, "stack cups": 0.90}
POLICIES = {"new": 0.035, "old": -0.035}
CONDITIONS, STEPS = 40, 5


def example_rollouts(seed: int = SEED) -> Rollouts:
    """The simulated study: 2 policies, 3 tasks, 40 shared conditions, partial credit in fifths.

    Example:
        >>> from surefoot.cli.demo import example_rollouts
        >>> print(example_rollouts())
        240 rollouts of 2 policies on 3 tasks, with success and score in [0, 1].
    """
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(seed)
    contexts = [(task, place) for task in TASKS for place in range(CONDITIONS)]
    rows: list[tuple[object, ...]] = []
    for order in rng.permutation(len(contexts)):
        task, place = contexts[order]
        hardness = rng.normal(0.0, 0.05)  # shared by both policies: pairs are alike
        for policy in rng.permutation(list(POLICIES)):
            chance = min(0.995, max(0.05, TASKS[task] + POLICIES[policy] + hardness))
            passed = int(np.argmin([*(rng.random(STEPS) < chance), False]))
            rows.append((str(policy), task, f"{task} {place + 1:02d}", len(rows) + 1, passed == STEPS, passed / STEPS))
    names = ["policy", "task", "condition", "order", "success", "score"]
    return read(pl.DataFrame(rows, schema=names, orient="row"))


CHECKPOINTS = {"20k": 0.35, "40k": 0.55, "60k": 0.70, "80k": 0.80, "100k": 0.86, "120k": 0.90}
EASE = {"fold towel": 0.04, "pour ice": 0.0, "stack cups": -0.04}
SCENES, LIMIT = 20, 60.0


def example_checkpoints(seed: int = SEED) -> pl.DataFrame:
    """Simulated checkpoints of one training: 60 scenes of 3 tasks in bright and dim light, with their seconds.

    The rate rises with the steps, but the last checkpoint has lost pouring in dim light.

    Example:
        >>> from surefoot.cli.demo import example_checkpoints
        >>> example_checkpoints().columns
        ['policy', 'task', 'scene', 'lighting', 'success', 'seconds']
    """
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(seed)
    rows: list[tuple[object, ...]] = []
    for policy, rate in CHECKPOINTS.items():
        for task, ease in EASE.items():
            for light in ("bright", "dim"):
                lost = (policy, task, light) == ("120k", "pour ice", "dim")
                for scene in range(SCENES):
                    success = bool(rng.random() < (0.15 if lost else rate + ease - (0.05 if light == "dim" else 0.0)))
                    seconds = min(LIMIT, rng.gamma(16.0, 28.0 / 16.0) + (0.0 if success else 12.0))
                    rows.append((policy, task, f"{task} {scene + 1:02d}", light, success, round(seconds, 1)))
    names = ["policy", "task", "scene", "lighting", "success", "seconds"]
    return pl.DataFrame(rows, schema=names, orient="row")
