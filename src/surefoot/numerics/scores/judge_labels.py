"""The mean of human values over all items, when a judge labelled all of them and humans some.

Documents (clusters of items) are numbers 0, 1, ...; an item that stands alone is a document of its own. What the judge
is trusted with is worked out for values in [-1, 1].
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from surefoot.numerics.scores import cluster_tests
from surefoot.numerics.scores.cluster_tests import Evidence, Moments, Unmet

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats, Ints


class Fit(NamedTuple):
    """The corrected mean and what is known of its error.

    Attributes:
        evidence: The tests of the mean.
        trust: How much of the judge was used, from 0 to 1.
        left: The variance of what the judge leaves unexplained, for one labelled item.
        judged: The variance of the judge's values, for one item without a label.
    """

    evidence: Evidence
    trust: float
    left: float
    judged: float

    @property
    def mean(self) -> float:
        """The corrected mean."""
        return self.evidence.mean

    @property
    def error(self) -> float:
        """Its standard error."""
        return math.sqrt(self.evidence.moments.second)


def trusts(human: Floats, judge: Floats, documents: Ints, others: Floats, elsewhere: Ints) -> Floats:
    """How far the judge is trusted for every document, worked out without that document.

    So the trust does not depend on what it multiplies. It is drawn towards 0 by a quarter of a typical document.

    Args:
        human: Human values of the labelled items, in [-1, 1].
        judge: The judge's values of the same items.
        documents: The document of each labelled item; there are two or more.
        others: The judge's values of all other items; may be empty.
        elsewhere: The documents of those.
    """
    count = _documents(documents, elsewhere)
    if not others.size:
        return np.zeros(count)
    n, m = human.size, np.bincount(documents, minlength=count).astype(np.float64)
    quarter = float((m**2).sum()) / n / 4.0
    # sums about the overall means, which the centring below makes free of large numbers
    h, g = human - human.mean(), judge - judge.mean()
    parts = [np.bincount(documents, weights=one, minlength=count) for one in (h, g, h * g, g * g)]
    h_out, g_out, hg_out, gg_out = (float(part.sum()) - part for part in parts)
    moves, spread = hg_out - h_out * g_out / (n - m), gg_out - g_out**2 / (n - m)
    trusted: Floats = np.clip(others.size / (n + others.size) * (moves - quarter) / (spread + quarter), 0.0, 1.0)
    return trusted


def corrected(
    human: Floats,
    judge: Floats,
    documents: Ints,
    others: Floats,
    elsewhere: Ints,
    trust: Floats | None = None,
    ends: tuple[float, float] = (-1.0, 1.0),
) -> Fit:
    """The corrected mean of human values, and its tests.

    Args:
        human: Human values of the labelled items.
        judge: The judge's values of the same items.
        documents: The document of each labelled item.
        others: The judge's values of all other items; may be empty.
        elsewhere: The documents of those.
        trust: How far the judge is trusted for each document; not at all if not given.
        ends: The least and the largest value there can be.
    """
    n, count = human.size, _documents(documents, elsewhere)
    m = np.bincount(documents, minlength=count).astype(np.float64)
    k = np.bincount(elsewhere, minlength=count).astype(np.float64)
    trust = np.zeros(count) if trust is None else trust
    middle = float(others.mean()) if others.size else 0.0
    values = human - trust[documents] * (judge - middle)
    mean, overall = float(values.mean()), float(trust @ m) / n
    e = _document_errors(values - mean, documents, m)
    u = _document_errors(others - middle, elsewhere, k)
    labelled, judged = float((e**2).sum()), float((u**2).sum())
    second = max(float(((e + overall * u) ** 2).sum()), labelled)
    freedom = cluster_tests.freedom(m[m > 0])
    if overall**2 * judged > 0.0:
        both = (labelled, overall**2 * judged), (freedom, cluster_tests.freedom(k[k > 0]))
        freedom = max(1.0, cluster_tests.satterthwaite(*both))
    third, fourth = float((e**3).sum()), float((e**4).sum())
    number = n / _design_effect(values - mean, labelled, m)
    low, high = ends
    places = [(Unmet.of([max(0.0, reach)], [number]),) for reach in (mean - low, high - mean)]
    moments = Moments(second, np.array([[third]]), fourth, freedom)
    evidence = Evidence.of(mean, ends, moments, number, (places[0], places[1]))
    return Fit(evidence, overall, labelled * n, judged * others.size)


def _documents(documents: Ints, elsewhere: Ints) -> int:
    return int(max(documents.max(), elsewhere.max(initial=0))) + 1


def _document_errors(apart: Floats, documents: Ints, sizes: Floats) -> Floats:
    """CR2's residual of every document; 0 for all where there is one document, which cannot show how they differ."""
    total = float(sizes.sum())
    if int((sizes > 0).sum()) < 2:
        return np.zeros(sizes.size)
    sums: Floats = np.bincount(documents, weights=apart, minlength=sizes.size) / np.sqrt(1.0 - sizes / total) / total
    return sums


def _design_effect(apart: Floats, variance: float, sizes: Floats) -> float:
    """How many times the variance of the mean is that of items drawn one by one; without spread, a typical document."""
    n = apart.size
    plain = float((apart**2).sum()) / (n * (n - 1.0))
    if plain <= 1e-26:
        return float((sizes**2).sum()) / n
    return max(1.0, variance / plain)


def clustered_variance(values: Floats, documents: Ints) -> float:
    """The variance of a mean by CR2; 0 when all values are of one document."""
    m = np.bincount(documents).astype(np.float64)
    there = m > 0
    if int(there.sum()) < 2:
        return 0.0
    sums = np.bincount(documents, weights=values - values.mean())[there]
    return float((sums**2 / (1.0 - m[there] / values.size)).sum()) / values.size**2
