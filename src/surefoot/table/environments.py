"""Which environments were met, by how many policies, how often?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from surefoot.table.rollouts import Rollouts

if TYPE_CHECKING:
    import narwhals as nw

WIDE = 8
"""Up to this many policies, every environment is looked up once for all of them; above, once for each pair."""


def by_environment(rollouts: Rollouts, names: tuple[str, ...], on: tuple[str, ...]) -> nw.LazyFrame[Any]:
    """A row per environment: how often each policy met it (n0, n1, ...) and whether it succeeded (s0, s1, ...).

    It is the one costly grouping of the table, so it is made once and kept.
    """
    import narwhals as nw

    kept = rollouts.environments
    if (*on, "|", *names) in kept:
        known: nw.LazyFrame[Any] = kept[*on, "|", *names]
        return known
    frame = rollouts.counted().filter(nw.col("policy").is_in(list(names)))
    # A byte is enough where a column can hold nothing; pandas has no such byte.
    kind = nw.Int8 if frame.implementation.is_polars() else nw.Float64
    columns, wanted = [], []
    for place, name in enumerate(names):
        own = nw.col("policy") == name
        columns.append(nw.when(own).then(nw.lit(1)).otherwise(nw.lit(0)).alias(f"n{place}"))
        wanted.append(nw.col(f"n{place}").sum())
        if "success" in rollouts.columns:
            columns.append(nw.when(own).then(nw.col("success").cast(kind)).alias(f"s{place}"))
            wanted.append(nw.col(f"s{place}").max())
    keys = {key: f"key_{place}" for place, key in enumerate(on)}
    wide = frame.select(*(nw.col(key).alias(new) for key, new in keys.items()), *columns)
    made = _held(wide.group_by(*keys.values()).agg(*wanted))
    kept[*on, "|", *names] = made
    return made


def of_tasks(kept: dict[tuple[str, ...], Any], tasks: list[Any]) -> dict[tuple[str, ...], Any]:
    """What is known of some tasks' environments from what was found out about all tasks: their rows of the grouping."""
    import narwhals as nw

    known: dict[tuple[str, ...], Any] = {}
    for key, found in kept.items():
        if isinstance(found, nw.LazyFrame) and "task" in key[: key.index("|")]:
            known[key] = found.filter(nw.col(f"key_{key.index('task')}").is_in(tasks))
        elif isinstance(found, dict) and not any(found.values()):  # nothing is missing anywhere
            known[key] = found
    return known


def _held(frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """A grouping kept in polars' memory; other engines keep their own."""
    import narwhals as nw

    if not frame.implementation.is_polars():
        return frame
    held: nw.LazyFrame[Any] = nw.from_native(frame.to_native().collect(engine="streaming").lazy())
    return held
