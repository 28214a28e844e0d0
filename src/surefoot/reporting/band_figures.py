"""What is the worst the scores can be? The observed distribution with its worst-case band, in one picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from surefoot.core import formatting
from surefoot.core.bands import Band
from surefoot.reporting import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe-Ito blue and vermilion, told apart in grey by their darkness and their dashes.
OBSERVED, WORST, OTHER = style.INK, style.BAD, style.GOOD
MARKS = (0.1, 0.25, 0.5)


def band_figure(
    band: Band, other: Band | None = None, *, quantiles: Sequence[float] = MARKS, what: str = "score"
) -> Figure:
    """The observed distribution, its worst case, and the mean and quantiles that are guaranteed.

    Args:
        band: The band whose guarantees are marked.
        other: A second band, drawn as a thin line to compare.
        quantiles: The quantiles to mark.
        what: The name of the score, for the axis.
    """
    with style.drawing():
        figure, axes = style.canvas(7.2, 4.8, golden=False)
        draw_band(axes, band, other, quantiles=quantiles, what=what)
        figure.supxlabel(
            style.wrapped(_caption(band, other)),
            fontsize=8 if style.narrow() else 8.5,
            color=style.INK,
            x=0.01,
            ha="left",
        )
    return figure


def draw_band(
    axes: Axes, band: Band, other: Band | None = None, *, quantiles: Sequence[float] = MARKS, what: str = "score"
) -> None:
    """The same on axes of the reader's own."""
    low, high = band.scores.low, band.scores.high
    span = high - low
    xs, observed = _steps(band, tuple(i / band.trials for i in range(band.trials + 1)))
    _, worst = _steps(band, band.uppers)
    axes.fill_between(xs, observed, worst, color=WORST, alpha=0.16, linewidth=0)
    axes.plot(xs, worst, color=WORST, linewidth=2.4, solid_capstyle="butt")
    axes.plot(xs, observed, color=OBSERVED, linewidth=1.4)
    if other is not None:
        ys = _steps(other, other.uppers)[1]
        axes.plot(xs, ys, color=OTHER, linewidth=1.0, linestyle=(0, (5, 2)))
        _label(axes, f"{other.method} band", OTHER, _crossing(xs, ys, 0.68), 0.68, left=True, size=9.0)
    height = max(0.62 if other is None else 0.36, band.uppers[0] + 0.12)  # clear of the quantiles marked
    _label(axes, "worst case", WORST, _crossing(xs, worst, height), height, left=True)
    _label(axes, "observed", OBSERVED, _crossing(xs, observed, 0.4), 0.4, left=False)
    _mark_mean(axes, band)
    _mark_quantiles(axes, band, quantiles)
    axes.set(xlim=(low - 0.02 * span, high + 0.02 * span), ylim=(-0.1, 1.0))
    axes.axhline(0.0, color=style.FAINT, linewidth=0.8)
    axes.set_yticks([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    axes.set_xlabel(what)
    axes.set_ylabel("share of rollouts at or below")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    size = 9.0 if style.narrow() else 11.5
    axes.set_title(style.wrapped(_headline(band), 38), loc="left", fontsize=size, weight="bold", color=WORST)


def _steps(band: Band, heights: Sequence[float]) -> tuple[list[float], list[float]]:
    """Corners of a step function that is constant between neighbouring scores."""
    xs, ys, height = [band.scores.low], [0.0], 0.0
    for place, following in zip((band.scores.low, *band.points, band.scores.high), (*heights, 1.0), strict=True):
        xs += [place, place]
        ys += [height, following]
        height = following
    return xs, ys


def _crossing(xs: Sequence[float], ys: Sequence[float], height: float) -> float:
    return next((x for x, y in zip(xs, ys, strict=True) if y >= height), xs[-1])


def _label(axes: Axes, text: str, colour: str, x: float, y: float, *, left: bool, size: float = 11.0) -> None:
    axes.annotate(
        text,
        (x, y),
        xytext=(-6, 3) if left else (7, -12),
        textcoords="offset points",
        color=colour,
        ha="right" if left else "left",
        fontsize=size,
        weight="bold",
    )


def _mark_mean(axes: Axes, band: Band) -> None:
    bound, mean = band.mean_bound(), band.scores.mean
    axes.plot([bound, mean], [-0.05, -0.05], color=style.FAINT, linewidth=0.8, zorder=1)
    axes.plot([bound], [-0.05], marker="D", markersize=8, color=WORST, zorder=5)
    axes.plot([mean], [-0.05], marker="D", markersize=5, color=OBSERVED, zorder=5)
    left = bound - band.scores.low > 0.4 * (band.scores.high - band.scores.low)
    axes.annotate(
        f"mean ≥ {_low(bound)}" + ("" if style.narrow() else f" (observed {formatting.number(mean, 'score')})"),
        (bound if left else mean, -0.05),
        xytext=(-9, 0) if left else (9, 0),
        textcoords="offset points",
        ha="right" if left else "left",
        va="center",
        fontsize=9.5,
        color=style.INK,
    )


def _mark_quantiles(axes: Axes, band: Band, quantiles: Sequence[float]) -> None:
    """A dot where the worst case reaches each quantile, and what that guarantees beside the axes, clear of lines."""
    for tau in sorted(quantiles):
        bound = band.quantile_bound(tau)
        axes.axhline(tau, color=style.FAINT, linewidth=0.8, linestyle=":", zorder=1)
        axes.plot([bound], [tau], marker="o", markersize=6, color=WORST, markeredgecolor="white", zorder=5)
        name = "median" if tau == 0.5 else f"{formatting.percent(tau)} quantile"
        axes.annotate(
            style.wrapped(f"{name}: no bound yet" if bound <= band.scores.low else f"{name} ≥ {_low(bound)}", 12),
            (1.0, tau),
            xycoords=("axes fraction", "data"),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=8 if style.narrow() else 9.5,
            color=style.INK,
            annotation_clip=False,
        )


def _headline(band: Band) -> str:
    mean, median = _low(band.mean_bound()), _low(band.quantile_bound(0.5))
    return f"All at once: mean at least {mean}, and half of the rollouts reach {median}"


def _caption(band: Band, other: Band | None) -> str:
    said = (
        f"n = {band.trials:,} rollouts, {formatting.percent(band.confidence)} confidence "
        f"({band.method} band, "
        f"range {band.scores.low:g} to {band.scores.high:g}).\n"
        "The true distribution stays below the thick line at every score at once.\n"
        "More is known about the mean alone."
    )
    return f"{said} Dashed: {other.method} band." if other is not None else said


def _low(value: float) -> str:
    return formatting.number(value, "score", "down")
