"""Tests of `surefoot.sequential.exact_paired_binary`."""

import numpy as np
import pytest

from surefoot.numerics import design_priors
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
        tied = float(design_priors.copula(np.array([first]), np.array([second]), np.array([0.6]))[0])
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
