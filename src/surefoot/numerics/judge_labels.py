"""What is the mean of human labels over all items, when a judge labelled all of them and humans some?

Values lie in [-1, 1]: gains as they are, scores of one policy stretched to that. Documents (clusters of items) are
numbers 0, 1, ...; an item that stands alone is a document of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from surefoot.numerics import cluster_moments

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats, Ints


class Fit(NamedTuple):
    """The corrected mean and what its error is made of.

    Attributes:
        mean: The corrected mean.
        error: Its standard error.
        freedom: The degrees of freedom of that.
        trust: How much of the judge was used, from 0 to 1.
        left: The variance of what the judge leaves unexplained, for one labelled item.
        judged: The variance of the judge's values, for one item without a label.
    """

    mean: float
    error: float
    freedom: float
    trust: float
    left: float
    judged: float


def corrected(human: Floats, judge: Floats, documents: Ints, others: Floats, elsewhere: Ints, trusted: bool) -> Fit:
    """The corrected mean of human values.

    How far the judge is trusted for a document is worked out without that document, so that the trust does not
    depend on what it multiplies. Two imagined items, one at each end of the range and judged to be at the other, keep
    the error from being too small when few labels happen to agree.

    Args:
        human: Human values of the labelled items.
        judge: The judge's values of the same items.
        documents: The document of each labelled item.
        others: The judge's values of all other items; may be empty.
        elsewhere: The documents of those.
        trusted: Whether to use the judge at all.
    """
    import numpy as np

    n, rest = human.size, others.size
    count = int(max(documents.max(), elsewhere.max(initial=0))) + 1
    m = np.bincount(documents, minlength=count).astype(np.float64)
    sizes = m[m > 0]
    typical = float((sizes**2).sum()) / n
    middle = float(others.mean()) if rest else 0.0
    trust = np.zeros(count)
    if trusted and rest:
        # sums about the overall means, which the centring below makes free of large numbers
        h, g = human - human.mean(), judge - judge.mean()
        parts = [np.bincount(documents, weights=one, minlength=count) for one in (h, g, h * g, g * g)]
        h_out, g_out, hg_out, gg_out = (float(part.sum()) - part for part in parts)
        out = n - m
        moves = hg_out - h_out * g_out / out
        spread = gg_out - g_out**2 / out
        trust = np.clip(rest / (n + rest) * (moves - typical) / (spread + typical), 0.0, 1.0)
    values = human - trust[documents] * (judge - middle)
    mean = float(values.mean())
    overall = float((m * trust).sum()) / n
    inflate = np.zeros(count)
    inflate[m > 0] = 1.0 / np.sqrt(1.0 - sizes / n)
    e = np.bincount(documents, weights=values - mean, minlength=count) * inflate
    squares = float((e**2).sum())
    labelled = (squares + 2.0 * typical * (1.0 + overall) ** 2) / (n + 2.0 * typical) ** 2
    freedom = cluster_moments.freedom(sizes) + 2.0
    k = np.bincount(elsewhere, minlength=count).astype(np.float64)
    there = k > 0
    if int(there.sum()) < 2:  # no item is left, or all are of one document: nothing tells how such differ
        return Fit(mean, labelled**0.5, freedom, overall, squares / n, 0.0)
    u = np.bincount(elsewhere, weights=others - middle, minlength=count) / rest
    u[there] /= np.sqrt(1.0 - k[there] / rest)
    judged = float((u**2).sum())
    unlabelled = overall**2 * judged
    shared = max(0.0, 2.0 * overall * float((e * u).sum()) / n)
    parts_of = labelled**2 / freedom + unlabelled**2 / cluster_moments.freedom(k[there])
    return Fit(
        mean,
        (labelled + unlabelled + shared) ** 0.5,
        (labelled + unlabelled) ** 2 / parts_of,
        overall,
        squares / n,
        judged * rest,
    )


def clustered_variance(values: Floats, documents: Ints) -> float:
    """The variance of a mean by CR2; 0 when all values are of one document."""
    import numpy as np

    m = np.bincount(documents).astype(np.float64)
    there = m > 0
    if int(there.sum()) < 2:
        return 0.0
    sums = np.bincount(documents, weights=values - values.mean())[there]
    return float((sums**2 / (1.0 - m[there] / values.size)).sum()) / values.size**2
