"""What may be said after a stop: the estimate, stopping for futility, and overriding it."""

import dataclasses

import numpy as np
import pytest

from surefoot import Verdict
from surefoot.numerics.operating import characteristics
from surefoot.numerics.stopping_states import endings
from surefoot.sequential import (
    ExactBinary,
    ExactPairedBinary,
    FiniteHorizonMixture,
    FixedSize,
    NScore,
    Savi,
    Wsr,
    design_facts,
    run,
    simulate,
)
from surefoot.sequential.exact_rules import Counts, ExactRule
from tests.oracles import after_stop as twin
from tests.oracles import exact_designs as tables

RULES = {"binary": ExactBinary, "paired": ExactPairedBinary}
every_rule = pytest.mark.parametrize("make", RULES.values(), ids=RULES)
every_claim = pytest.mark.parametrize("claim", ["first better", "either"])


def moves(make: type[ExactRule]) -> list[tuple[int, int]]:
    return twin.STREAMS if make is ExactBinary else twin.PAIRS


def slow_rule(rule: ExactRule) -> tables.Rule:
    return tables.rule_from(rule.design.limits.tolist(), rule.claim == "either")


def giving_up(rule: ExactRule):
    return lambda n, s, f: rule.hopeless(n, Counts(f, s)) or rule.futile(n, Counts(f, s))


# --- where a run is given up ---


@every_rule
@every_claim
@pytest.mark.parametrize("futility", [0.01, 0.05, 0.2])
def test_futile_is_a_predictive_chance_below_the_declared_one(make, claim, futility):
    rule = make(14, claim=claim, confidence=0.9, futility=futility)
    slow = slow_rule(rule)
    chance = twin.foreseen(slow, 14, moves(make))
    some = 0
    for n, s, f in twin.every_state(14, moves(make)):
        if not slow(n, s, f):
            assert rule.futile(n, Counts(f, s)) == (chance(n, s, f) < futility)
            assert rule.hopeless(n, Counts(f, s)) == (chance(n, s, f) == 0)
            some += 0 < chance(n, s, f) < futility
    assert some


@pytest.mark.parametrize(("horizon", "before", "after"), [(50, 42.95, 32.75), (100, 89.35, 65.45), (200, 183.4, 130.4)])
def test_pairs_when_equal_and_power_lost(horizon, before, after):
    # Design figures: 42.9 -> 32.7, 89.3 -> 65.4, 183 -> 130, with at most 1.4 points of power lost.
    equal, first, second = np.array([0.5, 0.7, 0.9]), np.array([0.75, 0.9, 0.95, 0.2]), np.array([0.6, 0.6, 0.85, 0.1])
    plain, given = ExactBinary(horizon, claim="either"), ExactBinary(horizon, claim="either", futility=0.02)
    pairs, power = [], []
    for rule in (plain, given):
        quits = design_facts.quits(rule.design.declared, rule.futility)
        walk, limits = rule.design.walk(), rule.design.limits
        pairs.append(float(characteristics(walk, limits, equal, equal, quits=quits).pairs.mean()))
        power.append(characteristics(walk, limits, second, first, quits=quits).first.sum(axis=1))
    assert pairs[0] == pytest.approx(before, abs=0.1)
    assert pairs[1] <= after
    assert 0.0 < (power[0] - power[1]).max() <= 0.014
    assert given.certificate == plain.certificate
    stopping, shares = given.operating(0.75, 0.6)
    assert shares["better"] == pytest.approx(power[1][0], abs=1e-12)
    assert sum(stopping) == pytest.approx(1.0)
    assert given.operating(0.75, 0.6, curtailed=False)[1] == pytest.approx(plain.operating(0.75, 0.6)[1], abs=1e-12)


@pytest.mark.slow
def test_pairs_when_equal_at_the_longest_horizon():
    equal = np.array([0.5, 0.7, 0.9])
    rule = ExactBinary(500, claim="either", futility=0.02)
    quits = design_facts.quits(rule.design.declared, 0.02)
    assert characteristics(rule.design.walk(), rule.design.limits, equal, equal, quits=quits).pairs.mean() <= 325


@pytest.mark.parametrize("horizon", [50, 100, 200])
def test_a_one_sided_claim_gives_up_early_when_equal_and_sooner_when_worse(horizon):
    first, second = np.array([0.75, 0.9, 0.95, 0.2]), np.array([0.6, 0.6, 0.85, 0.1])
    rule = ExactBinary(horizon, futility=0.005)
    walk, limits, equal = rule.design.walk(), rule.design.limits, np.array([0.5, 0.7, 0.9])
    certain, declared = (design_facts.quits(rule.design.declared, share) for share in (0.0, 0.005))
    before, after = (characteristics(walk, limits, equal, equal, quits=q).pairs.mean() for q in (certain, declared))
    assert 0.34 <= 1 - after / before <= 0.45
    before, after = (characteristics(walk, limits, first, second, quits=q).pairs for q in (certain, declared))
    assert (after <= 0.5 * before).all()
    before, after = (
        characteristics(walk, limits, second, first, quits=q).first.sum(axis=1) for q in (certain, declared)
    )
    assert (before - after).max() <= 0.016


@every_rule
@every_claim
def test_simulated_is_run_with_futility(make, claim):
    rule = make(60, claim=claim, futility=0.05)
    rng = np.random.default_rng(6)
    first, second = (rng.random((60, 60)) < 0.55).astype(float), (rng.random((60, 60)) < 0.5).astype(float)
    done = simulate(rule, first, second)
    ended = set()
    for row in range(60):
        state = run(rule, zip(first[row], second[row], strict=True))[-1]
        assert (state.pairs, state.verdict) == (done.stopping_times[row], done.verdicts[row])
        ended.add(state.ending)
    assert "futility" in ended
    assert done.mean_pairs < simulate(dataclasses.replace(rule, futility=0.0), first, second).mean_pairs


@every_rule
@every_claim
def test_the_chance_to_decide_counts_giving_up(make, claim):
    rule = make(30, claim=claim, futility=0.1)
    assert rule.start().chance_to_decide(0.7, 0.5) == pytest.approx(rule.operating(0.7, 0.5)[1], abs=1e-12)
    stopped = run(rule, [(1, 0), (0, 1)] * 15)[-1]
    assert stopped.ending == "futility"
    assert sum(stopped.chance_to_decide(0.7, 0.5).values()) == pytest.approx(1.0)
    assert stopped.chance_to_decide(1.0, 0.0)["better"] > 0.0  # if it went on


# --- what the state tells, and going on all the same ---


@pytest.mark.parametrize("make", [ExactBinary, ExactPairedBinary, FiniteHorizonMixture])
def test_a_stop_for_futility_says_so_and_may_be_overridden(make):
    rule = make(40, claim="either", futility=0.05)
    states = run(rule, [(1, 0), (0, 1)] * 20)
    assert [state.ending for state in states[:-1]] == [None] * (len(states) - 1)
    stopped = states[-1]
    assert (stopped.ending, stopped.verdict, stopped.overridden) == ("futility", Verdict.UNDECIDED, False)
    assert stopped.pairs < run(dataclasses.replace(rule, futility=0.0), [(1, 0), (0, 1)] * 20)[-1].pairs
    assert str(stopped).endswith(": stopped, the chance of a verdict within 40 pairs is below 5%.")
    with pytest.raises(ValueError, match=r"stopped for futility. To go on all the same, step from `override"):
        rule.step(stopped, (1, 0))
    state = rule.override(stopped)
    assert (state.ending, state.overridden, state.futile) == (None, True, True)
    with pytest.raises(ValueError, match=r"must have stopped for futility to be overridden; got one that goes on"):
        rule.override(state)
    other = make(41, claim="either", futility=0.05)
    with pytest.raises(ValueError, match="`state` must come from this rule"):
        other.override(stopped)
    while not state.finished:
        state = rule.step(state, (1, 0))
        assert state.overridden
    assert state.ending in ("verdict", "horizon", "out of reach")
    assert state.estimate == pytest.approx(state.observed)
    with pytest.raises(ValueError, match=r"got one that ended by"):
        rule.override(state)
    assert type(state).from_dict(state.to_dict()) == state
    assert type(rule).from_dict(rule.to_dict()) == rule


@pytest.mark.parametrize("make", [ExactBinary, ExactPairedBinary, FiniteHorizonMixture, Wsr, NScore])
def test_futility_out_of_range_is_refused_and_old_rules_read_as_0(make):
    for value in (-0.01, 0.21, 1.0):
        with pytest.raises(ValueError, match=r"`futility` must be between 0 and 0.2; got"):
            make(20, futility=value)
    data = make(20).to_dict()
    del data["futility"]
    assert make.from_dict(data) == make(20, futility=0)
    state = make(20).step(make(20).start(), (1, 0))
    data = state.to_dict()
    del data["overridden"]
    assert type(state).from_dict(data) == state


def test_rules_without_futility_have_none_and_never_stop_for_it():
    for make in (Savi, FixedSize):
        rule = make(20)
        assert rule.futility == 0.0
        with pytest.raises(TypeError):
            make(20, futility=0.02)
        state = run(rule, [(1, 1), (0, 0)] * 10)[-1]
        assert (state.ending, state.futile, state.hopeless) == ("horizon", False, False)


# --- betting rules ---


@pytest.mark.parametrize("claim", ["first better", "either", "first not worse", "same"])
@pytest.mark.parametrize("make", [FiniteHorizonMixture, Wsr])
def test_betting_futility_is_the_closed_form(make, claim):
    margin = 0.1 if claim in ("first not worse", "same") else 0.0
    rule = make(60, claim=claim, margin=margin * 3, low=-1.0, high=2.0, futility=0.2)
    rng = np.random.default_rng(8)
    first, second = rng.beta(2, 2, (60, 60)) * 3 - 1, rng.beta(2, 2, (60, 60)) * 3 - 1
    done = simulate(rule, first, second)
    ended = set()
    for row in range(60):
        states = run(rule, zip(first[row], second[row], strict=True))
        assert (states[-1].pairs, states[-1].verdict) == (done.stopping_times[row], done.verdicts[row])
        ended.add(states[-1].ending)
        for state in states[:: max(1, len(states) // 5)]:
            if state.verdict is not Verdict.UNDECIDED or state.pairs == 60:
                continue
            each = []
            for side, (sign, beyond, _) in zip(state.sides, rule.directions, strict=True):
                gains = sign * (first[row] - second[row])[: state.pairs] / 3
                need = np.log(1 / rule.error) - side.log_wealth
                shown = side.log_best >= np.log(1 / rule.error)
                values = ((gains - beyond) / (1 + abs(beyond))).tolist()
                each.append(1.0 if shown else twin.betting_chance(values, need, 60 - state.pairs))
            assert state.futile == ((min if claim == "same" else max)(each) < 0.2)
    assert "futility" in ended


def test_betting_futility_saves_pairs_when_equal_and_loses_little():
    rng = np.random.default_rng(3)
    plain, given = (FiniteHorizonMixture(100, claim="either", futility=share) for share in (0.0, 0.02))
    equal = rng.beta(2, 2, (2000, 100)), rng.beta(2, 2, (2000, 100))
    assert simulate(plain, *equal).mean_pairs > 97
    assert simulate(given, *equal).mean_pairs < 66  # the design figure is 63.0
    better = rng.beta(2.6, 2, (2000, 100)), rng.beta(2, 2, (2000, 100))
    lost = simulate(plain, *better).share(Verdict.BETTER) - simulate(given, *better).share(Verdict.BETTER)
    assert 0.0 <= lost <= 0.012


# --- the estimate ---


@every_rule
@every_claim
@pytest.mark.parametrize("futility", [0.0, 0.1])
def test_the_estimate_is_the_mean_first_pair_of_all_runs_that_end_there(make, claim, futility):
    horizon = 6 if make is ExactBinary else 8
    rule = make(horizon, claim=claim, confidence=0.8, futility=futility)
    slow = slow_rule(rule)
    gains = twin.rao_blackwell(slow, horizon, moves(make), giving_up(rule))
    chances = twin.survival(slow, horizon, moves(make), giving_up(rule))
    found = design_facts.endings(rule.design.declared, futility)
    assert len(found.n) == len(gains)
    for (n, s, f), gain in gains.items():
        place = found.at(n, f, s)
        assert found.gain[place] == pytest.approx(float(gain), abs=1e-14)
        assert found.chance[place] == pytest.approx(float(chances[n, s, f]), abs=1e-14)
        assert found.verdict[place] == slow(n, s, f)
    with pytest.raises(ValueError, match="never ends after 1 pairs with counts 0 and 0"):
        found.at(1, 0, 0)


@every_rule
@every_claim
@pytest.mark.parametrize("futility", [0.0, 0.02])
@pytest.mark.parametrize("horizon", [20, 50, 100])
def test_the_estimate_is_unbiased_by_summation(make, claim, futility, horizon):
    from scipy.stats import binom

    rule = make(horizon, claim=claim, futility=futility)
    found = design_facts.endings(rule.design.declared, futility)
    together = found.first + found.second
    for first, second in ((0.75, 0.6), (0.3, 0.3), (0.2, 0.7), (0.01, 0.0), (0.04, 0.9)):
        if make is ExactBinary:
            mass = found.chance * binom.pmf(found.first, found.n, first) * binom.pmf(found.second, found.n, second)
        else:
            first, second = first / 2, second / 2
            mass = found.chance * binom.pmf(together, found.n, first + second)
            mass *= binom.pmf(found.first, together, first / (first + second))
        assert mass.sum() == pytest.approx(1.0, abs=1e-10)
        assert (mass * found.gain).sum() == pytest.approx(first - second, abs=1e-9)


def test_the_estimate_takes_back_what_an_early_verdict_overstates():
    # Design figures at N = 50, .75/.60, no run given up: raw bias +.030, given BETTER +.200; Rao-Blackwell 0 and +.130.
    from scipy.stats import binom

    rule = ExactBinary(50, claim="either")
    found = endings(rule.design.walk(), rule.design.limits, None)
    mass = found.chance * binom.pmf(found.first, found.n, 0.75) * binom.pmf(found.second, found.n, 0.6)
    raw, better = (found.first - found.second) / found.n, found.verdict == 1
    assert (mass * raw).sum() - 0.15 == pytest.approx(0.030, abs=6e-4)
    assert (mass * raw)[better].sum() / mass[better].sum() - 0.15 == pytest.approx(0.200, abs=6e-4)
    assert (mass * found.gain)[better].sum() / mass[better].sum() - 0.15 == pytest.approx(0.130, abs=6e-4)
    state = run(rule, [(1, 0), (1, 1)] * 25)[-1]
    assert state.ending == "verdict"
    assert state.estimate < state.observed
    wide = run(ExactBinary(50, claim="either", low=-1, high=3), [(3, -1), (3, 3)] * 25)[-1]
    assert (wide.observed, wide.estimate) == pytest.approx((4 * state.observed, 4 * state.estimate))


def test_the_estimate_while_running_is_the_observed_gain():
    rule = ExactBinary(50)
    assert rule.start().estimate == rule.start().observed == 0.0
    states = run(rule, [(1, 0), (1, 1), (0, 1), (1, 0)])
    assert [state.estimate for state in states] == pytest.approx([1.0, 0.5, 0.0, 0.25])
    for other in (FiniteHorizonMixture(50), Savi(50)):
        state = run(other, [(1, 0), (1, 1), (0, 1), (1, 0)])[-1]
        assert state.estimate == state.observed == pytest.approx(0.25)
