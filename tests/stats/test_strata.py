"""Two policies on several tasks, compared within tasks: twins, exact sizes, power, laws, edges, refusals."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from scipy.special import ndtri

from surefoot import Scores, Tally, Verdict
from surefoot.numerics.rates import strata_rule
from surefoot.reference import stratified_gain, stratified_hoeffding_gain, stratified_score_test, stratified_t_gain
from surefoot.stats import clopper_pearson, exact_gain, stratified_rate, stratified_rate_gain
from surefoot.stats.strata import gain_gap_p, task_weights
from tests.oracles import strata as twin
from tests.support.strata import blocks, drawn, rows, shares

ERRORS = (0.05, 0.01, 0.0011)
MOST = (0.052, 0.0105, 0.0012)
STONES = {"small": (Tally(81, 87), Tally(234, 270)), "large": (Tally(192, 263), Tally(55, 80))}


def as_strata(layout, x, y):
    return {str(t): (Tally(int(x[t]), n), Tally(int(y[t]), m)) for t, (n, m) in enumerate(layout)}


@given(data=drawn, weigh=st.sampled_from(["rollouts", "tasks"]))
@settings(max_examples=40)
def test_interval_p_value_and_verdict_agree(data, weigh):
    found = stratified_rate_gain(data, weights=weigh)
    layout = [(a.trials, b.trials) for a, b in data.values()]
    gaps = [a.successes / a.trials - b.successes / b.trials for a, b in data.values()]
    assert found.estimate == pytest.approx(float(shares(layout, weigh) @ gaps), abs=1e-12)
    assert (0.0 in found.interval) == (found.verdict is Verdict.UNDECIDED)
    assert (found.p_value <= 0.05) == (found.verdict is not Verdict.UNDECIDED)
    assert found.interval.low <= found.estimate <= found.interval.high
    assert found.interval.width > 0
    assert found.p_value >= twin.rule_x(rows(data), shares(layout, weigh), 0.0) - 1e-9
    for end, outward in ((found.interval.low, -1e-7), (found.interval.high, 1e-7)):
        if abs(end) < 1:  # where the larger variance changes hands the p-value jumps
            assert twin.rule_x(rows(data), shares(layout, weigh), end) >= 0.05 - 1e-6
            assert twin.rule_x(rows(data), shares(layout, weigh), end + outward) <= 0.05 + 1e-6
    other = stratified_rate_gain({name: (second, first) for name, (first, second) in data.items()}, weights=weigh)
    assert other.interval.low == pytest.approx(-found.interval.high, abs=1e-9)
    assert other.verdict is found.verdict.mirrored
    turned = {
        name: tuple(Tally(side.failures, side.trials) for side in (second, first))
        for name, (first, second) in data.items()
    }
    assert stratified_rate_gain(turned, weights=weigh).interval.low == pytest.approx(found.interval.low, abs=1e-9)


def test_weights_name_the_gain():
    data = {"easy": (Tally(45, 50), Tally(40, 50)), "hard": (Tally(30, 100), Tally(10, 100))}
    by_rollouts, alike = stratified_gain(data), stratified_gain(data, weights="tasks")
    assert by_rollouts.estimate == pytest.approx(0.1 / 3 + 0.2 * 2 / 3)
    assert alike.estimate == pytest.approx(0.15)
    given_weights = stratified_gain(data, weights={"easy": 3, "hard": 1})
    assert given_weights.estimate == pytest.approx(0.125)
    assert len({by_rollouts.assumptions, alike.assumptions, given_weights.assumptions}) == 3


# --- Which test is the default


def test_the_smallest_cell_alone_draws_the_line():
    small = {"a": (Tally(3, 4), Tally(1, 4)), "b": (Tally(40, 50), Tally(30, 50))}
    assert stratified_gain(small).method == "stratified Hoeffding"
    groups = stratified_gain(small, weights="tasks")
    assert (groups.method, groups.interval.scale) == ("stratified Gaffke", "gain")
    assert groups.estimate == pytest.approx(0.35)
    assert (groups.p_value <= 0.05) == (groups.verdict is not Verdict.UNDECIDED)
    scores = {task: tuple(zeros_and_ones(side.successes, side.trials) for side in pair) for task, pair in small.items()}
    assert groups.p_value == pytest.approx(stratified_score_test(scores, weights="tasks", method="guaranteed").p_value)
    many = {str(t): (Tally(3, 4), Tally(1, 3)) for t in range(6)}
    assert stratified_gain(many).method == "stratified rates"
    grown = {"a": (Tally(3, 5), Tally(1, 5)), "b": small["b"]}
    assert stratified_gain(grown).method == "stratified rates"
    assert stratified_gain(grown, weights="tasks").method == "stratified rates"


def test_one_task_is_compared_exactly():
    found = stratified_gain({"one": (Tally(9, 10), Tally(2, 10))})
    assert found == exact_gain(Tally(9, 10), Tally(2, 10))


def test_hoeffding_is_clopper_pearson_of_all_rollouts():
    data = {"a": (Tally(3, 3), Tally(1, 3)), "b": (Tally(4, 4), Tally(1, 4))}
    found = stratified_hoeffding_gain(data)
    low, high = scipy_stats.binomtest(12, 14).proportion_ci(0.95)
    assert (found.interval.low, found.interval.high) == pytest.approx((2 * low - 1, 2 * high - 1), abs=1e-9)
    assert found.p_value == pytest.approx(scipy_stats.binomtest(12, 14).pvalue)
    assert found.estimate == pytest.approx(10 / 14)


def test_simpson_is_warned_of():
    # Charig et al. 1986: open surgery is better for small and for large stones, and worse when pooled
    found = stratified_gain(STONES)
    assert found.estimate > 0
    assert [note.kind for note in found.notes] == ["pooled the other way"]
    assert "the other way: tasks were run in unequal shares (Simpson)" in str(found.notes[0])
    one_sided = {"a": (Tally(38, 40), Tally(65, 90)), "b": (Tally(40, 90), Tally(12, 40))}
    found = stratified_gain(one_sided)
    assert found.verdict is Verdict.BETTER
    assert [(note.kind, note.values["pooled"]) for note in found.notes] == [("pooled verdict", "undecided")]
    assert "trust the tasks" in str(found.notes[0])
    equal_shares = {"a": (Tally(9, 10), Tally(1, 10)), "b": (Tally(8, 10), Tally(2, 10))}
    assert stratified_gain(equal_shares).notes == ()


@pytest.mark.parametrize(
    "strata",
    [
        {"x": (Tally(9, 10), Tally(27, 30)), "y": (Tally(6, 20), Tally(3, 10))},
        {"x": (Tally(5, 10), Tally(1, 10)), "y": (Tally(1, 10), Tally(5, 10))},
        {"x": (Tally(1, 3), Tally(2, 3)), "y": (Tally(2, 3), Tally(1, 3))},
    ],
)
def test_strata_without_a_gap_show_none(strata):
    found = stratified_gain(strata)
    assert found.estimate == pytest.approx(0.0, abs=1e-12)
    assert (found.p_value, found.verdict) == (1.0, Verdict.UNDECIDED)
    assert [note.kind for note in found.notes if note.kind == "pooled the other way"] == []


def test_nothing_in_the_strata():
    none = stratified_gain({"a": (Tally(0, 10), Tally(0, 8)), "b": (Tally(0, 7), Tally(0, 5))})
    assert (none.estimate, none.p_value, none.verdict) == (0.0, 1.0, Verdict.UNDECIDED)
    assert none.interval.width > 0.2
    full = stratified_gain({"a": (Tally(10, 10), Tally(0, 8)), "b": (Tally(7, 7), Tally(0, 5))})
    assert full.interval.high == 1.0
    assert full.verdict is Verdict.BETTER


def test_a_margin_moves_the_verdict_and_a_million_rollouts_do_no_harm():
    data = {str(t): (Tally(600_000, 1_000_000), Tally(599_000 - t, 1_000_000)) for t in range(3)}
    assert stratified_gain(data).verdict is Verdict.UNDECIDED or stratified_gain(data).interval.low > 0
    assert stratified_gain(data, margin=0.01).verdict is Verdict.SAME
    assert stratified_gain(data).interval.width < 0.002


# --- Exact size, power and width

LAYOUTS = [
    ([(20, 10), (20, 10)], "rollouts"),
    ([(10, 10), (10, 10)], "rollouts"),
    ([(10, 10), (10, 10)], "tasks"),
    ([(5, 5), (5, 5)], "rollouts"),
    ([(5, 5), (5, 5)], "tasks"),
    ([(5, 20), (20, 5)], "rollouts"),
    ([(5, 20), (20, 5)], "tasks"),
    ([(30, 5), (5, 5)], "tasks"),
    ([(30, 5), (5, 5)], "rollouts"),
    ([(12, 12), (5, 5)], "tasks"),
    ([(12, 12), (5, 5)], "rollouts"),
    ([(5, 40), (5, 40)], "rollouts"),
    ([(15, 15), (5, 5)], "tasks"),
    ([(8, 16), (16, 8)], "rollouts"),
    ([(8, 16), (8, 16)], "rollouts"),
    ([(7, 9), (11, 6)], "tasks"),
    ([(25, 25), (5, 5)], "tasks"),
    ([(6, 6), (6, 6)], "rollouts"),
    ([(14, 7), (6, 12)], "tasks"),
    ([(20, 5), (20, 5)], "tasks"),
    ([(5, 5), (5, 5), (5, 5)], "rollouts"),
    ([(6, 5), (5, 6), (5, 5)], "tasks"),
    ([(5, 10), (6, 5), (5, 5)], "tasks"),
    ([(5, 5), (5, 5), (8, 8)], "rollouts"),
    # below 5 in some cell, both policies alike: guaranteed
    ([(2, 2), (3, 3)], "rollouts"),
    ([(4, 4), (4, 4)], "rollouts"),
    ([(4, 4), (10, 10)], "rollouts"),
    ([(3, 3), (3, 3), (3, 3)], "rollouts"),
    ([(1, 1), (4, 4), (6, 6)], "rollouts"),
    ([(2, 2), (2, 2), (2, 2), (2, 2)], "rollouts"),
    ([(2, 2), (20, 20)], "rollouts"),
    ([(3, 3), (12, 12)], "rollouts"),
    # below 5 in some cell, more than 5 tasks: rule X with more pull
    ([(2, 1), (1, 2), (1, 1), (2, 1), (1, 2), (1, 1)], "rollouts"),
    ([(1, 2), (1, 2), (1, 2), (1, 2), (1, 2), (1, 2)], "tasks"),
]


TINY = [([(5, 1), (1, 12)], "rollouts"), ([(3, 5), (5, 3)], "rollouts"), ([(4, 5), (4, 3)], "tasks")]
"""Below 5 in some cell, unequal, up to 5 tasks: the guaranteed test of groups."""


def tables(layout):
    """Every table: successes of the first and of the second, one task after the other, and the shape of their list."""
    shape = tuple(size + 1 for pair in layout for size in pair)
    every = np.indices(shape).reshape(len(shape), -1).T
    return every[:, 0::2], every[:, 1::2], shape


def p_values_of_all(layout, weigh):
    """The default's p-value of every table: by the kernels, which `spot_checks` hold against the public function."""
    first, second, shape = tables(layout)
    sizes = np.array(layout)
    hits = np.concatenate((first, sizes[:, 1] - second), axis=1).astype(float)
    if sizes.min() < 5 and weigh == "rollouts" and (sizes[:, 0] == sizes[:, 1]).all():
        total = int(sizes.sum())
        each = [strata_rule.binomial_bound(count, total, 0.05)[2] for count in range(total + 1)]
        return np.array(each)[hits.sum(axis=1).astype(int)].reshape(shape)
    trials, weights = np.concatenate((sizes[:, 0], sizes[:, 1])).astype(float), np.tile(shares(layout, weigh), 2)
    estimates = (weights * hits / trials).sum(axis=1) - 1
    found = np.concatenate(
        [strata_rule.p_values(part, trials, weights, np.zeros(len(part))) for part in blocks(hits, 5000)]
    )
    found[np.abs(estimates) < 1e-12] = 1.0
    grid, low = np.arange(1, 65) / 64, np.flatnonzero(found <= max(ERRORS))
    for part in blocks(low, 400):
        beyond = -np.sign(estimates[part])[:, None] * grid
        found[part] = np.maximum(
            found[part], strata_rule.p_values(hits[part][:, None], trials, weights, beyond).max(axis=1)
        )
    return found.reshape(shape)


@pytest.mark.slow
@pytest.mark.parametrize(("layout", "weigh"), LAYOUTS, ids=str)
def test_the_size_of_the_default_is_enumerated(layout, weigh):
    rng = np.random.default_rng(17)
    found, weights = p_values_of_all(layout, weigh), shares(layout, weigh)
    also = [((1.0, 0.0), (0.84, 0.16))] if layout == [(20, 10), (20, 10)] else []
    for error, most in zip(ERRORS, MOST, strict=True):
        rejects = (found <= error).astype(float)
        assert twin.worst(rejects, layout, weights, rng, also=also) <= most
    first, second, _ = tables(layout)
    for place in rng.choice(len(first), 20, replace=False):
        public = stratified_gain(as_strata(layout, first[place], second[place]), weights=weigh)
        assert public.p_value == pytest.approx(found.ravel()[place], rel=1e-9, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("layout", "weigh"), TINY, ids=str)
def test_the_size_of_tiny_strata_is_enumerated(layout, weigh):
    rng = np.random.default_rng(19)
    first, second, shape = tables(layout)
    sizes, weights = np.array(layout), shares(layout, weigh)
    gaps = (first / sizes[:, 0] - second / sizes[:, 1]) @ weights
    found = np.ones(len(first))

    def asked(place):
        sides = zip(layout, first[place], second[place], strict=True)
        scores = {str(t): (zeros_and_ones(x, n), zeros_and_ones(y, m)) for t, ((n, m), x, y) in enumerate(sides)}
        return stratified_score_test(scores, weights=weigh).p_value

    for place in np.flatnonzero(gaps > 0.45):
        found[place] = asked(place)
    turned = np.ravel_multi_index(
        np.array(shape)[:, None] - 1 - np.array(np.unravel_index(np.arange(len(first)), shape)), shape
    )
    found = np.minimum(found, found[turned])  # success and failure swapped
    for place in rng.choice(np.flatnonzero(np.abs(gaps) <= 0.45), 12, replace=False):  # not refused, and so left at 1
        assert asked(place) > max(ERRORS)
    for error, most in zip(ERRORS, MOST, strict=True):
        assert twin.worst((found <= error).reshape(shape).astype(float), layout, weights, rng) <= most
    for place in rng.choice(np.flatnonzero(gaps > 0.45), 3, replace=False):
        public = stratified_gain(as_strata(layout, first[place], second[place]), weights=weigh)
        assert (public.method, public.p_value) == ("stratified Gaffke", pytest.approx(found[place]))


def zeros_and_ones(successes, trials):
    return Scores([1.0] * int(successes) + [0.0] * (trials - int(successes)))


def test_dropping_a_few_rollouts_changes_little():
    rng = np.random.default_rng(20)
    count, size = 16, 400
    rates = np.linspace(0.05, 0.95, count)
    outcomes = [rng.random((count, size)) < side[:, None] for side in (rates + 0.01, rates - 0.01)]
    layout = [(size, size)] * count
    whole = stratified_gain(as_strata(layout, *(side.sum(axis=1) for side in outcomes)))
    moved, methods = [], {whole.method}
    for _ in range(200):
        kept = np.ones(2 * count * size, bool)
        kept[rng.choice(kept.size, 60, replace=False)] = False
        kept = kept.reshape(2, count, size)
        some = {
            str(t): tuple(Tally(int((outcomes[s][t] & kept[s, t]).sum()), int(kept[s, t].sum())) for s in (0, 1))
            for t in range(count)
        }
        found = stratified_gain(some)
        methods.add(found.method)
        moved.append(abs(ndtri(found.p_value / 2) - ndtri(whole.p_value / 2)))
    assert methods == {"stratified rates"}
    assert np.median(moved) < 0.05


@pytest.mark.sample(3)
@pytest.mark.parametrize("rate", [0.5, 0.7, 0.93, None])
def test_little_wider_than_the_score_interval_where_that_is_valid(rate):
    rng = np.random.default_rng(22)
    rates = np.linspace(0.5, 0.93, 10) if rate is None else np.full(10, rate)
    ours, theirs = [], []
    for _ in range(12):
        x, y = rng.binomial(10, rates, (2, 10))
        found = stratified_gain(as_strata([(10, 10)] * 10, x, y)).interval
        low, high = twin.miettinen_nurminen([(int(a), 10, int(b), 10) for a, b in zip(x, y, strict=True)])
        ours.append(found.width)
        theirs.append(high - low)
    assert np.mean(ours) <= 1.06 * np.mean(theirs)


# --- Does a gain differ? (methods, 21c)

STORED = json.loads((Path(__file__).parents[1] / "reference" / "oracle3.json").read_text(encoding="utf-8"))
GAPS = [case for case in STORED["slice.cases"] if "inside" in case and "outside" in case]


def gap_p(inside, outside):
    """Rows of successes, rollouts, successes, rollouts and weight, inside and outside."""
    columns = [np.array(column, float) for column in zip(*inside, *outside, strict=True)]
    side = np.array([True] * len(inside) + [False] * len(outside))
    return gain_gap_p(*columns[:4], inside=side, weights=columns[4])


@pytest.mark.parametrize("case", GAPS, ids=lambda case: str(case["id"]))
def test_gaps_of_the_reference_cases(case):
    assert gap_p(case["inside"], case["outside"]) == pytest.approx(case["value"][0], rel=1e-6)


counts = st.tuples(st.integers(1, 30), st.integers(1, 30)).flatmap(
    lambda sizes: st.tuples(
        st.integers(0, sizes[0]), st.just(sizes[0]), st.integers(0, sizes[1]), st.just(sizes[1]), st.just(1.0)
    )
)
some_strata = st.lists(counts, min_size=1, max_size=4)


@given(inside=some_strata, outside=some_strata)
@settings(max_examples=60)
def test_gaps_are_those_of_the_twin_and_have_no_side(inside, outside):
    found = gap_p(inside, outside)
    shares = [[1 / len(side)] * len(side) for side in (inside, outside)]
    plain = [[row[:4] for row in side] for side in (inside, outside)]
    assert found == pytest.approx(min(1.0, twin.gap(*plain, *shares)), rel=1e-6, abs=1e-12)
    assert gap_p(outside, inside) == pytest.approx(found, rel=1e-6, abs=1e-12)
    exchanged = [[(y, m, x, n, w) for x, n, y, m, w in side] for side in (inside, outside)]
    assert gap_p(*exchanged) == pytest.approx(found, rel=1e-6, abs=1e-12)


def test_a_gain_everywhere_has_no_gap():
    rows = np.array([[8.0, 10.0, 3.0, 10.0]] * 3).T
    for side in (np.ones(3, bool), np.zeros(3, bool)):
        assert gain_gap_p(*rows, inside=side, weights=np.ones(3)) == 1.0


# --- The rate of one policy over strata


def test_strata_alike_are_one_count():
    """Hoeffding 1956: unlike rates spread the count less than one rate does."""
    found = stratified_rate({"pick": Tally(18, 20), "place": Tally(11, 20)})
    exact = clopper_pearson(Tally(29, 40))
    assert (found.low, found.high, found.estimate) == (exact.low, exact.high, exact.estimate)
    assert found.method == "stratified Clopper-Pearson"


tallies = st.integers(1, 25).flatmap(lambda n: st.builds(Tally, st.integers(0, n), st.just(n)))


@given(of=st.lists(tallies, min_size=2, max_size=6), weigh=st.sampled_from(["tasks", "rollouts"]))
@settings(max_examples=60)
def test_the_rate_of_unlike_strata_is_rule_x_with_one_policy(of, weigh):
    found = stratified_rate({str(place): tally for place, tally in enumerate(of)}, weights=weigh)
    sizes = [tally.trials for tally in of]
    shares = [1 / len(of)] * len(of) if weigh == "tasks" else [size / sum(sizes) for size in sizes]
    assert found.estimate == pytest.approx(sum(w * t.successes / t.trials for w, t in zip(shares, of, strict=True)))
    assert 0.0 <= found.low <= found.estimate <= found.high <= 1.0
    assert found.trials == sum(sizes)
    if len(set(sizes)) == 1:
        return
    hits = [tally.successes for tally in of]
    for end, outward in ((found.low, -1e-7), (found.high, 1e-7)):
        if 0.0 < end < 1.0:  # where the larger variance changes hands the p-value jumps
            assert twin.of_cells(hits, sizes, shares, end) >= 0.05 - 1e-6
            assert twin.of_cells(hits, sizes, shares, end + outward) <= 0.05 + 1e-6
    turned = stratified_rate({str(p): Tally(t.failures, t.trials) for p, t in enumerate(of)}, weights=weigh)
    assert (turned.low, turned.high) == pytest.approx((1 - found.high, 1 - found.low), abs=1e-9)


@pytest.mark.parametrize("sizes", [(5, 20, 10), (3, 3, 12), (40, 10, 10, 5)])
def test_the_rate_over_strata_covers_its_rate(sizes):
    rng = np.random.default_rng(44)
    for rates in (np.full(len(sizes), 0.5), np.linspace(0.2, 0.95, len(sizes)), np.full(len(sizes), 0.9)):
        wins, runs = rng.binomial(sizes, rates, (1500, len(sizes))), 0
        for row in wins:
            p = strata_rule.p_values(
                row.astype(float), np.array(sizes, float), np.full(len(sizes), 1 / len(sizes)),
                np.array([rates.mean()]), base=0.0,
            )  # fmt: skip
            runs += int(p[0] <= 0.05)
        assert runs <= scipy_stats.binom.ppf(0.999, 1500, 0.055)


# --- Refusals

REFUSED = [
    (lambda: stratified_gain({}), "at least one stratum"),
    (lambda: stratified_gain({"x": (Tally(1, 2), (1, 2))}), "`second` must be a Tally; got a tuple"),
    (lambda: stratified_gain(STONES, weights="seeds"), "`weights` must be one of rollouts, tasks"),
    (lambda: stratified_gain({"x": STONES["small"]}, weights={"y": 1}), "got a difference in x, y"),
    (lambda: stratified_gain(STONES, weights={"small": 1}), "got a difference in large"),
    (lambda: stratified_gain(STONES, weights={"small": 1, "large": -1}), "must be above 0; got -1"),
    (lambda: stratified_gain(STONES, confidence=95), "strictly between 0 and 1"),
    (lambda: stratified_gain(STONES, margin=2), "`margin` must be below 1"),
    (lambda: stratified_hoeffding_gain(STONES), "equally many rollouts of both policies on every task"),
    (lambda: stratified_rate({}), "at least one stratum"),
    (lambda: stratified_rate({"x": Tally(1, 2)}, weights={"y": 1.0}), "got a difference in x, y"),
    (lambda: stratified_t_gain({}), "at least one stratum"),
    (lambda: stratified_t_gain({"x": (Scores([1]), Scores([1, 0]))}), "at least 2 scores; got 1"),
    (
        lambda: stratified_t_gain({"x": (Scores([1, 0]),) * 2, "y": (Scores([1, 0], 0, 2),) * 2}),
        "scores of one range; got another on 'y'",
    ),
    (lambda: stratified_t_gain({"x": (Scores([1, 0]), [1, 0])}), "`second` must be a Scores; got a list"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_refusals(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()


def test_weights_sum_to_one():
    counts = {"x": 30, "y": 10}
    assert task_weights(counts, "rollouts") == {"x": 0.75, "y": 0.25}
    assert task_weights(counts, "tasks") == {"x": 0.5, "y": 0.5}
    assert task_weights(counts, {"x": 1, "y": 3}) == {"x": 0.25, "y": 0.75}
    with pytest.raises(ValueError, match="one number for each task; got a difference in y, z"):
        task_weights(counts, {"x": 1, "z": 3})
