"""Betting rule for a known horizon: a mixture over alternatives."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.interval import Interval
from surefoot.numerics.betting import list_bets
from surefoot.numerics.betting.mean_bets import total
from surefoot.sequential.betting import BettingRule, BettingState, Outcome, Past
from surefoot.sequential.registry import Lists, Setting, registered
from surefoot.sequential.rules import Rule

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Flags, Floats
    from surefoot.sequential.betting import Null


_GRID = 16  # stakes mixed
_PRIOR = 2.0  # pairs that the opening guess of the variance counts for
_MOST = 0.99  # never stake all
_HAIR = 1e-12  # aim so far above the target that rounding cannot miss it
_BEYOND = 1.5  # a stake that is never placed, but whose record counts for the largest one
_OPENING = 0.35  # its weight before the first pair; successes and failures have no use for it
_LEANING = 0.8  # on a list, the log of how much more the largest stake weighs at first than the smallest
_SQUARES, _LEAST, _BETWEEN, _RECORD, _THEIRS, _OURS, _WEIGHTS = range(7)  # rows of the memory


@registered
@dataclass(frozen=True, slots=True)
class FiniteHorizonMixture(BettingRule):
    """Decides with few pairs, on any bounded score: the default for scores and for dependent pairs.

    Stakes follow the weighted mean of a grid of constant stakes, each weighted by what it would have won; near the
    horizon they rise to what is still needed to decide in time, and they never aim beyond the target. On scores one
    more stake, above what may be placed, keeps its record, so that a large and steady gain is bet on sooner: a horizon
    four times too long costs some 8% more pairs on such gains. Declare a horizon rather too long than too short.

    Attributes:
        binary: Whether scores are successes and failures; it sets the opening guess of the variance (0.5 or 0.2). Left
            out, the guess follows the pairs already seen: 0.5 while all their scores are at the ends of the range.
        population: The length of the list that the claim is about, when the pairs are items of a list declared
            beforehand and met in an order drawn at random. The verdict is then about what a complete run of the list
            would show, takes far fewer pairs, and says nothing about other items. Left out: about items like these.

    Example:
        >>> from surefoot.sequential import FiniteHorizonMixture
        >>> rule = FiniteHorizonMixture(horizon=50)
        >>> state = rule.start()
        >>> for pair in [(0.9, 0.2), (0.8, 0.4), (1.0, 0.1)]:
        ...     state = rule.step(state, pair)
        >>> print(state)
        Undecided after 3 pairs, p = 0.254.

    Reference:
        Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting", for betting on
        bounded scores; the stakes are surefoot's own (see docs/sequential.md). Waudby-Smith and Ramdas (2020),
        "Confidence sequences for sampling without replacement", for bets on a list.
    """

    binary: bool | None = None
    population: int | None = field(default=None, kw_only=True)  # type: ignore[misc]

    name: ClassVar[str] = "mixture"
    title: ClassVar[str] = "finite-horizon mixture"
    label: ClassVar[str] = "FHM"
    summary: ClassVar[str] = "Uses the horizon; for scores, for dependent pairs, and for any order."
    place: ClassVar[int] = 30
    chosen_to: ClassVar[int | None] = None
    lists: ClassVar[Lists] = "any"

    @classmethod
    def made(cls, setting: Setting) -> Self:
        """The rule as it is declared in this setting; where nothing is known of the scores, it learns by itself."""
        binary = True if setting.binary else False if setting.between else None
        return cls(**cls.declared(setting), binary=binary, population=setting.population)

    def __post_init__(self) -> None:
        BettingRule.__post_init__(self)
        if self.population is None:
            return
        items = _check.whole(self.population, "population", least=1)
        if self.horizon > items:
            hint = "An item counts once."
            raise _check.refused("horizon", f"be at most {items:,}, the population", self.horizon, hint)
        if self.futility:
            hint = "A list that is run to its end is decided, unless the gain is exactly the one tested."
            raise _check.refused("futility", "be 0 with a population", self.futility, hint)
        object.__setattr__(self, "population", items)

    @property
    def needs_random_order(self) -> bool:  # type: ignore[override]
        """Whether the promise holds only if the order was drawn at random."""
        return self.population is not None

    def __str__(self) -> str:
        if self.population is None:
            return BettingRule.__str__(self)
        return (
            f"{self.title}, at most {self.horizon:,} of {self.population:,} items, met in random order: shows that "
            f"{self.finding} on these items ({formatting.percent(self.confidence)} over all looks)."
        )

    def opening(self) -> Floats:
        """What is known of the pairs, the record of the stake beyond one, and the weights of the grid.

        Of the pairs: squares, the smallest gain, whether a score was between the ends, the highest of theirs and the
        lowest of ours.
        """
        record = 0.0 if self.binary else _OPENING
        weights = np.full(_GRID, 1.0 / _GRID)
        if self.population is not None:
            weights = np.exp(_LEANING * np.arange(_GRID) / (_GRID - 1))
            weights /= weights.sum()
        return np.array([0.0, math.inf, 0.0, record, 0.0, 1.0, *((1.0 - record) * weights)])[:, None]

    def stake(self, memory: Floats, log_wealth: Floats, seen: int, beyond: Null, past: Past) -> tuple[Floats, Any]:  # noqa: ARG002
        """The mixture's stake, raised to what the horizon asks for and capped at what is needed."""
        if self.binary is None:
            guess = np.where((memory[_BETWEEN] > 0.0) | (seen == 0), 0.2, 0.5)
        else:
            guess = np.full(memory.shape[1], 0.5 if self.binary else 0.2)
        variance = (_PRIOR * guess + memory[_SQUARES]) / (_PRIOR + seen)
        terms = self._terms(seen, beyond)
        grid = self._grid(variance, terms)
        won = total(memory[_WEIGHTS:] * grid)
        mean = self._mean(memory, won, seen, terms)
        needed = np.clip(-math.log(self.error) - log_wealth, 0.0, 700.0)  # log of target over wealth
        floor = terms.pace * np.sqrt(2.0 * needed / (terms.room * variance))
        least = memory[_LEAST] - terms.null  # the smallest win there has been
        known = np.isfinite(least) & (least > 0.0)
        enough = np.divide((1.0 + _HAIR) * np.exp(needed) - 1.0, least, out=np.full(len(least), math.inf), where=known)
        return np.minimum(np.minimum(terms.most, np.maximum(mean, floor)), enough), (grid, won, terms)

    def _terms(self, seen: int, beyond: Null) -> _Terms:
        if self.population is None:
            scale = 1.0 + abs(float(beyond))
            return _Terms(1.0, float(self.horizon - seen), float(self.horizon), _MOST, 0.0, beyond, scale, 0.0)
        paces, tested = list_bets.paces(self.horizon, self.population), self.directions[0].beyond
        most = np.where(beyond < 1.0, _MOST / np.maximum(1.0 + beyond, 1e-15), 0.0)  # from 1 on nothing can be won
        pace, room = float(paces.pace[seen]), float(paces.room[seen])
        return _Terms(pace, room, paces.early, most, beyond, beyond, 1.0, tested)

    def _mean(self, memory: Floats, won: Floats, seen: int, terms: _Terms) -> Floats:
        """The mean stake by weight. The stake beyond one counts, as the largest, while no pair seen could ruin it."""
        record = memory[_RECORD]
        worst = terms.pace * (memory[_THEIRS] - memory[_OURS] + terms.beyond) / terms.scale
        # Where nothing is declared the first pair may be of successes, which lose by it.
        live = (seen == 0 and self.binary is False) | ((memory[_BETWEEN] > 0.0) & (_BEYOND * worst < 1.0))
        alone = np.divide(won, _whole(memory), out=won.copy(), where=record > 0.0)
        return np.where(live, won + terms.most * record, alone)

    def _grid(self, variance: Floats, terms: _Terms) -> Floats:
        least = np.minimum(0.9, np.sqrt(-2.0 * math.log(self.error) / (terms.early * variance)))
        ratio = np.exp(np.log(least) / (_GRID - 1))
        grid = np.empty((_GRID, len(variance)))
        grid[-1] = _MOST
        for j in range(_GRID - 2, -1, -1):
            grid[j] = grid[j + 1] * ratio
        return grid if self.population is None else np.minimum(terms.pace * grid, terms.most)

    def learn(self, memory: Floats, seen: int, outcome: Outcome, how: Any) -> Floats:  # noqa: ARG002
        """Weigh each stake by what it won."""
        (grid, won, terms), value = how, outcome.value
        out = np.empty_like(memory)
        out[_SQUARES] = memory[_SQUARES] + value * value
        # On a list a tie gains too, once the first policy is ahead; but what is aimed at is a win.
        gain = value + terms.null
        out[_LEAST] = np.where(gain > terms.tested, np.minimum(memory[_LEAST], gain), memory[_LEAST])
        ends = _at_end(outcome.ours) & _at_end(outcome.theirs)
        out[_BETWEEN] = np.where(ends, memory[_BETWEEN], 1.0)
        out[_THEIRS] = np.maximum(memory[_THEIRS], outcome.theirs)
        out[_OURS] = np.minimum(memory[_OURS], outcome.ours)
        record = memory[_RECORD] * np.maximum(0.0, 1.0 + _BEYOND * terms.pace * value)
        # The weights sum to `_whole` before, so this is the sum of all after: no second pass, no overflow.
        every = _whole(memory) + won * value + record
        out[_RECORD] = record / every
        out[_WEIGHTS:] = memory[_WEIGHTS:] * (1.0 + grid * value) / every
        return out


class _Terms(NamedTuple):
    """What the next pair is staked on: how fast, with how much time, at most how much, against what.

    Attributes:
        pace: How much faster the mean of what is left moves than at the start; 1 without a list.
        room: Pairs left; on a list each counts with its squared pace.
        early: What the smallest stake is made for, counted likewise.
        most: The largest stake.
        null: What the smallest win is counted from.
        beyond: The mean gain that is bet against.
        scale: What a gain beyond it is divided by.
        tested: What a win is above, on the scale that the smallest one is counted on.
    """

    pace: float
    room: float
    early: float
    most: Null
    null: Null
    beyond: Null
    scale: float
    tested: float


def _whole(memory: Floats) -> Floats:
    """The sum of the weights of the grid: 1 where the stake beyond one has no record."""
    return np.where(memory[_RECORD] > 0.0, total(memory[_WEIGHTS:]), 1.0)


def _at_end(scores: Floats) -> Flags:
    return np.equal(scores, 0.0) | np.equal(scores, 1.0)


APART = "This interval comes from betting on the same pairs, not from the rule: it may hold 0 after a verdict."


def companion_begun(rule: Rule[Any]) -> BettingState:
    """Bets on the same pairs, for the interval of a rule on successes that does not bet: a statement apart."""
    return FiniteHorizonMixture(
        rule.horizon, confidence=rule.confidence, claim=rule.claim, low=rule.low, high=rule.high, binary=True
    ).start()


def companion_after(companion: BettingState, first: float, second: float) -> BettingState:
    """The companion after one more pair; it stays where it has decided."""
    return companion if companion.finished else companion.rule.step(companion, (first, second))


def companion_interval(companion: BettingState, gain: float, pairs: int) -> Interval:
    """Where the gain lies, marked as a statement apart.

    The observed gain and the pairs are those of the rule: bets that have decided follow no further pair.
    """
    found = companion.interval
    low, high = min(found.low, gain), max(found.high, gain)
    return replace(found, low=low, high=high, estimate=gain, trials=pairs, notes=(APART,))
