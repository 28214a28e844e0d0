"""Are bets on corrected outcomes fair, whatever the corrections?"""

import math
from itertools import permutations

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


LIST = np.array([1.0, -0.5, 0.25, 0.0, -1.0])


def test_what_the_items_left_must_average_by_hand():
    assert list_bets.means_left(0.1, LIST, 5).tolist() == pytest.approx([0.1, -0.125, 0.0, -0.125, -0.25])


def test_a_bet_against_the_true_mean_is_fair():
    """Over every order of the list the mean wealth is 1, whatever the stakes."""
    stakes, mean = np.array([0.4, 0.1, 0.3, 0.2]), LIST.mean()
    wealth = [
        math.exp(list_bets.log_wealth(mean, np.array(order[:4]), stakes, 5)) for order in permutations(LIST.tolist())
    ]
    assert np.mean(wealth) == pytest.approx(1.0)


def test_wealth_falls_in_the_candidate_and_is_infinite_where_it_is_impossible():
    stakes = np.full(4, 0.3)
    wealth = [list_bets.log_wealth(candidate, LIST[:4], stakes, 5) for candidate in np.linspace(-0.04, 0.3, 12)]
    assert (np.diff(wealth) < 0.0).all()
    assert list_bets.log_wealth(-0.9, LIST[:4], stakes, 5) == math.inf


def test_what_the_list_can_still_average():
    assert list_bets.certain(LIST[:3], 5) == pytest.approx(((0.75 - 2) / 5, (0.75 + 2) / 5))
    assert list_bets.certain(LIST, 5) == pytest.approx((LIST.mean(), LIST.mean()))


def test_the_end_is_where_the_wealth_reaches_its_goal():
    outcomes, stakes = np.array([1.0, 0.5, 1.0, 0.75]), np.full(4, 0.6)
    end = list_bets.excluded_below(outcomes, stakes, 1.0, (-1.0, 1.0), 20)
    assert list_bets.log_wealth(end, outcomes, stakes, 20) == pytest.approx(1.0, abs=1e-9)
    assert end < list_bets.mean_by_stakes(outcomes, stakes, 20)


def test_paces_grow_as_the_list_runs_out():
    found = list_bets.paces(3, 6)
    assert found.pace.tolist() == pytest.approx([1.0, 6 / 5, 6 / 4])
    assert found.room.tolist() == pytest.approx([1.0 + 1.44 + 2.25, 1.44 + 2.25, 2.25])
    with pytest.raises(ValueError, match="read-only"):
        found.pace[0] = 2.0
    assert list_bets.paces(10, 20).early == pytest.approx(sum((20 / (20 - k)) ** 2 for k in range(8)))
    assert list_bets.paces(1, 6).early == 1.0


def test_at_most_99_in_100_of_the_wealth_are_at_risk():
    one = np.array([1.0])
    assert list_bets.log_wealth(0.5, one, np.array([50.0]), 4) == pytest.approx(math.log(1 + 0.99 / 1.5 * 0.5))
    lost = list_bets.log_wealth(0.5, -one, np.array([50.0]), 4)
    assert lost == pytest.approx(math.log(0.01))
    # after a success the other three must average (4 c - 1) / 3, which is below -1 from c = -1/2 on
    two = np.array([1.0, 0.0])
    assert list_bets.log_wealth(-0.51, two, np.full(2, 0.1), 4) == math.inf
    assert math.isfinite(list_bets.log_wealth(-0.5, two, np.full(2, 0.1), 4))


def test_the_mean_by_stakes_balances_the_bets():
    stakes = np.array([0.1, 0.4, 0.2, 0.3, 0.1])
    mean = list_bets.mean_by_stakes(LIST, stakes, 9)
    assert np.sum(stakes * (LIST - list_bets.means_left(mean, LIST, 9))) == pytest.approx(0.0, abs=1e-12)
