"""Difference of two policies by human labels, some items labelled and all judged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.assumptions import DOCUMENTS_APART, HUMANS_TRUE, JUDGE_MEASURED, LABELS_DRAWN, ROUGH
from surefoot.core.gain import Gain, decide
from surefoot.core.interval import Interval
from surefoot.core.record import Record
from surefoot.core.scores import Scores
from surefoot.stats import score_gains
from surefoot.stats.multiplicity import Sides
from surefoot.stats.one_sided_gains import agreeing

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Flags, Floats, Ints
    from surefoot.numerics.scores.judge_labels import Fit


ALONE = "labels alone"
FEWEST = 30
"""Labels from which the judge is used: coverage was measured from there on, and below it never helps."""
LARGEST = 0.5
"""The largest gain, as a share of the largest possible, up to which coverage was measured for any law."""


class LeftOut(StrEnum):
    """Why a judge was not used, by a rule that was fixed beforehand."""

    ASKED = "asked"
    FEW = "few labels"
    ALL = "all labelled"
    CHANCE = "no better than chance"
    LARGE = "large gain"


@dataclass(frozen=True, slots=True)
class CorrectedGain(Record):
    """A gain by human labels, with what a judge added to them.

    Attributes:
        gain: The gain of the first policy: interval, p-value and verdict.
        items: Items that the judge decided, labelled or not.
        labels: Items with human labels for both policies.
        documents: Documents (clusters) that the labelled items are in; as many as labels when items stand alone.
        trust: How much of the judge was used, from 0 to 1.
        left_out: Why the judge was not used; None when it was.
        without: The width of the same interval with the judge left out.
        left: The variance of what the judge leaves unexplained, for one labelled item.
        judged: The variance of the judge's gains, for one item.
        guaranteed: Whether the interval holds for any law: the labels alone, of items or of documents of one size.
    """

    gain: Gain
    items: int
    labels: int
    documents: int
    trust: float
    left_out: LeftOut | None
    without: float
    left: float
    judged: float
    guaranteed: bool

    @property
    def bought(self) -> float:
        """The share of the width that the judge took away; 0 when it was not used, below 0 when it cost some."""
        if self.left_out is not None or self.without <= 0.0:
            return 0.0
        return 1.0 - self.gain.interval.width / self.without

    def __str__(self) -> str:
        said = "judge left out" if self.left_out is not None else f"judge trusted {self.trust:.2f}"
        return f"{str(self.gain).removesuffix('.')}; {self.labels:,} of {self.items:,} items labelled, {said}."


def judge_corrected_gain(
    judge: Iterable[float],
    human: Iterable[float | None],
    clusters: Iterable[object] | None = None,
    *,
    span: float = 1.0,
    scale: Literal["gain", "score gain"] = "gain",
    method: Literal["judge", "labels"] = "judge",
    confidence: float = 0.95,
    margin: float = 0.0,
) -> CorrectedGain:
    """Prediction-powered interval of a gain, from a few human labels and a judge's for all items.

    It is right however bad the judge is, and however it leans: the judge is trusted as far as its gains move with the
    humans'. By rules fixed beforehand the judge is left out, and the labels alone decide (guaranteed unless documents
    are of unequal size): when asked for, below 30 labels, when everything is labelled, when the judge is no better
    than chance, and beyond a gain of half the range.

    Args:
        judge: The judge's gain on every item, first minus second, each the mean over the item's epochs.
        human: The human gain on the same items, in the same order; None where there is no label.
        clusters: The document of each item, when items come in documents.
        span: The largest gain possible: 1 for rates, the range of the scores for scores.
        scale: Whether these are gains in rates or in scores.
        method: "judge", or "labels" to leave the judge out.
        confidence: How often such intervals hold the gain, nearly; see the assumptions.
        margin: The gain that would not matter.

    Assumptions:
        The labelled items are a random sample of all items; the documents (or items) are independent. Measured
        coverage at 95%: at least .935 from 30 labels on, with judges right in 70% to 98%, lenient on one policy,
        1 to 5 epochs, and documents of unequal size; .924 where a tenth of 40 documents fail whole.

    Example:
        >>> from surefoot.stats import judge_corrected_gain
        >>> said = [1, 0, 0, 0, -1, 1, 1, 0] * 50
        >>> labels = [1, 0, 0, 0, 0, 1, 0, 0] * 12 + [None] * 304
        >>> found = judge_corrected_gain(said, labels)
        >>> print(found.gain)
        +25.1 points [+17.8, +32.6] n=96 (95% judge-corrected interval), p < 0.0001: the first is better.
        >>> print(f"judge trusted {found.trust:.2f}, {found.bought:.1%} of the width saved")
        judge trusted 0.32, 19.1% of the width saved

    Reference:
        Angelopoulos et al. (2023), "Prediction-powered inference"; cross-fitted by document, with CR2 errors, the
        degrees of freedom of Bell and McCaffrey (2002), and the test of `cluster_gain`.
    """
    import numpy as np

    from surefoot.numerics.scores import judge_labels

    confidence, span = _check.confidence(confidence), _check.positive(span, "span")
    _check.choice(method, "method", {"judge": 1, "labels": 1})
    margin = _check.margin(margin, span)
    g, h, there, documents = _items(judge, human, clusters, (-span, span))
    g, h = g / span, h / span
    data = (h[there], g[there], documents[there], g[~there], documents[~there])
    plain = judge_labels.corrected(*data)
    fit = judge_labels.corrected(*data, judge_labels.trusts(*data)) if method == "judge" else plain
    n, rest = int(there.sum()), int((~there).sum())
    left_out = _left_out(fit, n, rest, method)
    used = plain if left_out is not None else fit
    error = 1.0 - confidence
    without = float(np.ptp(plain.evidence.interval(error))) * span
    sizes = np.bincount(documents[there])
    grouped = int((sizes > 0).sum())
    guaranteed = left_out is not None and np.ptp(sizes[sizes > 0]) == 0
    if guaranteed:
        gain = _guaranteed(h[there], documents[there], span, scale, confidence, margin)
    else:
        p = used.evidence.p_value(0.0)
        above, below = (p if sign * used.mean > 0.0 else 1.0 for sign in (1.0, -1.0))
        sides = Sides(above, below, above, below)
        low, high = (span * end for end in agreeing(used.evidence.interval(error), sides, error, 0.0))
        name, promise = ("judge-corrected", JUDGE_MEASURED) if left_out is None else ("clustered labels alone", ROUGH)
        held = (LABELS_DRAWN, HUMANS_TRUE, *((DOCUMENTS_APART,) if grouped < n else ()), promise)
        interval = Interval(low, high, span * used.mean, confidence, name, n, scale, held)
        gain = Gain(interval, p, decide(low, high, margin), margin=margin)
    return CorrectedGain(
        gain=gain,
        items=n + rest,
        labels=n,
        documents=grouped,
        trust=used.trust,
        left_out=left_out,
        without=without,
        left=used.left * span**2,
        judged=used.judged * span**2,
        guaranteed=bool(guaranteed),
    )


@dataclass(frozen=True, slots=True)
class CorrectedMean(Record):
    """One policy's rate or mean score by human labels, with what a judge added to them, in documents or epochs.

    Attributes:
        interval: Where the rate or the mean score lies.
        items: Items that the judge decided, labelled or not.
        labels: Items with a human label.
        documents: Documents (clusters) that the labelled items are in.
        trust: How much of the judge was used, from 0 to 1.
    """

    interval: Interval
    items: int
    labels: int
    documents: int
    trust: float

    def __str__(self) -> str:
        said = f"{self.labels:,} of {self.items:,} items labelled, judge trusted {self.trust:.2f}"
        return f"{str(self.interval).removesuffix('.')}; {said}."


def judge_corrected_mean(
    judge: Iterable[float],
    human: Iterable[float | None],
    clusters: Iterable[object] | None = None,
    *,
    low: float = 0.0,
    high: float = 1.0,
    scale: Literal["rate", "score"] = "rate",
    method: Literal["judge", "labels"] = "judge",
    confidence: float = 0.95,
) -> CorrectedMean:
    """Prediction-powered interval of a rate or mean score, for items in epochs or documents.

    Estimate, moments and test are those of the corrected gain, with the ends of the range.

    Args:
        judge: The judge's rate or mean score of every item over its epochs.
        human: The human one of the same items, in the same order; None where there is no label.
        clusters: The document of each item, when items come in documents.
        low: The lowest score possible.
        high: The highest score possible.
        scale: Whether these are rates or scores.
        method: "judge", or "labels" to leave the judge out; below 30 labels it is left out anyway.
        confidence: How often such intervals hold the mean, nearly; see the assumptions.

    Assumptions:
        The labelled items are a random sample of all items; the documents (or items) are independent. Approximate: of
        one policy's mean the coverage was measured less than that of the gain.

    Example:
        >>> from surefoot.stats import judge_corrected_mean
        >>> said, truth = [1, 1, 2 / 3, 0] * 50, [1, 1, 1 / 3, 0] * 12 + [None] * 152
        >>> print(judge_corrected_mean(said, truth, [item // 4 for item in range(200)]))
        58.3% [54.8%, 60.9%] n=48 (95% judge-corrected interval); 48 of 200 items labelled, judge trusted 0.71.

    Reference:
        As `judge_corrected_gain`.
    """
    from surefoot.numerics.scores import judge_labels

    confidence = _check.confidence(confidence)
    low, high = _check.span(low, high)
    _check.choice(method, "method", {"judge": 1, "labels": 1})
    g, h, there, documents = _items(judge, human, clusters, (low, high))
    g, h = (2.0 * (one - low) / (high - low) - 1.0 for one in (g, h))
    data = (h[there], g[there], documents[there], g[~there], documents[~there])
    trusted = method == "judge" and int(there.sum()) >= FEWEST
    fit = judge_labels.corrected(*data, judge_labels.trusts(*data) if trusted else None)
    return _mean_of(fit, data[2], g.size, (low, high), scale, confidence)


def judge_corrected_rates(
    judge: tuple[Iterable[float], Iterable[float]],
    human: tuple[Iterable[float | None], Iterable[float | None]],
    clusters: Iterable[object] | None = None,
    *,
    low: float = 0.0,
    high: float = 1.0,
    scale: Literal["rate", "score"] = "rate",
    method: Literal["judge", "labels"] = "judge",
    confidence: float = 0.95,
) -> tuple[CorrectedMean, CorrectedMean]:
    """Rates or mean scores of two policies by human labels and a judge, whose difference is the corrected gain.

    Both are corrected with the trust of the gain, and with none where `judge_corrected_gain` leaves the judge out.

    Args:
        judge: The judge's rate or mean score of every item, of the first policy and of the second.
        human: The human ones of the same items; None where there is no label. Items with labels of both are used.
        clusters: The document of each item, when items come in documents.
        low: The lowest score possible.
        high: The highest score possible.
        scale: Whether these are rates or scores.
        method: "judge", or "labels" to leave the judge out.
        confidence: How often such intervals hold the mean, nearly. Not measured for these means.

    Assumptions:
        Those of `judge_corrected_gain`.

    Example:
        >>> from surefoot.stats.judge_corrected_gains import judge_corrected_rates
        >>> judges, people = ([1, 1, 0, 1] * 50, [1, 0, 0, 0] * 50), ([1, 1, 0, 0] * 12, [1, 0, 0, 0] * 12)
        >>> first, second = judge_corrected_rates(judges, tuple([*one, *[None] * 152] for one in people))
        >>> print(f"{first.interval.estimate:.3f} {second.interval.estimate:.3f}")
        0.500 0.250

    Reference:
        As `judge_corrected_gain`.
    """
    from surefoot.numerics.scores import judge_labels

    confidence, (low, high) = _check.confidence(confidence), _check.span(low, high)
    people = [list(side) for side in human]
    both = [None not in pair for pair in zip(*people, strict=False)]
    sides = [
        _items(said, [x if seen else None for x, seen in zip(of, both, strict=True)], clusters, (low, high))
        for said, of in zip(judge, people, strict=True)
    ]
    (g, h, there, documents), (other_g, other_h, _, _) = sides
    wide = high - low
    gains = (h - other_h)[there] / wide, (g - other_g)[there] / wide, documents[there]
    rest = (g - other_g)[~there] / wide, documents[~there]
    trust = judge_labels.trusts(*gains, *rest)
    fit = judge_labels.corrected(*gains, *rest, trust)
    if _left_out(fit, int(there.sum()), int((~there).sum()), method) is not None:
        trust = trust * 0.0
    fits = [
        judge_labels.corrected(y[there], x[there], gains[2], x[~there], rest[1], trust, (0.0, 1.0))
        for x, y in (((x - low) / wide, (y - low) / wide) for x, y, _, _ in sides)
    ]
    one, two = (_mean_of(each, gains[2], g.size, (low, high), scale, confidence) for each in fits)
    return one, two


def _mean_of(
    fit: Fit,
    documents: Ints,
    items: int,
    ends: tuple[float, float],
    scale: Literal["rate", "score"],
    confidence: float,
) -> CorrectedMean:
    """One policy's mean from its fit, on whatever range that was made."""
    test, labels = fit.evidence, documents.size
    least, most = test.above.low, -test.below.low
    found = (*test.interval(1.0 - confidence), test.mean)
    low, high, middle = (ends[0] + (ends[1] - ends[0]) * (one - least) / (most - least) for one in found)
    grouped = len(set(documents.tolist()))
    held = (LABELS_DRAWN, HUMANS_TRUE, *((DOCUMENTS_APART,) if grouped < labels else ()), JUDGE_MEASURED)
    name = "judge-corrected" if fit.trust > 0.0 else "clustered labels alone"
    interval = Interval(min(low, middle), max(high, middle), middle, confidence, name, labels, scale, held)
    return CorrectedMean(interval, items, labels, grouped, fit.trust)


def _left_out(fit: Fit, labels: int, rest: int, method: Literal["judge", "labels"]) -> LeftOut | None:
    """Why the judge is left out: by what was fixed beforehand, never by which interval is narrower."""
    if method == "labels":
        return LeftOut.ASKED
    if rest < 2:
        return LeftOut.ALL
    if labels < FEWEST:
        return LeftOut.FEW
    if fit.trust <= 0.0:
        return LeftOut.CHANCE
    return LeftOut.LARGE if abs(fit.mean) > LARGEST else None


def _guaranteed(
    gains: Floats,
    documents: Ints,
    span: float,
    scale: Literal["gain", "score gain"],
    confidence: float,
    margin: float,
) -> Gain:
    """The gain by the labels alone, of documents of one size (or items): the document is the unit."""
    import numpy as np

    from surefoot import stats

    sizes = np.bincount(documents)
    units = np.bincount(documents, weights=gains)[sizes > 0] / sizes[sizes > 0]
    units = np.clip(units, -1.0, 1.0) * span
    sides = (Scores(np.maximum(side * units, 0.0).tolist(), 0.0, span) for side in (1.0, -1.0))
    found = stats.paired_score_gain(*sides, confidence=confidence, margin=margin)
    held = (LABELS_DRAWN, HUMANS_TRUE, *((DOCUMENTS_APART,) if units.size < gains.size else ()))
    interval = replace(
        found.interval, method=ALONE, scale=scale, trials=gains.size, assumptions=held, notes=(), data=()
    )
    return replace(found, interval=interval)


def _items(
    judge: Iterable[float], human: Iterable[float | None], clusters: Iterable[object] | None, ends: tuple[float, float]
) -> tuple[Floats, Floats, Flags, Ints]:
    """The judge's values, the human's (0 where there is none), which are labelled, and the documents."""
    import numpy as np

    g = np.asarray(list(judge), dtype=np.float64)
    given = list(human)
    if len(given) != g.size:
        raise _check.wrong(
            "human", f"have a label or None for the {g.size:,} items of `judge`; got {len(given):,}.", human
        )
    there = np.asarray([value is not None for value in given], dtype=bool)
    h = np.asarray([0.0 if value is None else value for value in given], dtype=np.float64)
    slack = 1e-9 * (ends[1] - ends[0])
    for name, values in (("judge", g), ("human", h[there])):
        outside = values[~((values >= ends[0] - slack) & (values <= ends[1] + slack))]  # also finds NaN
        if outside.size:
            raise _check.refused(name, f"lie between {ends[0]:g} and {ends[1]:g}", float(outside[0]))
    documents = documents_of(clusters, g.size)
    count = len(set(documents[there].tolist()))
    if count < 2:
        raise _check.wrong(
            "human",
            "label items in at least 2 documents; got "
            f"{formatting.counted(int(there.sum()), 'labelled item')} "
            f"in {count}. One document cannot show how documents differ.",
            human,
        )
    return g, h, there, documents


def documents_of(clusters: Iterable[object] | None, size: int) -> Ints:
    """The document of each item, numbered; each item its own when items stand alone."""
    import numpy as np

    if clusters is None:
        return np.arange(size)
    return score_gains.labels(clusters, size)[0]
