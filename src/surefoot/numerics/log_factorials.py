"""Logarithms of factorials and binomial coefficients, from numpy alone: scipy costs more to import than they do."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats


TINY = 1e-300
"""Chances are lifted to this before their logarithm is taken."""

_KEPT = 20_000
"""Up to so many draws whole rows are computed once and kept."""


@lru_cache(maxsize=16)
def log_factorials(n: int) -> Floats:
    """Logarithms of 0!, 1!, ..., n!."""
    values = np.array([math.lgamma(i + 1.0) for i in range(n + 1)])
    values.flags.writeable = False
    return values


@lru_cache(maxsize=16)
def log_choose(n: int) -> Floats:
    """Logarithms of C(n, 0), ..., C(n, n)."""
    if n <= 1000:  # exact integers first: a few digits more than differences of log-factorials
        count, values = 1, [0.0]
        for k in range(n // 2):
            count = count * (n - k) // (k + 1)
            values.append(math.log(count))
        row = np.array(values + values[: (n + 1) // 2][::-1])
    else:
        logs = log_factorials(n)
        row = logs[n] - logs - logs[::-1]
    row.flags.writeable = False
    return row


def log_chances(p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Logarithms of p and q, finite at 0."""
    return np.log(np.maximum(p, TINY)), np.log(np.maximum(q, TINY))


def log_choose_between(n: int, low: int, high: int) -> Floats:
    """Logarithms of C(n, low), ..., C(n, high - 1); of a large n only these are computed."""
    if n <= _KEPT:
        return log_choose(n)[low:high]
    from scipy.special import gammaln

    k = np.arange(low, high, dtype=float)
    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))
