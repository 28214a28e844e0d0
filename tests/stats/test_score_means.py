"""The order-free interval of the mean of a bounded score, and of the gain on pairs."""

import itertools
import json
import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from surefoot import Interval, Scores, Tally, Verdict, stats
from surefoot.core.record import Record
from surefoot.numerics.rates import binomial
from surefoot.reference import (
    betting_mean,
    paired_score_gain_bound,
    paired_score_test,
    score_mean_lower,
    score_mean_test,
    score_mean_upper,
)
from surefoot.stats import (
    clopper_pearson,
    clopper_pearson_lower,
    clopper_pearson_upper,
    paired_score_gain,
    score_mean,
    score_means,
)
from surefoot.stats.score_means import ScoreTest, Spread
from tests.reference import cases
from tests.support.strategies import confidences, scores


@pytest.mark.parametrize("case", cases("gaffke_one_sample"))
def test_the_reference(case):
    asked, wanted = case
    data = Scores(asked["scores"])
    found, test = score_mean(data, confidence=asked["confidence"]), score_mean_test(data, asked["m"])
    assert (found.low, found.high) == pytest.approx((wanted["low"], wanted["high"]), abs=1e-8)
    assert (test.above, test.below) == pytest.approx((wanted["p_low"], wanted["p_high"]), abs=1e-8)
    assert found.low <= wanted["low"] + 1e-13  # rounded to the safe side
    assert found.high >= wanted["high"] - 1e-13


@pytest.mark.parametrize("trials", [1, 2, 5, 30, 400])
@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95, 0.999])
def test_successes_are_clopper_pearson(trials, confidence):
    for k in sorted({0, 1, trials // 3, trials - 1, trials}):
        data, tally = Scores([1.0] * k + [0.0] * (trials - k)), Tally(k, trials)
        found, wanted = score_mean(data, confidence=confidence), clopper_pearson(tally, confidence=confidence)
        assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=1e-9)
        lower, upper = score_mean_lower(data, confidence=confidence), score_mean_upper(data, confidence=confidence)
        assert lower.value == pytest.approx(clopper_pearson_lower(tally, confidence=confidence).value, abs=1e-9)
        assert upper.value == pytest.approx(clopper_pearson_upper(tally, confidence=confidence).value, abs=1e-9)


def least_coverage(levels, size, steps, confidence):
    """Over a grid of laws on the levels: every multiset, weighted by its chance, exactly."""
    count = len(levels)
    tallies = [t for t in itertools.product(range(size + 1), repeat=count) if sum(t) == size]
    ends, chances = [], []
    for tally in tallies:
        found = score_mean(Scores(np.repeat(levels, tally)), confidence=confidence)
        ends.append((found.low, found.high))
        chances.append(math.factorial(size) / math.prod(math.factorial(t) for t in tally))
    ends, chances, tallies = np.array(ends), np.array(chances), np.array(tallies)
    worst = 1.0
    for law in itertools.product(range(steps + 1), repeat=count - 1):
        if sum(law) > steps:
            continue
        law = np.array([*law, steps - sum(law)]) / steps
        mean = float(law @ levels)
        inside = (ends[:, 0] <= mean + 1e-12) & (mean - 1e-12 <= ends[:, 1])
        worst = min(worst, float((chances * np.prod(law**tallies, axis=1))[inside].sum()))
    return worst


@pytest.mark.parametrize(
    ("levels", "size", "steps"),
    [([0.0, 0.5, 1.0], 6, 40), ([0.0, 0.9, 1.0], 5, 40), ([0.0, 0.25, 0.5, 0.75, 1.0], 3, 10)],
)
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_coverage_counted_over_all_outcomes(levels, size, steps, confidence):
    worst = least_coverage(np.array(levels), size, steps, confidence)
    assert confidence <= worst < 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("levels", "size", "steps"),
    [([0.0, x, 1.0], n, 100) for x in (0.1, 0.5, 0.8) for n in (2, 3, 8, 12)]
    + [([0.0, 0.25, 0.5, 0.75, 1.0], n, 20) for n in (2, 4, 5)],
)
def test_coverage_counted_over_all_outcomes_of_larger_samples(levels, size, steps):
    for confidence in (0.8, 0.95, 0.99):
        assert least_coverage(np.array(levels), size, steps, confidence) >= confidence


def test_several_tasks_pay_for_the_worst_case_known():
    """One success of two fixed rollouts with means 1 and 0 apart is no worry; n alike scores are where it is tight."""
    data = Scores([0.2, 0.9, 0.7, 1.0, 0.4, 0.8])
    plain, spread = score_mean_test(data, 0.3), score_mean_test(data, 0.3, several_tasks=True)
    assert spread.above == pytest.approx(-math.log1p(-plain.above), rel=1e-6)
    error = -math.log1p(-0.025)
    assert score_mean(data, several_tasks=True, confidence=1 - 2 * error).low == pytest.approx(
        score_mean(data).low, abs=1e-9
    )
    assert score_mean(data, several_tasks=True).assumptions != score_mean(data).assumptions
    assert score_mean_lower(data, several_tasks=True).value < score_mean_lower(data).value
    assert score_mean_upper(data, several_tasks=True).value > score_mean_upper(data).value


@settings(max_examples=25)
@given(data=scores(), confidence=confidences, seed=st.integers(0, 99))
def test_laws(data, confidence, seed):
    found = score_mean(data, confidence=confidence)
    shuffled = Scores(np.random.default_rng(seed).permutation(data.values))
    again = score_mean(shuffled, confidence=confidence)
    assert (found.low, found.high, found.estimate) == (again.low, again.high, again.estimate)  # bit for bit
    assert found.estimate in found
    turned = score_mean(Scores([1.0 - x for x in data.values]), confidence=confidence)
    assert (turned.low, turned.high) == pytest.approx((1 - found.high, 1 - found.low), abs=1e-8)
    wider = score_mean(data, confidence=(1.0 + confidence) / 2.0)
    assert wider.low <= found.low + 1e-9
    assert wider.high >= found.high - 1e-9
    scaled = score_mean(Scores([10 * x - 5 for x in data.values], low=-5, high=5), confidence=confidence)
    assert (scaled.low, scaled.high) == pytest.approx((10 * found.low - 5, 10 * found.high - 5), abs=1e-6)


@settings(max_examples=25)
@given(data=scores(), place=st.integers(0, 59), share=st.floats(0, 1))
def test_a_higher_score_never_lowers_an_end(data, place, share):
    values = list(data.values)
    values[place % len(values)] += share * (1.0 - values[place % len(values)])
    low, high = score_mean(data), score_mean(Scores([min(1.0, v) for v in values]))
    assert high.low >= low.low - 1e-9
    assert high.high >= low.high - 1e-9


@settings(max_examples=25)
@given(data=scores(), confidence=confidences, mean=st.floats(0, 1))
def test_the_p_value_agrees_with_the_interval(data, confidence, mean):
    found, test = score_mean(data, confidence=confidence), score_mean_test(data, mean)
    outside = min(abs(mean - found.low), abs(mean - found.high)) > 1e-9
    if outside:
        assert (test.p_value <= 1 - confidence) == (mean not in found)
    lower = score_mean_lower(data, confidence=confidence).value
    if abs(lower - mean) > 1e-9:
        assert (test.above <= 1 - confidence) == (mean < lower)


def test_edges():
    for values in ([0.3], [0.0], [1.0], [0.5] * 40, [0.0] * 40, [1.0] * 40, [0.0, 1.0], [1e-9, 1e-12]):
        found = score_mean(Scores(values))
        assert 0.0 <= found.low <= found.estimate <= found.high <= 1.0
        assert found.width > 0.0
    assert score_mean(Scores([0.0] * 9)).low == 0.0
    assert score_mean(Scores([1.0] * 9)).high == 1.0
    assert score_mean(Scores([0.4])).low == pytest.approx(0.4 * 0.025)
    assert score_mean(Scores([0.1, 0.2, 0.9]), confidence=0.01).width >= 0.0
    many = score_mean(Scores(np.random.default_rng(1).beta(5, 1, 1_000_000)))
    assert many.low < 5 / 6 < many.high
    assert many.width < 0.0006
    tied = score_mean(Scores([0.0, 0.5, 1.0, 1.0] * 250_000))
    assert (tied.low, tied.high) == pytest.approx((0.625 - 0.00082, 0.625 + 0.00082), abs=2e-5)


def test_pairs_are_one_sample_of_gains():
    rng = np.random.default_rng(0)
    first, second = Scores(rng.choice([0, 1, 2, 4], 30), 0, 4), Scores(rng.choice([0, 1, 2], 30), 0, 4)
    gaps = Scores(np.subtract(first.values, second.values), -4, 4)
    found, mean = paired_score_gain(first, second), score_mean(gaps)
    assert (found.interval.low, found.interval.high) == pytest.approx((mean.low, mean.high), abs=1e-12)
    assert found.p_value == pytest.approx(score_mean_test(gaps, 0.0).p_value, rel=1e-9)
    assert found.verdict is Verdict.BETTER
    lower, upper = (paired_score_gain_bound(first, second, side) for side in ("lower", "upper"))
    assert lower.value == pytest.approx(score_mean_lower(gaps).value, abs=1e-12)
    assert upper.value == pytest.approx(score_mean_upper(gaps).value, abs=1e-12)
    test = paired_score_test(first, second, gain=lower.value)
    assert test.above == pytest.approx(0.05, rel=1e-6)
    assert paired_score_gain(first, second, several_tasks=True).interval.width > found.interval.width
    assert paired_score_gain_bound(first, second, several_tasks=True).value < lower.value
    assert paired_score_test(first, second, gain=0.5, several_tasks=True).p_value > (
        paired_score_test(first, second, gain=0.5).p_value
    )
    same = paired_score_gain(first, second, margin=3.5)
    assert same.verdict is Verdict.SAME


@pytest.mark.slow
def test_widths_against_bets_in_random_order():
    """At most 1.03 of the width of 0.1.0's bets in random order in every cell, and at most 1.00 in the median."""
    ratios, errors = [], []
    for law, size in itertools.product(LAWS.values(), (10, 20, 50, 100, 200, 1000)):
        rng = np.random.default_rng(size)
        draws = [Scores(law(rng, size)) for _ in range(300 if size < 1000 else 40)]
        ours, bets = (np.array([interval(z).width for z in draws]) for interval in (score_mean, betting_mean))
        ratios.append(ours.mean() / bets.mean())
        errors.append(np.std(ours - ratios[-1] * bets) / bets.mean() / math.sqrt(len(draws)))
    assert max(np.array(ratios) - 2 * np.array(errors)) <= 1.03
    assert np.median(ratios) <= 1.0


LAWS = {
    "beta(5,1)": lambda rng, n: rng.beta(5, 1, n),
    "beta(2,2)": lambda rng, n: rng.beta(2, 2, n),
    "uniform": lambda rng, n: rng.random(n),
    "five levels": lambda rng, n: rng.choice([0, 0.25, 0.5, 0.75, 1], n, p=[0.1, 0.15, 0.25, 0.3, 0.2]),
    "rate .5": lambda rng, n: (rng.random(n) < 0.5).astype(float),
    "rate .9": lambda rng, n: (rng.random(n) < 0.9).astype(float),
}


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: score_mean([0.5]), TypeError, "`scores` must be a Scores; got a list"),
        (lambda: score_mean(Scores([0.5]), confidence=95), ValueError, "`confidence` must be strictly between 0 and 1"),
        (lambda: score_mean_test(Scores([0.5]), 1.5), ValueError, r"`mean` must lie in the range \[0, 1\]; got 1.5"),
        (lambda: paired_score_gain(Scores([1, 0]), Scores([1])), ValueError, "A score without its partner is no pair"),
        (lambda: paired_score_gain(Scores([1]), Scores([1], 0, 2)), ValueError, "Scores on two scales have no gain"),
        (lambda: paired_score_test(Scores([1]), Scores([0]), gain=2), ValueError, "`gain` must lie between -1 and 1"),
        (lambda: paired_score_gain_bound(Scores([1]), Scores([0]), "both"), ValueError, "`side` must be one of"),
        (lambda: paired_score_gain(Scores([1]), Scores([0]), margin=1), ValueError, "`margin` must be below 1"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_results_travel():
    found = score_mean(Scores([0.2, 0.9, 0.8]))
    assert Interval.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    test = score_mean_test(Scores([0.2, 0.9, 0.8]), 0.5)
    assert ScoreTest.from_dict(json.loads(json.dumps(test.to_dict()))) == test
    assert (found.scale, found.trials, found.method) == ("score", 3, "Gaffke")
    assert str(test) == "0.633 against 0.500, p = 1.000 (Gaffke, n=3)."


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
    ends = score_means.ends(Binomial(tally.successes, tally.trials), 0.1)
    assert ends == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("null", [0.05, 0.3, 0.5, 0.7, 0.95])
@pytest.mark.parametrize("error", [0.01, 0.1, 0.5])
def test_a_null_is_outside_exactly_when_its_p_value_is_at_most_the_error(null, error):
    for test in (Binomial(3, 8), Spread(Binomial(3, 8)), Binomial(0, 6)):
        (low, high), p = score_means.ends_and_p(test, error, null)
        assert (p <= error) == (not low <= null <= high)
        assert p == score_means.all_sides(test, null)[0]


def test_sides_are_the_tails():
    both, above, below = score_means.all_sides(Binomial(3, 8), 0.2)
    assert above == pytest.approx(binom.sf(2, 8, 0.2))
    assert below == pytest.approx(binom.cdf(3, 8, 0.2))
    assert both == pytest.approx(2.0 * above)
    assert score_means.two_sided(Binomial(3, 8), 3 / 8) == 1.0


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
