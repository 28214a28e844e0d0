"""Whether policies or contexts were run in blocks instead of in mixed order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from surefoot.table.normalising import small

if TYPE_CHECKING:
    from surefoot.table.rollouts import Rollouts

FEWEST = 10
"""In fewer rollouts than this no order can be told from another."""


def changes(labels: Sequence[Any]) -> int:
    """How often the label changes from one rollout to the next."""
    return sum(a != b for a, b in pairwise(labels))


def expected_changes(labels: Sequence[Any]) -> float:
    """How often it would change on average, had the same labels been run in random order."""
    total = len(labels)
    same = sum(count * (count - 1) for count in Counter(labels).values()) / (total * (total - 1))
    return (total - 1) * (1.0 - same)


def in_blocks(labels: Sequence[Any]) -> bool:
    """Whether labels come in longer runs than a random order would give: fewer than half of the changes expected."""
    if len(labels) < FEWEST or len(set(labels)) in (1, len(labels)):
        return False
    expected = expected_changes(labels)
    return expected >= 3.0 and changes(labels) < expected / 2.0


def declared_order(rollouts: Rollouts) -> bool:
    """Whether a column says in which order each policy's rollouts of a level were run; that of the rows may be any.

    That numbers tell when, and not only which, no shape can show: `order` is what a file or its format calls so.
    """
    import narwhals as nw

    if "order" not in rollouts.columns:
        return False
    within = ["policy", *(split for split in [rollouts.split] if split not in (None, "order"))]
    rows = rollouts.counted()
    gaps = small(rows.select(nw.col("order").is_null().cast(nw.Int64).sum().alias("gaps")))["gaps"][0]
    each = rows.group_by(*within, "order").agg(nw.len().alias("times"))
    return not gaps and not small(each.filter(nw.col("times") > 1).select("times").head(1))["times"]
