"""The figures of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from surefoot import _plugins
from surefoot.core import formatting
from surefoot.core.interval import Interval
from surefoot.core.verdict import Verdict
from surefoot.reporting import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    from surefoot.analysis.comparisons import Comparison
    from surefoot.analysis.measurements import Measurement
    from surefoot.analysis.overview import Overview
    from surefoot.table.rollouts import Measure


VERDICT_COLOUR = {Verdict.BETTER: style.GOOD, Verdict.WORSE: style.BAD}
MOST_ROWS = 60
ROOMY = 6
"""More rows than this have names of one line."""
ROW = 0.33
"""Inches of a row, above which counts stand over its bars."""
LEVELS = 12
"""Up to so many different scores are drawn as bars with counts: dots would hide how many there are."""


Row = tuple[str, Interval | None, str]
"""What a row of a figure shows: a name, an interval, and words beside it."""


def intervals_figure(
    policies: Sequence[Measurement], measure: Measure, letters: Sequence[str] = (), *, own: bool = False
) -> Figure:
    """Every policy's rate or mean score with its interval, and how many rollouts were behind it."""
    found = [(one.policy, one.of(measure)) for one in policies]
    marks = letters or [""] * len(found)
    rows = [
        (name, one, f"{_size(one)}  {letter}".rstrip() if one else "")
        for (name, one), letter in zip(found, marks, strict=True)
    ]
    with style.drawing():
        figure, axes = style.canvas(7.0, 0.9 + style.row_height(len(rows)) * len(rows))
        draw_intervals(axes, rows, "success rate" if measure == "success" else "mean score", own=own)
    return figure


def draw_intervals(axes: Axes, rows: Sequence[Row], what: str, *, own: bool = True) -> None:
    """A whisker for every row, on axes of the reader's own; all hold together, or each its own."""
    for place, (_, found, text) in enumerate(rows):
        if found is not None:
            _whisker(axes, place, found, style.COLOURS[0])
            _beside(axes, place, text, len(rows))
    _rows(axes, [name for name, _, _ in rows])
    first = next((found for _, found, _ in rows if found is not None), None)
    if first is not None:
        percent_axis(axes, "x", first)
    sure = f"its {formatting.percent(first.confidence)} interval" if first else "its interval"
    if first is not None and not own and sum(found is not None for _, found, _ in rows) > 1:
        sure = f"intervals of {formatting.percent(first.confidence)} for all rows together"
    axes.set_xlabel(style.wrapped(f"{what}, with {sure}"))


def draw_whiskers(axes: Axes, rows: Sequence[tuple[str, Interval, bool]]) -> None:
    """A whisker for every row: filled and coloured, or hollow and grey."""
    for place, (_, found, filled) in enumerate(rows):
        _whisker(axes, place, found, style.GOOD if filled else style.FAINT, filled=filled)
        _beside(axes, place, _size(found), len(rows))
    _rows(axes, [name for name, _, _ in rows])


def percent_axis(axes: Axes, which: Literal["x", "y"], found: Interval) -> None:
    """Percentages along an axis that shows rates; nothing where it shows scores."""
    from matplotlib.ticker import PercentFormatter

    if found.scale == "rate":
        (axes.set_xlim if which == "x" else axes.set_ylim)(-0.01, 1.01)
        getattr(axes, f"{which}axis").set_major_formatter(PercentFormatter(1.0, decimals=0))


def forest_figure(comparisons: Sequence[Comparison], labels: Sequence[str], title: str) -> Figure:
    """Every gain with its interval, and zero marked: what touches the line is not decided."""
    with style.drawing():
        rows = labels if style.narrow() or len(labels) > ROOMY else [_two_lines(label) for label in labels]
        tall = 0.1 if any("\n" in row for row in rows) else 0.0
        figure, axes = style.canvas(7.0, 1.0 + (style.row_height(len(rows)) + tall) * len(rows))
        draw_gains(axes, [(row, one.interval, one.verdict) for row, one in zip(rows, comparisons, strict=True)], title)
    return figure


def draw_gains(axes: Axes, rows: Sequence[tuple[str, Interval, Verdict]], title: str) -> None:
    """A whisker for every gain, and zero marked, on axes of the reader's own."""
    axes.axvline(0.0, color=style.FAINT, linewidth=1.0)
    for place, (_, found, verdict) in enumerate(rows):
        colour = VERDICT_COLOUR.get(verdict, style.UNSURE)
        _whisker(axes, place, found, colour, filled=verdict in VERDICT_COLOUR)
        shown = formatting.number(found.estimate, found.scale)
        _beside(axes, place, f"{shown} {formatting.span(found.low, found.high, found.scale)}", len(rows))
    _rows(axes, [name for name, _, _ in rows])
    if rows and rows[0][1].scale == "gain":
        from matplotlib.ticker import FuncFormatter

        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{round(100 * value, 6):+g}"))
    axes.set_xlabel(style.wrapped(title))


def heat_figure(cells: Sequence[Measurement], measure: Measure, policies: Sequence[str]) -> Figure:
    """Tasks against policies in the order given, each cell with its rate or mean and n."""
    tasks = list(dict.fromkeys(one.task or "" for one in cells))
    found = {(one.task or "", one.policy): one.of(measure) for one in cells}
    shown = {}
    for row, task in enumerate(tasks):
        for column, policy in enumerate(policies):
            one = found.get((task, policy))
            if one is not None:
                whole = one.scale == "rate" and len(policies) > ROOMY
                number = f"{one.estimate:.0%}" if whole else formatting.number(one.estimate, one.scale)
                shown[row, column] = (f"{number}\nn={one.trials:,}", *tile_colours(one))
    return grid_figure(tasks, policies, shown)


def grid_figure(
    rows: Sequence[str], columns: Sequence[str], cells: Mapping[tuple[int, int], tuple[str, str, str]]
) -> Figure:
    """Rows against columns, each cell with its text, its paper and its ink."""
    with style.drawing():
        figure, axes = style.canvas(1.8 + 1.1 * len(columns), 0.9 + 0.42 * len(rows))
        wide, high = figure.get_size_inches()
        longest = max([1, *(len(line) for text, _, _ in cells.values() for line in text.split("\n"))])
        lines = max([1, *(text.count("\n") + 1 for text, _, _ in cells.values())])
        names = [short(name, 16 if style.narrow() else 28) for name in rows]
        beside = 0.075 * max(map(len, names)) * (0.7 if style.narrow() else 1.0) + 0.2
        across = 72.0 * (wide - beside) / len(columns)
        turned = max(map(len, columns)) * style.letters(6.5) > across
        down = 72.0 * (high - (0.9 if turned else 0.4)) / len(rows)
        size = max(2.0, min(style.letters(8.5), across / (0.8 * longest), down / (1.35 * lines)))
        for (row, column), (text, paper, ink) in cells.items():
            axes.add_patch(_tile(column, row, paper))
            axes.text(column, row, text, ha="center", va="center", fontsize=size, color=ink, linespacing=1.1)
        axes.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5))
        axes.set_xticks(range(len(columns)), [short(name, 16) for name in columns], fontsize=style.letters(9))
        axes.set_yticks(range(len(rows)), names, fontsize=min(style.letters(10), down / 1.3))
        if turned:
            axes.tick_params(axis="x", labelrotation=90, labelsize=min(style.letters(9), across / 1.3))
        axes.tick_params(length=0)
        for side in axes.spines.values():
            side.set_visible(False)
    return figure


def scores_figure(
    scores: Sequence[tuple[str, Sequence[float]]], letters: Sequence[str], low: float, high: float
) -> Figure:
    """Every score of every policy, with the mean, the letters and how many rollouts were used."""
    with style.drawing():
        figure, axes = style.canvas(7.0, 0.9 + (1.05 if style.narrow() else 0.85) * len(scores))
        for place, (_, values) in enumerate(scores):
            roomy = style.row_height(len(scores)) > ROW
            _strip(axes, place, values, style.COLOURS[place % len(style.COLOURS)], roomy=roomy)
            letter = f"  {letters[place]}" if letters else ""
            _beside(axes, place, f"n={len(values):,}{letter}", len(scores))
        _rows(axes, [name for name, _ in scores])
        pad = 0.02 * (high - low)
        axes.set(
            xlim=(low - pad, high + pad),
            xlabel=style.wrapped("scores; the line is the mean"),
        )
    return figure


def _strip(axes: Axes, place: int, values: Sequence[float], colour: str, *, roomy: bool) -> None:
    """A bar with its count for each level of partial credit; where there are many levels, dots piled up."""
    levels = Counter(values)
    if len(levels) <= LEVELS:
        most = max(levels.values())
        for level, count in levels.items():
            axes.plot([level] * 2, [place + 0.3 * count / most * side for side in (-1, 1)], color=colour,
                      linewidth=7.0, alpha=0.6, solid_capstyle="butt")  # fmt: skip
            if roomy:
                axes.annotate(f"{count:,}", (level, place - 0.33), ha="center", va="bottom", fontsize=style.letters(8))
    else:
        span = max(values) - min(values) or 1.0
        piles: dict[int, list[float]] = {}
        for value in values:
            piles.setdefault(round(60 * (value - min(values)) / span), []).append(value)
        step = min(0.09, 0.76 / max(len(pile) for pile in piles.values()))
        for pile in piles.values():
            rows = [place + step * (rank - (len(pile) - 1) / 2) for rank in range(len(pile))]
            axes.plot(pile, rows, ".", color=colour, markersize=5.5, alpha=0.7, markeredgewidth=0)
    mean = sum(values) / len(values)
    axes.plot([mean, mean], [place - 0.42, place + 0.42], color=style.INK, linewidth=2.0)


def _whisker(axes: Axes, place: int, found: Interval, colour: str, *, filled: bool = True) -> None:
    axes.plot([found.low, found.high], [place, place], color=colour, linewidth=2.4, solid_capstyle="butt")
    axes.plot(found.estimate, place, "o", color=colour, markersize=7, markerfacecolor=colour if filled else "none")


def _beside(axes: Axes, place: int, text: str, rows: int) -> None:
    stacked = style.stacked()
    axes.annotate(
        text, (0.0, place + 0.13) if stacked else (1.0, place), xycoords=("axes fraction", "data"),
        xytext=(0, 0) if stacked else (4, 0), textcoords="offset points", va="top" if stacked else "center",
        fontsize=8 if stacked else style.letters(9, rows), annotation_clip=False,
        label=style.OVER_GRID if stacked else "",
    )  # fmt: skip


def _rows(axes: Axes, names: Sequence[str]) -> None:
    if style.stacked():
        axes.set_yticks([])
        for place, name in enumerate(names):
            axes.annotate(
                short(name, 44), (0.0, place - 0.16), xycoords=("axes fraction", "data"), fontsize=8.5,
                label=style.OVER_GRID,
            )  # fmt: skip
    else:
        most, size = 20 if style.narrow() else 34, style.letters(10, len(names))
        shown = [name if "\n" in name else short(name, most) for name in names]
        axes.set_yticks(range(len(names)), shown, fontsize=size)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x", color=style.FAINT, alpha=0.25, linewidth=0.7)
    axes.set_axisbelow(True)


def _size(found: Interval) -> str:
    tallies = [tally for one in found.samples for tally in one.tallies]
    if len(tallies) != 1:
        return f"n={found.trials:,}"
    return f"{tallies[0].successes:,}/{tallies[0].trials:,}"


def _level(found: Interval) -> float:
    """How dark a cell is: the rate itself, or where the mean lies between the ends of the score's range."""
    low, high = found.limits if found.scale != "rate" else (0.0, 1.0)
    return min(1.0, max(0.0, (found.estimate - low) / (high - low)))


def tile_colours(found: Interval) -> tuple[str, str]:
    """A cell's paper and ink: the higher the value the darker, readable throughout, also without colour."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    paper = colormaps["Blues"](0.04 + 0.92 * _level(found))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in paper[:3]]
    light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return to_hex(paper), "#000000" if light > 0.179 else "#ffffff"  # whichever has the higher contrast


def _tile(column: int, row: int, colour: str) -> Rectangle:
    from matplotlib.patches import Rectangle as Tile

    return Tile((column - 0.48, row - 0.46), 0.96, 0.92, color=colour, linewidth=0)


def _two_lines(label: str) -> str:
    """A label that names two policies, broken between them when it is long."""
    first, versus, second = label.partition(" v ")
    if not versus or len(label) <= 34:
        return label
    return f"{short(first, 34)}\nv {short(second, 32)}"


def short(name: str, most: int) -> str:
    """A name of at most so many letters."""
    return name if len(name) <= most else name[: most - 1] + "…"


OWN = frozenset(
    [
        "policies",
        "heat",
        "gains",
        "tasks",
        "evidence",
        "scores",
        "failures",
        "times",
        "thirds",
        "ranking",
        "sequence",
    ]  # of a study
)
"""The names of surefoot's own figures, beside "band" and a policy's name."""


def draw_added(found: Overview) -> dict[str, Figure]:
    """The figures of other packages, by name; one that fails is left out."""
    made = {name: _plugins.used("figures", name, partial(_drawn, draw, found)) for name, draw in _all().items()}
    return {name: figure for name, figure in made.items() if figure is not None}


def figure_names() -> tuple[str, ...]:
    """The names of the figures that other packages draw."""
    return tuple(_all())


def captions() -> dict[str, str]:
    """What stands under each figure of other packages, by name."""
    return {name: (draw.__doc__ or name).strip().partition("\n")[0] for name, draw in _all().items()}


def _all() -> dict[str, Callable[[Overview], Any]]:
    return dict(_plugins.added("figures", _admitted))


def _admitted(name: str, draw: Any) -> Callable[[Overview], Any]:
    if name in OWN or name.startswith("band "):
        raise ValueError(f"surefoot has a figure {name!r} already")
    return _plugins.callable_only(name, draw)


def _drawn(draw: Callable[[Overview], Any], found: Overview) -> Figure | None:
    from matplotlib.figure import Figure as Drawing

    figure = draw(found)
    if figure is not None and not isinstance(figure, Drawing):
        raise TypeError(f"it must give a matplotlib figure or None; it gave {type(figure).__name__}")
    return figure
