"""Tests of `surefoot.stats.rankings`."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import Ranking, Scores, Tally, Verdict, reference, stats
from surefoot.reference import benjamini_hochberg, bonferroni, bonferroni_gains, e_benjamini_hochberg, holm_gains, welch
from surefoot.stats import against_baseline, compact_letters, holm, rank_intervals, rank_policies
from tests.oracles import many as twin
from tests.support.many_policies import hybrid


@given(data=st.data(), count=st.integers(1, 6))
@settings(max_examples=60)
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


def test_intervals_of_rows_hold_together_unless_asked_otherwise():
    together, own = rank_policies(TALLIES), rank_policies(TALLIES, own_intervals=True)
    assert together.intervals == tuple(replace(one, data=()) for one in stats.simultaneous_intervals(TALLIES).values())
    assert own.intervals == tuple(replace(stats.wilson(one), data=()) for one in TALLIES.values())
    assert "Intervals: 95% for all rows together." in str(together).splitlines()
    assert "Intervals: 95% for each row by itself." in str(own).splitlines()
    assert Ranking.from_dict(together.to_dict()) == together


def test_a_ranking_of_0_2_0_is_read_with_its_own_intervals():
    now = rank_policies(TALLIES, own_intervals=True)
    then = now.to_dict()
    then["alone"] = then.pop("intervals")
    for name in ("own_intervals", "selection"):
        del then[name]
    assert Ranking.from_dict(then) == replace(now, selection=None)


def test_the_highest_is_said_to_be_too_high_and_a_tie_has_no_winner():
    equal = {f"c{place}": Tally(40, 50) for place in range(19)}
    assert (
        "top: its 86.0% is probably about 9 points too high, because it was picked as the highest of 20."
        in str(rank_policies({"top": Tally(43, 50), **equal})).splitlines()
    )
    tie = str(rank_policies({"DP": Tally(12, 20), "ACT": Tally(12, 20)}))
    assert tie.splitlines()[-1] == "DP and ACT are tied for the highest estimate."
    assert "too high" not in tie
    scores = rank_policies({"a": Scores([0.5, 0.6]), "b": Scores([0.1, 0.2])})
    assert scores.selection is None


def test_the_text_of_a_ranking():
    assert str(rank_policies(TALLIES, using=hybrid)).splitlines()[0].startswith("a  94.0% [80.2%, 99.3%] n=50  rank 1")
    many = rank_policies({f"p{i}": Scores([i / 9, (i + 1) / 9]) for i in range(8)}, using=welch)
    assert "0.833" in str(many)


def test_tallies_are_compared_exactly_unless_told_otherwise():
    found = rank_policies(TALLIES)
    alone = reference.central_gain(TALLIES["a"], TALLIES["d"], confidence=1 - 0.05 / 6)
    assert (found.gain("a", "d").interval.low, found.gain("a", "d").interval.high) == (
        alone.interval.low,
        alone.interval.high,
    )
    assert found.gain("a", "d").p_value == pytest.approx(6 * alone.p_value)
    two = rank_policies({"a": TALLIES["a"], "b": TALLIES["b"]})  # a family of one pair is the comparison itself
    assert two.gain("a", "b").interval.low == stats.exact_gain(TALLIES["a"], TALLIES["b"]).interval.low
    stepped = rank_policies(TALLIES, adjusting=holm_gains)
    assert [gain.verdict for gain in stepped.gains].count(Verdict.BETTER) >= 3


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


def test_a_ranking_of_scores_is_the_same_in_any_order_of_the_rows():
    """Finding T1: scores were bet on in recorded order."""
    rng = np.random.default_rng(4)
    scores = {name: np.sort(rng.choice([0, 0.25, 0.5, 0.75, 1.0], 30, p=law)) for name, law in LAWS.items()}
    plain = rank_policies({name: Scores(own) for name, own in scores.items()}, margin=0.01)
    mixed = rank_policies({name: Scores(rng.permutation(own)) for name, own in scores.items()}, margin=0.01)
    for one, other in zip(plain.members, mixed.members, strict=True):
        assert one.verdict is other.verdict
        assert one.p_value == pytest.approx(other.p_value, rel=1e-9)
        assert one.gain.interval.low == pytest.approx(other.gain.interval.low, abs=1e-9)
    assert {one.verdict for one in plain.members} == {Verdict.BETTER, Verdict.UNDECIDED}
    best, worst = (Scores(scores[name]) for name in ("good", "bad"))
    member = plain.member("good", "bad")
    assert member.p_value == pytest.approx(6 * reference.score_test(best, worst, gain=0.01).above, rel=0.01)


LAWS = {"good": (0, 0, 0.1, 0.3, 0.6), "fair": (0, 0.05, 0.15, 0.3, 0.5), "bad": (0.5, 0.3, 0.2, 0, 0)}
