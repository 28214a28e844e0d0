"""Are bets on corrected outcomes fair, whatever the corrections?"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.numerics.betting import list_bets


def terms(seed, items=12, predictors=1, **goal):
    features = np.random.default_rng(seed).random((predictors, items))
    goal = goal or {"within": 0.1}
    return list_bets.Terms(
        features - features.mean(axis=1, keepdims=True), 0.025, goal.get("within"), goal.get("against")
    )


@given(st.integers(0, 1000), st.integers(0, 2), st.integers(0, 10))
@settings(max_examples=30)
def test_a_corrected_outcome_has_the_mean_of_the_items_left(seed, predictors, seen):
    rng = np.random.default_rng(seed)
    asked = terms(seed, predictors=predictors, against=0.4)
    outcomes, order = rng.random(12), rng.permutation(12)
    bets = list_bets.Bets(asked, 1)
    for item in order[:seen]:
        bets.step(outcomes[[item]], asked.features[:, [item]])
    memory, rest = tuple(bets.memory()), order[seen:]
    steps = [
        list_bets.Bets.resume(asked, seen, memory).step(outcomes[[item]], asked.features[:, [item]]) for item in rest
    ]
    values = np.array([step.value[0] for step in steps])
    assert values.mean() == pytest.approx(outcomes[rest].mean(), abs=1e-12)
    assert all(step.least[0] - 1e-12 <= step.value[0] <= step.most[0] + 1e-12 for step in steps)
    # The stakes are chosen before the item: they are the same whatever item comes.
    assert np.ptp([step.stakes[:, 0] for step in steps], axis=0) == pytest.approx(0.0)
    # So no side gains on average against the true mean.
    left = list_bets.Course
    for side in (0, 1):
        factors = []
        for item, step in zip(rest, steps, strict=True):
            past = list_bets.played(asked, outcomes[order[:seen]][:, None], order[:seen][:, None]) if seen else None
            whole = _with(past, outcomes[item], step, left)
            path = whole.log_paths(np.array([outcomes.mean()]), side)[:, 0]
            factors.append(math.exp(path[-1] - (path[-2] if seen else 0.0)))
        assert np.mean(factors) <= 1.0 + 1e-9


def _with(past, outcome, step, course):
    new = course(12, np.array([[outcome]]), step.value[None], step.least[None], step.most[None], step.stakes[:, None])
    if past is None:
        return new
    return course(12, *(np.concatenate([a, b], axis=-2) for a, b in zip(past[1:], new[1:], strict=True)))


def test_games_side_by_side_are_games_alone():
    asked = terms(1, predictors=2, against=0.5)
    rng = np.random.default_rng(1)
    rows, places = rng.random((8, 3)), np.array([rng.permutation(12)[:8] for _ in range(3)]).T
    together = list_bets.played(asked, rows, places)
    for game in range(3):
        alone = list_bets.played(asked, rows[:, [game]], places[:, [game]])
        for part, own in zip(together[1:], alone[1:], strict=True):
            assert part[..., [game]] == pytest.approx(own, abs=1e-12)


@pytest.mark.parametrize("side", [0, 1])
def test_ends_are_where_the_wealth_reaches_the_target(side):
    asked = terms(2)
    rng = np.random.default_rng(2)
    course = list_bets.played(asked, rng.random((9, 2)), np.array([rng.permutation(12)[:9] for _ in range(2)]).T)
    start = np.full(2, float(side))
    ends = course.ends(side, 1.0, start)
    inside = ends + (1e-6 if side == 0 else -1e-6)
    assert np.all(course.log_paths(inside, side).max(axis=0) < 1.0)
    outside = ends - (1e-6 if side == 0 else -1e-6)
    assert np.all(course.log_paths(outside, side).max(axis=0) >= 1.0)
    assert course.ends(side, 1.0, start, np.array([9, 9])) == pytest.approx(ends)
    shorter = course.ends(side, 1.0, start, np.array([4, 9]))
    assert (shorter[0] - ends[0]) * (1 if side else -1) >= 0.0
