"""A growing file: declared once, stops where a replay stops, and the past cannot be changed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

import surefoot as sf
from surefoot.analysis import watching
from surefoot.analysis.watching import Watch, look
from tests.support.parallel_runs import parallel

BOTH = ("new", "old")
ROWS = [("new", "a", 1), ("old", "b", 0), ("new", "b", 1), ("old", "a", 0), ("new", "c", 1)]


def declare(rollouts: sf.Rollouts, *policies: str, **words: object) -> Watch:
    return watching.declare(rollouts, *policies, **{"in_start_order": True, **words})


def table(rows: list[tuple], column: str = "condition") -> sf.Rollouts:
    frame = pl.DataFrame(rows, schema=["policy", column, "success"], orient="row")
    return sf.read(frame if column != "none" else frame.drop("none"))


def simulated(seed: int, *, paired: bool, score: bool) -> sf.Rollouts:
    rng = np.random.default_rng(seed)
    gap, pairs = rng.choice([0.0, 0.2, 0.5]), 60
    base = rng.random(pairs)
    rows = []
    for n in range(pairs):
        for policy, add in (("new", gap), ("old", 0.0)):
            value = min(1.0, max(0.0, 0.5 * base[n] + 0.5 * rng.random() + add))
            rows.append((policy, f"c{n}", value if score else float(value > 0.6)))
    frame = pl.DataFrame(rows, schema=["policy", "condition", "score" if score else "success"], orient="row")
    return sf.read(frame if paired else frame.drop("condition"))


@pytest.mark.sample(4)
@pytest.mark.parametrize("block", range(10))
def test_it_stops_where_a_replay_stops(block: int) -> None:
    """200 simulated files in all: pairs and streams, successes and scores, with and without a gain."""
    for seed in range(20 * block, 20 * block + 20):
        rollouts = simulated(seed, paired=seed % 2 == 0, score=seed % 4 < 2)
        found = look(rollouts, declare(rollouts, "new", "old", horizon=50))
        (stop, *_) = sf.replay(rollouts, "new", "old", horizon=50, claim="either").comparisons[0].stops
        assert (found.used, found.verdict, found.p_value) == (stop.pairs, stop.verdict, stop.p_value)
        assert found.finished


def test_a_file_that_grows_row_by_row_stops_at_the_same_pair() -> None:
    rollouts = simulated(5, paired=True, score=False)
    rows = rollouts.polars()
    watch, whole = declare(rollouts, "new", "old", horizon=40), None
    for height in range(1, rows.height + 1):
        found = look(sf.read(rows[:height]), watch)
        watch = found.watch
        if found.finished and whole is None:
            whole = (found.used, found.verdict)
    last = look(rollouts, declare(rollouts, "new", "old", horizon=40))
    assert whole == (last.used, last.verdict)


def test_pairs_are_found_by_their_condition_and_the_order_is_said() -> None:
    watch = declare(table(ROWS), "new", "old", horizon=50)
    assert watch.keys == ("condition",)
    said = look(table(ROWS), watch)
    assert str(said) == "Continue: 2 pairs of at most 50, in the order of the starts (by the order of the rows)."


@pytest.mark.parametrize("changed", [ROWS[:-1], [*ROWS[:2], ("new", "b", 0), *ROWS[3:]], [ROWS[1], ROWS[0], *ROWS[2:]]])
def test_a_past_row_that_is_gone_or_changed_is_refused(changed: list[tuple]) -> None:
    seen = look(table(ROWS), declare(table(ROWS), "new", "old", horizon=50)).watch
    with pytest.raises(sf.DataError, match="the 5 rows that were seen before must stay as they were"):
        look(table(changed), seen)
    assert look(table([*ROWS, ("old", "c", 1)]), seen).pairs == 3


def test_a_declaration_has_a_fingerprint_that_growth_leaves_alone() -> None:
    watch = declare(table(ROWS), "new", "old", horizon=50)
    seen = look(table(ROWS), watch).watch
    assert seen.fingerprint == watch.fingerprint
    assert declare(table(ROWS), "new", "old", horizon=60).fingerprint != watch.fingerprint
    assert Watch.from_dict(seen.to_dict()) == seen


def test_void_rollouts_and_other_policies_do_not_enter() -> None:
    frame = pl.DataFrame(
        [("new", 1, 1), ("other", 1, 1), ("old", 0, 0), ("old", 0, 1)],
        schema=["policy", "success", "valid"],
        orient="row",
    )
    rollouts = sf.read(frame)
    found = look(rollouts, declare(rollouts, "new", "old", horizon=20))
    assert (found.pairs, found.used) == (1, 1)


def test_rollouts_of_different_tasks_are_never_a_pair() -> None:
    rows = [("new", "A", 1), ("old", "B", 0)] * 30 + [("new", "B", 0), ("old", "A", 1)] * 30
    rollouts = table(rows, "task")
    found = look(rollouts, declare(rollouts, "new", "old", horizon=100))
    assert (found.pairs, found.verdict) == (60, sf.Verdict.UNDECIDED)
    assert (found.watch.keys, found.watch.environments) == (("task",), "stratified")
    begun = declare(table(rows[:4], "task"), "new", "old", horizon=100)
    assert (begun.keys, begun.environments) == (("task",), "stratified")


def test_many_units_that_are_met_again_are_refused() -> None:
    rows = [(policy, f"q{n}", n % 2) for _ in range(3) for n in range(25) for policy in BOTH]
    with pytest.raises(sf.DataError, match="'new' met one again"):
        declare(table(rows, "question"), "new", "old", horizon=100)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([*ROWS, ("new", "a", 1)], "'new' met one again.*needs a name of its own"),
        ([*ROWS, ("new", None, 1)], "must say in which environment"),
    ],
)
def test_environments_met_twice_or_not_told_are_refused(rows: list[tuple], says: str) -> None:
    watch = declare(table(ROWS), "new", "old", horizon=50)
    with pytest.raises(sf.DataError, match=says) as refused:
        look(table(rows), watch)
    assert refused.value.row == len(rows)  # the last one, counted from 1


def test_clusters_and_one_policy_twice_are_refused() -> None:
    with pytest.raises(sf.DataError, match="must not come in clusters"):
        declare(table(ROWS, "user").declare(cluster="user"), "new", "old", horizon=50)
    with pytest.raises(ValueError, match="another policy than the first"):
        declare(table(ROWS), "new", "new", horizon=50)
    with pytest.raises(sf.DataError, match=r"the declared rule must be one of .*; got 'odd'"):
        look(table(ROWS), replace(declare(table(ROWS), "new", "old", horizon=50), rule="odd"))


def test_pairs_are_told_by_the_columns_declared() -> None:
    watch = declare(table(ROWS, "seed"), "new", "old", horizon=50)
    with pytest.raises(sf.DataError, match="must be identified by seed, as declared; 'seed' is not there"):
        look(table(ROWS), watch)


def test_pairs_are_those_that_a_comparison_of_the_file_makes() -> None:
    rows = [(policy, f"c{n}", 40 * (policy == "old") + n, int(policy == "new")) for n in range(30) for policy in BOTH]
    rollouts = sf.read(pl.DataFrame(rows, schema=["policy", "scene", "seed", "success"], orient="row"))
    watch = declare(rollouts, "new", "old", horizon=50)
    assert watch.keys == rollouts.pairing("new", "old").on == ("condition",)
    assert (watch.already, look(rollouts, watch).verdict) == (30, sf.Verdict.BETTER)


def test_a_file_declared_by_more_columns_stays_declared_so() -> None:
    rows = [(policy, "c", n, int(policy == "new")) for n in range(30) for policy in BOTH]
    rollouts = sf.read(pl.DataFrame(rows, schema=["policy", "condition", "seed", "success"], orient="row"))
    old = replace(declare(table(ROWS), "new", "old", horizon=50), keys=("condition", "seed"))
    assert look(rollouts, old).pairs == 30
    with pytest.raises(sf.DataError, match="must be identified by condition, seed, as declared; 'seed' is not there"):
        look(table(ROWS), old)


def test_what_was_there_before_the_declaration_is_told() -> None:
    rollouts = table([("new", f"c{n}", 1) for n in range(20)] + [("old", f"c{n}", 0) for n in range(20)])
    watch = declare(rollouts, "new", "old", horizon=50)
    assert watch.already == 20
    assert "20 pairs were there when the rule was declared." in str(look(rollouts, watch))


# --- the order of the starts ---


def test_without_an_order_of_the_starts_there_is_no_verdict() -> None:
    with pytest.raises(sf.DataError, match="does not say in which order rollouts were started: say start_order="):
        watching.declare(table(ROWS), *BOTH, horizon=50)
    undeclared = replace(declare(table(ROWS), *BOTH, horizon=50), in_start_order=False)  # as 0.2.0 kept it
    with pytest.raises(sf.DataError, match="or in_start_order=True if rows are written in the order"):
        look(table(ROWS), undeclared)


def numbered(rows: list[tuple]) -> sf.Rollouts:
    return sf.read(pl.DataFrame(rows, schema=["policy", "episode", "success"], orient="row"))


def test_a_pair_waits_for_every_rollout_that_was_started_before() -> None:
    rows = [("new", 1, 1), ("new", 3, 1), ("old", 4, 0), ("old", 6, 1), ("new", 5, 0)]
    watch = watching.declare(numbered(rows), *BOTH, horizon=50, start_order="episode")
    found = look(numbered(rows), watch)
    assert (found.pairs, found.ended, found.waits) == (0, 2, "start 2")
    by = "in the order of the starts (by `episode`)"
    assert str(found) == f"Continue: 0 pairs of at most 50, {by}. 2 more pairs wait for start 2."
    found = look(numbered([*rows, ("old", 2, 0)]), found.watch)
    assert (found.pairs, found.waits) == (3, "")
    assert str(found) == f"Continue: 3 pairs of at most 50, {by}."


def test_numbers_may_begin_at_0_or_where_it_is_said() -> None:
    rows = [("new", 0, 1), ("old", 1, 1)]
    assert watching.declare(numbered(rows), *BOTH, horizon=50, start_order="episode").first_start == 0
    later = [("new", 1000, 1), ("old", 1001, 1)]
    watch = watching.declare(numbered(later), *BOTH, horizon=50, start_order="episode", first_start=1000)
    assert look(numbered(later), watch).pairs == 1
    with pytest.raises(sf.DataError, match="numbered from 1000 on; got 999"):
        look(numbered([*later, ("new", 999, 1)]), watch)


def test_an_outcome_may_be_filled_in_later_and_nothing_else() -> None:
    rows = [("new", 1, 1), ("old", 2, None), ("new", 3, 0), ("old", 4, 1)]
    seen = look(numbered(rows), watching.declare(numbered(rows), *BOTH, horizon=50, start_order="episode"))
    assert (seen.pairs, seen.waits) == (0, "the outcome of start 2")
    filled = [*rows[:1], ("old", 2, 0), *rows[2:]]
    assert look(numbered(filled), seen.watch).pairs == 2
    for changed in ([("new", 1, 0), *filled[1:]], [filled[0], ("new", 2, 0), *filled[2:]]):
        with pytest.raises(sf.DataError, match="rows that were seen before must stay as they were"):
            look(numbered(changed), seen.watch)


def test_a_rollout_that_turns_up_before_pairs_that_entered_is_refused() -> None:
    rows = [("new", 1, 1), ("old", 2, 0)]  # taken for numbers of all rollouts, until a number recurs
    seen = look(numbered(rows), watching.declare(numbered(rows), *BOTH, horizon=50, start_order="episode"))
    assert seen.pairs == 1
    with pytest.raises(sf.DataError, match="started before the 1 pairs that have entered"):
        look(numbered([*rows, ("old", 1, 1), ("new", 2, 1)]), seen.watch)


def test_what_makes_no_order_is_refused() -> None:
    rollouts = sf.read(parallel(1, 8, 20))
    with pytest.raises(sf.DataError, match="`start_time` shows another order"):
        declare(rollouts, *BOTH, horizon=50)
    with pytest.raises(ValueError, match="parallel=8 for instance, or number the starts"):
        watching.declare(rollouts, *BOTH, horizon=50, start_order="start_time")
    with pytest.raises(ValueError, match="one without the other; got both"):
        declare(rollouts, *BOTH, horizon=50, start_order="episode")
    with pytest.raises(ValueError, match="`start_order` must name a column of numbers or times"):
        watching.declare(rollouts, *BOTH, horizon=50, start_order="success")


@pytest.mark.parametrize("told", [{"start_order": "episode"}, {"start_order": "start_time", "parallel": 8}])
def test_looks_at_a_file_written_as_rollouts_end_are_a_replay_by_their_starts(told: dict) -> None:
    for seed in range(3):
        frame = parallel(seed, 8, 60, gain=0.25)
        watch, live = watching.declare(sf.read(frame[:1]), *BOTH, horizon=60, **told), None
        for height in range(1, frame.height + 1, 7):
            found = look(sf.read(frame[:height]), watch)
            watch = found.watch
            live = live or ((found.used, found.verdict, found.p_value) if found.finished else None)
        live = live or (lambda last: (last.used, last.verdict, last.p_value))(look(sf.read(frame), watch))
        again = sf.replay(sf.read(frame), *BOTH, claim="either", start_order=told["start_order"])
        stop = again.comparisons[0].stops[0]
        assert live == (stop.pairs, stop.verdict, stop.p_value)


def false_verdicts(runs: range, simulators: int, slow: str, *, paired: bool, **told: object) -> int:
    """How often equal policies are called different, at some look at a file that is written as rollouts end."""
    found = 0
    for seed in runs:
        frame = parallel(seed, simulators, 150, slow=slow).drop("start_time", *([] if paired else ["condition"]))
        watch = watching.declare(sf.read(frame[:40]), *BOTH, horizon=150, **told)
        for ended in (100, 300):  # what enters at a look between them enters at the next one too
            seen = look(sf.read(frame[:ended]), watch)
            watch = seen.watch
        found += seen.verdict is not sf.Verdict.UNDECIDED
    return found


@pytest.mark.slow
@pytest.mark.parametrize("slow", ["failures", "successes"])
@pytest.mark.parametrize("simulators", [1, 8, 32])
def test_equal_policies_are_called_different_in_at_most_5_percent(simulators: int, slow: str) -> None:
    """1,000 files, half of them paired by condition."""
    halves = (
        false_verdicts(range(500 * part, 500 * part + 500), simulators, slow, paired=bool(part), start_order="episode")
        for part in (0, 1)
    )
    assert sum(halves) <= binom.ppf(0.999, 1_000, 0.05)


def test_equal_policies_on_32_simulators_are_seldom_called_different() -> None:
    assert false_verdicts(range(40), 32, "failures", paired=False, start_order="episode") <= binom.ppf(0.999, 40, 0.05)


def test_taken_as_they_end_equal_policies_are_called_different() -> None:
    """What the order of the starts is for: rows that are declared to be in it, and are not."""
    assert false_verdicts(range(10), 32, "failures", paired=False, in_start_order=True) >= 8
