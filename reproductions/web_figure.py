"""What can N rollouts of two systems show, beside what a web page says they can?"""

from __future__ import annotations

from collections.abc import Sequence

from reproductions.pages import FIGURES
from surefoot.reporting import style


def draw(sizes: Sequence[int], printed: Sequence[float], found: Sequence[tuple[float, float]]) -> None:
    """The printed differences below the drops and gains that 80% power needs."""
    lines = [
        ("smallest drop found 4 times in 5", [drop for drop, _ in found], style.COLOURS[1], "-o"),
        ("smallest gain found 4 times in 5", [gain for _, gain in found], style.COLOURS[0], "-s"),
        ("as printed: found about every other time", list(printed), style.INK, "--D"),
    ]
    with style.drawing():
        figure, axes = style.canvas(6.6, 4.0)
        for name, values, colour, kind in lines:
            axes.plot(sizes, values, kind, color=colour, markersize=5, linewidth=1.6, label=name)
        axes.set(xscale="log", yscale="log", xlabel="rollouts of each system", ylabel="difference from 70%, in points")
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axes.set_yticks([3, 5, 10, 20, 30], ["3", "5", "10", "20", "30"])
        axes.minorticks_off()
        axes.grid(color=style.FAINT, alpha=0.25, linewidth=0.6)
        axes.legend(loc="upper right", edgecolor="white", framealpha=1.0, labelcolor="linecolor")
        axes.set_title("What two systems can be told apart by, at 95% confidence", loc="left", fontsize=11)
        style.save(figure, FIGURES / "detectable.svg")
