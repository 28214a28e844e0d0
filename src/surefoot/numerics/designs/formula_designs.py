"""Boundaries given by a formula with one constant, calibrated exactly: for horizons too long to be searched."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from surefoot.numerics.designs import stopped_walks
from surefoot.numerics.designs.design_search import Report
from surefoot.numerics.designs.exact_designs import Design, aim, proved

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats, Ints


_HALVINGS = 14


def binary_limits(horizon: int, constant: float) -> Ints:
    """sqrt(2n) [asin sqrt((s1+.5)/(n+1)) - asin sqrt((s0+.5)/(n+1))] >= constant x shape decides."""
    n = np.arange(1, horizon + 1)
    limits = np.full((horizon + 1, horizon + 1), horizon)
    for pairs, edge in zip(n, constant * _shape(n, horizon, 0.15, 0.22, 0.06), strict=True):
        angles = np.arcsin(np.sqrt((np.arange(pairs + 1) + 0.5) / (pairs + 1)))
        # The first count whose angle is far enough above; at least one above the row.
        limits[pairs, : pairs + 1] = np.searchsorted(angles, angles + edge / np.sqrt(2.0 * pairs)) - 1
    return limits


def paired_limits(horizon: int, constant: float, *, rise: float = 0.2, guard: float = 1.0) -> Ints:
    """2 sqrt(m) [asin sqrt((b+3/8)/(m+3/4)) - pi/4] m/(m + guard) >= constant x shape decides, m = b + c.

    Without the guard (and with rise .45) a few pairs that differ force a constant of 2.95 where 2.65 would do, when
    the error must hold for every number of pairs that differ.
    """
    n = np.arange(1, horizon + 1)
    edges = constant * _shape(n, horizon, rise, 0.2, 0.1)
    limits = np.full((horizon + 1, horizon + 1), horizon)
    for c in range(horizon + 1):
        b = np.arange(c, horizon + 1 - c)
        m = b + c
        with np.errstate(invalid="ignore"):
            weight = np.where(m > 0, 2.0 * np.sqrt(m) * m / (m + guard), 0.0)
        value = weight * (np.arcsin(np.sqrt((b + 0.375) / (m + 0.75))) - np.pi / 4)
        limits[1:, c] = np.minimum(c + np.searchsorted(np.maximum.accumulate(value), edges) - 1, n)
    limits[np.arange(horizon + 1)[:, None] < np.arange(horizon + 1)] = horizon
    return np.maximum.accumulate(limits, axis=1)


def formula_design(
    walk: stopped_walks.BinaryWalk, shape: Callable[[int, float], Ints], error: float, report: Report | None = None
) -> tuple[Design, float]:
    """The boundary with the smallest constant that keeps the error, and the constant."""
    centre = float(-ndtri(error)) + 0.8  # where the constant nearly always is
    low, high = centre - 0.5, centre + 0.5
    while (best := proved(walk, shape(walk.horizon, high))).proved > aim(error):
        low, high = high, high + 1.0
    while proved(walk, shape(walk.horizon, low)).proved <= aim(error) and low > 0.0:
        low -= 1.0
    for turn in range(_HALVINGS):
        middle = (low + high) / 2.0
        design = proved(walk, shape(walk.horizon, middle))
        if design.proved <= aim(error):
            high, best = middle, design
        else:
            low = middle
        if report is not None:
            report((turn + 1) / _HALVINGS)
    return best, high


def _shape(n: Ints, horizon: int, rise: float, drop: float, near: float) -> Floats:
    shape: Floats = np.sqrt(1.0 + rise * np.log(horizon / n)) * (
        1.0 - drop * np.exp(-np.sqrt((horizon - n) / (near * horizon)))
    )
    return shape
