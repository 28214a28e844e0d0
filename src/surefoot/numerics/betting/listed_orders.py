"""Rankings that claims leave possible, and the means that break each least.

Eight policies have 545,835 rankings with ties; claims of who is better than whom leave few of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot.numerics.betting.pools import Known
from surefoot.numerics.betting.weak_orders import Family

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Flags, Floats, Ints
    from surefoot.numerics.betting.weak_orders import Ranks

MOST = 16
"""The most policies: four bits each tell two ways to pool apart."""
_NEAR = 1e-10  # pooled means nearer than this are equal: they come from differences of running sums


def possible(better: Flags, most: int) -> Ranks | None:
    """Every ranking with ties that these claims leave, a row of ranks each; none where there are more than `most`.

    Args:
        better: Whether a is claimed to be better than b.
        most: The most rankings.
    """
    size = len(better)
    over = [sum(1 << int(b) for b in np.flatnonzero(better[:, a])) for a in range(size)]
    numbers: dict[int, int] = {0: 1}

    def firsts(those: int) -> list[int]:
        """The sets of these policies that may share the best place: none of a set is beaten by another one left."""
        able = sum(1 << a for a in range(size) if those >> a & 1 and not over[a] & those)
        found, some = [], able
        while some:
            found.append(some)
            some = (some - 1) & able
        return found

    def number(those: int) -> int:
        if those not in numbers:
            total = 0
            for first in firsts(those):
                total += number(those & ~first)
                if total > most:
                    break
            numbers[those] = total
        return numbers[those]

    known: dict[int, Ranks] = {0: np.zeros((1, size), np.int8)}

    def rows(those: int) -> Ranks:
        if those not in known:
            parts = []
            for first in firsts(those):
                rest = those & ~first
                parts.append(rows(rest) + np.array([rest >> a & 1 for a in range(size)], np.int8))
            known[those] = np.concatenate(parts)
        return known[those]

    everyone = (1 << size) - 1
    return rows(everyone) if number(everyone) <= most else None


class ListedOrders(Family):
    """Some rankings with ties of up to sixteen policies, about one study."""

    def __init__(self, ranks: Ranks) -> None:
        super().__init__(ranks)
        order = np.argsort(ranks, axis=1, kind="stable")
        self._order = np.ascontiguousarray(order.T)  # a row for each position, from the best
        self._ends = np.diff(np.take_along_axis(ranks, order, axis=1), axis=1).T > 0  # whether a place ends behind it
        self._lowest = np.array([0, *((mask & -mask).bit_length() - 1 for mask in range(1, 1 << self.size))], np.uint64)

    def smaller(self) -> Family:
        """Not asked for: no policy joins these."""
        raise NotImplementedError

    def groups(self, known: Known, where: tuple[Ints, Ints]) -> tuple[Ints, Ints, Ints]:
        """See `Family.groups`: adjacent blocks pooled while the later mean is at least the earlier one."""
        order, size, every = self._order[:, where[1]], self.size, np.arange(len(where[1]))
        cuts = self._cuts(known.omega[0][order], known.means[0][order], self._ends[:, where[1]])
        masks, key = np.empty((len(every), size), np.int64), np.zeros(len(every), np.uint64)
        bits = np.zeros_like(order)  # of the group that each position is in: from its start, then to its end
        for place in range(size):
            bits[place] = 1 << order[place]
            if place:
                bits[place] += np.where(cuts[place - 1], 0, bits[place - 1])
        for place in range(size - 1, -1, -1):
            if place < size - 1:
                bits[place] = np.where(cuts[place], bits[place], bits[place + 1])
            masks[every, order[place]] = bits[place]
            key += self._lowest[bits[place]] << (4 * order[place]).astype(np.uint64)
        _, first, number = np.unique(key, return_index=True, return_inverse=True)
        return np.zeros(len(first), np.int64), masks[first], number

    def _cuts(self, omega: Floats, means: Floats, ends: Flags) -> Flags:
        """Behind which positions a group ends: every span up to there lies above every span from there on."""
        size, none = self.size, np.zeros((1, omega.shape[1]))
        weight = np.append(none, np.cumsum(omega, axis=0), axis=0)
        total = np.append(none, np.cumsum(omega * means, axis=0), axis=0)
        broken = np.append(np.append(none, np.where(ends, 0.0, np.nan), axis=0), none, axis=0)  # NaN: within a place
        before, after = np.full_like(weight, np.nan), np.full_like(weight, np.nan)
        with np.errstate(invalid="ignore"):
            for i in range(size):
                for j in range(i + 1, size + 1):
                    level = (total[j] - total[i]) / (weight[j] - weight[i]) + (broken[i] + broken[j])
                    np.fmin(before[j], level, out=before[j])
                    np.fmax(after[i], level, out=after[i])
        # NaN, a block of which nobody runs, cuts: it makes a group of its own
        return ends & ~(after[1:-1] >= before[1:-1] - _NEAR)
