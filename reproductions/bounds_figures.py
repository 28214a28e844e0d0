"""The figures of the page on bounds: how tight, how often, which draw, and which policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from reproductions.pages import FIGURES
from surefoot import Tally, reference, stats
from surefoot.reporting import style

if TYPE_CHECKING:
    from reproductions.binomial_bounds import Curves

BLUE, ORANGE, GREEN, PURPLE = style.COLOURS[:4]


def curves(
    sizes: Sequence[int], errors: Sequence[float], found: Curves, title: str, name: str, kinds: tuple[str, str]
) -> None:
    """A quantity against n, tight (solid) and loose (dashed), one colour per confidence."""
    with style.drawing():
        figure, axes = style.canvas(6.6, 4.0)
        for row, (error, colour) in enumerate(zip(errors, (ORANGE, BLUE, GREEN), strict=True)):
            axes.plot(sizes, found.loose[row], "--", color=colour, linewidth=1.3)
            axes.plot(sizes, found.tight[row], "-", color=colour, linewidth=1.9)
            end = found.tight[row][-1]
            axes.annotate(
                f"{1 - error:.0%}",
                (sizes[-1], end),
                (5, -3),
                textcoords="offset points",
                color=colour,
                annotation_clip=False,
            )
        line = {"arrowstyle": "-", "color": style.FAINT, "shrinkB": 2}
        axes.annotate(
            f"{kinds[1]} (dashed)",
            (9, found.loose[0][sizes.index(9)]),
            (26, 22),
            textcoords="offset points",
            arrowprops=line,
        )
        axes.annotate(
            f"{kinds[0]} (solid)",
            (9, found.tight[-1][sizes.index(9)]),
            (-58, -38),
            textcoords="offset points",
            arrowprops=line,
        )
        ticks = [value for value in (0.05, 0.1, 0.2, 0.3, 0.5, 1.0) if value >= 0.9 * found.tight.min()]
        axes.set(xscale="log", yscale="log", xlim=(3, sizes[-1]), ylim=(0.9 * found.tight.min(), 1.0))
        axes.set_xticks([3, 5, 10, 20, 50, 100], ["3", "5", "10", "20", "50", "100"])
        axes.set_yticks(ticks, [f"{value:g}" for value in ticks])
        axes.minorticks_off()
        axes.grid(color=style.FAINT, alpha=0.25, linewidth=0.6)
        axes.set(xlabel="rollouts, n", ylabel=name)
        axes.set_title(title, loc="left", fontsize=11)
        style.save(figure, FIGURES / f"{name}.svg")


def validation(tasks: Mapping[str, tuple[float, np.ndarray]], rng: np.random.Generator) -> None:
    """A hundred bounds per task, and a hundred worst-case bands of one score distribution."""
    from matplotlib.figure import Figure

    with style.drawing():
        figure = Figure(figsize=(8.6, 4.0), layout="constrained")
        left, right = figure.subplots(1, 2)
        for place, (rate, bounds) in enumerate(tasks.values()):
            across = place + np.linspace(-0.32, 0.32, len(bounds))
            missed = bounds > rate
            left.plot(across[~missed], bounds[~missed], "o", color=BLUE, markersize=2.6, markeredgewidth=0)
            left.plot(across[missed], bounds[missed], "D", color=ORANGE, markersize=4.4, markeredgewidth=0)
            left.plot([place - 0.42, place + 0.42], [rate, rate], color=style.INK, linewidth=1.6)
            top = max(rate, float(bounds.max()))
            left.annotate(
                f"{int((~missed).sum())} hold",
                (place, top),
                (0, 7),
                textcoords="offset points",
                ha="center",
                fontsize=8.5,
            )
        left.set_xticks(range(len(tasks)), list(tasks), fontsize=9)
        left.set(ylim=(0, 1), ylabel="lower bound; true rate (line)")
        left.set_title("100 optimal bounds from 40 rollouts each", loc="left", fontsize=10.5)
        _bands(right, rng)
        style.save(figure, FIGURES / "table-one.svg")


def _bands(axes: object, rng: np.random.Generator) -> None:
    from scipy.special import betainc

    offset, share = reference.ks_offset(40), 0.55
    axis = np.linspace(0, 1, 401)
    truth = (1 - share) * betainc(2, 2, axis) + share * betainc(20, 1.5, axis)
    held = 0
    for _ in range(100):
        scores = np.where(rng.random(40) < share, rng.beta(20, 1.5, 40), rng.beta(2, 2, 40))
        upper = np.minimum(1.0, np.searchsorted(np.sort(scores), axis, side="right") / 40 + offset)
        fails = bool((truth > upper + 1e-12).any())
        held += not fails
        colour, width, above = (ORANGE, 1.4, 3) if fails else (BLUE, 0.6, 2)
        axes.plot(axis, upper, color=colour, linewidth=width, alpha=0.95 if fails else 0.3, zorder=above)  # type: ignore[attr-defined]
    axes.plot(axis, truth, color=style.INK, linewidth=2.0, zorder=4)  # type: ignore[attr-defined]
    axes.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="score", ylabel="share of rollouts at or below")  # type: ignore[attr-defined]
    axes.set_title(f"100 worst-case bands: {held} hold", loc="left", fontsize=10.5)  # type: ignore[attr-defined]
    axes.text(0.6, 0.2, "truth", ha="left", color=style.INK)  # type: ignore[attr-defined]
    axes.text(0.03, 0.94, "bands that hold", color=BLUE)  # type: ignore[attr-defined]
    axes.text(0.03, 0.87, "bands that fail somewhere", color=ORANGE)  # type: ignore[attr-defined]


def poured(given: Mapping[str, tuple[Tally, float]], strips: Mapping[str, tuple[float, float]]) -> None:
    """The bound as the draw runs from 0 to 1, with the printed one and the draws that give it."""
    from matplotlib.figure import Figure

    draws = np.linspace(0, 1 - 1e-9, 201)
    with style.drawing():
        figure = Figure(figsize=(8.2, 3.5), layout="constrained")
        for axes, (setting, (tally, printed)) in zip(figure.subplots(1, 2), given.items(), strict=True):
            values = [stats.optimal_lower(tally, draw=float(draw)).value for draw in draws]
            strip = strips[setting]
            axes.axvspan(*strip, color=ORANGE, alpha=0.22, linewidth=0)
            axes.plot(draws, values, color=BLUE, linewidth=2.0)
            axes.plot([0], values[:1], "s", color=BLUE, clip_on=False)
            axes.axhline(printed, color=ORANGE, linewidth=1.0, linestyle="--")
            height = values[-1] - values[0]
            axes.set(xlim=(0, 1), ylim=(values[0] - 0.12 * height, values[-1] + 0.08 * height), xlabel="draw, U")
            axes.annotate("no draw: Clopper-Pearson", (0, values[0]), (9, -10), textcoords="offset points", color=BLUE)
            side = (0.97, "right") if sum(strip) < 1 else (0.04, "left")
            axes.text(
                side[0],
                printed + 0.02 * height,
                f"printed: {printed:.3f}\ndraw in [{strip[0]:.3f}, {strip[1]:.3f}]",
                ha=side[1],
                va="bottom",
                color=ORANGE,
            )
            axes.set_title(f"{setting}: {tally.successes} of {tally.trials} poured", loc="left", fontsize=10.5)
            axes.set_ylabel("95% lower bound")
        style.save(figure, FIGURES / "pour-ice.svg")


def disjoint(settings: Mapping[str, tuple[Tally, Tally]]) -> None:
    """Which rates the bounds leave open to each policy, per setting."""
    from matplotlib.ticker import PercentFormatter

    with style.drawing():
        figure, axes = style.canvas(7.2, 3.6)
        for place, (first, second) in enumerate(settings.values()):
            plain = reference.disjoint_bounds(first, second)
            best = reference.disjoint_optimal_bounds(first, second, draw=1 - 1e-9)
            up, down = place - 0.17, place + 0.17
            axes.barh(up, 1 - best.first.value, left=best.first.value, height=0.26, color=BLUE)
            axes.barh(
                up, best.first.value - plain.first.value, left=plain.first.value, height=0.26, color=BLUE, alpha=0.4
            )
            axes.barh(down, best.second.value, height=0.26, color=PURPLE)
            axes.barh(
                down,
                plain.second.value - best.second.value,
                left=best.second.value,
                height=0.26,
                color=PURPLE,
                alpha=0.4,
            )
            for tally, at in ((first, up), (second, down)):
                axes.plot([tally.rate] * 2, [at - 0.13, at + 0.13], color=style.INK, linewidth=1.6)
            axes.text(0.985, up, f"RT-2  {first.successes}/{first.trials}", ha="right", va="center", color="white")
            axes.text(
                plain.second.value + 0.012,
                down + 0.005,
                f"VC-1  {second.successes}/{second.trials}",
                va="center",
                color=style.INK,
            )
        axes.set_yticks(range(len(settings)), list(settings))
        axes.invert_yaxis()
        axes.set(xlim=(0, 1), xlabel="success rate")
        axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axes.tick_params(axis="y", length=0)
        axes.set_title("Rates left open by 97.5% bounds: RT-2 from below, VC-1 from above", loc="left", fontsize=11)
        style.save(figure, FIGURES / "rt2-vc1.svg")
