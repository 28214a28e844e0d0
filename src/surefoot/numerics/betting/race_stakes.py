"""Stakes and wealth of the bets of a race.

Every gambler mixes the stakes of a grid by what each would have won, and never stakes less than its target needs.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Flags, Floats, Ints

HAIR = 1e-12  # aim so far above the target that rounding cannot miss it; nearer than this is nothing
_GRID = 16  # stakes mixed
_STEPS = 1.0 - np.arange(_GRID) / (_GRID - 1)
_MOST = 0.99  # never stake all


@dataclass(frozen=True, slots=True)
class Purses:
    """Gamblers, a row per study and a column per policy.

    Attributes:
        wealth: Logs of wealth.
        squares: The sum of squares of what was bet on.
        bets: Bets made.
        weights: What each thinks of the stakes of the grid.
        least: The least positive outcome seen; infinite before the first.
    """

    wealth: Floats
    squares: Floats
    bets: Ints
    weights: Floats
    least: Floats

    @classmethod
    def begin(cls, studies: int, size: int, wealth: float = 0.0) -> Purses:
        """Before the first bet."""
        shape = (studies, size)
        return cls(
            np.full(shape, wealth),
            np.zeros(shape),
            np.zeros(shape, np.int64),
            np.full((*shape, _GRID), 1.0 / _GRID),
            np.full(shape, np.inf),
        )

    def bet(self, at: tuple[Ints, ...], d: Floats, known: tuple[Floats, ...], target: float) -> tuple[Purses, Floats]:
        """After a bet on d by those at these places, and the stakes.

        Args:
            at: Rows and columns of those who bet.
            d: What each bet on came to.
            known: For each: the opening guess, the rounds in all, and the rounds left.
            target: The log-wealth aimed at.
        """
        guess, rounds, left = known
        wealth, squares, bets, weights, least = (getattr(self, one.name)[at] for one in fields(self))
        spread = (2.0 * guess + squares) / (2.0 + bets)
        low = np.minimum(0.9, np.sqrt(2.0 * target / (rounds * spread)))
        grid = _MOST * np.exp(np.log(low)[:, None] * _STEPS)
        need = np.maximum(target - wealth, HAIR)
        stake = np.maximum(np.einsum("nq,nq->n", weights, grid), np.sqrt(2.0 * need / (left * spread)))
        enough = np.maximum(np.exp(np.minimum(target - wealth, 700.0)) * (1.0 + HAIR) - 1.0, 0.0) / least
        stake = np.minimum(np.minimum(stake, _MOST), np.where(np.isinf(least), _MOST, enough))
        grid *= d[:, None]
        grid += 1.0
        grid *= weights
        grid /= grid.sum(axis=1)[:, None]
        new = (
            wealth + np.log1p(stake * d),
            squares + d * d,
            bets + 1,
            grid,
            np.where(d > HAIR, np.minimum(least, d), least),
        )
        after = []
        for one, values in zip(fields(self), new, strict=True):
            array = getattr(self, one.name).copy()
            array[at] = values
            after.append(array)
        return Purses(*after), stake

    def of(self, rows: Any) -> Purses:
        """These studies only."""
        return Purses(*(getattr(self, one.name)[rows] for one in fields(self)))

    def where(self, rows: Flags, other: Purses) -> Purses:
        """These in the studies and columns flagged, the others elsewhere."""
        pairs = [(getattr(self, one.name), getattr(other, one.name)) for one in fields(self)]
        return Purses(*(np.where(rows.reshape(rows.shape + (1,) * (a.ndim - 2)), a, b) for a, b in pairs))

    def wider(self, wealth: float = 0.0) -> Purses:
        """With one more column."""
        new = Purses.begin(len(self.wealth), 1, wealth)
        return Purses(*(np.append(getattr(self, one.name), getattr(new, one.name), axis=1) for one in fields(self)))
