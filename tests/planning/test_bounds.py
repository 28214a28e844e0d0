"""Tests of `surefoot.planning.bounds`."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot import stats
from tests.reference import cases

exact = stats.clopper_pearson_lower


def test_every_stored_smallest_number() -> None:
    for given_, wanted in cases("min_n_for_mes"):
        sure = 1 - given_["alpha"]
        best = sf.plan_bound(confidence=sure, tightness=given_["mes"])
        plain = sf.plan_bound(confidence=sure, tightness=given_["mes"], using=exact)
        assert (best.rollouts, plain.rollouts) == (wanted["n_uma"], wanted["n_cp"]), given_
        assert best.reached == pytest.approx(wanted["mes_at_n_uma"], abs=1e-8)
        assert plain.reached == pytest.approx(wanted["mes_at_n_cp"], abs=1e-8)
        assert best.reached <= given_["mes"]


@settings(max_examples=3)
@given(st.integers(2, 60), st.floats(0.6, 0.99))
def test_the_three_plans_of_a_bound_agree(rollouts: int, confidence: float) -> None:
    tight = sf.plan_bound(confidence=confidence, rollouts=rollouts)
    assert tight.tightness == pytest.approx(
        stats.max_expected_shortage(rollouts, confidence=confidence, tolerance=1e-9).high, abs=1e-9
    )
    if tight.tightness < 1:
        assert sf.plan_bound(confidence=confidence, tightness=tight.tightness).rollouts == rollouts
        sure = sf.plan_bound(tightness=tight.tightness, rollouts=rollouts)
        assert sure.confidence == pytest.approx(confidence, abs=1e-6)
        assert sure.reached <= tight.tightness


def test_a_confidence_left_out_is_95_percent() -> None:
    assert sf.plan_bound(tightness=0.1) == sf.plan_bound(tightness=0.1, confidence=0.95)
    assert sf.plan_bound(rollouts=20) == sf.plan_bound(rollouts=20, confidence=0.95)


def test_upper_bounds_are_planned_by_their_excess() -> None:
    assert sf.plan_bound(tightness=0.1, using=stats.optimal_upper).rollouts == 69
    assert sf.plan_bound(tightness=0.1, using=stats.clopper_pearson_upper).rollouts == 78


@pytest.mark.slow
def test_an_unreachable_tightness_is_refused() -> None:
    with pytest.raises(ValueError, match=r"`tightness` must be reachable with 100,000 rollouts at confidence 0\.95"):
        sf.plan_bound(tightness=0.001)


def test_the_plans_own_row_says_what_the_plan_says() -> None:
    plan = sf.plan_bound(tightness=0.05)
    assert dict(plan.table)[plan.rollouts] == plan.reached <= 0.05


def test_a_confidence_found_to_be_nearly_1_is_not_shown_as_1() -> None:
    plan = sf.plan_bound(tightness=0.9, rollouts=50)
    assert plan.confidence > 0.9999
    assert "the 100% " not in str(plan)
