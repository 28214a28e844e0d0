"""The maximum of a polynomial on [0, 1], proved: branch and bound on its Bernstein coefficients.

On any box a polynomial lies below its largest coefficient there, and the coefficients close in on it
quadratically as boxes are halved. So the largest coefficient left is a proof, not an estimate.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from surefoot.numerics.arrays import Floats


_ROUNDS = 60
"""Halvings after which a box is no wider than a rounding error."""

_MATRIX_DEGREE = 2048
"""Up to here the halving matrix fits a few tens of megabytes; above it de Casteljau's loop is used."""


def maximise(coefficients: ArrayLike, tolerance: float = 1e-7) -> tuple[float, float, float]:
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
