"""How should one bet when it is known how many pairs there will be?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from surefoot.numerics.stakes import total
from surefoot.sequential.betting import BettingRule, Outcome, Past

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_GRID = 16  # stakes mixed
_PRIOR = 2.0  # pairs that the opening guess of the variance counts for
_MOST = 0.99  # never stake all
_HAIR = 1e-12  # aim so far above the target that rounding cannot miss it
_SQUARES, _LEAST, _BETWEEN, _WEIGHTS = 0, 1, 2, 3  # rows of the memory


@dataclass(frozen=True, slots=True)
class FiniteHorizonMixture(BettingRule):
    """Decides with few pairs, on any bounded score: the default for scores and for dependent pairs.

    Stakes follow the weighted mean of a grid of constant stakes, each weighted by what it would have won; near the
    horizon they rise to what is still needed to decide in time, and they never aim beyond the target. Declare a
    horizon rather too long than too short.

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
        Undecided after 3 pairs, p = 0.270.

    Reference:
        Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting", for betting on
        bounded scores; the stakes are surefoot's own (see docs/sequential.md).
    """

    binary: bool | None = None

    title: ClassVar[str] = "finite-horizon mixture"

    def opening(self) -> Floats:
        """Squares seen, smallest gain seen, whether a score was between the ends, and the weights of the grid."""
        return np.array([0.0, math.inf, 0.0, *[1.0 / _GRID] * _GRID])[:, None]

    def stake(self, memory: Floats, log_wealth: Floats, seen: int, beyond: float, past: Past) -> tuple[Floats, Any]:  # noqa: ARG002
        """The mixture's stake, raised to what the horizon asks for and capped at what is needed."""
        if self.binary is None:
            guess = np.where((memory[_BETWEEN] > 0.0) | (seen == 0), 0.2, 0.5)
        else:
            guess = np.full(memory.shape[1], 0.5 if self.binary else 0.2)
        variance = (_PRIOR * guess + memory[_SQUARES]) / (_PRIOR + seen)
        grid = self._grid(variance)
        mean = total(memory[_WEIGHTS:] * grid)
        needed = np.clip(-math.log(self.error) - log_wealth, 0.0, 700.0)  # log of target over wealth
        floor = np.sqrt(2.0 * needed / ((self.horizon - seen) * variance))
        enough = ((1.0 + _HAIR) * np.exp(needed) - 1.0) / memory[_LEAST]
        enough[memory[_LEAST] == math.inf] = _MOST
        return np.minimum(np.minimum(_MOST, np.maximum(mean, floor)), enough), (grid, mean)

    def _grid(self, variance: Floats) -> Floats:
        least = np.minimum(0.9, np.sqrt(-2.0 * math.log(self.error) / (self.horizon * variance)))
        ratio = np.exp(np.log(least) / (_GRID - 1))
        grid = np.empty((_GRID, len(variance)))
        grid[-1] = _MOST
        for j in range(_GRID - 2, -1, -1):
            grid[j] = grid[j + 1] * ratio
        return grid

    def learn(self, memory: Floats, seen: int, outcome: Outcome, how: Any) -> Floats:  # noqa: ARG002
        """Weigh each stake of the grid by what it won."""
        (grid, mean), value = how, outcome.value
        out = np.empty_like(memory)
        out[_SQUARES] = memory[_SQUARES] + value * value
        out[_LEAST] = np.where(value > 0.0, np.minimum(memory[_LEAST], value), memory[_LEAST])
        ends = _at_end(outcome.ours) & _at_end(outcome.theirs)
        out[_BETWEEN] = np.where(ends, memory[_BETWEEN], 1.0)
        # The weights sum to one before, so 1 + mean * value is their sum after: no second pass, no overflow.
        out[_WEIGHTS:] = memory[_WEIGHTS:] * (1.0 + grid * value) / (1.0 + mean * value)
        return out


def _at_end(scores: Floats) -> NDArray[np.bool_]:
    return np.equal(scores, 0.0) | np.equal(scores, 1.0)
