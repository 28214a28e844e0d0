"""The order-free gain between two samples of scores of any sizes."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from surefoot import Gain, Scores, Verdict
from surefoot.reference import score_gain_bound, score_test
from surefoot.stats import paired_score_gain, score_gain, score_gains
from surefoot.stats.score_gains import surely_undecided
from tests.support.strategies import confidences

levels = st.sampled_from([0.0, 0.25, 0.3, 0.5, 1.0])
samples = st.lists(levels, min_size=1, max_size=12)


def coverage(grid, sizes, confidence):
    """The least chance over a grid of rates that the interval holds the gain; every table counted."""
    n, m = sizes
    found = {}
    for x, y in itertools.product(range(n + 1), range(m + 1)):
        first, second = Scores([1.0] * x + [0.0] * (n - x)), Scores([1.0] * y + [0.0] * (m - y))
        found[x, y] = score_gain(first, second, confidence=confidence).interval
    lows = np.array([[found[x, y].low for y in range(m + 1)] for x in range(n + 1)])
    highs = np.array([[found[x, y].high for y in range(m + 1)] for x in range(n + 1)])
    firsts, seconds = (binom.pmf(np.arange(size + 1)[None], size, grid[:, None]) for size in sizes)
    worst = 1.0
    for (i, p), (j, q) in itertools.product(enumerate(grid), repeat=2):
        held = (lows <= p - q + 1e-12) & (p - q - 1e-12 <= highs)
        worst = min(worst, float(firsts[i] @ held @ seconds[j]))
    return worst


def test_coverage_of_successes_counted_over_all_tables():
    grid = np.linspace(0, 1, 41)
    assert coverage(grid, (1, 2), 0.8) >= 0.8


@pytest.mark.slow
@pytest.mark.parametrize(
    "sizes", [(1, 1), (3, 2), (1, 4), (3, 3), (5, 3), (2, 6), (8, 8), (15, 2), (15, 6), (12, 12), (4, 11)]
)
def test_coverage_of_successes_counted_over_all_larger_tables(sizes):
    grid = np.linspace(0, 1, 101)
    for confidence in (0.8, 0.95, 0.99):
        assert coverage(grid, sizes, confidence) >= confidence


@pytest.mark.slow
def test_coverage_of_three_levels_counted_over_all_outcomes():
    level, laws = np.array([0.0, 0.5, 1.0]), [(a, b, 8 - a - b) for a in range(9) for b in range(9 - a)]
    tallies = {n: [(a, b, n - a - b) for a in range(n + 1) for b in range(n + 1 - a)] for n in (3, 5)}
    ends = np.array(
        [
            [
                (lambda found: (found.low, found.high))(
                    score_gain(Scores(np.repeat(level, one)), Scores(np.repeat(level, other)), confidence=0.9).interval
                )
                for other in tallies[3]
            ]
            for one in tallies[5]
        ]
    )

    def chances(law, n):
        law = np.array(law) / 8
        ways = [math.factorial(n) / math.prod(math.factorial(t) for t in tally) for tally in tallies[n]]
        return np.array(ways) * np.prod(law ** np.array(tallies[n]), axis=1)

    for one, other in itertools.product(laws, laws):
        gain = (np.array(one) - np.array(other)) @ level / 8
        held = (ends[..., 0] <= gain + 1e-12) & (gain - 1e-12 <= ends[..., 1])
        assert chances(one, 5) @ held @ chances(other, 3) >= 0.9


@settings(max_examples=3)
@given(first=samples, second=samples, confidence=st.sampled_from([0.6, 0.9, 0.95, 0.99]), seed=st.integers(0, 9))
def test_laws(first, second, confidence, seed):
    rng = np.random.default_rng(seed)

    def seen(gain):
        return gain.interval.low, gain.interval.high, gain.p_value

    found = score_gain(Scores(first), Scores(second), confidence=confidence)
    again = score_gain(Scores(rng.permutation(first)), Scores(rng.permutation(second)), confidence=confidence)
    assert seen(found) == seen(again)  # bit for bit
    assert found.estimate in found.interval
    assert (found.p_value <= 1 - confidence) == (found.verdict is not Verdict.UNDECIDED)
    swapped = score_gain(Scores(second), Scores(first), confidence=confidence).mirrored
    assert seen(swapped) == pytest.approx(seen(found), abs=2e-4)
    failures = score_gain(Scores([1 - x for x in second]), Scores([1 - x for x in first]), confidence=confidence)
    assert seen(failures) == pytest.approx(seen(found), abs=2e-4)
    if surely_undecided(Scores(first), Scores(second), confidence=confidence):
        assert found.verdict is Verdict.UNDECIDED


@settings(max_examples=6)
@given(first=samples, second=samples, margin=st.sampled_from([0.0, 0.2, 0.6]))
def test_what_is_surely_undecided_is_undecided(first, second, margin):
    one, other = Scores(first * 3), Scores(second * 3)
    if surely_undecided(one, other, confidence=0.9, margin=margin):
        assert score_gain(one, other, confidence=0.9, margin=margin).verdict is Verdict.UNDECIDED


def test_nothing_is_dropped():
    """The finding: of 200 v 50 rollouts 150 were left out."""
    rng = np.random.default_rng(3)
    first, second = Scores(rng.choice([0, 0.5, 1], 200)), Scores(rng.choice([0, 0.5], 50))
    found = score_gain(first, second)
    assert found.interval.trials == 250
    assert found.interval.width < 0.85 * score_gain(Scores(first.values[:50]), second).interval.width
    assert found.estimate == first.mean - second.mean


def test_bounds_and_tests_are_of_one_inversion():
    rng = np.random.default_rng(5)
    first, second = Scores(rng.choice([0, 1, 2, 4], 30), 0, 4), Scores(rng.choice([0, 1, 2], 18), 0, 4)
    lower, upper = (score_gain_bound(first, second, side) for side in ("lower", "upper"))
    found = score_gain(first, second, confidence=0.9)
    assert (lower.value, upper.value) == pytest.approx((found.interval.low, found.interval.high), abs=1e-9)
    assert score_test(first, second, gain=lower.value).above == pytest.approx(0.05, rel=1e-3)
    assert score_test(first, second, gain=upper.value).below == pytest.approx(0.05, rel=1e-3)
    assert score_test(first, second).p_value == found.p_value
    assert score_gain(first, second, confidence=0.99).interval.width > found.interval.width
    assert score_gain(first, second, margin=3.0).verdict is Verdict.SAME
    assert not surely_undecided(first, second, margin=3.0)
    assert surely_undecided(first, first)
    assert not surely_undecided(Scores([1] * 30), Scores([0] * 30))


def test_edges():
    alone = score_gain(Scores([1.0]), Scores([0.0]))
    assert alone.interval.high == 1.0
    assert -1.0 < alone.interval.low < 0.0
    for first, second in (([0.0] * 5, [0.0] * 4), ([1.0] * 5, [1.0] * 4), ([0.5] * 20, [0.5] * 3)):
        found = score_gain(Scores(first), Scores(second))
        assert found.p_value == 1.0
        assert found.interval.low < 0.0 < found.interval.high
    clear = score_test(Scores([1.0] * 400), Scores([0.0] * 400))
    assert 0.0 < clear.p_value < 1e-60


@pytest.mark.slow
def test_thousands_of_scores():
    many = score_gain(
        Scores(np.random.default_rng(1).beta(5, 1, 4_000)), Scores(np.random.default_rng(2).beta(4, 1, 3_000))
    )
    assert many.interval.low < 5 / 6 - 4 / 5 < many.interval.high
    assert many.interval.width < 0.02


@pytest.mark.slow
@pytest.mark.parametrize(("sizes", "share", "least"), [((40, 40), 1.0, 0.73), ((200, 50), 0.8, 0.86)])
def test_power_on_a_rubric(sizes, share, least):
    """The exact binomial chance of so few decisions, if this were the power, is at least 1 in 1,000."""
    rng, draws = np.random.default_rng(14), 1_500
    one, other = np.array([0.08, 0.12, 0.2, 0.2, 0.4]), np.array([0.2, 0.25, 0.25, 0.15, 0.15])
    one = other + share * (one - other)
    decided = 0
    for _ in range(draws):
        first, second = Scores(rng.choice(5, sizes[0], p=one) / 4), Scores(rng.choice(5, sizes[1], p=other) / 4)
        decided += not surely_undecided(first, second) and score_test(first, second).p_value <= 0.05
    assert binom.cdf(decided, draws, least) > 0.001


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: score_gain(Scores([1]), Scores([1], 0, 2)), "Scores on two scales have no gain"),
        (lambda: score_gain(Scores([1]), Scores([1]), margin=-1), "`margin` must be 0 or more"),
        (lambda: score_test(Scores([1]), Scores([1]), gain=-1.5), "`gain` must lie between -1 and 1"),
        (lambda: score_gain_bound(Scores([1]), Scores([1]), "left"), "`side` must be one of lower, upper"),
        (lambda: surely_undecided(Scores([1]), Scores([1]), confidence=1), "`confidence` must be strictly between"),
    ],
)
def test_refusals(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_results_travel():
    found = score_gain(Scores([0.2, 0.9, 0.8]), Scores([0.1]))
    assert Gain.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    assert (found.interval.scale, found.interval.trials) == ("score gain", 4)


def test_a_sorted_file_gives_the_answer_of_a_shuffled_one():
    """The finding: bets in recorded order gave opposite verdicts for one table, with the estimate left out."""
    gaps = np.linspace(-0.03, 0.04, 500)
    first, second = Scores(0.5 + gaps), Scores([0.5] * 500)
    back = Scores(0.5 + gaps[::-1])
    found = paired_score_gain(first, second)
    assert found.interval.low < found.estimate < found.interval.high
    assert (found.interval.low, found.interval.high, found.p_value) == (
        (again := paired_score_gain(back, second)).interval.low,
        again.interval.high,
        again.p_value,
    )
    assert found.verdict is again.verdict


def test_pairs_swap():
    rng = np.random.default_rng(4)
    first, second = Scores(rng.random(25)), Scores(rng.random(25))
    one, other = paired_score_gain(first, second), paired_score_gain(second, first)
    assert one.interval.low == pytest.approx(-other.interval.high, abs=1e-9)
    assert one.p_value == pytest.approx(other.p_value, rel=1e-6)
    assert paired_score_gain(first, first).p_value == 1.0


@settings(max_examples=40)
@given(data=st.lists(st.tuples(*[st.sampled_from([0, 0.25, 0.5, 1])] * 2), min_size=1, max_size=20), share=confidences)
def test_the_verdict_is_that_of_the_p_value(data, share):
    found = paired_score_gain(Scores([a for a, _ in data]), Scores([b for _, b in data]), confidence=share)
    assert (found.p_value <= 1 - share) == (found.verdict is not Verdict.UNDECIDED)


def test_pairs_are_first_minus_second():
    assert score_gains.paired(Scores([0.5, 1.0]), Scores([0.25, 0.0])).tolist() == [0.25, 1.0]


def test_differences_that_only_rounding_keeps_apart_are_one():
    found = score_gains.paired(Scores([0.3, 0.8]), Scores([0.1, 0.6]))
    assert found[0] == found[1]


def test_clusters_are_numbered_as_they_come():
    numbers, count = score_gains.labels(["b", "a", "b", None], 4)
    assert numbers.tolist() == [0, 1, 0, 2]
    assert count == 3


def test_a_gain_stays_inside_what_scores_can_differ_by_and_holds_its_estimate():
    data = Scores([0.5, 1.0]), Scores([0.0, 0.5])
    gain = score_gains.gain_of(
        data, (0.6, 1.7), estimate=0.5, confidence=0.9, method="mine", margin=0.1, trials=2, p_value=1.2
    )
    assert (gain.interval.low, gain.interval.high, gain.p_value) == (0.5, 1.0, 1.0)
    assert gain.verdict is Verdict.BETTER
    wider = score_gains.gain_of(data, (-0.2, 0.4), estimate=0.1, confidence=0.9, method="mine", margin=0.0, trials=2)
    assert wider.verdict is Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: score_gains.paired(Scores([1.0]), Scores([1.0, 0.0])),
            "for each score of `first`, 1; got 2",
        ),
        (lambda: score_gains.check_ranges(Scores([1.0]), Scores([1.0], high=5.0)), "must have the range of `first`"),
        (lambda: score_gains.labels(["a", "b"], 3), "one cluster per observation, 3; got 2"),
        (lambda: score_gains.labels(["a", "a"], 2), "at least 2 clusters; got 1"),
        (lambda: score_gains.labels([1.0, float("nan")], 2), "got NaN for some"),
    ],
)
def test_refusals_of_differences(call, said):
    with pytest.raises(ValueError, match=said):
        call()


@pytest.mark.parametrize("numbers", [[3, 3, 1, 7, 1], [0, 1, 2], [5, 4, 5, 4, 9, 0]])
def test_labels_in_an_array_are_numbered_as_in_a_list(numbers: list[int]) -> None:
    found, count = score_gains.labels(np.asarray(numbers), len(numbers))
    same, as_many = score_gains.labels(numbers, len(numbers))
    assert (found.tolist(), count) == (same.tolist(), as_many)


@pytest.mark.parametrize(("numbers", "size"), [([1, 1, 1], 3), ([1, 2], 3)])
def test_labels_in_an_array_are_refused_as_in_a_list(numbers: list[int], size: int) -> None:
    with pytest.raises(ValueError, match="clusters"):
        score_gains.labels(np.asarray(numbers), size)
