"""Tests of `surefoot.numerics.designs.design_search`."""

from functools import cache

import numpy as np
import pytest

from surefoot.numerics.designs import design_search

HORIZON = 9
ROW, PAIRS = np.arange(HORIZON + 1), np.arange(HORIZON + 1)[:, None]
LIMITS = np.where(PAIRS >= 4, ROW + 2, HORIZON + 1) + np.zeros((HORIZON + 1, HORIZON + 1), np.int64)
"""The first policy is decided when it is ahead by 3, from the fourth pair on."""


def moves(paired):
    return [(0, 0), (0, 1), (1, 0)] + ([] if paired else [(1, 1)])


def states(paired):
    for n in range(1, HORIZON):
        for row in range(n + 1):
            for other in range(n + 1 - (row if paired else 0)):
                yield n, row, other


def decided(n, row, other, mirrored):
    return other > LIMITS[n, row] or (mirrored and row > LIMITS[n, other])


@cache
def reaches(n, row, other, mirrored):
    if decided(n, row, other, mirrored):
        return True
    return n < HORIZON and any(reaches(n + 1, row + a, other + b, mirrored) for a, b in moves(paired=False))


@cache
def chance(n, row, other, mirrored, paired):
    """The predictive chance of a decision, by the rule of succession."""
    if decided(n, row, other, mirrored):
        return 1.0
    if n == HORIZON:
        return 0.0
    if paired:
        differ, won = (row + other + 1) / (n + 2), (other + 1) / (row + other + 2)
        weights = {(0, 0): 1 - differ, (0, 1): differ * won, (1, 0): differ * (1 - won)}
    else:
        up, right = (row + 1) / (n + 2), (other + 1) / (n + 2)
        weights = {(a, b): (up if a else 1 - up) * (right if b else 1 - right) for a, b in moves(paired)}
    return sum(w * chance(n + 1, row + a, other + b, mirrored, paired) for (a, b), w in weights.items())


@pytest.mark.parametrize("mirrored", [True, False])
def test_no_decision_can_be_reached_exactly_where_every_path_was_tried(mirrored):
    quits = design_search.unreachable(LIMITS, mirrored=mirrored)
    for n, row, other in states(paired=False):
        if not decided(n, row, other, mirrored):
            assert design_search.given_up(quits, n, row, other) == (not reaches(n, row, other, mirrored))


@pytest.mark.parametrize("mirrored", [True, False])
@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("share", [0.1, 0.3])
def test_a_decision_is_unlikely_where_its_predictive_chance_is_below_the_share(mirrored, paired, share):
    quits = design_search.unlikely(LIMITS, share, mirrored=mirrored, paired=paired)
    gaps = {}
    for n, row, other in states(paired):
        if chance(n, row, other, mirrored, paired) < share:
            gaps.setdefault((n, row + other), []).append(other - row)
    assert gaps
    for (n, total), found in gaps.items():
        assert (quits.low[n, total], quits.high[n, total]) == (min(found), max(found))
    for n, row, other in states(paired):
        if (n, row + other) not in gaps:
            assert not design_search.given_up(quits, n, row, other)
