"""Tests of `surefoot.reference.bootstrap`."""

import json
import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import chisquare

from surefoot import Gain, Scores, Verdict
from surefoot.reference import (
    bootstrap,
    cluster_bootstrap,
    paired_bca,
    paired_bootstrap,
    paired_permutation,
    unpaired_bca,
    unpaired_bootstrap,
    welch,
)
from surefoot.stats import cluster_mean
from tests.reference import cases


def expanded(both, first_only, second_only, neither):
    first = [1] * (both + first_only) + [0] * (second_only + neither)
    second = [1] * both + [0] * first_only + [1] * second_only + [0] * neither
    return Scores(first), Scores(second)


def exact_resample_law(first, second):
    """The exact law of the resampled mean of differences in {-1, 0, 1}, by convolution."""
    gaps = np.subtract(first.values, second.values)
    one = np.array([np.mean(gaps == g) for g in (-1, 0, 1)])
    law = np.ones(1)
    for _ in gaps:
        law = np.convolve(law, one)
    return np.arange(-len(gaps), len(gaps) + 1) / len(gaps), law


@pytest.mark.parametrize("case", cases("paired_difference"))
def test_paired_bootstrap_meets_the_infinite_one_within_monte_carlo_error(case):
    asked, wanted = case
    first, second = expanded(asked["both"], asked["A_only"], asked["B_only"], asked["neither"])
    found = paired_bootstrap(first, second, rng=11, resamples=20_000, confidence=asked["conf"])
    assert found.estimate == pytest.approx(wanted["diff"], abs=1e-12)
    support, law = exact_resample_law(first, second)
    below = np.cumsum(law)
    if "bootstrap_infinite_B" in wanted:
        limit = wanted["bootstrap_infinite_B"]
        assert support[np.searchsorted(below, 0.025)] == pytest.approx(limit["percentile_lo"], abs=1e-12)
        chance = limit["P_diff_le_0"]
        error = 5 * math.sqrt(chance * (1 - chance) / 20_000) + 1e-4
        assert found.p_value == pytest.approx(min(1.0, 2 * chance), abs=2 * error)
    error = 5 * math.sqrt(0.025 * 0.975 / 20_000)
    for end, left in ((found.interval.low, below), (-found.interval.high, np.cumsum(law[::-1]))):
        place = int(np.argmin(abs((support if left is below else -support[::-1]) - end)))
        before = left[place - 1] if place else 0.0
        assert before <= 0.025 + error
        assert left[place] >= 0.025 - error


def test_bootstrap_against_scipy():
    from scipy.stats import bootstrap

    rng = np.random.default_rng(5)
    first, second = Scores(rng.beta(2, 1, 60)), Scores(rng.beta(1, 2, 45))
    paired = Scores(rng.beta(2, 2, 60))

    def gap(a, b, axis=-1):
        return np.mean(a, axis=axis) - np.mean(b, axis=axis)

    for ours, theirs, method, other in (
        (paired_bootstrap, True, "percentile", paired),
        (paired_bca, True, "BCa", paired),
        (unpaired_bootstrap, False, "percentile", second),
        (unpaired_bca, False, "BCa", second),
    ):
        found = ours(first, other, rng=3, resamples=40_000).interval
        peer = bootstrap(
            (first.values, other.values), gap, paired=theirs, method=method, n_resamples=40_000, rng=rng
        ).confidence_interval
        assert (found.low, found.high) == pytest.approx((peer.low, peer.high), abs=0.004)


def test_differences_that_only_rounding_keeps_apart_are_the_same():
    first, second = Scores([0.3, 0.6, 0.9, 0.7, 0.4]), Scores([0.2, 0.5, 0.8, 0.6, 0.3])
    assert len({a - b for a, b in zip(first.values, second.values, strict=True)}) > 1
    with pytest.raises(ValueError, match="must vary for a bootstrap"):
        paired_bca(first, second, rng=1)


@pytest.mark.parametrize(
    "method",
    [
        welch,
        lambda a, b: paired_permutation(a, b, rng=1),
        lambda a, b: paired_bootstrap(a, b, rng=1),
        lambda a, b: paired_bca(a, b, rng=1),
        lambda a, b: unpaired_bca(a, b, rng=1),
    ],
)
@pytest.mark.parametrize("unit", [1e-18, 1e9])
def test_the_unit_of_the_scores_does_not_matter(method, unit):
    one, other = [0.1, 0.4, 0.4, 0.7, 0.8, 0.9, 0.6, 1.0], [0.2, 0.3, 0.1, 0.7, 0.5, 0.2, 0.6, 0.4]
    plain = method(Scores(one), Scores(other))
    scaled = method(Scores([unit * v for v in one], 0, unit), Scores([unit * v for v in other], 0, unit))
    assert (scaled.p_value, scaled.verdict) == (pytest.approx(plain.p_value), plain.verdict)
    assert scaled.interval.low == pytest.approx(unit * plain.interval.low)
    assert scaled.interval.high == pytest.approx(unit * plain.interval.high)


def test_clusters_are_the_resampled_unit():
    rng = np.random.default_rng(4)
    effect = np.repeat(rng.random(12) * 0.5, 10)
    first, second = Scores(effect + 0.3), Scores(rng.random(120) * 0.5)
    plain = paired_bootstrap(first, second, rng=1)
    whole = paired_bootstrap(first, second, rng=1, clusters=np.repeat(range(12), 10).tolist())
    assert whole.interval.width > 1.2 * plain.interval.width
    assert "12 clusters" in whole.notes[1]
    assert (
        paired_bca(first, second, rng=1, clusters=np.repeat(range(12), 10).tolist()).interval.width
        > plain.interval.width
    )


def test_few_pairs_are_warned_of():
    first, second = Scores([0.9, 0.7, 0.8] * 5), Scores([0.5, 0.3, 0.6] * 5)
    for method in (paired_bootstrap, paired_bca, unpaired_bootstrap, unpaired_bca):
        counted, warned = method(first, second, rng=1, resamples=500).notes
        assert counted == "500 resamples."
        assert "Only 15 units" in warned


@pytest.mark.parametrize("scale", [1e-3, 1.0, 10.0])
def test_the_acceleration_is_a_sixth_of_the_skewness_whatever_the_unit(scale):
    """Efron (1987), equation 7.4: the sum of cubes over six times the sum of squares to the power 3/2."""
    influence = scale * np.array([-1.0, -1.0, 0.0, 2.0])
    assert bootstrap.acceleration(influence) == pytest.approx(6.0 / (6.0 * 6.0**1.5), rel=1e-12)
    assert bootstrap.acceleration(np.zeros(4)) == 0.0


@pytest.mark.parametrize("bend", [-0.3, 0.3])
def test_an_end_beyond_the_pole_of_the_correction_is_the_last_resample(bend):
    """z / (1 - bend z) jumps from one infinity to the other at z = 1 / bend, which a confidence this high passes."""
    means = np.linspace(-1.0, 1.0, 2001)
    low, high = bootstrap.bca_ends(means, 0.0, bend, 0.9995)
    assert low < 0.0 < high
    assert (high == 1.0) == (bend > 0.0)
    assert (low == -1.0) == (bend < 0.0)


def test_resamples_on_one_side_of_the_estimate_are_refused():
    with pytest.raises(ValueError, match="`resamples` must fall on both sides of the estimate"):
        bootstrap.bca_ends(np.linspace(0.4, 0.6, 50), 0.3, 0.0, 0.95)


def test_the_seed_is_kept_and_matters():
    first, second = Scores([0.9, 0.7, 0.8, 0.4, 0.6]), Scores([0.5, 0.3, 0.6, 0.5, 0.1])
    for method in (paired_bootstrap, paired_bca, unpaired_bootstrap, unpaired_bca):
        here = method(first, second, rng=1)
        assert here.seed == 1
        assert here == method(first, second, rng=1)
        assert method(first, second, rng=np.random.default_rng(1)).seed is None
        assert json.loads(json.dumps(here.to_dict()))["interval"]["seed"] == 1
        assert Gain.from_dict(here.to_dict()) == here


def test_bootstrap_of_equal_differences_says_that_it_sees_nothing():
    found = paired_bootstrap(Scores([1.0] * 20), Scores([1.0] * 20), rng=1)
    assert (found.interval.low, found.interval.high, found.p_value) == (0.0, 0.0, 1.0)
    assert found.verdict is Verdict.UNDECIDED
    assert "cannot see how uncertain" in found.notes[-1]


def test_cluster_bootstrap_near_the_robust_interval():
    rng = np.random.default_rng(8)
    labels = np.repeat(range(60), 5)
    scores = Scores((0.5 + 0.2 * rng.standard_normal(60)[labels] + 0.05 * rng.standard_normal(300)).clip(0, 1))
    robust, boot = cluster_mean(scores, labels.tolist()).interval, cluster_bootstrap(scores, labels.tolist(), rng=1)
    assert (boot.low, boot.high) == pytest.approx((robust.low, robust.high), abs=0.01)
    assert (boot.seed, boot.notes) == (1, ("10,000 resamples of 60 clusters.",))
    few = cluster_bootstrap(Scores(scores.values[:50]), labels[:50].tolist(), rng=1)
    assert "Only 10 units" in few.notes[1]


def test_every_pattern_of_signs_is_there_once():
    values = np.array([1.0, 2.0, 4.0])
    counts, totals = bootstrap.sign_flips(values, 0, None)
    expected = sorted((sum(pattern), float(np.dot(pattern, values))) for pattern in product((0, 1), repeat=3))
    assert sorted(zip(counts.tolist(), totals.tolist(), strict=True)) == expected


def test_random_signs_are_fair_and_belong_to_their_values():
    values = np.array([1.0, 2.0, 4.0])
    counts, totals = bootstrap.sign_flips(values, 8000, np.random.default_rng(2))
    seen = np.unique(totals, return_counts=True)
    assert seen[0].tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    assert chisquare(seen[1]).pvalue > 1e-3
    assert all(bin(int(total)).count("1") == count for count, total in zip(counts, totals, strict=True))


@pytest.mark.parametrize("spread", [1, 1000], ids=["few levels", "every value its own"])
def test_means_of_resamples_have_the_mean_and_variance_of_the_bootstrap(spread):
    rng = np.random.default_rng(5)
    values = rng.integers(0, 2 if spread == 1 else 10**6, 50).astype(float)
    means = bootstrap.resampled_means(values, 20_000, np.random.default_rng(6))
    error = values.std() / np.sqrt(50)
    assert abs(means.mean() - values.mean()) < 4 * error / np.sqrt(20_000)
    assert means.std() == pytest.approx(error, rel=0.03)


def test_ties_with_nothing_are_ties():
    values = np.array([0.1, 0.2, -0.3])
    means = bootstrap.resampled_means(values, 2000, np.random.default_rng(1))
    near = abs(means) < 1e-12
    assert near.any()
    assert (means[near] == 0.0).all()


def test_whole_clusters_are_drawn():
    sums, sizes = np.array([0.0, 6.0, 2.0]), np.array([1.0, 3.0, 2.0])
    possible = {round(sum(sums[list(drawn)]) / sum(sizes[list(drawn)]), 12) for drawn in product(range(3), repeat=3)}
    ratios = bootstrap.resampled_ratios(sums, sizes, 3000, np.random.default_rng(3))
    assert {round(ratio, 12) for ratio in ratios.tolist()} == possible
    assert bootstrap.resampled_ratios(sizes, sizes, 5, np.random.default_rng(3)).tolist() == [1.0] * 5
