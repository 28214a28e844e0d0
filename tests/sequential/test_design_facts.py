"""Tests of `surefoot.sequential.designs`: what follows from a table."""

import numpy as np
import pytest

from surefoot.numerics.designs.operating import characteristics
from surefoot.sequential import ExactBinary, designs
from surefoot.sequential.exact_rules import Counts, ExactRule
from surefoot.study.plans import FUTILITY
from tests.oracles import after_stop as twin
from tests.support.exact_rules import every_rule, moves, slow_rule

every_claim = pytest.mark.parametrize("claim", ["first better", "either"])


def giving_up(rule: ExactRule):
    return lambda n, s, f: rule.hopeless(n, Counts(f, s)) or rule.futile(n, Counts(f, s))


@pytest.mark.parametrize(("horizon", "before", "after"), [(50, 42.95, 32.75), (100, 89.35, 65.45), (200, 183.4, 130.4)])
def test_pairs_when_equal_and_power_lost(horizon, before, after):
    # Design figures: 42.9 -> 32.7, 89.3 -> 65.4, 183 -> 130, with at most 1.4 points of power lost.
    equal, first, second = np.array([0.5, 0.7, 0.9]), np.array([0.75, 0.9, 0.95, 0.2]), np.array([0.6, 0.6, 0.85, 0.1])
    plain, given = ExactBinary(horizon, claim="either"), ExactBinary(horizon, claim="either", futility=0.02)
    pairs, power = [], []
    for rule in (plain, given):
        quits = designs.quits(rule.design.declared, rule.futility)
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
    quits = designs.quits(rule.design.declared, 0.02)
    assert characteristics(rule.design.walk(), rule.design.limits, equal, equal, quits=quits).pairs.mean() <= 325


@pytest.mark.parametrize(("horizon", "most"), [(50, 33.5), (100, 66.5), (200, 132)])
def test_a_one_sided_claim_gives_up_early_when_equal_and_sooner_when_worse(horizon, most):
    # methods.md 17 gives at most 1.7 points for 0.005; the largest here is 1.52, at 200 pairs.
    first, second = np.array([0.75, 0.9, 0.95, 0.2]), np.array([0.6, 0.6, 0.85, 0.1])
    rule = ExactBinary(horizon, futility=FUTILITY["first better"])
    walk, limits, equal = rule.design.walk(), rule.design.limits, np.array([0.5, 0.7, 0.9])
    certain, declared = (designs.quits(rule.design.declared, share) for share in (0.0, rule.futility))
    before, after = (characteristics(walk, limits, equal, equal, quits=q).pairs.mean() for q in (certain, declared))
    assert 0.32 <= 1 - after / before <= 0.45
    assert after <= most
    before, after = (characteristics(walk, limits, first, second, quits=q).pairs for q in (certain, declared))
    assert (after <= 0.5 * before).all()
    before, after = (
        characteristics(walk, limits, second, first, quits=q).first.sum(axis=1) for q in (certain, declared)
    )
    assert 0.0 < (before - after).max() <= 0.017


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
    found = designs.endings(rule.design.declared, futility)
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
    found = designs.endings(rule.design.declared, futility)
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
