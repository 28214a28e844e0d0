"""`surefoot band`: what is the worst that the scores can be?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from surefoot import _check, stats
from surefoot.cli import files, modes, terminal
from surefoot.core import formatting as shown
from surefoot.core.bands import Band
from surefoot.core.scores import Scores
from surefoot.errors import DataError
from surefoot.stats.bands import MOST_TAIL_TIGHT, tail_tight

QUANTILES, WORST = (0.05, 0.1, 0.25, 0.5), (0.25,)
LONGEST_LIST = 1 << 27


@modes.of("band")
def band(
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE | SCORE...",
            help="A file of scores (one per line, or results of any known format), or the scores.",
        ),
    ],
    score: files.Score = None,
    policy: Annotated[str | None, typer.Option(help="Only the rows of this policy.")] = None,
    low: files.Low = None,
    high: files.High = None,
    quantile: Annotated[list[float] | None, typer.Option(help="A quantile to bound; may be repeated.")] = None,
    worst: Annotated[list[float] | None, typer.Option(help="A worst fraction to average; may be repeated.")] = None,
    at_least: Annotated[list[float] | None, typer.Option(help="A score to be reached; may be repeated.")] = None,
    figure: Annotated[Path | None, typer.Option(help="Write a figure: name.svg, name.png or name.pdf.")] = None,
    using: Annotated[str, typer.Option(help="The band that the figure marks: ks or tail-tight.")] = "ks",
    confidence: terminal.Confidence = terminal.CONFIDENCE,
    as_json: terminal.AsJson = False,
) -> None:
    """What is the worst that the scores can be?

    The whole distribution, guaranteed.

    Examples:

        surefoot band scores.txt

        surefoot band results.csv --policy new --score progress

        surefoot band eval_info.json

        surefoot band 0.2 0.9 1.0 0.75 1.0 0.6 1.0 0.95

        surefoot band scores.txt --low 0 --high 100 --quantile 0.05 --at-least 60

        surefoot band scores.txt --figure worst-case.svg
    """
    marked = _check.choice(using, "--using", {"ks": "ks", "tail-tight": "tail_tight"})
    given = modes.given(band, locals())
    modes.settled("band", "scores" if all(map(terminal.is_number, data)) else "files", given)
    for option, shares in (("--quantile", quantile), ("--worst", worst)):
        for share in shares or ():
            _check.fraction(share, option)
    scores = _scores(data, score, policy, low, high)
    bands = {"ks": stats.band(scores, confidence=confidence)}
    if marked == "tail_tight" or len(scores) <= MOST_TAIL_TIGHT:  # refused for more, when it is asked for
        bands["tail_tight"] = stats.band(scores, confidence=confidence, using=tail_tight)
    mean = stats.score_mean(scores, confidence=confidence)
    rows = _rows(bands, quantile or QUANTILES, worst or WORST, at_least or ())
    if figure is not None:
        from surefoot.reporting import curve_figures, style

        main = bands[marked]
        other = next((found for found in bands.values() if found is not main), None)
        what = score or "score"
        drawn = curve_figures.band_figure(main, other, quantiles=quantile or curve_figures.MARKS, what=what)
        style.save(drawn, figure)
    if as_json:
        table = [{"what": name, "observed": seen, **found} for name, seen, found, _ in rows]
        terminal.show_json(
            {name: found.to_dict() for name, found in bands.items()} | {"mean": mean.to_dict(), "bounds": table}
        )
        return
    typer.echo(str(scores))
    typer.echo(f"Guaranteed with {shown.percent(confidence)} confidence, for all lines of a column together:")
    header = ["", "observed", *(found.method for found in bands.values())]
    terminal.table(header, [_line(name, seen, found, scale) for name, seen, found, scale in rows])
    typer.echo(f"The mean by itself: {mean}")
    for note in bands["ks"].notes:
        typer.echo(note)
    if figure is not None:
        typer.echo(f"Figure: {figure}")


Row = tuple[str, float, dict[str, float], shown.Scale]


def _rows(
    bands: dict[str, Band], quantiles: Sequence[float], worst: Sequence[float], levels: Sequence[float]
) -> list[Row]:
    """What is bounded, what was observed, and the bound by each band."""
    any_band = next(iter(bands.values()))

    def by(bound: Callable[..., float], *at: float) -> dict[str, float]:
        return {name: bound(found, *at) for name, found in bands.items()}

    rows: list[Row] = [("mean", any_band.scores.mean, by(Band.mean_bound), "score")]
    for tau in quantiles:
        label = "median" if tau == 0.5 else f"{shown.percent(tau)} quantile"
        rows.append((label, any_band.observed_quantile(tau), by(Band.quantile_bound, tau), "score"))
    for tau in worst:
        label = f"average of the worst {shown.percent(tau)}"
        rows.append((label, any_band.observed_cvar(tau), by(Band.cvar_bound, tau), "score"))
    for level in levels:
        share = sum(value >= level for value in any_band.points) / any_band.trials
        rows.append((f"chance of {level:g} or more", share, by(Band.chance_at_least, level), "rate"))
    return rows


def _line(name: str, seen: float, found: dict[str, float], scale: shown.Scale) -> list[str]:
    bounds = [f"at least {shown.number(value, scale, 'down')}" for value in found.values()]
    return [name, shown.number(seen, scale), *bounds]


def _scores(data: list[str], score: str | None, policy: str | None, low: float | None, high: float | None) -> Scores:
    ends = _check.span(0.0 if low is None else low, 1.0 if high is None else high)
    if all(terminal.is_number(word) for word in data):
        return Scores([float(word) for word in data], *ends)
    if len(data) > 1:
        wrong = next(word for word in data if not terminal.is_number(word))
        raise ValueError(f"Several words must all be scores; got {wrong!r}. To read a file, name it alone.")
    path = Path(data[0])
    listed = _listed(path) if score is None and policy is None else None
    if listed is not None:
        return _in_range(listed, path, *ends)
    rollouts = files.table([path], files.Reading(score=score, low=low, high=high))
    if policy is None and len(rollouts.policies) > 1:
        names = ", ".join(rollouts.policies[:6])
        raise ValueError(f"`--policy` must say which policy's scores are meant; the file holds {names}.")
    return rollouts.where(policy=policy or rollouts.policies[0]).scores()


def _listed(path: Path) -> list[tuple[int, str]] | None:
    """The lines of a file that holds one score a line, a heading allowed; None when it is anything else."""
    if not path.is_file() or path.stat().st_size > LONGEST_LIST:
        return None
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        return None
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if lines and not terminal.is_number(lines[0][1]) and len(lines) > 1 and terminal.is_number(lines[1][1]):
        lines = lines[1:]  # a heading
    return lines if lines and terminal.is_number(lines[0][1]) else None


def _in_range(lines: list[tuple[int, str]], path: Path, low: float, high: float) -> Scores:
    values = []
    for row, line in lines:
        if not terminal.is_number(line):
            raise DataError(f"a score must be a number; got {line[:40]!r}.", source=path.name, row=row)
        if not low <= float(line) <= high:
            message = (
                f"scores must lie in the stated range [{low:g}, {high:g}]; got {line}. State it by --low and --high."
            )
            raise DataError(message, source=path.name, row=row)
        values.append(float(line))
    return Scores(values, low, high)
