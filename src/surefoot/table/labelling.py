"""Where the human labels of a table come from, and how they were drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from surefoot.core.record import Record

LabelsMethod = Literal["judge", "labels"]
"""Whether the judge helps the labels, or the labels decide alone; fixed beforehand."""


@dataclass(frozen=True, slots=True)
class Labelling(Record):
    """How the labels beside a judge's outcomes came about, and how they are to be used.

    Attributes:
        source: The file of labels; empty when they are a column of the table.
        labels: Rollouts that are labelled.
        using: Whether the judge helps the labels, or they decide alone.
        drawn: Items that surefoot drew from this very table; None when it did not draw them.
        missing: Items drawn of which some label is missing.
        seed: The seed of the draw.
        raters: How many people labelled.
        twice: Rollouts labelled by more than one of them.
        alike: How many of those all of them labelled alike.
        shared: The labels of the two people who labelled most rollouts together, side by side.
    """

    source: str
    labels: int
    using: LabelsMethod = "judge"
    drawn: int | None = None
    missing: int = 0
    seed: int | None = None
    raters: int = 1
    twice: int = 0
    alike: int = 0
    shared: tuple[tuple[float, float], ...] = ()

    @property
    def random(self) -> bool:
        """Whether surefoot drew the labelled items and all of them were labelled: nobody chose."""
        return self.drawn is not None and not self.missing
