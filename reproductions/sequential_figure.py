"""How many pairs, and how often decided: every rule, printed and ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from reproductions.pages import FIGURES
from surefoot.reporting import style

if TYPE_CHECKING:
    from reproductions.sequential_comparison import Figures

BLUE, ORANGE = style.COLOURS[:2]
OURS = ("finite-horizon mixture", "exact design")


def draw(
    bernoulli: Mapping[str, tuple[float, float]],
    ours: Mapping[str, Figures],
    densities: Mapping[str, tuple[float, float]],
    scores: Mapping[str, Figures],
) -> None:
    """Four panels: pairs and power, on successes and on densities."""
    from matplotlib.figure import Figure

    tops = [("Successes", bernoulli, ours), ("Random densities", densities, scores)]
    names = [sorted({*printed, *found}, key=lambda name: _pairs(name, printed, found)) for _, printed, found in tops]
    with style.drawing():
        figure = Figure(figsize=(8.6, 5.4), layout="constrained")
        grid = figure.subplots(2, 2, sharex="col", height_ratios=[len(part) + 0.7 for part in names])
        for row, ((title, printed, found), order) in enumerate(zip(tops, names, strict=True)):
            for column, axes in enumerate(grid[row]):
                _panel(axes, order, printed, found, column)
                axes.set_title(
                    f"{title}: {'pairs to a decision' if column == 0 else 'power'}", loc="left", fontsize=10.5
                )
        grid[1][0].set(xlim=(0, 270), xlabel="mean pairs, undecided counted as 1,000")
        grid[1][1].set(xlim=(0.5, 1.02), xlabel="share decided rightly")
        grid[0][0].plot([], [], "o", markerfacecolor="white", color=style.INK, label="printed")
        grid[0][0].plot([], [], "o", color=BLUE, label="ours, published rule")
        grid[0][0].plot([], [], "D", color=ORANGE, label="ours, own rule")
        grid[0][0].legend(loc="upper right", edgecolor="white", framealpha=1.0, fontsize=9)
        style.save(figure, FIGURES / "sequential-table.svg")


def _pairs(name: str, printed: Mapping[str, tuple[float, float]], found: Mapping[str, Figures]) -> float:
    return -(found[name].pairs if name in found else printed[name][0])


def _panel(
    axes: object,
    order: list[str],
    printed: Mapping[str, tuple[float, float]],
    found: Mapping[str, Figures],
    column: int,
) -> None:
    for place, name in enumerate(order):
        own = name.startswith(OURS)
        axes.axhline(place, color=style.FAINT, alpha=0.25, linewidth=0.6, zorder=0)  # type: ignore[attr-defined]
        if name in found:
            value, error = (found[name].pairs, found[name].pairs_error) if column == 0 else found[name][2:]
            axes.errorbar(
                value,
                place,
                xerr=2 * error,
                fmt="D" if own else "o",
                color=ORANGE if own else BLUE,
                markersize=6,
                zorder=3,
            )  # type: ignore[attr-defined]
        if name in printed:
            axes.plot(
                printed[name][column], place, "o", markersize=10, markerfacecolor="none", color=style.INK, zorder=2
            )  # type: ignore[attr-defined]
    axes.set_yticks(range(len(order)), order if column == 0 else [""] * len(order))  # type: ignore[attr-defined]
    axes.tick_params(axis="y", length=0)  # type: ignore[attr-defined]
    axes.set_ylim(-0.6, len(order) - 0.4)  # type: ignore[attr-defined]
