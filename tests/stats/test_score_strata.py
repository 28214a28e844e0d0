"""The order-free gain and mean over several tasks."""

import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from surefoot import Scores, Verdict
from surefoot.core.assumptions import ANY_SCORES, SCORES_MEASURED
from surefoot.numerics.scores import score_tails
from surefoot.numerics.scores.many_groups import ManyGroups, _onto, _Search, group_test
from surefoot.numerics.scores.two_groups import TwoGroups
from surefoot.reference import stratified_score_gain_bound, stratified_score_mean, stratified_score_test
from surefoot.stats import paired_score_gain, score_gain, score_mean, stratified_score_gain
from tests.oracles import task_groups as twin
from tests.support.score_strata import pooled

RNG = np.random.default_rng(11)
TASKS = {
    "pick": (Scores(RNG.choice(5, 12) / 4), Scores(RNG.choice(4, 9) / 4)),
    "place": (Scores(RNG.choice(5, 8) / 4), Scores(RNG.choice(3, 10) / 4)),
}


@functools.cache
def plain(weights="rollouts", method="measured"):
    return stratified_score_gain(TASKS, weights=weights, method=method)


def test_one_group_is_one_sample_and_two_are_two():
    first, second = TASKS["pick"]
    alone = stratified_score_gain({"pick": (first, second)})
    assert alone.interval.low == score_gain(first, second).interval.low
    assert alone.method == "stratified Gaffke"
    assert ANY_SCORES in alone.assumptions
    assert stratified_score_mean({"pick": first}).low == pytest.approx(score_mean(first).low, abs=1e-12)
    alone = stratified_score_gain({"pick": (first, first)}, paired=True)
    assert alone.interval.low == paired_score_gain(first, first).interval.low
    assert isinstance(group_test(pooled([0.5], [0.2]), [1, 3]), TwoGroups)
    assert group_test(pooled([0.5], [0.2], [0.1]), [1, 3, 4]).weights == (0.125, 0.375, 0.5)


def test_the_level_of_several_tasks_is_measured_and_said():
    found = plain()
    assert found.method == "stratified scores"
    assert SCORES_MEASURED in found.assumptions
    assert ANY_SCORES not in found.assumptions
    assert found.interval.width < plain(method="guaranteed").interval.width
    assert plain(method="guaranteed").method == "stratified Gaffke"
    with pytest.raises(ValueError, match="`method` must be one of measured, guaranteed"):
        stratified_score_gain(TASKS, method="exact")


def test_one_score_in_a_cell_is_answered_with_a_note():
    pairs = {"a": (Scores([0.5]), Scores([0.2, 0.4, 0.1])), "b": (Scores([0.9, 0.8, 0.7]), Scores([0.1]))}
    found = stratified_score_gain(pairs, weights="tasks")
    assert [note.kind for note in found.notes] == ["few rollouts a task"]
    assert found.estimate in found.interval
    assert plain().notes == ()
    singles = {str(task): (Scores([1.0]), Scores([0.0])) for task in range(12)}
    assert stratified_score_gain(singles).verdict is Verdict.BETTER
    assert stratified_score_mean({task: pair[0] for task, pair in singles.items()}).high == 1.0


def test_adding_rollouts_or_tasks_never_changes_the_method():
    rng = np.random.default_rng(5)
    for tasks, size in ((2, 1), (11, 3), (40, 60)):
        data = {str(task): (Scores(rng.random(size)), Scores(rng.random(size))) for task in range(tasks)}
        assert stratified_score_gain(data).method == "stratified scores"


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.8, 0.95, 0.99]), st.booleans(), st.sampled_from([0.0, 0.1]))
def test_interval_bounds_p_values_and_verdict_agree(seed, confidence, paired, margin):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, (3, 2))
    data = {
        str(task): (Scores(rng.choice(5, n) / 4), Scores(rng.choice(5, n if paired else m) / 4))
        for task, (n, m) in enumerate(sizes)
    }
    found = stratified_score_gain(data, paired=paired, weights="tasks", confidence=confidence, margin=margin)
    test = stratified_score_test(data, paired=paired, weights="tasks")
    assert test.p_value == found.p_value
    assert (found.p_value <= 1 - confidence) == (not found.interval.low <= 0.0 <= found.interval.high)
    for side, end in (("lower", found.interval.low), ("upper", found.interval.high)):
        bound = stratified_score_gain_bound(data, side, paired=paired, weights="tasks", confidence=(1 + confidence) / 2)
        assert bound.value == pytest.approx(end, abs=1e-9)
    swapped = stratified_score_gain(
        {task: sides[::-1] for task, sides in data.items()}, paired=paired, weights="tasks", confidence=confidence
    )
    assert (swapped.interval.low, swapped.interval.high) == pytest.approx(
        (-found.interval.high, -found.interval.low), abs=1e-8
    )
    assert swapped.p_value == pytest.approx(found.p_value, rel=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_pairs_and_one_policy_by_the_formula(seed):
    rng = np.random.default_rng(seed)
    first, second = ({task: rng.choice(5, 2 + place) / 4 for place, task in enumerate("abc")} for _ in range(2))
    data = {task: (Scores(first[task]), Scores(second[task])) for task in "abc"}
    found = stratified_score_test(data, gain=0.1, paired=True, weights={"a": 3, "b": 1, "c": 1})
    wanted = twin.paired_p_values([(first[task] - second[task]).tolist() for task in "abc"], [3, 1, 1], 0.1)
    assert (found.above, found.below) == pytest.approx(tuple(map(float, wanted)), rel=1e-8)
    mean = stratified_score_mean({task: Scores(first[task]) for task in "abc"}, weights="tasks")
    cells = twin.groups([[first[task].tolist() for task in "abc"]], [1, 1, 1])
    if mean.low > 0.0:
        assert float(twin.p_at_most(cells, mean.low)) == pytest.approx(0.025, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tasks", "size", "other", "error"), [(20, 2, 2, 0.05), (3, 10, 400, 0.03), (25, 1, 3, 0.05), (12, 5, 5, 0.03)]
)
def test_false_verdicts_of_layouts_that_broke_the_stratified_t(tasks, size, other, error):
    """Coins for cells of 1 and 2; else nearly always high, rarely 0, against steady scores of the same mean."""
    rng, draws, false = np.random.default_rng(24), 1_500, 0
    for _ in range(draws):
        data = {}
        for task in range(tasks):
            if size <= 2:
                one, two = (rng.random(n) < 0.7 for n in (size, other))
                two = two if size == other else np.full(other, 0.7)
            else:
                one = np.where(rng.random(size) < 0.05, 0.0, rng.uniform(0.9, 1.0, size))
                two = rng.uniform(0.8825, 0.9225, other)
            data[str(task)] = (Scores(one.astype(float)), Scores(two.astype(float)))
        false += stratified_score_test(data, weights="tasks").p_value <= 0.05
    assert scipy_stats.binom.sf(false - 1, draws, error) > 1e-3


def test_the_answer_is_of_the_scores_and_not_of_their_order():
    found = plain("tasks")
    shuffled = {
        task: tuple(Scores(np.random.default_rng(1).permutation(side.values)) for side in sides)
        for task, sides in TASKS.items()
    }
    again = stratified_score_gain(shuffled, weights="tasks")
    assert (found.interval.low, found.interval.high, found.p_value) == (
        again.interval.low,
        again.interval.high,
        again.p_value,
    )
    assert found.estimate in found.interval
    assert (found.p_value <= 0.05) == (found.verdict is not Verdict.UNDECIDED)


def test_every_parameter_matters():
    found = plain()
    total = sum(len(side) for sides in TASKS.values() for side in sides)
    shares = {task: (len(one) + len(other)) / total for task, (one, other) in TASKS.items()}
    wanted = sum(shares[task] * (one.mean - other.mean) for task, (one, other) in TASKS.items())
    assert found.estimate == pytest.approx(wanted)
    assert found.interval.trials == total
    given = stratified_score_gain(TASKS, weights={"pick": 3.0, "place": 1.0})
    gains = {task: one.mean - other.mean for task, (one, other) in TASKS.items()}
    assert given.estimate == pytest.approx(0.75 * gains["pick"] + 0.25 * gains["place"])
    wide = stratified_score_gain(TASKS, confidence=0.99)
    assert wide.interval.width > found.interval.width
    assert stratified_score_gain(TASKS, margin=0.9).verdict is Verdict.SAME
    lower, upper = (stratified_score_gain_bound(TASKS, side) for side in ("lower", "upper"))
    assert found.interval.low < lower.value < upper.value < found.interval.high
    test = stratified_score_test(TASKS, gain=lower.value)
    assert test.above == pytest.approx(0.05, rel=1e-6)
    assert stratified_score_test(TASKS).p_value == pytest.approx(found.p_value)
    pairs = {"a": (Scores([1, 0.5, 1, 1]), Scores([0, 0.5, 0.5, 0.5])), "b": (Scores([1, 1, 0]), Scores([0, 0.5, 0]))}
    as_pairs = stratified_score_gain(pairs, paired=True, weights="tasks")
    assert as_pairs.estimate == pytest.approx((0.5 + 0.5) / 2)
    assert as_pairs.interval.trials == 7
    assert as_pairs.interval != stratified_score_gain(pairs, weights="tasks").interval


def test_a_swap_mirrors():
    found = plain("tasks")
    swapped = stratified_score_gain({task: sides[::-1] for task, sides in TASKS.items()}, weights="tasks")
    assert swapped.interval.low == pytest.approx(-found.interval.high, abs=1e-9)
    assert swapped.interval.high == pytest.approx(-found.interval.low, abs=1e-9)
    assert swapped.p_value == pytest.approx(found.p_value, rel=1e-8)


def test_units_do_not_matter():
    scaled = {
        task: tuple(Scores([10 * x - 5 for x in side.values], -5, 5) for side in sides) for task, sides in TASKS.items()
    }
    found = stratified_score_gain(scaled)
    assert found.interval.low == pytest.approx(10 * plain().interval.low, abs=0.02)
    mean = stratified_score_mean({task: sides[0] for task, sides in scaled.items()}, weights="tasks")
    bare = stratified_score_mean({task: sides[0] for task, sides in TASKS.items()}, weights="tasks")
    assert (mean.low, mean.high) == pytest.approx((10 * bare.low - 5, 10 * bare.high - 5), abs=0.01)


def random_points(test, target, count, rng):
    weights = np.array(test.weights)
    means = np.array([sample.mean for sample in test.samples])
    errors = np.array([score_tails.error_of(sample) for sample in test.samples])
    spread = rng.choice([0.5, 1.0, 2.0, 3.0], (count // 2, 1))
    near = means + errors * spread * rng.normal(size=(count // 2, means.size))
    shares = np.array(
        [rng.dirichlet(np.full(means.size, size)) for size in rng.choice([0.1, 0.3, 1.0, 3.0], count - count // 2)]
    )
    away = means - (test.estimate - target) * shares / weights
    return _onto(np.concatenate((near, away)), weights, target)


LAYOUTS = [(3, 5, "beta"), (3, 10, "levels"), (5, 4, "rates")]


def layout(tasks, size, law, seed):
    rng, samples = np.random.default_rng(seed), []
    for _ in range(tasks):
        draw = {
            "beta": lambda: rng.beta(5, 1, size),
            "levels": lambda: rng.choice(5, size) / 4,
            "rates": lambda: (rng.random(size) < 0.7).astype(float),
        }[law]
        samples += [draw(), 1 - draw()]
    return ManyGroups(tuple(pooled(*samples)), (1 / len(samples),) * len(samples))


def beaten(test, shift, count, seed):
    """By how much the largest p-value of so many random null points exceeds the one found."""
    rng, target = np.random.default_rng(seed), test.estimate - shift
    search = _Search(test)
    most = search.heights(random_points(test, target, count, rng)).max()
    return math.exp(most - search.largest(target))


def test_no_random_null_point_beats_the_one_found():
    assert beaten(layout(2, 6, "levels", 0), 0.12, 600, 1) <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "size", "law"), LAYOUTS)
@pytest.mark.parametrize("seed", range(3))
def test_no_null_point_of_6000_beats_the_one_found(tasks, size, law, seed):
    assert beaten(layout(tasks, size, law, seed), 0.15, 6_000, seed) <= 1.0


def test_a_cold_search_finds_what_a_warm_one_does():
    test = layout(3, 5, "beta", 5)
    low = test.low_end(0.025)
    assert math.exp(test.log_p(low)) == pytest.approx(0.025, rel=0.03)


@pytest.mark.slow
def test_coverage_of_tiny_strata_counted_over_all_tables():
    """Two tasks of 2 v 1 rollouts, success or failure: every table, over a grid of rates; worst null points too."""
    sizes = (2, 1, 1, 2)
    ends = {}
    for table in itertools.product(*(range(n + 1) for n in sizes)):
        sides = [Scores([1.0] * x + [0.0] * (n - x)) for x, n in zip(table, sizes, strict=True)]
        found = stratified_score_gain(
            {"a": tuple(sides[:2]), "b": tuple(sides[2:])}, weights="tasks", confidence=0.8, method="guaranteed"
        )
        ends[table] = (found.interval.low, found.interval.high)
    grid = (0.0, 0.16, 0.4, 0.6, 0.84, 1.0)
    for rates in itertools.product(grid, repeat=4):
        gain = (rates[0] - rates[1] + rates[2] - rates[3]) / 2
        held = 0.0
        for table, (low, high) in ends.items():
            chance = math.prod(
                math.comb(n, x) * p**x * (1 - p) ** (n - x) for x, n, p in zip(table, sizes, rates, strict=True)
            )
            held += chance * (low <= gain + 1e-12 and gain - 1e-12 <= high)
        assert held >= 0.8


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: stratified_score_gain({}), "`strata` must hold at least one task; got none"),
        (lambda: stratified_score_mean({}), "`strata` must hold at least one task; got none"),
        (lambda: stratified_score_gain({"a": (Scores([1]), Scores([1], 0, 2))}), "Scores on two scales have no gain"),
        (
            lambda: stratified_score_gain(
                {"a": (Scores([1]), Scores([1])), "b": (Scores([1], 0, 2), Scores([1], 0, 2))}
            ),
            "Scores on two scales have no gain",
        ),
        (lambda: stratified_score_gain(TASKS, weights="success"), "`weights` must be one of rollouts, tasks"),
        (lambda: stratified_score_gain(TASKS, weights={"pick": 1}), "must hold one number for each task"),
        (lambda: stratified_score_gain(TASKS, paired=True), "A score without its partner is no pair"),
    ],
)
def test_refusals(call, text):
    with pytest.raises(ValueError, match=text):
        call()
