"""Randomised optimal bounds on a success rate, with exact coverage.

A count alone jumps, so a bound from it must over-cover. Adding one uniform draw to it removes the slack: these bounds
are uniformly most accurate. The price is that the draw moves the bound, so it comes from a generator the caller
gives, is kept in the result and printed, and the result shows both extremes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.assumptions import DRAWN_ONCE, ONE_RATE, RATE_EXACT
from surefoot.core.interval import Bound, Interval, Side
from surefoot.core.tally import Tally
from surefoot.stats.rate_methods import Ends, rate_method
from surefoot.stats.rates import counts

if TYPE_CHECKING:
    from surefoot._check import Rng


def _low(k: Any, n: Any, tail: float, draws: Any) -> Ends:
    from surefoot.numerics.rates import randomised_counts

    return randomised_counts.low(k, draws, n, tail), 1.0


def _high(k: Any, n: Any, tail: float, draws: Any) -> Ends:
    from surefoot.numerics.rates import randomised_counts

    return 0.0, randomised_counts.high(k, draws, n, tail)


def _both(k: Any, n: Any, tail: float, draws: Any) -> Ends:
    from surefoot.numerics.rates import randomised_counts

    return randomised_counts.unbiased(k, draws, n, tail)


@rate_method(
    "optimal",
    "The tightest bound that holds exactly as often as it says; it needs a draw.",
    side="lower",
    ends=_low,
    drawn=True,
    guaranteed=True,
    place=60,
)
def optimal_lower(
    tally: Tally, *, rng: Rng | None = None, draw: float | None = None, confidence: float = 0.95
) -> Bound:
    """Above what is the true rate? The tightest bound that holds exactly as often as it says.

    Args:
        tally: The successes and rollouts.
        rng: A generator or a seed to draw from; the seed is kept in the result.
        draw: A number between 0 and 1 drawn elsewhere, instead of `rng`; 0 gives Clopper-Pearson.
        confidence: How often such bounds hold.

    Assumptions:
        Independent rollouts with one success rate, and a draw made once, before the bound is seen.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import optimal_lower
        >>> print(optimal_lower(Tally(38, 50), draw=0.3))
        at least 64.5% n=50 (95% optimal bound, draw 0.3; any draw gives a bound in [64.0%, 66.3%]).

    Reference:
        Vincent et al., "How generalizable is my behavior cloning policy?", section IV, equation 9; Lehmann and
        Romano, "Testing Statistical Hypotheses", section 3.5.
    """
    return _bound(tally, "lower", confidence, *_drawn(rng, draw))


@rate_method(
    "optimal",
    "The tightest bound that holds exactly as often as it says; it needs a draw.",
    side="upper",
    ends=_high,
    drawn=True,
    guaranteed=True,
    place=60,
)
def optimal_upper(
    tally: Tally, *, rng: Rng | None = None, draw: float | None = None, confidence: float = 0.95
) -> Bound:
    """Below what is the true rate? The tightest bound that holds exactly as often as it says.

    Args:
        tally: The successes and rollouts.
        rng: A generator or a seed to draw from; the seed is kept in the result.
        draw: A number between 0 and 1 drawn elsewhere, instead of `rng`; 0 gives Clopper-Pearson.
        confidence: How often such bounds hold.

    Assumptions:
        Independent rollouts with one success rate, and a draw made once, before the bound is seen.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import optimal_upper
        >>> print(optimal_upper(Tally(4, 50), draw=0.3))
        at most 16.8% n=50 (95% optimal bound, draw 0.3; any draw gives a bound in [14.7%, 17.4%]).

    Reference:
        Vincent et al., "How generalizable is my behavior cloning policy?", section IV: the lower bound of the
        failures, mirrored.
    """
    return _bound(tally, "upper", confidence, *_drawn(rng, draw))


@rate_method(
    "optimal",
    "The tightest unbiased interval that holds exactly as often as it says; it needs a draw.",
    ends=_both,
    drawn=True,
    guaranteed=True,
    place=60,
)
def optimal_interval(
    tally: Tally, *, rng: Rng | None = None, draw: float | None = None, confidence: float = 0.95
) -> Interval:
    """Where does the true rate lie? The tightest unbiased interval that holds exactly as often as it says.

    Unbiased: no wrong rate is inside it more often than the true one.

    Args:
        tally: The successes and rollouts.
        rng: A generator or a seed to draw from; the seed is kept in the result.
        draw: A number between 0 and 1 drawn elsewhere, instead of `rng`.
        confidence: How often such intervals hold the truth.

    Assumptions:
        Independent rollouts with one success rate, and a draw made once, before the interval is seen.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import optimal_interval
        >>> print(optimal_interval(Tally(38, 50), draw=0.5))
        76.0% [62.8%, 86.6%] n=50 (95% optimal interval, draw 0.5).

    Reference:
        Lehmann and Romano, "Testing Statistical Hypotheses", sections 4.2 and 5.5 (uniformly most accurate unbiased).
    """
    from surefoot.numerics.rates import binomial, randomised_counts

    drawn, seed = _drawn(rng, draw)
    tail = 1.0 - _check.confidence(confidence)
    k, n = counts(tally)
    (low, least, late), (high, early, most) = (
        [float(end) for end in ends] for ends in randomised_counts.unbiased(k, [drawn, 0.0, 1.0], n, tail)
    )
    exact = formatting.span(float(binomial.exact_low(k, n, tail / 2.0)), float(binomial.exact_high(k, n, tail / 2.0)))
    notes = [
        f"Any draw gives a low end in {formatting.span(least, late)} and a high end in {formatting.span(early, most)}.",
        f"Without a draw (Clopper-Pearson): {exact}.",
    ]
    if low == high in (0.0, 1.0):
        notes.append(_certain(low, confidence, "interval"))
    return Interval(
        low=min(low, tally.rate),
        high=max(high, tally.rate),
        estimate=tally.rate,
        confidence=float(confidence),
        method="optimal",
        trials=n,
        assumptions=(ONE_RATE, RATE_EXACT, DRAWN_ONCE),
        notes=tuple(notes),
        data=(tally,),
        draw=drawn,
        seed=seed,
    )


def _drawn(rng: Rng | None, draw: float | None) -> tuple[float, int | None]:
    """The draw and the seed it came from."""
    if draw is None:
        source, seed = _check.generator(rng)
        return float(source.random()), seed
    if rng is not None:
        raise _check.wrong_kind(
            ("rng", "draw"), "not both be given; `draw` is the number `rng` would draw.", (rng, draw)
        )
    return _check.rate(draw, "draw"), None


def _bound(tally: Tally, side: Side, confidence: float, draw: float, seed: int | None) -> Bound:
    from surefoot.numerics.rates import randomised_counts

    lower = side == "lower"
    end = randomised_counts.low if lower else randomised_counts.high
    k, n = counts(tally)
    value, plain, most = map(float, end(k, [draw, 0.0, 1.0], n, 1.0 - _check.confidence(confidence)))
    shown = formatting.number(plain, toward="down" if lower else "up")
    notes = [f"Without a draw (Clopper-Pearson): {'at least' if lower else 'at most'} {shown}."]
    if value == (1.0 if lower else 0.0):
        notes.append(_certain(value, confidence, "bound"))
    elif value > 0.0 and tally.successes == 0 and lower:
        notes.append("A positive bound without one success: the draw, not the rollouts, lifted it above 0.")
    elif value < 1.0 and tally.failures == 0 and not lower:
        notes.append("A bound below 100% without one failure: the draw, not the rollouts, pushed it below 1.")
    return Bound(
        side=side,
        value=value,
        estimate=tally.rate,
        confidence=float(confidence),
        method="optimal",
        trials=tally.trials,
        assumptions=(ONE_RATE, RATE_EXACT, DRAWN_ONCE),
        notes=tuple(notes),
        data=(tally,),
        draw=draw,
        seed=seed,
        range=(plain, most),
    )


def _certain(value: float, confidence: float, kind: str) -> str:
    error = formatting.percent(1.0 - confidence)
    return (
        f"The draw is one of the {error} at which the {kind} is {value:.0%} exactly. That is allowed, "
        "and part of why it "
        "holds exactly as often as it says; it is not evidence that the rate is so. Read the Clopper-Pearson figure."
    )
