"""Weak orders of policies, and the means that break each least.

A hypothesis says how the mean scores may be ordered, and of a family one at least is true. Policies are bits of a mask:
policy 0 is bit 0. A hypothesis is a row of ranks, low is good: for a ranking any weak order; for "which is best" 0 in
the tied best set and 1 outside it; against a baseline -1 above it, 0 equal to it, 1 below it. Means that contradict a
hypothesis are pooled: the policies of one group get one mean.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import erf

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from surefoot.numerics.arrays import Flags, Floats, Ints

    Ranks = NDArray[np.int8]


MOST = 7
"""The most policies of which every weak order is a hypothesis: eight have 545,835."""


class Family(ABC):
    """Hypotheses of one question about `size` policies, of which one at least is true.

    Attributes:
        size: Policies.
        ranks: A row per hypothesis.
        strict: Whether a better rank says that the mean is higher, and not just as high.
        implied: The claims "a is better than b" that each hypothesis implies, eight in a byte; a * size + b counts.
        blocked: The claims that each does not imply; nothing where no hypothesis implies any.
        leaders: The policies that each hypothesis takes to be best.
        asked: The pairs that the question is about; of all but a ranking, see `Gamblers.open`.
        finds: Whether the question is which policies are the best, and not how pairs compare.
        parent: The hypothesis about all but the last policy that each one restricts to; -1 where that is open.
    """

    made: tuple[str | int, ...] = ()
    """The function of this file that makes it, and its arguments."""
    finds: bool = False

    def __init__(self, ranks: Ranks, strict: bool = True) -> None:
        self.ranks, self.strict = ranks, strict
        self.size = size = ranks.shape[1]
        self.asked: Flags = ~np.eye(size, dtype=bool)
        self.leaders: Flags = ranks == ranks.min(axis=1, keepdims=True)
        self.first_place, self.last_place = np.ones(ranks.shape, np.int64), np.full(ranks.shape, size)
        if strict:
            better = ranks[:, :, None] < ranks[:, None, :]
            self.blocked: Flags = ~better
            self.implied = np.packbits(better.reshape(len(ranks), -1), axis=1)
            self.first_place += better.sum(axis=1)
            self.last_place -= better.sum(axis=2)

    def __len__(self) -> int:
        return len(self.ranks)

    def bets(self, known: Known, where: tuple[Ints, Ints]) -> Pooled:
        """What is bet on against each hypothesis, once for each that is the same.

        Args:
            known: What is known of the policies.
            where: The study and the hypothesis of each gambler.
        """
        return by_masks(known, *self.groups(known, where))

    @abstractmethod
    def groups(self, known: Known, where: tuple[Ints, Ints]) -> tuple[Ints, Ints, Ints]:
        """The ways to pool that break the hypotheses least: study, mask of each policy's group; and each gambler's."""

    @abstractmethod
    def smaller(self) -> Family:
        """The family about all policies but the last."""

    @property
    def parent(self) -> Ints:
        """The hypothesis of `smaller` that each restricts to; -1 where it says nothing of the others."""
        known = {row: place for place, row in enumerate(map(bytes, self.smaller().ranks))}
        return np.array([known.get(bytes(row), -1) for row in self.narrowed()], np.int64)

    def narrowed(self) -> Ranks:
        """The rows of ranks without the last policy."""
        return np.ascontiguousarray(self.ranks[:, :-1])


class Tabled(Family):
    """A family of few policies, with a table of all ways to pool.

    Attributes:
        parts: The ways to pool, a row each: the mask of the group that each policy is in.
    """

    def __init__(self, ranks: Ranks, parts: Ints, strict: bool = True) -> None:
        super().__init__(ranks, strict)
        self.parts = parts
        self.members: Floats = members(self.size).astype(float)

    def groups(self, known: Known, where: tuple[Ints, Ints]) -> tuple[Ints, Ints, Ints]:
        """See `Family.groups`."""
        weight = np.einsum("ra,ma->rm", known.omega, self.members)
        with np.errstate(invalid="ignore"):
            levels = np.einsum("ra,ma->rm", known.omega * known.means, self.members) / weight
        part = self.pooled(levels, known.means, known.running, where)
        key, number = used_rows(part + where[0] * len(self.parts), len(known.means) * len(self.parts))
        study, part = np.divmod(key, len(self.parts))
        return study, self.parts[part], number

    @abstractmethod
    def pooled(self, levels: Floats, means: Floats, running: Flags, where: tuple[Ints, Ints]) -> Ints:
        """The row of `parts` that breaks each hypothesis least.

        Args:
            levels: The pooled mean of every mask, a row per study; NaN where nobody of it runs.
            means: The mean of every policy, a row per study.
            running: Who runs, a row per study.
            where: The study and the hypothesis of each answer.
        """


class WeakOrders(Tabled):
    """Every ranking with ties."""

    def __init__(self, size: int) -> None:
        super().__init__(_weak_orders(size), _partitions(size))
        self.made = "weak_orders", size
        heads = np.zeros((len(self.ranks), size + 1), np.int64)  # masks of the best j ranks
        for rank in range(size):
            heads[:, rank + 1] = heads[:, rank] | _bits(self.ranks == rank)
        spans = [(i, j) for i in range(size) for j in range(i + 1, size + 1)]
        self._spans = {span: place for place, span in enumerate(spans)}
        self._between = np.stack([heads[:, j] & ~heads[:, i] for i, j in spans]).astype(np.uint8)
        self._part = self._pools()

    def _pools(self) -> NDArray[np.int16]:
        """The row of `parts` for every hypothesis and every pattern of cuts; bit j is a cut behind rank j."""
        size, count = self.size, len(self.ranks)
        code = {tuple(row): place for place, row in enumerate(self.parts.tolist())}
        known = np.full(1 << (3 * size), -1, np.int16)
        for row, place in code.items():
            known[sum(_lowest(mask) << (3 * a) for a, mask in enumerate(row))] = place
        lowest = np.array([0, *map(_lowest, range(1, 1 << size))])
        out = np.empty((count, 1 << (size - 1)), np.int16)
        for pattern in range(1 << (size - 1)):
            ends = [j + 1 for j in range(size - 1) if pattern >> j & 1] + [size]
            start, codes = 0, np.zeros(count, np.int64)
            for end in ends:
                mask = self._between[self._spans[start, end]].astype(np.int64)
                first = lowest[mask]
                for a in range(size):
                    codes |= np.where(mask >> a & 1, first << (3 * a), 0)
                start = end
            out[:, pattern] = known[codes]
        return out

    def smaller(self) -> Family:
        """The weak orders of all policies but the last."""
        return weak_orders(self.size - 1)

    def narrowed(self) -> Ranks:
        """Ranks without the last policy, moved together where it stood alone."""
        last = self.ranks[:, -1:]
        rest = self.ranks[:, :-1]
        alone = (rest != last).all(axis=1, keepdims=True)
        return np.ascontiguousarray(rest - ((rest > last) & alone))

    def pooled(self, levels: Floats, means: Floats, running: Flags, where: tuple[Ints, Ints]) -> Ints:  # noqa: ARG002
        """Adjacent blocks pooled while the later mean is at least the earlier one."""
        study, rows = where
        size = self.size
        flat = levels.ravel()
        masks = self._between[:, rows]
        if len(levels) == 1:
            seen = flat[masks]
        else:
            seen = flat[masks + (study << size)]
        pattern = np.zeros(len(rows), np.int64)
        for j in range(1, size):
            before = seen[self._spans[0, j]]
            for i in range(1, j):
                before = np.fmin(before, seen[self._spans[i, j]])
            after = seen[self._spans[j, j + 1]]
            for end in range(j + 2, size + 1):
                after = np.fmax(after, seen[self._spans[j, end]])
            cut = ~(after >= before - NIL)  # NaN, a block of which nobody runs, cuts: it makes a group of its own
            pattern |= cut.astype(np.int64) << (j - 1)
        return self._part[rows, pattern].astype(np.int64)


class Stars(Tabled):
    """Policies above, equal to or below those in the middle: which are best, or each against a baseline."""

    def __init__(self, ranks: Ranks, baseline: int | None, strict: bool = True) -> None:
        size = ranks.shape[1]
        masks = np.arange(1 << size)[:, None]
        own = 1 << np.arange(size)
        super().__init__(ranks, np.where(masks & own, masks, own), strict)
        self.finds = baseline is None
        self.baseline = baseline
        self.made = ("best_sets" if strict else "best_ones", size) if baseline is None else ("against", size, baseline)
        if baseline is not None:
            self.asked = np.zeros((size, size), bool)
            self.asked[baseline] = self.asked[:, baseline] = True
            self.asked[baseline, baseline] = False
        self._over, self._middle, self._under = (_bits(ranks == side) for side in (-1, 0, 1))

    def smaller(self) -> Family:
        """The same question without the last policy."""
        if self.baseline is not None:
            return against(self.size - 1, self.baseline)
        return best_sets(self.size - 1) if self.strict else best_ones(self.size - 1)

    def pooled(self, levels: Floats, means: Floats, running: Flags, where: tuple[Ints, Ints]) -> Ints:
        """The middle pooled with those on the wrong side of the pooled mean.

        The pooled mean lies between two neighbours among the means, so each gap between neighbours is tried.
        """
        study, rows = where
        size = self.size
        order = np.argsort(means, axis=1, kind="stable")
        ends = np.take_along_axis(means, order, axis=1)
        over, middle, under = self._over[rows], self._middle[rows], self._under[rows]
        out = np.zeros(len(rows), np.int64)
        found = (middle & _bits(running)[study]) == 0  # nobody of the middle runs: nothing to bet on
        low = np.zeros(len(means), np.int64)
        for gap in range(size + 1):
            group = middle | (over & low[study]) | (under & ~low[study])
            level = levels[study, group]
            fits = ~found
            if gap:
                fits &= level >= ends[study, gap - 1] - NIL
            if gap < size:
                fits &= level <= ends[study, gap] + NIL
                low = low | (1 << order[:, gap])
            out[fits] = group[fits]
            found |= fits
        return out


@cache
def weak_orders(size: int) -> WeakOrders:
    """Every ranking with ties of so many policies."""
    return WeakOrders(size)


@cache
def best_sets(size: int) -> Stars:
    """Every set of policies that may be tied best."""
    inside = members(size)[1:]
    return Stars((1 - inside).astype(np.int8), None)


@cache
def best_ones(size: int) -> Stars:
    """Every policy that may be at least as good as all others: one is, and more are where they tie."""
    return Stars((1 - np.eye(size)).astype(np.int8), None, strict=False)


@cache
def against(size: int, baseline: int) -> Stars:
    """Every way in which each of the others may stand to the baseline."""
    signs = np.stack(np.meshgrid(*[[-1, 0, 1]] * size, indexing="ij"), axis=-1).reshape(-1, size)
    return Stars(signs[signs[:, baseline] == 0].astype(np.int8), baseline)


def made(name: str, *numbers: int) -> Family:
    """The family that says of itself to be `made` so."""
    known: dict[str, Callable[..., Family]] = {
        "weak_orders": weak_orders,
        "best_sets": best_sets,
        "best_ones": best_ones,
        "against": against,
    }
    return known[name](*numbers)


def members(size: int) -> NDArray[np.uint8]:
    """Who is in each mask: a row of flags for each of the 2^size."""
    return (np.arange(1 << size)[:, None] >> np.arange(size) & 1).astype(np.uint8)


def _weak_orders(size: int) -> Ranks:
    codes = np.arange(size**size)
    ranks = np.empty((len(codes), size), np.int8)
    used = np.zeros(len(codes), np.int64)
    for a in range(size):
        codes, ranks[:, a] = np.divmod(codes, size)
        used |= 1 << ranks[:, a].astype(np.int64)
    dense: Ranks = ranks[used & (used + 1) == 0]  # no rank is left out
    return dense


def _partitions(size: int) -> Ints:
    """Every way to put policies into groups: a row of the mask of the group that each is in."""
    grown: list[list[int]] = [[]]
    for a in range(size):
        grown = [
            [*(mask | 1 << a if i == j else mask for i, mask in enumerate(groups)), *([1 << a] * (j == len(groups)))]
            for groups in grown
            for j in range(len(groups) + 1)
        ]
    return np.array([[next(mask for mask in groups if mask >> a & 1) for a in range(size)] for groups in grown])


def unpacked(packed: NDArray[np.uint8], size: int) -> Flags:
    """The claims "a is better than b" of packed bytes, a square each."""
    return np.unpackbits(packed, axis=1, count=size * size).astype(bool).reshape(-1, size, size)


def _bits(flags: Flags) -> Ints:
    out: Ints = flags @ (1 << np.arange(flags.shape[1]))
    return out


def _lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


NIL = 1e-12  # two means nearer than this are equal: the order of a sum must not decide anything


class Known(NamedTuple):
    """What is known of the policies, a row or a square per study.

    Attributes:
        means: The mean score of each.
        omega: What it weighs in a pooled mean; 0 where it does not run.
        running: Who runs.
        rounds: The rounds that each ran.
        moments: Mean products of two policies' scores.
    """

    means: Floats
    omega: Floats
    running: Flags
    rounds: Floats
    moments: Floats


class Pooled(NamedTuple):
    """What is bet on, a row for each bet that differs.

    Attributes:
        study: The study.
        u: What each policy's score is multiplied by.
        trust: How sure it is that the mean of each policy contradicts the hypothesis.
        number: The bet of each gambler.
    """

    study: Ints
    u: Floats
    trust: Floats
    number: Ints


def used_rows(keys: Ints, most: int) -> tuple[Ints, Ints]:
    """The different ones of these keys below `most`, rising, and the place of each among them."""
    used = np.zeros(most, bool)
    used[keys] = True
    return np.flatnonzero(used), (np.cumsum(used) - 1)[keys]


def by_masks(known: Known, study: Ints, masks: Ints, number: Ints) -> Pooled:
    """Bets on groups of few policies: masks of the group that each policy is in; equal groups are weighed once."""
    size = masks.shape[1]
    key, place = used_rows((study[:, None] << size) + masks, len(known.means) << size)
    own = key >> size
    inside = (key[:, None] >> np.arange(size) & 1).astype(bool)
    u, trust = on_groups(known, own, inside)
    each = trust[place]
    return Pooled(study, u[place, np.arange(size)] * each, each, number)


def on_groups(known: Known, study: Ints, inside: Flags) -> tuple[Floats, Floats]:
    """What is bet on each group, before it is weighed by trust, and how sure it is that its means differ as seen."""
    weight = known.omega[study] * inside
    means = known.means[study]
    with np.errstate(invalid="ignore"):
        level = np.einsum("ga,ga->g", weight, means) / weight.sum(axis=1)
    off = means - level[:, None]
    off = np.where(np.abs(off) > NIL, off, 0.0) * inside  # NaN is not
    u = weight * off
    quad = np.einsum("ga,ga->g", products(u, known.moments, study), u)
    rounds = np.where(inside & known.running[study], known.rounds[study], np.inf).min(axis=1)
    rounds[np.isinf(rounds)] = 0.0
    signal = np.einsum("ga,ga->g", u, off)
    z = rounds * signal / np.sqrt((rounds + 2.0) * np.where(quad > 0.0, quad, 1.0))
    return u, np.where(quad > 0.0, erf(z / math.sqrt(2.0)), 0.0)


def products(u: Floats, squares: Floats, study: Ints) -> Floats:
    """Each row times the square of its study."""
    those = np.broadcast_to(squares, (len(u), *squares.shape[1:])) if len(squares) == 1 else squares[study]
    found: Floats = np.einsum("pa,pab->pb", u, those)
    return found


MOST_SETS = 20_000
"""The most sets that are hypotheses."""
MOST_POLICIES = 50
"""The most policies: a bit each tells who ran in a round."""


class TopSets(Family):
    """Every set of `top` of `size` policies: each of it is at least as good as each outside. One at least is true."""

    finds = True

    def __init__(self, size: int, top: int) -> None:
        inside = np.zeros((math.comb(size, top), size), bool)
        inside[np.arange(len(inside))[:, None], list(combinations(range(size), top))] = True
        super().__init__((~inside).astype(np.int8), strict=False)
        self.top, self.made = top, ("top_sets", size, top)
        self.last_place = np.where(inside, top, size)

    def smaller(self) -> Family:
        """The sets of all policies but the last."""
        return top_sets(self.size - 1, self.top)

    def bets(self, known: Known, where: tuple[Ints, Ints]) -> Pooled:
        """See `Family.bets`: one group for each set; equal ones are weighed once."""
        study, rows = where
        inside = self._group(known, study, self.leaders[rows])
        bits = inside @ (1 << np.arange(self.size, dtype=np.int64))
        _, group = np.unique(bits, return_inverse=True)
        _, first, number = np.unique(study * (len(bits) + 1) + group, return_index=True, return_inverse=True)
        u, trust = on_groups(known, study[first], inside[first])
        return Pooled(study[first], u * trust[:, None], np.where(u == 0.0, 0.0, trust[:, None]), number)

    def groups(self, known: Known, where: tuple[Ints, Ints]) -> tuple[Ints, Ints, Ints]:
        """Not asked for: there is one group for each set."""
        raise NotImplementedError

    def _group(self, known: Known, study: Ints, members: Flags) -> Flags:
        """Who is pooled for each set: its members below the pooled mean, and the outsiders above it."""
        order = np.argsort(known.means, axis=1, kind="stable")
        means = np.take_along_axis(known.means, order, axis=1)[study]
        own = order[study]
        weight = known.omega[study[:, None], own]
        inside = np.take_along_axis(members, own, axis=1)
        low, high = np.where(inside, weight, 0.0), np.where(inside, 0.0, weight)
        total = _below(low) + _above(high)
        with np.errstate(invalid="ignore"):
            level = (_below(low * means) + _above(high * means)) / total  # of the gap below each place, and the last
        edge = np.full((len(means), 1), np.inf)
        fits = (level >= np.append(-edge, means, axis=1) - NIL) & (level <= np.append(means, edge, axis=1) + NIL)
        gap = np.where(fits.any(axis=1), fits.argmax(axis=1), -1)[:, None]
        pooled = np.where(inside, np.arange(self.size) < gap, np.arange(self.size) >= gap) & (gap >= 0)
        found = np.empty_like(pooled)
        np.put_along_axis(found, own, pooled, axis=1)
        return found


def _below(values: Floats) -> Floats:
    """The sum of those before each place, and of all."""
    return np.append(np.zeros((len(values), 1)), np.cumsum(values, axis=1), axis=1)


def _above(values: Floats) -> Floats:
    """The sum of those from each place on, and nothing."""
    return _below(values[:, ::-1])[:, ::-1]


@cache
def top_sets(size: int, top: int) -> TopSets:
    """Every set of so many policies that may be the best."""
    return TopSets(size, top)
