"""The registry of intervals and bounds of a success rate.

A method is a function from a tally to an interval or a bound, entered by `@rate_method` above it, in a file of
`HOMES` or in a script. The command line, plans, coverage and the docs ask here, and know no method by name.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, TypeVar

from surefoot.core.interval import Bound, Interval, Side

HOMES = ("surefoot.stats.rates", "surefoot.stats.optimal_bounds")
"""The files that enter a method."""
Ends = tuple[Any, Any]
M = TypeVar("M", bound=Callable[..., Interval | Bound])


@dataclass(frozen=True, slots=True)
class RateMethod:
    """A way to show a success rate; above the function that it is about, it enters it.

    Attributes:
        name: What the command line calls it.
        summary: What it is for, in one sentence.
        side: The side of a bound; none for an interval.
        ends: Both ends at many counts at once, given counts, rollouts, the error and, where it is drawn, the draws;
            counts may be fractions. None: the function is called count by count.
        drawn: Whether chance enters: the function takes `rng` and `draw`.
        guaranteed: Whether the coverage is at least the confidence, whatever the rate.
        to_compare: Whether it is there only to be compared against.
        place: Among the methods shown.
        using: The function from a tally to the interval or the bound.
    """

    name: str
    summary: str
    _: KW_ONLY
    side: Side | None = None
    ends: Callable[..., Ends] | None = None
    drawn: bool = False
    guaranteed: bool = False
    to_compare: bool = False
    place: int = 1000
    using: Callable[..., Interval | Bound] = field(init=False)

    def __call__(self, using: M) -> M:
        """Enter the function."""
        object.__setattr__(self, "using", using)
        REGISTRY[self.name, self.side] = self
        return using


rate_method = RateMethod
"""As it is written above a function."""

REGISTRY: dict[tuple[str, Side | None], RateMethod] = {}
"""Every method whose file has been imported, by name and side."""


def methods(side: Side | None = None) -> dict[str, RateMethod]:
    """The methods that give an interval, or a bound on one side, by name, in the order they are shown."""
    _read()
    found = sorted((one for one in REGISTRY.values() if one.side == side), key=lambda one: (one.place, one.name))
    return {one.name: one for one in found}


def method_of(using: Any) -> RateMethod | None:
    """What was said of a function; none where it was not entered."""
    _read()
    return next((one for one in REGISTRY.values() if one.using is using), None)


def _read() -> None:
    """Import the files that enter a method."""
    for module in HOMES:
        importlib.import_module(module)
