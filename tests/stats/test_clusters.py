"""Rollouts and pairs in clusters: reference values, direct matrices, promises, laws, edges, refusals."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import stdtr, stdtrit

from surefoot import Scores, Verdict
from surefoot.core.record import Record
from surefoot.stats import (
    all_cluster_gains,
    cluster_bootstrap,
    cluster_gain,
    cluster_mean,
    cluster_rate,
    cluster_shape,
    two_sample_cluster_gain,
)
from tests.oracles import clusters as twin
from tests.reference import cases
from tests.support.clusters import LAYOUTS, gains, labels, limit

outcomes = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 4)), min_size=3, max_size=20).filter(
    lambda rows: len({label for _, label in rows}) > 1
)


# --- Reference values and twins


@pytest.mark.parametrize("case", cases("cluster_se"))
def test_cluster_errors_of_the_reference(case):
    asked, wanted = case
    found = cluster_mean(Scores(asked["values"]), asked["cluster"])
    assert found.interval.estimate == pytest.approx(wanted["mean"], rel=1e-12)
    assert found.clusters == wanted["clusters"]
    assert found.plain_error == pytest.approx(wanted["se_naive"], rel=1e-10)
    assert found.cr0 == pytest.approx(wanted["se_cr0"], rel=1e-10)
    assert found.cr1 == pytest.approx(wanted["se_cr1"], rel=1e-10)
    assert found.miller == pytest.approx(wanted["se_miller"], rel=1e-10)
    assert found.design_effect == pytest.approx(max(1, (found.error / found.plain_error) ** 2), rel=1e-10)


@pytest.mark.parametrize("case", cases("cr2_bell_mccaffrey"))
def test_bias_reduced_errors_of_the_reference(case):
    asked, wanted = case
    found = cluster_mean(Scores(asked["values"], -2, 2), asked["clusters"], confidence=asked["confidence"])
    assert found.interval.estimate == pytest.approx(wanted["mean"], abs=1e-12)
    assert found.error**2 == pytest.approx(wanted["variance"], rel=1e-9)
    assert found.freedom == pytest.approx(wanted["degrees_of_freedom"], rel=1e-9)
    assert (found.interval.low, found.interval.high) == pytest.approx((wanted["low"], wanted["high"]), abs=1e-9)
    # the same as gains of pairs
    halves = np.array(asked["values"]) / 2
    gain = cluster_gain(
        Scores(halves, -1, 1), Scores(-halves, -1, 1), asked["clusters"], confidence=asked["confidence"]
    )
    assert (gain.interval.low, gain.interval.high) == pytest.approx((wanted["low"], wanted["high"]), abs=1e-9)
    assert gain.p_value == pytest.approx(2 * stdtr(wanted["degrees_of_freedom"], -abs(gain.estimate) / gain.error))
    assert (gain.p_value < 0.05) == (0.0 not in gain.interval)


@given(rows=outcomes)
@settings(max_examples=60)
def test_cluster_rate_is_korn_and_graubard(rows):
    values, of = [v for v, _ in rows], [label for _, label in rows]
    found = cluster_rate(values, of)
    sizes = {label: of.count(label) for label in of}
    apart = [sum(v for v, label in rows if label == one) / size for one, size in sizes.items()]
    if np.ptp(apart) > 0 or np.mean(values) in (0, 1):
        assert (found.interval.low, found.interval.high) == pytest.approx(twin.rate(values, of), abs=1e-8)
    assert found.interval.low <= np.mean(values) <= found.interval.high
    mirrored = cluster_rate([1 - v for v in values], of).interval
    assert mirrored.low == pytest.approx(1 - found.interval.high, abs=1e-9)


def test_clusters_inside_tasks_add_task_by_task():
    rng = np.random.default_rng(5)
    tasks, of = np.repeat(["x", "y", "z"], (20, 12, 28)), np.repeat(np.arange(12), 5)
    values = rng.random(60)
    each = [twin.cr2(values[tasks == t], of[tasks == t], of[tasks == t] * 0, [1.0]) for t in "xyz"]
    for weights, shares in (("rollouts", (20 / 60, 12 / 60, 28 / 60)), ("tasks", (1 / 3,) * 3)):
        nested = np.array([f"{t}{c}" for t, c in zip(tasks, of, strict=True)])
        each = [
            twin.cr2(
                values[tasks == t], np.unique(nested[tasks == t], return_inverse=True)[1], [0] * sum(tasks == t), [1.0]
            )
            for t in "xyz"
        ]
        variances = [w * w * one[1] for w, one in zip(shares, each, strict=True)]
        found = cluster_mean(Scores(values), nested, tasks=tasks, weights=weights)
        assert found.interval.estimate == pytest.approx(sum(w * one[0] for w, one in zip(shares, each, strict=True)))
        assert found.error**2 == pytest.approx(sum(variances))
        assert found.freedom == pytest.approx(twin.welch(variances, [one[2] for one in each]))
    given_weights = cluster_mean(Scores(values), nested, tasks=tasks, weights={"x": 2, "y": 1, "z": 1})
    assert given_weights.interval.estimate == pytest.approx(0.5 * each[0][0] + 0.25 * (each[1][0] + each[2][0]))


# --- Edges


def test_without_a_failure_each_cluster_counts_once():
    found = cluster_rate([True] * 40, [i // 10 for i in range(40)])
    assert (found.effective_size, found.interval.high) == (4.0, 1.0)
    assert found.interval.low == pytest.approx(0.025 ** (1 / 4))
    assert [note.kind for note in found.interval.notes] == ["clusters alike"]
    # tasks that weigh alike though one has fewer clusters: as if all had as few
    tasks = ["x"] * 10 + ["y"] * 30
    found = cluster_rate([1] * 40, [i // 2 for i in range(40)], tasks=tasks, weights="tasks")
    assert found.effective_size == pytest.approx(10.0)


def test_equal_scores_count_once_per_cluster():
    found = cluster_mean(Scores([0.5] * 40), labels((10,) * 4))
    assert found.interval.low < 0.2 < 0.8 < found.interval.high
    assert [note.kind for note in found.interval.notes] == ["clusters alike"]
    # clusters with one mean show nothing of how clusters differ, whatever their scores
    alike = cluster_mean(Scores([0.2, 0.8] * 20), labels((10,) * 4))
    assert alike.interval == found.interval.__class__(
        **{
            **{name: getattr(found.interval, name) for name in found.interval.__dataclass_fields__},
            "data": alike.interval.data,
        }
    )


def test_a_dominant_cluster_is_named():
    rng = np.random.default_rng(2)
    found = cluster_mean(Scores(rng.random(195)), labels((100, *[5] * 19)))
    assert [(note.kind, round(note.values["share"], 2)) for note in found.interval.notes] == [
        ("cluster dominates", 0.51)
    ]
    assert str(found.interval.notes[0]) == "One cluster holds 51% of the rollouts."
    assert cluster_mean(Scores(rng.random(30)), labels((10,) * 3)).interval.notes == ()
    quarter = cluster_mean(Scores(rng.random(28)), labels((7, *[3] * 7)))  # a quarter, twice an eighth
    assert [note.values["share"] for note in quarter.interval.notes] == [0.25]
    assert cluster_mean(Scores(rng.random(29)), labels((7, 4, *[3] * 6))).interval.notes == ()


def test_results_round_trip_and_say_what_they_are_worth():
    values, of = [0.1, 0.2, 0.15, 0.8, 0.9, 0.7, 0.5, 0.6], list("aaabbbcc")
    found = cluster_mean(Scores(values), of)
    assert found.design_effect > 1
    assert "equivalent to 2 independent rollouts" in str(found)
    assert Record.from_dict(found.to_dict()) == found
    gain = cluster_gain(Scores(values), Scores(values[::-1]), of)
    assert Record.from_dict(gain.to_dict()) == gain
    assert gain.mirrored.shapes == gain.shapes
    assert gain.mirrored.interval.low == pytest.approx(-gain.interval.high)


def test_crossed_clusters_add_both_ways_of_belonging_together():
    rng = np.random.default_rng(3)
    items, judges = np.repeat(range(12), 5), np.tile(range(5), 12)
    values = 0.5 + 0.15 * rng.standard_normal(12)[items] + 0.25 * rng.standard_normal(5)[judges]
    scores = Scores(values.clip(0, 1))
    one_way = cluster_mean(scores, items.tolist())
    two_way = cluster_mean(scores, items.tolist(), crossed=judges.tolist())
    assert two_way.interval.width > 1.2 * one_way.interval.width
    # by hand: item and judge parts, less the cells, each with its own small-sample factor
    apart = np.array(scores.values) - scores.mean
    parts = [
        sum(apart[of == g].sum() ** 2 for g in range(count)) / 60**2 * count / (count - 1)
        for of, count in ((items, 12), (judges, 5), (np.arange(60), 60))
    ]
    half = stdtrit(4, 0.975) * math.sqrt(parts[0] + parts[1] - parts[2])
    assert two_way.interval.high == pytest.approx(scores.mean + half)


def test_cluster_gain_pairs_first_and_clusters_second():
    rng = np.random.default_rng(6)
    hard = np.repeat(rng.random(10) * 0.5, 4)
    first, second = (
        Scores((hard + 0.2 + 0.1 * rng.random(40)).clip(0, 1)),
        Scores((hard + 0.1 * rng.random(40)).clip(0, 1)),
    )
    of = np.repeat(range(10), 4).tolist()
    found = cluster_gain(first, second, of)
    assert found.verdict is Verdict.BETTER
    assert cluster_gain(second, first, of).interval.low == pytest.approx(-found.interval.high)
    apart = cluster_mean(Scores(np.subtract(first.values, second.values), -1, 1), of)
    assert found.interval.high == pytest.approx(apart.interval.high)
    by_judge = cluster_gain(first, second, of, crossed=np.tile(range(4), 10).tolist())
    assert by_judge.interval != found.interval
    assert cluster_gain(first, second, of, margin=0.5).verdict is Verdict.SAME


def test_the_order_of_rollouts_never_matters():
    rng = np.random.default_rng(9)
    values, of, tasks = rng.random(60), rng.integers(0, 8, 60), rng.integers(0, 2, 60)
    found = cluster_mean(Scores(values), of, tasks=tasks).interval
    for _ in range(5):
        order = rng.permutation(60)
        again = cluster_mean(Scores(values[order]), of[order], tasks=tasks[order]).interval
        assert (again.low, again.high) == pytest.approx((found.low, found.high), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [*LAYOUTS.values(), (10,) * 20], ids=[*LAYOUTS, "20 equal"])
@pytest.mark.parametrize("rate", [0.5, 0.9])
@pytest.mark.parametrize("icc", [0.3, 0.8])
def test_cluster_rate_covers(sizes, rate, icc):
    rng = np.random.default_rng(12)
    missed = sum(
        rate not in cluster_rate(first.values, of).interval for of, first, _ in gains(rng, sizes, rate, icc, 2000)
    )
    assert missed <= limit(2000, 0.06)


# --- Refusals

REFUSED = [
    (lambda: all_cluster_gains({"a": Scores([1, 0])}, "ab"), "at least 2 policies; got 1"),
    (
        lambda: all_cluster_gains({"a": Scores([1, 0]), "b": Scores([1])}, "ab"),
        "2 scores of every policy; got 1 of 'b'",
    ),
    (lambda: cluster_shape([5]), "at least 2 clusters; got 1"),
    (lambda: cluster_shape([5, 0]), "`sizes` must be at least 1; got 0"),
    (lambda: cluster_mean(Scores([1, 0]), "ab", weights="tasks"), "`tasks` must be given"),
    (lambda: cluster_mean(Scores([1, 0]), "ab", tasks="x"), "one task per observation, 2; got 1"),
    (lambda: cluster_mean(Scores([1, 0, 1]), "aab", tasks="xyy"), "at least 2 clusters on every task; got 1 on 'x'"),
    (lambda: cluster_mean(Scores([1, 0, 1]), "abc", crossed="uvv", tasks="xyy"), "got 1 on 'x'"),
    (
        lambda: cluster_mean(Scores([1, 0]), "ab", tasks="xx", weights="seeds"),
        "`weights` must be one of rollouts, tasks",
    ),
    (lambda: cluster_mean(Scores([1, 0]), "ab", tasks="xx", weights={"y": 1}), "got a difference in x, y"),
    (lambda: cluster_mean(Scores([1, 0]), "ab", tasks="xx", weights={"x": 0}), "must be above 0"),
    (
        lambda: two_sample_cluster_gain(Scores([1, 0]), Scores([1, 0]), ("ab", "ab"), tasks=("xx", "yy")),
        "met by both policies; got 'x' from one only",
    ),
    (lambda: two_sample_cluster_gain(Scores([1, 0]), Scores([1, 0]), ("ab", "aa")), "at least 2 clusters; got 1"),
    (lambda: two_sample_cluster_gain(Scores([1, 0]), Scores([1, 0]), ("ab", "aa"), shared=True), "at least 2 clusters"),
    (lambda: two_sample_cluster_gain(Scores([1, 0]), Scores([1, 0], 0, 2), ("ab", "ab")), "Scores on two scales"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_refusals(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()


# --- Clusters: see test_clusters.py


def test_cluster_bootstrap_near_the_robust_interval():
    rng = np.random.default_rng(8)
    labels = np.repeat(range(60), 5)
    scores = Scores((0.5 + 0.2 * rng.standard_normal(60)[labels] + 0.05 * rng.standard_normal(300)).clip(0, 1))
    robust, boot = cluster_mean(scores, labels.tolist()).interval, cluster_bootstrap(scores, labels.tolist(), rng=1)
    assert (boot.low, boot.high) == pytest.approx((robust.low, robust.high), abs=0.01)
    assert (boot.seed, boot.notes) == (1, ("10,000 resamples of 60 clusters.",))
    few = cluster_bootstrap(Scores(scores.values[:50]), labels[:50].tolist(), rng=1)
    assert "Only 10 units" in few.notes[1]


def test_errors_that_others_print_of_a_rate_by_hand():
    outcomes, of = np.array([1, 1, 0, 0, 1, 1, 1, 0]), np.repeat([0, 1, 2], [3, 3, 2])
    found = cluster_rate(outcomes.tolist(), of.tolist())
    apart = outcomes - 5 / 8
    sums = [apart[of == cluster].sum() for cluster in range(3)]
    assert found.plain_error == pytest.approx(outcomes.std(ddof=1) / np.sqrt(8))
    assert found.cr0 == pytest.approx(np.sqrt(np.sum(np.square(sums))) / 8)
    assert found.cr1 == pytest.approx(found.cr0 * np.sqrt(3 / 2))
    between = np.sum(np.square(sums)) - np.sum(apart**2)
    assert found.miller == pytest.approx(np.sqrt(found.plain_error**2 + between / 64))
    scores = Scores(outcomes.tolist())
    assert cluster_mean(scores, of.tolist()).interval.method == "cluster-robust t"
    crossed = cluster_mean(scores, of.tolist(), crossed=[0, 1] * 4)
    assert crossed.interval.method == "two-way cluster-robust t"
