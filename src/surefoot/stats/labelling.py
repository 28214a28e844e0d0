"""Number of human labels needed, and checks of labels: a random sample, two judges that agree."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from surefoot import _check
from surefoot.core.assumptions import ITEMS_SOFTENED, JUDGES_APART
from surefoot.core.interval import Interval
from surefoot.core.record import Record
from surefoot.stats.judge_corrected_gains import CorrectedGain, documents_of

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats


RANGE = (0.7, 1.35)
"""How far the number of labels that were needed was off the formula's, from 50 labels on."""
DECIDES = 0.7
"""The half-width that decides a gain with a chance of 80%, as a share of that gain."""


@dataclass(frozen=True, slots=True)
class LabelsNeeded(Record):
    """How many labelled items would do, as a range: the figures it rests on are estimates themselves.

    Attributes:
        labels: The least number by the formula; None when more labels would hardly do.
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
            return f"More labels of these {self.items:,} items would hardly do: more items are needed."
        return f"About {self.low:,} to {self.high:,} labelled items of {self.items:,} would do."


def labels_needed(
    found: CorrectedGain, half_width: float, *, confidence: float = 0.95, span: float = 1.0
) -> LabelsNeeded:
    """Labelled items that bring the corrected gain's interval down to a half-width.

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
        About 113 to 219 labelled items of 1,600 would do.

    Reference:
        The variance of `judge_corrected_gain` solved for the number of labels.
    """
    confidence, span = _check.confidence(confidence), _check.positive(span, "span")
    wanted = _check.positive(half_width, "half_width")
    left, judged = found.left / span**2, found.judged / span**2
    return _least(_counts(found.items), left, judged, found.trust, wanted / span, wanted, confidence)


def labels_expected(
    judge: Sequence[float], gain: float, *, agreement: float = 0.9, confidence: float = 0.95
) -> LabelsNeeded:
    """Labelled items expected to decide a gain in success rates, before any is labelled.

    Args:
        judge: The judge's gain on every item.
        gain: The gain to be decided, with a chance of 80%.
        agreement: The share of outcomes on which judge and people will agree.
        confidence: The confidence of the verdict.

    Assumptions:
        People's gains spread as the judge's do, and the judge errs on successes and failures alike. A plan, no
        promise: once there are labels, `labels_needed` knows more.

    Example:
        >>> from surefoot.stats.labelling import labels_expected
        >>> print(labels_expected([1, 0, 0, -1, 0, 1, 0, 0] * 200, 0.1))
        About 104 to 202 labelled items of 1,600 would do.

    Reference:
        The variance of `judge_corrected_gain` for such a judge.
    """
    import numpy as np

    gain, confidence = abs(_check.real(gain, "gain")), _check.confidence(confidence)
    _check.positive(gain, "gain")
    if not 0.5 < _check.rate(agreement, "agreement") < 1.0:
        raise _check.refused("agreement", "be above 0.5 and below 1", agreement)
    g = np.asarray(list(judge), dtype=np.float64)
    if g.size < 3:
        raise _check.refused("judge", "hold at least 3 items", int(g.size))
    moves = 2.0 * agreement - 1.0  # the correlation of the judge's gains with people's
    spread = float(g.var(ddof=1))
    n = _counts(g.size)
    trust = moves * (g.size - n) / g.size
    left = spread * (1.0 - 2.0 * trust * moves + trust**2)
    return _least(n, left, spread, trust, DECIDES * gain, DECIDES * gain, confidence)


def _least(
    n: Floats, left: Floats | float, judged: float, trust: Floats | float, wanted: float, said: float, confidence: float
) -> LabelsNeeded:
    """The least number of labels with a half-width of `wanted`; the half-width first falls in it, then may rise."""
    import numpy as np

    items = n.size + 3  # 2 to all but 2
    enough = np.flatnonzero(_half_width(n, items, left, judged, trust, confidence) <= wanted)
    if not enough.size:
        return LabelsNeeded(None, None, None, items, said)
    least = int(n[enough[0]])
    return LabelsNeeded(least, math.floor(RANGE[0] * least), min(items, math.ceil(RANGE[1] * least)), items, said)


def _half_width(
    n: Floats,
    items: float,
    left: Floats | float,
    judged: float,
    trust: Floats | float,
    confidence: float,
    *,
    softened: float = 2.0,
) -> Floats:
    """Half the width of a corrected gain's interval, by Student's t; it is softened where few labels must promise."""
    import numpy as np
    from scipy import special

    rest = items - n
    labelled = (n * left + softened * (1.0 + trust) ** 2) / (n + softened) ** 2
    unlabelled = trust**2 * judged / np.maximum(rest, 1.0)
    freedom = (labelled + unlabelled) ** 2 / (labelled**2 / (n + 1.0) + unlabelled**2 / np.maximum(rest - 1.0, 1.0))
    half: Floats = special.stdtrit(freedom, (1.0 + confidence) / 2.0) * np.sqrt(labelled + unlabelled)
    return half


def half_width_after(
    found: CorrectedGain, labels: int, items: int, *, confidence: float = 0.95, span: float = 1.0
) -> float:
    """Half the width that the interval of a corrected gain would have with more labelled items, or more items.

    The judge is trusted more the more items it decides alone; what it leaves unexplained changes with that.

    Args:
        found: What the labels so far gave.
        labels: Labelled items then.
        items: All items then, labelled or not.
        confidence: The confidence of that interval.
        span: The largest gain possible: 1 for rates, the range of the scores for scores.

    Assumptions:
        Items and labels are drawn like those so far. Approximate, as in `labels_needed`.

    Example:
        >>> from surefoot.stats import judge_corrected_gain
        >>> from surefoot.stats.labelling import half_width_after
        >>> said = [1, 0, 0, 0, -1, 1, 0, 0] * 200
        >>> found = judge_corrected_gain(said, [1, 0, 0, 0, 0, 0, 0, 0] * 8 + [None] * 1536)
        >>> [round(half_width_after(found, labels, 1600), 3) for labels in (64, 160)]
        [0.075, 0.048]

    Reference:
        The variance of `judge_corrected_gain`, scaled to the interval that was found.
    """
    import numpy as np

    spread, moves = found.judged / span**2, 0.0
    if found.trust:
        moves = found.trust * spread * found.items / (found.items - found.labels)

    def half(n: int, of: int) -> float:
        trust = moves / spread * (of - n) / of if moves else 0.0
        left = found.left / span**2 + spread * (trust**2 - found.trust**2) - 2.0 * moves * (trust - found.trust)
        given = (np.array(float(n)), float(of), max(left, 0.0), spread, trust, confidence)
        return float(_half_width(*given, softened=0.0))

    now = found.gain.interval.width / 2.0
    return now * half(labels, items) / half(found.labels, found.items)


def _counts(items: int) -> Floats:
    import numpy as np

    return np.arange(2.0, items - 1.0)


def draw_gap(values: Sequence[float], labelled: Sequence[bool], clusters: Iterable[object] | None = None) -> float:
    """Standardised difference of what the judge said between labelled and other items.

    The error is that of items drawn at random, or of documents where that is larger.

    Args:
        values: What the judge said of each item: its gain, or its score.
        labelled: Whether the item has a label.
        clusters: The document of each item.

    Assumptions:
        Enough items of both kinds for a normal law; a difference in what the judge did not see stays unseen.

    Example:
        >>> from surefoot.stats.labelling import draw_gap
        >>> print(f"{draw_gap([1, 0] * 50, [True] * 10 + [False] * 90):.2f}")
        0.00
        >>> print(f"{draw_gap([1] * 10 + [1, 0] * 45, [True] * 10 + [False] * 90):.2f}")
        3.00

    Reference:
        Cochran (1977), "Sampling techniques", section 2.6, for items drawn without replacement.
    """
    import numpy as np

    from surefoot.numerics.scores.judge_labels import clustered_variance

    x, there = np.asarray(values, dtype=np.float64), np.asarray(labelled, dtype=bool)
    n, rest = int(there.sum()), int((~there).sum())
    if min(n, rest) < 2:
        return 0.0
    documents = documents_of(clusters, x.size)
    drawn = float(x.var(ddof=1)) * x.size / (n * rest)
    grouped = sum(clustered_variance(x[side], documents[side]) for side in (there, ~there))
    error = math.sqrt(max(drawn, grouped))
    return float(x[there].mean() - x[~there].mean()) / error if error > 1e-12 else 0.0


def cohen_kappa(first: Iterable[Hashable], second: Iterable[Hashable], *, confidence: float = 0.95) -> Interval:
    """How far do two judges agree beyond chance? 1 is full agreement, 0 is chance.

    Args:
        first: Labels of the first judge.
        second: Labels of the second judge, of the same items in the same order.
        confidence: How often such intervals hold the agreement, nearly.

    Assumptions:
        Independent items, labelled by both judges, in categories without an order.

    Example:
        >>> from surefoot.stats import cohen_kappa
        >>> print(cohen_kappa([1, 1, 0, 0, 1, 0, 1, 1] * 5, [1, 1, 0, 0, 1, 1, 1, 1] * 5))
        0.714 [0.408, 0.888] n=40 (95% softened Cohen's kappa interval).

    Reference:
        Cohen (1960), "A coefficient of agreement for nominal scales"; Fleiss, Cohen and Everitt (1969) for the
        standard error, here of the softened table.
    """
    import numpy as np
    from scipy import special

    confidence = _check.confidence(confidence)
    one, other = list(first), list(second)
    if len(one) != len(other):
        raise _check.wrong("second", f"label the {len(one):,} items of `first`; got {len(other):,}.", second)
    if len(one) < 2:
        raise _check.wrong("first", f"label at least 2 items; got {len(one)}.", first)
    kinds = {label: place for place, label in enumerate(dict.fromkeys([*one, *other]))}
    if any(isinstance(label, float) and label != label for label in kinds):
        raise _check.wrong(
            ("first", "second"),
            "label every item; got NaN for some.",
            (first, second),
            "Leave those items out of both.",
        )
    if len(kinds) < 2:
        raise _check.wrong(
            ("first", "second"),
            "use at least 2 labels; got one. Where all labels are alike, agreement beyond chance is not defined.",
            (first, second),
        )
    table = np.zeros((len(kinds), len(kinds)))
    np.add.at(table, ([kinds[label] for label in one], [kinds[label] for label in other]), 1.0)
    estimate, _ = _kappa(table)
    more = float(special.ndtri((1.0 + confidence) / 2.0)) ** 2
    centre, error = _kappa(table + more / table.size)
    half = float(special.stdtrit(len(one) - 1, (1.0 + confidence) / 2.0)) * error
    return Interval(
        low=min(estimate, max(-1.0, centre - half)),
        high=max(estimate, min(1.0, centre + half)),
        estimate=estimate,
        confidence=confidence,
        method="softened Cohen's kappa",
        trials=len(one),
        scale="score",
        assumptions=(JUDGES_APART, ITEMS_SOFTENED),
    )


def _kappa(table: Floats) -> tuple[float, float]:
    """Kappa of a table of counts, and its large-sample standard error."""
    import numpy as np

    total = float(table.sum())
    share = table / total
    rows, columns, alike = share.sum(axis=1), share.sum(axis=0), np.diag(share)
    by_chance = float((rows * columns).sum())
    kappa = (float(np.trace(table)) / total - by_chance) / (1.0 - by_chance)  # of whole numbers, so never above 1
    same = float((alike * (1.0 - (rows + columns) * (1.0 - kappa)) ** 2).sum())
    weight = share * (columns[:, None] + rows[None, :]) ** 2
    different = (1.0 - kappa) ** 2 * float(weight.sum() - np.trace(weight))
    variance = same + different - (kappa - by_chance * (1.0 - kappa)) ** 2
    return kappa, math.sqrt(max(0.0, variance) / total) / (1.0 - by_chance)
