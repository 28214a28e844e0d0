"""Figures of evidence, pair by pair, up to the line where it decides."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from surefoot.core import formatting
from surefoot.reporting.style import COLOURS, FAINT, INK, canvas, drawing, narrow, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from surefoot.analysis.evidence import EvidenceCurve
    from surefoot.analysis.replays import Replay

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
            figure.supxlabel(wrapped(_caption(threshold)), fontsize=8.5, color=INK, x=0.01, ha="left")
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
        parts = (_caption(threshold), f"{level} over all looks; claim: {replayed.claim}. A dot is a decision.")
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


def _caption(threshold: float) -> str:
    return f"Evidence starts at 1; if the claim is false, it reaches {threshold:g} with chance at most 1/{threshold:g}."
