"""Confidence sequence of the mean of bounded scores."""

from __future__ import annotations

import math
from dataclasses import dataclass

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.assumptions import ANYTIME, IN_ORDER, RANGE_FIXED, SAME_MEAN, Assumed
from surefoot.core.interval import Interval
from surefoot.core.record import Record
from surefoot.core.scores import Scores
from surefoot.stats import means


@dataclass(frozen=True, slots=True)
class MeanSequence(Record):
    """The interval of the mean after each score; all of them hold at once.

    Attributes:
        scores: The scores, in recorded order.
        lows: The lower end after each score; it never falls.
        highs: The upper end after each score; it never rises.
        confidence: How often all the intervals hold the mean together, at least.
        method: The rule that made it.
        assumptions: What must hold for the confidence to be true.
    """

    scores: Scores
    lows: tuple[float, ...]
    highs: tuple[float, ...]
    confidence: float
    method: str
    assumptions: tuple[Assumed, ...] = ()

    def __len__(self) -> int:
        return len(self.lows)

    @property
    def latest(self) -> Interval:
        """The interval after the last score."""
        return self.after(len(self))

    def after(self, count: int) -> Interval:
        """The interval after the first `count` scores."""
        count = _check.whole(count, "count", least=1)
        if count > len(self):
            raise _check.refused("count", f"be at most {len(self)}, the number of scores", count)
        seen = Scores(self.scores.values[:count], self.scores.low, self.scores.high)
        (low, high), notes = means.span(seen, self.lows[count - 1], self.highs[count - 1])
        return Interval(
            low=low,
            high=high,
            estimate=seen.mean,
            confidence=self.confidence,
            method=self.method,
            trials=count,
            scale="score",
            assumptions=self.assumptions,
            notes=notes,
            data=(seen,),
        )

    def __str__(self) -> str:
        return f"After each of {formatting.rollouts(len(self))}; the latest: {self.latest}"


@dataclass(frozen=True, slots=True)
class MeanEvidence(Record):
    """The evidence against one candidate mean, gathered in both directions.

    Attributes:
        mean: The candidate.
        above: Capital of the bets that the mean is larger, starting at 1.
        below: Capital of the bets that the mean is smaller, starting at 1.
        confidence: The confidence the bets were chosen for.
        scores: The scores, in recorded order.
        assumptions: What must hold for 1 / evidence to bound an error.
    """

    mean: float
    above: float
    below: float
    confidence: float
    scores: Scores
    assumptions: tuple[Assumed, ...] = ()

    @property
    def evidence(self) -> float:
        """Half of the larger capital. If the candidate is the mean, it ever reaches 1 / p with chance p at most."""
        return max(self.above, self.below) / 2.0

    def __str__(self) -> str:
        return f"Evidence {self.evidence:.4g} against a mean of {self.mean:g} n={len(self.scores):,} (hedged WSR)."


def betting_sequence(scores: Scores, *, confidence: float = 0.95) -> MeanSequence:
    """Where does the mean score lie, whenever you look? An interval after every score, all valid together.

    Assumptions:
        The range was fixed beforehand; each score has the same mean given the earlier ones. The number of
        scores need not be fixed: stop when the answer is good enough. For a fixed number `score_mean` is
        narrower.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats import betting_sequence
        >>> print(betting_sequence(Scores([1.0, 0.8, 1.0, 0.6, 1.0, 0.9, 1.0, 1.0, 0.7, 1.0] * 4)).latest)
        0.900 [0.805, 0.962] n=40 (95% anytime betting interval).

    Reference:
        Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting", theorem 3,
        truncated at 0.95, intersected over time.
    """
    from surefoot.numerics.betting import mean_bets

    each = (1.0 - _check.confidence(confidence)) / 2.0
    z = means.unit(scores)
    bets = mean_bets.wsr_bets(z, each)
    lows, highs = mean_bets.low_ends(z, bets, each), 1.0 - mean_bets.low_ends(1.0 - z, bets, each)
    return MeanSequence(
        scores=scores,
        lows=tuple(means.scored(scores, float(end)) for end in lows),
        highs=tuple(means.scored(scores, float(end)) for end in highs),
        confidence=float(confidence),
        method="anytime betting",
        assumptions=(RANGE_FIXED, SAME_MEAN, IN_ORDER, ANYTIME),
    )


def wsr_evidence(scores: Scores, mean: float, *, confidence: float = 0.95) -> MeanEvidence:
    """How much do the scores speak against one candidate mean? The capital of the published hedged bets.

    Assumptions:
        As for `betting_sequence`: the evidence may be looked at after every score.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import wsr_evidence
        >>> print(wsr_evidence(Scores([1.0, 0.8, 1.0, 0.6, 1.0, 0.9, 1.0, 1.0, 0.7, 1.0]), 0.5))
        Evidence 124.7 against a mean of 0.5 n=10 (hedged WSR).

    Reference:
        Waudby-Smith and Ramdas (2024), theorem 3, with each score's distance from the mean of its own time.
    """
    from surefoot.numerics.betting import mean_bets

    each = (1.0 - _check.confidence(confidence)) / 2.0
    z = means.unit(scores)
    candidate = (_check.real(mean, "mean") - scores.low) / (scores.high - scores.low)
    if not 0.0 <= candidate <= 1.0:
        raise _check.refused("mean", f"lie in the range [{scores.low:g}, {scores.high:g}]", mean)
    bets = mean_bets.wsr_bets(z, each)
    above = float(mean_bets.log_capital(z, bets, candidate)[-1])
    below = float(mean_bets.log_capital(1.0 - z, bets, 1.0 - candidate)[-1])
    return MeanEvidence(
        mean=float(mean),
        above=math.exp(min(above, 700.0)),
        below=math.exp(min(below, 700.0)),
        confidence=float(confidence),
        scores=scores,
        assumptions=(RANGE_FIXED, SAME_MEAN, IN_ORDER),
    )
