"""Which rollouts belong together when the user says that they do and no column tells which?"""

from __future__ import annotations

from dataclasses import replace

from surefoot.errors import DataError
from surefoot.table.pairs import Pairs, matched
from surefoot.table.rollouts import Rollouts


def pairs_by_position(rollouts: Rollouts, first: str, second: str) -> Pairs:
    """The n-th rollouts of two policies on each task, as declared pairs.

    By the `order` column where both policies share its values; else each policy's rollouts are counted, task by task.

    Raises:
        DataError: The order is not known, or `order` repeats within a task.
    """
    by = ("task",) if "task" in rollouts.columns else ()
    if "order" in rollouts.columns and _shared(rollouts, first, second):
        return matched(rollouts, first, second, (*by, "order"))
    return matched(_counted(rollouts, by), first, second, (*by, "order"))


def _shared(rollouts: Rollouts, first: str, second: str) -> bool:
    """Whether some number in `order` is one of both policies."""
    known = [set(rollouts.where(policy=name).column("order")) - {None} for name in (first, second)]
    return bool(known[0] & known[1])


def _counted(rollouts: Rollouts, by: tuple[str, ...]) -> Rollouts:
    import narwhals as nw
    import polars as pl

    if not rollouts.ordered or not rollouts.frame.implementation.is_polars():
        raise DataError(
            "the order of the rollouts must be known to pair the n-th with the n-th; it is not. "
            "Add an `order`, a `seed` or a `condition` column.",
            source=rollouts.source,
        )
    frame = rollouts.frame.to_native()
    if "order" in rollouts.columns:
        frame = frame.sort("order", nulls_last=True, maintain_order=True)
    place = pl.int_range(1, pl.len() + 1).over("policy", *by)
    return replace(rollouts, frame=nw.from_native(frame.with_columns(place.alias("order"))))
