"""How are many gains told at once so that all the intervals, and all the verdicts read off them, hold together?

An adjustment takes the pairs and the method of one pair, and gives one `Gain` per pair. Interval and verdict always
come from the same adjustment. A verdict whose direction is read off the data is charged for both directions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from surefoot import _check
from surefoot.core.gain import Gain, decide
from surefoot.core.interval import Interval
from surefoot.core.scores import Scores
from surefoot.core.tally import Tally
from surefoot.stats import multiplicity
from surefoot.stats.betting_gains import betting_gain
from surefoot.stats.exact_gains import exact_gain
from surefoot.stats.rate_gains import miettinen_nurminen

Policy = Tally | Scores
Pairs = Sequence[tuple[Policy, Policy]]


class Using(Protocol):
    """The method of one pair: a `Gain`, or an `Interval` of the gain, at the confidence asked for."""

    def __call__(self, first: Any, second: Any, /, *, confidence: float) -> Gain | Interval:
        """The gain of the first over the second."""


Adjusting = Callable[..., tuple[Gain, ...]]


def bonferroni_gains(
    pairs: Pairs, using: Using | None = None, *, confidence: float = 0.95, margin: float = 0.0
) -> tuple[Gain, ...]:
    """Which gains stand, with no false one among all of them? Each interval pays its share of the error.

    Args:
        pairs: First and second of every comparison in the family.
        using: The method of one pair; the exact gain for tallies and the betting gain for scores if not given.
        confidence: The chance that all intervals hold together.
        margin: The gain that would not matter.

    Assumptions:
        What the method of one pair assumes; nothing about how the pairs depend on one another.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats import bonferroni_gains
        >>> new, old, base = Scores([0.9, 0.8, 1.0] * 20), Scores([0.8, 0.9, 0.9] * 20), Scores([0.2, 0.4] * 30)
        >>> [str(gain.verdict) for gain in bonferroni_gains([(new, old), (new, base), (old, base)])]
        ['undecided', 'better', 'better']

    Reference:
        Dunn (1961), "Multiple comparisons among means".
    """
    confidence, margin = _check.confidence(confidence), _check.margin(margin)
    _some(pairs)
    share = 1.0 - (1.0 - confidence) / len(pairs)
    kept = [_pair(pair, using or _usual(*pair), share) for pair in pairs]
    over = f", Bonferroni over {len(pairs):,}" if len(pairs) > 1 else ""
    found = []
    for pair, (interval, p_value, method) in zip(pairs, kept, strict=True):
        adjusted = None if p_value is None else min(1.0, len(pairs) * p_value)
        found.append(_gain(pair, interval, adjusted, method + over, confidence, margin))
    return tuple(found)


def holm_gains(
    pairs: Pairs, using: Using | None = None, *, confidence: float = 0.95, margin: float = 0.0
) -> tuple[Gain, ...]:
    """Which gains stand, with no false one among all of them? Decides at least what Bonferroni decides.

    The price is in the intervals: a pair that was decided gets an interval that ends at the margin, because the
    error it would have needed for more was passed on to the other pairs.

    Args:
        pairs: First and second of every comparison in the family.
        using: The method of one pair, with half of its error on each side; the score interval of Miettinen and
            Nurminen for tallies and the betting gain for scores if not given.
        confidence: The chance that all intervals hold together.
        margin: The gain that would not matter.

    Assumptions:
        What the method of one pair assumes, with at most half of its error on each side (`exact_gain` does not
        promise that; use it with `bonferroni_gains`); nothing about how the pairs depend on one another. Each
        pair counts as two hypotheses, one per direction.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats import holm_gains
        >>> new, old, base = Scores([0.9, 0.8, 1.0] * 20), Scores([0.8, 0.9, 0.9] * 20), Scores([0.2, 0.4] * 30)
        >>> [str(gain.verdict) for gain in holm_gains([(new, old), (new, base), (old, base)])]
        ['undecided', 'better', 'better']

    Reference:
        Holm (1979); Strassburger and Bretz (2008), "Compatible simultaneous lower confidence bounds for the Holm
        procedure and other Bonferroni-based closed tests"; Guilbaud (2008).
    """
    confidence, margin = _check.confidence(confidence), _check.margin(margin)
    _some(pairs)
    error = 1.0 - confidence
    above: set[int] = set()  # pairs of which "the gain is at most the margin" was rejected
    below: set[int] = set()
    open_ = 2 * len(pairs)
    while True:
        # two one-sided bounds at error / open_ each are one interval at this confidence
        level = 1.0 - min(2.0 * error / open_, 0.99)
        kept = [_pair(pair, using or _even(*pair), level) for pair in pairs]
        above |= {i for i, (interval, _, _) in enumerate(kept) if interval.low > margin}
        below |= {i for i, (interval, _, _) in enumerate(kept) if interval.high < -margin}
        left = 2 * len(pairs) - len(above) - len(below)
        if left == open_:
            break
        open_ = left
    p_values = _holm_p([p for _, p, _ in kept])
    found = []
    for i, (pair, (interval, _, method)) in enumerate(zip(pairs, kept, strict=True)):
        # the margin itself is excluded: the next number after it is the end
        low = math.nextafter(margin, math.inf) if i in above else interval.low
        high = math.nextafter(-margin, -math.inf) if i in below else interval.high
        seen = replace(interval, low=min(low, high), high=max(low, high))
        gain = _gain(pair, seen, p_values[i], f"{method}, Holm over {len(pairs):,}", confidence, margin)
        found.append(gain)
    return tuple(found)


def _holm_p(p_values: list[float | None]) -> list[float | None]:
    """Adjusted two-sided p-values, each direction a hypothesis of its own."""
    known = [p for p in p_values if p is not None]
    if len(known) < len(p_values):
        return [None] * len(p_values)
    both = multiplicity.holm([p / 2.0 for p in known] + [1.0] * len(known))
    return list(both[: len(known)])


def _pair(pair: tuple[Policy, Policy], using: Using, confidence: float) -> tuple[Interval, float | None, str]:
    result = using(*pair, confidence=confidence)
    if isinstance(result, Interval):
        return result, None, result.method
    return result.interval, result.p_value, result.method


def _even(first: Policy, second: Policy) -> Using:
    """A method with half of its error on each side; the exact gain shares it as the data happen to fall."""
    usual = _usual(first, second)
    return miettinen_nurminen if usual is exact_gain else usual


def _usual(first: Policy, second: Policy) -> Using:
    if isinstance(first, Tally) and isinstance(second, Tally):
        return exact_gain
    if isinstance(first, Scores) and isinstance(second, Scores):
        return betting_gain
    raise TypeError(_check.refusal("pairs", "hold two tallies or two sets of scores each", (first, second)))


def _gain(
    pair: tuple[Policy, Policy],
    interval: Interval,
    p_value: float | None,
    method: str,
    confidence: float,
    margin: float,
) -> Gain:
    shown = replace(interval, confidence=confidence, method=method)
    one = pair[0]
    margin = _check.margin(margin, one.high - one.low if isinstance(one, Scores) else 1.0)
    verdict = decide(shown.low, shown.high, margin)
    return Gain(shown, p_value, verdict, method, margin, shown.assumptions, shown.notes, pair)


def _some(pairs: Pairs) -> None:
    if not pairs:
        raise ValueError("`pairs` must hold at least one comparison; got none.")
