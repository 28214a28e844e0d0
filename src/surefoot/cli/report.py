"""`surefoot report`: what do these data support, on one page?"""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

import surefoot as sf
from surefoot.cli import files, label_options, modes, terminal, two_runs

ENDINGS = (".html", ".htm", ".pdf", ".md", ".tex", ".json")
INCHES = {"in": 1.0, "mm": 1 / 25.4, "cm": 1 / 2.54, "pt": 1 / 72}

Figures = Annotated[
    Path | None, typer.Option("--figures", help="A folder to write every figure to, as SVG, PNG and PDF.")
]
Width = Annotated[
    str | None, typer.Option("--width", help="How wide each figure is: 3.4in or 86mm for one column of a paper.")
]
Look = Annotated[str | None, typer.Option("--style", help="A style of matplotlib for the figures, such as ggplot.")]

NoClips = Annotated[bool, typer.Option("--no-clips", help="Do not copy clips of rollouts beside the page.")]


@modes.of("report")
@files.reads
def report(
    paths: files.Paths,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The page to write: .html, .pdf, .md, .tex or .json.")
    ] = Path("report.html"),
    figures: Figures = None,
    width: Width = None,
    look: Look = None,
    title: Annotated[str, typer.Option(help="What the page is called.")] = "",
    previous: Annotated[
        Path | None, typer.Option("--previous", help="Results of a previous run: shows what changed since.")
    ] = None,
    pool_runs: two_runs.PoolRuns = False,
    weights: files.Weights = None,
    human_labels: label_options.Human = None,
    labels_method: label_options.Method = None,
    *,
    reading: files.Reading,
    collected: files.Collected = None,
    margin: files.Margin = 0.0,
    no_clips: NoClips = False,
    confidence: terminal.Confidence = terminal.CONFIDENCE,
    as_json: terminal.AsJson = False,
) -> None:
    """What do these data support?

    Everything on one page: the answer, the numbers, and what they rest on.

    Examples:

        surefoot report results.csv -o report.html

        surefoot report new.json old.json --policy new --policy old

        surefoot report results.csv --score progress --figures figures/ --width 3.4in

        surefoot report today.csv --previous yesterday.csv

        surefoot report results.csv --human labels.csv

        surefoot report study.db
    """
    given = modes.given(report, locals())
    writable(output)
    inches(width)
    if len(paths) == 1 and _is_study(paths[0]):
        from surefoot.cli import study_log

        modes.settled("report", "a study", given)
        study_log.report(str(paths[0]), output, figures, width, look, None, no_clips, as_json)
        return
    modes.settled("report", "files", given)
    rollouts = files.table(paths, reading, collected=collected)
    rollouts = label_options.labelled(rollouts, human_labels, labels_method, reading.score)
    two = None if pool_runs else two_runs.runs_of(rollouts, [str(path) for path in paths])
    if two is not None and previous is not None:
        raise ValueError(
            "`--previous` must be left out when two files hold the same policies: the second is the earlier."
        )
    if two is not None:
        typer.echo(f"note: {paths[0]} and {paths[1]} are two runs: the second is taken as the earlier one.", err=True)
    rollouts, before = two or (rollouts, _previous(previous, reading))
    what = files.measure_of(rollouts, reading.score)
    with terminal.busy(f"comparing {rollouts.words.policies}"):
        made = sf.report(
            rollouts,
            title=title,
            measure=what,
            confidence=confidence,
            margin=margin,
            weights=files.weights_of(weights),
            previous=before,
            command=shlex.join(["surefoot", *sys.argv[1:]]) if sys.argv[1:2] == ["report"] else "",
            progress=files.progress(f"comparing {rollouts.words.policies}"),
        )
    with terminal.busy("drawing"), terminal.told_aloud():
        made.save(output, clips=not no_clips)
        if figures is not None:
            save_figures(made, figures, width, look)
    if as_json:
        terminal.show_json(made.data())
        return
    show(made)
    typer.echo(f"\nWrote {output}")
    if figures is not None:
        typer.echo(f"Wrote the figures to {figures}")


def _is_study(path: Path) -> bool:
    """Whether a file is a study, or its exported log: then the page is the study's own."""
    from surefoot.files.formats import study_logs
    from surefoot.files.recognising import Head

    return path.is_file() and study_logs.recognises(Head(path, path.name))


def writable(output: Path) -> None:
    """Refuse a page that could not be written before anything is computed."""
    if output.suffix.lower() not in ENDINGS:
        raise ValueError(f"`--output` must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}; got {output.name!r}.")
    terminal.in_folder(output, "--output")


def _previous(path: Path | None, reading: files.Reading) -> sf.Rollouts | None:
    """The previous run, read in the same way; a policy's name that was given holds for both."""
    if path is None:
        return None
    names = reading.policies if reading.policies is not None and len(reading.policies) == 1 else None
    return files.table([path], replace(reading, policies=names, policies_in=None))


def show(made: sf.Report) -> None:
    """The page's first screen, in the terminal."""
    from surefoot.reporting import answers, tables

    found = made.overview
    for line in (*answers.overview_front(found), *answers.overview_answer(found)):
        typer.echo(line)
    files.show_serious(found.audit.serious)
    terminal.table(tables.columns(found), tables.policy_rows(found))
    for line in tables.notes(found):
        typer.echo(line)
    for difference in found.disagreements:
        typer.echo(str(difference))


def save_figures(made: sf.Report, folder: Path, width: str | None = None, look: str | None = None) -> None:
    """Every figure as SVG, PNG and PDF."""
    from surefoot.reporting import style

    folder.mkdir(parents=True, exist_ok=True)
    for name, figure in made.figures(width=inches(width), style=look).items():
        plain = "".join(letter if letter.isalnum() else "-" for letter in name)
        for suffix in (".svg", ".png", ".pdf"):
            style.save(figure, folder / f"{plain}{suffix}")


def inches(word: str | None) -> float | None:
    """A width on the command line: 3.4in, 86mm, 8.6cm, or a number of inches."""
    if word is None:
        return None
    text = word.strip().lower()
    unit = next((unit for unit in INCHES if text.endswith(unit)), "")
    try:
        return float(text.removesuffix(unit)) * INCHES.get(unit, 1.0)
    except ValueError:
        raise ValueError(f"`--width` must be a width such as 3.4in or 86mm; got {word!r}.") from None
