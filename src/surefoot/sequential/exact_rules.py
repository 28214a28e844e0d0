"""Rules that decide by a table of counts with a proved error.

An exact rule has no evidence curve: it stops when the counts leave a region that was computed before the first pair.
So it has a picture of its own (where the counts stand, the chance to decide from here), a p-value that is known only
once it has stopped, and an interval in which the table tests gains near 0 and bets on the same pairs test the others.
"""

from __future__ import annotations

import hashlib
import math
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.assumptions import HORIZON_FIXED, PAIRS_IN_TURN
from surefoot.core.interval import Certified, Interval
from surefoot.core.notes import Note
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.sequential import after_stop, designs, finite_horizon_mixture
from surefoot.sequential.betting import BettingState
from surefoot.sequential.rules import CODES, Chances, Rule, State, checked_futility

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from surefoot.numerics.arrays import Flags, Floats, Ints
    from surefoot.numerics.designs.operating import Characteristics


E = TypeVar("E", bound="ExactState[Any]")
X = TypeVar("X", bound="ExactRule[Any]")

_CELLS = 4_000_000  # counts looked up at once
BARELY = Note("barely excludes zero")
ASSUMPTIONS = (PAIRS_IN_TURN, HORIZON_FIXED)


class Counts(NamedTuple):
    """What the table is read by: successes of each policy, or pairs won by each policy alone."""

    first: int
    second: int


@dataclass(frozen=True, slots=True)
class ExactRule(Rule[E]):
    """A rule that decides by a table of counts, its error proved for every rate before the first pair.

    Attributes:
        futility: Stop, undecided, once the predictive chance of a verdict is below this; 0 to stop only when no
            verdict can be reached any more. The error, the p-value and the end of the interval next to 0 hold
            whether or not the stop is obeyed.
    """

    futility: float = field(default=0.0, kw_only=True)  # type: ignore[misc]

    measures: ClassVar[tuple[str, ...]] = ("success",)
    chosen_to: ClassVar[int | None] = designs.SEARCHED  # beyond, no table is searched for
    gives_up: ClassVar[bool] = True
    binary_only: ClassVar[bool] = True
    family: ClassVar[designs.Family] = "binary"
    outcomes: ClassVar[int] = 4  # of a pair, as many as are alike when the policies are: bounds the shortest horizon

    def __post_init__(self) -> None:
        Rule.__post_init__(self)
        object.__setattr__(self, "futility", checked_futility(self.futility))
        least = 1 + math.floor(math.log(1.0 / self.error) / math.log(self.outcomes) + 1e-9)
        if self.horizon < least:
            hint = "With fewer not even the clearest outcome decides."
            must = f"be at least {least} for {self.title} at {formatting.percent(self.confidence)}"
            raise _check.refused("horizon", must, self.horizon, hint)
        if self.horizon > designs.LONGEST:
            must = f"be at most {designs.LONGEST:,} for {self.title}"
            hint = "The table of a longer design does not fit in memory. FiniteHorizonMixture takes any horizon."
            raise _check.refused("horizon", must, self.horizon, hint)

    @property
    def design(self) -> designs.ExactDesign:
        """The table with its certificate: shipped, cached, or computed at the first use."""
        both = self.claim == "either"
        error = designs.error_of(self.confidence, both=both)
        return designs.design(designs.Declared(self.family, self.horizon, error, both))

    @property
    def table(self) -> str:
        """The hash of the table: one computed elsewhere, or by a later version, may differ."""
        limits = self.design.limits
        return hashlib.sha256(f"{limits.shape} {limits.tolist()}".encode()).hexdigest()

    @property
    def certificate(self) -> Certified:
        """The largest chance of a wrong verdict in one direction, proved afresh from the table.

        It holds for every success rate (or for every number of pairs that differ) when the policies are equal, and
        bounds every case in which the claim is false.
        """
        low, high, at = designs.certificate(self.design.declared)
        return Certified(low, high, at, f"the largest error in each direction of {self.title}")

    def operating(self, first: float, second: float, *, curtailed: bool = True) -> Chances:
        """The chance to stop after exactly 1, 2, ... pairs, and of every verdict, at these success rates: exact.

        Args:
            first: The first policy's success rate.
            second: The second policy's success rate.
            curtailed: Whether a run that is given up stops there, as the rule does; otherwise none is given up, and
                every undecided run counts the whole horizon.
        """
        rates = _check.rate(first, "first"), _check.rate(second, "second")
        return self._operating(self._chances(*rates), curtailed=curtailed)

    def _operating(self, chances: tuple[float, float], *, curtailed: bool) -> Chances:
        from surefoot.numerics.designs.operating import characteristics

        design = self.design
        quits = designs.quits(design.declared, self.futility) if curtailed else None
        return self.told(characteristics(design.walk(), design.limits, chances[1], chances[0], quits=quits))

    @staticmethod
    def told(found: Characteristics) -> Chances:
        """The chance to stop after exactly 1, 2, ... pairs, and of every verdict."""
        stopping = (found.first + found.second + found.quits)[0]
        better, worse = float(found.first.sum()), float(found.second.sum())
        stopping[-1] = max(0.0, 1.0 - float(stopping[:-1].sum()))
        shares = {"better": better, "worse": worse, "undecided": max(0.0, 1.0 - better - worse)}
        return tuple(stopping[1:].tolist()), shares

    def _chances(self, first: float, second: float) -> tuple[float, float]:
        """The chances of a pair by which the counts of the first and the second policy grow."""
        return first, second

    @property
    def near(self) -> float:
        """The gain, as a share of the range, within which the interval asks the table: two standard errors or so."""
        return min(1.0, 2.0 / math.sqrt(self.outcomes * self.horizon))

    def advance(self, state: E, first: float, second: float) -> E:
        """The state after a checked pair."""
        counted: E = state.counted(first == self.high, second == self.high)
        verdict, p_value = self.judge(counted.pairs, counted.counts)
        companion = finite_horizon_mixture.companion_after(state.companion, first, second)
        return replace(counted, p_value=p_value, verdict=verdict, companion=companion)

    def judge(self, pairs: int, counts: Counts) -> tuple[Verdict, float]:
        """The verdict after so many pairs with these counts, and the p-value of stopping there."""
        limits, both = self.design.limits, self.claim == "either"
        verdict = Verdict.UNDECIDED
        if counts.first > limits[pairs, counts.second]:
            verdict = Verdict.BETTER
        elif both and counts.second > limits[pairs, counts.first]:
            verdict = Verdict.WORSE
        if verdict is Verdict.UNDECIDED and pairs < self.horizon:
            return verdict, 1.0
        return verdict, self._p_value(pairs, counts, verdict)

    def _p_value(self, pairs: int, counts: Counts, verdict: Verdict) -> float:
        """The largest chance, over equal policies, to end at least as far; see `designs.tail` for the order.

        Before the end it is 1: only where the run ends has a place in the ordering. A run undecided at the horizon
        comes after all that were decided, in the order of the gain.
        """
        decided = verdict is not Verdict.UNDECIDED
        first, second = counts if verdict is not Verdict.WORSE else counts[::-1]
        if not decided and self.claim == "either" and first < second:
            first, second = second, first
        sides = 2.0 if self.claim == "either" else 1.0
        if not decided and first <= second:
            return 1.0
        tail = designs.tail(self.design.declared, pairs, second, first, decided)
        whole = 1.0 - self.confidence
        # The certificate bounds every decision; and without a verdict no p-value may look like one.
        return min(sides * tail, whole) if decided else min(1.0, max(sides * tail, math.nextafter(whole, 1.0)))

    def hopeless(self, pairs: int, counts: Counts) -> bool:
        """Whether no verdict can be reached any more."""
        return self._gives_up(pairs, counts, 0.0)

    def futile(self, pairs: int, counts: Counts) -> bool:
        """Whether the predictive chance of a verdict is below `futility`."""
        return self.futility > 0.0 and self._gives_up(pairs, counts, self.futility)

    def _gives_up(self, pairs: int, counts: Counts, share: float) -> bool:
        from surefoot.numerics.designs import design_search

        quits = designs.quits(self.design.declared, share)
        return bool(design_search.given_up(quits, pairs, counts.second, counts.first))

    def tallies(self, first: Flags, second: Flags) -> tuple[Ints, Ints]:
        """The running counts of both policies, one run per row."""
        return np.cumsum(first, axis=1), np.cumsum(second, axis=1)

    def play(self, first: Floats, second: Floats) -> tuple[Ints, NDArray[np.int8]]:
        """Stopping times and verdict codes of many sequences, one per row."""
        from surefoot.numerics.designs import design_search

        limits, both = self.design.limits, self.claim == "either"
        quits = designs.quits(self.design.declared, self.futility)
        pairs = min(first.shape[1], self.horizon)
        times, codes = np.empty(len(first), np.int64), np.empty(len(first), np.int8)
        now = np.arange(1, pairs + 1)
        for start in range(0, len(first), max(1, _CELLS // pairs)):
            part = slice(start, start + max(1, _CELLS // pairs))
            one, other = self.tallies(first[part, :pairs] == self.high, second[part, :pairs] == self.high)
            found = np.where(one > limits[now, other], np.int8(CODES.index(Verdict.BETTER)), np.int8(0))
            if both:
                found[other > limits[now, one]] = CODES.index(Verdict.WORSE)
            ended = (found > 0) | design_search.given_up(quits, now, other, one)
            ended[:, -1] = True
            stop = ended.argmax(axis=1)
            times[part], codes[part] = stop + 1, np.take_along_axis(found, stop[:, None], axis=1)[:, 0]
        return times, codes


@dataclass(frozen=True, slots=True)
class ExactState(State[X]):
    """What an exact rule knows after some pairs.

    Attributes:
        companion: The betting state that gives the interval.
    """

    companion: BettingState

    @abstractmethod
    def counted(self, first: bool, second: bool) -> Self:
        """With one more pair counted, not yet judged."""

    @property
    @abstractmethod
    def counts(self) -> Counts:
        """What the table is read by."""

    @property
    def hopeless(self) -> bool:
        """Whether no verdict can be reached any more, so that further pairs would change nothing."""
        undecided = self.verdict is Verdict.UNDECIDED and 0 < self.pairs < self.rule.horizon
        return undecided and self.rule.hopeless(self.pairs, self.counts)

    @property
    def futile(self) -> bool:
        """Whether the predictive chance of a verdict is below the rule's declared `futility`."""
        undecided = self.verdict is Verdict.UNDECIDED and 0 < self.pairs < self.rule.horizon
        return undecided and self.rule.futile(self.pairs, self.counts)

    @property
    def observed(self) -> float:
        """The mean gain of the pairs seen, in units of the score; 0 before the first.

        A verdict that comes early tends to overstate it.
        """
        return self.rule.width * (self.counts.first - self.counts.second) / max(1, self.pairs)

    @property
    def estimate(self) -> float:
        """The gain, estimated: exactly unbiased once the rule has stopped, whatever the rates; before that, observed.

        It is the mean gain of the first pair given where the rule stopped (Rao and Blackwell). After an override, which
        no declaration foresaw, it is the observed gain.
        """
        if not self._stopped:
            return self.observed
        found = designs.endings(self.rule.design.declared, self.rule.futility)
        return self.rule.width * float(found.gain[found.at(self.pairs, *self.counts)])

    @property
    def _stopped(self) -> bool:
        """Whether the rule has stopped as declared, and all its endings are known."""
        return self.finished and not self.overridden and self.rule.horizon <= designs.SEARCHED

    @property
    def interval_kind(self) -> after_stop.IntervalKind:
        """When `interval` holds: at any moment, or after this stop (proved, or not yet certified)."""
        if not self._stopped or 2.0 * self.rule.error >= 1.0:
            return "anytime"
        return "final" if self.rule.horizon <= after_stop.AT_ONCE else "final, not certified"

    @property
    def interval(self) -> Interval:
        """Where the gain lies: valid at any moment while the rule goes on, and for this stop once it has stopped.

        It leaves out 0 exactly when there is a verdict. For horizons above 300 the final one is not yet certified:
        `final_interval()` proves it. After an override, and for horizons above 500, it is the one that holds at any
        moment.
        """
        kind = self.interval_kind
        return self.anytime_interval if kind == "anytime" else self.final_interval(certified=kind == "final")

    def final_interval(self, *, certified: bool = True) -> Interval:
        """Where the gain lies, now that the rule has stopped as declared.

        Args:
            certified: Whether every gain left out is proved to be: within a second up to 200 pairs, some 10 seconds
                for 500. Otherwise the far ends are found on a grid.

        Raises:
            ValueError: The rule has not stopped as declared, or its horizon is above 500.
        """
        self._must_have_stopped()
        return after_stop.final(
            self.rule,
            self.rule.design.declared,
            (self.pairs, *self.counts),
            verdict=self.verdict,
            estimate=self.estimate,
            certified=certified,
        )

    def _must_have_stopped(self) -> None:
        if self.interval_kind == "anytime":
            got = "one that was overridden" if self.overridden else f"{self.pairs} of {self.rule.horizon:,} pairs"
            must = f"have stopped as declared, within a horizon of at most {designs.SEARCHED}"
            raise ValueError(f"The rule must {must}; got {got}. `anytime_interval` holds at any moment.")

    @property
    def anytime_interval(self) -> Interval:
        """Where the gain lies, valid at any moment; it leaves out 0 exactly when there is a verdict.

        Gains within `rule.near` of 0 are tested by the table itself, and leave when it decides. Gains further away
        are tested by bets on the same pairs, and leave when it decides too: so rarely that the bets give up that much
        of their error for it.
        """
        rule, bets = self.rule, self.companion.interval
        near, width = rule.near, self.companion.rule.width
        low, high = self.companion.ends(rule.error - designs.strays(rule.design.declared, near))
        if self.verdict is Verdict.BETTER:
            low = max(bets.low, math.nextafter(0.0, 1.0))
        else:
            low = min(low, -near * width)
        if self.verdict is Verdict.WORSE:
            high = min(bets.high, math.nextafter(0.0, -1.0))
        elif rule.claim == "either":
            high = max(high, near * width)
        notes = (BARELY,) if 0.0 in (math.nextafter(low, -1.0), math.nextafter(high, 1.0)) else bets.notes
        # Bets that have decided follow no further pair: their own estimate may be of fewer pairs than there are.
        estimate = self.observed
        return replace(
            bets,
            low=min(low, estimate),
            high=max(low, high, estimate),
            estimate=estimate,
            method=f"{rule.title}, anytime",
            trials=self.pairs,
            assumptions=ASSUMPTIONS,
            notes=notes,
        )

    @property
    def standing(self) -> Standing:
        """Where the counts stand in the region in which the rule goes on."""
        limits, best = self.rule.design.limits, designs.closest(self.rule.design.declared)
        first, second = self.counts
        both = self.rule.claim == "either"

        def above(own: int) -> int | None:
            edge = int(limits[self.pairs, own]) if self.pairs else self.pairs
            return edge if edge < self.pairs else None

        def wins(ours: int, theirs: int) -> int | None:
            ahead = np.flatnonzero(ours + np.arange(self.rule.horizon - self.pairs + 1) > limits[self.pairs :, theirs])
            return int(ahead[0]) if len(ahead) and ours > self.pairs - best[self.pairs, theirs] else None

        undecided = self.verdict is Verdict.UNDECIDED
        return Standing(
            pairs=self.pairs,
            first=first,
            second=second,
            better_above=above(second),
            worse_above=above(first) if both else None,
            wins_to_better=wins(first, second) if undecided else None,
            wins_to_worse=wins(second, first) if undecided and both else None,
        )

    def chance_to_decide(self, first: float, second: float) -> dict[str, float]:
        """How likely is each verdict from here, if these are the success rates? Exact.

        Where the rule has stopped for futility: if it went on all the same.
        """
        from surefoot.numerics.designs.operating import onward

        one, other = self.rule._chances(_check.rate(first, "first"), _check.rate(second, "second"))
        if self.verdict is not Verdict.UNDECIDED:
            better, worse = float(self.verdict is Verdict.BETTER), float(self.verdict is Verdict.WORSE)
        else:
            design, counts = self.rule.design, self.counts
            place = self.pairs, counts.second, counts.first
            share = 0.0 if self.overridden or self.finished else self.rule.futility
            quits = designs.quits(design.declared, share)
            better, worse = onward(design.walk(), design.limits, place, other, one, quits=quits)
        return {"better": better, "worse": worse, "undecided": max(0.0, 1.0 - better - worse)}

    def __str__(self) -> str:
        if self.hopeless:
            looks = f"after {formatting.counted(self.pairs, 'pair')}"
            return f"Undecided {looks}: no verdict can be reached any more within {self.rule.horizon:,} pairs."
        return State.__str__(self)


@dataclass(frozen=True, slots=True)
class Standing(Record):
    """Where the counts stand in the region in which the rule goes on.

    Attributes:
        pairs: Pairs seen.
        first: The first policy's count.
        second: The second policy's count.
        better_above: The rule says BETTER now if the first count is above this, with the second count as it is; none
            when no count is enough after so many pairs.
        worse_above: The same for the second count and WORSE; none also when the rule never says WORSE.
        wins_to_better: The fewest further pairs after which it can say BETTER; none when it cannot any more.
        wins_to_worse: The same for WORSE.
    """

    pairs: int
    first: int
    second: int
    better_above: int | None
    worse_above: int | None
    wins_to_better: int | None
    wins_to_worse: int | None

    def __str__(self) -> str:
        seen = formatting.counted(self.pairs, "pair")
        parts = [f"{self.first} for the first policy and {self.second} for the second after {seen}"]
        for verdict, wins in (("better", self.wins_to_better), ("worse", self.wins_to_worse)):
            if wins:
                parts.append(f"{formatting.counted(wins, 'pair')} in a row from {verdict}")
        return "; ".join(parts) + "."
