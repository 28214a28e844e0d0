"""Normal quantiles, without importing scipy for one number."""

from __future__ import annotations

from math import erfc, sqrt
from statistics import NormalDist

_STANDARD = NormalDist()


def upper_quantile(tail: float) -> float:
    """The z with probability `tail` above it; accurate for tiny tails."""
    return -_STANDARD.inv_cdf(tail)


def tail(z: float) -> float:
    """The probability above z; accurate far out."""
    return 0.5 * erfc(z / sqrt(2.0))
