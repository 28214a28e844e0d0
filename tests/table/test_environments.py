"""Tests of `surefoot.table.environments`."""

import polars as pl

import surefoot as sf
from surefoot.table.environments import by_environment, of_tasks

ROWS = {
    "policy": ["new", "new", "old", "new", "old"],
    "task": ["cut", "cut", "cut", "pour", "pour"],
    "seed": [1, 1, 1, 1, 2],
    "success": [1, 0, 0, 1, 0],
}


def rows(frame):
    return sorted(map(tuple, frame.collect().rows()))


def test_how_often_each_policy_met_each_environment_by_hand():
    met = by_environment(sf.read(pl.DataFrame(ROWS)), ("new", "old"), ("task", "seed"))
    assert met.collect_schema().names() == ["key_0", "key_1", "n0", "s0", "n1", "s1"]
    found = {row[:2]: (row[2], row[4]) for row in rows(met.select("key_0", "key_1", "n0", "s0", "n1"))}
    assert {(task, int(seed)): counts for (task, seed), counts in found.items()} == {
        ("cut", 1): (2, 1),
        ("pour", 1): (1, 0),
        ("pour", 2): (0, 1),
    }


def test_the_grouping_is_made_once_and_its_tasks_are_its_rows():
    rollouts = sf.read(pl.DataFrame(ROWS))
    met = by_environment(rollouts, ("new", "old"), ("task", "seed"))
    assert by_environment(rollouts, ("new", "old"), ("task", "seed")) is met
    kept = of_tasks({("task", "seed", "|", "new", "old"): met}, ["pour"])
    (only,) = kept.values()
    assert {row[0] for row in rows(only)} == {"pour"}
    assert of_tasks({("seed", "|", "new", "old"): met}, ["pour"]) == {}
