"""Results in notebooks, as frames and on the reader's own axes."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from enum import Enum
from html import escape
from typing import TYPE_CHECKING, Any

from surefoot import _check
from surefoot.analysis.best import Best
from surefoot.analysis.comparisons import Comparison
from surefoot.analysis.gates import Gated
from surefoot.analysis.measurements import Measurement
from surefoot.analysis.needs import Need
from surefoot.analysis.overview import EvidenceCurve, Overview
from surefoot.analysis.purchases import NextPlan
from surefoot.analysis.replays import Replay
from surefoot.analysis.slices import Slices
from surefoot.auditing.audits import Audit
from surefoot.core import formatting
from surefoot.core.bands import Band
from surefoot.core.gain import Gain
from surefoot.core.interval import Bound, Interval
from surefoot.core.notes import Note
from surefoot.core.record import Record
from surefoot.core.tally import Tally
from surefoot.reporting import figures, style
from surefoot.reporting.curve_figures import draw_band, draw_evidence
from surefoot.reporting.page_sections import draw_best, height_of, map_html
from surefoot.reporting.reports import Report
from surefoot.stats.rankings import AgainstBaseline, Ranking

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LIBRARIES = ("polars", "pandas", "pyarrow")
MOST_ROWS = 30
"""A notebook shows so many rows of a result; all of them are in `to_frame`."""
QUIET = ("assumptions", "data", "notes", "structure", "draw", "seed")
"""Fields that are no numbers of a result's own."""

STANDING = ("rounds", "pairs", "p_value", "verdict", "finished")
"""What a state of a sequential rule knows besides its fields."""
CELL = "text-align:left;padding:.15em .7em .15em 0"

Row = dict[str, Any]


def frame(result: Record, library: Any = "polars") -> Any:
    """A table of data: a row for each number that the result holds."""
    if library not in LIBRARIES:
        raise _check.refused("library", f"be one of {', '.join(LIBRARIES)}", library)
    import narwhals as nw

    rows = rows_of(result)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    data = {name: [row.get(name) for row in rows] for name in columns}
    try:
        return nw.from_dict(data, backend=library).to_native()
    except ModuleNotFoundError:
        raise _check.wrong("library", f"be installed; there is no {library} here.", library) from None


def rows_of(result: Record | Sequence[Record]) -> list[Row]:
    """The numbers of a result, or of several, row by row."""
    if isinstance(result, Sequence):
        return [row for one in result for row in rows_of(one)]
    if isinstance(result, Report):
        return rows_of(result.overview)
    if isinstance(result, Overview):
        return [_row(one) for one in result.cells or result.policies]
    if isinstance(result, Ranking):
        return _ranked(result)
    if isinstance(result, Best):
        return [
            {"policy": name, "estimate": one.estimate, "low": one.low, "high": one.high,
             "may_be_the_best": name in result.shortlist}
            for name, one in zip(result.names, result.intervals, strict=True)
        ]  # fmt: skip
    if isinstance(result, Slices):
        return [{"slice": one.name, **_fields(one), "p_value": result.p_of(one)} for one in result.slices]
    if isinstance(result, AgainstBaseline):
        return [
            {"policy": name, "baseline": result.baseline, **_row(gain)}
            for name, gain in zip(result.names, result.gains, strict=True)
        ]
    if isinstance(result, Replay):
        return [
            {"task": one.task, "rule": stop.name, "pairs": stop.pairs, "horizon": one.horizon,
             "verdict": stop.verdict.value, "p_value": stop.p_value}
            for one in result.comparisons for stop in one.stops
        ]  # fmt: skip
    if isinstance(result, EvidenceCurve):
        return [{"pairs": pairs, "evidence": value} for pairs, value in enumerate(result.evidence, 1)]
    if isinstance(result, Band):
        ends = {"at_most": result.upper_cdf} if result.claims_worst else {}
        ends |= {"at_least": result.lower_cdf} if result.claims_best else {}
        return [
            {"score": point, "observed": result.observed_cdf(point), **{name: of(point) for name, of in ends.items()}}
            for point in result.points
        ]
    if isinstance(result, Audit):
        return [_row(one) for one in result.findings]
    if isinstance(result, Gated):
        return [_row(one) for one in result.found]
    if isinstance(result, NextPlan):
        return [_row(one) for one in result.purchases]
    return _parts(result) or [_row(result)]


def _row(one: Record) -> Row:
    if isinstance(one, Interval):
        return {
            "estimate": one.estimate, "low": one.low, "high": one.high, "confidence": one.confidence, "n": one.trials,
            "method": one.method,
        }  # fmt: skip
    if isinstance(one, Bound):
        return {
            "estimate": one.estimate, "side": one.side, "bound": one.value, "confidence": one.confidence,
            "n": one.trials, "method": one.method,
        }  # fmt: skip
    if isinstance(one, Gain):
        return {
            "gain": one.estimate, "low": one.interval.low, "high": one.interval.high, "p_value": one.p_value,
            "verdict": one.verdict.value, "margin": one.margin, "confidence": one.confidence, "method": one.method,
            "n": one.interval.trials,
        }  # fmt: skip
    if isinstance(one, Comparison):
        task = {} if one.task is None else {"task": one.task}
        rates = {"first_estimate": one.of_first.estimate, "second_estimate": one.of_second.estimate}
        return {**task, "first": one.first, "second": one.second, "measure": one.measure, **rates, **_row(one.gain)}
    if isinstance(one, Measurement):
        parts = {"success": one.success, "score": one.score}
        ends = {
            f"{name}{suffix}": value
            for name, found in parts.items() if found is not None
            for suffix, value in (("", found.estimate), ("_low", found.low), ("_high", found.high))
        }  # fmt: skip
        return {"policy": one.policy, "task": one.task, "rollouts": one.rollouts, "void": one.void, **ends}
    return _fields(one)


def _fields(one: Record) -> Row:
    """The plain fields of any other result, and the ends of the intervals in it; of a state, where it stands."""
    row: Row = {}
    for name in STANDING:
        value = getattr(one, name, None)
        if isinstance(value, bool | int | float | Enum):
            row[name] = value.value if isinstance(value, Enum) else value
    for field in dataclasses.fields(one):  # type: ignore[arg-type]
        value = getattr(one, field.name)
        if field.name in QUIET:
            continue
        if isinstance(value, Enum):
            row[field.name] = value.value
        elif isinstance(value, Interval):
            prefix = "" if field.name == "interval" else f"{field.name}_"
            row |= {f"{prefix}{end}": getattr(value, end) for end in ("estimate", "low", "high")}
        elif isinstance(value, Gain):
            row |= _row(value)
        elif isinstance(value, Tally):
            row |= {"successes": value.successes, "n": value.trials}
        elif isinstance(value, Note | Need):
            row[field.name] = str(value)
        elif isinstance(value, tuple) and value and all(isinstance(one, int | float | str) for one in value):
            row |= {f"{field.name}_{place}": one for place, one in enumerate(value, 1)}
        elif value is None or isinstance(value, bool | int | float | str):
            row[field.name] = value
    return row


def _parts(result: Record) -> list[Row]:
    """The results that a result is made of, where it is nothing else."""
    found = [
        value
        for field in dataclasses.fields(result)  # type: ignore[arg-type]
        if field.name not in QUIET and isinstance(value := getattr(result, field.name), tuple) and value
    ]
    made = [value for value in found if all(isinstance(one, Record) and not isinstance(one, Note) for one in value)]
    alone = len(made) == 1 and not any(name in _fields(result) for name in ("gain", "estimate", "needed", "p_value"))
    return [_row(one) for one in made[0]] if alone else []


def _ranked(result: Ranking) -> list[Row]:
    intervals = result.intervals or (None,) * len(result.names)
    return [
        {
            "policy": name, "estimate": estimate, "low": one.low if one else None, "high": one.high if one else None,
            "best_rank": ranks[0], "worst_rank": ranks[1], "letters": letters,
        }
        for name, estimate, one, ranks, letters in zip(
            result.names, result.estimates, intervals, result.ranks, result.letters.letters, strict=True
        )
    ]  # fmt: skip


def html(result: Record) -> str:
    """The result as a notebook shows it; every word of the data escaped."""
    said = "" if type(result).__str__ is object.__str__ else str(result)
    lines = "".join(f"<p style='margin:.2em 0'>{escape(line)}</p>" for line in said.splitlines() if line.strip())
    rows = rows_of(result)
    table = _table(rows) if len(rows) > 1 or not lines else ""
    table = map_html(result) if isinstance(result, Slices) else table
    return formatting.visible(f"<div class='surefoot'>{lines}{table}{_picture(result)}</div>")


def _table(rows: Sequence[Row]) -> str:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    head = "".join(f"<th style='{CELL}'>{escape(name.replace('_', ' '))}</th>" for name in columns)
    cells = (
        "".join(f"<td style='{CELL}'>{escape(_cell(row.get(name)))}</td>" for name in columns)
        for row in rows[:MOST_ROWS]
    )
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    more = f"<p>{len(rows) - MOST_ROWS:,} more rows: to_frame().</p>" if len(rows) > MOST_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def _picture(result: Record) -> str:
    if not drawable(result):
        return ""
    with style.drawing():
        figure, axes = style.canvas(7.0, _height(result))
        _draw(result, axes)
    name = f"s{hashlib.sha256(repr(rows_of(result)).encode()).hexdigest()[:12]}"
    return style.inline_svg(figure, name, type(result).__name__)


def drawable(result: Record) -> bool:
    """Whether there is a picture of such a result."""
    if isinstance(result, Band):
        return result.claims_worst  # a band of the best case alone has no picture yet
    return isinstance(
        result, Best | Interval | Gain | Comparison | Measurement | Ranking | AgainstBaseline | EvidenceCurve | Replay
    )


def draw(result: Record, ax: Axes | None = None) -> Axes:
    """Draw a result on axes; on new ones when none are given."""
    if not drawable(result):
        raise TypeError(f"there is no picture of a {type(result).__name__}; its numbers are in to_frame().")
    with style.drawing():
        if ax is None:
            from matplotlib import pyplot

            _, ax = pyplot.subplots(figsize=(7.0, _height(result)), layout="constrained")
        _draw(result, ax)
    return ax


def _height(result: Record) -> float:
    if isinstance(result, Band | EvidenceCurve | Replay):
        return 4.2
    if isinstance(result, Best):
        return height_of(result)
    rows = max(1, len(rows_of(result)))
    return 1.0 + style.row_height(rows) * rows


def _draw(result: Record, axes: Axes) -> None:
    if isinstance(result, Interval):
        figures.draw_intervals(axes, [("", result, f"n={result.trials:,}")], _what(result))
    elif isinstance(result, Gain):
        figures.draw_gains(axes, [("", result.interval, result.verdict)], _gain_axis(result.interval))
    elif isinstance(result, Comparison):
        label = f"{result.first} v {result.second}"
        figures.draw_gains(axes, [(label, result.interval, result.verdict)], _gain_axis(result.interval))
    elif isinstance(result, Measurement):
        found = result.success or result.score
        figures.draw_intervals(axes, [(result.policy, found, f"n={result.rollouts:,}")], _what(found))
    elif isinstance(result, Ranking):
        intervals = result.intervals or (None,) * len(result.names)
        rows = list(zip(result.names, intervals, result.letters.letters, strict=True))
        first = next(iter(filter(None, intervals)), None)
        figures.draw_intervals(axes, rows, _what(first), own=result.own_intervals)
    elif isinstance(result, AgainstBaseline):
        gains = [
            (f"{name} v {result.baseline}", one.interval, one.verdict)
            for name, one in zip(result.names, result.gains, strict=True)
        ]
        figures.draw_gains(axes, gains, _gain_axis(gains[0][1]))
    elif isinstance(result, Best):
        draw_best(axes, result)
    elif isinstance(result, Band):
        draw_band(axes, result)
    elif isinstance(result, EvidenceCurve):
        draw_evidence(axes, {result.task or result.rule: result.evidence}, result.threshold, result.horizon, "")
    elif isinstance(result, Replay):
        curves = {
            f"{one.task}, {stop.name}" if one.task else stop.name: stop.evidence
            for one in result.comparisons for stop in one.stops if stop.evidence
        }  # fmt: skip
        threshold = max(stop.threshold for one in result.comparisons for stop in one.stops)
        horizon = max(one.horizon for one in result.comparisons)
        draw_evidence(axes, curves, threshold, horizon, f"{result.first} against {result.second}")


def _what(found: Interval | None) -> str:
    return "success rate" if found is None or found.scale == "rate" else "mean score"


def _gain_axis(found: Interval) -> str:
    what = "gain in points" if found.scale == "gain" else "gain in score"
    return f"{what} ({formatting.percent(found.confidence)} interval)"
