"""Normal quantiles and tails without importing scipy for one number, and chi-squared tails with it."""

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


def chi_squared_below(distance: float, degrees: float) -> float:
    """P(X <= distance) of a chi-squared variable with so many degrees of freedom."""
    from scipy import special

    return float(special.gammainc(degrees / 2.0, distance / 2.0))
