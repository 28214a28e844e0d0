"""Tests of `surefoot.sequential.exact_binary`: pairs."""

import numpy as np
import pytest

from surefoot.numerics.designs import exact_designs
from surefoot.sequential import ExactPairedBinary, run
from tests.oracles import exact_designs as twin


@pytest.mark.parametrize(
    ("horizon", "power", "pairs"), [(50, 0.55, 36.6), (100, 0.735, 59.0), (200, 0.89, 85.5)], ids=[50, 100, 200]
)
def test_exact_paired_binary_reaches_its_figures(horizon, power, pairs):
    rule = ExactPairedBinary(horizon, claim="either")
    rates = [(0.75, 0.60), (0.90, 0.60), (0.90, 0.40), (0.70, 0.50), (0.55, 0.45), (0.95, 0.85)]
    mean, right = [], []
    for first, second in rates:
        tied = float(exact_designs.copula(np.array([first]), np.array([second]), np.array([0.6]))[0])
        for both in (first * second, tied):
            stopping, shares = rule.tied(first, second, both, curtailed=False)
            mean.append(sum(n * chance for n, chance in enumerate(stopping, 1)))
            right.append(shares["better"])
    assert np.mean(right) >= power
    assert np.mean(mean) <= pairs
    assert rule.certificate.high <= 0.025


def test_a_shuffled_fixed_list_keeps_the_error():
    # Exactly k of the environments differ, each by a fair coin, in random order: all 3^N sequences of a short list.
    rule = ExactPairedBinary(8, confidence=0.9)
    shares = twin.paired_bernstein(twin.rule_from(rule.design.limits.tolist(), False), 8)
    assert max(float(share) for share in shares) <= 0.1
    assert max(float(share) for share in shares) == pytest.approx(rule.certificate.low, abs=1e-12)


def test_only_pairs_that_differ_count_for_the_paired_rule():
    rule = ExactPairedBinary(60)
    one = run(rule, [(1, 0), (0, 0)] * 30)[-1]
    other = run(rule, [(1, 0), (1, 1)] * 30)[-1]
    assert (one.pairs, one.verdict, one.p_value) == (other.pairs, other.verdict, other.p_value)


def test_tied_outcomes_must_be_possible():
    rule = ExactPairedBinary(20)
    assert rule.tied(0.7, 0.4, 0.28)[1] == pytest.approx(rule.operating(0.7, 0.4)[1], abs=1e-13)
    assert rule.tied(0.7, 0.4, 0.4)[1]["better"] > rule.tied(0.7, 0.4, 0.28)[1]["better"]
    with pytest.raises(ValueError, match=r"`both` must be between 0.1 and 0.4 at these rates; got 0.5"):
        rule.tied(0.7, 0.4, 0.5)


@pytest.mark.parametrize("horizon", [20, 50, 100])
def test_the_error_on_every_list_without_a_gain_is_kept_exactly(horizon):
    rule = ExactPairedBinary(horizon, claim="either")
    for each in range(horizon // 2 + 1):
        stopping, chances = rule.over_list(each, each)
        assert sum(stopping) == pytest.approx(1.0)
        assert chances["better"] == pytest.approx(chances["worse"], abs=1e-12)
        assert chances["better"] + chances["worse"] <= 0.05


def test_a_list_longer_than_the_horizon_is_counted_too():
    rule = ExactPairedBinary(20, claim="either")
    near = rule.over_list(3000, 1000, population=10_000)[1]
    far = rule.tied(0.5, 0.3, 0.2)[1]  # only the first in .3, only the second in .1
    assert near["better"] == pytest.approx(far["better"], abs=2e-3)
    given_up, plain = (
        ExactPairedBinary(20, claim="either", futility=0.1).over_list(5, 5, curtailed=c) for c in (True, False)
    )
    assert sum(n * c for n, c in enumerate(given_up[0], 1)) < sum(n * c for n, c in enumerate(plain[0], 1))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((15, 6), "`first_only` and `second_only` must add up to at most 20, the items on the list; got 15 and 6."),
        ((-1, 6), "`first_only` must be at least 0"),
        ((1, 1, 10), "`population` must be at least the horizon, 20; got 10"),
    ],
)
def test_lists_that_cannot_be_are_refused(arguments, words):
    first, second, *population = arguments
    with pytest.raises(ValueError, match=words):
        ExactPairedBinary(20).over_list(first, second, population=population[0] if population else None)
