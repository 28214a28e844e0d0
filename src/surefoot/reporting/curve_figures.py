"""Figures of curves: the distribution of scores with its worst-case band, and evidence pair by pair."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from surefoot.core import formatting
from surefoot.core.bands import Band
from surefoot.reporting import style
from surefoot.reporting.style import COLOURS, FAINT, INK, canvas, drawing, narrow, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from surefoot.analysis.overview import EvidenceCurve
    from surefoot.analysis.replays import Replay


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
    at = _crossing(xs, worst, height)
    _label(axes, "worst case", WORST, at, height, left=at - low > (0.45 if style.narrow() else 0.2) * span)
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


MOST_ABOVE = 3
"""With more curves than this the legend goes below the axes."""
DASHES = ("-", (0, (5, 2)), (0, (1, 1.3)), (0, (6, 2, 1, 2)), (0, (3, 1)))


def evidence_figure(
    curves: Mapping[str, Sequence[float]], threshold: float, *, horizon: int | None = None, title: str = ""
) -> Figure:
    """Evidence against pairs, with the line at which a rule decides.

    Args:
        curves: The evidence after each pair, by the rule's name.
        threshold: The evidence at which the rules decide.
        horizon: The most pairs; the axis ends there.
        title: What was compared.
    """
    with drawing():
        figure, axes = canvas(7.2, 4.2 if len(curves) <= MOST_ABOVE else 4.0 + 0.1 * len(curves))
        draw_evidence(axes, curves, threshold, horizon, title)
        if len(curves) <= (1 if narrow() else MOST_ABOVE):  # otherwise the legend stands there
            figure.supxlabel(wrapped(_threshold_caption(threshold)), fontsize=8.5, color=INK, x=0.01, ha="left")
    return figure


def curves_figure(curves: Sequence[EvidenceCurve], title: str) -> Figure:
    """Evidence against pairs, one curve for each task, with the line at which the rule decides."""
    named = {one.task or one.rule: one.evidence for one in curves}
    return evidence_figure(named, curves[0].threshold, horizon=max(one.horizon for one in curves), title=title)


def replay_figure(replayed: Replay) -> Figure:
    """Evidence against pairs for every comparison of a replayed suite, one panel each."""
    from matplotlib.figure import Figure

    panels = replayed.comparisons
    columns = 1 if len(panels) == 1 else 2
    rows = math.ceil(len(panels) / columns)
    level = formatting.percent(replayed.confidence)
    with drawing():
        figure = Figure(figsize=(7.2 if columns == 1 else 10.0, 1.0 + 3.0 * rows), layout="constrained")
        for place, comparison in enumerate(panels, 1):
            curves = {stop.name: stop.evidence for stop in comparison.stops if stop.evidence}
            threshold = max(stop.threshold for stop in comparison.stops)
            draw_evidence(
                figure.add_subplot(rows, columns, place), curves, threshold, comparison.horizon, comparison.task or ""
            )
        named = f"{replayed.first} against {replayed.second}, {replayed.measure}"
        figure.suptitle(named, x=0.01, ha="left", fontsize=11.5, weight="bold")
        parts = (
            _threshold_caption(threshold),
            f"{level} over all looks; claim: {replayed.claim}. A dot is a decision.",
        )
        caption = ("\n" if columns == 1 else " ").join(parts)
        figure.supxlabel(caption, fontsize=8.5, color=INK, x=0.01, ha="left")
    return figure


def draw_evidence(
    axes: Axes, curves: Mapping[str, Sequence[float]], threshold: float, horizon: int | None, title: str
) -> None:
    """Evidence against pairs, with the line at which a rule decides, on axes of the reader's own."""
    longest = horizon or max(map(len, curves.values()))
    for place, (name, curve) in enumerate(curves.items()):
        colour, dash = COLOURS[place % len(COLOURS)], DASHES[place % len(DASHES)]
        pairs = range(len(curve) + 1)
        decided = bool(curve) and curve[-1] >= threshold * (1.0 - 1e-9)
        shown = f"{name}, {len(curve)} pairs" if decided else f"{name}, undecided"
        axes.plot(pairs, [1.0, *curve], color=colour, linestyle=dash, linewidth=1.7, label=shown)
        if decided:
            axes.plot([len(curve)], [curve[-1]], "o", color=colour, markersize=6, clip_on=False)
    axes.axhline(threshold, color=INK, linewidth=1.0)
    at_line: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "va": "center"}
    axes.annotate(f"decides\nat {threshold:g}", (1.0, threshold), (4, 0), fontsize=8.5, color=INK, **at_line)
    axes.axhline(1.0, color=FAINT, linewidth=0.6)
    axes.set_yscale("log")
    least = min((min(curve) for curve in curves.values() if curve), default=1.0)
    axes.set(xlim=(0, longest), ylim=(max(1e-3, min(0.3, least)), threshold * 2.0))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.minorticks_off()
    axes.set_xlabel("pairs")
    axes.set_ylabel("evidence")
    if (len(curves) > MOST_ABOVE or (narrow() and len(curves) > 1)) and axes.figure is not None:
        axes.set_title(title, loc="left", fontsize=10)
        axes.figure.legend(
            frameon=False, fontsize=8, ncols=1 if narrow() else 2, handlelength=1.8, loc="outside lower left"
        )
        return
    axes.set_title(title, loc="left", fontsize=10, pad=22)
    above: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (-0.01, 0.995), "borderaxespad": 0.3}
    axes.legend(frameon=False, fontsize=8.5, ncols=len(curves), columnspacing=1.2, handlelength=1.8, **above)


def _threshold_caption(threshold: float) -> str:
    return f"Evidence starts at 1; if the claim is false, it reaches {threshold:g} with chance at most 1/{threshold:g}."
