"""Boundaries that tell one rate from another: against a twin in fractions, and their errors counted exactly."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from surefoot.numerics.designs import acceptance
from tests.oracles import acceptance as twin

PAIRS = [(0.95, 0.8), (0.9, 0.7), (0.99, 0.9)]


@pytest.mark.sample(3)
@pytest.mark.parametrize(("good", "bad"), PAIRS)
def test_the_boundaries_are_those_of_the_twin(good, bad):
    found = acceptance.boundaries(good, bad, 0.05)
    accept, reject = twin.design(good, bad, 0.05)
    assert found.accept[1:].tolist() == accept[1:]
    assert found.reject[1:].tolist() == reject[1:]


@pytest.mark.parametrize(("good", "bad"), PAIRS)
@pytest.mark.parametrize("most", [None, 30])
def test_both_errors_are_at_most_the_error_in_exact_fractions(good, bad, most):
    found = acceptance.boundaries(good, bad, 0.05, most)
    limits = found.accept.tolist(), found.reject.tolist()
    assert 0.04 < twin.chance(*limits, bad, "accepted") <= Fraction(1, 20)
    assert 0.04 < twin.chance(*limits, good, "rejected") <= Fraction(1, 20)
    undecided = twin.chance(*limits, good, "undecided")
    assert (undecided == 0) == (most is None)


@pytest.mark.parametrize("rate", [0.0, 0.3, 0.8, 0.97, 1.0])
def test_chances_of_endings_are_those_of_the_twin_at_every_rate(rate):
    found = acceptance.boundaries(0.9, 0.7, 0.05)
    exact = twin.law(found.accept.tolist(), found.reject.tolist(), Fraction(repr(rate)))
    every = acceptance.endings(found, 0.8)
    at = every.at(rate)
    assert len(at) == sum(1 for chance in twin.law(*map(list, found), Fraction(1, 2)).values() if chance)
    for n, f, chance in zip(every.rollouts, every.failures, at, strict=True):
        named = [float(exact.get((int(n), int(f), verdict), 0)) for verdict in ("accepted", "rejected", "undecided")]
        assert chance == pytest.approx(sum(named), rel=1e-11, abs=1e-300)
    assert at.sum() == pytest.approx(1.0, abs=1e-12)


def test_published_fixed_sizes():
    # scipy.stats.binom, by hand: 5 of 50 and 2 of 61 are the least that keep both errors.
    assert acceptance.fixed(0.95, 0.8, 0.05) == twin.fixed_size(0.95, 0.8, 0.05) == 50
    assert acceptance.fixed(0.99, 0.9, 0.05) == twin.fixed_size(0.99, 0.9, 0.05) == 61


@pytest.mark.parametrize(("good", "bad"), [(0.95, 0.8), (0.9, 0.7), (0.99, 0.95)])
def test_few_rollouts_on_average_at_both_rates(good, bad):
    # Wald (1945): no test with both errors at most .05 has a lower mean than this.
    limits = acceptance.boundaries(good, bad, 0.05)
    needed = 0.9 * math.log(19.0)
    for rate, other in ((good, bad), (bad, good)):
        told = rate * math.log(rate / other) + (1.0 - rate) * math.log((1.0 - rate) / (1.0 - other))
        assert 1.0 <= acceptance.ending_chances(limits, rate)[2] / (needed / told) <= 1.07


@settings(max_examples=25)
@given(
    bad=st.floats(0.05, 0.9),
    gap=st.floats(0.12, 0.6),
    error=st.floats(0.005, 0.2),
    most=st.none() | st.integers(1, 80),
)
def test_both_errors_and_the_shape_hold_for_any_rates(bad, gap, error, most):
    good = bad + gap
    assume(good < 0.995)
    limits = acceptance.boundaries(good, bad, error, most)
    accept, reject = limits
    assert acceptance.ending_chances(limits, bad)[0] <= error
    assert acceptance.ending_chances(limits, good)[1] <= error
    assert (accept < reject).all()
    assert set(np.diff(accept)[:-1]) <= {0, 1}
    assert set(np.diff(reject[:-1])) <= {0, 1}
    chances = [acceptance.ending_chances(limits, rate)[0] for rate in np.linspace(0.0, 1.0, 11)]
    assert all(one <= other + 1e-12 for one, other in itertools.pairwise(chances))
    if most is None:
        assert acceptance.ending_chances(limits, good)[0] >= 1.0 - error - 1e-12


def test_rates_that_are_too_close_are_refused():
    with pytest.raises(OverflowError):
        acceptance.fixed(0.99, 0.9899, 0.05)
    with pytest.raises(OverflowError):
        acceptance.closed(0.8, 0.79, 0.01)
