"""What does a method say at every count at once?

Coverage and tightness need a method's ends at all counts. The methods of surefoot have vectorised kernels; any other
function from a tally to an interval or a bound is called count by count.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot import _check
from surefoot.core.interval import Bound, Interval
from surefoot.core.tally import Tally
from surefoot.numerics import beta, normal_quantiles, randomised_counts, rate_ends, wilson
from surefoot.stats import optimal_bounds, rates

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

Method = Callable[..., Interval | Bound]
Ends = tuple["Floats", "Floats"]


def randomised(method: Method) -> bool:
    """Whether the method takes a draw."""
    return "draw" in inspect.signature(method).parameters


def ends(method: Method, successes: ArrayLike, trials: float, confidence: float, draws: ArrayLike = 0.0) -> Ends:
    """Low and high ends at every count; a bound has 0 or 1 on its open side.

    Args:
        method: The function that makes the interval or bound.
        successes: The counts; the kernels of surefoot's own methods also take fractions of one.
        trials: The total.
        confidence: The confidence asked of the method.
        draws: The draw at every count, for a randomised method.
    """
    counts = np.asarray(successes, float)
    tail = 1.0 - _check.confidence(confidence)
    if method in _PLAIN:
        return _shaped(_PLAIN[method](counts, trials, tail), counts)
    if method in _DRAWN:
        return _shaped(_DRAWN[method](counts, trials, tail, np.asarray(draws, float)), counts)
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
    return method in _PLAIN


def kind(method: Method, confidence: float) -> str:
    """What the method gives: ``interval``, ``lower`` or ``upper``."""
    sample = _sample(method, confidence)
    return sample.side if isinstance(sample, Bound) else "interval"


def name(method: Method, confidence: float) -> str:
    """What the method calls itself."""
    return _sample(method, confidence).method


def _sample(method: Method, confidence: float) -> Interval | Bound:
    if not callable(method):
        raise TypeError(_check.refusal("using", "be a function such as `wilson`", method))
    return method(Tally(1, 2), confidence=confidence, **({"draw": 0.5} if randomised(method) else {}))


def _shaped(ends: Ends, like: Floats) -> Ends:
    low, high = ends
    return np.broadcast_to(np.asarray(low, float), like.shape), np.broadcast_to(np.asarray(high, float), like.shape)


def _pair(result: object) -> tuple[float, float]:
    if isinstance(result, Interval):
        return result.low, result.high
    if isinstance(result, Bound):
        return (result.value, 1.0) if result.side == "lower" else (0.0, result.value)
    raise TypeError(_check.refusal("method", "give an Interval or a Bound", result))


def _wilson(k: Any, n: Any, tail: float) -> Ends:
    return wilson.ends(k, n, normal_quantiles.upper_quantile(tail / 2.0))


def _wald(k: Any, n: Any, tail: float) -> Ends:
    half = rate_ends.wald_half(k, n, normal_quantiles.upper_quantile(tail / 2.0))
    return np.maximum(k / n - half, 0.0), np.minimum(k / n + half, 1.0)


def _agresti_coull(k: Any, n: Any, tail: float) -> Ends:
    centre, half = rate_ends.agresti_coull(k, n, normal_quantiles.upper_quantile(tail / 2.0))
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


def _jeffreys(k: Any, n: Any, tail: float) -> Ends:
    return beta.jeffreys(k, n, tail / 2.0)


def _exact(k: Any, n: Any, tail: float) -> Ends:
    return beta.exact_low(k, n, tail / 2.0), beta.exact_high(k, n, tail / 2.0)


_ZERO, _ONE = np.zeros(()), np.ones(())

_PLAIN: dict[Method, Callable[[Any, Any, float], Ends]] = {
    rates.wilson: _wilson,
    rates.wald: _wald,
    rates.agresti_coull: _agresti_coull,
    rates.jeffreys: _jeffreys,
    rates.clopper_pearson: _exact,
    rates.wilson_lower: lambda k, n, tail: (rate_ends.wilson_low(k, n, normal_quantiles.upper_quantile(tail)), _ONE),
    rates.wilson_upper: lambda k, n, tail: (_ZERO, rate_ends.wilson_high(k, n, normal_quantiles.upper_quantile(tail))),
    rates.clopper_pearson_lower: lambda k, n, tail: (beta.exact_low(k, n, tail), _ONE),
    rates.clopper_pearson_upper: lambda k, n, tail: (_ZERO, beta.exact_high(k, n, tail)),
}

_DRAWN: dict[Method, Callable[[Any, Any, float, Any], Ends]] = {
    optimal_bounds.optimal_lower: lambda k, n, tail, u: (randomised_counts.low(k, u, n, tail), _ONE),
    optimal_bounds.optimal_upper: lambda k, n, tail, u: (_ZERO, randomised_counts.high(k, u, n, tail)),
    optimal_bounds.optimal_interval: lambda k, n, tail, u: randomised_counts.unbiased(k, u, n, tail),
}
