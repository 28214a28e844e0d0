"""Tests of `surefoot.stats.cluster_gains`."""

import numpy as np
import pytest

from surefoot import Scores, Verdict
from surefoot.core.record import Record
from surefoot.reference import one_sided_bounds, step_down_gains
from surefoot.stats import cluster_gain, paired_score_gain, score_gain, two_sample_cluster_gain
from tests.oracles import clusters as twin
from tests.reference import listed
from tests.support.clusters import LAYOUTS, gains, labels, limit


def split(values):
    """Gains as the scores of two policies."""
    values = np.asarray(values, float)
    return Scores(values.clip(0, None).tolist()), Scores((-values).clip(0, None).tolist())


@pytest.mark.parametrize("case", [case for case in listed("cluster.cases") if "ends_95" in case])
def test_pairs_of_the_reference(case):
    of = labels(case["sizes"])
    found = cluster_gain(*split(np.repeat(case["means"], case["sizes"])), of)
    assert found.p_value == pytest.approx(case["p_two_0"], rel=1e-6)
    assert (found.interval.low, found.interval.high) == pytest.approx(case["ends_95"], abs=1e-6)
    assert found.counted == pytest.approx(case["counted"])
    if case["p_above_0"] is not None:
        assert found.sides.better == pytest.approx(case["p_above_0"], rel=1e-6)


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


@pytest.mark.parametrize("gap", [1, 0.5, 0, -1])
def test_alike_pairs_count_once_per_cluster(gap):
    found = cluster_gain(*split([gap] * 21), labels((3,) * 7))
    assert found.p_value == pytest.approx((1 + abs(gap) ** 7) / (1 + abs(gap)) ** 7, rel=1e-12)
    assert (found.p_value <= 0.05) == (found.verdict is not Verdict.UNDECIDED)
    assert (found.interval.trials, found.interval.scale, found.counted) == (21, "score gain", 7.0)


@pytest.mark.parametrize("count", [2, 3, 5])
def test_alike_rollouts_of_two_policies_have_the_chance_that_both_hide(count):
    # each policy's clusters succeed with one half: all of the first's do and none of the second's
    of = labels((4,) * count)
    found = two_sample_cluster_gain(Scores([1] * 4 * count), Scores([0] * 4 * count), (of, of))
    assert found.sides.better == pytest.approx(0.25**count, rel=1e-12)
    assert found.p_value == pytest.approx(2 * 0.25**count, rel=1e-12)  # or the other way round


def test_few_clusters_cannot_decide_any_gain():
    five, six = (cluster_gain(*split([1.0] * count), range(count)) for count in (5, 6))
    assert (five.verdict, six.verdict) == (Verdict.UNDECIDED, Verdict.BETTER)
    assert str(five.notes[1]) == "5 clusters cannot decide any gain at this level."
    assert str(six.notes[1]).startswith("Clusters that fail whole and were not met decide the width")
    two = two_sample_cluster_gain(Scores([1, 1]), Scores([0, 0]), ("ab", "cd"))
    assert str(two.notes[0]) == "2 and 2 clusters, the fewer counted as 2.0."
    assert two.notes[1].kind == "too few clusters"


def test_one_side_without_spread_hides_the_clusters_it_did_not_meet():
    # three scenes without a failure against thirty of which a fifth failed: no verdict
    second = Scores([1.0] * 120 + [0.0] * 30)
    found = two_sample_cluster_gain(Scores([1.0] * 15), second, (labels((5,) * 3), labels((5,) * 30)))
    assert (found.verdict, found.hidden, found.counted) == (Verdict.UNDECIDED, True, 3.0)


def test_many_clusters_that_vary_are_decided_by_their_spread():
    rng = np.random.default_rng(1)
    gaps = (rng.random(400) < 0.6) * 1.0 - (rng.random(400) < 0.4)
    found = cluster_gain(*split(gaps), labels((2,) * 200))
    assert not found.hidden
    assert [note.kind for note in found.notes] == ["clusters counted"]


# --- One side at a time


def test_central_ends_are_bounds_with_half_of_the_error():
    rng = np.random.default_rng(6)
    first, second = Scores(rng.beta(5, 1, 60)), Scores(rng.beta(3, 1, 60))
    of = labels((4, 8) * 5)
    found = cluster_gain(first, second, of, central=True, confidence=0.9)
    for edge in (found.interval.low, found.interval.high):
        sides = cluster_gain(first, second, of, margin=abs(edge)).sides
        p = [sides.better, sides.worse, sides.not_worse, sides.not_better]
        assert min(abs(one - 0.05) for one in p) < 1e-6
    assert found.p_value == pytest.approx(min(1, 2 * min(found.sides.better, found.sides.worse)))
    lower, upper = one_sided_bounds(cluster_gain, first, second, of, confidence=0.95)
    assert (lower.value, upper.value) == pytest.approx((found.interval.low, found.interval.high))
    # the two-sided p-value is not twice the one-sided: here all of its error lies on one side
    alike = cluster_gain(*split([0.5] * 20), range(20))
    assert alike.p_value == pytest.approx(alike.sides.better)


def test_a_family_steps_down_by_the_one_sided_p_values():
    of = labels((5,) * 20)
    data = [split(np.repeat(np.linspace(low, 0.9, 20), 5)) for low in (0.3, 0.1, -0.9)]

    def using(first, second, *, confidence):
        return cluster_gain(first, second, of, confidence=confidence)

    found = step_down_gains(data, using)
    sides = [cluster_gain(*pair, of).sides for pair in data]
    assert found[0].p_value == pytest.approx(min(1, 6 * sides[0].better))
    assert [one.verdict for one in found] == [Verdict.BETTER, Verdict.BETTER, Verdict.UNDECIDED]


# --- Laws


def test_cluster_gain_pairs_first_and_clusters_second():
    rng = np.random.default_rng(6)
    hard = np.repeat(rng.random(20) * 0.5, 4)
    first = Scores((hard + 0.25 + 0.1 * rng.random(80)).clip(0, 1))
    second = Scores((hard + 0.1 * rng.random(80)).clip(0, 1))
    of = np.repeat(range(20), 4).tolist()
    found = cluster_gain(first, second, of)
    assert found.verdict is Verdict.BETTER
    turned = cluster_gain(second, first, of)
    assert (turned.interval.low, turned.sides) == (pytest.approx(-found.interval.high), found.sides.mirrored)
    assert found.mirrored.sides == found.sides.mirrored
    by_judge = cluster_gain(first, second, of, crossed=np.tile(range(4), 20).tolist())
    assert by_judge.interval != found.interval
    assert cluster_gain(first, second, of, margin=0.6).verdict is Verdict.SAME
    assert Record.from_dict(found.to_dict()) == found


def test_guaranteed_by_name():
    rng = np.random.default_rng(2)
    first, second = rng.random((2, 9, 4))
    of = labels((4,) * 9)
    data = Scores(first.ravel()), Scores(second.ravel())
    found = cluster_gain(*data, of, method="guaranteed")
    wanted = paired_score_gain(Scores(first.mean(axis=1)), Scores(second.mean(axis=1)))
    assert (found.interval.low, found.p_value) == pytest.approx((wanted.interval.low, wanted.p_value), abs=1e-8)
    apart = two_sample_cluster_gain(*data, (of, of), method="guaranteed")
    wanted = score_gain(Scores(first.mean(axis=1)), Scores(second.mean(axis=1)))
    assert (apart.interval.low, apart.p_value) == pytest.approx((wanted.interval.low, wanted.p_value), abs=1e-8)
    assert min(1, 2 * min(apart.sides.better, apart.sides.worse)) == pytest.approx(apart.p_value)


# --- Promises

SHOWN = {"20x10": (10,) * 20, "19x10+11": (*(10,) * 19, 11), "10x10+10x5": (*(10,) * 10, *(5,) * 10)}


def fails_whole(rng, sizes, share, tables):
    """The first policy fails whole clusters, the second single rollouts, both as often."""
    of = labels(sizes)
    for _ in range(tables):
        first = (rng.random(len(sizes)) >= share)[of]
        yield of, Scores(first.astype(float)), Scores((rng.random(of.size) >= share).astype(float))


@pytest.mark.slow
@pytest.mark.parametrize("sizes", SHOWN.values(), ids=SHOWN)
@pytest.mark.parametrize("share", [0.03, 0.07, 0.15])
def test_false_verdicts_where_one_policy_fails_whole_clusters(sizes, share):
    rng = np.random.default_rng(21)
    found = [cluster_gain(*pair, of) for of, *pair in fails_whole(rng, sizes, share, 2000)]
    assert sum(gain.verdict is not Verdict.UNDECIDED for gain in found) <= limit(2000)
    assert sum(gain.sides.better <= 0.05 for gain in found) <= limit(2000)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize(("rate", "icc"), [(0.8, 0.3), (0.8, 0.9), (0.5, 0.9)])
def test_false_verdicts_of_clustered_pairs(sizes, rate, icc):
    rng = np.random.default_rng(11)
    wrong = sum(
        cluster_gain(*pair, of).verdict is not Verdict.UNDECIDED for of, *pair in gains(rng, sizes, rate, icc, 2000)
    )
    assert wrong <= limit(2000)


@pytest.mark.slow
def test_power():
    rng, of = np.random.default_rng(31), labels((10,) * 20)
    draws = [(Scores((rng.random(200) < 0.7) * 1.0), Scores((rng.random(200) < 0.5) * 1.0)) for _ in range(1000)]
    assert sum(cluster_gain(*pair, of).verdict is Verdict.BETTER for pair in draws) >= 900
