"""The maximum over [0, 1] of a polynomial, proved: from values of a probability, or from Bernstein coefficients.

Values. Let f be the probability of a set of outcomes of N independent draws, each with outcome chances that are affine
in t and stay chances on [0, 1]. Put t = (1 - cos x)/2. For complex x = u + iv the absolute chances of one draw sum
to at most cosh v, so |f| <= cosh(v)^N <= exp(N v^2 / 2), and the k-th cosine coefficient of f is at most
2 exp(-k^2 / (2N)). Hence values at about sqrt(2 N log(1/error)) Chebyshev points determine f everywhere to within
`error`; with N + 1 points they determine it exactly.

Coefficients. On any box a polynomial lies below its largest Bernstein coefficient there, and the coefficients close in
on it when the box is halved: branch and bound (`polynomial_maximum`).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from surefoot.numerics.arrays import Floats


LEAST_ERROR = 1e-280
"""No probability is told from 0 below this."""
_ROUNDS = 60
"""Halvings after which a box is no wider than a rounding error."""

_MATRIX_DEGREE = 2048
"""Up to here the halving matrix fits a few tens of megabytes; above it de Casteljau's loop is used."""


class Need(NamedTuple):
    """How precise a bound must be: to within `error`, except where it is below `enough` or surely above `settled`.

    Below `enough` a bound may be loose; where it cannot be brought below `settled` it need not be a bound.
    """

    error: float
    enough: float = 0.0
    settled: float = math.inf


class Peak(NamedTuple):
    """A maximum: attained `value`, proved upper end `high`, and where."""

    value: float
    high: float
    at: float


@lru_cache(maxsize=64)
def points(draws: int, error: float) -> Floats:
    """Where to evaluate: Chebyshev points of [0, 1] that determine f to within `error`."""
    order = 4
    while order < draws and 4.0 * draws / order * math.exp(-(order**2) / (2.0 * draws)) > error:
        order += max(1, order // 32)
    order = min(order, max(draws, 1))
    nodes: Floats = np.sin(np.arange(order + 1) * (math.pi / (2 * order))) ** 2
    nodes.flags.writeable = False
    return nodes


def top(values: Floats, error: float, enough: float = 0.0) -> tuple[float, float]:
    """A proved upper end of max f on [0, 1], and the point where f is largest, from values at `points`.

    Between neighbours of a grid 16 or more times finer f differs from its cubic Hermite interpolant by at most
    h^4/384 max|f''''|, and |f''''| is at most the sum of k^4 times the cosine coefficients.
    """
    order = len(values) - 1
    terms = np.fft.rfft(np.concatenate([values, values[-2:0:-1]])).real / order
    terms[0] *= 0.5
    terms[-1] *= 0.5
    powers = np.arange(order + 1.0)
    fine = order * max(16, 1024 // order)
    padded = np.zeros(fine + 1)
    padded[: order + 1] = terms * fine
    padded[0] *= 2.0
    f = np.fft.irfft(padded)[: fine + 1]
    step = math.pi / fine
    weights = np.abs(terms)
    best = float(f.max())
    second = float((weights * powers**2).sum()) * step**2 / 8.0
    rounding = 64.0 * np.finfo(float).eps * float(weights.sum())
    if (rough := best + second + error + rounding) < enough:
        return rough, math.nan
    fourth = float((weights * powers**4).sum()) * step**4 / 384.0
    pairs = np.maximum(f[:-1], f[1:])
    spots = np.nonzero(pairs + second >= best)[0]
    if len(spots) > 512:  # nearly constant: the plain bound is as good
        spots = spots[np.argsort(pairs[spots])[-512:]]
        rest = best + second
    else:
        rest = -math.inf
    rows = np.concatenate([spots, spots + 1]) * step
    slopes = -(np.sin(np.outer(rows, powers)) @ (terms * powers)) * step
    highs, places = _hermite(f[spots], f[spots + 1], slopes[: len(spots)], slopes[len(spots) :])
    winner = int(np.argmax(highs))
    high = max(float(highs[winner]) + fourth, rest) + error + rounding
    return high, math.sin(0.5 * step * (spots[winner] + places[winner])) ** 2


def bound(function: Callable[[Floats, float], Floats], draws: int, error: float) -> Peak:
    """The maximum of f on [0, 1] with a proof, to an absolute error: one pass over the points."""
    nodes = points(draws, error)
    return _peak(function(nodes, error), error)


def between(
    rising: Callable[[float], Floats],
    falling: Callable[[float], Floats] | None,
    left: float,
    right: float,
    draws: int,
    need: Need,
) -> Peak:
    """Above the chance of two sets together for all d in [left, right] and all t, from their chances at both ends.

    Either the first set is taken at `right` and the second at `left`; or both are taken at the same end and the bend
    between is added: the chance f of any set has |f''| <= (sum of changes)^2 / 2 on either side of 0, because f'' sums
    over pairs of draws, and so f <= max(f(left), f(right)) + (draws (right - left) / 2)^2.

    Args:
        rising: The chance of the first set at the points, for a given d; it rises in d.
        falling: The chance of the second set, which falls in d; None where there is only one set.
        left: The smallest d.
        right: The largest d; equal to `left` for one d alone.
        draws: The chances of the outcomes of all draws together change by at most twice this as d changes by 1.
        need: How precise the bound must be.
    """
    apart = rising(right) if falling is None else rising(right) + falling(left)
    largest, bend = float(apart.max()), (0.5 * draws * (right - left)) ** 2
    parts: tuple[Floats, ...] = (apart,)
    if falling is None or left == right or left < 0.0 < right or bend >= largest or largest <= need.enough:
        bend = 0.0
    else:
        ends = rising(left) + falling(left), rising(right) + falling(right)
        highest = max(float(end.max()) for end in ends) + bend
        parts, largest, bend = (ends, highest, bend) if highest < largest else (parts, largest, 0.0)
    if largest > need.settled:
        return Peak(largest, largest, math.nan)
    value, high, at = max((_peak(part, need.error, need.enough - bend) for part in parts), key=lambda peak: peak.high)
    return Peak(value, high + bend, at)


def _peak(values: Floats, error: float, enough: float = 0.0) -> Peak:
    high, at = top(values, 2.0 * error, enough)
    largest = float(values.max())
    return Peak(largest, max(high, largest), at)


def maximise(function: Callable[[Floats, float], Floats], draws: int) -> Peak:
    """The maximum of f on [0, 1] with a proof, to a billionth of itself however small it is.

    Args:
        function: Gives f at an array of points, each within the absolute error of its second argument.
        draws: How many draws the outcomes are made of.
    """
    error = 1e-11
    while True:
        nodes = points(draws, error)
        values = function(nodes, error)
        largest = float(values.max())
        wanted = max(1e-9 * largest, LEAST_ERROR)
        if error <= wanted:
            break
        error = max(wanted * 0.5, error * 1e-12, LEAST_ERROR)
    high, at = top(values, 2.0 * error)
    here = float(function(np.array([at]), error)[0])
    if here < largest:
        here, at = largest, float(nodes[int(np.argmax(values))])
    return Peak(here, max(high, here), at)


def _hermite(left: Floats, right: Floats, rise: Floats, fall: Floats) -> tuple[Floats, Floats]:
    """The maximum on [0, 1] of each cubic with these end values and end slopes, and where."""
    cubic = 2.0 * (left - right) + rise + fall
    square = 3.0 * (right - left) - 2.0 * rise - fall
    inside = square**2 - 3.0 * cubic * rise
    root = -square - np.copysign(np.sqrt(np.maximum(inside, 0.0)), square)
    with np.errstate(divide="ignore", invalid="ignore"):
        candidates = np.stack([root / (3.0 * cubic), rise / root])
    candidates = np.clip(np.where(np.isfinite(candidates), candidates, 0.0), 0.0, 1.0)
    candidates = np.concatenate([candidates, np.zeros((1, len(left))), np.ones((1, len(left)))])
    values = left + candidates * (rise + candidates * (square + candidates * cubic))
    best = values.argmax(axis=0)
    columns = np.arange(len(left))
    return values[best, columns], candidates[best, columns]


def polynomial_maximum(coefficients: ArrayLike, tolerance: float = 1e-7) -> tuple[float, float, float]:
    """Two numbers around max over [0, 1] of sum_m c_m C(d, m) p^m (1-p)^(d-m), and where the lower one is reached.

    Args:
        coefficients: The Bernstein coefficients c_0 ... c_d.
        tolerance: How far apart the two numbers may be. Below some 1e-11 times the largest coefficient rounding
            decides, and the numbers stay further apart; they are right all the same.

    Returns:
        (low, high, at): low <= maximum <= high, rounding included, and the polynomial is at least `low` at `at`.
    """
    rows = np.array(coefficients, float).reshape(1, -1)
    degree = rows.shape[1] - 1
    if degree < 0 or not np.isfinite(rows).all():
        raise ValueError("`coefficients` must be finite numbers, at least one.")
    # Every step is an average with positive weights, so its error is a few roundings of the scale per degree.
    unit = 8.0 * (degree + 2) * np.finfo(float).eps * float(np.abs(rows).max())
    slack = unit
    starts = np.zeros(1)
    width = 1.0
    best, at = (rows[0, 0], 0.0) if rows[0, 0] >= rows[0, -1] else (rows[0, -1], 1.0)
    closed = -np.inf
    for _ in range(_ROUNDS):
        tops = rows.max(axis=1)
        value, place = _probe(rows[np.argmax(tops)])
        if value > best:
            best, at = value, starts[np.argmax(tops)] + width * place
        done = tops <= best + max(tolerance - 2.0 * slack, slack)
        closed = max(closed, tops[done].max(initial=-np.inf))
        rows, starts = rows[~done], starts[~done]
        if not len(rows):
            break
        left, right = _halve(rows)
        width /= 2.0
        rows = np.concatenate([left, right])
        starts = np.concatenate([starts, starts + width])
        ends = left[:, -1]
        if ends.max() > best:
            best, at = ends.max(), starts[len(left) + int(np.argmax(ends))]
        slack += unit
    high = max(best, closed, float(rows.max(initial=-np.inf)))
    return float(best - slack), float(high + slack), float(at)


def value_at(coefficients: ArrayLike, place: float) -> float:
    """The polynomial at one place in [0, 1]."""
    row = np.asarray(coefficients, float)
    if place <= 0.0:
        return float(row[0])
    if place >= 1.0:
        return float(row[-1])
    # Weights from the mode outwards by their exact ratios: each is right to a few roundings per step.
    degree = len(row) - 1
    mode = min(int((degree + 1) * place), degree)
    odds = place / (1.0 - place)
    up = np.arange(mode, degree)
    down = np.arange(mode, 0, -1)
    rise = np.cumprod((degree - up) / (up + 1) * odds)
    fall = np.cumprod(down / ((degree + 1 - down) * odds))
    total = 1.0 + rise.sum() + fall.sum()
    return float((row[mode] + rise @ row[mode + 1 :] + fall @ row[:mode][::-1]) / total)


def _probe(row: Floats) -> tuple[float, float]:
    """A good point of one box: the top of the parabola through the three highest neighbouring coefficients."""
    degree = len(row) - 1
    top = int(np.argmax(row))
    if degree == 0 or top in (0, degree):
        place = top / max(degree, 1)
    else:
        before, here, after = row[top - 1 : top + 2]
        bend = before - 2.0 * here + after
        place = (top + (0.5 * (before - after) / bend if bend < 0.0 else 0.0)) / degree
    return value_at(row, place), place


def _halve(rows: Floats) -> tuple[Floats, Floats]:
    """Coefficients on the left and the right half of every box."""
    degree = rows.shape[1] - 1
    if degree <= _MATRIX_DEGREE:
        both = np.concatenate([rows, rows[:, ::-1]]) @ _halving(degree)
        return both[: len(rows)], both[len(rows) :, ::-1]
    right = rows.T.copy()
    left = np.empty_like(right)
    left[0] = right[0]
    for done in range(degree):
        live = right[: degree - done]
        live += right[1 : degree - done + 1]
        live *= 0.5
        left[done + 1] = right[0]
    return left.T, right.T


@lru_cache(maxsize=8)
def _halving(degree: int) -> Floats:
    """Column m holds the weights C(m, j) / 2^m of the m-th coefficient of the left half."""
    rows = np.zeros((degree + 1, degree + 1))
    rows[0, 0] = 1.0
    for m in range(1, degree + 1):
        rows[m, : m + 1] = 0.5 * rows[m - 1, : m + 1]
        rows[m, 1 : m + 1] += 0.5 * rows[m - 1, :m]
    rows[rows < 1e-290] = 0.0  # lost weight far below a rounding error; denormal numbers are slow
    return np.ascontiguousarray(rows.T)
