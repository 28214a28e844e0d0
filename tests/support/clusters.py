"""What several tests of clusters share."""

import numpy as np
from scipy import stats as scipy_stats

from surefoot import Scores

UNEVEN = (60, 40, 30, 20, 10, 8, 6, 5, 4, 3, 2, 1)
LAYOUTS = {"100 + 19x5": (100, *[5] * 19), "200 + 19x5": (200, *[5] * 19), "12 uneven": UNEVEN, "10 equal": (10,) * 10}


def labels(sizes):
    return np.repeat(np.arange(len(sizes)), sizes)


# --- Promises


def limit(tables, error=0.05):
    return scipy_stats.binom.ppf(0.999, tables, error)


def gains(rng, sizes, rate, icc, tables):
    """Pairs of successes of two policies that are as good as each other, in clusters that each policy likes or not."""
    a = (1 - icc) / icc
    of = labels(sizes)
    for _ in range(tables):
        chances = rng.beta(rate * a, (1 - rate) * a, (2, len(sizes)))
        yield of, *(Scores((rng.random(of.size) < chance[of]).astype(float)) for chance in chances)
