"""How many items must a person label, and do the labelled ones look like the rest?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from surefoot import _check
from surefoot.core.record import Record
from surefoot.stats.corrections import CorrectedGain, documents_of


@dataclass(frozen=True, slots=True)
class LabelsNeeded(Record):
    """How many labelled items would do, as a range: the figures it rests on are estimates themselves.

    Attributes:
        labels: The least number by the formula; None when even all items would not do.
        low: The low end of the range.
        high: The high end, at most all items.
        items: All items.
        half_width: What the interval's half-width must come down to.
    """

    labels: int | None
    low: int | None
    high: int | None
    items: int
    half_width: float

    def __str__(self) -> str:
        if self.labels is None:
            return f"Even labels for all {self.items:,} items would not do: more items are needed."
        return f"About {self.low:,} to {self.high:,} labelled items of {self.items:,} would do."


def labels_needed(
    found: CorrectedGain, half_width: float, *, confidence: float = 0.95, span: float = 1.0
) -> LabelsNeeded:
    """How many labelled items bring the corrected gain's interval down to a half-width?

    To decide a gain d with a chance of 80%, ask for a half-width of .7 d.

    Args:
        found: What the labels so far gave.
        half_width: What half of the interval's width should be.
        confidence: The confidence of that interval.
        span: The largest gain possible: 1 for rates, the range of the scores for scores.

    Assumptions:
        More labels are drawn like those so far. The range is .7 to 1.35 times the formula's number, which held from
        50 labels on; with fewer the figures behind it are poorly known.

    Example:
        >>> from surefoot.stats import judge_corrected_gain, labels_needed
        >>> said = [1, 0, 0, 0, -1, 1, 0, 0] * 200
        >>> labels = [1, 0, 0, 0, 0, 0, 0, 0] * 8 + [None] * 1536
        >>> print(labels_needed(judge_corrected_gain(said, labels), 0.05))
        About 112 to 218 labelled items of 1,600 would do.

    Reference:
        The variance of `judge_corrected_gain` solved for the number of labels.
    """
    confidence, span = _check.confidence(confidence), _check.positive(span, "span")
    wanted = _check.positive(half_width, "half_width")
    most = found.items

    def enough(n: int) -> bool:
        return half_width_of(n, found, confidence=confidence, span=span) <= wanted

    if not enough(most):
        return LabelsNeeded(None, None, None, most, wanted)
    few, many = 1, most  # `many` is enough; the half-width falls in n until few items are left without a label
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if enough(middle) else (middle, many)
    return LabelsNeeded(many, math.floor(0.7 * many), min(most, math.ceil(1.35 * many)), most, wanted)


def half_width_of(n: int, found: CorrectedGain, *, confidence: float, span: float) -> float:
    """The half-width that `n` labels of all items would give, by what is known from `found`."""
    from scipy import special

    rest = found.items - n
    trust = found.trust if rest > 1 else 0.0
    labelled = (n * found.left + 2.0 * ((1.0 + trust) * span) ** 2) / (n + 2.0) ** 2
    unlabelled = trust**2 * found.judged / rest if rest > 1 else 0.0
    parts = labelled**2 / (n + 1.0) + (unlabelled**2 / (rest - 1.0) if rest > 1 else 0.0)
    freedom = (labelled + unlabelled) ** 2 / parts
    return float(special.stdtrit(freedom, (1.0 + confidence) / 2.0)) * math.sqrt(labelled + unlabelled)


def draw_gap(values: Sequence[float], labelled: Sequence[bool], clusters: Iterable[object] | None = None) -> float:
    """By how many standard errors do labelled items differ from the others in what the judge said of them?

    The error is that of items drawn at random, or of documents where that is larger.

    Args:
        values: What the judge said of each item: its gain, or its score.
        labelled: Whether the item has a label.
        clusters: The document of each item.

    Assumptions:
        Enough items of both kinds for a normal law; a difference in what the judge did not see stays unseen.

    Example:
        >>> from surefoot.stats import draw_gap
        >>> print(f"{draw_gap([1, 0] * 50, [True] * 10 + [False] * 90):.2f}")
        0.00
        >>> print(f"{draw_gap([1] * 10 + [1, 0] * 45, [True] * 10 + [False] * 90):.2f}")
        3.00

    Reference:
        Cochran (1977), "Sampling techniques", section 2.6, for items drawn without replacement.
    """
    import numpy as np

    from surefoot.numerics.judged import clustered_variance

    x, there = np.asarray(values, dtype=np.float64), np.asarray(labelled, dtype=bool)
    n, rest = int(there.sum()), int((~there).sum())
    if min(n, rest) < 2:
        return 0.0
    documents = documents_of(clusters, x.size)
    drawn = float(x.var(ddof=1)) * x.size / (n * rest)
    grouped = sum(clustered_variance(x[side], documents[side]) for side in (there, ~there))
    error = math.sqrt(max(drawn, grouped))
    return float(x[there].mean() - x[~there].mean()) / error if error > 1e-12 else 0.0
