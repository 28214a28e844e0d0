"""Tests of `surefoot.stats.one_sided_gains`."""

import itertools
import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import bdtrc

from surefoot import PairTally, Scores, Tally, Verdict, reference, stats
from surefoot.reference import central_gain, central_gains, central_paired_gain, holm_gains, one_sided_bounds, welch
from surefoot.stats import exact_gain, gain_bounds, miettinen_nurminen, paired_gain_bounds, rank_policies, tango
from surefoot.stats.multiplicity import step_down
from surefoot.stats.one_sided_gains import gain_sides, paired_gain_sides
from tests.oracles import coherent
from tests.support.many_policies import hybrid


def test_stepped_p_values_count_each_direction():
    """Holm over six hypotheses, three of them in the observed direction at half the two-sided p-value."""
    pairs = [(Tally(30, 40), Tally(25, 40)), (Tally(38, 40), Tally(20, 40)), (Tally(34, 40), Tally(24, 40))]
    third, least, middle = (reference.central_gain(*pair, confidence=1 - 0.05 / 3).p_value for pair in pairs)
    assert least < middle < third
    for using in (None, reference.central_gain, stats.exact_gain):  # the exact gain gives way to the central one
        found = [gain.p_value for gain in holm_gains(pairs, using)]
        assert found == pytest.approx([min(1.0, 4 * third / 2), 6 * least / 2, 5 * middle / 2], rel=1e-6)
    assert [gain.p_value for gain in holm_gains(pairs, hybrid)] == [None] * 3  # an interval alone has none


@pytest.mark.slow
@pytest.mark.parametrize(("count", "seed"), [(4, 11), (8, 12)])
def test_a_thousand_rankings_of_equal_policies(count, seed):
    rng = np.random.default_rng(seed)
    pairs = count * (count - 1) // 2

    @cache
    def sides(x1, n1, x2, n2):
        return gain_sides(Tally(x1, n1), Tally(x2, n2), confidence=1 - 0.05 / pairs)

    false = 0
    for turn in range(1000):
        rate, sizes = rng.uniform(0.03, 0.97), rng.choice([5, 12, 30], count)
        tallies = sorted(((int(rng.binomial(n, rate)), int(n)) for n in sizes), key=lambda one: -one[0] / one[1])
        verdicts = tuple(
            said.verdict for said in step_down([sides(*a, *b) for a, b in itertools.combinations(tallies, 2)])
        )
        if turn < 10:  # the rest is what a ranking does, without its intervals
            assert rank_policies({str(i): Tally(*one) for i, one in enumerate(tallies)}).verdicts == verdicts
        false += any(one is not Verdict.UNDECIDED for one in verdicts)
    assert bdtrc(false - 1, 1000, 0.05) > 1e-3


@pytest.mark.sample(2)
@pytest.mark.parametrize(("x1", "n1", "x2", "n2"), [(5, 6, 1, 4), (3, 3, 1, 4), (8, 9, 3, 7), (0, 3, 0, 5)])
def test_bounds_agree_with_the_slow_twin(x1, n1, x2, n2):
    lower, upper = gain_bounds(Tally(x1, n1), Tally(x2, n2))
    assert lower.value == pytest.approx(coherent.unpaired_bound(x1, n1, x2, n2, 0.05), abs=2e-5)
    assert upper.value == pytest.approx(-coherent.unpaired_bound(x2, n2, x1, n1, 0.05), abs=2e-5)


tallies = st.integers(1, 25).flatmap(lambda n: st.integers(0, n).map(lambda k: Tally(k, n)))


@given(first=tallies, second=tallies, confidence=st.sampled_from([0.4, 0.9, 0.95, 0.999]))
@settings(max_examples=60)
def test_ends_p_values_and_verdict_agree_and_swap(first, second, confidence):
    gain, error = central_gain(first, second, confidence=confidence), 1 - confidence
    assert gain.interval.low <= gain.estimate <= gain.interval.high
    assert (gain.p_value <= error) == (gain.verdict is not Verdict.UNDECIDED)
    turned = central_gain(second, first, confidence=confidence)
    assert (turned.interval.low, turned.interval.high) == (-gain.interval.high, -gain.interval.low)
    sides = gain_sides(first, second, confidence=confidence, margin=0.2)
    assert sides == gain_sides(second, first, confidence=confidence, margin=0.2).mirrored
    assert sides.not_worse <= sides.better
    for edge, p in ((0.2, sides.better), (-0.2, sides.not_worse)):
        if abs(gain.interval.low - edge) > 1e-6:
            assert (p <= error / 2) == (gain.interval.low > edge)


def test_a_bound_is_an_end_of_the_interval_at_twice_the_error():
    pair, pairs = (Tally(17, 20), Tally(14, 20)), PairTally(20, 12, 2, 16)
    for data, bounds, central, exact in (
        (pair, gain_bounds(*pair), central_gain, exact_gain),
        ((pairs,), paired_gain_bounds(pairs), central_paired_gain, stats.exact_paired_gain),
    ):
        whole = central(*data, confidence=0.9).interval
        assert [bound.side for bound in bounds] == ["lower", "upper"]
        assert [bound.value for bound in bounds] == pytest.approx([whole.low, whole.high], abs=1e-7)
        assert [bound.confidence for bound in bounds] == [0.95, 0.95]
        again = one_sided_bounds(
            exact, *data
        )  # the exact gain may put all its error on one side: the central one is asked
        assert [bound.value for bound in again] == [whole.low, whole.high]
    scores = Scores([0.9, 0.8, 0.7, 1.0]), Scores([0.4, 0.6, 0.5, 0.5])
    plain = welch(*scores, confidence=0.9).interval
    assert [bound.value for bound in one_sided_bounds(welch, *scores)] == [plain.low, plain.high]
    assert one_sided_bounds(miettinen_nurminen, *pair)[0].value == miettinen_nurminen(*pair, confidence=0.9).low


def test_large_tables_are_exact_too_and_close_to_the_score_limits():
    big = Tally(4200, 6000), Tally(4000, 6000)
    gain, plain = central_gain(*big), miettinen_nurminen(*big)
    assert gain.method == "central exact unconditional"
    assert (gain.interval.low, gain.interval.high) == pytest.approx((plain.low, plain.high), abs=2e-4)
    assert 2 * gain_sides(*big).better == gain.p_value
    pairs = PairTally(400, 60, 90, 50)
    paired = central_paired_gain(pairs)
    assert (paired.interval.low, paired.interval.high) == pytest.approx((tango(pairs).low, tango(pairs).high), abs=2e-3)
    assert 2 * paired_gain_sides(pairs).worse == paired.p_value


def test_many_at_once_are_those_one_by_one():
    compared = [
        (Tally(17, 20), Tally(14, 20)),
        (Tally(14, 20), Tally(17, 20)),
        (Tally(3, 9), Tally(30, 41)),
        PairTally(20, 12, 2, 16),
        (Tally(20, 20), Tally(14, 20)),
    ]
    for margin in (0.0, 0.1):
        for one, (gain, sides) in zip(compared, central_gains(compared, confidence=0.99, margin=margin), strict=True):
            data = one if isinstance(one, tuple) else (one,)
            central, apart = (central_paired_gain, paired_gain_sides) if len(data) == 1 else (central_gain, gain_sides)
            alone = central(*data, confidence=0.99, margin=margin)
            assert gain.method == alone.method
            assert gain.p_value == pytest.approx(alone.p_value, rel=1e-5)
            assert (gain.interval.low, gain.interval.high) == pytest.approx(
                (alone.interval.low, alone.interval.high), abs=1e-5
            )
            own = apart(*data, confidence=0.99, margin=margin)
            assert (sides.better, sides.not_worse) == pytest.approx((own.better, own.not_worse), rel=1e-5)


def test_the_share_of_a_family_sets_gamma():
    """A 100,000th of each side's own error; 20/20 v 0/20 has nothing else left."""
    far = Tally(40, 40), Tally(0, 40)
    for error in (0.05, 0.05 / 45):
        assert gain_sides(*far, confidence=1 - error).better == pytest.approx(error / 200_000, rel=0.11)


def test_a_table_that_excludes_nothing_has_no_bound():
    assert central_gain(Tally(0, 4), Tally(4, 4)).interval.low == -1.0
    assert math.isclose(gain_sides(Tally(0, 4), Tally(4, 4)).better, 1.0)
