"""`surefoot band`: what is the worst that the scores can be?"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated

import typer

from surefoot import _check, stats
from surefoot.cli import words
from surefoot.core import words as shown
from surefoot.core.bands import Band
from surefoot.core.scores import Scores
from surefoot.errors import DataError
from surefoot.stats.bands import MOST_TAIL_TIGHT

QUANTILES, WORST = (0.05, 0.1, 0.25, 0.5), (0.25,)


def band(
    data: Annotated[
        list[str],
        typer.Argument(metavar="FILE | SCORE...", help="A file of scores (one per line, or a table), or the scores."),
    ],
    score: Annotated[str | None, typer.Option(help="The column of a table that holds the scores.")] = None,
    policy: Annotated[str | None, typer.Option(help="Only the rows of this policy.")] = None,
    low: Annotated[float, typer.Option(help="The low end of the range, fixed before the first rollout.")] = 0.0,
    high: Annotated[float, typer.Option(help="The high end of the range.")] = 1.0,
    quantile: Annotated[list[float] | None, typer.Option(help="A quantile to bound; may be repeated.")] = None,
    worst: Annotated[list[float] | None, typer.Option(help="A worst fraction to average; may be repeated.")] = None,
    at_least: Annotated[list[float] | None, typer.Option(help="A score to be reached; may be repeated.")] = None,
    figure: Annotated[Path | None, typer.Option(help="Write a figure: name.svg, name.png or name.pdf.")] = None,
    using: Annotated[str, typer.Option(help="The band that the figure marks: ks or tail-tight.")] = "ks",
    confidence: words.Confidence = 0.95,
    as_json: words.AsJson = False,
) -> None:
    """What is the worst that the scores can be? The whole distribution, guaranteed.

    Examples:

        surefoot band scores.txt

        surefoot band results.csv --policy new --score progress

        surefoot band 0.2 0.9 1.0 0.75 1.0 0.6 1.0 0.95

        surefoot band scores.txt --low 0 --high 100 --quantile 0.05 --at-least 60

        surefoot band scores.txt --figure worst-case.svg
    """
    marked = _check.choice(using, "--using", {"ks": "ks", "tail-tight": "tail_tight"})
    scores = _scores(data, score, policy, low, high)
    bands = {"ks": stats.band(scores, confidence=confidence)}
    if len(scores) <= MOST_TAIL_TIGHT:
        bands["tail_tight"] = stats.band(scores, confidence=confidence, using=stats.tail_tight)
    mean = stats.betting_mean(scores, confidence=confidence)
    rows = _rows(bands, quantile or QUANTILES, worst or WORST, at_least or ())
    if figure is not None:
        from surefoot.reporting import bandplots, style

        main = bands.get(marked, bands["ks"])
        other = next((found for found in bands.values() if found is not main), None)
        what = score or "score"
        drawn = bandplots.band_figure(main, other, quantiles=quantile or bandplots.MARKS, what=what)
        style.save(drawn, figure)
    if as_json:
        table = [{"what": name, "observed": seen, **found} for name, seen, found, _ in rows]
        words.show_json(
            {name: found.to_dict() for name, found in bands.items()} | {"mean": mean.to_dict(), "bounds": table}
        )
        return
    typer.echo(str(scores))
    typer.echo(f"Guaranteed with {shown.percent(confidence)} confidence, all lines of a column at once:")
    header = ["", "observed", *(found.method for found in bands.values())]
    words.table(header, [_line(name, seen, found, scale) for name, seen, found, scale in rows])
    typer.echo(f"The mean by itself: {mean}")
    for note in bands["ks"].notes:
        typer.echo(note)
    if figure is not None:
        typer.echo(f"Figure: {figure}")


Row = tuple[str, float, dict[str, float], shown.Scale]


def _rows(
    bands: dict[str, Band],
    quantiles: tuple[float, ...] | list[float],
    worst: tuple[float, ...] | list[float],
    levels: tuple[float, ...] | list[float],
) -> list[Row]:
    """What is bounded, what was observed, and the bound by each band."""
    any_band = next(iter(bands.values()))
    rows: list[Row] = [
        ("mean", any_band.scores.mean, {name: found.mean_bound() for name, found in bands.items()}, "score")
    ]
    for tau in quantiles:
        label = "median" if tau == 0.5 else f"{shown.percent(tau)} quantile"
        found = {name: item.quantile_bound(tau) for name, item in bands.items()}
        rows.append((label, any_band.observed_quantile(tau), found, "score"))
    for tau in worst:
        found = {name: item.cvar_bound(tau) for name, item in bands.items()}
        rows.append((f"average of the worst {shown.percent(tau)}", any_band.observed_cvar(tau), found, "score"))
    for level in levels:
        found = {name: item.chance_at_least(level) for name, item in bands.items()}
        share = sum(value >= level for value in any_band.points) / any_band.trials
        rows.append((f"chance of {level:g} or more", share, found, "rate"))
    return rows


def _line(name: str, seen: float, found: dict[str, float], scale: shown.Scale) -> list[str]:
    bounds = [f"at least {shown.number(value, scale, 'down')}" for value in found.values()]
    return [name, shown.number(seen, scale), *bounds]


def _scores(data: list[str], column: str | None, policy: str | None, low: float, high: float) -> Scores:
    if not low < high:
        raise ValueError(f"`low` must be below `high`; got low={low:g}, high={high:g}.")
    if all(_is_number(word) for word in data):
        return Scores([float(word) for word in data], low, high)
    if len(data) > 1:
        wrong = next(word for word in data if not _is_number(word))
        raise ValueError(f"Several words must all be scores; got {wrong!r}. To read a file, name it alone.")
    values, rows = _read(Path(data[0]), column, policy)
    for value, row in zip(values, rows, strict=True):
        if not low <= value <= high:
            message = (
                f"scores must lie in the stated range [{low:g}, {high:g}]; got {value:g}. State it by --low and --high."
            )
            raise DataError(message, source=data[0], row=row)
    return Scores(values, low, high)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _read(path: Path, column: str | None, policy: str | None) -> tuple[list[float], list[int]]:
    """The scores of a file and their 1-based rows: one number a line, or a table with a header."""
    source = str(path)
    with path.open(encoding="utf-8-sig", newline="") as file:
        head = file.readline()
        file.seek(0)
        delimiter = next((mark for mark in ("\t", ";") if mark in head), ",")
        lines = [(number, row) for number, row in enumerate(csv.reader(file, delimiter=delimiter), 1) if any(row)]
    if not lines:
        raise DataError("there is no score in it.", source=source)
    place, kept = 0, None
    if column is not None or policy is not None or not all(_is_number(cell) for cell in lines[0][1]):
        names = [cell.strip() for cell in lines.pop(0)[1]]
        place = _column(names, column or ("score" if len(names) > 1 else names[0]), source)
        kept = _column(names, "policy", source) if policy is not None else None
    elif len(lines[0][1]) > 1:
        raise DataError("a table must have a header line; the first line holds numbers only.", source=source, row=1)
    values, rows = [], []
    for number, row in lines:
        if kept is not None and (kept >= len(row) or row[kept].strip() != policy):
            continue
        cell = row[place].strip() if place < len(row) else ""
        if not _is_number(cell):
            raise DataError(f"a score must be a number; got {cell!r}.", source=source, row=number)
        values.append(float(cell))
        rows.append(number)
    if not values:
        raise DataError(f"there is no score{f' of policy {policy!r}' if policy else ''} in it.", source=source)
    return values, rows


def _column(names: list[str], wanted: str, source: str) -> int:
    if wanted not in names:
        raise DataError(f"there is no column {wanted!r}; the columns are {', '.join(names)}.", source=source)
    return names.index(wanted)
