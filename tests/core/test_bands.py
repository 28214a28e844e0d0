"""Tests of `surefoot.core.bands`."""

import pytest

from surefoot import Band, Scores


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
