"""Where do the human labels of a table come from, and what is known of how they were drawn?"""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.core.interval import Interval
from surefoot.core.record import Record


@dataclass(frozen=True, slots=True)
class Labelling(Record):
    """How the labels beside a judge's outcomes came about.

    Attributes:
        source: The file of labels.
        labels: Rollouts that it labels.
        drawn: Items that surefoot drew from this very table; None when it did not draw them.
        missing: Items drawn of which some label is missing.
        seed: The seed of the draw.
        raters: How many people labelled.
        twice: Rollouts labelled by more than one of them.
        alike: How many of those all of them labelled alike.
        kappa: How far the two who shared most labels agree beyond chance, where that is defined.
    """

    source: str
    labels: int
    drawn: int | None = None
    missing: int = 0
    seed: int | None = None
    raters: int = 1
    twice: int = 0
    alike: int = 0
    kappa: Interval | None = None

    @property
    def random(self) -> bool:
        """Whether surefoot drew the labelled items and all of them were labelled: nobody chose."""
        return self.drawn is not None and not self.missing
