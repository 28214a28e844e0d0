"""`surefoot labels`: which items should a person label?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surefoot._files import write_whole
from surefoot.cli import files, terminal
from surefoot.core.formatting import counted

if TYPE_CHECKING:
    from surefoot.table.rollouts import Rollouts

AGREEMENTS = (0.8, 0.9, 0.95)
GAINS = (0.05, 0.1)

app = typer.Typer(
    help="Human labels beside a judge: draw the items to label.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def _group() -> None:
    """Human labels beside a judge: draw the items to label.

    Examples:

        surefoot labels draw runs.csv --n 100 --seed 7 -o labels.csv
    """


@app.command()
@files.reads
def draw(
    paths: files.Paths,
    items: Annotated[int, typer.Option("--n", help="How many items to label.")],
    seed: Annotated[int, typer.Option("--seed", help="Seed of the draw; written into the file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to fill in, a CSV.")] = Path("labels.csv"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")] = False,
    *,
    reading: files.Reading,
    as_json: terminal.AsJson = False,
) -> None:
    """Which items should a person label?

    Items are drawn at random; all their epochs and policies are to be labelled, in random order. What the judge said is
    not shown, and of several policies not whose output it is: codes stand for them. A second file, NAME.key.csv, tells
    whoever prepares the outputs what is behind a code. Give the filled-in file to compare, rank or report: --human.

    Examples:

        surefoot labels draw runs.csv --n 100 --seed 7 -o labels.csv

        surefoot labels draw pr.eval main.eval --n 100 --seed 7
    """
    import surefoot as sf

    key = output.with_name(f"{output.stem}.key{output.suffix}")
    terminal.in_folder(output, "--output")
    for path in (output, key):
        if path.exists() and not force:
            raise ValueError(
                f"`--output` must not overwrite {str(path)!r}, which may hold labels. Add --force to overwrite it."
            )
    rollouts = files.table(paths, reading)
    drawn = sf.draw_labels(rollouts, items, seed=seed)
    write_whole(output, drawn.to_csv())
    if drawn.key:
        write_whole(key, drawn.key_csv())
    if as_json:
        terminal.show_json(drawn.to_dict())
        return
    typer.echo(str(drawn))
    if drawn.left_out:
        spare = counted(drawn.left_out, "item")
        typer.echo(f"{spare} could not be drawn: some {rollouts.words.policy} has no outcome there.")
    typer.echo(
        f"Wrote {output}: fill in `human` (and `rater`, when several people label the same {rollouts.words.rollouts})."
    )
    if drawn.key:
        typer.echo(f"Wrote {key}: which {rollouts.words.policy} is behind each code. People who label must not see it.")
    _expected(rollouts)
    given = " ".join(map(str, paths))
    typer.echo(f"Then: surefoot compare {given} --human {output}")


def _expected(rollouts: Rollouts) -> None:
    """How many labels would do, by how good the judge may be: nothing else is known before there are labels."""
    from surefoot.analysis.judged_gains import judge_gains
    from surefoot.stats.labelling import labels_expected

    gains = judge_gains(rollouts) if len(rollouts.policies) == 2 and "success" in rollouts.columns else []
    if len(gains) < 50:
        typer.echo(
            "Below 30 labels the labels decide alone. The judge helps from about 50 labels at 90% "
            "agreement, 100 at 80%."
        )
        return
    rows = []
    for agreement in AGREEMENTS:
        needed = [labels_expected(gains, gain, agreement=agreement) for gain in GAINS]
        told = [f"{one.low:,} to {one.high:,}" if one.labels is not None else "more items" for one in needed]
        rows.append([f"{agreement:.0%}", *told])
    typer.echo(
        f"How many items to label, about, so that a gain is decided in 80% of evaluations ({len(gains):,} items):"
    )
    terminal.table(["judge agrees on", *(f"gain of {100 * gain:.0f} points" for gain in GAINS)], rows)
