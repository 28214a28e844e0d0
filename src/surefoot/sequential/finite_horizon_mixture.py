"""How should one bet when it is known how many pairs there will be?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from surefoot.numerics.wealth import total
from surefoot.sequential.betting import BettingRule, Outcome, Past

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_GRID = 16  # stakes mixed
_PRIOR = 2.0  # pairs that the opening guess of the variance counts for
_MOST = 0.99  # never stake all
_HAIR = 1e-12  # aim so far above the target that rounding cannot miss it
_BEYOND = 1.5  # a stake that is never placed, but whose record counts for the largest one
_OPENING = 0.35  # its weight before the first pair; successes and failures have no use for it
_SQUARES, _LEAST, _BETWEEN, _RECORD, _THEIRS, _OURS, _WEIGHTS = range(7)  # rows of the memory


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
        bounded scores; the stakes are surefoot's own (see docs/sequential.md).
    """

    binary: bool | None = None

    title: ClassVar[str] = "finite-horizon mixture"

    def opening(self) -> Floats:
        """What is known of the pairs, the record of the stake beyond one, and the weights of the grid.

        Of the pairs: squares, the smallest gain, whether a score was between the ends, the highest of theirs and the
        lowest of ours.
        """
        record = 0.0 if self.binary else _OPENING
        weights = [(1.0 - record) / _GRID] * _GRID
        return np.array([0.0, math.inf, 0.0, record, 0.0, 1.0, *weights])[:, None]

    def stake(self, memory: Floats, log_wealth: Floats, seen: int, beyond: float, past: Past) -> tuple[Floats, Any]:  # noqa: ARG002
        """The mixture's stake, raised to what the horizon asks for and capped at what is needed."""
        if self.binary is None:
            guess = np.where((memory[_BETWEEN] > 0.0) | (seen == 0), 0.2, 0.5)
        else:
            guess = np.full(memory.shape[1], 0.5 if self.binary else 0.2)
        variance = (_PRIOR * guess + memory[_SQUARES]) / (_PRIOR + seen)
        grid = self._grid(variance)
        won = total(memory[_WEIGHTS:] * grid)
        mean = self._mean(memory, won, seen, beyond)
        needed = np.clip(-math.log(self.error) - log_wealth, 0.0, 700.0)  # log of target over wealth
        floor = np.sqrt(2.0 * needed / ((self.horizon - seen) * variance))
        enough = ((1.0 + _HAIR) * np.exp(needed) - 1.0) / memory[_LEAST]
        enough[memory[_LEAST] == math.inf] = _MOST
        return np.minimum(np.minimum(_MOST, np.maximum(mean, floor)), enough), (grid, won)

    def _mean(self, memory: Floats, won: Floats, seen: int, beyond: float) -> Floats:
        """The mean stake by weight. The stake beyond one counts, as the largest, while no pair seen could ruin it."""
        record = memory[_RECORD]
        worst = (memory[_THEIRS] - memory[_OURS] + beyond) / (1.0 + abs(beyond))
        # Where nothing is declared the first pair may be of successes, which lose by it.
        live = (seen == 0 and self.binary is False) | ((memory[_BETWEEN] > 0.0) & (_BEYOND * worst < 1.0))
        alone = np.divide(won, _whole(memory), out=won.copy(), where=record > 0.0)
        return np.where(live, won + _MOST * record, alone)

    def _grid(self, variance: Floats) -> Floats:
        least = np.minimum(0.9, np.sqrt(-2.0 * math.log(self.error) / (self.horizon * variance)))
        ratio = np.exp(np.log(least) / (_GRID - 1))
        grid = np.empty((_GRID, len(variance)))
        grid[-1] = _MOST
        for j in range(_GRID - 2, -1, -1):
            grid[j] = grid[j + 1] * ratio
        return grid

    def learn(self, memory: Floats, seen: int, outcome: Outcome, how: Any) -> Floats:  # noqa: ARG002
        """Weigh each stake by what it won."""
        (grid, won), value = how, outcome.value
        out = np.empty_like(memory)
        out[_SQUARES] = memory[_SQUARES] + value * value
        out[_LEAST] = np.where(value > 0.0, np.minimum(memory[_LEAST], value), memory[_LEAST])
        ends = _at_end(outcome.ours) & _at_end(outcome.theirs)
        out[_BETWEEN] = np.where(ends, memory[_BETWEEN], 1.0)
        out[_THEIRS] = np.maximum(memory[_THEIRS], outcome.theirs)
        out[_OURS] = np.minimum(memory[_OURS], outcome.ours)
        record = memory[_RECORD] * np.maximum(0.0, 1.0 + _BEYOND * value)
        # The weights sum to `_whole` before, so this is the sum of all after: no second pass, no overflow.
        every = _whole(memory) + won * value + record
        out[_RECORD] = record / every
        out[_WEIGHTS:] = memory[_WEIGHTS:] * (1.0 + grid * value) / every
        return out


def _whole(memory: Floats) -> Floats:
    """The sum of the weights of the grid: 1 where the stake beyond one has no record."""
    return np.where(memory[_RECORD] > 0.0, total(memory[_WEIGHTS:]), 1.0)


def _at_end(scores: Floats) -> NDArray[np.bool_]:
    return np.equal(scores, 0.0) | np.equal(scores, 1.0)
