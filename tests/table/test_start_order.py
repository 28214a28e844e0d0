"""Tests of `surefoot.table.start_order`, `surefoot.table.run_order`."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.table import start_order as starts
from surefoot.table.start_order import Started, declared_order, in_blocks
from tests.support.parallel_runs import parallel

BOTH = ("new", "old")


def rows_of(frame, column, keys=()):
    return starts.started(sf.read(frame), "success", keys, column)


def numbers(rollouts):
    return [row.start for row in rollouts]


@given(seed=st.integers(0, 500), simulators=st.sampled_from([1, 2, 8, 32]), ended=st.integers(1, 80))
@settings(max_examples=60)
def test_whatever_has_ended_a_prefix_of_the_starts_counts(seed, simulators, ended):
    frame = parallel(seed, simulators, 40)
    rows = rows_of(frame[:ended], "order")
    complete = {int(row.start) for row in rows}
    wanted = next(number for number in range(1, 82) if number not in complete) - 1
    assert numbers(starts.numbered(rows, BOTH, 1, each=False).rollouts) == list(range(1, wanted + 1))


@given(seed=st.integers(0, 500), simulators=st.sampled_from([1, 2, 8, 32]), ended=st.integers(1, 80))
@settings(max_examples=60)
def test_start_times_let_no_rollout_pass_one_that_still_runs(seed, simulators, ended):
    frame = parallel(seed, simulators, 40)
    order = sorted(frame["start_time"])
    found = starts.timed(rows_of(frame[:ended], "started_at", ("condition",)), BOTH, simulators)
    assert numbers(found.rollouts) == order[: len(found.rollouts)]
    assert len(starts.timed(rows_of(frame, "started_at", ("condition",)), BOTH, simulators).rollouts) == 80


def test_start_times_wait_no_longer_than_needed():
    frame = parallel(3, 8, 200)
    counted = [
        len(starts.timed(rows_of(frame[:k], "started_at", ("condition",)), BOTH, 8).rollouts) for k in (200, 300)
    ]
    assert counted[0] > 120
    assert counted[1] > 220


@given(seed=st.integers(0, 500), ended=st.integers(0, 60), each=st.booleans())
@settings(max_examples=40)
def test_pairs_that_entered_stay_the_first_as_more_rollouts_end(seed, ended, each):
    frame = parallel(seed, 8, 40)
    if each:  # every policy counts its own
        frame = frame.with_columns(episode=(pl.col("episode") + 1) // 2).drop("condition")
    before, after = (
        starts.rounds(starts.numbered(rows_of(part, "order"), BOTH, 1, each=each).rollouts, BOTH)
        for part in (frame[: ended + 1], frame)
    )
    assert after[: len(before)] == before
    assert len(after) == 40


def test_a_row_without_an_outcome_still_runs_and_a_void_one_is_passed_over():
    known = [("new", 1.0, True), ("old", 0.0, True), ("other", None, True), ("new", None, False), ("new", 1.0, True)]
    rows = [Started(policy, (), value, counts, n, n) for n, (policy, value, counts) in enumerate(known, 1)]
    rows += [Started("old", (), None, True, 6, 6), Started("new", (), 1.0, True, 7, 7)]
    for found in (starts.in_rows(rows, BOTH), starts.numbered(rows, BOTH, 1, each=False)):
        assert [row.place for row in found.rollouts if row.counts and row.policy != "other"] == [1, 2, 5]
    assert starts.in_rows(rows, BOTH).waits == "the outcome of row 6"
    assert starts.numbered(rows, BOTH, 1, each=False).waits == "the outcome of start 6"
    assert starts.numbered(rows[:2] + rows[3:], BOTH, 1, each=False).waits == "start 3"
    assert starts.numbered(rows[:1], BOTH, 1, each=True).waits == "start 1 of 'old'"
    assert starts.timed(rows, BOTH, 1).waits == "the outcome of row 6"


def test_numbers_that_cannot_be_those_of_starts_are_refused():
    twice = [Started("new", (), 1.0, True, place, 1) for place in (1, 2)]
    with pytest.raises(sf.DataError, match=r"row 2: each start of 'new' must have a number of its own; 1 is there"):
        starts.numbered(twice, BOTH, 1, each=True)
    with pytest.raises(sf.DataError, match=r"numbered from 1 on; got 0.*first_start=0"):
        starts.numbered([Started("new", (), 1.0, True, 1, 0)], BOTH, 1, each=False)
    words = pl.DataFrame({"policy": ["new"], "condition": ["c1"], "success": [1]})
    with pytest.raises(sf.DataError, match="`condition` must give the start of every rollout as a whole number"):
        rows_of(words, "condition")


def test_times_that_cannot_tell_what_is_missing_are_refused():
    frame = parallel(1, 8, 20)
    with pytest.raises(sf.DataError, match="the duration of every rollout must be known"):
        starts.timed(rows_of(frame.drop("duration"), "started_at"), BOTH, 8)
    with pytest.raises(sf.DataError, match="at most 7 rollouts must run at once, as declared; 8 did"):
        starts.timed(rows_of(frame, "started_at"), BOTH, 7)
    equal = [Started("new", (), 1.0, True, place, 5.0) for place in (1, 2)]
    with pytest.raises(sf.DataError, match="start times must tell the rollouts of 'new' apart"):
        starts.timed(equal, BOTH, 1)


def test_rows_in_another_order_than_their_times_are_refused_as_the_order_of_the_starts():
    for seed in range(5):
        ended = parallel(seed, 8, 20)
        with pytest.raises(sf.DataError, match="`start_time` shows another order"):
            starts.refuse_other_order(sf.read(ended))
        starts.refuse_other_order(sf.read(ended.sort("start_time")))
        starts.refuse_other_order(sf.read(parallel(seed, 1, 20)))
        at_end = ended.with_columns(timestamp=pl.col("start_time") + pl.col("duration")).drop("start_time")
        with pytest.raises(sf.DataError, match="`timestamp` shows another order"):
            starts.refuse_other_order(sf.read(at_end))
        alone = parallel(seed, 1, 20).rename({"start_time": "timestamp"})
        starts.refuse_other_order(sf.read(alone))
        starts.refuse_other_order(sf.read(alone.with_columns(pl.col("timestamp") + pl.col("duration"))))


def test_a_finished_file_goes_by_its_start_times_or_says_what_it_assumes():
    frame = parallel(4, 8, 30)
    by_time = sf.read(frame.drop("episode"))
    assert starts.said_order(by_time) == "of the starts, by `start_time`"
    ordered, waits = starts.by_starts(by_time, "success", BOTH)
    assert (list(map(float, ordered.column("started_at"))), waits) == (sorted(frame["start_time"]), "")
    numbered = sf.read(frame.drop("start_time"))
    assert starts.said_order(numbered) == "by `episode`, assumed to be the order of the starts"
    assert starts.said_order(sf.read(frame.drop("start_time", "episode"))).startswith("of the rows, assumed")
    gap = sf.read(frame.drop("start_time").filter(pl.col("episode") != 21))
    cut, waits = starts.by_starts(gap, "success", BOTH, "episode")
    assert (len(cut), waits) == (20, "start 21")
    with pytest.raises(ValueError, match="`start_order` must name a column of numbers or times"):
        starts.by_starts(gap, "success", BOTH, "success")


def test_times_are_numbers_of_seconds_or_dates():
    frame = pl.DataFrame({"policy": ["new"] * 3, "success": [1] * 3})
    times = ["2026-03-01T10:00:00", "2026-03-01 10:00:01+00:00", "1772359202"]
    rows = rows_of(frame.with_columns(pl.Series("started_at", times)), "started_at")
    assert numbers(rows) == [1772359200.0, 1772359201.0, 1772359202.0]
    with pytest.raises(sf.DataError, match="as a time; got 'noon'"):
        rows_of(frame.with_columns(started_at=pl.lit("noon")), "started_at")


@pytest.mark.parametrize("name", ["episode", "zz", "started_at"])
def test_any_column_may_tell_the_starts(name):
    frame = parallel(2, 4, 20)
    wanted, _ = starts.by_starts(sf.read(frame), "success", BOTH, "episode")
    told = frame.drop("episode", "start_time").with_columns(
        frame["episode" if name != "started_at" else "start_time"].alias(name)
    )
    found, waits = starts.by_starts(sf.read(told), "success", BOTH, name)
    assert waits == ""
    assert found.polars()["success"].to_list() == wanted.polars()["success"].to_list()


def test_times_under_any_name_are_told_from_numbers():
    moments = [f"2026-03-0{day} 10:00:00" for day in (3, 1, 2)]
    rows = {
        "policy": ["new", "old", "new"],
        "success": [1, 0, 1],
        "zz": moments,
        "n": [3, 1, 2],
        "unix": [1.7e9, 1.6e9, 1.65e9],
    }
    table = sf.read(pl.DataFrame(rows))
    assert [starts.numbers_starts(table, name) for name in ("zz", "n", "unix")] == [False, True, False]
    orders = {tuple(starts.by_starts(table, "success", BOTH, name)[0].polars()["zz"]) for name in ("zz", "n", "unix")}
    assert orders == {tuple(sorted(moments))}
    assert starts.start_column(table, "policy") is None


# --- Run order


@pytest.mark.parametrize(
    ("contexts", "blocked"),
    [
        ("aaaaabbbbbccccc", True),
        ("abcabcabcabcabc", False),
        ("aaaaaaaaaaaaaaa", False),
        ("abcdefghijklmno", False),
        ("aaabbb", False),
    ],
)
def test_blocks_are_runs_longer_than_chance(contexts, blocked):
    assert in_blocks(tuple(contexts)) is blocked


@pytest.mark.parametrize("name", ["task", "scene", "zz"])
def test_an_order_may_begin_anew_in_each_level_whatever_it_is_called(name):
    rows = [(policy, f"s{unit}", n, n % 2) for policy in "ab" for unit in range(4) for n in range(10)]
    table = pl.DataFrame(rows, schema=["policy", name, "order", "success"], orient="row")
    assert declared_order(sf.read(table))
    assert not declared_order(sf.read(pl.concat([table, table])))
