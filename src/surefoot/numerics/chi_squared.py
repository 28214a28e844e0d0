"""The chi-squared distribution."""

from __future__ import annotations

from scipy import special


def lower_tail(distance: float, degrees: float) -> float:
    """P(X <= distance) of a chi-squared variable with so many degrees of freedom."""
    return float(special.gammainc(degrees / 2.0, distance / 2.0))
