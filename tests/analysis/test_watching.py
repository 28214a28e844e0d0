"""A growing file: declared once, stops where a replay stops, and the past cannot be changed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot.analysis.watching import Watch, declare, look

BOTH = ("new", "old")
ROWS = [("new", "a", 1), ("old", "b", 0), ("new", "b", 1), ("old", "a", 0), ("new", "c", 1)]


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


def test_pairs_enter_in_the_order_in_which_they_are_completed() -> None:
    watch = declare(table(ROWS), "new", "old", horizon=50)
    assert watch.keys == ("condition",)
    assert look(table(ROWS), watch).pairs == 2
    assert str(look(table(ROWS), watch)) == "Continue: 2 pairs of at most 50."


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
        declare(table(ROWS, "cluster"), "new", "old", horizon=50)
    with pytest.raises(ValueError, match="another policy than the first"):
        declare(table(ROWS), "new", "new", horizon=50)
    with pytest.raises(sf.DataError, match=r"the declared rule must be one of .*; got 'odd'"):
        look(table(ROWS), replace(declare(table(ROWS), "new", "old", horizon=50), rule="odd"))


def test_pairs_are_told_by_the_columns_declared() -> None:
    watch = declare(table(ROWS, "seed"), "new", "old", horizon=50)
    with pytest.raises(sf.DataError, match="must be identified by seed, as declared; now there is condition"):
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
    with pytest.raises(
        sf.DataError, match="must be identified by condition, seed, as declared; now there is condition"
    ):
        look(table(ROWS), old)


def test_what_was_there_before_the_declaration_is_told() -> None:
    rollouts = table([("new", f"c{n}", 1) for n in range(20)] + [("old", f"c{n}", 0) for n in range(20)])
    watch = declare(rollouts, "new", "old", horizon=50)
    assert watch.already == 20
    assert "20 pairs were there when the rule was declared." in str(look(rollouts, watch))
