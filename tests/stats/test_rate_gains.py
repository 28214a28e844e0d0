"""Tests of `surefoot.stats.rate_gains`."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import PairTally, Scores, Tally, Verdict, reference, stats
from surefoot.core.record import Record
from surefoot.stats import exact_gain, exact_paired_gain, miettinen_nurminen, paired_score_gain, tango
from tests.oracles import coherent
from tests.reference import cases
from tests.support.strategies import pair_tallies, tallies
from tests.support.two_rates import published, tallies_of


@pytest.mark.parametrize("name", ["newcombe", "miettinen_nurminen", "agresti_caffo"])
def test_difference_intervals_match_the_reference(name):
    for asked, wanted in cases("diff_two_proportions"):
        found = published(name)(*tallies_of(asked), confidence=asked["conf"])
        assert (found.low, found.high) == pytest.approx(wanted[name], abs=1e-9)
        if wanted[name][0] <= wanted["diff"] <= wanted[name][1]:  # else it is that of a success and a failure more
            assert found.estimate == pytest.approx(wanted["diff"], abs=1e-12)
        assert found.low <= found.estimate <= found.high
        assert found.scale == "gain"


@pytest.mark.parametrize("name", ["tango", "newcombe_paired"])
def test_paired_intervals_match_the_reference(name):
    for asked, wanted in cases("paired_difference"):
        pairs = PairTally(asked["both"], asked["A_only"], asked["B_only"], asked["neither"])
        found = published(name)(pairs, confidence=asked["conf"])
        assert (found.low, found.high) == pytest.approx(wanted[name], abs=1e-9)


@settings(max_examples=40)
@given(tallies(most=40), tallies(most=40))
def test_swapping_the_policies_mirrors_the_intervals(first, second):
    for method in (stats.newcombe, stats.miettinen_nurminen, reference.agresti_caffo):
        one, other = method(first, second), method(second, first)
        assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-12)


def test_large_counts_stay_finite():
    pairs = PairTally(10**6, 10**5, 99_000, 10**6)
    assert stats.mcnemar(pairs).p_value == pytest.approx(reference.mcnemar_chi2(pairs).p_value, rel=0.02)
    first, second = Tally(700_000, 10**6), Tally(699_000, 10**6)
    assert stats.newcombe(first, second).low == pytest.approx(stats.miettinen_nurminen(first, second).low, abs=1e-7)
    assert stats.fisher(Tally(70, 100), Tally(650, 10_000)).p_value < 1e-30


def test_confidence_matters_and_is_checked():
    for method in (stats.newcombe, stats.miettinen_nurminen, reference.agresti_caffo, reference.disjoint_bounds):
        with pytest.raises(ValueError, match=r"Write 0\.95 for 95%"):
            method(Tally(1, 2), Tally(1, 2), confidence=95)
        assert method(Tally(4, 9), Tally(2, 9), confidence=0.8) != method(Tally(4, 9), Tally(2, 9))


@pytest.mark.parametrize(
    "method",
    [
        *("exact_gain", "newcombe", "miettinen_nurminen", "agresti_caffo", "fisher", "barnard", "boschloo"),
        *("pooled_score", "miettinen_nurminen_score", "disjoint_bounds"),
    ],
)
def test_what_is_no_tally_is_refused_with_what_to_write(method):
    with pytest.raises(TypeError, match=r"`first` must be a Tally; got a tuple\. Write Tally\(38, 50\)"):
        published(method)((17, 20), (8, 20))


def coherent_with_itself(gain, error=0.05):
    excluded = gain.interval.low > 0.0 or gain.interval.high < 0.0
    assert (gain.verdict is not Verdict.UNDECIDED) == excluded
    assert (gain.p_value <= error) == excluded
    assert -1.0 <= gain.interval.low <= gain.estimate <= gain.interval.high <= 1.0
    assert 0.0 <= gain.p_value <= 1.0


def all_tallies(most):
    return [Tally(k, n) for n in range(1, most + 1) for k in range(n + 1)]


def all_pairs(n):
    return [PairTally(n - b - c, b, c, 0) for b in range(n + 1) for c in range(n + 1 - b)]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("x1", "n1", "x2", "n2"), [(5, 6, 1, 4), (3, 3, 1, 4), (0, 3, 0, 5)])
def test_interval_and_p_agree_with_the_slow_twin(x1, n1, x2, n2):
    gain = exact_gain(Tally(x1, n1), Tally(x2, n2))
    low, high = coherent.unpaired_interval(x1, n1, x2, n2)
    # our ends are proved outer ones; the twin's grid can only miss outward
    assert low - 2e-5 < gain.interval.low <= low + 1e-7
    assert high - 1e-7 <= gain.interval.high < high + 2e-5
    twin = coherent.unpaired_printed_p(x1, n1, x2, n2, step=0.05)
    assert twin <= gain.p_value * (1 + 1e-9)
    assert gain.p_value == pytest.approx(twin, rel=2e-3)


@pytest.mark.sample(2)
@pytest.mark.parametrize(("b", "c", "n"), [(4, 0, 6), (0, 0, 4), (1, 0, 1), (4, 3, 9)])
def test_paired_interval_and_p_agree_with_the_slow_twin(b, c, n):
    gain = exact_paired_gain(PairTally(n - b - c, b, c, 0))
    low, high = coherent.paired_interval(b, c, n)
    assert low - 2e-5 < gain.interval.low <= low + 1e-7
    assert high - 1e-7 <= gain.interval.high < high + 2e-5
    twin = coherent.paired_printed_p(b, c, n, step=0.05)
    assert twin <= gain.p_value * (1 + 1e-9)
    assert gain.p_value == pytest.approx(twin, rel=2e-3)


def test_a_disconnected_accepted_set_is_covered_by_its_hull():
    # methods.md section 5: at 10/17 v 0/4 the test of no gain alone rejects, but gains below 0 are accepted
    at_zero = coherent.unpaired_p(10, 17, 0, 4, 0.0)
    gain = exact_gain(Tally(10, 17), Tally(0, 4))
    assert at_zero < 0.05 < gain.p_value
    assert gain.interval.low < 0.0
    assert gain.verdict is Verdict.UNDECIDED


def test_coherence_of_every_small_pair_of_tallies():
    for first, second in itertools.product(all_tallies(3), repeat=2):
        coherent_with_itself(exact_gain(first, second))


def test_coherence_of_some_pairs_of_tallies_to_20():
    for first, second in random.Random(3).sample(list(itertools.product(all_tallies(20), repeat=2)), 25):
        coherent_with_itself(exact_gain(first, second))


@pytest.mark.slow
def test_coherence_of_every_pair_of_tallies_to_20():
    for first, second in itertools.product(all_tallies(20), repeat=2):
        if first.rate >= second.rate:  # the others are their mirror images, and mirrored exactly
            coherent_with_itself(exact_gain(first, second))


@pytest.mark.slow
def test_coherence_of_a_thousand_larger_tallies():
    rng = np.random.default_rng(4)
    for _ in range(1000):
        n1, n2 = (int(n) for n in rng.integers(21, 300, 2))
        rate = rng.uniform()
        gap = rng.uniform(0, 4) * math.sqrt(rate * (1 - rate) * (1 / n1 + 1 / n2))
        x1, x2 = rng.binomial(n1, min(1.0, rate + gap)), rng.binomial(n2, rate)
        coherent_with_itself(exact_gain(Tally(int(x1), n1), Tally(int(x2), n2)))


def test_coherence_of_larger_tallies_near_the_edge():
    for first, second in [
        ((70, 100), (57, 100)),
        ((36, 40), (91, 120)),
        ((21, 150), (30, 120)),
        ((280, 400), (251, 400)),
    ]:
        coherent_with_itself(exact_gain(Tally(*first), Tally(*second)))


@pytest.mark.parametrize("n", [1, 2, 5])
def test_coherence_of_every_small_table_of_pairs(n):
    for pairs in all_pairs(n):
        coherent_with_itself(exact_paired_gain(pairs))


@pytest.mark.slow
@pytest.mark.parametrize("n", range(3, 21))
def test_coherence_of_every_table_of_pairs_to_20(n):
    for pairs in all_pairs(n):
        coherent_with_itself(exact_paired_gain(pairs))


@settings(max_examples=12)
@given(tallies(most=25), tallies(most=25), st.sampled_from([0.8, 0.95, 0.99]))
def test_swapping_the_policies_mirrors_the_gain(first, second, confidence):
    gain, turned = (exact_gain(a, b, confidence=confidence) for a, b in ((first, second), (second, first)))
    assert (turned.interval.low, turned.interval.high) == (-gain.interval.high, -gain.interval.low)
    assert turned.p_value == gain.p_value
    assert turned.verdict is gain.verdict.mirrored


@settings(max_examples=8)
@given(tallies(most=20), tallies(most=20))
def test_counting_failures_instead_mirrors_the_gain(first, second):
    gain = exact_gain(first, second)
    failed = exact_gain(*(Tally(tally.failures, tally.trials) for tally in (first, second)))
    assert failed.interval.low == pytest.approx(-gain.interval.high, abs=5e-6)
    assert failed.p_value == pytest.approx(gain.p_value, rel=1e-4)


@settings(max_examples=10)
@given(pair_tallies(most=25))
def test_swapping_the_policies_mirrors_the_paired_gain(pairs):
    gain = exact_paired_gain(pairs)
    turned = exact_paired_gain(PairTally(pairs.both, pairs.second_only, pairs.first_only, pairs.neither))
    assert (turned.interval.low, turned.interval.high) == (-gain.interval.high, -gain.interval.low)
    assert turned.verdict is gain.verdict.mirrored


@settings(max_examples=8)
@given(tallies(most=20), tallies(most=20))
def test_more_confidence_is_wider(first, second):
    narrow, wide = (exact_gain(first, second, confidence=level).interval for level in (0.8, 0.95))
    assert wide.low <= narrow.low + 1e-6
    assert narrow.high <= wide.high + 1e-6


@pytest.mark.parametrize(
    ("first", "second"),
    [((0, 10), (0, 7)), ((10, 10), (7, 7)), ((1, 1), (1, 1)), ((5, 10), (5, 10)), ((0, 1), (0, 900))],
)
def test_equal_rates_have_p_1(first, second):
    gain = exact_gain(Tally(*first), Tally(*second))
    assert gain.p_value == 1.0
    assert gain.verdict is Verdict.UNDECIDED
    assert gain.interval.low < 0.0 < gain.interval.high


@pytest.mark.parametrize(
    "pairs", [PairTally(0, 0, 0, 1), PairTally(54, 0, 0, 0), PairTally(3, 4, 4, 2), PairTally(0, 1, 0, 0)]
)
def test_pairs_without_a_winner_or_only_one_have_p_1(pairs):
    assert exact_paired_gain(pairs).p_value == 1.0


def test_extreme_tables_reach_the_end_of_the_range():
    gain = exact_gain(Tally(20, 20), Tally(0, 20))
    assert gain.interval.high == 1.0
    assert 5e-7 < gain.p_value < 5.6e-7  # gamma: printed as p < 0.0001
    assert exact_paired_gain(PairTally(0, 20, 0, 0)).interval.high == 1.0


def test_the_margin_moves_the_verdict_and_not_the_interval():
    first, second = Tally(90, 100), Tally(60, 100)
    plain, strict, wide = (exact_gain(first, second, margin=margin) for margin in (0.0, 0.15, 0.25))
    assert plain.interval == strict.interval == wide.interval
    assert [gain.verdict for gain in (plain, strict, wide)] == [Verdict.BETTER, Verdict.BETTER, Verdict.UNDECIDED]
    same = exact_gain(Tally(70, 100), Tally(70, 100), margin=0.2)
    assert same.verdict is Verdict.SAME
    assert same.not_worse


def test_one_rate_in_a_corner_lifts_no_p_value():
    """T40: 112/200 v 106/200 printed p = 1.000, from rates of a few thousandths that no such data have."""
    gain = exact_gain(Tally(112, 200), Tally(106, 200))
    assert str(gain) == "+3.0 points [-6.9, +12.8] n=400 (95% exact unconditional interval), p = 0.575: cannot tell."
    assert gain.p_value == pytest.approx(0.5744, abs=1e-4)
    assert (gain.interval.low, gain.interval.high) == pytest.approx((-0.0681, 0.1278), abs=1e-4)


def test_no_size_takes_another_method():
    """T26: 25/995 v 1/5 gave p = .086 and 25/1000 v 1/5 gave p = .014."""
    below, above = (exact_gain(Tally(25, n), Tally(1, 5)) for n in (995, 1000))
    assert (below.p_value, above.p_value) == pytest.approx((0.0864, 0.0860), abs=1e-4)
    assert (above.interval.low, above.interval.high) == pytest.approx((-0.620, 0.009), abs=1e-3)
    assert below.method == above.method == "exact unconditional"
    assert not above.notes
    pairs = exact_paired_gain(PairTally(200, 60, 50, 290))
    assert pairs.method == "exact unconditional paired"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((700_000, 1_000_000), (699_000, 1_000_000)),
        ((3_000_000, 10_000_000), (9, 20)),
        ((5100, 10_000), (5000, 10_000)),
    ],
)
def test_large_tallies_agree_with_themselves_and_are_close_to_the_score_interval(first, second):
    gain, near = exact_gain(Tally(*first), Tally(*second)), miettinen_nurminen(Tally(*first), Tally(*second))
    coherent_with_itself(gain)
    assert (gain.interval.low, gain.interval.high) == pytest.approx((near.low, near.high), abs=0.15 * near.width)


def test_many_pairs_agree_with_themselves_and_are_close_to_tango():
    pairs = PairTally(400_000, 10_500, 10_000, 579_500)
    gain, near = exact_paired_gain(pairs), tango(pairs)
    coherent_with_itself(gain)
    assert (gain.interval.low, gain.interval.high) == pytest.approx((near.low, near.high), abs=2e-6)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95, float("nan")])
def test_confidence_is_checked(confidence):
    with pytest.raises(ValueError, match="`confidence` must be strictly between 0 and 1"):
        exact_gain(Tally(1, 2), Tally(1, 2), confidence=confidence)


def test_margin_is_checked():
    with pytest.raises(ValueError, match="`margin` must be 0 or more"):
        exact_gain(Tally(1, 2), Tally(1, 2), margin=-0.1)
    with pytest.raises(ValueError, match="`margin` must be 0 or more"):
        exact_paired_gain(PairTally(1, 1, 1, 1), margin=-0.1)


PAIRS = PairTally(20, 12, 2, 16)


def test_a_gain_knows_what_it_compared():
    one, other = Tally(17, 20), Tally(14, 20)
    assert (exact_gain(one, other).tallies, exact_gain(one, other).paired) == ((one, other), False)
    paired = exact_paired_gain(PAIRS)
    assert (paired.tallies, paired.paired) == ((PAIRS.first, PAIRS.second), True)
    assert paired.mirrored.tallies == (PAIRS.second, PAIRS.first)
    scores = paired_score_gain(Scores([0.5, 0.7]), Scores([0.1, 0.2]))
    assert (scores.tallies, scores.paired) == ((), False)


def test_a_gain_says_nothing_twice():
    made = exact_gain(Tally(17, 20), Tally(14, 20))
    assert set(made.to_dict()) == {"type", "schema", "interval", "p_value", "verdict", "margin"}
    for name in ("method", "assumptions", "notes", "data", "estimate", "confidence", "seed"):
        assert getattr(made, name) == getattr(made.interval, name)


def test_a_gain_that_an_earlier_version_wrote_is_read():
    made = exact_gain(Tally(17, 20), Tally(14, 20), margin=0.1)
    now = made.to_dict()
    then = {**now, **{name: now["interval"][name] for name in ("method", "assumptions", "notes", "data")}}
    assert Record.from_dict(then) == made
    lacking = {name: value for name, value in then.items() if name != "interval"}
    with pytest.raises(ValueError, match="the fields of Gain only; got"):
        Record.from_dict(lacking)
