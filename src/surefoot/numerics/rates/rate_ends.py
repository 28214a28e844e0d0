"""Closed-form ends of a binomial proportion's interval, for numbers and arrays alike.

Plain arithmetic only, so that one interval needs no array library and a million need no loop.
"""

from __future__ import annotations

from typing import Any


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
