"""Simultaneous intervals of many gains, with the verdicts read off them.

An adjustment takes the pairs and the method of one pair. A verdict whose direction is read off the data is charged for
both directions. Where intervals and verdicts come from two procedures, a `FamilyGain` holds both, each by its name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from surefoot import _check
from surefoot.core import formatting, sentences
from surefoot.core.gain import Gain, decide
from surefoot.core.interval import Interval
from surefoot.core.record import Record
from surefoot.core.sample import Sample
from surefoot.core.scores import Scores
from surefoot.core.tally import PairTally, Tally
from surefoot.core.verdict import Verdict
from surefoot.stats.cluster_gains import ClusteredGain
from surefoot.stats.multiplicity import Sides, Stepped, step_down
from surefoot.stats.one_sided_gains import (
    CENTRAL,
    agreeing,
    asked,
    central_form,
    central_gain,
    central_gains,
    central_paired_gain,
    gain_of,
)
from surefoot.stats.rate_gains import exact_gain, exact_paired_gain
from surefoot.stats.score_gains import score_gain, score_test

Policy = Tally | Scores
Pair = tuple[Policy, Policy] | PairTally
Pairs = Sequence[tuple[Policy, Policy]] | Sequence[PairTally] | Sequence[Pair]


Using = Callable[..., Gain | Interval]
"""The method of one pair: `(first, second, confidence=...)` or `(pairs, confidence=...)` gives the gain."""


@dataclass(frozen=True, slots=True)
class FamilyGain(Record):
    """One comparison of a family: an interval that holds together with all others, and the verdict of the step-down.

    The step-down decides at least what the intervals decide. Where it decides more, the interval still holds 0 (or the
    margin): it is made to hold together with all others, whatever was decided.

    Attributes:
        gain: The gain with its simultaneous interval and what that alone supports; its p-value is Bonferroni's.
        verdict: What the step-down says about the first policy.
        p_value: The smallest error at which the step-down decides this pair; none where the method has no p-value.
        not_worse: Whether the first was shown not to be worse by as much as the margin.
    """

    gain: Gain
    verdict: Verdict
    p_value: float | None
    not_worse: bool

    def __post_init__(self) -> None:
        if self.p_value is not None:
            _check.rate(self.p_value, "p_value")
        if self.gain.verdict not in (self.verdict, Verdict.UNDECIDED):
            must = f"be {self.gain.verdict.value!r}, which the simultaneous interval supports"
            raise _check.refused("verdict", must, self.verdict.value)

    @property
    def mirrored(self) -> FamilyGain:
        """The same with the policies swapped."""
        turned = self.gain.mirrored
        verdict = self.verdict.mirrored
        shown = turned.not_worse or verdict in (Verdict.BETTER, Verdict.SAME)
        return FamilyGain(turned, verdict, self.p_value, shown)

    def __str__(self) -> str:
        shown = f", adjusted {formatting.p_value(self.p_value)}" if self.p_value is not None else ""
        scale = self.gain.interval.scale
        within = f" (margin {formatting.margin(self.gain.margin, scale)})" if self.gain.margin else ""
        wider = ""
        if self.verdict is not self.gain.verdict:
            wider = " The verdict is the step-down's; the interval, which holds together with all others, is wider."
        return f"{str(self.gain.interval).removesuffix('.')}{shown}: {sentences.SHORT[self.verdict]}{within}.{wider}"


Adjusting = Callable[..., tuple[Gain, ...] | tuple[FamilyGain, ...]]


def bonferroni_gains(
    pairs: Pairs, using: Using | None = None, *, confidence: float = 0.95, margin: float = 0.0
) -> tuple[Gain, ...]:
    """Which gains stand, with no false one among all of them? Each interval pays its share of the error.

    Args:
        pairs: First and second of every comparison in the family, or pairs of rollouts.
        using: The method of one pair; if not given the central gain for tallies (the exact gain for one pair alone) and
            the score gain for scores.
        confidence: The chance that all intervals hold together.
        margin: The gain that would not matter.

    Assumptions:
        What the method of one pair assumes; nothing about how the pairs depend on one another.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import bonferroni_gains
        >>> new, old, base = Scores([0.9, 0.8, 1.0] * 20), Scores([0.8, 0.9, 0.9] * 20), Scores([0.2, 0.4] * 30)
        >>> [str(gain.verdict) for gain in bonferroni_gains([(new, old), (new, base), (old, base)])]
        ['undecided', 'better', 'better']

    Reference:
        Dunn (1961), "Multiple comparisons among means".
    """
    confidence, margin = _check.confidence(confidence), _check.margin(margin)
    _some(pairs)
    return tuple(gain for gain, _ in _shares(pairs, using, confidence, margin))


def step_down_gains(
    pairs: Pairs, using: Using | None = None, *, confidence: float = 0.95, margin: float = 0.0
) -> tuple[FamilyGain, ...]:
    """Which gains stand, with no false one among all of them? Simultaneous intervals, verdicts by Holm's step-down.

    The intervals are those of `bonferroni_gains`: all hold together. The verdicts come from `step_down` on the
    one-sided p-values of the same tests, so that never fewer pairs are decided than by the intervals. Where the method
    of one pair has no p-value for the question, its intervals are asked at each level of the step-down.

    Args:
        pairs: First and second of every comparison in the family, or pairs of rollouts.
        using: The method of one pair, as for `bonferroni_gains`. The verdicts of `exact_gain`, whose error may lie on
            one side, are those of its intervals: no step follows.
        confidence: The chance that all intervals hold together, and the chance that no verdict is false.
        margin: The gain that would not matter.

    Assumptions:
        What the method of one pair assumes; nothing about how the pairs depend on one another. Intervals and verdicts
        are two statements, each with this confidence.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.reference import step_down_gains
        >>> a, b, c = Tally(30, 30), Tally(25, 30), Tally(13, 30)
        >>> for found in step_down_gains([(a, b), (a, c), (b, c)]):
        ...     print(found.gain.verdict, found.verdict, round(found.p_value, 4))
        undecided better 0.0448
        better better 0.0
        better better 0.0032

    Reference:
        Holm (1979); Dunn (1961).
    """
    confidence, margin = _check.confidence(confidence), _check.margin(margin)
    _some(pairs)
    shown = _shares(pairs, using, confidence, margin)
    if len(pairs) == 1 or using in CENTRAL:
        return tuple(FamilyGain(gain, gain.verdict, gain.p_value, gain.not_worse) for gain, _ in shown)
    known = [sides for _, sides in shown if sides is not None]
    if len(known) == len(shown):
        stepped = step_down(known, confidence=confidence)
        return tuple(family_gain(gain, one) for (gain, _), one in zip(shown, stepped, strict=True))
    holm = _Holm(pairs, using, confidence, margin)
    return tuple(holm.member(place, gain) for place, (gain, _) in enumerate(shown))


def holm_gains(
    pairs: Pairs, using: Using | None = None, *, confidence: float = 0.95, margin: float = 0.0
) -> tuple[Gain, ...]:
    """Which gains stand, with no false one among all of them? Verdicts by Holm, with intervals that agree with them.

    The price is in the intervals: a pair that was decided gets an interval that ends at the margin, because the
    error it would have needed for more was passed on to the other pairs.

    Args:
        pairs: First and second of every comparison in the family, or pairs of rollouts.
        using: The method of one pair, with half of its error on each side; the central gain for tallies and the score
            gain for scores if not given. For the exact gain the central one is taken.
        confidence: The chance that all intervals hold together.
        margin: The gain that would not matter.

    Assumptions:
        What the method of one pair assumes, with at most half of its error on each side; nothing about how the pairs
        depend on one another. Each pair counts as two hypotheses, one per direction.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import holm_gains
        >>> new, old, base = Scores([0.9, 0.8, 1.0] * 20), Scores([0.8, 0.9, 0.9] * 20), Scores([0.2, 0.4] * 30)
        >>> [str(gain.verdict) for gain in holm_gains([(new, old), (new, base), (old, base)])]
        ['undecided', 'better', 'better']

    Reference:
        Holm (1979); Strassburger and Bretz (2008), "Compatible simultaneous lower confidence bounds for the Holm
        procedure and other Bonferroni-based closed tests"; Guilbaud (2008).
    """
    confidence, margin = _check.confidence(confidence), _check.margin(margin)
    _some(pairs)
    holm = _Holm(pairs, using, confidence, margin)
    p_values = holm.p_values()
    found = []
    for place, (pair, (interval, _)) in enumerate(zip(pairs, holm.kept, strict=True)):
        # the margin itself is excluded: the next number after it is the end
        low = math.nextafter(margin, math.inf) if place in holm.above else interval.low
        high = math.nextafter(-margin, -math.inf) if place in holm.below else interval.high
        seen = replace(interval, low=min(low, high), high=max(low, high))
        found.append(
            _gain(pair, seen, p_values[place], f"Holm-over-{len(pairs):,} {interval.method}", confidence, margin)
        )
    return tuple(found)


class _Holm:
    """Holm's steps over both sides of every pair, from intervals at each level.

    Attributes:
        above: Pairs of which "the gain is at most the margin" was rejected.
        below: Pairs of which "the gain is at least minus the margin" was rejected.
        kept: Interval, p-value and method of every pair at the last level.
    """

    def __init__(self, pairs: Pairs, using: Using | None, confidence: float, margin: float) -> None:
        self.margin = margin
        self.above, self.below = set[int](), set[int]()
        error, open_ = 1.0 - confidence, 2 * len(pairs)
        methods = [_even(pair, using, error / open_, margin) for pair in pairs]
        while True:
            # two one-sided bounds at error / open_ each are one interval at this confidence
            level = 1.0 - min(2.0 * error / open_, 0.99)
            self.kept = [_pair(pair, method, level) for pair, method in zip(pairs, methods, strict=True)]
            self.above |= {i for i, (interval, _) in enumerate(self.kept) if interval.low > margin}
            self.below |= {i for i, (interval, _) in enumerate(self.kept) if interval.high < -margin}
            left = 2 * len(pairs) - len(self.above) - len(self.below)
            if left == open_:
                break
            open_ = left

    def p_values(self) -> list[float | None]:
        """Adjusted p-values, each direction a hypothesis of its own."""
        known = [p for _, p in self.kept if p is not None]
        if len(known) < len(self.kept) or self.margin:
            return [None] * len(self.kept)
        sides = [Sides.of(p, interval.estimate) for p, (interval, _) in zip(known, self.kept, strict=True)]
        return [one.p_value for one in step_down(sides)]

    def member(self, place: int, gain: Gain) -> FamilyGain:
        """What the steps say of one pair, beside its simultaneous interval."""
        interval = self.kept[place][0]
        if place in self.above or place in self.below:
            verdict = Verdict.BETTER if place in self.above else Verdict.WORSE
        else:
            verdict = decide(min(interval.low, self.margin), max(interval.high, -self.margin), self.margin)
        return FamilyGain(gain, verdict, None, place in self.above or interval.low > -self.margin)


def family_gain(gain: Gain, found: Stepped) -> FamilyGain:
    """A simultaneous interval with what the step-down says of it.

    What the interval decides is kept where rounding says otherwise: it is the step-down's own first step.
    """
    verdict = found.verdict if gain.verdict is Verdict.UNDECIDED else gain.verdict
    return FamilyGain(gain, verdict, found.p_value, found.not_worse or gain.not_worse)


def _shares(pairs: Pairs, using: Using | None, confidence: float, margin: float) -> list[tuple[Gain, Sides | None]]:
    """Every gain at its share of the error, and its one-sided p-values where there are some."""
    count = len(pairs)
    share, over = 1.0 - (1.0 - confidence) / count, f"Bonferroni-over-{count:,} " if count > 1 else ""
    own: list[Any] = [one for one in pairs if _central(one, using, count)]
    together = iter(central_gains(own, confidence=share, margin=margin))
    found = []
    for pair in pairs:
        sides = None
        if _central(pair, using, count):
            gain, sides = next(together)
            interval, p_value = gain.interval, gain.p_value
        else:
            result = (using or _usual(pair, count))(*_compared(pair), confidence=share)
            interval, p_value = _parts(result)
            if isinstance(result, ClusteredGain) and not margin:
                sides = result.sides
            elif isinstance(result, ClusteredGain):
                sides = None
            elif p_value is not None and not margin:
                sides = Sides.of(p_value, interval.estimate)
            elif using in (None, score_gain):
                sides = _score_sides(*_compared(pair), margin=margin)
        adjusted = None if p_value is None else min(1.0, count * p_value)
        found.append((_gain(pair, interval, adjusted, over + interval.method, confidence, margin), sides))
    return found


def _score_sides(first: Any, second: Any, *, margin: float) -> Sides:
    up, down = (score_test(first, second, gain=edge) for edge in (margin, -margin))
    return Sides(up.above, down.below, down.above, up.below)


def _central(pair: Any, using: Using | None, count: int) -> bool:
    """Whether a comparison is one of successes that the family makes by itself."""
    return (using or _usual(pair, count)) in CENTRAL.values()


def _compared(pair: Pair) -> tuple[Sample, ...]:
    return pair if isinstance(pair, tuple) else (pair,)


def _pair(pair: Pair, using: Using, confidence: float) -> tuple[Interval, float | None]:
    return _parts(using(*_compared(pair), confidence=confidence))


def _parts(result: Gain | Interval) -> tuple[Interval, float | None]:
    return (result, None) if isinstance(result, Interval) else (result.interval, result.p_value)


def _even(pair: Pair, using: Using | None, ordering: float, margin: float) -> Using:
    """A method with half of its error on each side; the nuisance limits of tallies stay the same over all steps."""
    chosen = using or _usual(pair, 2)
    if CENTRAL.get(chosen, chosen) not in CENTRAL.values():
        return central_form(chosen)
    one = asked(*_compared(pair))

    def central(*_compared: object, confidence: float) -> Gain | Interval:
        error = (1.0 - confidence) / 2.0
        sides = one.sides(margin, ordering)
        low, high = agreeing(one.ends(error, ordering), sides, error, margin)
        plain = sides if not margin else one.sides(0.0, ordering)
        return gain_of(one, low, high, plain, confidence, 0.0)

    return central


def _usual(pair: Pair, count: int) -> Using:
    """The method of one pair among so many."""
    if isinstance(pair, PairTally):
        return exact_paired_gain if count == 1 else central_paired_gain
    if isinstance(pair[0], Tally) and isinstance(pair[1], Tally):
        return exact_gain if count == 1 else central_gain
    if isinstance(pair[0], Scores) and isinstance(pair[1], Scores):
        return score_gain
    raise _check.mistyped("pairs", "hold two tallies or two sets of scores each", pair)


def _gain(
    pair: Pair,
    interval: Interval,
    p_value: float | None,
    method: str,
    confidence: float,
    margin: float,
) -> Gain:
    data = _compared(pair)
    shown = replace(interval, confidence=confidence, method=method, data=data)
    low, high = data[0].limits
    margin = _check.margin(margin, high - low)
    verdict = decide(shown.low, shown.high, margin)
    return Gain(shown, p_value, verdict, margin=margin)


def _some(pairs: Pairs) -> None:
    _check.filled(pairs, "pairs", "hold at least one comparison")
