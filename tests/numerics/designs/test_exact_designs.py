"""Exact designs: walks against brute force, proved errors, the published figures, and how tables are kept."""

import math

import numpy as np
import pytest
from benchmarks import design_bounds

from surefoot.numerics import polynomials
from surefoot.numerics.designs import exact_designs, stopped_walks
from surefoot.numerics.designs.operating import characteristics
from surefoot.sequential import ExactBinary, ExactPairedBinary, designs
from tests.oracles import exact_designs as twin
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
    rule, points = ExactPairedBinary(50, claim="either"), exact_designs.twelve()
    found = characteristics(rule.design.walk(), rule.design.limits, points.second, points.first)
    mean, power = float(found.pairs.mean()), float(found.first.sum(axis=1).mean())
    bound = design_bounds.paired_bound(50, 0.025, power, mirrored=True, rounds=60)
    assert bound < mean <= 1.02 * bound


def test_a_search_that_cannot_keep_the_error_returns_nothing(monkeypatch):
    loose = exact_designs.Design(exact_designs.binary_limits(9, 1.0), 0.4)
    monkeypatch.setattr(exact_designs, "binary_design", lambda *_, **__: loose)
    with pytest.raises(ArithmeticError, match="does not keep its error"):
        designs.compute(designs.Declared("binary", 9, 0.1, True))


def test_the_copula_is_that_of_the_bivariate_normal():
    def both(*rates: float) -> float:
        return float(exact_designs.copula(*(np.array([rate]) for rate in rates))[0])

    assert both(0.5, 0.5, 0.6) == pytest.approx(0.25 + math.asin(0.6) / (2 * math.pi), abs=1e-13)  # Sheppard (1899)
    assert both(0.7, 0.2, 0.0) == pytest.approx(0.14, abs=1e-12)
    assert both(0.95, 0.85, 0.6) == pytest.approx(both(0.85, 0.95, 0.6), abs=1e-12)
    assert both(0.95, 0.85, 0.6) == pytest.approx(0.8297088, abs=1e-6)  # scipy.stats.multivariate_normal.cdf


# --- formula rules ---


@pytest.mark.parametrize(("horizon", "constant"), [(200, 2.48694), pytest.param(500, 2.52905, marks=pytest.mark.slow)])
def test_the_binary_formula_is_calibrated_exactly(horizon, constant):
    walk = stopped_walks.BinaryWalk(horizon, mirrored=True)
    design, found = exact_designs.formula_design(walk, exact_designs.binary_limits, 0.05)
    assert found == pytest.approx(constant, abs=4e-4)
    assert design.proved <= 0.05
    assert (
        polynomials.polynomial_maximum(
            stopped_walks.coefficients(walk, exact_designs.binary_limits(horizon, constant))
        )[1]
        <= 0.05
    )
    assert (
        polynomials.polynomial_maximum(
            stopped_walks.coefficients(walk, exact_designs.binary_limits(horizon, found - 2e-3))
        )[0]
        > 0.05
    )


@pytest.mark.parametrize("shift", [-1.5, 2.0])
def test_the_constant_is_found_however_far_it_is_from_the_first_guess(shift):
    walk, told = stopped_walks.BinaryWalk(60, mirrored=True), []
    design, constant = exact_designs.formula_design(walk, exact_designs.binary_limits, 0.05)

    def shifted(horizon, one):
        return exact_designs.binary_limits(horizon, one - shift)

    same, other = exact_designs.formula_design(walk, shifted, 0.05, told.append)
    assert other - constant == pytest.approx(shift, abs=1e-12)
    assert same.proved == design.proved
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_the_paired_formula_of_the_methods_is_calibrated_for_independent_pairs():
    walk = stopped_walks.PairedWalk(100, mirrored=True)

    def worst(constant: float) -> float:
        limits = exact_designs.paired_limits(100, constant, rise=0.45, guard=0.0)
        return polynomials.polynomial_maximum(stopped_walks.coefficients(walk, limits))[1]

    assert worst(2.648) <= 0.025 < worst(2.646)  # methods.md section 10b: 2.647


@pytest.mark.parametrize("constant", [1.7, 2.4])
def test_formula_tables_follow_their_formulas(constant):
    for horizon in (9, 22):
        tables = [
            (exact_designs.binary_limits(horizon, constant), twin.formula_rule(horizon, constant)),
            (
                exact_designs.paired_limits(horizon, constant, rise=0.45, guard=0.0),
                twin.paired_formula_rule(horizon, constant),
            ),
        ]
        for paired, (limits, rule) in enumerate(tables):
            read = twin.rule_from(limits.tolist())
            for n in range(1, horizon + 1):
                for r in range(n + 1):
                    for other in range(n + 1 - (r if paired else 0)):
                        assert read(n, r, other) == rule(n, r, other)
