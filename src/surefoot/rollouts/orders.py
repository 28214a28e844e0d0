"""Were policies or contexts run one after the other instead of in mixed order?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

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
