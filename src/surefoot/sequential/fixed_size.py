"""One look after all declared pairs, as a sequential rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from surefoot import _check
from surefoot.core.gain import Gain, decide
from surefoot.core.interval import Interval
from surefoot.core.scores import Scores
from surefoot.core.tally import PairTally, Tally
from surefoot.core.verdict import Verdict
from surefoot.sequential.history import Trail
from surefoot.sequential.registry import Setting, registered
from surefoot.sequential.rules import CLAIMED, CODES, Rule, State
from surefoot.stats.multiplicity import Sides

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from surefoot.numerics.arrays import Floats, Ints
    from surefoot.sequential.after_stop import IntervalKind
    from surefoot.stats.score_means import ScoreTest


SILENT = "A fixed-size rule says nothing before its last pair."


@registered
@dataclass(frozen=True, slots=True)
class FixedSize(Rule["FixedSizeState"]):
    """Decides once, at the horizon: the batch design, spoken as a sequential rule.

    Looking before the end changes nothing, because nothing is said, and the order of the pairs does not matter. With
    the claim "either" successes are compared by the exact gain (paired or not). A claim of one side, or of sameness, is
    put to exact tests of one side, each with the whole error (`gain_bounds`, `paired_gain_bounds`). Scores are compared
    by the paired score gain, each side by itself.

    Attributes:
        binary: Whether scores are successes (`high`) and failures (`low`), compared exactly.
        paired: Whether both rollouts of a pair share their environment.

    Example:
        >>> from surefoot.sequential import FixedSize, run
        >>> states = run(FixedSize(horizon=40), [(0.9, 0.4), (0.8, 0.6)] * 20)
        >>> print(states[-2])
        Undecided after 39 pairs, p = 1.000.
        >>> print(states[-1].verdict)
        better
    """

    binary: bool = False
    paired: bool = True

    name: ClassVar[str] = "fixed"
    title: ClassVar[str] = "fixed size"
    label: ClassVar[str] = "Fixed size"
    summary: ClassVar[str] = "One look, when all declared pairs have been run."
    place: ClassVar[int] = 70
    claims: ClassVar[tuple[str, ...]] = ("first better", "either", "first not worse", "same")
    takes_margin: ClassVar[bool] = True
    once: ClassVar[bool] = True

    @classmethod
    def made(cls, setting: Setting) -> Self:
        """The rule as it is declared in this setting."""
        return cls(**cls.declared(setting), binary=setting.binary, paired=setting.paired)

    @classmethod
    def stands(cls, setting: Setting) -> bool:  # noqa: ARG003
        """It is made for whichever environments there are."""
        return True

    def __post_init__(self) -> None:
        Rule.__post_init__(self)
        if self.error >= 0.5:
            raise _check.wrong(
                "confidence", f"be above 0.5 for {self.title}; got {self.confidence:g}.", self.confidence
            )

    @property
    def binary_only(self) -> bool:  # type: ignore[override]
        """Whether only the two ends of the range are scores."""
        return self.binary

    @property
    def environments(self) -> tuple[str, ...]:  # type: ignore[override]
        """Unpaired rollouts must be independent."""
        return Rule.environments if self.paired or not self.binary else ("one", "independent")

    def start(self) -> FixedSizeState:
        """The state before the first pair."""
        return FixedSizeState.undecided(self, first=Trail(), second=Trail(), gain=None)

    def advance(self, state: FixedSizeState, first: float, second: float) -> FixedSizeState:
        """The state after a checked pair."""
        ones, others = state.first.grown(first), state.second.grown(second)
        if state.pairs + 1 < self.horizon:
            return replace(state, pairs=state.pairs + 1, first=ones, second=others)
        gain = self._gain(tuple(ones), tuple(others))
        verdict = self._verdict(gain)
        return FixedSizeState(self, self.horizon, self._p_value(gain), verdict, ones, others, gain)

    def _p_value(self, gain: Gain) -> float:
        """The p-value of what the claim must reject."""
        if self.claim == "either" and not self.margin and gain.p_value is not None:
            return gain.p_value
        sides = self._sides(gain)
        return {
            "first better": sides.better,
            "first not worse": sides.not_worse,
            "same": max(sides.not_worse, sides.not_better),
            "either": min(1.0, 2.0 * min(sides.better, sides.worse)),
        }[self.claim]

    def _sides(self, gain: Gain) -> Sides:
        """The one-sided p-values of a comparison at its margin."""
        from surefoot.stats.one_sided_gains import gain_sides, paired_gain_sides
        from surefoot.stats.score_gains import paired_score_test

        if self.binary:
            sides: Callable[..., Sides] = paired_gain_sides if self.paired else gain_sides
            return sides(*gain.data, confidence=1.0 - 2.0 * self.error, margin=self.margin / self.width)
        tested: Callable[..., ScoreTest] = paired_score_test
        up, down = (tested(*gain.data, gain=edge) for edge in (self.margin, -self.margin))
        return Sides(up.above, down.below, down.above, up.below)

    def _gain(self, first: tuple[float, ...], second: tuple[float, ...]) -> Gain:
        if not self.binary:
            from surefoot.stats.score_gains import paired_score_gain

            one, other = (Scores(scores, self.low, self.high) for scores in (first, second))
            return paired_score_gain(one, other, confidence=1.0 - 2.0 * self.error)  # each end at the claim's error
        from surefoot import stats
        from surefoot.stats.one_sided_gains import central_gain, central_paired_gain

        either = self.claim == "either"
        sure = self.confidence if either else 1.0 - 2.0 * self.error  # each end at the claim's error
        paired, unpaired = (
            (stats.exact_paired_gain, stats.exact_gain) if either else (central_paired_gain, central_gain)
        )
        wins, losses = np.array(first) == self.high, np.array(second) == self.high
        if self.paired:
            places = (wins & losses, wins & ~losses, ~wins & losses, ~wins & ~losses)
            return paired(PairTally(*(int(place.sum()) for place in places)), confidence=sure)
        tallies = (Tally(int(side.sum()), self.horizon) for side in (wins, losses))
        return unpaired(*tallies, confidence=sure)

    def _verdict(self, gain: Gain) -> Verdict:
        scale = self.width if self.binary else 1.0
        low, high = gain.interval.low * scale, gain.interval.high * scale
        if self.claim == "first not worse":
            return Verdict.BETTER if low > -self.margin else Verdict.UNDECIDED
        found = decide(low, high, self.margin)
        return found if found in CLAIMED[self.claim] else Verdict.UNDECIDED

    def play(self, first: Floats, second: Floats) -> tuple[Ints, NDArray[np.int8]]:
        """Stopping times and verdict codes of many sequences, one per row."""
        pairs = min(first.shape[1], self.horizon)
        times, codes = np.full(len(first), pairs, np.int64), np.zeros(len(first), np.int8)
        if pairs < self.horizon:
            return times, codes
        known: dict[Any, int] = {}  # successes give few different tallies
        for row in range(len(first)):
            one, other = first[row, :pairs], second[row, :pairs]
            wins, losses = one == self.high, other == self.high
            key = (wins.sum(), losses.sum(), (wins & losses).sum() * self.paired) if self.binary else row
            if key not in known:
                known[key] = CODES.index(self._verdict(self._gain(tuple(one.tolist()), tuple(other.tolist()))))
            codes[row] = known[key]
        return times, codes


@dataclass(frozen=True, slots=True)
class FixedSizeState(State[FixedSize]):
    """What a fixed-size rule knows: nothing, until all pairs have been run.

    Attributes:
        first: Scores of the first policy, in order.
        second: Scores of the second policy, in order.
        gain: The comparison, once all pairs are there.
    """

    first: Trail
    second: Trail
    gain: Gain | None

    @property
    def interval(self) -> Interval:
        """Where the gain lies: anywhere, until the last pair."""
        width, one_sided = self.rule.width, self.rule.claim in ("first better", "first not worse")
        if self.gain is None:
            seen = self.first.array() - self.second.array()
            return Interval(
                low=-width,
                high=width,
                estimate=float(np.mean(seen)) if self.pairs else 0.0,
                confidence=self.rule.confidence,
                method=self.rule.title,
                trials=self.pairs,
                scale="score gain",
                notes=(SILENT,),
            )
        found, scale = self.gain.interval, width if self.rule.binary else 1.0
        return replace(
            found,
            low=found.low * scale,
            high=width if one_sided else found.high * scale,
            estimate=found.estimate * scale,
            confidence=self.rule.confidence if one_sided else found.confidence,
        )

    @property
    def interval_kind(self) -> IntervalKind:
        """When `interval` holds: once, after the last pair."""
        return "fixed size"
