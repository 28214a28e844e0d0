"""Planning a sequential comparison, and admitting a rule."""

import json
from itertools import product

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from surefoot import Scores, plan_sequential
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.planning.sequential import SequentialPlan
from surefoot.sequential import (
    ExactBinary,
    ExactPairedBinary,
    FiniteHorizonMixture,
    NScore,
    Wsr,
    simulate,
)


def test_a_plan_is_the_simulation_summed_up():
    rule = FiniteHorizonMixture(50, binary=True)
    plan = plan_sequential(rule, 0.8, 0.5, rng=3, runs=500)
    rng = np.random.default_rng(3)  # the planner draws failures below one minus the rate
    first, second = (rng.random((500, 50)) >= 1 - 0.8).astype(float), (rng.random((500, 50)) >= 1 - 0.5).astype(float)
    done = simulate(rule, first, second)
    assert plan.expected_pairs == pytest.approx(done.mean_pairs)
    assert plan.power == pytest.approx(done.share(Verdict.BETTER))
    assert sum(plan.stopping) == pytest.approx(1.0)
    assert sum(plan.chances.values()) == pytest.approx(1.0)
    assert plan.quantile(0.5) == int(np.sort(done.stopping_times)[249])
    assert 0.0 < plan.saving < 1.0
    assert Record.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan


def test_laws_may_be_chances_or_pilot_scores():
    rule = FiniteHorizonMixture(40)
    chances = plan_sequential(rule, {0.0: 0.1, 0.5: 0.4, 1.0: 0.5}, {0.0: 0.5, 0.5: 0.4, 1.0: 0.1}, rng=1, runs=300)
    assert (chances.first, chances.second) == pytest.approx((0.7, 0.3))
    pilot = plan_sequential(
        rule, Scores([0.0] + [0.5] * 4 + [1.0] * 5), Scores([0.0] * 5 + [0.5] * 4 + [1.0]), rng=1, runs=300
    )
    assert pilot.stopping == chances.stopping
    tied = plan_sequential(rule, 0.7, 0.5, rng=1, runs=2000, correlation=0.8)
    loose = plan_sequential(rule, 0.7, 0.5, rng=1, runs=2000)
    assert tied.power > loose.power  # a shared environment helps a betting rule


@pytest.mark.parametrize("claim", ["first better", "either"])
@pytest.mark.parametrize(("first", "second", "correlation"), [(0.8, 0.4, 0.6), (0.7, 0.6, -0.5), (0.3, 0.9, 0.95)])
def test_a_plan_for_shared_environments_is_exact(claim, first, second, correlation):
    rule = ExactPairedBinary(8, claim=claim)
    plan = plan_sequential(rule, first, second, rng=1, correlation=correlation)
    assert (plan.exact, plan.runs, plan.correlation) == (True, 0, correlation)
    # Every sequence of: only the first succeeds, only the second, neither; "both" tells the rule nothing more.
    both = float(multivariate_normal.cdf(norm.ppf([first, second]), cov=[[1, correlation], [correlation, 1]]))
    cells = np.array([first - both, second - both, 1.0 - first - second + 2.0 * both])
    outcomes = np.array(list(product(range(3), repeat=8)))
    weights = np.prod(cells[outcomes], axis=1)
    done = simulate(rule, (outcomes == 0).astype(float), (outcomes == 1).astype(float))
    assert plan.expected_pairs == pytest.approx(weights @ done.stopping_times, abs=1e-6)
    for verdict in (Verdict.BETTER, Verdict.WORSE, Verdict.UNDECIDED):
        assert plan.chances[verdict.value] == pytest.approx(weights @ (done.verdicts == verdict), abs=1e-6)
    stopping = np.bincount(done.stopping_times - 1, weights=weights, minlength=8)
    assert plan.stopping == pytest.approx(stopping, abs=1e-6)


def test_a_shared_environment_is_exact_at_its_limits():
    rule = ExactPairedBinary(20)
    sure = plan_sequential(rule, 1.0, 0.4, rng=1, correlation=0.7)  # a sure outcome is tied to nothing
    assert sure.exact
    assert sure.power == pytest.approx(plan_sequential(rule, 1.0, 0.4, rng=1).power, abs=1e-12)
    nearly = plan_sequential(rule, 0.7, 0.4, rng=1, correlation=1.0 - 1e-9)
    assert nearly.power == pytest.approx(rule.tied(0.7, 0.4, 0.4)[1]["better"], abs=1e-6)
    apart = plan_sequential(rule, 0.7, 0.4, rng=1, correlation=1e-9 - 1.0)
    assert apart.power == pytest.approx(rule.tied(0.7, 0.4, 0.1)[1]["better"], abs=1e-6)
    # Rules that cannot compute it are simulated, and agree where they can.
    drawn = simulate(rule, *_tied_draws(0.7, 0.4, 0.8, runs=4000, horizon=20))
    known = plan_sequential(rule, 0.7, 0.4, rng=1, correlation=0.8)
    assert drawn.mean_pairs == pytest.approx(known.expected_pairs, abs=0.35)  # four standard errors
    assert not plan_sequential(FiniteHorizonMixture(20), 0.7, 0.4, rng=1, runs=50, correlation=0.8).exact


def _tied_draws(first, second, correlation, *, runs, horizon):
    rng = np.random.default_rng(8)
    one = rng.standard_normal((runs, horizon))
    other = correlation * one + (1.0 - correlation**2) ** 0.5 * rng.standard_normal((runs, horizon))
    return (one < norm.ppf(first)).astype(float), (other < norm.ppf(second)).astype(float)


def test_power_is_about_the_right_verdict():
    assert plan_sequential(Wsr(60, claim="either"), 0.2, 0.9, rng=1, runs=200).power > 0.9
    assert plan_sequential(Wsr(60), 0.2, 0.9, rng=1, runs=200).power == 0.0
    assert plan_sequential(Wsr(60, claim="same", margin=0.5), 0.5, 0.5, rng=1, runs=200).power > 0.5
    equal = plan_sequential(ExactPairedBinary(30, claim="either"), 0.5, 0.5, rng=1)
    assert equal.power == equal.chances["better"] + equal.chances["worse"] > 0.0


def test_every_run_has_stopped_by_the_horizon():
    for rule in (ExactPairedBinary(30), ExactPairedBinary(200), FiniteHorizonMixture(30)):
        assert plan_sequential(rule, 0.6, 0.5, rng=1, runs=20).quantile(1.0) <= rule.horizon
    stopping = (1.0 - 1e-9, 0.0)  # what rounding may leave of a long sum
    plan = SequentialPlan(FiniteHorizonMixture(2), 0.6, 0.5, 0.5, 1.0, {}, stopping, exact=True)
    assert plan.quantile(1.0) <= 2


def test_the_same_seed_is_the_same_plan():
    one, other = (plan_sequential(NScore(30, bins=2), 0.9, 0.4, rng=5, runs=100) for _ in range(2))
    assert one == other
    assert one.seed == 5
    assert "100 simulated runs, seed 5)" in str(one)
    drawn = plan_sequential(NScore(30, bins=2), 0.9, 0.4, rng=np.random.default_rng(5), runs=100)
    assert "100 simulated runs)" in str(drawn)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"first": 1.2}, "`first` must be between 0 and 1"),
        ({"first": {0.0: 0.5, 1.0: 0.6}}, "`first` must hold chances that sum to 1"),
        ({"second": {0.0: 0.5, 3.0: 0.5}}, r"`second` must hold scores in \[0, 1\]"),
        ({"runs": 0}, "`runs` must be at least 1"),
        ({"correlation": 1.0}, "`correlation` must be strictly between -1 and 1"),
    ],
)
def test_bad_plans_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        plan_sequential(Wsr(9), **{"first": 0.5, "second": 0.5, "rng": 1, **arguments})


def test_a_rule_must_be_one():
    with pytest.raises(TypeError, match=r"`rule` must be a rule such as .*; got 'FHM'"):
        plan_sequential("FHM", 0.5, 0.5, rng=1)


def test_chance_must_be_asked_for():
    with pytest.raises(TypeError, match="`rng` must be"):
        plan_sequential(Wsr(9), 0.5, 0.5, rng=None)


@pytest.mark.parametrize("rng", [5, "generator"])
@pytest.mark.parametrize("make", [ExactBinary, ExactPairedBinary, FiniteHorizonMixture])
def test_a_plan_counts_what_futility_saves_and_costs(make, rng):
    rule, plain = make(60, claim="either", futility=0.02), make(60, claim="either")

    def planned(rule, first, second):
        drawn = np.random.default_rng(9) if rng == "generator" else rng
        return plan_sequential(rule, first, second, rng=drawn, runs=400)

    plan, without = planned(rule, 0.8, 0.6), planned(plain, 0.8, 0.6)
    assert (without.pairs_when_equal, without.power_lost) == (None, None)
    assert plan.power_lost == pytest.approx(without.power - plan.power)
    assert 0.0 <= plan.power_lost < 0.03
    assert plan.expected_pairs < without.expected_pairs
    equal = planned(rule, 0.6, 0.6)
    assert plan.pairs_when_equal == pytest.approx(equal.expected_pairs)
    assert equal.expected_pairs < 0.85 * planned(plain, 0.6, 0.6).expected_pairs
    assert "If both were like the second:" in str(plan)
    assert "futility" not in str(without)
    assert Record.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan


def test_a_plan_over_a_list_is_about_lists_with_these_means():
    rule = FiniteHorizonMixture(200, claim="either", population=200, binary=True)
    plan = plan_sequential(rule, 0.6, 0.5, rng=1, runs=300)
    plain = plan_sequential(FiniteHorizonMixture(200, claim="either", binary=True), 0.6, 0.5, rng=1, runs=300)
    assert plan.power + plan.chances["worse"] == 1.0  # a list with a gain is decided at its end at the latest
    assert plan.power > plain.power + 0.2
    assert plan.expected_pairs < plain.expected_pairs
    assert "if on this list of 200 the means are 0.6 and 0.5 (" in str(plan)
    tie = plan_sequential(rule, 0.5, 0.5, rng=1, runs=300)
    assert 0.0 < tie.chances["better"] + tie.chances["worse"] <= 0.08


def test_lists_too_long_to_be_drawn_are_refused():
    rule = FiniteHorizonMixture(10, population=10**9)
    with pytest.raises(ValueError, match="`population` must be at most 20,000,000 to be simulated"):
        plan_sequential(rule, 0.6, 0.5, rng=1, runs=10)
