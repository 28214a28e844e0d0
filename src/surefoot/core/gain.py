"""What does a comparison of two policies say, in one object that cannot contradict itself?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from surefoot import _check
from surefoot.core import formatting, sentences
from surefoot.core.interval import Interval
from surefoot.core.notes import Noted
from surefoot.core.record import Record
from surefoot.core.tally import PairTally
from surefoot.core.verdict import Verdict


def decide(low: float, high: float, margin: float = 0.0) -> Verdict:
    """The verdict an interval of the gain supports.

    Better when the whole interval is above the margin, worse when it is below minus the margin, the same when
    it lies strictly inside; a margin of 0 leaves no room for "the same".
    """
    if low > margin:
        return Verdict.BETTER
    if high < -margin:
        return Verdict.WORSE
    return Verdict.SAME if -margin < low and high < margin else Verdict.UNDECIDED


@dataclass(frozen=True, slots=True)
class Gain(Record):
    """The gain of the first policy over the second: interval, p-value and verdict, made together.

    Attributes:
        interval: Where the gain, first minus second, lies.
        p_value: The two-sided p-value against no gain; none where the method has none.
        verdict: What the interval supports, about the first policy.
        method: The function that made it.
        margin: The gain that would not matter.
        assumptions: What must hold for the confidence to be true.
        notes: What a reader must know besides.
        data: The inputs.
    """

    interval: Interval
    p_value: float | None
    verdict: Verdict
    method: str
    margin: float = 0.0
    assumptions: tuple[str, ...] = ()
    notes: tuple[Noted, ...] = ()
    data: tuple[Record, ...] = ()

    def __post_init__(self) -> None:
        _check.margin(self.margin, 1.0 if self.interval.scale == "gain" else None)
        if self.p_value is not None and not 0.0 <= self.p_value <= 1.0:  # also refuses NaN
            raise ValueError(_check.refusal("p_value", "be between 0 and 1", self.p_value))
        supported = decide(self.interval.low, self.interval.high, self.margin)
        if self.verdict not in (supported, Verdict.UNDECIDED):
            must = f"be {supported.value!r}, which the interval supports, or 'undecided'"
            raise ValueError(_check.refusal("verdict", must, self.verdict.value))

    @property
    def estimate(self) -> float:
        """The observed gain; a point, so show it with its interval."""
        return self.interval.estimate

    @property
    def confidence(self) -> float:
        """The confidence of the interval and of the verdict."""
        return self.interval.confidence

    @property
    def seed(self) -> int | None:
        """The seed, where chance entered."""
        return self.interval.seed

    @property
    def mirrored(self) -> Gain:
        """The same result with the policies swapped."""
        seen = self.interval
        # 0.0 - x, not -x: a gain of 0 stays 0.0
        low, high, estimate = 0.0 - seen.high, 0.0 - seen.low, 0.0 - seen.estimate
        turned = replace(seen, low=low, high=high, estimate=estimate, data=_swapped(seen.data))
        return replace(self, interval=turned, verdict=self.verdict.mirrored, data=_swapped(self.data))

    @property
    def not_worse(self) -> bool:
        """Whether the first was shown not to be worse by as much as the margin."""
        return self.interval.low > -self.margin

    def __str__(self) -> str:
        shown = f", {formatting.p_value(self.p_value)}" if self.p_value is not None else ""
        within = f" (margin {formatting.margin(self.margin, self.interval.scale)})" if self.margin else ""
        return f"{str(self.interval).removesuffix('.')}{shown}: {sentences.SHORT[self.verdict]}{within}."


def _swapped(data: tuple[Record, ...]) -> tuple[Record, ...]:
    """The inputs of a comparison with the policies swapped."""
    return tuple(one.mirrored if isinstance(one, PairTally) else one for one in reversed(data))
