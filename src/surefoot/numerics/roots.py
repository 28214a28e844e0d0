"""Roots inside brackets: many at once, or one by halving."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from surefoot.numerics.arrays import Floats


_ROUNDS = 200
_EPS = float(np.finfo(float).eps)


def solve(
    function: Callable[..., Floats], low: ArrayLike, high: ArrayLike, *args: ArrayLike, within: float = 0.0
) -> Floats:
    """The x in each [low, high] with function(x, *args) = 0, to the last digits or `within` so much.

    Chandrupatla's method, one step for all unfinished elements at a time: inverse quadratic interpolation where
    it is safe, halving where it is not, so a bracket never grows. Where both ends have the same sign the end
    with the smaller value is returned; callers know their brackets.

    Args:
        function: Takes an array and `args` cut to the same elements; returns an array.
        low: Left ends.
        high: Right ends.
        args: Further arrays, one element per root.
        within: How far from the root an answer may be; 0 for the last digits.
    """
    left, right, *rest = np.broadcast_arrays(np.asarray(low, float), np.asarray(high, float), *map(np.asarray, args))
    shape = left.shape
    # b is the newest point, a the other side of the root, c the point before.
    b, a = left.astype(float).ravel(), right.astype(float).ravel()
    data: list[NDArray[Any]] = [item.ravel() for item in rest]
    fb, fa = function(b, *data), function(a, *data)
    answer = np.where(np.abs(fb) <= np.abs(fa), b, a)
    live = np.flatnonzero((fb != 0) & (fa != 0) & (np.sign(fa) != np.sign(fb)))
    a, b, fa, fb = a[live], b[live], fa[live], fb[live]
    data = [item[live] for item in data]
    c, fc = a.copy(), fa.copy()
    share = np.full(len(live), 0.5)
    for _ in range(_ROUNDS):
        if not len(live):
            break
        x = a + share * (b - a)
        fx = function(x, *data)
        same = np.sign(fx) == np.sign(fa)
        c, fc = np.where(same, a, b), np.where(same, fa, fb)
        b, fb = np.where(same, b, a), np.where(same, fb, fa)
        a, fa = x, fx
        best = np.where(np.abs(fa) <= np.abs(fb), a, b)
        answer[live] = best
        close = np.maximum(2.0 * _EPS * np.abs(best) + 1e-300, within / 2.0)
        go = (fx != 0.0) & (np.abs(b - a) > 2.0 * close)
        if not go.all():
            live, a, b, c, fa, fb, fc, close = (v[go] for v in (live, a, b, c, fa, fb, fc, close))
            data = [item[go] for item in data]
        share = _step(a, b, c, fa, fb, fc, close)
    return answer.reshape(shape)


def newton(function: Callable[..., tuple[Floats, Floats]], low: Floats, high: Floats, *args: Floats) -> Floats:
    """The x in each [low, high] with function(x, *args)[0] = 0, for functions that give their slope as well.

    Newton's method; a step that leaves the bracket halves it instead.

    Args:
        function: Takes an array and `args`; returns values and slopes. Negative at `low`, positive at `high`.
        low: Left ends.
        high: Right ends.
        args: Further arrays, one element per root.
    """
    x = (low + high) / 2.0
    # Convergence is quadratic: the step after one this small in its bracket would be below a rounding error.
    close = np.maximum(1e-9 * (high - low), 4.0 * _EPS * np.abs(x))
    for _ in range(_ROUNDS):
        value, slope = function(x, *args)
        low, high = np.where(value < 0.0, x, low), np.where(value < 0.0, high, x)
        with np.errstate(all="ignore"):
            step = x - value / slope
        inside = (low <= step) & (step <= high)
        further = np.where(inside, step, (low + high) / 2.0)
        # A halving step says nothing about the root's distance: only Newton's own or a closed bracket ends the search.
        settled = inside & (np.abs(further - x) <= close) | (high - low <= 4.0 * _EPS * np.abs(x))
        x = further
        if settled.all():
            break
    return x


def last(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The largest number found in [low, high] for which it holds, as it does for all smaller ones; or the low end."""
    while True:
        middle = (low + high) / 2.0
        if not low < middle < high or high - low < 1e-15:
            return low
        low, high = (middle, high) if holds(middle) else (low, middle)


def _step(a: Floats, b: Floats, c: Floats, fa: Floats, fb: Floats, fc: Floats, close: Floats) -> Floats:
    """How far from a towards b to look next."""
    with np.errstate(all="ignore"):
        xi = (a - b) / (c - b)
        phi = (fa - fb) / (fc - fb)
        safe = (phi * phi < xi) & ((1.0 - phi) ** 2 < 1.0 - xi)
        quadratic = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        share = np.where(safe & np.isfinite(quadratic), quadratic, 0.5)
        least = np.minimum(close / np.abs(b - a), 0.5)
    return np.clip(share, least, 1.0 - least)
