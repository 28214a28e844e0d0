"""Tests of a joint gate and of ratios."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import Need, Scores, plan_gate
from surefoot.reference import bonferroni, score_test
from surefoot.stats import gate_test, holm, paired_ratio_test, ratio_test
from surefoot.stats.gates import refuted
from tests.oracles import ratios
from tests.reference import listed

GATES = [case for case in listed("slice.cases") if case["what"].startswith(("at_least", "better_and", "chance that"))]
P = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8)


@pytest.mark.parametrize("case", GATES, ids=lambda case: str(case["id"]))
def test_gates_are_those_of_the_reference(case):
    if "limit" in case:
        need = Need(measure="collision", rate_at_most=case["limit"])
        plan = plan_gate([need], {"collision": case["rate"]}, rollouts=case["n"])
        assert plan.chance == pytest.approx(case["value"], abs=1e-9)
    elif "k" in case:
        found = gate_test(case["p"], [1.0] * len(case["p"]), rule=f"at least {case['k']}")
        assert found.p_value == pytest.approx(case["value"], abs=1e-12)
    else:
        p, better = case["not_worse"], case["better"]
        found = gate_test(p, [1.0] * len(p), rule="one better, none worse", better=better)
        assert found.p_value == pytest.approx(case["value"], abs=1e-12)


@given(P)
def test_all_is_the_largest_without_a_correction(p):
    found = gate_test(p, [1.0] * len(p))
    assert found.p_value == max(p)
    assert found.passed == (max(p) <= 1.0 - 0.95)
    assert found.p_value <= max(bonferroni(p))


@given(P, st.data())
def test_at_least_k_is_what_the_union_of_all_subsets_of_the_rest_gives(p, data):
    k = data.draw(st.integers(1, len(p)))
    found = gate_test(p, [1.0] * len(p), rule=f"at least {k}")
    # fewer than k hold: some m - k + 1 do not; Bonferroni's p-value of each such set, the largest of all sets
    worst = max(min(1.0, len(some) * min(some)) for some in itertools.combinations(p, len(p) - k + 1))
    assert found.p_value == pytest.approx(worst)


@given(P)
def test_a_need_is_named_by_holm_and_one_is_enough_where_all_must_hold(p):
    found = gate_test([1.0] * len(p), p)
    assert found.broken_p == holm(p)
    assert found.failed == any(found.broken)
    one_less = gate_test([1.0] * len(p), p, rule=f"at least {max(1, len(p) - 1)}")
    assert one_less.failed == (sum(found.broken) > (1 if len(p) > 1 else 0))


def test_one_better_none_worse_needs_both():
    assert gate_test([0.01, 0.02], [1, 1], rule="one better, none worse", better=[0.02, 0.9]).passed
    assert not gate_test([0.01, 0.02], [1, 1], rule="one better, none worse", better=[0.03, 0.9]).passed
    assert not gate_test([0.01, 0.06], [1, 1], rule="one better, none worse", better=[0.001, 0.9]).passed


@pytest.mark.parametrize("rule", ["at least 3", "at least 0", "most", "at least two"])
def test_a_rule_that_cannot_be_is_refused(rule):
    with pytest.raises(ValueError, match="rule"):
        gate_test([0.1, 0.2], [1, 1], rule=rule)


def test_as_many_broken_p_values_as_needs():
    with pytest.raises(ValueError, match="broken"):
        gate_test([0.1, 0.2], [1.0])


@pytest.mark.parametrize("ratio", [0.5, 1.0, 1.1, 3.0])
def test_pairs_are_what_the_formula_gives(ratio):
    rng = np.random.default_rng(5)
    old = np.round(rng.uniform(5, 60, 12), 2)
    new = np.round(np.clip(old * ratio * rng.uniform(0.5, 1.1, 12), 0, 100), 2)
    found = paired_ratio_test(Scores(new.tolist(), 0, 100), Scores(old.tolist(), 0, 100), ratio)
    below, above = ratios.paired(new.tolist(), old.tolist(), 100.0, ratio)
    assert found.below == pytest.approx(float(below), rel=1e-4)
    assert found.above == pytest.approx(float(above), rel=1e-4)


@pytest.mark.parametrize("ratio", [0.5, 1.1, 2.0])
def test_groups_are_at_least_the_formula_at_every_null_point(ratio):
    rng = np.random.default_rng(6)
    old, new = np.round(rng.uniform(20, 60, 8), 1).tolist(), np.round(rng.uniform(5, 40, 9) * ratio, 1).tolist()
    found = ratio_test(Scores(new, 0, 100), Scores(old, 0, 100), ratio)
    points = np.linspace(1.0, min(99.0, 99.0 * ratio), 25).tolist()
    heights = [float(ratios.joint_at(new, old, 100.0, ratio, mean)) for mean in points]
    # 95% of the error goes to the joint test, and far points are kept out by the groups' own tests
    near = [height for mean, height in zip(points, heights, strict=True) if abs(mean - np.mean(new)) < 4]
    assert found.below >= max(near) * 0.99
    assert found.below <= 1.2 * max(heights) / 0.95 + 1e-9


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(0.0, 10.0), min_size=3, max_size=8), st.lists(st.floats(0.0, 10.0), min_size=3, max_size=8))
def test_a_ratio_of_one_is_a_gain_of_nothing(new, old):
    first, second = Scores(new, 0.0, 10.0), Scores(old, 0.0, 10.0)
    ratio, gain = ratio_test(first, second, 1.0), score_test(second, first)
    assert ratio.below == pytest.approx(gain.above, rel=0.02)
    assert ratio.above == pytest.approx(gain.below, rel=0.02)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.floats(0.0, 10.0), st.floats(0.0, 10.0)), min_size=2, max_size=10))
def test_the_larger_the_ratio_allowed_the_smaller_its_p_value(pairs):
    first, second = (Scores(side, 0.0, 10.0) for side in zip(*pairs, strict=True))
    found = [paired_ratio_test(first, second, ratio).below for ratio in (0.5, 1.0, 1.5, 3.0)]
    assert all(later <= earlier + 1e-9 for earlier, later in itertools.pairwise(found))


def test_a_ratio_needs_a_range_from_0():
    with pytest.raises(ValueError, match="range from 0"):
        ratio_test(Scores([2, 3], 1, 5), Scores([2, 3], 1, 5), 1.1)
    with pytest.raises(ValueError, match="ratio"):
        ratio_test(Scores([2, 3], 0, 5), Scores([2, 3], 0, 5), 0.0)


@pytest.mark.parametrize(("far", "end"), [(0.0, 1.0), (10.0, 7.0)])
def test_an_end_is_where_the_p_value_falls_to_the_error(far, end):
    def holds(value):
        return 1.0 / (1.0 + abs(value - 4.0))

    found = refuted(holds, 0.25, 4.0, far, 1e-6)
    assert found == pytest.approx(end, abs=1e-5)
    assert holds(found) <= 0.25  # the side that is refuted
    assert refuted(holds, 0.05, 4.0, far, 1e-6) == far  # nothing is refuted on this side
