"""The best of several policies, on a page and as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from surefoot.core import formatting
from surefoot.reporting import style
from surefoot.reporting.figures import MOST_ROWS, draw_whiskers, percent_axis
from surefoot.reporting.tables import cells_of, rows_under, section

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from surefoot.analysis.best import Best

CURVE = 3.6
"""The height of a learning curve, in inches."""
CAPTION = (
    "Filled: may be the best; hollow: shown not to be; ringed: the one picked. "
    "Intervals of {level} for all rows together."
)


def height_of(found: Best) -> float:
    """The height of its figure, in inches."""
    return CURVE if found.steps else 1.0 + style.row_height(len(found.names)) * min(len(found.names), MOST_ROWS)


def best_figure(found: Best) -> Figure:
    """Rates or mean scores with simultaneous intervals, the shortlist marked; a curve where steps are known."""
    with style.drawing():
        figure, axes = style.canvas(7.0, height_of(found))
        draw_best(axes, found)
    return figure


def draw_best(axes: Axes, found: Best) -> None:
    """The same on axes of the reader's own."""
    what = "success rate" if found.measure == "success" else "mean score"
    level, inside = formatting.percent(found.confidence), set(found.shortlist)
    if not found.steps:
        rows = [(name, one, name in inside) for name, one in zip(found.names, found.intervals, strict=True)]
        draw_whiskers(axes, rows[:MOST_ROWS])
        axes.plot(found.intervals[0].estimate, 0, "o", color=style.INK, markersize=13, markerfacecolor="none")
        axes.set_xlabel(style.wrapped(f"{what}, with intervals of {level} for all rows together"))
        percent_axis(axes, "x", found.intervals[0])
        return
    points = sorted(zip(found.steps, found.names, found.intervals, strict=True))
    axes.plot([step for step, _, _ in points], [one.estimate for _, _, one in points], color=style.FAINT, linewidth=1.0)
    for step, name, one in points:
        colour = style.GOOD if name in inside else style.FAINT
        axes.plot([step, step], [one.low, one.high], color=colour, linewidth=1.6)
        axes.plot(step, one.estimate, "o", color=colour, markerfacecolor=colour if name in inside else "none")
    axes.plot(found.steps[0], found.intervals[0].estimate, "o", color=style.INK, markersize=13, markerfacecolor="none")
    axes.set_xlabel("steps")
    axes.set_ylabel(style.wrapped(f"{what}, {level} for all together", 30))
    axes.locator_params(axis="x", nbins=4 if style.narrow() else 8)
    axes.ticklabel_format(axis="x", style="plain")
    axes.grid(axis="y", color=style.FAINT, alpha=0.25, linewidth=0.7)
    percent_axis(axes, "y", found.intervals[0])


def best_section(found: Best, figure: dict[str, Any] | None) -> dict[str, Any]:
    """The section of the page: the answer, the figure, and who may be the best."""
    header = [found.words.policy, "estimate", "interval", "may be the best", "p"]
    p_values = dict(zip((*found.shortlist, *found.shortlisted.out), found.shortlisted.p_values, strict=True))
    inside = set(found.shortlist)
    rows = [
        [name, *cells_of(one), "yes" if name in inside else "no", f"{p_values[name]:.3g}"]
        for name, one in zip(found.names, found.intervals, strict=True)
    ]
    table = rows_under(f"Every {found.words.policy}", header, rows)
    lines = [line.replace("`", "") for line in found.lines()]
    return section("Which is the best, and how good is it", lines, table, figures=[figure], opened=False)


def caption(found: Best) -> str:
    """What the figure shows."""
    return CAPTION.format(level=formatting.percent(found.confidence))
