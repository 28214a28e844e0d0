"""Tests of `surefoot.stats.order_free`."""

import math
from dataclasses import dataclass

import pytest
from scipy.stats import binom

from surefoot import Tally, stats
from surefoot.core.record import Record
from surefoot.numerics.rates import binomial
from surefoot.stats import order_free
from surefoot.stats.order_free import ScoreTest, Spread


@dataclass(frozen=True)
class Binomial:
    """The exact test of a rate: the simplest of these tests."""

    k: int
    n: int

    @property
    def estimate(self):
        return self.k / self.n

    @property
    def mirrored(self):
        return Binomial(self.n - self.k, self.n)

    def log_p(self, target):
        return float(binom.logsf(self.k - 1, self.n, target)) if self.k else 0.0

    def low_end(self, tail):
        return float(binomial.exact_low(self.k, self.n, tail))


@pytest.mark.parametrize("tally", [Tally(0, 5), Tally(3, 8), Tally(8, 8), Tally(40, 55)])
def test_the_exact_test_and_its_mirror_are_clopper_pearson(tally):
    expected = stats.clopper_pearson(tally, confidence=0.9)
    ends = order_free.ends(Binomial(tally.successes, tally.trials), 0.1)
    assert ends == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("null", [0.05, 0.3, 0.5, 0.7, 0.95])
@pytest.mark.parametrize("error", [0.01, 0.1, 0.5])
def test_a_null_is_outside_exactly_when_its_p_value_is_at_most_the_error(null, error):
    for test in (Binomial(3, 8), Spread(Binomial(3, 8)), Binomial(0, 6)):
        (low, high), p = order_free.ends_and_p(test, error, null)
        assert (p <= error) == (not low <= null <= high)
        assert p == order_free.all_sides(test, null)[0]


def test_sides_are_the_tails():
    both, above, below = order_free.all_sides(Binomial(3, 8), 0.2)
    assert above == pytest.approx(binom.sf(2, 8, 0.2))
    assert below == pytest.approx(binom.cdf(3, 8, 0.2))
    assert both == pytest.approx(2.0 * above)
    assert order_free.two_sided(Binomial(3, 8), 3 / 8) == 1.0


def test_several_tasks_pay_by_the_worst_case():
    plain, spread = Binomial(7, 8), Spread(Binomial(7, 8))
    p = math.exp(plain.log_p(0.4))
    assert math.exp(spread.log_p(0.4)) == pytest.approx(-math.log1p(-p))
    assert spread.low_end(0.05) == plain.low_end(-math.expm1(-0.05))
    assert spread.low_end(0.05) < plain.low_end(0.05)
    assert spread.log_p(0.99) == 0.0
    assert spread.mirrored.estimate == pytest.approx(1 / 8)


def test_a_test_prints_and_travels():
    test = ScoreTest(0.04, 0.02, 0.99, value=0.5, estimate=0.75, method="mine", trials=12)
    assert str(test) == "0.750 against 0.500, p = 0.0400 (mine, n=12)."
    assert Record.from_dict(test.to_dict()) == test
