"""The comparison of two policies: interval, p-value and verdict of one gain."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from surefoot import _check
from surefoot.core import formatting, sentences
from surefoot.core.assumptions import Assumed
from surefoot.core.interval import Interval
from surefoot.core.notes import Noted
from surefoot.core.record import Record
from surefoot.core.sample import Sample
from surefoot.core.tally import Tally
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
        interval: Where the gain, first minus second, lies, with the method, assumptions, notes and data behind it.
        p_value: The two-sided p-value against no gain; none where the method has none.
        verdict: What the interval supports, about the first policy.
        margin: The gain that would not matter.
    """

    interval: Interval
    p_value: float | None
    verdict: Verdict
    _: KW_ONLY
    margin: float = 0.0

    def __post_init__(self) -> None:
        _check.margin(self.margin, 1.0 if self.interval.scale == "gain" else None)
        if self.p_value is not None and not 0.0 <= self.p_value <= 1.0:  # also refuses NaN
            raise _check.refused("p_value", "be between 0 and 1", self.p_value)
        supported = decide(self.interval.low, self.interval.high, self.margin)
        if self.verdict not in (supported, Verdict.UNDECIDED):
            must = f"be {supported.value!r}, which the interval supports, or 'undecided'"
            raise _check.refused("verdict", must, self.verdict.value)

    @classmethod
    def from_earlier(cls, body: dict[str, Any]) -> dict[str, Any]:
        """Version 0.1.0 wrote beside the interval what the interval holds."""
        twice = {name: body[name] for name in ("method", "assumptions", "notes", "data") if name in body}
        rest = {name: value for name, value in body.items() if name not in twice}
        return {**rest, "interval": {**rest["interval"], **twice}} if twice and "interval" in rest else body

    @property
    def method(self) -> str:
        """The function that made it."""
        return self.interval.method

    @property
    def assumptions(self) -> tuple[Assumed, ...]:
        """What must hold for the confidence to be true."""
        return self.interval.assumptions

    @property
    def notes(self) -> tuple[Noted, ...]:
        """What a reader must know besides."""
        return self.interval.notes

    @property
    def data(self) -> tuple[Record, ...]:
        """The inputs."""
        return self.interval.data

    @property
    def tallies(self) -> tuple[Tally, ...]:
        """The tallies behind it, those of the first policy first in each pair of them; none where scores were kept."""
        return tuple(tally for one in self.interval.samples for tally in one.tallies)

    @property
    def paired(self) -> bool:
        """Whether it compares successes pair by pair."""
        return any(one.paired for one in self.interval.samples)

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
        data = tuple(one.mirrored if isinstance(one, Sample) else one for one in reversed(seen.data))
        turned = replace(seen, low=low, high=high, estimate=estimate, data=data)
        return replace(self, interval=turned, verdict=self.verdict.mirrored)

    @property
    def not_worse(self) -> bool:
        """Whether the first was shown not to be worse by as much as the margin."""
        return self.interval.low > -self.margin

    def __str__(self) -> str:
        shown = f", {formatting.p_value(self.p_value)}" if self.p_value is not None else ""
        within = f" (margin {formatting.margin(self.margin, self.interval.scale)})" if self.margin else ""
        return f"{str(self.interval).removesuffix('.')}{shown}: {sentences.SHORT[self.verdict]}{within}."
