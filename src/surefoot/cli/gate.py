"""`surefoot gate`: may it be released?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surefoot.cli import compare_output, files, label_options, modes, terminal, two_runs

if TYPE_CHECKING:
    from surefoot.analysis.gates import Gated

FORMATS = ("text", "github", "junit", "json")


@modes.of("gate")
@files.reads
def gate(
    what: Annotated[
        list[Path], typer.Argument(metavar="FILE... NEEDS.toml", help="Results, then the TOML file of the needs.")
    ],
    first: Annotated[str | None, typer.Option(help="The policy to be released; in NEEDS.toml, or of two.")] = None,
    second: Annotated[str | None, typer.Option(help="The policy it is compared with.")] = None,
    previous: Annotated[
        Path | None,
        typer.Option("--previous", help="An earlier run: each policy is compared with itself in it."),
    ] = None,
    human_labels: label_options.Human = None,
    labels_method: label_options.Method = None,
    target: files.Targeted = None,
    weights: files.Weights = None,
    *,
    reading: files.Reading,
    written: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="|".join(FORMATS),
            help="A comment for a pull request, JUnit XML, JSON; text if left out.",
        ),
    ] = None,
    as_json: terminal.AsJson = False,
) -> None:
    """May it be released? Several needs at once, on any measure.

    The needs that are broken come first, then those that are open and how many more rollouts each lacks, then those
    that hold. All must hold: then none is charged for the others. Exit code: 0 pass, 1 fail (a need is shown to be
    broken), 2 open, 3 not comparable, 64 wrong use, 65 data that cannot be used.

    release.toml:

    \b
        [gate]
        confidence = 0.95
        rule = "all"               # or "at least 3", or "one better, none worse"
        first = "new"
        second = "old"

    \b
        [[gate.need]]
        measure = "success"
        not_worse_by = 0.02        # or better_by

    \b
        [[gate.need]]
        measure = "duration"
        at_most_times = 1.10
        limit = 120                # a timeout counts the limit

    \b
        [[gate.need]]
        measure = "collision"
        rate_at_most = 0.01        # or rate_at_least, mean_at_most, mean_at_least

    \b
        [[gate.need]]
        measure = "success"
        by = "benchmark"           # one need for each level
        not_worse_by = 0.05

    \b
        [[gate.need]]
        measure = "tokens"
        not_worse_by = 200
        better = "lower"
        limit = 100000

    Examples:

        surefoot gate results.csv release.toml

        surefoot gate pr.csv release.toml --previous main.csv --format github

        surefoot gate pr.eval main.eval release.toml --human labels.csv
    """
    import surefoot as sf

    form = compare_output.format_of(written, as_json=as_json, raw=False, gate=True, among=FORMATS)
    needs = [path for path in what if path.suffix == ".toml"]
    paths = [path for path in what if path.suffix != ".toml"]
    if len(needs) != 1 or not paths:
        raise ValueError("`gate` must have files of results and one TOML file of needs: results.csv release.toml.")
    asked = sf.read_gate(needs[0])
    table = label_options.labelled(files.table(paths, reading), human_labels, labels_method, reading.score)
    again = None if previous is None else files.table([previous], reading)
    runs = two_runs.pair_of_runs(
        table, [str(path) for path in paths], (first, second), previous=(previous, again), pool=False
    )
    now, before = (table, None) if runs is None else (runs.now, runs.before)
    if runs is not None:
        if previous is None:
            modes.refuse("gate", "files, two runs", modes.given(gate, locals()))
        typer.echo(f"note: {runs.says}", err=True)
    elif first is None and asked.first is None and len(table.policies) > 1:
        first, second = files.two_policies(table, paths, None, second or asked.second)
    found = sf.gate(
        now, asked, first=first, second=second, previous=before,
        target=files.target_of(target), weights=files.weights_of(weights),
    )  # fmt: skip
    _show(found, form)
    raise typer.Exit(found.code)


def _show(found: Gated, form: str) -> None:
    from surefoot.reporting import reviews

    if form in ("text", "json"):
        terminal.show(found, as_json=form == "json")
    else:
        typer.echo(getattr(reviews, {"github": "gate_markdown", "junit": "gate_junit"}[form])(found), nl=False)
