"""Many policies at once: adjusted p-values, letters, families of gains, rankings."""

import itertools
import math
import random
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import bdtrc

from surefoot import Interval, Scores, Tally, Verdict, stats
from surefoot.core.gain import decide
from surefoot.numerics import rate_ends
from surefoot.numerics.normal_quantiles import upper_quantile
from surefoot.stats import (
    Letters,
    Ranking,
    against_baseline,
    benjamini_hochberg,
    bonferroni,
    bonferroni_gains,
    compact_letters,
    e_benjamini_hochberg,
    holm,
    holm_gains,
    rank_intervals,
    rank_policies,
    sidak,
    welch,
)
from tests.oracles import many as twin
from tests.reference import cases

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def hybrid(first, second, *, confidence):
    """A quick interval of the gain, written here so that these tests rest on nothing else: Newcombe's hybrid score."""
    z = upper_quantile((1 - confidence) / 2)
    ends = []
    for tally in (first, second):
        k, n = tally.successes, tally.trials
        ends.append((rate_ends.wilson_low(k, n, z), k / n, rate_ends.wilson_high(k, n, z)))
    (l1, p1, u1), (l2, p2, u2) = ends
    low, high = p1 - p2 - math.hypot(p1 - l1, u2 - p2), p1 - p2 + math.hypot(u1 - p1, p2 - l2)
    return Interval(low, high, p1 - p2, confidence, "hybrid", scale="gain")


@pytest.mark.parametrize("case", cases("multiplicity"))
def test_adjusted_p_values_of_the_reference(case):
    asked, wanted = case
    for name, adjust in (("bonferroni", bonferroni), ("sidak", sidak), ("holm", holm), ("bh", benjamini_hochberg)):
        assert adjust(asked["p"]) == pytest.approx(wanted[name], rel=1e-12)


@given(p=p_values)
@settings(max_examples=60, deadline=None)
def test_adjusted_p_values_are_their_twins(p):
    assert holm(p) == pytest.approx(twin.holm(p), rel=1e-12)
    assert benjamini_hochberg(p) == pytest.approx(twin.benjamini_hochberg(p), rel=1e-12)
    assert sidak(p) == pytest.approx(twin.sidak(p), rel=1e-9, abs=1e-15)
    assert all(h <= b for h, b in zip(holm(p), bonferroni(p), strict=True))


@given(p=p_values, data=st.data())
@settings(max_examples=30, deadline=None)
def test_adjusting_does_not_depend_on_the_order(p, data):
    order = data.draw(st.permutations(range(len(p))))
    for adjust in (bonferroni, sidak, holm, benjamini_hochberg):
        straight, moved = adjust(p), adjust([p[i] for i in order])
        assert tuple(straight[i] for i in order) == moved


@given(e=st.lists(st.floats(0, 1e6), min_size=1, max_size=10), error=st.sampled_from([0.01, 0.05, 0.2]))
@settings(max_examples=60, deadline=None)
def test_e_values_stand_as_in_the_published_procedure(e, error):
    adjusted = e_benjamini_hochberg(e)
    wanted = twin.e_benjamini_hochberg(e, error)
    # a tie with the threshold may fall either way by rounding
    assert all(stands == (p <= error) for p, stands in zip(adjusted, wanted, strict=True) if abs(p - error) > 1e-12)


def test_e_values_at_their_edges():
    assert e_benjamini_hochberg([math.inf, 0.0]) == (0.0, 1.0)


@pytest.mark.parametrize("case", cases("compact_letter_display"))
def test_letters_of_the_reference(case):
    asked, wanted = case
    found = compact_letters(asked["names"], asked["significant_pairs"], estimates=asked["means"])
    assert {name: found.of(name) for name in asked["names"]} == wanted


@given(data=st.data(), count=st.integers(1, 7))
@settings(max_examples=80, deadline=None)
def test_letters_are_their_twin(data, count):
    names = [f"p{i}" for i in range(count)]
    pairs = list(itertools.combinations(names, 2))
    separated = data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    means = data.draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
    found = compact_letters(names, separated, estimates=means)
    assert {name: found.of(name) for name in names} == twin.letters(names, means, separated)
    assert Letters.from_dict(found.to_dict()) == found


def named(count, separated):
    return compact_letters(
        [f"p{i}" for i in range(count)],
        [(f"p{i}", f"p{j}") for i, j in itertools.combinations(range(count), 2) if separated(i, j)],
    )


def test_letters_stay_fast_and_never_hang():
    chance = random.Random(3)
    start = time.process_time()
    ladder = named(30, lambda i, j: j - i > 3)
    assert time.process_time() - start < 0.1
    assert ladder.letters[:3] == ("a", "ab", "abc")
    start = time.process_time()
    mixed = named(30, lambda i, j: chance.random() < 0.5)
    assert time.process_time() - start < 1
    assert mixed.complete
    assert not mixed.readable
    assert "rank intervals" in mixed.notes[0]
    start = time.process_time()
    worst = named(60, lambda i, j: i // 3 == j // 3)  # 3^20 groups
    assert time.process_time() - start < 1
    assert not worst.complete
    assert str(worst).startswith("Too many letters")
    assert named(50, lambda i, j: j - i > 5).complete


def test_two_share_a_letter_exactly_when_not_separated():
    chance = random.Random(8)
    apart = {pair for pair in itertools.combinations(range(40), 2) if chance.random() < 0.5}
    found = named(40, lambda i, j: (i, j) in apart)
    sets = [{g for g, group in enumerate(found.groups) if f"p{i}" in group} for i in range(40)]
    for i, j in itertools.combinations(range(40), 2):
        assert bool(sets[i] & sets[j]) == ((i, j) not in apart)


@given(data=st.data(), count=st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_rank_intervals_are_their_twin(data, count):
    order = data.draw(st.permutations(range(count)))
    pairs = [(order[i], order[j]) for i, j in itertools.combinations(range(count), 2)]
    better = data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    flips = data.draw(st.lists(st.booleans(), min_size=len(better), max_size=len(better)))
    names = [str(i) for i in range(count)]
    shown = [(str(j), str(i)) if flip else (str(i), str(j)) for (i, j), flip in zip(better, flips, strict=True)]
    verdicts = [Verdict.WORSE if flip else Verdict.BETTER for flip in flips]
    assert list(rank_intervals(names, shown, verdicts)) == twin.rank_intervals(count, better)


TALLIES = {"a": Tally(47, 50), "b": Tally(40, 50), "c": Tally(38, 50), "d": Tally(15, 50)}


@pytest.mark.parametrize("adjusting", [bonferroni_gains, holm_gains])
def test_a_ranking_holds_together(adjusting):
    found = rank_policies(TALLIES, using=hybrid, adjusting=adjusting)
    assert found.names == ("a", "b", "c", "d")
    assert len(found.gains) == 6
    for gain in found.gains:
        assert gain.confidence == 0.95
        assert (0.0 in gain.interval) == (gain.verdict is Verdict.UNDECIDED)
    assert found.gain("d", "a").verdict is Verdict.WORSE
    assert found.gain("d", "a").interval.high == -found.gain("a", "d").interval.low
    assert found.letters.of("d") not in found.letters.of("a")
    assert found.ranks[-1] == (4, 4)
    assert Ranking.from_dict(found.to_dict()) == found


def test_bonferroni_pays_for_every_pair_and_nothing_else():
    pairs = [(TALLIES["a"], TALLIES["b"]), (TALLIES["a"], TALLIES["d"]), (TALLIES["b"], TALLIES["c"])]
    for gain, (first, second) in zip(bonferroni_gains(pairs, hybrid), pairs, strict=True):
        alone = hybrid(first, second, confidence=1 - 0.05 / 3)
        assert (gain.interval.low, gain.interval.high) == (alone.low, alone.high)
    scores = Scores([0.6, 0.7, 0.9, 0.8]), Scores([0.1, 0.3, 0.4, 0.2])
    single = welch(*scores).p_value
    assert bonferroni_gains([scores] * 4, welch)[0].p_value == pytest.approx(4 * single)
    assert len(against_baseline(TALLIES, "d", using=hybrid).gains) == 3
    beside = against_baseline(TALLIES, "d", using=hybrid).gains[0].interval
    assert beside.width < rank_policies(TALLIES, using=hybrid).gain("a", "d").interval.width


tallies = st.tuples(st.integers(0, 40), st.integers(0, 40)).map(lambda pair: (Tally(pair[0], 40), Tally(pair[1], 40)))


@given(pairs=st.lists(tallies, min_size=1, max_size=6), margin=st.sampled_from([0.0, 0.1]))
@settings(max_examples=60, deadline=None)
def test_holm_decides_all_that_bonferroni_does_and_is_the_step_down_procedure(pairs, margin):
    plain, stepped = bonferroni_gains(pairs, hybrid, margin=margin), holm_gains(pairs, hybrid, margin=margin)
    for one, other in zip(plain, stepped, strict=True):
        if one.verdict in (Verdict.BETTER, Verdict.WORSE):
            assert other.verdict is one.verdict
        assert other.verdict is decide(other.interval.low, other.interval.high, margin)

    # the slow twin: one hypothesis rejected at a time, the largest evidence first
    rejected: set[tuple[int, str]] = set()
    while True:
        left = 2 * len(pairs) - len(rejected)
        fresh = None
        for i, pair in enumerate(pairs):
            seen = hybrid(*pair, confidence=1 - 2 * 0.05 / left)
            if seen.low > margin and (i, "+") not in rejected:
                fresh = (i, "+")
            if seen.high < -margin and (i, "-") not in rejected:
                fresh = (i, "-")
        if fresh is None:
            break
        rejected.add(fresh)
    for i, gain in enumerate(stepped):
        assert (gain.verdict is Verdict.BETTER) == ((i, "+") in rejected)
        assert (gain.verdict is Verdict.WORSE) == ((i, "-") in rejected)
        if (i, "+") in rejected:
            assert gain.interval.low == pytest.approx(margin, abs=1e-12)


def test_holm_at_any_confidence():
    pair = [(Tally(40, 40), Tally(0, 40))]
    for confidence in (0.3, 0.5, 0.95):
        assert holm_gains(pair, hybrid, confidence=confidence)[0].verdict is Verdict.BETTER


def test_family_wise_error_counts_both_directions():
    """Equal policies: the chance of any verdict, both directions, over six pairs of four, by simulation."""
    rng = np.random.default_rng(12)
    runs, false = 400, {bonferroni_gains: 0, holm_gains: 0}
    for draw in rng.binomial(60, 0.6, size=(runs, 4)):
        data = {str(i): Tally(int(k), 60) for i, k in enumerate(draw)}
        for adjusting in false:
            gains = rank_policies(data, using=hybrid, adjusting=adjusting).gains
            false[adjusting] += any(gain.verdict is not Verdict.UNDECIDED for gain in gains)
    most = next(k for k in range(runs) if bdtrc(k, runs, 0.05) < 1e-3)  # more would break the promise
    assert max(false.values()) <= most
    assert false[bonferroni_gains] == false[holm_gains]  # Holm's first step is Bonferroni's


def test_the_text_of_a_ranking():
    assert str(rank_policies(TALLIES, using=hybrid)).splitlines()[0].startswith("a  94.0% [83.7%, 98.0%] n=50  rank 1")
    many = rank_policies({f"p{i}": Scores([i / 9, (i + 1) / 9]) for i in range(8)}, using=welch)
    assert "0.833" in str(many)


def test_tallies_are_compared_exactly_unless_told_otherwise():
    found = rank_policies(TALLIES)
    alone = stats.central_gain(TALLIES["a"], TALLIES["d"], confidence=1 - 0.05 / 6)
    assert (found.gain("a", "d").interval.low, found.gain("a", "d").interval.high) == (
        alone.interval.low,
        alone.interval.high,
    )
    assert found.gain("a", "d").p_value == pytest.approx(6 * alone.p_value)
    two = rank_policies({"a": TALLIES["a"], "b": TALLIES["b"]})  # a family of one pair is the comparison itself
    assert two.gain("a", "b").interval.low == stats.exact_gain(TALLIES["a"], TALLIES["b"]).interval.low
    stepped = rank_policies(TALLIES, adjusting=holm_gains)
    assert [gain.verdict for gain in stepped.gains].count(Verdict.BETTER) >= 3


def test_stepped_p_values_count_each_direction():
    """Holm over six hypotheses, three of them in the observed direction at half the two-sided p-value."""
    pairs = [(Tally(30, 40), Tally(25, 40)), (Tally(38, 40), Tally(20, 40)), (Tally(34, 40), Tally(24, 40))]
    third, least, middle = (stats.central_gain(*pair, confidence=1 - 0.05 / 3).p_value for pair in pairs)
    assert least < middle < third
    for using in (None, stats.central_gain, stats.exact_gain):  # the exact gain gives way to the central one
        found = [gain.p_value for gain in holm_gains(pairs, using)]
        assert found == pytest.approx([min(1.0, 4 * third / 2), 6 * least / 2, 5 * middle / 2], rel=1e-6)
    assert [gain.p_value for gain in holm_gains(pairs, hybrid)] == [None] * 3  # an interval alone has none


REFUSALS = [
    (lambda: bonferroni([]), "at least one value"),
    (lambda: holm([0.1, 1.2]), r"`p_values\[1\]` must be between 0 and 1"),
    (lambda: benjamini_hochberg([float("nan")]), "must be finite"),
    (lambda: e_benjamini_hochberg([-1.0]), "0 or more"),
    (lambda: compact_letters([], []), "at least one policy"),
    (lambda: compact_letters(["a", "a"], []), "differ from one another"),
    (lambda: compact_letters(["a", "b"], [("a", "x")]), "`separated` must name policies of a, b"),
    (lambda: compact_letters(["a", "b"], [("a", "a")]), "two different policies"),
    (lambda: compact_letters(["a", "b"], [], estimates=[1]), "one number per policy, 2"),
    (lambda: compact_letters("ab", []), "a list of names"),
    (lambda: compact_letters(["a"], []).of("b"), "`name` must be one of a"),
    (lambda: rank_policies({"a": Tally(1, 2)}), "at least 2 policies"),
    (lambda: rank_policies({"a": Tally(1, 2), "b": 3}), "be a Tally or Scores"),
    (lambda: rank_policies({"a": np.array([0.1]), "b": np.array([0.5])}), "be a Tally or Scores"),
    (lambda: rank_policies({"a": Tally(1, 2), "b": Scores([1])}), "two tallies or two sets of scores"),
    (lambda: against_baseline(TALLIES, "x"), "`baseline` must be one of a, b, c, d"),
    (lambda: against_baseline({"a": Tally(1, 2)}, "a"), "besides the baseline"),
    (lambda: bonferroni_gains([], hybrid), "at least one comparison"),
    (lambda: bonferroni_gains([(Scores([1]), Scores([0]))], margin=1.0), "`margin` must be below 1, the largest gain"),
    (lambda: holm_gains([(Scores([1], 0, 2), Scores([0], 0, 2))], margin=2), "`margin` must be below 2, the largest"),
    (lambda: rank_intervals(["a", "b"], [("a", "x")], [Verdict.BETTER]), "`pairs` must name policies of a, b; got 'x'"),
    (lambda: rank_intervals(["a", "b"], [("a", "b")], []), "`verdicts` must hold one verdict per pair, 1; got 0"),
    (lambda: rank_policies(TALLIES, using=hybrid).gain("a", "x"), "`name` must be one of a, b, c, d; got 'x'"),
    (lambda: rank_policies(TALLIES, using=hybrid).gain("a", "a"), "`second` must differ from `first`; got 'a'"),
    (lambda: rank_intervals(["a", "b"], [("a", "b"), ("b", "a")], [Verdict.BETTER] * 2), "form a circle"),
]


@pytest.mark.parametrize(("call", "words"), REFUSALS, ids=[words for _, words in REFUSALS])
def test_refusals(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()
