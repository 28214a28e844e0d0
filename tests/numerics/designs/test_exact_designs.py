"""Exact designs: walks against brute force, proved errors, the published figures, and how tables are kept."""

import pytest
from benchmarks import design_bounds

from surefoot.numerics.designs import design_priors, exact_designs
from surefoot.numerics.designs.operating import characteristics
from surefoot.sequential import ExactBinary, ExactPairedBinary, designs
from tests.support.exact_designs import thirty_five


def test_no_rule_can_do_much_better():
    rule = ExactBinary(50, confidence=0.90, claim="either")
    mean, power = thirty_five(rule)
    bound = design_bounds.binary_bound(50, 0.05, power, mirrored=True, rounds=60)
    assert bound < mean <= 1.01 * bound
    assert bound > 28.80  # methods.md section 10: 28.84 at power .7301


@pytest.mark.slow
@pytest.mark.parametrize(("horizon", "within"), [(200, 1.015), (500, 1.02)])
def test_no_rule_can_do_much_better_at_long_horizons(horizon, within):
    rule = ExactBinary(horizon, confidence=0.90, claim="either")
    mean, power = thirty_five(rule)
    bound = design_bounds.binary_bound(horizon, 0.05, power, mirrored=True, rounds=80)
    assert bound < mean <= within * bound


def test_no_paired_rule_can_do_much_better():
    rule, points = ExactPairedBinary(50, claim="either"), design_priors.twelve()
    found = characteristics(rule.design.walk(), rule.design.limits, points.second, points.first)
    mean, power = float(found.pairs.mean()), float(found.first.sum(axis=1).mean())
    bound = design_bounds.paired_bound(50, 0.025, power, mirrored=True, rounds=60)
    assert bound < mean <= 1.02 * bound


def test_a_search_that_cannot_keep_the_error_returns_nothing(monkeypatch):
    loose = exact_designs.Design(design_priors.binary_limits(9, 1.0), 0.4)
    monkeypatch.setattr(exact_designs, "binary_design", lambda *_, **__: loose)
    with pytest.raises(ArithmeticError, match="does not keep its error"):
        designs.compute(designs.Declared("binary", 9, 0.1, True))
