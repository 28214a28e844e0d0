"""How often does each interval hold the truth, drawn over all rates?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from surefoot.core import formatting
from surefoot.reporting import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DASHES = ("-", "--", "-.", ":")


def coverage_figure(
    rates: Sequence[float], curves: Mapping[str, Sequence[float]], *, trials: int, confidence: float
) -> Figure:
    """Exact coverage against the true rate, one curve per method, with the promised confidence marked."""
    from matplotlib.ticker import PercentFormatter

    with style.drawing():
        figure, axes = style.canvas(7.0, 4.0)
        axes.axhline(confidence, color=style.FAINT, linewidth=1.0)
        axes.annotate("promised", (1, confidence), xytext=(4, -3), textcoords="offset points", annotation_clip=False)
        for place, (name, values) in enumerate(curves.items()):
            colour, dash = style.COLOURS[place % len(style.COLOURS)], DASHES[place % len(DASHES)]
            axes.plot(rates, values, dash, color=colour, linewidth=1.4, label=name)
        least = max(0.0, 1.0 - 6.0 * (1.0 - confidence))  # 70% for a confidence of 95%
        axes.set(xlim=(0, 1), ylim=(least, 1.005), xlabel="true success rate", ylabel="how often the interval holds it")
        axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axes.set_title(
            f"Exact coverage of {formatting.percent(confidence)} intervals, n = {trials:,} rollouts",
            loc="left",
            fontsize=11,
        )
        axes.legend(loc="lower center", ncols=len(curves), frameon=False)
    return figure
