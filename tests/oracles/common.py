"""What the twins share: 40-digit numbers, decimals meant exactly, bisection, binomial sums term by term."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from mpmath.ctx_mp import MPContext

mp = MPContext()  # a private context, so that no other test sees our precision
mp.dps = 40


def dec(x: Any) -> Any:
    """A float such as 0.95 read as the decimal it prints as, at 40 digits."""
    return mp.mpf(repr(x)) if isinstance(x, float) else mp.mpf(x)


def frac(x: Any) -> Fraction:
    """A float such as 0.95 read as the decimal it prints as, as a fraction."""
    return Fraction(repr(x)) if isinstance(x, float) else Fraction(x)


def normal_quantile(prob: Any) -> Any:
    """z with Phi(z) = prob."""
    return mp.sqrt(2) * mp.erfinv(2 * dec(prob) - 1)


def normal_two_sided_p(z: Any) -> Any:
    """P(|N(0,1)| >= |z|)."""
    return mp.erfc(abs(z) / mp.sqrt(2))


def z_two_sided(confidence: float) -> Any:
    """z = Phi^-1((1 + confidence)/2)."""
    return normal_quantile((1 + dec(confidence)) / 2)


def bisect(holds_left: Callable[[Any], bool], left: Any, right: Any, steps: int = 75) -> Any:
    """The point where `holds_left` turns from true (on the left) to false (on the right)."""
    for _ in range(steps):
        middle = (left + right) / 2
        if holds_left(middle):
            left = middle
        else:
            right = middle
    return (left + right) / 2


def pmf(x: int, n: int, p: Any) -> Any:
    """P(X = x) for X ~ Binomial(n, p); the number type of p decides the number type of the answer."""
    if x < 0 or x > n:
        return 0 * p
    return math.comb(n, x) * p**x * (1 - p) ** (n - x)


def cdf(x: int, n: int, p: Any) -> Any:
    """P(X <= x): the sum of its terms, each from the one before, over whichever tail is shorter."""
    if x < 0:
        return 0 * p
    if x >= n or p == 0:
        return 0 * p + 1
    if p == 1:
        return 0 * p
    if 2 * x > n:
        return 1 - cdf(n - x - 1, n, 1 - p)
    term = (1 - p) ** n
    total = term
    for j in range(x):
        term = term * (n - j) / (j + 1) * p / (1 - p)
        total += term
    return total
