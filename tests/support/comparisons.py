"""What several tests of comparisons share."""

from __future__ import annotations

import polars as pl

import surefoot as sf


def table(**columns) -> sf.Rollouts:
    return sf.read(pl.DataFrame(columns))


def _ends(interval: sf.Interval) -> tuple[float, float]:
    return interval.low, interval.high


def streams(first: int, second: int, size: int = 20) -> sf.Rollouts:
    ended = [1] * first + [0] * (size - first) + [1] * second + [0] * (size - second)
    return table(policy=["new"] * size + ["old"] * size, success=ended)


def by_tally(*rows) -> sf.Rollouts:
    """A table from (policy, task, successes, trials)."""
    listed = [(policy, task, int(place < k)) for policy, task, k, n in rows for place in range(n)]
    return sf.read(pl.DataFrame(listed, schema=["policy", "task", "success"], orient="row"))


def _of_rows(rows, *columns) -> sf.Rollouts:
    return sf.read(pl.DataFrame(rows, schema=list(columns), orient="row"))
