"""Tests of `surefoot.analysis.rankings`."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot import Verdict, stats
from surefoot.analysis.overview import overview
from surefoot.analysis.rankings import all_pairs, highest_bias, independent, leading_outlook, measure_together
from surefoot.reporting import answers, tables
from surefoot.stats.selection import simultaneous_confidence
from tests.support.comparisons import by_tally, streams


def test_sessions_with_several_preferences_are_drawn_as_a_whole():
    winners = ["A", "A", "A", "A", "B", "B", "B", "B", "A", "A", "A", "A"]
    rows = {"session": [n // 4 for n in range(96)], "A": ["x"] * 96, "B": ["y"] * 96, "winner": winners * 8}
    alike = sf.rank_preferences(sf.read_preferences(pl.DataFrame(rows)), rng=1)
    alone = sf.rank_preferences(sf.read_preferences(pl.DataFrame(rows).drop("session")), rng=1)
    assert alike.log_strengths == alone.log_strengths
    assert alike.intervals[0].width > 1.5 * alone.intervals[0].width


def test_a_ranking_holds_together_and_letters_agree_with_verdicts():
    counts = {"new": 19, "mid": 10, "old": 4, "mid2": 11}
    rows = [(name, i < k) for name, k in counts.items() for i in range(20)]
    found = sf.rank(sf.read(pl.DataFrame(rows, schema=["policy", "success"], orient="row")))
    assert found.names == ("new", "mid2", "mid", "old")
    letters = dict(zip(found.names, found.letters.letters, strict=True))
    for (first, second), member in zip(found.pairs, found.members, strict=True):
        apart = member.verdict in (Verdict.BETTER, Verdict.WORSE)
        assert apart or 0.0 in member.gain.interval  # the step-down decides what the intervals decide, and more
        assert apart == (member.p_value <= 0.05)
        assert apart == (not set(letters[first]) & set(letters[second]))
    share = 1 - 0.05 / 6
    alone = sf.reference.central_gain(sf.Tally(19, 20), sf.Tally(4, 20), confidence=share)
    assert found.gain("new", "old").interval.low == alone.interval.low
    assert found.gain("new", "old").p_value == pytest.approx(min(1.0, 6 * alone.p_value), rel=1e-9)
    assert found.member("new", "old").p_value <= found.gain("new", "old").p_value


@pytest.mark.parametrize("paired", [True, False])
def test_a_comparison_in_a_ranking_is_that_of_the_better_against_the_worse(paired):
    ended = {"a": [1] * 10 + [1] * 3 + [0] * 17, "b": [1] * 10 + [0] * 3 + [1] * 7 + [0] * 10}
    rows = [(name, str(place), k) for name, of in ended.items() for place, k in enumerate(of)]
    frame = pl.DataFrame(rows, schema=["policy", "condition", "success"], orient="row")
    rollouts = sf.read(frame if paired else frame.drop("condition"))
    (found,) = all_pairs(rollouts)
    assert (found.first, found.second) == ("b", "a")
    assert found == sf.compare(rollouts, "b", "a")  # what it keeps of the data too


def test_the_best_two_not_told_apart_say_what_would_tell():
    rows = [(name, i < k) for name, k in (("a", 18), ("b", 16), ("c", 2)) for i in range(20)]
    found = all_pairs(sf.read(pl.DataFrame(rows, schema=["policy", "success"], orient="row")))
    assert [bool(one.outlook) for one in found] == [True, False, False]
    assert leading_outlook(found).startswith("To tell a from b: 20 rollouts each could have shown")
    assert leading_outlook(found[1:]) == ""


def test_a_ranking_wants_two_policies_and_tells_how_far_it_is():
    with pytest.raises(ValueError, match="must hold at least two policies with a success to rank; got new"):
        sf.rank(streams(17, 8).where(policy="new"))
    told = []
    sf.rank(streams(17, 8), progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]


def test_nothing_follows_for_two_that_share_no_task():
    rollouts = by_tally(("A", "x", 28, 30), ("B", "x", 5, 30), ("B", "y", 28, 30), ("C", "y", 5, 30))
    ranking = sf.rank(rollouts)
    assert dict(zip(ranking.names, ranking.ranks, strict=True)) == {"A": (1, 2), "B": (2, 2), "C": (2, 3)}
    assert ranking.gain("A", "C").verdict is Verdict.UNDECIDED  # in the record too, not only in the sentence


def test_a_ranking_narrows_its_table_for_each_policy_and_not_for_each_pair(monkeypatch):
    made, asked = sf.Rollouts.where, []
    monkeypatch.setattr(sf.Rollouts, "where", lambda self, **only: asked.append(only) or made(self, **only))
    table = sf.read(
        pl.DataFrame({"policy": [f"p{i % 12}" for i in range(120)], "success": [i % 7 < 4 for i in range(120)]})
    )
    assert len(all_pairs(table)) == 66
    assert len(asked) <= 6 * 12


def test_a_ranking_groups_the_rows_by_environment_once(monkeypatch):
    """Of a hundred million rows each such pass takes long: what is found out of all policies is handed on to each."""
    from surefoot.table import crosstab

    passes = []
    made = crosstab._in_one_pass
    monkeypatch.setattr(crosstab, "_in_one_pass", lambda *given: passes.append(given) or made(*given))
    rows = [(name, seed, seed % 10 < k) for name, k in (("a", 9), ("b", 6), ("c", 3)) for seed in range(40)]
    table = sf.read(pl.DataFrame(rows, schema=["policy", "seed", "success"], orient="row"))
    assert sf.rank(table).names == ("a", "b", "c")
    sf.measure(table)
    assert len(passes) == 1


def test_a_ranking_hears_what_a_comparison_hears_of_columns_met_unevenly():
    """Simpson: pooled the one is far better, on each light the other is."""
    counts = [("a", "dim", 2, 10), ("a", "lit", 72, 90), ("b", "dim", 36, 90), ("b", "lit", 9, 10)]
    rows = [(p, light, place < k) for p, light, k, n in counts for place in range(n)]
    table = sf.read(pl.DataFrame(rows, schema=["policy", "light", "success"], orient="row"))
    (found,) = all_pairs(table)
    assert found.verdict is Verdict.UNDECIDED
    assert found.gain == sf.compare(table, "a", "b").gain
    assert found.p_value == 1.0


def test_one_target_for_all_pairs_even_where_some_policies_met_units_once():
    rows = [
        (p, f"t{t}", (t + k + len(p)) % 3 > 0)
        for p, n in (("a", 1), ("bb", 1), ("c", 3))
        for t in range(10)
        for k in range(n)
    ]
    table = sf.read(pl.DataFrame(rows, schema=["policy", "task", "success"], orient="row")).declare(unit="task")
    assert {sf.compare(table, *pair).about.target for pair in (("a", "bb"), ("a", "c"))} == {"like", "these"}
    assert {one.about.target for one in all_pairs(table)} == {"like"}


def table(successes, n=50, **columns):
    rows = [(f"p{place:02}", int(at < count)) for place, count in enumerate(successes) for at in range(n)]
    frame = pl.DataFrame(rows, schema=["policy", "success"], orient="row")
    return sf.read(frame.with_columns(**{name: pl.Series(make) for name, make in columns.items()}))


def test_rows_of_a_report_are_those_of_the_ranking_and_hold_together():
    rollouts = table([45, 40, 20])
    rows = {one.policy: one.success for one in overview(rollouts).policies}
    ranking = sf.rank(rollouts)
    wanted = stats.simultaneous_intervals({"p00": sf.Tally(45, 50), "p01": sf.Tally(40, 50), "p02": sf.Tally(20, 50)})
    for name, one in zip(ranking.names, ranking.intervals, strict=True):
        assert (one.low, one.high) == (rows[name].low, rows[name].high) == (wanted[name].low, wanted[name].high)
        assert one.method == rows[name].method == "Sidak-over-3 Clopper-Pearson"
        assert one.confidence == 0.95
    own = sf.rank(rollouts, own_intervals=True)
    assert own.intervals[0].low == stats.wilson(sf.Tally(45, 50)).low
    assert own.own_intervals


def test_policies_on_shared_conditions_pay_bonferroni():
    rollouts = table([45, 40, 20], condition=list(range(50)) * 3)
    assert not independent(rollouts)
    found = sf.rank(rollouts)
    low = stats.clopper_pearson(sf.Tally(45, 50), confidence=1 - 0.05 / 3).low
    assert found.intervals[0].low == pytest.approx(low, abs=1e-12)
    assert found.selection is None


def test_scores_and_successes_are_each_a_family():
    rng = np.random.default_rng(1)
    scores = rng.random(60).round(2).tolist()
    found = measure_together(table([15, 12, 10], n=20, score=scores))
    each = simultaneous_confidence(3)
    wanted = stats.score_mean(sf.Scores(sorted(scores[:20])), confidence=each)
    assert (found[0].score.low, found[0].score.high) == pytest.approx((wanted.low, wanted.high))
    assert found[0].success.method == "Sidak-over-3 Clopper-Pearson"
    notes = tables.notes(overview(table([15, 12, 10], n=20, score=scores)))
    assert notes[:2] == [
        "Intervals: 95% for all rows together.",
        "Rates and mean scores are two families, each by itself.",
    ]


def test_one_policy_keeps_its_own_interval():
    (only,) = measure_together(table([15], n=20))
    assert only.success == stats.wilson(sf.Tally(15, 20))


def test_bias_of_the_highest_is_for_independent_successes_of_one_task():
    names = ["p00", "p01"]
    assert highest_bias(table([45, 40]), "success", names).names == ("p00",)
    assert highest_bias(table([45, 40], task=["a", "b"] * 50), "success", names) is None
    assert highest_bias(table([45, 40], cluster=["a", "b"] * 50), "success", names) is None
    assert highest_bias(table([45, 40]), "score", names) is None


def test_a_page_says_that_the_highest_is_too_high():
    found = overview(table([43, *[40] * 4]))
    line = "p00: its 86.0% is probably about 5 points too high, because it was picked as the highest of 5."
    assert line in tables.notes(found)


def test_a_tie_has_no_winner():
    """T31: 12/20 v 12/20 said that one of them has the highest estimate."""
    said = answers.overview_answer(overview(table([12, 12, 11], n=20)))[0]
    assert said.startswith("For rollouts like these: cannot tell which of 3 policies is best; ")
    assert said.endswith("p00 and p01 are tied for the highest estimate.")


def test_no_page_promises_more_than_its_verdicts():
    """T30: "95% that every statement here holds" stood above rows that did not hold together."""
    said = " ".join(answers.overview_answer(overview(table([43, 40, 30]))))
    assert "95% that all verdicts and intervals of gains hold." in said
    assert "every statement" not in said


@pytest.mark.parametrize("count", [5, 20])
def test_all_rows_of_a_page_hold_together(count):
    """T30 by numbers of pages: 0.2.0 held in .80 of 5 x 50 and .41 of 20 x 50. The rows of a page are these ends."""
    rng = np.random.default_rng(30)
    rates = rng.uniform(0.5, 0.9, count)
    ends = [
        measure_together(table([k, *[25] * (count - 1)]))[0].success for k in range(51)
    ]  # by every count, as a page shows it
    low, high = (np.array([getattr(one, side) for one in ends]) for side in ("low", "high"))
    met = rng.binomial(50, rates, (2000, count))
    assert np.mean(np.all((low[met] <= rates) & (rates <= high[met]), axis=1)) >= 0.95
