"""Rules that bet on every pair: their evidence, p-values, verdicts and intervals.

Whoever doubts the claim should accept fair bets against it. Wealth starts at 1; before each pair a stake is chosen
from the past alone; wealth is multiplied by 1 + stake * outcome. While the claim is false, no way of staking makes
wealth grow on average, so it reaches 1/error with chance at most `error`, whatever the looks (Ville). All that a rule
adds is how it chooses its stakes.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from surefoot.core.assumptions import LISTED_PAIRS, NO_TREND, RANGE_BEFORE_PAIRS
from surefoot.core.interval import Interval
from surefoot.core.notes import Note
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.numerics.betting import list_bets, mean_bets
from surefoot.sequential.history import Trail
from surefoot.sequential.rules import CODES, Rule, State, checked_futility, log_target

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from surefoot.numerics.arrays import Flags, Floats, Ints

    Null = float | Floats

ASSUMPTIONS = (NO_TREND, RANGE_BEFORE_PAIRS)
LISTED = (LISTED_PAIRS, RANGE_BEFORE_PAIRS)


class Direction(NamedTuple):
    """One thing to be shown: that sign * gain is above `beyond` (gains as a share of the score range)."""

    sign: int
    beyond: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Side(Record):
    """The bets in one direction so far.

    Attributes:
        log_wealth: Log of the wealth now.
        log_best: Log of the largest wealth so far.
        stakes: The stake on each pair, on the scale of the gain as a share of the range.
        memory: What the rule needs to choose its next stake.
    """

    log_wealth: float
    log_best: float
    stakes: Trail
    memory: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class BettingRule(Rule["BettingState"]):
    """A rule whose evidence is the wealth of a gambler betting on every pair.

    Attributes:
        futility: Stop, undecided, once the chance of a verdict is below this; 0 for never. The chance is foreseen
            from the mean and the variance of the gains so far. Verdicts, p-values and intervals hold either way.
    """

    futility: float = field(default=0.0, kw_only=True)  # type: ignore[misc]

    claims: ClassVar[tuple[str, ...]] = ("first better", "either", "first not worse", "same")
    takes_margin: ClassVar[bool] = True
    gives_up: ClassVar[bool] = True
    needs_random_order: ClassVar[bool] = False
    remembers_all: ClassVar[bool] = False

    # --- what each betting rule writes: arrays over games in the last axis ---

    @abstractmethod
    def opening(self) -> Floats:
        """The memory of one direction before the first pair: a column, shape (M, 1)."""

    @abstractmethod
    def stake(self, memory: Floats, log_wealth: Floats, seen: int, beyond: Any, past: Past) -> tuple[Floats, Any]:
        """The next stake in [0, 1) per game, and whatever `learn` wants to know of how it came about.

        On a list `beyond` is the mean gain that the items left would have if the claim were just false, per game, and a
        stake is below 1 / (1 + beyond).
        """

    @abstractmethod
    def learn(self, memory: Floats, seen: int, outcome: Outcome, how: Any) -> Floats:
        """The memory after one more pair, as a new array."""

    # --- the common part ---

    def __post_init__(self) -> None:
        Rule.__post_init__(self)
        object.__setattr__(self, "futility", checked_futility(self.futility))

    @property
    def directions(self) -> tuple[Direction, ...]:
        """What is to be shown, and the verdict it gives."""
        margin = self.margin / self.width
        return {
            "first better": (Direction(1, margin, Verdict.BETTER),),
            "first not worse": (Direction(1, -margin, Verdict.BETTER),),
            "either": (Direction(1, margin, Verdict.BETTER), Direction(-1, margin, Verdict.WORSE)),
            "same": (Direction(1, -margin, Verdict.SAME), Direction(-1, -margin, Verdict.SAME)),
        }[self.claim]

    @property
    def threshold(self) -> float:
        """The evidence at which a direction is decided."""
        return 1.0 / self.error

    def start(self) -> BettingState:
        """The state before the first pair."""
        memory = tuple(self.opening()[:, 0].tolist())
        sides = tuple(Side(0.0, 0.0, Trail(), memory) for _ in self.directions)
        return BettingState.undecided(self, first=Trail(), second=Trail(), sides=sides)

    def advance(self, state: BettingState, first: float, second: float) -> BettingState:
        """The state after a checked pair: the array computation, for one game."""
        ones, others = state.first.grown(first), state.second.grown(second)
        game = Games.resume(self, state)
        past = (state.first.array()[:, None], state.second.array()[:, None]) if self.remembers_all else None
        game.bet(np.array([first]), np.array([second]), past)
        sides = tuple(
            replace(
                side,
                log_wealth=float(game.log_wealth[i, 0]),
                log_best=float(game.log_best[i, 0]),
                stakes=side.stakes.grown(float(game.stakes[i, 0])),
                memory=tuple(game.memory[i][:, 0].tolist()),
            )
            for i, side in enumerate(state.sides)
        )
        verdict = CODES[int(game.codes()[0])]
        p_value = self._p_value(sides)
        if verdict is not Verdict.UNDECIDED:
            p_value = min(p_value, 1.0 - self.confidence)  # rounding of logs must not contradict the verdict
        p_value, more = min(state.p_value, p_value), state.overridden
        return BettingState(self, state.pairs + 1, p_value, verdict, ones, others, sides, overridden=more)

    def _p_value(self, sides: tuple[Side, ...]) -> float:
        each = [math.exp(-side.log_best) for side in sides]
        return max(each) if self.claim == "same" else min(1.0, len(each) * min(each))

    def play(self, first: Floats, second: Floats) -> tuple[Ints, NDArray[np.int8]]:
        """Stopping times and verdict codes of many sequences, one per row."""
        runs, pairs = len(first), min(first.shape[1], self.horizon)
        times, codes = np.full(runs, pairs, np.int64), np.zeros(runs, np.int8)
        ones, others = np.ascontiguousarray(first.T), np.ascontiguousarray(second.T)
        games, alive = Games.begin(self, runs), np.arange(runs)
        for pair in range(pairs):
            past = (ones[:pair, alive], others[:pair, alive]) if self.remembers_all else None
            games.bet(ones[pair, alive], others[pair, alive], past)
            found = games.codes()
            stopped = found != 0
            if self.futility and pair + 1 < self.horizon:
                stopped |= games.chance() < self.futility
            if not stopped.any():
                continue
            times[alive[stopped]], codes[alive[stopped]] = pair + 1, found[stopped]
            going = ~stopped
            if not going.any():
                break
            games.keep(going)
            alive = alive[going]
        return times, codes


class Outcome(NamedTuple):
    """A pair seen from one direction.

    Attributes:
        ours: Scores of the policy claimed to be better, moved to [0, 1].
        theirs: Scores of the other.
        value: What is bet on: (ours - theirs - beyond)/(1 + |beyond|), in [-1, 1]; on a list ours - theirs - beyond.
    """

    ours: Floats
    theirs: Floats
    value: Floats


class Past(NamedTuple):
    """All earlier pairs seen from one direction, one per row; empty unless the rule `remembers_all`."""

    ours: Floats
    theirs: Floats


_NO_PAST = Past(np.empty((0, 0)), np.empty((0, 0)))


class Games:
    """Many games played side by side: the one place where wealth is multiplied."""

    def __init__(self, rule: BettingRule, seen: int, wealths: tuple[Floats, Floats], memory: list[Floats]) -> None:
        self.rule, self.seen, self.memory = rule, seen, memory
        self.log_wealth, self.log_best = wealths
        self.stakes = np.zeros_like(self.log_wealth)
        self.sums, self.squares = np.zeros_like(self.log_wealth), np.zeros_like(self.log_wealth)
        self.total = np.zeros(self.log_wealth.shape[1])  # of the gains, first minus second
        self._directions, self._target = rule.directions, log_target(rule)

    @classmethod
    def begin(cls, rule: BettingRule, runs: int) -> Games:
        """Games before the first pair."""
        sides = len(rule.directions)
        memory = [np.repeat(rule.opening(), runs, axis=1) for _ in range(sides)]
        return cls(rule, 0, (np.zeros((sides, runs)), np.zeros((sides, runs))), memory)

    @classmethod
    def resume(cls, rule: BettingRule, state: BettingState) -> Games:
        """One game where a state stands."""
        now = np.array([[side.log_wealth] for side in state.sides])
        best = np.array([[side.log_best] for side in state.sides])
        memory = [np.array(side.memory, np.float64)[:, None] for side in state.sides]
        games = cls(rule, state.pairs, (now, best), memory)
        if rule.population is not None and state.pairs:
            # Summed in order, as the games of a simulation are.
            gains = games._moved(state.first.array()) - games._moved(state.second.array())
            games.total[:] = np.cumsum(gains)[-1]
        return games

    def bet(self, first: Floats, second: Floats, past: tuple[Floats, Floats] | None = None) -> None:
        """Stake on one more pair in every game and direction, and learn from it; `past`: for a rule that needs all."""
        rule = self.rule
        one, other = self._moved(first), self._moved(second)
        for i, (sign, beyond, _) in enumerate(self._directions):
            ours, theirs = (one, other) if sign > 0 else (other, one)
            null, scale = self._null(sign, beyond)
            value = (ours - theirs - null) / scale
            stake, how = rule.stake(self.memory[i], self.log_wealth[i], self.seen, null, self._past(past, sign))
            stake = np.where(self.log_best[i] >= self._target, 0.0, stake)  # shown already: bet no more
            self.log_wealth[i] = self.log_wealth[i] + np.log1p(stake * value)
            self.log_best[i] = np.maximum(self.log_best[i], self.log_wealth[i])
            self.memory[i] = rule.learn(self.memory[i], self.seen, Outcome(ours, theirs, value), how)
            self.stakes[i] = stake / scale
            self.sums[i] += value
            self.squares[i] += value * value
        self.seen += 1
        if rule.population is not None:
            self.total = self.total + (one - other)
            self._settle(rule.population)

    def _null(self, sign: int, beyond: float) -> tuple[Null, float]:
        """The mean gain of the next pair if the claim were just false, and the scale that a bet against it is on."""
        items = self.rule.population
        if items is None:
            return beyond, 1.0 + abs(beyond)
        return (items * beyond - sign * self.total) / (items - self.seen), 1.0

    def _settle(self, items: int) -> None:
        """Show what the items left cannot change any more."""
        for i, (sign, beyond, _) in enumerate(self._directions):
            sure = sign * self.total - (items - self.seen) > items * beyond + list_bets.SLACK
            for log in (self.log_wealth, self.log_best):
                log[i, sure] = np.maximum(log[i, sure], list_bets.CERTAIN)

    def chance(self) -> Floats:
        """How likely a verdict still is in every game, foreseen from the gains of all its pairs."""
        left = self.rule.horizon - self.seen
        need = np.where(self.log_best >= self._target, -math.inf, self._target - self.log_wealth)
        each = mean_bets.chance_left(self.sums, self.squares, need, self.seen, left)
        chance: Floats = each.min(axis=0) if self.rule.claim == "same" else each.max(axis=0)
        return chance

    def codes(self) -> NDArray[np.int8]:
        """The verdict code of every game."""
        shown = self.log_best >= self._target
        if self.rule.claim == "same":
            return np.where(shown.all(axis=0), np.int8(CODES.index(Verdict.SAME)), np.int8(0))
        out = np.zeros(shown.shape[1], np.int8)
        for hit, direction in zip(shown, self._directions, strict=True):
            out[hit] = CODES.index(direction.verdict)
        return out

    def keep(self, going: Flags) -> None:
        """Go on with these games only."""
        self.log_wealth, self.log_best = self.log_wealth[:, going], self.log_best[:, going]
        self.memory = [memory[:, going] for memory in self.memory]
        self.stakes = self.stakes[:, going]
        self.sums, self.squares = self.sums[:, going], self.squares[:, going]
        self.total = self.total[going]

    def _moved(self, scores: Floats) -> Floats:
        return (scores - self.rule.low) / self.rule.width

    def _past(self, past: tuple[Floats, Floats] | None, sign: int) -> Past:
        if past is None:
            return _NO_PAST
        one, other = self._moved(past[0]), self._moved(past[1])
        return Past(one, other) if sign > 0 else Past(other, one)


@dataclass(frozen=True, slots=True)
class BettingState(State[BettingRule]):
    """What a betting rule knows after some pairs.

    Attributes:
        first: Scores of the first policy, in order.
        second: Scores of the second policy, in order.
        sides: The bets in each direction.
    """

    first: Trail
    second: Trail
    sides: tuple[Side, ...]

    @property
    def evidence(self) -> float:
        """The wealth: how strongly the pairs speak for the claim; decided at `rule.threshold`.

        In an either-claim the larger of the two directions; in a claim of sameness the smaller.
        """
        each = [math.exp(side.log_wealth) for side in self.sides]
        return min(each) if self.rule.claim == "same" else max(each)

    @property
    def futile(self) -> bool:
        """Whether the chance of a verdict is below the rule's declared `futility`."""
        rule = self.rule
        if not rule.futility or self.verdict is not Verdict.UNDECIDED or not 0 < self.pairs < rule.horizon:
            return False
        games = Games.resume(rule, self)
        first, second = self.first.array(), self.second.array()
        for i, (sign, beyond, _) in enumerate(rule.directions):
            gains = sign * ((first - rule.low) / rule.width - (second - rule.low) / rule.width)
            values = (gains - beyond) / (1.0 + abs(beyond))
            games.sums[i], games.squares[i] = np.cumsum(values)[-1], np.cumsum(values * values)[-1]
        return bool(games.chance()[0] < rule.futility)

    @property
    def observed(self) -> float:
        """The mean gain of the pairs seen, in units of the score; 0 before the first."""
        return float(np.mean(self.first.array() - self.second.array())) if self.pairs else 0.0

    @property
    def interval(self) -> Interval:
        """Where the gain lies, valid at any moment: the gains that the rule's own bets have not excluded.

        The tested gain is excluded exactly when the rule has decided. A one-sided claim bounds one side only. Where the
        gains drift, the bets may leave out the gain observed: then the interval is widened to it. A verdict that the
        observed gain would take back, because the gains were staked on unequally, keeps its side: the estimate is then
        the mean weighted by the stakes, which is always on the side of the verdict.
        """
        rule = self.rule
        low, high = self.ends(rule.error)
        high = max(low, high)
        estimate, notes = self._estimate(low, high)
        binary = rule.width == 1.0 and bool(np.isin(np.append(self.first.array(), self.second.array()), (0, 1)).all())
        both = len(self.sides) == 2
        return Interval(
            low=min(low, estimate),
            high=max(high, estimate),
            estimate=estimate,
            confidence=1.0 - rule.error * (2 if both else 1),
            method=f"{rule.title}, anytime",
            trials=self.pairs,
            scale="gain" if binary else "score gain",
            assumptions=ASSUMPTIONS if rule.population is None else LISTED,
            notes=(*notes, *self._about()) if self.pairs else ("No pair yet: the estimate is a placeholder.",),
        )

    def _estimate(self, low: float, high: float) -> tuple[float, tuple[Note, ...]]:
        """The observed gain, or the one weighted by stakes where the observed one would take a verdict back."""
        observed, width = self.observed, self.rule.width
        if low <= observed <= high:
            return observed, ()
        for side, (sign, beyond, _) in zip(self.sides, self.rule.directions, strict=True):
            if side.log_best >= -math.log(self.rule.error) and sign * observed <= beyond * width:
                stakes = side.stakes.array()
                gains = self.first.array() - self.second.array()
                items = self.rule.population
                weighed = (
                    float(stakes @ gains / stakes.sum())
                    if items is None
                    else width * list_bets.mean_by_stakes(gains / width, stakes, items)
                )
                return weighed, (Note("gain by stakes", {"observed": observed}),)
        return observed, (Note("gains drift"),)

    def ends(self, error: float) -> tuple[float, float]:
        """The lowest and the highest gain that the bets have not excluded, at `error` in each direction."""
        rule, target = self.rule, -math.log(error)
        gains = (self.first.array() - self.second.array()) / rule.width
        low, high = -1.0, 1.0
        for side, (sign, beyond, _) in zip(self.sides, rule.directions, strict=True):
            stakes, shown = side.stakes.array(), side.log_best >= target
            bracket = (beyond, 1.0) if shown else (-1.0, beyond)
            if rule.population is None:
                end = mean_bets.excluded_below(sign * gains, stakes, target, bracket)
            else:
                end = list_bets.excluded_below(sign * gains, stakes, target, bracket, rule.population)
                end = max(end, list_bets.certain(sign * gains, rule.population)[0])
            if shown:  # excluded: say so even where rounding would not
                end = max(end, math.nextafter(beyond, 1.0))
            low, high = (end, high) if sign > 0 else (low, -end)
        if rule.population is not None and len(self.sides) == 1:
            high = min(high, list_bets.certain(gains, rule.population)[1])
        return low * rule.width, high * rule.width

    def on_the_list(self, first: str = "the first policy") -> Note:
        """What is known of the list, said so that nobody takes it for other items."""
        rule = self.rule
        if rule.population is None:
            raise ValueError("The rule must be declared with a population; got one without.")
        said = {"first": first, "verdict": self.verdict.value, "claim": rule.claim, "margin": rule.margin}
        size = {"items": rule.population, "run": self.pairs, "confidence": rule.confidence}
        return Note("verdict on these items", {**said, **size})

    def __str__(self) -> str:
        if self.rule.population is None or self.verdict is Verdict.UNDECIDED:
            return State.__str__(self)
        return str(self.on_the_list())

    def _about(self) -> tuple[Note, ...]:
        """That the gain is the list's own, where it is."""
        items = self.rule.population
        return () if items is None else (Note("of these items", {"items": items, "run": self.pairs}),)
