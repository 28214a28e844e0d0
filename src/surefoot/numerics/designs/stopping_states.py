"""In which states can a walk end, and how likely is each, up to what the rates say?

P(end in a state) = chance x P(counts at the rates), and the chance, P(not stopped before | state), is free of the
rates. So is the mean gain of the first pair given the state: an estimate of the gain that no rule for stopping biases
(Rao and Blackwell: the first pair's gain is unbiased, and the state is sufficient).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from surefoot.numerics.designs import stopped_walks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from surefoot.numerics.arrays import Flags, Floats, Ints


class Endings(NamedTuple):
    """Every state in which a walk can end.

    Attributes:
        n: Pairs.
        first: The first policy's count.
        second: The second policy's count.
        verdict: 1 for the first policy, -1 for the second, 0 for none.
        chance: P(not stopped before | state), above 0.
        gain: The mean gain of the first pair, given the state and that the walk had not stopped before.
    """

    n: Ints
    first: Ints
    second: Ints
    verdict: NDArray[np.int8]
    chance: Floats
    gain: Floats

    def swapped(self) -> Endings:
        """The same with the policies swapped."""
        return Endings(self.n, self.second, self.first, -self.verdict, self.chance, -self.gain)

    def at(self, n: int, first: int, second: int) -> int:
        """Where a state is.

        Raises:
            ValueError: No walk ends there.
        """
        found = np.flatnonzero((self.n == n) & (self.first == first) & (self.second == second))
        if not len(found):
            raise ValueError(f"The rule never ends after {n} pairs with counts {first} and {second}.")
        return int(found[0])


def endings(walk: stopped_walks.BinaryWalk, limits: Ints, quits: stopped_walks.Quits | None) -> Endings:
    """Every state in which the walk can end.

    Args:
        walk: The walk, following every column.
        limits: Its boundary.
        quits: Where it is given up, if anywhere.
    """
    left: list[Floats] = []
    parts: list[tuple[int, int, stopped_walks.States]] = []
    for stop in stopped_walks.sweep(walk, limits, left, quits, leaning=True):
        parts.append((stop.n, 1, stopped_walks.States(stop.rows, stop.columns, stop.chance, stop.lean)))
        if stop.quits is not None:
            parts.append((stop.n, 0, stop.quits))
    last = walk.horizon
    rows, column = np.nonzero(left[0])
    columns = column - int(walk.low[last])
    fine = walk.valid(last, rows, columns)
    rows, column, columns = rows[fine], column[fine], columns[fine]
    parts.append((last, 0, stopped_walks.States(rows, columns, left[0][rows, column], left[1][rows, column])))
    sizes = [len(states.rows) for _, _, states in parts]
    rows, columns, chance, lean = (np.concatenate(each) for each in zip(*(part[2] for part in parts), strict=True))
    found = Endings(
        n=np.repeat([n for n, _, _ in parts], sizes),
        first=rows + columns,
        second=rows,
        verdict=np.repeat(np.array([verdict for _, verdict, _ in parts], np.int8), sizes),
        chance=chance,
        gain=np.divide(lean, chance, out=np.zeros_like(lean), where=chance > 0.0),
    )
    found = _chosen(found, chance > 0.0)
    if not walk.mirrored:
        return found
    other = _chosen(found, found.first != found.second).swapped()  # the diagonal is its own mirror
    return _gathered(found, other)


def _chosen(every: Endings, which: Flags) -> Endings:
    columns: Any = (each[which] for each in every)
    return Endings(*columns)


def _gathered(one: Endings, other: Endings) -> Endings:
    columns: Any = (np.concatenate(each) for each in zip(one, other, strict=True))  # type: ignore[arg-type]
    return Endings(*columns)
