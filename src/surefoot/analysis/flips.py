"""Items that one policy lost and won against another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from surefoot.core.record import Record
from surefoot.table.rollouts import Measure, Rollouts


@dataclass(frozen=True, slots=True)
class Flips(Record):
    """The pairs in which the two policies differ, by name; the greatest difference first.

    Attributes:
        lost: Where the second did better than the first.
        won: Where the first did better.
        pairs: How many pairs were looked at.
    """

    lost: tuple[str, ...]
    won: tuple[str, ...]
    pairs: int


def flips(
    rollouts: Rollouts, first: str, second: str, *, measure: Measure = "success", on: Sequence[str] | None = None
) -> Flips | None:
    """The items that differ between two policies; None where nothing tells which rollouts belong together.

    Args:
        rollouts: The table.
        first: The policy that lost or won.
        second: The policy it is compared with.
        measure: What was compared.
        on: The columns that the user said tell which belong together; found out from the table when not said.
    """
    if on is None and not rollouts.pairing(first, second, measure=measure):
        return None
    pairs = rollouts.pairs(first, second, on=on, measure=measure)
    values = pairs.values(measure)
    labels = pairs.labels(pairs.on, measure)
    telling = [at for at in range(len(pairs.on)) if len({label[at] for label in labels}) > 1]
    alone = [at for at in telling if pairs.on[at] in rollouts.design.keys("unit")]
    if alone and len({tuple(label[at] for at in alone) for label in labels}) == len(labels):
        telling = alone  # what an item belongs to is no part of its name where the item's own name will do
    named = [
        (" / ".join(str(label[at]) for at in telling), one - two)
        for label, (one, two) in zip(labels, values, strict=True)
    ]
    return Flips(
        tuple(name for name, gap in sorted(named, key=lambda each: each[1]) if gap < 0.0),
        tuple(name for name, gap in sorted(named, key=lambda each: -each[1]) if gap > 0.0),
        len(named),
    )
