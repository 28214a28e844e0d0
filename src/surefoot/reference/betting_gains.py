"""Difference of two mean scores, by bets in recorded order.

For sequential use only: the answer depends on the order of the rollouts. The defaults for a file of rollouts are
`paired_score_gain` and `score_gain`.
"""

from __future__ import annotations

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.gain import Gain
from surefoot.core.notes import Noted
from surefoot.core.scores import Scores
from surefoot.stats import score_gains
from surefoot.stats.means import betting_mean


def betting_paired_gain(first: Scores, second: Scores, *, confidence: float = 0.95, margin: float = 0.0) -> Gain:
    """How much better is the first on the same conditions, by bets in recorded order? For sequential use only.

    Args:
        first: Scores of the first policy, one per pair, in recorded order.
        second: Scores of the second policy, in the same order.
        confidence: How often such intervals hold the gain, at least.
        margin: The gain that would not matter.

    Assumptions:
        The range and the number of pairs were fixed beforehand, the pairs are in recorded order, and each pair
        has the same mean gain given the earlier ones. The two scores of a pair may depend on each other.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import betting_paired_gain
        >>> first, second = Scores([1, 0.8, 0.9, 0.7] * 10), Scores([0.4, 0.5, 0.6, 0.5] * 10)
        >>> print(betting_paired_gain(first, second).verdict)
        better

    Reference:
        Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting", on the
        differences.
    """
    gap = score_gains.paired(first, second)
    return _betting(first, second, gap.tolist(), "paired betting", confidence, margin, ())


def betting_gain(first: Scores, second: Scores, *, confidence: float = 0.95, margin: float = 0.0) -> Gain:
    """How much better is the first, from separate rollouts, by bets in recorded order? For sequential use only.

    The two streams are paired in recorded order. Rollouts of the longer stream beyond the shorter are left out
    and counted in the notes.

    Args:
        first: Scores of the first policy, in recorded order.
        second: Scores of the second policy, in recorded order.
        confidence: How often such intervals hold the gain, at least.
        margin: The gain that would not matter.

    Assumptions:
        The range and the number of rollouts were fixed beforehand, scores are in recorded order, and the mean
        gain does not change as the rollouts go on.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import betting_gain
        >>> found = betting_gain(Scores([1, 0.8, 0.9, 0.7] * 10), Scores([0.4, 0.5, 0.6] * 14))
        >>> print(found.verdict, found.notes)
        better ('2 rollouts of the second had no counterpart and were left out.',)

    Reference:
        Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting", on the
        differences.
    """
    score_gains.check_ranges(first, second)
    size = min(len(first), len(second))
    gap = [one - other for one, other in zip(first.values, second.values, strict=False)]
    spare = max(len(first), len(second)) - size
    notes: tuple[Noted, ...] = ()
    if spare:
        longer = "first" if len(first) > size else "second"
        was = "was" if spare == 1 else "were"
        notes = (f"{formatting.rollouts(spare)} of the {longer} had no counterpart and {was} left out.",)
    return _betting(first, second, gap, "betting", confidence, margin, notes)


def _betting(
    first: Scores,
    second: Scores,
    gap: list[float],
    method: str,
    confidence: float,
    margin: float,
    notes: tuple[Noted, ...],
) -> Gain:
    most = first.high - first.low
    # rounding may carry a difference a hair beyond what two scores can differ by
    within = Scores([min(most, max(-most, value)) for value in gap], -most, most)
    found = betting_mean(within, confidence=confidence)
    return score_gains.gain_of(
        (first, second),
        (found.low, found.high),
        estimate=found.estimate,
        confidence=_check.confidence(confidence),
        method=method,
        margin=margin,
        trials=len(within),
        assumptions=found.assumptions,
        notes=(*found.notes, *notes),
    )
