"""Gains between two sets of scores: betting, bootstrap, permutation, Welch, and the chance of a higher score."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import Scores, Verdict
from surefoot.core.gain import decide
from surefoot.reference import (
    betting_gain,
    betting_mean,
    betting_paired_gain,
    chance_first_higher,
    paired_bca,
    paired_bootstrap,
    paired_permutation,
    unpaired_bca,
    unpaired_bootstrap,
    welch,
)
from tests.support.betting_gains import pairs, split

PAIRED = [
    betting_paired_gain,
    lambda a, b, **more: paired_bootstrap(a, b, rng=1, resamples=500, **more),
    lambda a, b, **more: paired_permutation(a, b, rng=1, resamples=500, **more),
]


@pytest.mark.parametrize("method", PAIRED)
@given(data=pairs, margin=st.sampled_from([0.0, 0.1]))
@settings(max_examples=25)
def test_swapping_policies_mirrors_everything(method, data, margin):
    first, second = split(data)
    here, there = method(first, second, margin=margin), method(second, first, margin=margin)
    assert here.verdict == there.verdict.mirrored
    # which pattern is called flipped is a coin of its own, so a Monte Carlo p-value mirrors only exactly when exact
    assert here.interval.low == pytest.approx(-there.interval.high, abs=0.08 if "bootstrap" in here.method else 1e-9)
    assert here.mirrored.mirrored == here


@pytest.mark.parametrize("method", PAIRED)
@given(data=pairs)
@settings(max_examples=25)
def test_verdict_interval_and_p_value_agree(method, data):
    found = method(*split(data))
    excluded = 0.0 not in found.interval
    assert excluded == (found.verdict is not Verdict.UNDECIDED)
    if found.p_value is not None:
        assert excluded == (found.p_value <= 0.05 if "permutation" in found.method else found.p_value < 0.05)
    assert found.interval.low <= found.estimate <= found.interval.high


@given(data=pairs)
@settings(max_examples=25)
def test_more_confidence_is_wider(data):
    first, second = split(data)
    for method in PAIRED:
        narrow, wide = method(first, second, confidence=0.8).interval, method(first, second, confidence=0.98).interval
        assert wide.low <= narrow.low + 1e-12
        assert narrow.high <= wide.high + 1e-12


def test_betting_gain_is_the_betting_mean_of_the_differences():
    rng = np.random.default_rng(0)
    first, second = Scores(rng.random(40) * 3, 0, 3), Scores(rng.random(43) * 2, 0, 3)
    gaps = Scores(np.subtract(first.values, second.values[:40]), -3, 3)
    mean, found = betting_mean(gaps), betting_gain(first, second)
    assert (found.interval.low, found.interval.high) == (mean.low, mean.high)
    assert found.notes == ("3 rollouts of the second had no counterpart and were left out.",)
    assert found.p_value is None
    assert found.interval.scale == "score gain"
    assert betting_paired_gain(first, Scores(second.values[:40], 0, 3)).interval.low == mean.low


def test_order_matters_to_bets_and_is_kept():
    climbing = Scores([0.0] * 20 + [1.0] * 20)
    falling = Scores([1.0] * 20 + [0.0] * 20)
    level = Scores([0.5] * 40)
    assert betting_paired_gain(climbing, level).interval != betting_paired_gain(falling, level).interval


@pytest.mark.parametrize(
    ("low", "high", "margin", "wanted"),
    [
        (0.01, 0.2, 0.0, Verdict.BETTER),
        (0.0, 0.2, 0.0, Verdict.UNDECIDED),
        (-0.2, -0.01, 0.0, Verdict.WORSE),
        (0.01, 0.2, 0.05, Verdict.UNDECIDED),
        (0.06, 0.2, 0.05, Verdict.BETTER),
        (-0.04, 0.04, 0.05, Verdict.SAME),
        (-0.05, 0.04, 0.05, Verdict.UNDECIDED),
        (-0.2, -0.06, 0.05, Verdict.WORSE),
        (0.0, 0.0, 0.0, Verdict.UNDECIDED),
    ],
)
def test_margin(low, high, margin, wanted):
    assert decide(low, high, margin) is wanted


def test_margin_reaches_the_verdict_and_the_words():
    first, second = Scores([0.52, 0.5, 0.51] * 60), Scores([0.5, 0.52, 0.51] * 60)
    found = betting_paired_gain(first, second, margin=0.1)
    assert found.verdict is Verdict.SAME
    assert found.not_worse
    assert str(found).endswith("the two are the same (margin 0.100).")


REFUSALS = [
    (lambda: paired_bootstrap(Scores([1, 0]), Scores([1]), rng=1), "A score without its partner is no pair"),
    (lambda: betting_paired_gain(Scores([1, 0]), Scores([1])), "A score without its partner is no pair"),
    (lambda: betting_gain(Scores([1]), Scores([1], 0, 2)), "Scores on two scales have no gain"),
    (lambda: paired_bootstrap(Scores([1, 0]), Scores([1, 0]), rng=None), "`rng` must be"),
    (lambda: paired_bootstrap(Scores([1, 0]), Scores([1, 0]), rng=1, resamples=10), "`resamples` must be at least 40"),
    (lambda: paired_bootstrap(Scores([1, 0]), Scores([1, 0]), rng=1, clusters=[1, 1]), "at least 2 clusters; got 1"),
    (lambda: paired_bootstrap(Scores([1, 0]), Scores([1, 0]), rng=1, clusters=[1]), "one cluster per observation, 2"),
    (lambda: paired_bca(Scores([1] * 10), Scores([1] * 10), rng=1), "must vary for a bootstrap"),
    (lambda: paired_bootstrap(Scores([0.5]), Scores([0.1]), rng=1), "got the same gain from every resample"),
    (lambda: paired_bootstrap(Scores([0.3, 0.4, 0.5]), Scores([0.2, 0.3, 0.4]), rng=1), "must vary for a bootstrap"),
    (lambda: unpaired_bootstrap(Scores([0.5]), Scores([0.1]), rng=1), "must vary for a bootstrap"),
    (
        lambda: paired_bootstrap(Scores([0.1, 0.3] * 3), Scores([0.0] * 6), rng=1, clusters="aabbcc"),
        "must vary for a bootstrap",
    ),
    (lambda: paired_bootstrap(Scores([0.5] * 9), Scores([0.5] * 9), rng=1, margin=0.1), "must vary for a bootstrap"),
    (lambda: unpaired_bootstrap(Scores([0.5] * 9), Scores([0.5] * 9), rng=1, margin=0.1), "must vary for a bootstrap"),
    (lambda: welch(Scores([1]), Scores([1, 0])), "`first` must hold at least 2 scores"),
    (lambda: welch(Scores([1, 1]), Scores([0, 0])), "must vary; got equal scores"),
    (lambda: betting_gain(Scores([1, 0]), Scores([1, 0]), margin=-0.1), "`margin` must be 0 or more"),
    (
        lambda: betting_gain(Scores([4, 0], 0, 5), Scores([3, 1], 0, 5), margin=5),
        "`margin` must be below 5, the largest",
    ),
    (lambda: welch(Scores([1, 0]), Scores([1, 0]), confidence=95), "Write 0.95 for 95%"),
    (lambda: paired_bootstrap(Scores([1, 0]), Scores([1, 0]), rng=1, clusters=[1, math.nan]), "got NaN for some"),
]


@pytest.mark.parametrize("method", [betting_gain, betting_paired_gain, welch, chance_first_higher, unpaired_bca])
def test_what_is_no_scores_is_refused_with_what_to_write(method):
    given = {"rng": 1} if method is unpaired_bca else {}
    with pytest.raises(TypeError, match=r"`second` must be a Scores; got a list\. Write Scores\(values"):
        method(Scores([0.5, 0.6]), [0.1, 0.2], **given)


@pytest.mark.parametrize(("call", "words"), REFUSALS, ids=[words for _, words in REFUSALS])
def test_refusals(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()
