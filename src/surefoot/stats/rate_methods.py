"""By which methods can a success rate be shown, and what does each promise?

A method is a function from a tally to an interval or a bound. The file that defines it enters it by `@rate_method`; the
command line, plans, coverage and the docs ask here, and know no method by name.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from surefoot import _lazy
from surefoot.core.interval import Bound, Interval, Side

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ROOM = "surefoot.stats"
Ends = tuple[Any, Any]
M = TypeVar("M", bound=Callable[..., Interval | Bound])


@dataclass(frozen=True, slots=True, kw_only=True)
class RateMethod:
    """A way to show a success rate.

    Attributes:
        name: What the command line calls it.
        side: The side of a bound; none for an interval.
        using: The function from a tally to the interval or the bound.
        summary: What it is for, in one sentence.
        ends: Both ends at many counts at once, given counts, rollouts, the error and, where it is drawn, the draws;
            counts may be fractions. None: the function is called count by count.
        drawn: Whether chance enters: the function takes `rng` and `draw`.
        guaranteed: Whether the coverage is at least the confidence, whatever the rate.
        to_compare: Whether it is there only to be compared against.
        place: Among the methods shown.
    """

    name: str
    side: Side | None
    using: Callable[..., Interval | Bound]
    summary: str
    ends: Callable[..., Ends] | None
    drawn: bool
    guaranteed: bool
    to_compare: bool
    place: int


REGISTRY: dict[tuple[str, Side | None], RateMethod] = {}
"""Every method whose file has been imported, by name and side."""


def rate_method(
    name: str,
    summary: str,
    *,
    side: Side | None = None,
    ends: Callable[..., Ends] | None = None,
    drawn: bool = False,
    guaranteed: bool = False,
    to_compare: bool = False,
    place: int = 1000,
) -> Callable[[M], M]:
    """Enter a method; above its function. See `RateMethod` for what is said of it."""

    def entered(using: M) -> M:
        REGISTRY[name, side] = RateMethod(
            name=name,
            side=side,
            using=using,
            summary=summary,
            ends=ends,
            drawn=drawn,
            guaranteed=guaranteed,
            to_compare=to_compare,
            place=place,
        )
        return using

    return entered


def methods(side: Side | None = None) -> dict[str, RateMethod]:
    """The methods that give an interval, or a bound on one side, by name, in the order they are shown."""
    _read()
    found = sorted((one for one in REGISTRY.values() if one.side == side), key=lambda one: (one.place, one.name))
    return {one.name: one for one in found}


def method_of(using: Any) -> RateMethod | None:
    """What was said of a function; none where it was not entered."""
    _read()
    return next((one for one in REGISTRY.values() if one.using is using), None)


@cache
def _read() -> None:
    """Import the files of the room that enter a method."""
    for module, text in _lazy.sources(ROOM):
        if "\n@rate_method(" in text:
            importlib.import_module(module)
