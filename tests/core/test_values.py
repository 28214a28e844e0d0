"""The values that results are made of: tallies, scores, intervals, gains, verdicts.

Tests of `surefoot.core.bands`, `surefoot.core.interval`, `surefoot.core.gain`, `surefoot.core.scores`,
`surefoot.core.sample`, `surefoot.core.tally`, `surefoot.core.verdict`.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from surefoot import Band, Bound, Gain, Interval, Moments, PairTally, Scores, Tally, Verdict
from surefoot.core.interval import Certified
from surefoot.core.record import Record
from surefoot.stats import exact_gain, exact_paired_gain

# --- Bands


def band(**changes):
    """Two scores, with 0.3 of the probability left open on either side."""
    parts = {
        "scores": Scores([0.6, 0.2]),
        "points": (0.2, 0.6),
        "uppers": (0.3, 0.8, 1.0),
        "lowers": (0.0, 0.2, 0.7),
        "offset": 0.3,
        "confidence": 0.9,
        "method": "made by hand",
    }
    return Band(**{**parts, **changes})


def test_distribution_functions_step_at_the_scores():
    one = band()
    assert [one.upper_cdf(x) for x in (-0.1, 0.0, 0.2, 0.5, 0.6, 1.0)] == [0.0, 0.3, 0.8, 0.8, 1.0, 1.0]
    assert [one.lower_cdf(x) for x in (-0.1, 0.0, 0.2, 0.5, 0.6, 1.0)] == [0.0, 0.0, 0.2, 0.2, 0.7, 1.0]
    assert [one.observed_cdf(x) for x in (0.0, 0.2, 0.6)] == [0.0, 0.5, 1.0]
    assert one.chance_at_least(0.6) == pytest.approx(0.2)
    assert one.chance_ceiling(0.6) == pytest.approx(0.8)


def test_means_quantiles_and_tails_by_hand():
    one = band()
    assert one.mean_bound() == pytest.approx(0.3 * 0.0 + 0.5 * 0.2 + 0.2 * 0.6)
    assert one.mean_ceiling() == pytest.approx(0.2 * 0.2 + 0.5 * 0.6 + 0.3 * 1.0)
    assert (one.quantile_bound(0.5), one.observed_quantile(0.5), one.quantile_ceiling(0.5)) == (0.2, 0.2, 0.6)
    assert one.cvar_bound(0.5) == pytest.approx((0.3 * 0.0 + 0.2 * 0.2) / 0.5)
    assert one.cvar_ceiling(0.5) == pytest.approx((0.2 * 0.2 + 0.3 * 0.6) / 0.5)
    assert one.observed_cvar(0.75) == pytest.approx((0.5 * 0.2 + 0.25 * 0.6) / 0.75)


def test_a_side_that_is_not_claimed_answers_with_the_end_of_the_range():
    assert band(lowers=()).mean_ceiling() == 1.0
    assert band(uppers=()).mean_bound() == 0.0
    assert not band(uppers=()).claims_worst
    assert "at most" not in str(band(lowers=()))


def test_refusals():
    with pytest.raises(ValueError, match="`uppers` must be given, or `lowers`"):
        band(uppers=(), lowers=())
    with pytest.raises(ValueError, match="`uppers` must hold 3 heights"):
        band(uppers=(0.5, 1.0))
    with pytest.raises(ValueError, match="tau"):
        band().quantile_bound(1.5)


# --- Certified


def test_the_value_is_the_middle_and_shown_ends_are_on_the_safe_side():
    found = Certified(0.123456784, 0.123456786, at=0.5, what="The largest excess")
    assert found.value == pytest.approx(0.123456785)
    assert str(found) == "The largest excess is between 0.12345678 and 0.12345679 (attained near 0.5)."
    assert str(Certified(0.0, 1.0, at=0.25)).startswith("between 0.0")


def test_ends_in_the_wrong_order_are_refused():
    with pytest.raises(ValueError, match="`low` must be at most `high`"):
        Certified(0.2, 0.1, at=0.5)


def test_it_travels():
    found = Certified(0.1, 0.2, at=0.3)
    assert Record.from_dict(found.to_dict()) == found


# --- Gain


def test_a_gain_cannot_contradict_its_interval() -> None:
    interval = Interval(0.1, 0.3, 0.2, 0.95, "none", scale="gain")
    assert Gain(interval, None, Verdict.UNDECIDED).mirrored.verdict is Verdict.UNDECIDED
    for margin, verdict in ((0.0, Verdict.WORSE), (0.2, Verdict.BETTER), (0.05, Verdict.SAME)):
        with pytest.raises(ValueError, match=r"`verdict` must be '\w+', which the"):
            Gain(interval, None, verdict, margin=margin)


def test_a_mirrored_gain_is_the_gain_of_the_others() -> None:
    pairs = PairTally(both=5, first_only=8, second_only=1, neither=6)
    swapped = PairTally(both=5, first_only=1, second_only=8, neither=6)
    assert exact_paired_gain(pairs).mirrored == exact_paired_gain(swapped)
    assert exact_gain(Tally(17, 20), Tally(8, 20)).mirrored == exact_gain(Tally(8, 20), Tally(17, 20))


# --- Interval


def test_intervals_and_bounds_refuse_impossible_ends() -> None:
    with pytest.raises(ValueError, match="`low` must be at most `high`"):
        Interval(low=0.6, high=0.4, estimate=0.5, confidence=0.95, method="none")
    with pytest.raises(ValueError, match="`low` must be at most `high`; got nan"):
        Interval(low=math.nan, high=0.4, estimate=0.5, confidence=0.95, method="none")
    with pytest.raises(ValueError, match="`side` must be 'lower' or 'upper'; got"):
        Bound(side="larger", value=0.5, estimate=0.5, confidence=0.95, method="none")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`value` must be a number; got NaN"):
        Bound(side="lower", value=math.nan, estimate=0.5, confidence=0.95, method="none")
    with pytest.raises(ValueError, match="`low` must be at most `high`"):
        Certified(low=0.2, high=0.1, at=0.5)


def test_an_interval_knows_its_width_and_what_it_holds() -> None:
    interval = Interval(low=0.25, high=0.75, estimate=0.5, confidence=0.95, method="none")
    assert interval.width == 0.5
    assert 0.25 in interval
    assert 0.8 not in interval
    assert Certified(0.1, 0.3, 0.5).value == pytest.approx(0.2)


@pytest.mark.parametrize("estimate", [0.1, 0.7, math.nan])
def test_no_interval_leaves_out_its_estimate(estimate):
    with pytest.raises(ValueError, match=r"`estimate` must lie between `low` and"):
        Interval(0.2, 0.6, estimate, 0.95, "made up")
    assert Interval(0.2, 0.6, 0.2 - 1e-12, 0.95, "made up").low == 0.2  # rounding alone is no matter


# --- Moments


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((0, 0.0, 0.0), ValueError, "`trials` must be at least 1; got 0"),
        ((4, 8.0, 16.0), ValueError, r"`mean` must lie in the stated range \[0, 1\]; got 2"),
        ((4, 2.0, 9.0), ValueError, "`variance` must be between 0 and 0.333333, the largest around this mean"),
        ((4, 2.0, 1.5, 0.0, math.inf), ValueError, "`high` must be finite"),
    ],
)
def test_moments_refuse_sums_that_no_scores_have(arguments: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Moments.of_sums(*arguments)


def test_moments_do_not_lose_a_spread_to_rounding() -> None:
    # Half at each end of a range so far from 0 that the sums cannot tell them apart: as wide as it can be, never 0.
    low, high = 1e6, 1e6 + 1
    moments = Moments.of_sums(1000, 500 * (low + high), 500 * (low * low + high * high), low, high)
    assert moments.variance == pytest.approx(0.25, rel=0.01)
    assert Moments.of_sums(1000, 100.0, 1000 * 0.1**2).variance == 0.0
    assert Moments.of_sums(3, 3 * (1 + 1e-12), 3.0).mean == 1.0  # rounding alone is forgiven


# --- Sample


PAIRS = PairTally(20, 12, 2, 16)


@pytest.mark.parametrize(
    ("sample", "limits", "tallies", "paired"),
    [
        (Tally(38, 50), (0.0, 1.0), (Tally(38, 50),), False),
        (PAIRS, (0.0, 1.0), (PAIRS.first, PAIRS.second), True),
        (Scores([1, 4], 0, 5), (0.0, 5.0), (), False),
        (Moments(4, 2.0, 1.0, -1.0, 3.0), (-1.0, 3.0), (), False),
    ],
)
def test_every_kind_answers_the_same_questions(sample, limits, tallies, paired):
    assert (sample.limits, sample.tallies, sample.paired) == (limits, tallies, paired)
    assert sample.mirrored == (PairTally(20, 2, 12, 16) if paired else sample)


# --- Scores


@pytest.mark.parametrize(
    ("values", "span", "error", "text"),
    [
        ([], (0, 1), ValueError, "`values` must hold at least one score; got none"),
        ([0.5, 1.2], (0, 1), ValueError, r"stated range \[0, 1\]; score 2 is 1.2"),
        ([0.5, math.nan], (0, 1), ValueError, "score 2 is nan"),
        ([math.nan, 0.5], (0, 1), ValueError, "score 1 is nan"),
        ([0.5, -0.25], (0, 1), ValueError, "score 2 is -0.25"),
        ([0.5], (1, 0), ValueError, "`low` must be below `high`"),
        ([0.5], (-1e308, 1e308), ValueError, "`high` must be finitely far from `low`"),
        ([0.5], (0, math.inf), ValueError, "`high` must be finite"),
        ("0.5", (0, 1), TypeError, "`values` must be a list of numbers; got '0.5'"),
        (0.5, (0, 1), TypeError, "`values` must be a list of numbers; got 0.5"),
        (["a"], (0, 1), TypeError, r"`values\[0\]` must be a number"),
    ],
)
def test_scores_refuse_nonsense(values: Any, span: tuple[Any, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Scores(values, low=span[0], high=span[1])


# --- Tally


@pytest.mark.parametrize(
    ("successes", "trials", "error", "text"),
    [
        (12, 10, ValueError, "`successes` must be at most `trials`; got 12 successes in 10 trials"),
        (-1, 5, ValueError, "`successes` must be at least 0; got -1"),
        (1, -5, ValueError, "`trials` must be at least 0; got -5"),
        (2.5, 10, TypeError, "`successes` must be a whole number; got 2.5"),
        (5.0, 10, TypeError, "`successes` must be a whole number; got 5.0"),
        (True, 3, TypeError, "`successes` must be a whole number; got True"),
        (0, 0, ValueError, "`trials` must be at least 1; got 0. Without a rollout there is no rate"),
        (math.nan, 10, TypeError, "`successes` must be a whole number; got nan"),
        ("3", 10, TypeError, "`successes` must be a whole number; got '3'"),
        (3, None, TypeError, "`trials` must be a whole number; got None"),
    ],
)
def test_a_tally_refuses_nonsense(successes: Any, trials: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Tally(successes, trials)


def test_numpy_whole_numbers_become_plain_ones() -> None:
    import numpy as np

    tally = Tally(np.int64(3), np.int32(10))
    assert type(tally.successes) is int
    assert type(tally.trials) is int
    assert tally == Tally(3, 10)


def test_pair_tally() -> None:
    pairs = PairTally(both=20, first_only=12, second_only=2, neither=16)
    assert (pairs.first, pairs.second, pairs.gain) == (Tally(32, 50), Tally(22, 50), 0.2)
    assert str(pairs) == "50 pairs: both succeeded in 20, only the first in 12, only the second in 2, neither in 16."
    with pytest.raises(ValueError, match="`pairs` must be at least 1; got 0"):
        PairTally(0, 0, 0, 0)
    with pytest.raises(ValueError, match="`second_only` must be at least 0"):
        PairTally(1, 1, -1, 1)


# --- Verdict


def test_a_verdict_is_mirrored_with_the_policies() -> None:
    assert Verdict.BETTER.mirrored is Verdict.WORSE
    assert Verdict.WORSE.mirrored is Verdict.BETTER
    assert Verdict.SAME.mirrored is Verdict.SAME
    assert Verdict.UNDECIDED.mirrored is Verdict.UNDECIDED
