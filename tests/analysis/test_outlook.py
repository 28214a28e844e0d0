"""Tests of `surefoot.analysis.outlook`."""

from __future__ import annotations

import re

import numpy as np
import polars as pl

import surefoot as sf
from surefoot import Verdict
from tests.support.comparisons import table


def test_more_clusters_not_more_rollouts_would_tell():
    rows = [(name, c, (c + i) % k == 0) for name, k in (("new", 2), ("old", 3)) for c in range(8) for i in range(5)]
    table = sf.read(pl.DataFrame(rows, schema=["policy", "cluster", "success"], orient="row"))
    found = sf.compare(table, "new", "old", cluster="cluster")
    assert found.verdict is Verdict.UNDECIDED
    assert found.outlook.unit == "clusters"
    assert sf.compare(table, "new", "old").outlook.unit == "rollouts"  # of these eight


def test_an_undecided_score_says_what_could_have_been_seen():
    """By simulation of the same evaluation: the rough gain is seen about as often as it says, or more often."""
    rng = np.random.default_rng(3)
    old, noise = rng.uniform(0.2, 0.5, 30), rng.uniform(-0.2, 0.2, 30)
    frame = {"policy": ["new"] * 30 + ["old"] * 30, "seed": [*range(30)] * 2, "score": [*(old + noise), *old]}
    found = sf.compare(table(**frame), "new", "old")
    seen = re.search(r"could have shown a true gain of about \+(0\.\d+) or -0\.\d+ with 80% power", str(found.outlook))
    assert seen is not None
    again = [sf.Scores(rng.uniform(-0.2, 0.2, 30) + float(seen[1]), -1.0, 1.0) for _ in range(200)]
    assert 150 <= sum(sf.reference.betting_mean(gaps).low > 0.0 for gaps in again) <= 200
    assert re.search(r"About \d+,\d+ seeds would be needed to tell, if the", str(found.outlook))


def test_every_task_that_was_not_decided_says_what_would_decide_it():
    rows = [(name, task, i % 3 > 0) for name in ("new", "old") for task in ("cut", "pour") for i in range(12)]
    rollouts = sf.read(pl.DataFrame(rows, schema=["policy", "task", "success"], orient="row"))
    for one in sf.compare_by(rollouts, "new", "old"):
        assert str(one.outlook).startswith("12 rollouts each could ")
