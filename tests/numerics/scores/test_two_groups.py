"""Tests of `surefoot.numerics.scores.two_groups`."""

import math

import numpy as np
import pytest

from surefoot.numerics.scores import score_tails, two_groups
from surefoot.numerics.scores.two_groups import RAISED, TwoGroups


def groups(first, second):
    """The test of two lists of scores."""
    pooled = score_tails.pool(np.asarray(first, float)), score_tails.pool(1 - np.asarray(second, float))
    return TwoGroups(pooled, (0.5, 0.5))


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([1, 0.5, 0.75, 1, 1, 0.25], [0, 0.5, 0.25, 0.5]),
        ([1] * 9 + [0], [0] * 5),
        ([0.4], [0.3]),
        ([1] * 40 + [0] * 10, [1] * 30 + [0] * 20),
        (np.linspace(0.2, 1, 60), np.linspace(0, 0.9, 7)),
    ],
)
def test_no_null_point_has_a_larger_p_value_than_the_one_proved(first, second):
    test = groups(first, second)
    for share in (0.02, 0.2, 0.5, 0.9):
        target = share * test.estimate
        near = test._scan(target)
        places = np.concatenate((np.linspace(near[0], near[-1], 1_500), np.linspace(near[1], near[-2], 1_500)))
        most = float(test._heights(target, places).max())
        proved = test.raised(target)
        assert most <= proved <= max(most, test._largest(target)[1]) + RAISED + 1e-9
        assert test._largest(target)[1] >= most - 2e-5


SMALL = groups([1, 0.5, 0.75, 1, 1, 0.25], [0, 0.5, 0.25, 0.5])


def test_nothing_speaks_against_the_estimate_and_all_against_0():
    assert SMALL.log_p(SMALL.estimate) == SMALL.log_p(1.0) == 0.0
    assert SMALL.log_p(0.0) == -math.inf
    assert groups([0, 0], [1, 1, 1]).low_end(0.025) == 0.0


@pytest.mark.parametrize(("name", "value"), [("ROUNDS", 1), ("ROUNDS", 2), ("MOST", 0)])
def test_a_proof_given_up_leaves_a_larger_p_value(name, value, monkeypatch):
    for target in (0.3, 0.5):
        whole = SMALL.raised(target)
        with monkeypatch.context() as changed:
            changed.setattr(two_groups, name, value)
            assert SMALL.raised(target) >= whole
    monkeypatch.setattr(two_groups, name, value)
    assert SMALL.raised(0.5) > whole


def test_an_end_is_proved_where_the_search_missed_the_largest_p_value(monkeypatch):
    test = groups([1], [0])
    end = test.low_end(0.1)
    with monkeypatch.context() as changed:  # what is scanned is not refined
        changed.setattr(two_groups, "_where_more", lambda *_: np.zeros(0))
        loose = test.low_end(0.1)
        missed = test._largest(end)[1]
    assert missed < test._largest(end)[1]
    assert 0.0 < loose <= end + 1e-9
    assert test.raised(loose) <= math.log(0.1)


@pytest.mark.parametrize("weights", [(0.1, 0.9), (0.5, 0.5), (0.9, 0.1)])
@pytest.mark.parametrize("target", [0.05, 0.3, 0.6])
def test_every_place_that_is_looked_at_is_a_mean_of_scores_for_both(weights, target):
    pair = groups([1, 0.5, 0.75, 1, 1, 0.25], [0, 0.5, 0.25, 0.5])
    first = TwoGroups(pair.samples, weights)._scan(target)
    second = (target - weights[0] * first) / weights[1]
    assert 0.0 <= first.min() <= first.max() <= 1.0
    assert -1e-12 <= second.min() <= second.max() <= 1.0 + 1e-12
    ends = max(0.0, (target - weights[1]) / weights[0]), min(1.0, target / weights[0])
    assert (first[0], first[-1]) == ends  # from where the second is as high as it can be to where it is as low
