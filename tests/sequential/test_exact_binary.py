"""Tests of `surefoot.sequential.exact_binary`."""

import numpy as np
import pytest

from surefoot import Verdict
from surefoot.numerics.designs import exact_designs
from surefoot.numerics.designs.operating import characteristics
from surefoot.sequential import ExactBinary, ExactPairedBinary, run
from tests.support.exact_designs import every_family, thirty_five
from tests.support.exact_rules import every_rule

every_side = pytest.mark.parametrize("both", [True, False], ids=["both", "first"])


@pytest.mark.parametrize(("horizon", "pairs", "power"), [(50, 29.10, 0.729), (200, 62.05, 0.921)])
def test_exact_binary_reaches_its_figures(horizon, pairs, power):
    rule = ExactBinary(horizon, confidence=0.90, claim="either")
    mean, right = thirty_five(rule)
    assert mean <= pairs
    assert right >= power


def test_exact_binary_reaches_its_figures_at_500():
    rule = ExactBinary(500, confidence=0.90, claim="either")
    points = exact_designs.thirty_five()
    found = characteristics(rule.design.walk(), rule.design.limits, points.second, points.first)
    assert found.pairs.mean() <= 85.0
    assert found.first.sum(axis=1).mean() >= 0.9865


def test_stopping_for_certain_futility_saves_pairs_and_no_power():
    rule = ExactBinary(50, confidence=0.90, claim="either")
    mean, right = thirty_five(rule)
    curtailed, same = thirty_five(rule, curtailed=True)
    assert same == pytest.approx(right, abs=1e-12)
    assert curtailed <= 28.0 < mean


def test_both_directions_at_95_percent_within_100_pairs():
    # The settings at which another tool's anytime rule has power .30 with 86 pairs, and needs 40 pairs.
    rule = ExactBinary(100, claim="either")
    stopping, shares = rule.operating(0.75, 0.60)
    assert shares["better"] >= 0.55
    assert sum(n * chance for n, chance in enumerate(stopping, 1)) <= 81
    stopping, shares = rule.operating(0.90, 0.60)
    assert shares["better"] > 0.98
    assert sum(n * chance for n, chance in enumerate(stopping, 1)) <= 34


@every_family
@every_side
def test_unequal_rates_for_which_the_claim_is_false_are_no_worse(family, both):
    # By coupling, a monotone table errs most when the policies are equal.
    rule = (ExactBinary if family == "binary" else ExactPairedBinary)(20, claim="either" if both else "first better")
    if family == "binary":
        second = np.repeat(np.linspace(0.05, 0.95, 10), 10)
        first = second * np.tile(np.linspace(0.1, 1.0, 10), 10)
    else:
        second = np.repeat(np.linspace(0.05, 0.5, 10), 10)
        first = second * np.tile(np.linspace(0.1, 1.0, 10), 10)
    found = characteristics(rule.design.walk(), rule.design.limits, second, first)
    assert found.first.sum(axis=1).max() <= rule.certificate.high + 1e-12
    assert rule.certificate.high <= rule.error


@pytest.mark.slow
@every_family
@every_side
def test_formula_rules_of_long_horizons_keep_their_error(family, both):
    make = ExactBinary if family == "binary" else ExactPairedBinary
    rule = make(700, claim="either" if both else "first better")
    assert rule.design.constant is not None
    assert rule.certificate.high <= rule.error
    assert rule.design.proved >= 0.95 * rule.error


every_claim = pytest.mark.parametrize("claim", ["first better", "either"])


@pytest.mark.sample(5)
@pytest.mark.parametrize("confidence", [0.5, 0.75, 0.8, 0.875, 0.95, 0.99])
@every_rule
@every_claim
def test_the_shortest_horizon_can_decide(make, claim, confidence):
    """At some confidences an outcome is just as likely as the error allowed."""
    error = (1 - confidence) / (2 if claim == "either" else 1)
    least = next(n for n in range(1, 60) if (4 if make is ExactBinary else 2) ** -n < error * (1 - 1e-9))
    with pytest.raises(ValueError, match=f"`horizon` must be at least {least}"):
        make(least - 1, claim=claim, confidence=confidence)
    for horizon in (least, least + 1):
        rule = make(horizon, claim=claim, confidence=confidence)
        assert run(rule, [(1, 0)] * horizon)[-1].verdict is Verdict.BETTER
        assert rule.certificate.high <= rule.error
