"""Eight to sixteen policies: claims of pairs first, by Holm; then every ranking that they leave.

Holm spends a tenth of the error. Once its claims leave few rankings, each of these gets a gambler that plays all rounds
so far again, at nine tenths. The true ranking is left but for the first part of the error, and rejected with the second
at most: so the claims of both hold together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.numerics.arrays import Flags, Floats, Ints
from surefoot.numerics.betting.closed_stakes import Gamblers, Seen, Terms, hopeless
from surefoot.numerics.betting.race_stakes import Purses
from surefoot.numerics.betting.weak_orders import Family, Known

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Flags, Floats, Ints
    from surefoot.numerics.betting.weak_orders import Ranks


MOST_ORDERS = 4_000
"""The most rankings that get a gambler each: 20,000 take twice the time and save half a percent of rollouts at most."""
SHARE = 0.1
"""The share of the error that is spent on claims of pairs."""


@dataclass(frozen=True, slots=True)
class Gate:
    """Claims of pairs, in many studies: what `Gamblers` are to rankings that can be listed.

    Attributes:
        terms: What was declared.
        seen: What is known of the scores.
        running: Who runs in the next round.
        futile: Pairs that will hardly be decided in time.
        better: The claims.
        purses: A gambler against each direction of each pair, a row per study.
        best: The largest log-wealth of each.
        found: How many directions each study rejects.
        past: The rounds so far of one study, the last first: earlier ones, the scores, and who ran.
    """

    terms: Terms
    seen: Seen
    running: Flags
    futile: Flags
    better: Flags
    purses: Purses
    best: Floats
    found: Ints
    past: Any = field(default=None, compare=False, repr=False)

    @classmethod
    def begin(cls, size: int, terms: Terms, studies: int = 1) -> Gate:
        """Before the first round."""
        square, pairs = (studies, size, size), size * (size - 1)
        return cls(
            terms=terms,
            seen=Seen.nothing(studies, size),
            running=np.ones(square[:2], bool),
            futile=np.zeros(square, bool),
            better=np.zeros(square, bool),
            purses=Purses.begin(studies, pairs),
            best=np.zeros((studies, pairs)),
            found=np.zeros(studies, np.int64),
        )

    @property
    def size(self) -> int:
        """Policies."""
        return int(self.running.shape[1])

    @property
    def nbytes(self) -> int:
        """Bytes held by what grows with the number of gamblers; little."""
        return 0

    @property
    def _ends(self) -> tuple[Ints, Ints]:
        one, other = np.array(list(permutations(range(self.size), 2))).T
        return one, other

    @property
    def open(self) -> Flags:
        """The pairs that no claim has settled, a square per study."""
        return ~(self.better | self.better.swapaxes(1, 2)) & ~np.eye(self.size, dtype=bool)

    def places(self) -> tuple[Ints, Ints]:
        """The best and the worst rank that the claims leave each policy, a row per study."""
        return 1 + self.better.sum(axis=1), self.size - self.better.sum(axis=2)

    def leaders(self) -> tuple[Flags, Flags]:
        """Those that may be best, and those that are claimed to be better than all others."""
        beaten: Flags = np.any(self.better, axis=1)
        return ~beaten, self.better.sum(axis=2) == self.size - 1

    @property
    def p_values(self) -> Floats:
        """The anytime p-value of every claim "a is better than b", adjusted for all of them and for the share."""
        p = np.exp(-self.best)
        order = np.argsort(p, axis=1, kind="stable")
        left = np.arange(p.shape[1], 0, -1)
        steps = np.maximum.accumulate(np.take_along_axis(p, order, axis=1) * left, axis=1)
        adjusted = np.empty_like(p)
        np.put_along_axis(adjusted, order, np.minimum(1.0, steps / SHARE), axis=1)
        out = np.ones_like(self.better, float)
        out[:, self._ends[0], self._ends[1]] = adjusted
        return np.where(self.better, np.minimum(out, self.terms.error), out)

    def step(self, scores: Floats, *, p_values: bool = True) -> Gate | Gamblers:
        """After one more round of one study; gamblers on rankings once the claims leave few."""
        after = self.after(scores)
        after = replace(after, past=(self.past, np.where(self.running, scores, 0.0), self.running))
        return after if after.found[0] == self.found[0] else after.opened(p_values=p_values) or after

    def after(self, scores: Floats) -> Gate:
        """After one more round: a row of scores per study; those of policies that do not run are not looked at."""
        scores = np.where(self.running, scores, 0.0)
        one, other = self._ends
        at = np.nonzero(self.running[:, one] & self.running[:, other])
        a, b = one[at[1]], other[at[1]]
        left = self.terms.horizon - self.seen.counts[at[0], a, b]
        known = self.seen.guess(self.terms.binary)[at[0]], np.full(len(left), float(self.terms.horizon)), left
        purses = self.purses.bet(at, scores[at[0], a] - scores[at[0], b], known, self._target)[0]
        best = np.maximum(self.best, purses.wealth)
        return replace(self, purses=purses, best=best, seen=self.seen.plus(scores, self.running))._claimed().on()

    @property
    def _target(self) -> float:
        """The log-wealth at which a direction is rejected whatever the others do."""
        return -math.log(self.terms.error * SHARE / self.best.shape[1])

    def _claimed(self) -> Gate:
        """With the claims that Holm's step-down allows, strongest first, and all that follows from them."""
        pairs = self.best.shape[1]
        needed = np.log(np.arange(pairs, 0, -1) / (self.terms.error * SHARE))
        order = np.argsort(-self.best, axis=1, kind="stable")
        stands = np.take_along_axis(self.best, order, axis=1) >= needed
        found: Ints = np.cumprod(stands, axis=1).sum(axis=1)
        more = np.flatnonzero(found > self.found)
        if not len(more):
            return self
        better, (one, other) = self.better.copy(), self._ends
        for study in more.tolist():
            for place in order[study, : found[study]].tolist():
                _claim(better[study], one[place], other[place])
        return replace(self, better=better, found=found)

    def keep(self, studies: Flags) -> Gate:
        """These studies only."""
        own = ("running", "futile", "better", "best", "found")
        kept: dict[str, Any] = {name: getattr(self, name)[studies] for name in own}
        return replace(self, **kept, seen=self.seen.of(studies), purses=self.purses.of(studies))

    def on(self) -> Gate:
        """With who runs in the next round."""
        left, open_ = self.seen.rounds < self.terms.horizon, self.open
        futile = self.futile
        if self.terms.futility:
            futile = hopeless(self.seen, self.running, self.futile, open_, self.terms)
        going = open_ & ~futile & left[:, :, None] & left[:, None, :]
        return replace(self, futile=futile, running=np.any(going, axis=2))

    def opened(self, *, p_values: bool = True) -> Gamblers | None:
        """The gamblers on the rankings that one study's claims leave, after all its rounds; none while too many are."""
        return opened(self.better[0], self.terms, _unrolled(self.past), self.p_values if p_values else None)


def opened(
    better: Flags, terms: Terms, past: Iterator[tuple[Floats, Flags]], p_values: Floats | None = None
) -> Gamblers | None:
    """The gamblers on the rankings that these claims leave, after these rounds; none while too many are.

    Args:
        better: The claims.
        terms: What was declared.
        past: The scores of each round, and who ran in it.
        p_values: Those of the claims; left out, none are kept.
    """
    ranks = possible(better, MOST_ORDERS)
    if ranks is None:
        return None
    games = Gamblers.begin(ListedOrders(ranks), terms._replace(share=1.0 - SHARE))
    games = replace(games, better=better[None])
    if p_values is not None:
        games = replace(games, p_values=p_values)
    for scores, ran in past:
        games = replace(games, running=ran).step(scores, p_values=p_values is not None)
    return games


def _claim(better: Flags, a: int, b: int) -> None:
    """Enter a claim and what follows from it, unless it contradicts an earlier one."""
    if not (better[a, b] or better[b, a]):
        above, below = better[:, a].copy(), better[b].copy()
        above[a] = below[b] = True
        better |= above[:, None] & below


def _unrolled(past: Any) -> Iterator[tuple[Floats, Flags]]:
    rounds: list[tuple[Floats, Flags]] = []
    while past is not None:
        past, scores, ran = past
        rounds.append((scores, ran))
    yield from reversed(rounds)


Ends = tuple[Ints, Flags, Flags]
"""Of each of many studies: the rollouts of each policy, whether a is found better than b, whether all is decided."""


def played_out(games: Gamblers, scores: Floats, first: int = 0) -> Ends:
    """Studies side by side to their ends, from a round on; scores are of studies, rounds and policies.

    Where the best few are asked for, those surely of them are found better than those surely not: perhaps tied.
    """
    studies, rounds, size = scores.shape
    going = np.arange(studies)
    rollouts, better = np.zeros((studies, size), np.int64), np.zeros((studies, size, size), bool)
    complete = np.zeros(studies, bool)
    for turn in range(first, min(rounds, games.terms.horizon) + 1):
        better[going], complete[going] = games.better, ~games.open.any(axis=(1, 2))
        if not games.family.strict:
            may, sure = games.leaders()
            better[going] = sure[:, :, None] & ~may[:, None, :]
        more: Flags = np.any(games.running, axis=1)
        if not more.any() or turn == rounds:
            break
        games, going = games.keep(more), going[more]
        rollouts[going] += games.running
        games = games.step(scores[going, turn], p_values=False)
    return rollouts, better, complete


def played(gate: Gate, scores: Floats) -> Ends:
    """Studies side by side while claims of pairs are made, and each by itself once few rankings are left."""
    studies, rounds, size = scores.shape
    going, ran = np.arange(studies), np.zeros(scores.shape, bool)
    rollouts, better = np.zeros((studies, size), np.int64), np.zeros((studies, size, size), bool)
    complete = np.zeros(studies, bool)
    for turn in range(min(rounds, gate.terms.horizon)):
        ran[going, turn] = gate.running
        before, gate = gate.found, gate.after(scores[going, turn])
        better[going], complete[going] = gate.better, ~gate.open.any(axis=(1, 2))
        more: Flags = np.any(gate.running, axis=1)
        for place in np.flatnonzero((gate.found > before) & more).tolist():
            study = int(going[place])
            past = zip(scores[study, : turn + 1, None], ran[study, : turn + 1, None], strict=True)
            games = opened(gate.better[place], gate.terms, past)
            if games is not None:
                more[place] = False
                own = played_out(games, scores[study : study + 1], turn + 1)
                rollouts[study], better[study], complete[study] = own[0][0], own[1][0], own[2][0]
        if not more.all():
            gate, going = gate.keep(more), going[more]
        if not len(going):
            break
    return rollouts + ran.sum(axis=1), better, complete


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
