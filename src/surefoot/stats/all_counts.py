"""Methods for one rate evaluated at every count at once.

Coverage and tightness need a method's ends at all counts. Entered methods may have a vectorised kernel; any other
function from a tally to an interval or a bound is called count by count.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from surefoot import _check
from surefoot.core.interval import Bound, Interval
from surefoot.core.tally import Tally
from surefoot.stats.rate_methods import method_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from surefoot.numerics.arrays import Floats


Method = Callable[..., Interval | Bound]
Ends = tuple["Floats", "Floats"]


def randomised(method: Method) -> bool:
    """Whether the method takes a draw."""
    return "draw" in inspect.signature(method).parameters


def ends(method: Method, successes: ArrayLike, trials: float, confidence: float, draws: ArrayLike = 0.0) -> Ends:
    """Low and high ends at every count; a bound has 0 or 1 on its open side.

    Args:
        method: The function that makes the interval or bound.
        successes: The counts; the kernels of entered methods also take fractions of one.
        trials: The total.
        confidence: The confidence asked of the method.
        draws: The draw at every count, for a randomised method.
    """
    counts = np.asarray(successes, float)
    tail = 1.0 - _check.confidence(confidence)
    known = method_of(method)
    if known is not None and known.ends is not None:
        chances = (np.asarray(draws, float),) if known.drawn else ()
        return _shaped(known.ends(counts, trials, tail, *chances), counts)
    chance = np.broadcast_to(np.asarray(draws, float), counts.shape)
    drawn = randomised(method)
    pairs = [
        _pair(method(Tally(int(k), int(trials)), confidence=confidence, **({"draw": float(u)} if drawn else {})))
        for k, u in zip(counts.ravel(), chance.ravel(), strict=True)
    ]
    flat = np.array(pairs, float).reshape(-1, 2)
    return flat[:, 0].reshape(counts.shape), flat[:, 1].reshape(counts.shape)


def smooth(method: Method) -> bool:
    """Whether the method may be asked at fractions of a count."""
    known = method_of(method)
    return known is not None and known.ends is not None and not known.drawn


def kind(method: Method, confidence: float) -> str:
    """What the method gives: ``interval``, ``lower`` or ``upper``."""
    sample = _sample(method, confidence)
    return sample.side if isinstance(sample, Bound) else "interval"


def name(method: Method, confidence: float) -> str:
    """What the method calls itself."""
    return _sample(method, confidence).method


def _sample(method: Method, confidence: float) -> Interval | Bound:
    if not callable(method):
        raise _check.mistyped("using", "be a function such as `wilson`", method)
    return method(Tally(1, 2), confidence=confidence, **({"draw": 0.5} if randomised(method) else {}))


def _shaped(ends: Ends, like: Floats) -> Ends:
    low, high = ends
    return np.broadcast_to(np.asarray(low, float), like.shape), np.broadcast_to(np.asarray(high, float), like.shape)


def _pair(result: object) -> tuple[float, float]:
    if isinstance(result, Interval):
        return result.low, result.high
    if isinstance(result, Bound):
        return (result.value, 1.0) if result.side == "lower" else (0.0, result.value)
    raise _check.mistyped("method", "give an Interval or a Bound", result)
