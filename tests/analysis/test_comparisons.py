"""From a table to named results: the right method is chosen, and the result says which and why."""

from __future__ import annotations

import polars as pl
import pytest

import surefoot as sf
from surefoot import Verdict
from surefoot.analysis.changes import change
from surefoot.analysis.overview import overview
from surefoot.core.notes import Note
from tests.support.comparisons import _of_rows, streams, table


def test_what_cannot_be_paired_by_position_is_refused(tmp_path):
    (tmp_path / "counts.csv").write_text("policy,successes,trials\nnew,17,20\nold,8,20\n")
    with pytest.raises(sf.DataError, match="pair the n-th with the n-th; it is not"):
        sf.compare(sf.read(tmp_path / "counts.csv"), "new", "old", paired=True)


def test_tasks_are_a_family():
    rows = [(p, t, i < k) for t in "xyz" for p, k in (("new", 16), ("old", 5)) for i in range(20)]
    rollouts = sf.read(pl.DataFrame(rows, schema=["policy", "task", "success"], orient="row"))
    found = sf.compare_by(rollouts, "new", "old")
    assert [one.task for one in found] == ["x", "y", "z"]
    alone = sf.reference.central_gain(sf.Tally(16, 20), sf.Tally(5, 20), confidence=1 - 0.05 / 3)
    assert all(one.interval.low == alone.interval.low for one in found)
    assert all(one.interval.confidence == 0.95 for one in found)


def test_a_margin_reaches_the_verdict():
    assert sf.compare(streams(17, 8), "new", "old").verdict is Verdict.BETTER
    assert sf.compare(streams(17, 8), "new", "old", margin=0.4).verdict is Verdict.UNDECIDED


def test_results_go_to_json_and_back():
    found = sf.compare(streams(17, 8), "new", "old")
    assert sf.Comparison.from_dict(found.to_dict()) == found
    ranking = sf.rank(streams(17, 8))
    assert sf.Ranking.from_dict(ranking.to_dict()) == ranking


APART = [("a", "x"), ("b", "y"), ("c", "x"), ("c", "y")]
"""Two policies without a common task; the third shows that the task is no mark of a policy."""


def test_policies_that_share_no_task_are_still_reported_and_it_is_said():
    wins = {"a": 18, "b": 9, "c": 2}
    rows = [(policy, task, i < wins[policy]) for policy, task in APART for i in range(20)]
    table = sf.read(pl.DataFrame(rows, schema=["policy", "task", "success"], orient="row"))
    assert table.design.watched == ("task",)
    apart = sf.compare(table, "a", "b")
    assert Note("no common task") in apart.notes
    assert not apart.comparable
    assert apart.gain.interval.low > 0.0  # the pooled rates are shown ...
    assert apart.verdict is sf.Verdict.UNDECIDED  # ... and decide nothing
    assert apart.outlook is None  # more rollouts of other tasks would not tell
    assert str(apart).endswith("no verdict: no common task.")
    assert sf.compare(table, "a", "c").comparable
    by = sf.compare_by(table, "a", "c", by="task")
    assert [one.task for one in by] == ["x"]


@pytest.mark.parametrize("measure", ["success", "score"])
def test_scores_on_different_tasks_decide_nothing(measure):
    level = {"a": 1, "b": 0, "c": 1}
    rows = [(policy, task, i % 4 > 0 and level[policy]) for policy, task in APART for i in range(20)]
    found = sf.compare(_of_rows(rows, "policy", "task", measure), "a", "b")
    assert found.interval.low > 0.0  # the numbers alone would have decided
    assert found.verdict is sf.Verdict.UNDECIDED


def test_a_column_that_is_one_with_the_policy_cannot_be_told_from_it():
    rows = [(policy, robot, i < k) for policy, robot, k in (("a", "r1", 18), ("b", "r2", 4)) for i in range(20)]
    rollouts = _of_rows(rows, "policy", "robot", "success")
    assert rollouts.design.roles == {"robot": "nothing"}
    assert sf.compare(rollouts, "a", "b").gain == sf.stats.exact_gain(sf.Tally(18, 20), sf.Tally(4, 20))
    assert [one.values["column"] for one in sf.audit(rollouts).about("one policy a level")] == ["robot"]


def test_a_gain_within_the_margin_can_be_shown_not_to_matter():
    score = [0.5, 0.6] * 10 + [0.5, 0.59] * 10
    rollouts = table(policy=["new"] * 20 + ["old"] * 20, score=score)
    found = sf.compare(rollouts, "new", "old", margin=0.1)
    assert "rollouts of each policy to show the two the same within the margin" in str(found.outlook)
    assert "to decide, if the observed gain" in sf.compare(rollouts, "new", "old", margin=0.001).outlook.wanted
    at_it = sf.compare(rollouts, "new", "old", margin=found.gain.estimate)
    assert str(at_it.outlook).endswith(
        " The observed gain is as large as the margin: no number of rollouts would decide."
    )
    equal = sf.compare(table(policy=["new"] * 20 + ["old"] * 20, score=score[:20] * 2), "new", "old")
    assert str(equal.outlook).endswith(" No gain was observed: no number of rollouts would show one.")


@pytest.mark.parametrize("measure", ["success", "score"])
def test_units_of_which_none_is_complete_decide_nothing_and_stop_no_report(measure):
    ended = pl.Series([1.0, 1.0, None, None, None, None, 0.0, 1.0])
    rollouts = table(policy=["a"] * 4 + ["b"] * 4, condition=list("1234") * 2, **{measure: ended})
    found = overview(rollouts)
    (one,) = found.comparisons
    assert (one.reading.paired, one.reading.why) == (False, "the two share no condition")
    assert one.interval.estimate == 0.5
    assert not one.comparable


@pytest.mark.parametrize(
    "asked",
    [
        lambda path: sf.compare(path, "new", "old"),
        lambda path: sf.compare(path, "new", "old", measure="score"),
        lambda path: sf.compare_by(path, "new", "old"),
        sf.rank,
        sf.report,
        sf.audit,
        lambda path: sf.replay(path, "new", "old"),
        sf.success_rate,
        sf.mean_score,
        sf.measure,
        sf.human_corrections,
        lambda path: change(path, path),
    ],
)
def test_a_path_is_to_be_read_first(asked):
    with pytest.raises(
        TypeError, match=r"^`rollouts` must be a Rollouts; got a str. Read it first: sf.read\('f.csv'\)\.$"
    ):
        asked("f.csv")


def test_a_setting_of_one_item_does_not_stop_a_comparison():
    rows = [
        (policy, task, f"{task}{item}", (item + again) % 2)
        for policy in ("new", "old")
        for task, size in (("wide", 5), ("narrow", 1))
        for item in range(size)
        for again in range(2)
    ]
    rollouts = _of_rows(rows, "policy", "task", "item", "success")
    assert (rollouts.design.unit, rollouts.design.settings) == ("item", ("task",))
    for weights in ("units", "settings", "rollouts"):
        assert sf.compare(rollouts, "new", "old", weights=weights).gain.estimate == 0.0


def test_tasks_that_one_policy_does_not_tell_are_not_held_against_it():
    rows = [("new", "x", i < 9) for i in range(10)] + [("new", "y", i < 8) for i in range(10)]
    rows += [("old", None, i < 6) for i in range(20)]
    found = sf.compare(_of_rows(rows, "policy", "task", "success"), "new", "old")
    assert found.gain == sf.stats.exact_gain(sf.Tally(17, 20), sf.Tally(6, 20))
    assert (found.notes, found.comparable) == ((), True)


def test_a_gate_has_each_bound_at_its_own_confidence():
    found = sf.compare(streams(17, 8), "new", "old", gate=True)
    wide = sf.reference.central_gain(sf.Tally(17, 20), sf.Tally(8, 20), confidence=0.9)
    assert [bound.value for bound in found.bounds] == [wide.interval.low, wide.interval.high]
    assert all(bound.confidence == 0.95 for bound in found.bounds)
    assert sf.compare(streams(17, 8), "new", "old").bounds is None


def test_with_a_margin_the_intervals_of_a_family_decide():
    rows = [(p, t, i < k) for t in "xy" for p, k in (("new", 16), ("old", 5)) for i in range(20)]
    rollouts = _of_rows(rows, "policy", "task", "success")
    found = sf.compare_by(rollouts, "new", "old", margin=0.1)
    alone = sf.reference.central_gain(sf.Tally(16, 20), sf.Tally(5, 20), confidence=0.975, margin=0.1)
    assert [(one.verdict, one.interval.low) for one in found] == [(alone.verdict, alone.interval.low)] * 2


def test_how_units_weigh():
    """Units of 12 and of 4 rollouts: gains 1/2 and 0 by hand."""
    sizes = {"x": 12, "y": 4}
    rows = [
        (p, t, i % 2 if p == "old" or t == "y" else 1)
        for t, n in sizes.items()
        for p in ("new", "old")
        for i in range(n)
    ]
    rollouts = _of_rows(rows, "policy", "task", "success")
    gains = {
        way: sf.compare(rollouts, "new", "old", unit="task", weights=way).gain.estimate for way in ("units", "rollouts")
    }
    assert gains == {"units": pytest.approx(0.25), "rollouts": pytest.approx(0.375)}
    with pytest.raises(ValueError, match="`weights` must be one of units, settings, rollouts; got 'tasks'"):
        sf.compare(rollouts, "new", "old", weights="tasks")


@pytest.mark.parametrize("target", ["these", "like"])
def test_by_rollouts_the_gain_is_that_of_the_rates_shown(target):
    """A task is met 30 times in the simulator and 6 times on the robot, by each: every rollout weighs the same."""
    won = {("new", "sim"): 24, ("old", "sim"): 15, ("new", "real"): 1, ("old", "real"): 5}
    rows = [
        (p, f"t{task}", place, i, int(i < won[p, place] + task % 2))
        for p, place in won
        for task in range(6)
        for i in range(30 if place == "sim" else 6)
    ]
    rollouts = _of_rows(rows, "policy", "task", "panel", "trial", "success")
    found = sf.compare(rollouts, "new", "old", weights="rollouts", target=target, unit="task", setting="panel")
    new, old = (rollouts.where(policy=name).tally().rate for name in ("new", "old"))
    assert found.of_first.estimate - found.of_second.estimate == pytest.approx(new - old)
    assert found.gain.estimate == pytest.approx(new - old)


@pytest.mark.parametrize("by", [(), "task", ("task", "robot")])
def test_levels_of_any_columns_are_a_family(by):
    rows = [
        (p, t, r, (i + len(p + t)) % 3 > 0) for p in ("a", "bb") for t in "xyz" for r in ("r1", "r2") for i in range(8)
    ]
    rollouts = _of_rows(rows, "policy", "task", "robot", "success")
    found = sf.compare_by(rollouts, "a", "bb", by=by)
    assert len(found) == (6 if len(by) == 2 else 3)
    for one in found:
        assert one.level[0] == ("task, robot" if len(by) == 2 else "task")
        assert f"Bonferroni-over-{len(found)}" in one.interval.method


def test_levels_that_cannot_be_asked_for():
    rollouts = streams(17, 8)
    with pytest.raises(sf.DataError, match="some column must have few levels that both policies met; none has"):
        sf.compare_by(rollouts, "new", "old")
    with pytest.raises(sf.DataError, match="`by` must name a column of labels; 'policy' is the policy"):
        sf.compare_by(rollouts, "new", "old", by="policy")
    with pytest.raises(sf.DataError, match="there must be a column 'robot'; these are there"):
        sf.compare_by(rollouts, "new", "old", by="robot")
    apart = _of_rows([(p, t, 1) for p, t in APART for _ in range(4)], "policy", "task", "success")
    with pytest.raises(sf.DataError, match="'a' and 'b' must share some task; they share none"):
        sf.compare_by(apart, "a", "b", by="task")


def test_less_is_better_turns_verdicts_and_no_numbers():
    rows = [(p, f"t{t}", 0.2 + 0.4 * (p == "old") + 0.01 * t) for p in ("new", "old") for t in range(30)]
    rollouts = _of_rows(rows, "policy", "task", "score")
    plain, less = (sf.compare(rollouts, "new", "old", lower_is_better=way) for way in (False, True))
    assert plain.gain.estimate == pytest.approx(-0.4)
    assert (plain.verdict, less.verdict) == (Verdict.WORSE, Verdict.BETTER)
    assert less.p_value == pytest.approx(plain.p_value)


def seconds(limit=None):
    """Rollouts that took 20 to 210 s, and 60 to 250 s, on two days."""
    rows = [(p, take + 10.0 * n, f"day {n % 2}") for p, take in (("new", 20.0), ("old", 60.0)) for n in range(20)]
    return sf.read(pl.DataFrame(rows, schema=["policy", "score", "day"], orient="row"), high=limit)


@pytest.mark.parametrize("less", [False, True])
def test_scores_outside_the_stated_range_are_refused_whatever_is_asked(less):
    pair = {"first": "new", "second": "old"}
    for ask, given in ((sf.compare, pair), (sf.compare_by, pair | {"by": "day"}), (sf.rank, {}), (sf.best, {})):
        with pytest.raises(sf.DataError, match=r"`score` must lie in the stated range \[0, 1\]; one is"):
            ask(seconds(), **given, lower_is_better=less)
    with pytest.raises(sf.DataError, match=r"`score` must lie in the stated range"):
        sf.slices(seconds(), "new", "old", by="day")


def test_a_time_above_the_stated_limit_counts_the_limit_whatever_is_asked():
    table = seconds(limit=200.0)
    assert sf.compare(table, "new", "old", lower_is_better=True).gain.estimate == pytest.approx(33.0)
    days = sf.compare_by(table, "new", "old", by="day", lower_is_better=True)
    assert [one.gain.estimate for one in days] == pytest.approx([34.0, 32.0])
    assert list(sf.rank(table, lower_is_better=True).estimates) == pytest.approx([114.5, 147.5])
    assert sf.best(table, lower_is_better=True).pick == "new"
