"""How often does each interval hold the truth, drawn over all rates?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe-Ito colours with distinct dashes: told apart in print and by colour-blind people.
STYLES = (("#0072B2", "-"), ("#D55E00", "--"), ("#009E73", "-."), ("#000000", ":"))


def coverage_figure(
    rates: Sequence[float], curves: Mapping[str, Sequence[float]], *, trials: int, confidence: float
) -> Figure:
    """Exact coverage against the true rate, one curve per method, with the promised confidence marked."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import PercentFormatter

    figure = Figure(figsize=(7.0, 4.0), layout="constrained")
    axes = figure.add_subplot()
    axes.axhline(confidence, color="0.4", linewidth=1.0)
    axes.annotate(
        "promised", (1, confidence), xytext=(4, -3), textcoords="offset points", color="0.3", annotation_clip=False
    )
    for (name, values), (colour, dash) in zip(curves.items(), STYLES, strict=False):
        axes.plot(rates, values, dash, color=colour, linewidth=1.4, label=name)
    axes.set(xlim=(0, 1), ylim=(0.7, 1.005), xlabel="true success rate", ylabel="how often the interval holds it")
    axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.set_title(f"Exact coverage of {confidence:.0%} intervals, n = {trials} rollouts", loc="left", fontsize=11)
    axes.legend(loc="lower center", ncols=len(curves), frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
