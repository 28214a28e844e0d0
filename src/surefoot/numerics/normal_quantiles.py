"""Normal quantiles and tails without importing scipy for one number, and chi-squared tails with it.

And the closed-form ends of a proportion's interval that are made from them: plain arithmetic, for numbers and arrays
alike, so that one interval needs no array library and a million need no loop.
"""

from __future__ import annotations

from math import erfc, sqrt
from statistics import NormalDist
from typing import Any

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


def wilson_low(k: Any, n: Any, z: float) -> Any:
    """Lower Wilson end, written without cancellation: exactly 0 at k = 0 where z is above 0."""
    if z <= 0.0:  # one-sided, at a confidence of a half or less: the other root of the same equation
        return wilson_high(k, n, -z)
    return 2.0 * k * (k / n) / (2.0 * k + z * z + z * (z * z + 4.0 * k * ((n - k) / n)) ** 0.5)


def wilson_high(k: Any, n: Any, z: float) -> Any:
    """Upper Wilson end: exactly 1 at k = n where z is not below 0."""
    if z < 0.0:
        return wilson_low(k, n, -z)
    end = (2.0 * k + z * z + z * (z * z + 4.0 * k * ((n - k) / n)) ** 0.5) / (2.0 * (n + z * z))
    return end + (1.0 - end) * (k == n)


def wald_half(k: Any, n: Any, z: float) -> Any:
    """Half-width of the Wald interval."""
    return z * (k / n * ((n - k) / n) / n) ** 0.5


def agresti_coull(k: Any, n: Any, z: float) -> tuple[Any, Any]:
    """Centre and half-width of the Agresti-Coull interval."""
    weight = n + z * z
    centre = (k + z * z / 2.0) / weight
    return centre, z * (centre * (1.0 - centre) / weight) ** 0.5
