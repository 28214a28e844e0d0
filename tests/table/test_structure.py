"""Tests of `surefoot.table.structure`."""

from __future__ import annotations

import polars as pl
import pytest

import surefoot as sf
from surefoot.table.structure import part, structure
from tests.support.audits import clean, found


def test_repeated_seeds() -> None:
    rows = clean()
    rows.append({**rows[0], "order": 99, "success": not rows[0]["success"], "score": 0.5})
    assert "duplicated rows" not in found(rows)
    made = structure(sf.read(pl.DataFrame(rows)), "success")
    assert made.recurring == 1  # it is allowed for, so it is no finding
    assert made.clusters == ("task", "seed")


@pytest.mark.parametrize(("rows", "paired"), [(1, True), (2, False)])
def test_tasks_that_were_each_met_once_are_pairs(rows, paired):
    """A session of RoboArena has its own instruction: its task is no reason to forget which session it was."""
    frame = [
        {"policy": policy, "task": f"t{n}", "condition": f"s{n}", "success": n % 2}
        for policy in "ab"
        for n in range(6)
        for _ in range(rows)
    ]
    made = structure(sf.read(pl.DataFrame(frame)), "success", ("a", "b"))
    assert made.paired is paired
    assert made.unpaired == (None if paired else "one environment")


def test_environments_drawn_afresh_as_declared_tie_nothing_together():
    """A study with two conditions drawn at random got intervals from 0% to 100%: two clusters."""
    rows = [(policy, f"c{n % 2}", n % 3 > 0) for policy in ("new", "old") for n in range(30)]
    frame = pl.DataFrame(rows, schema=["policy", "condition", "success"], orient="row")
    found = sf.compare(sf.read(frame, collected="independent"), "new", "old")
    assert found.structure.clusters == ()
    assert found.structure.unpaired == "drawn"
    assert found.of_first == sf.stats.wilson(sf.Tally(20, 30))
    assert sf.compare(sf.read(frame), "new", "old").structure.clusters == ("condition",)


def test_a_part_of_a_table_takes_along_what_is_known_of_its_environments(monkeypatch):
    rollouts = sf.read(pl.DataFrame(clean()))
    own = part(rollouts, ("success",), "new", "cut")
    assert (own.policies, own.tasks) == (("new",), ("cut",))
    plain = structure(rollouts.where(policy="new").where(task="cut"), "success", ("new",))
    monkeypatch.setattr("surefoot.table.crosstab._in_one_pass", None)
    assert structure(own, "success", ("new",)) == plain  # no row was looked at again
