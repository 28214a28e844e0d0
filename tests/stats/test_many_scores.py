"""Very many scores: only their moments are kept, and nothing is lost by it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from surefoot import Moments, Scores, Verdict, stats

UNIT = st.lists(st.floats(0.0, 1.0, allow_subnormal=False), min_size=3, max_size=60)


def moments(values, low=0.0, high=1.0) -> Moments:
    return Moments.of_sums(len(values), float(np.sum(values)), float(np.sum(np.square(values))), low, high)


@settings(max_examples=60)
@given(UNIT, st.sampled_from([0.5, 0.9, 0.99]))
def test_the_mean_from_moments_is_empirical_bernsteins(values, confidence):
    one = stats.moments_mean(moments(values), confidence=confidence)
    other = stats.empirical_bernstein(Scores(values), confidence=confidence)
    assert one.low == pytest.approx(other.low, abs=2e-6)
    assert one.high == pytest.approx(other.high, abs=2e-6)
    assert one.method == other.method
    assert one.assumptions == other.assumptions


def test_the_range_scales_the_interval():
    rng = np.random.default_rng(3)
    values = rng.random(200)
    unit = stats.moments_mean(moments(values))
    wide = stats.moments_mean(moments(100 * values - 50, -50.0, 50.0))
    assert wide.low == pytest.approx(100 * unit.low - 50)
    assert wide.high == pytest.approx(100 * unit.high - 50)
    assert stats.moments_mean(Moments(1, 0.5, 0.0)).width == 1.0


@pytest.mark.parametrize("margin", [0.0, 0.2])
def test_the_gain_from_moments_is_welchs(margin):
    rng = np.random.default_rng(4)
    first, second = rng.beta(3, 2, 90), rng.beta(2, 2, 70)
    one = stats.moments_gain(moments(first), moments(second), margin=margin)
    other = stats.welch(Scores(first), Scores(second), margin=margin)
    for end in ("low", "high", "estimate"):
        assert getattr(one.interval, end) == pytest.approx(getattr(other.interval, end))
    assert one.p_value == pytest.approx(other.p_value)
    assert one.verdict is other.verdict
    swapped = stats.moments_gain(moments(second), moments(first), margin=margin)
    assert swapped.verdict is one.verdict.mirrored
    assert swapped.interval.low == pytest.approx(-one.interval.high)


def test_the_paired_gain_from_moments_is_students():
    rng = np.random.default_rng(5)
    first = rng.random(80)
    second = np.clip(first - 0.03 + rng.normal(0, 0.05, 80), 0, 1)
    one = stats.moments_paired_gain(moments(first - second, -1.0, 1.0), confidence=0.9)
    by_itself = scipy_stats.ttest_rel(first, second)
    assert one.interval.low == pytest.approx(by_itself.confidence_interval(0.9).low, abs=1e-9)
    assert one.p_value == pytest.approx(by_itself.pvalue, rel=1e-6)
    assert one.verdict is Verdict.BETTER


def test_two_scores_show_a_spread():
    """Student's t with one degree of freedom: its 97.5% point is tan(0.475 pi)."""
    found = stats.moments_paired_gain(Moments(2, 0.1, 0.002, -1.0, 1.0))
    half = math.tan(0.475 * math.pi) * math.sqrt(0.002 / 2)
    assert (found.interval.low, found.interval.high) == pytest.approx((0.1 - half, 0.1 + half), rel=1e-9)


def test_a_gain_from_moments_is_no_larger_than_scores_can_differ_by():
    gain = stats.moments_gain(Moments(3, 0.95, 0.05), Moments(3, 0.05, 0.05)).interval
    assert (gain.low > 0.0, gain.high) == (True, 1.0)
    paired = stats.moments_paired_gain(Moments(3, -0.95, 0.1, -1.0, 1.0)).interval
    assert (paired.low, paired.high < 0.0) == (-1.0, True)


def test_a_variance_whose_square_is_too_small_for_a_number_still_has_its_freedom():
    assert (
        stats.moments_gain(Moments(10, 0.5, 1e-170), Moments(10, 0.4, 1e-170))
        .notes[0]
        .endswith("on 18 degrees of freedom.")
    )


def test_what_shows_no_spread_is_refused_or_left_to_betting():
    assert moments([0.1] * 1000).variance == 0.0
    with pytest.raises(ValueError, match="must vary"):
        stats.moments_gain(moments([0.1] * 9), moments([0.2] * 9))
    with pytest.raises(ValueError, match="at least 2 scores"):
        stats.moments_paired_gain(Moments(1, 0.0, 0.0, -1.0, 1.0))
    with pytest.raises(ValueError, match="`differences` must vary"):
        stats.moments_paired_gain(Moments(9, 0.1, 0.0, -1.0, 1.0))
    with pytest.raises(ValueError, match="`margin` must be below 1, the largest gain there can be"):
        stats.moments_paired_gain(Moments(9, 0.1, 0.1, -1.0, 1.0), margin=1.0)
    with pytest.raises(TypeError, match="`second` must be a Moments; got a Scores"):
        stats.moments_gain(Moments(9, 0.5, 0.1), Scores([0.5]))
    with pytest.raises(ValueError, match="must have the range"):
        stats.moments_gain(Moments(9, 0.5, 0.1), Moments(9, 0.5, 0.1, 0.0, 2.0))


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ((0, 0.5, 0.1), "`trials` must be"),
        ((5, 1.5, 0.1), "must lie in the stated range"),
        ((5, 0.5, -0.1), "`variance` must be between 0 and 0.3125"),
        ((5, 0.5, 0.1, 1.0, 0.0), "`low` must be below `high`"),
    ],
)
def test_nonsense_moments_are_refused(arguments, match):
    with pytest.raises(ValueError, match=match):
        Moments(*arguments)
