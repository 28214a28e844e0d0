"""Tests of `surefoot.stats.cluster_gains`."""

import numpy as np
import pytest
from scipy.special import stdtr, stdtrit

from surefoot import PairTally, Scores, Tally, Verdict
from surefoot.numerics import cluster_spread
from surefoot.stats import cluster_gain, exact_gain, exact_paired_gain, two_sample_cluster_gain
from tests.oracles import clusters as twin
from tests.support.clusters import LAYOUTS, UNEVEN, gains, labels, limit


def test_two_samples_add_their_variances_and_share_their_freedom():
    rng = np.random.default_rng(4)
    first, second = Scores(rng.random(30)), Scores(rng.random(40))
    ours, theirs = labels((12, 8, 6, 4)), labels((20, 10, 5, 5))
    found = two_sample_cluster_gain(first, second, (ours, theirs))
    sides = [twin.cr2(s.values, of, of * 0, [1.0]) for s, of in ((first, ours), (second, theirs))]
    variances, freedoms = [side[1] for side in sides], [side[2] for side in sides]
    assert found.estimate == pytest.approx(sides[0][0] - sides[1][0])
    assert found.error**2 == pytest.approx(sum(variances))
    assert found.freedom == pytest.approx(twin.welch(variances, freedoms))
    half = stdtrit(found.freedom, 0.975) * found.error
    assert found.interval.high == pytest.approx(found.estimate + half)
    assert found.p_value == pytest.approx(2 * stdtr(found.freedom, -abs(found.estimate) / found.error))
    assert [shape.clusters for shape in found.shapes] == [4, 4]
    # clusters that both policies met are one cluster each, and what they share cancels
    hard = rng.random(4) * 0.6
    first, second = Scores(0.4 * rng.random(30) + hard[ours]), Scores(0.4 * rng.random(40) + hard[theirs])
    shared = two_sample_cluster_gain(first, second, (ours, theirs), shared=True)
    both = np.concatenate((ours, theirs))
    wanted = twin.cr2([*first.values, *second.values], both, [0] * 30 + [1] * 40, [1.0, -1.0])
    assert (shared.estimate, shared.error**2, shared.freedom) == pytest.approx(wanted)
    assert shared.error < two_sample_cluster_gain(first, second, (ours, theirs)).error


def test_clusters_that_span_tasks_cluster_the_weighted_residuals():
    rng = np.random.default_rng(6)
    tasks, of = np.repeat([0, 1, 2], 20), np.tile(np.arange(5), 12)
    gaps = rng.random(60) - 0.5 + 0.2 * of
    first, second = Scores((gaps.clip(0, None)).clip(0, 1)), Scores((-gaps).clip(0, 1))
    found = cluster_gain(first, second, of, tasks=tasks, weights="tasks")
    wanted = twin.cr2(np.subtract(first.values, second.values), of, tasks, [1 / 3] * 3)
    assert (found.estimate, found.error**2, found.freedom) == pytest.approx(wanted)
    two = two_sample_cluster_gain(
        first, second, (of, of), tasks=(tasks, tasks), weights={"0": 1, "1": 2, "2": 3}, shared=True
    )
    weights = np.array([1, 2, 3]) / 6
    wanted = twin.cr2([*first.values, *second.values], [*of, *of], [*tasks, *(3 + tasks)], [*weights, *-weights])
    assert (two.estimate, two.error**2, two.freedom) == pytest.approx(wanted)


def test_one_table_of_residuals_serves_every_pair_of_a_ranking():
    rng = np.random.default_rng(7)
    of = labels(UNEVEN)
    scores = rng.random((of.size, 4))
    table = cluster_spread.residual_sums(scores, rng.permutation(of))
    assert table.shape == (12, 4)
    table = cluster_spread.residual_sums(scores, of)
    gain = cluster_gain(Scores(scores[:, 1]), Scores(scores[:, 3]), of)
    assert ((table[:, 1] - table[:, 3]) ** 2).sum() == pytest.approx(gain.error**2)
    assert cluster_spread.freedom(UNEVEN) == pytest.approx(gain.freedom)


@pytest.mark.parametrize("gap", [1, 0, -1])
def test_alike_pairs_of_successes_count_once_per_cluster(gap):
    first, second = Scores([float(gap > 0)] * 12), Scores([float(gap < 0)] * 12)
    found = cluster_gain(first, second, labels((3,) * 4))
    wanted = exact_paired_gain(PairTally(0, 4 * (gap > 0), 4 * (gap < 0), 4 * (gap == 0)))
    assert (found.interval.low, found.interval.high) == (wanted.interval.low, wanted.interval.high)
    assert (found.p_value, found.verdict, found.error) == (wanted.p_value, wanted.verdict, 0.0)
    assert (found.interval.trials, found.interval.scale) == (12, "score gain")


def test_alike_rollouts_of_two_policies_count_once_per_cluster():
    first, second = Scores([1] * 12), Scores([0] * 15)
    found = two_sample_cluster_gain(first, second, (labels((3,) * 4), labels((5,) * 3)))
    wanted = exact_gain(Tally(4, 4), Tally(0, 3))
    assert (found.interval.low, found.p_value) == (wanted.interval.low, wanted.p_value)
    scores = two_sample_cluster_gain(Scores([0.75] * 12), Scores([0.25] * 15), (labels((3,) * 4), labels((5,) * 3)))
    assert scores.verdict is Verdict.UNDECIDED
    pairs = cluster_gain(Scores([0.75] * 12), Scores([0.5] * 12), labels((3,) * 4))
    assert pairs.interval.low < 0 < pairs.interval.high


def test_one_side_without_spread_is_given_that_of_its_clusters():
    # three scenes without a failure against thirty of which a fifth failed: no verdict
    second = Scores([1.0] * 120 + [0.0] * 30)
    found = two_sample_cluster_gain(Scores([1.0] * 15), second, (labels((5,) * 3), labels((5,) * 30)))
    other = twin.cr2(second.values, labels((5,) * 30), [0] * 150, [1.0])
    variances = [other[1], twin.floor((5,) * 3, 1.0)]
    assert found.error**2 == pytest.approx(sum(variances))
    assert found.freedom == pytest.approx(twin.welch(variances, [other[2], 2.0]))
    assert found.verdict is Verdict.UNDECIDED


@pytest.mark.slow
@pytest.mark.parametrize("sizes", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize(("rate", "icc"), [(0.8, 0.3), (0.8, 0.9), (0.5, 0.9)])
def test_false_verdicts_of_clustered_pairs(sizes, rate, icc):
    rng = np.random.default_rng(11)
    wrong = sum(
        cluster_gain(*pair, of).verdict is not Verdict.UNDECIDED for of, *pair in gains(rng, sizes, rate, icc, 2000)
    )
    assert wrong <= limit(2000)
