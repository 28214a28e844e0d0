"""Tests of `surefoot.stats.all_counts`."""

import numpy as np
import pytest

from surefoot import Tally, stats
from surefoot.stats import all_counts

PLAIN = "wilson wald agresti_coull jeffreys clopper_pearson wilson_lower wilson_upper"
PLAIN += " clopper_pearson_lower clopper_pearson_upper"
DRAWN = "optimal_lower optimal_upper optimal_interval"


def ends_of(result):
    return all_counts._pair(result)


@pytest.mark.parametrize("name", PLAIN.split())
def test_all_counts_at_once_are_the_counts_one_by_one(name):
    method, counts = getattr(stats, name), np.arange(13)
    low, high = all_counts.ends(method, counts, 12, 0.9)
    for k in counts:
        assert (low[k], high[k]) == pytest.approx(ends_of(method(Tally(int(k), 12), confidence=0.9)))
    assert all_counts.smooth(method)
    assert not all_counts.randomised(method)


@pytest.mark.parametrize("name", DRAWN.split())
def test_a_draw_at_each_count(name):
    method, counts, draws = getattr(stats, name), np.arange(7), np.linspace(0.05, 0.95, 7)
    low, high = all_counts.ends(method, counts, 6, 0.8, draws)
    for k, draw in zip(counts, draws, strict=True):
        one = ends_of(method(Tally(int(k), 6), confidence=0.8, draw=float(draw)))
        assert (low[k], high[k]) == pytest.approx(one, abs=1e-9)
    assert all_counts.randomised(method)


def test_a_method_of_ones_own_is_called_count_by_count():
    asked = []

    def mine(tally, *, confidence):
        asked.append((tally.successes, confidence))
        return stats.wilson(tally, confidence=confidence)

    low, high = all_counts.ends(mine, np.arange(4).reshape(2, 2), 3, 0.9)
    expected = all_counts.ends(stats.wilson, np.arange(4).reshape(2, 2), 3, 0.9)
    assert (low, high) == (pytest.approx(expected[0]), pytest.approx(expected[1]))
    assert asked == [(k, 0.9) for k in range(4)]
    assert not all_counts.smooth(mine)


def test_a_method_says_what_it_gives_and_is_called():
    assert [all_counts.kind(m, 0.9) for m in (stats.wilson, stats.wilson_lower, stats.optimal_upper)] == [
        "interval",
        "lower",
        "upper",
    ]
    assert all_counts.name(stats.wilson, 0.9) == "Wilson"


def test_refusals():
    with pytest.raises(TypeError, match="`using` must be a function"):
        all_counts.kind("wilson", 0.9)
    with pytest.raises(TypeError, match="`method` must give an Interval or a Bound"):
        all_counts.ends(lambda tally, *, confidence: 0.5, [1], 2, 0.9)
