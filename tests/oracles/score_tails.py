"""The order-free test of a mean: P(sum E_i (z_i - m) <= m E_0) by partial fractions; groups by their formula.

Gaffke 2005; Vlassis and Thomas 2026. For different coefficients c the chance that sum c_i E_i is above 0 is the sum
over c_i > 0 of prod_{j != i} c_i / (c_i - c_j); equal ones are moved apart by 1e-25, far below what is compared.
"""

from collections.abc import Sequence
from typing import Any

from mpmath.ctx_mp import MPContext

from tests.oracles.common import bisect

mp = MPContext()
mp.dps = 400  # the fractions of nearly equal coefficients cancel


def number(x: Any) -> Any:
    """A float read as the decimal it prints as."""
    return mp.mpf(repr(x)) if isinstance(x, float) else mp.mpf(x)


def at_most_zero(coefficients: Sequence[Any]) -> Any:
    """P(sum c_i E_i <= 0), E_i independent standard exponentials."""
    c = sorted(number(x) for x in coefficients)
    c = [x + i * mp.mpf(10) ** -25 for i, x in enumerate(c) if x != 0]
    above = mp.mpf(0)
    for i, one in enumerate(c):
        if one > 0:
            above += mp.fprod(one / (one - other) for j, other in enumerate(c) if j != i)
    return 1 - above


def p_low(z: Sequence[Any], m: Any) -> Any:
    """Against "the mean is at most m"."""
    m = number(m)
    if m >= max(number(x) for x in z):
        return mp.mpf(1)
    return at_most_zero([*(number(x) - m for x in z), -m]) if m > 0 else mp.mpf(0)


def interval(z: Sequence[float], confidence: float) -> tuple[float, float]:
    """{m : both p-values above (1 - confidence)/2}."""
    tail = (1 - number(confidence)) / 2
    mirrored = [1 - number(x) for x in z]
    return float(_end(z, tail)), float(1 - _end(mirrored, tail))


def _end(z: Sequence[Any], tail: Any) -> Any:
    if max(number(x) for x in z) == 0:
        return mp.mpf(0)
    return bisect(lambda m: p_low(z, m) <= tail, mp.mpf(0), mp.mpf(1), steps=50)


def p_joint(samples: Sequence[Sequence[Any]], weights: Sequence[Any], means: Sequence[Any]) -> Any:
    """P(sum_g (v_g/n_g) sum_i E_gi (z_gi - m_g) <= E_0 max_g v_g m_g/n_g)."""
    c, most = [], mp.mpf(0)
    for z, weight, mean in zip(samples, weights, means, strict=True):
        scale = number(weight) / len(z)
        c += [scale * (number(x) - number(mean)) for x in z]
        most = max(most, scale * number(mean))
    return at_most_zero([*c, -most])
