"""Tests of `surefoot.planning.bands`."""

import pytest

import surefoot as sf
from surefoot.planning.bands import BandPlan
from surefoot.reference import dkw, ks, ks_offset, tail_tight
from tests.reference import cases


@pytest.mark.parametrize("case", cases("ks_min_n"))
def test_smallest_numbers_of_the_reference(case):
    asked, wanted = case
    confidence = 1 - asked["alpha"]
    assert sf.plan_band(asked["eps"], confidence=confidence).rollouts == wanted["n"]
    assert sf.plan_band(asked["eps"], confidence=confidence, using=dkw).rollouts == wanted["n_dkw"]


@pytest.mark.parametrize("offset", [0.9, 0.31, 0.017])
@pytest.mark.parametrize("confidence", [0.2, 0.95, 0.999])
def test_one_rollout_fewer_is_not_enough(offset, confidence):
    plan = sf.plan_band(offset, confidence=confidence)
    assert ks_offset(plan.rollouts, confidence=confidence) <= offset
    if plan.rollouts > 1:
        assert ks_offset(plan.rollouts - 1, confidence=confidence) > offset


def test_tail_tight_plan():
    plan = sf.plan_band(0.2, using=tail_tight)
    reached = [max(h - i / n for i, h in enumerate(tail_tight(n))) for n in (plan.rollouts - 1, plan.rollouts)]
    assert reached[0] > 0.2 >= reached[1] == plan.reached
    assert plan.rollouts > sf.plan_band(0.2, using=ks).rollouts
    assert str(plan).startswith(f"{plan.rollouts} rollouts: the 95% tail-tight band is then at most ")
    assert BandPlan.from_dict(plan.to_dict()) == plan


def test_a_shown_offset_is_never_below_the_one_reached():
    for offset in (0.5, 0.3, 0.1, 0.07, 0.05):
        plan = sf.plan_band(offset)
        shown = float(str(plan).split("at most ")[1].split()[0])
        assert plan.reached <= shown <= plan.reached * 1.001
        assert plan.reached == ks_offset(plan.rollouts)


def test_a_band_is_a_function():
    with pytest.raises(TypeError, match="`using` must be a function such as `ks`; got 'ks'"):
        sf.plan_band(0.1, using="ks")
