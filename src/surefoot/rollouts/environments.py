"""Which environments were met, by how many policies, how often?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from surefoot.rollouts.canon import small
from surefoot.rollouts.columns import PAIR_KEYS
from surefoot.rollouts.table import Rollouts

if TYPE_CHECKING:
    import narwhals as nw

WIDE = 8
"""Up to this many policies, every environment is looked up once for all of them; above, once for each pair."""


@dataclass(frozen=True, slots=True)
class Environments:
    """Counts of environments, told apart by the columns in `on`.

    Attributes:
        on: The columns.
        total: Different environments.
        shared: Those met by at least two policies.
        complete: Those met by every policy.
        repeated: Those one policy met more than once.
        example: One that was repeated, in words.
    """

    on: tuple[str, ...]
    total: int
    shared: int
    complete: int
    repeated: int
    example: str


def environments(rollouts: Rollouts) -> Environments | None:
    """The environments of a table; none when no column tells them apart."""
    import narwhals as nw

    keys = [key for key in PAIR_KEYS if key in rollouts.columns]
    if not {"condition", "seed"} & set(keys):
        return None
    frame = rollouts.counted()
    nulls = small(frame.select(*(nw.col(key).is_null().cast(nw.Int64).sum().alias(key) for key in keys)))
    on = tuple(key for key in keys if not nulls[key][0])
    if not {"condition", "seed"} & set(on):
        return None
    names = [f"key_{place}" for place in range(len(on))]
    by = _few(rollouts, on) if len(rollouts.policies) <= WIDE else _many(rollouts, on)

    def count(flag: nw.Expr, name: str) -> nw.Expr:
        return nw.when(flag).then(nw.lit(1)).otherwise(nw.lit(0)).sum().alias(name)

    home = small(
        by.select(
            nw.len().alias("total"),
            count(nw.col("policies") > 1, "shared"),
            count(nw.col("policies") == len(rollouts.policies), "complete"),
            count(nw.col("most") > 1, "repeated"),
        )
    )
    counts = {name: int(values[0] or 0) for name, values in home.items()}
    example = ""
    if counts["repeated"]:
        one = small(by.filter(nw.col("most") > 1).sort(*names).head(1))
        example = ", ".join(f"{key} {one[name][0]!r}" for key, name in zip(on, names, strict=True))
    return Environments(on, example=example, **counts)


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


def _few(rollouts: Rollouts, on: tuple[str, ...]) -> nw.LazyFrame[Any]:
    import narwhals as nw

    wide = by_environment(rollouts, rollouts.policies, on)
    counts = [nw.col(f"n{place}") for place in range(len(rollouts.policies))]
    met = [nw.when(count > 0).then(nw.lit(1)).otherwise(nw.lit(0)) for count in counts]
    keys = [nw.col(f"key_{place}") for place in range(len(on))]
    return wide.select(*keys, nw.sum_horizontal(*met).alias("policies"), nw.max_horizontal(*counts).alias("most"))


def _many(rollouts: Rollouts, on: tuple[str, ...]) -> nw.LazyFrame[Any]:
    import narwhals as nw

    names = {key: f"key_{place}" for place, key in enumerate(on)}
    keys = [nw.col(key).alias(new) for key, new in names.items()]
    each = rollouts.counted().select(*keys, nw.col("policy").alias("who"))
    times = each.group_by(*names.values(), "who").agg(nw.len().alias("times"))
    by = times.group_by(*names.values()).agg(nw.len().alias("policies"), nw.col("times").max().alias("most"))
    return _held(by)


def _held(frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """A grouping kept in polars' memory; other engines keep their own."""
    import narwhals as nw

    if not frame.implementation.is_polars():
        return frame
    held: nw.LazyFrame[Any] = nw.from_native(frame.to_native().collect(engine="streaming").lazy())
    return held
