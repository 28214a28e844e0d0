"""What is asked of two policies, and the method with its data that answers it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from surefoot import _check
from surefoot.analysis.subjects import Reading
from surefoot.core.gain import Gain
from surefoot.core.interval import Bound
from surefoot.core.notes import Note
from surefoot.core.scores import Scores
from surefoot.core.tally import PairTally, Tally
from surefoot.stats.one_sided_gains import CENTRAL, bounds_of, central_form
from surefoot.table.rollouts import Measure, Rollouts
from surefoot.table.summaries import Group

Weights = Literal["units", "settings", "rollouts"]
"""How units weigh in a gain: all alike, so that settings weigh alike, or by their rollouts."""
WEIGHTS = ("units", "settings", "rollouts")

Make = Callable[..., Gain]
"""A method with its data: a gain at the `confidence` and `margin` asked for."""


@dataclass(frozen=True, slots=True)
class Found:
    """How two policies are compared: a method with its data, how the table was read for it, and what else to know.

    Attributes:
        reading: Which units are compared, and what the answer is about.
        make: The method with its data.
        notes: What a reader must know besides.
        tallies: The pairs, or the two tallies, where the gain is exact; None for other methods.
        other: The method and reading for the other target; None where the data cannot have one.
    """

    reading: Reading
    make: Make
    notes: tuple[Note, ...] = ()
    tallies: PairTally | tuple[Tally, Tally] | None = None
    other: Callable[[], Any] | None = None

    @property
    def comparable(self) -> bool:
        """Whether the two met a common task or setting."""
        return not any(note.kind == "no common task" for note in self.notes)

    def gain(self, *, confidence: float, margin: float, central: bool = False) -> Gain:
        """The gain; with `central`, each end of its interval is a bound by itself: for families and gates."""
        return called(self.make, confidence=confidence, margin=margin, central=central)


@dataclass(frozen=True, slots=True)
class Combined:
    """A method made of others: all of them must speak, or their gain is shown on another scale."""

    ways: tuple[Make, ...]
    combine: Callable[[list[Gain]], Gain]

    def __call__(self, *, confidence: float, margin: float, central: bool = False) -> Gain:
        """The combined gain."""
        return self.combine([called(way, confidence=confidence, margin=margin, central=central) for way in self.ways])


def called(make: Make, *, confidence: float, margin: float, central: bool = False) -> Gain:
    """A gain; with `central`, each end of its interval is a bound by itself, with half of the error."""
    if isinstance(make, Combined):
        return make(confidence=confidence, margin=margin, central=central)
    if central and isinstance(make, partial) and make.func in CENTRAL:
        make = partial(CENTRAL[make.func], *make.args, **make.keywords)
    elif central:
        make = central_form(make)
    return make(confidence=confidence, margin=margin)


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for.

    Attributes:
        rollouts: The table.
        first: The policy the gain is about.
        second: The policy it is compared with.
        measure: What is compared.
        weights: How units weigh.
        lower_is_better: Whether less is better.
        level: The columns and their level, where only that level is looked at.
    """

    rollouts: Rollouts
    first: str
    second: str
    measure: Measure
    weights: Weights = "units"
    lower_is_better: bool = False
    level: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        _check.choice(self.weights, "weights", dict.fromkeys(WEIGHTS))

    @property
    def compared(self) -> Asked:
        """What is computed: where less is better, how much less the first needs than the second."""
        return replace(self, first=self.second, second=self.first) if self.lower_is_better else self

    @property
    def ends(self) -> tuple[float, float]:
        """The range of an outcome."""
        return self.rollouts.ends(self.measure)

    @property
    def groups(self) -> list[Group]:
        """The counts of the two policies."""
        return [group for group in self.rollouts.summary() if group.key[0] in (self.first, self.second)]

    def scores(self, values: Any) -> Scores:
        """Outcomes, or means of them, as scores; rounding may carry a mean a hair beyond its range."""
        import numpy as np

        return Scores(np.clip(np.asarray(values, float), *self.ends).tolist(), *self.ends)

    def shown(self, make: Make) -> Make:
        """A gain computed from scores, shown in points when it is one of success rates."""
        if self.measure == "score":
            return make

        return Combined((make,), _in_points)


def _in_points(gains: list[Gain]) -> Gain:
    (gain,) = gains
    return replace(gain, interval=replace(gain.interval, scale="gain"))


def bounds_by(make: Callable[[float], Gain | None], at: tuple[float, float]) -> tuple[Bound, Bound] | None:
    """The lower and the upper bound, each at its confidence: ends of intervals with half of the error on each side."""
    gains = [make(round(2.0 * one - 1.0, 15)) for one in dict.fromkeys(at)]
    if any(gain is None for gain in gains):
        return None
    every = [bounds_of(gain.interval, one) for gain, one in zip(gains, dict.fromkeys(at), strict=True) if gain]
    return every[0][0], every[-1][1]
