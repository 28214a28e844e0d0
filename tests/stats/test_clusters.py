"""Means and rates in clusters: reference values, twins, promises, laws, edges, refusals."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import Scores
from surefoot.core.record import Record
from surefoot.stats import cluster_gain, cluster_mean, cluster_rate, score_mean, two_sample_cluster_gain
from surefoot.stats.clusters import cluster_shape, least_gain_shown
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
    # never decides where Student's t on this error would not
    assert found.interval.low <= wanted["low"] + 1e-9
    assert found.interval.high >= wanted["high"] - 1e-9
    # the same as gains of pairs
    halves = np.array(asked["values"]) / 2
    gain = cluster_gain(
        Scores(halves, -1, 1), Scores(-halves, -1, 1), asked["clusters"], confidence=asked["confidence"]
    )
    ends = found.interval.low, found.interval.high
    assert (gain.interval.low, gain.interval.high) == pytest.approx(ends, abs=1e-9)


@given(rows=outcomes)
@settings(max_examples=20, deadline=None)
def test_the_ends_of_a_rate_have_the_error_as_p_value(rows):
    values, of = [v for v, _ in rows], [label for _, label in rows]
    found = cluster_rate(values, of).interval
    sizes = [of.count(label) for label in dict.fromkeys(of)]
    means = [np.mean([v for v, one in rows if one == label]) for label in dict.fromkeys(of)]
    assert found.low <= np.mean(values) <= found.high
    if found.low > 0:
        assert twin.p_value(sizes, means, found.low, 0.0, two_sided=True) == pytest.approx(0.05, rel=1e-6)
    if found.high < 1:
        turned = [1 - mean for mean in means]
        assert twin.p_value(sizes, turned, 1 - found.high, 0.0, two_sided=True) == pytest.approx(0.05, rel=1e-6)
    mirrored = cluster_rate([1 - v for v in values], of).interval
    assert mirrored.low == pytest.approx(1 - found.high, abs=1e-9)


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


@pytest.mark.parametrize("size", [1, 10])
def test_without_a_failure_each_cluster_counts_once(size):
    found = cluster_rate([True] * (4 * size), labels((size,) * 4))
    assert (found.effective_size, found.counted, found.interval.high) == (4.0, 4.0, 1.0)
    # the chance that none of four clusters fails is the error
    assert found.interval.low == pytest.approx(0.05 ** (1 / 4))
    assert "clusters not met decide" in [note.kind for note in found.interval.notes]


def test_equal_scores_count_once_per_cluster():
    found = cluster_mean(Scores([0.5] * 40), labels((10,) * 4)).interval
    assert (found.low, found.high) == pytest.approx((0.5 * 0.05**0.25, 1 - 0.5 * 0.05**0.25))
    # clusters with one mean show nothing of how clusters differ, whatever their scores
    alike = cluster_mean(Scores([0.2, 0.8] * 20), labels((10,) * 4)).interval
    assert (alike.low, alike.high) == pytest.approx((found.low, found.high))


def test_a_task_whose_clusters_were_few_decides_where_clusters_hide():
    tasks, of = ["x"] * 8 + ["y"] * 32, labels((4,) * 10)
    even = cluster_rate([1] * 40, of).interval
    found = cluster_rate([1] * 40, of, tasks=tasks, weights="tasks").interval
    assert found.low < even.low
    # half of the weight lies on two clusters, half on eight: the likeliest way that none which fails was met
    assert twin.hidden_in_two((0.5, 2), (0.5, 8), 1 - found.low) == pytest.approx(0.05, rel=1e-3)


def test_the_notes_tell_how_clusters_count():
    rng = np.random.default_rng(2)
    found = cluster_mean(Scores(rng.random(195)), labels((100, *[5] * 19)))
    kinds = {note.kind: note for note in found.interval.notes}
    assert round(kinds["cluster dominates"].values["share"], 2) == 0.51
    assert str(kinds["cluster dominates"]) == "One cluster holds 51% of the rollouts."
    assert str(kinds["clusters counted"]) == "20 clusters, counted as 2.7."
    quarter = cluster_mean(Scores(rng.random(28)), labels((7, *[3] * 7)))  # a quarter, twice an eighth
    assert "cluster dominates" in [note.kind for note in quarter.interval.notes]
    three = cluster_mean(Scores(rng.random(30)), labels((10,) * 3))
    assert "cluster dominates" not in [note.kind for note in three.interval.notes]
    two = cluster_mean(Scores(rng.random(10)), labels((6, 4)))
    assert "cluster dominates" in [note.kind for note in two.interval.notes]
    assert str(two.interval.notes[0]) == "2 clusters, counted as 1.7."


def test_results_round_trip_and_say_what_they_are_worth():
    values, of = [0.1, 0.2, 0.15, 0.8, 0.9, 0.7, 0.5, 0.6], list("aaabbbcc")
    found = cluster_mean(Scores(values), of)
    assert found.design_effect > 1
    assert "equivalent to 2 independent rollouts" in str(found)
    assert Record.from_dict(found.to_dict()) == found


def test_crossed_clusters_add_both_ways_of_belonging_together():
    rng = np.random.default_rng(3)
    items, judges = np.repeat(range(12), 5), np.tile(range(5), 12)
    values = 0.5 + 0.15 * rng.standard_normal(12)[items] + 0.25 * rng.standard_normal(5)[judges]
    scores = Scores(values.clip(0, 1))
    one_way = cluster_mean(scores, items.tolist())
    two_way = cluster_mean(scores, items.tolist(), crossed=judges.tolist())
    assert two_way.interval.width > 1.2 * one_way.interval.width
    assert (two_way.counted, two_way.interval.method) == (5.0, "two-way guarded cluster t")
    assert str(two_way.interval.notes[0]) == "12 clusters crossed with 5, counted as 5.0."
    # by hand: item and judge parts, less the cells, each with its own small-sample factor
    apart = np.array(scores.values) - scores.mean
    parts = [
        sum(apart[of == g].sum() ** 2 for g in range(count)) / 60**2 * count / (count - 1)
        for of, count in ((items, 12), (judges, 5), (np.arange(60), 60))
    ]
    assert two_way.error**2 == pytest.approx(parts[0] + parts[1] - parts[2])


def test_the_order_of_rollouts_never_matters():
    rng = np.random.default_rng(9)
    values, of, tasks = rng.random(60), rng.integers(0, 8, 60), rng.integers(0, 2, 60)
    found = cluster_mean(Scores(values), of, tasks=tasks).interval
    for _ in range(5):
        order = rng.permutation(60)
        again = cluster_mean(Scores(values[order]), of[order], tasks=tasks[order]).interval
        assert (again.low, again.high) == pytest.approx((found.low, found.high), abs=1e-9)


def test_guaranteed_clusters_of_one_size_are_scores_of_their_own():
    rng = np.random.default_rng(4)
    values = rng.random((9, 4))
    found = cluster_mean(Scores(values.ravel()), labels((4,) * 9), method="guaranteed").interval
    wanted = score_mean(Scores(values.mean(axis=1)))
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=1e-9)
    assert found.method == "weighted Gaffke"


def test_the_least_gain_that_clusters_can_show():
    assert [round(100 * least_gain_shown(count), 1) for count in (20, 40, 100, 200)] == [16.2, 7.8, 3.0, 1.5]
    assert least_gain_shown(5) > 1 > least_gain_shown(6)
    assert least_gain_shown(6, confidence=1 - 2**-5) == pytest.approx(1.0)
    assert least_gain_shown(20, confidence=0.99) == pytest.approx(0.01 ** (-1 / 20) - 1)


# --- Shapes


@given(st.lists(st.integers(1, 40), min_size=2, max_size=12))
@settings(max_examples=60)
def test_the_shape_of_clusters_needs_no_matrix(sizes):
    of = labels(sizes)
    shape = cluster_shape(sizes)
    assert shape.freedom == pytest.approx(twin.cr2(np.zeros(of.size), of, of * 0, [1.0])[2], rel=1e-8)
    assert shape.effective == pytest.approx(sum(sizes) ** 2 / sum(m * m for m in sizes))
    assert shape.counted == pytest.approx(twin.counted(sizes))
    assert (shape.clusters, shape.largest_share) == (len(sizes), max(sizes) / sum(sizes))
    assert 1.0 - 1e-9 <= shape.freedom <= len(sizes) - 1 + 1e-9
    assert shape.counted <= len(sizes) + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [*LAYOUTS.values(), (10,) * 20], ids=[*LAYOUTS, "20 equal"])
@pytest.mark.parametrize("rate", [0.5, 0.9])
@pytest.mark.parametrize("icc", [0.3, 0.8])
def test_cluster_rate_covers(sizes, rate, icc):
    rng = np.random.default_rng(12)
    missed = sum(
        rate not in cluster_rate(first.values, of).interval for of, first, _ in gains(rng, sizes, rate, icc, 2000)
    )
    assert missed <= limit(2000)


# --- Refusals

REFUSED = [
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
    (lambda: cluster_mean(Scores([1, 0]), "ab", method="exact"), "`method` must be one of measured, guaranteed"),
    (lambda: cluster_mean(Scores([1, 0]), "ab", tasks="xx", method="guaranteed"), "nothing is guaranteed for that"),
    (
        lambda: two_sample_cluster_gain(Scores([1, 0, 1]), Scores([1, 0]), ("abb", "ab"), method="guaranteed"),
        "all of one size; got sizes from 1 to 2",
    ),
    (lambda: least_gain_shown(0), "`clusters` must be above 0"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_refusals(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()


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
    assert found.interval.method == "guarded cluster t"


@pytest.mark.parametrize(
    ("count", "values", "chances", "size"),
    [
        (6, (-1.0, 0.0, 1.0), (0.377, 0.246, 0.377), 0.0649),
        (8, (-1.0, 0.0, 0.7), (0.241, 0.415, 0.344), 0.0699),
        (10, (-1.0, -0.1, 1.0), (0.145, 0.645, 0.21), 0.0696),
    ],
)
def test_the_error_that_few_clusters_can_reach_is_the_one_that_is_told(count, values, chances, size):
    """Every outcome of clusters whose gain has one of three values and mean 0, with its chance."""
    assert np.dot(values, chances) == pytest.approx(0.0, abs=1e-3)
    false = false_at_97 = 0.0
    for a, b in itertools.product(range(count + 1), repeat=2):
        c = count - a - b
        if c < 0:
            continue
        gap = np.repeat(values, (a, b, c))
        found = cluster_gain(Scores(np.maximum(gap, 0.0)), Scores(np.maximum(-gap, 0.0)), range(count))
        ways = math.factorial(count) // math.factorial(a) // math.factorial(b) // math.factorial(c)
        chance = ways * math.prod(share**times for share, times in zip(chances, (a, b, c), strict=True))
        false += chance * (found.p_value <= 0.05)
        false_at_97 += chance * (found.p_value <= 0.03)
    assert false == pytest.approx(size, abs=2e-4)
    assert false_at_97 <= 0.041
    assert any("up to 7 with ten clusters or fewer" in str(one) for one in found.interval.assumptions)
