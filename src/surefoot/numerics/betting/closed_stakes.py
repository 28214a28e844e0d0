"""What is known of the scores of many policies, and what is staked on each way to pool their means?

Many studies side by side, one per row. Scores are in [0, 1]. Nothing is changed in place.

What does the gambler of every hypothesis about many policies stake, and who is left after a round?

One gambler per hypothesis bets that it is false, on the part of the mean scores that contradicts it. Many studies are
played side by side: `Gamblers` of one study is what a live ranking holds. Scores are in [0, 1]. Nothing is changed in
place, so earlier gamblers stay what they were.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from itertools import permutations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import erf, ndtr

from surefoot.numerics.betting.weak_orders import NIL, Family, unpacked

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Flags, Floats, Ints


GRID = 16  # stakes mixed
_STEPS = np.arange(GRID) / (GRID - 1)
_MOST = 0.99  # never stake all
_SUCCESS, _SCORE = 0.5, 0.2  # opening guesses of a difference's mean square


class Terms(NamedTuple):
    """What was declared.

    Attributes:
        error: The chance of a false claim.
        horizon: The most rollouts of each policy.
        binary: Whether scores are successes; none: as long as all scores seen are.
        futility: Below this chance to be decided in time a pair is futile; 0 is never.
    """

    error: float
    horizon: int
    binary: bool | None
    futility: float

    @property
    def target(self) -> float:
        """The log-wealth at which a hypothesis is rejected."""
        return -math.log(self.error)


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known of the scores, a row or a square per study.

    Attributes:
        counts: Rounds in which both of two policies ran.
        sums: The sum of scores of each policy.
        products: Sums of products of two policies' scores in common rounds.
        least: The smallest lead of one policy over another so far; infinite before the first.
        between: Whether a score was neither 0 nor 1.
    """

    counts: Floats
    sums: Floats
    products: Floats
    least: Floats
    between: Flags

    @classmethod
    def nothing(cls, studies: int, size: int) -> Seen:
        """Before the first round."""
        square = (studies, size, size)
        return cls(
            np.zeros(square),
            np.zeros(square[:2]),
            np.zeros(square),
            np.full(square, np.inf),
            np.zeros(studies, bool),
        )

    def plus(self, scores: Floats, running: Flags) -> Seen:
        """After one more round; the scores of those that do not run are 0."""
        ran = running[:, :, None] & running[:, None, :]
        lead = scores[:, :, None] - scores[:, None, :]
        return Seen(
            self.counts + ran,
            self.sums + scores,
            self.products + scores[:, :, None] * scores[:, None, :],
            np.where(ran & (lead > 0.0), np.minimum(self.least, lead), self.least),
            self.between | ((scores != 0.0) & (scores != 1.0)).any(axis=1),
        )

    def of(self, studies: Any) -> Seen:
        """These studies only, by flags or places."""
        return Seen(*(getattr(self, field.name)[studies] for field in fields(self)))

    def wider(self) -> Seen:
        """With one more policy, of which nothing is known."""
        return replace(
            self,
            counts=grown(self.counts, 0.0),
            sums=np.append(self.sums, np.zeros((len(self.sums), 1)), axis=1),
            products=grown(self.products, 0.0),
            least=grown(self.least, np.inf),
        )

    @property
    def rounds(self) -> Floats:
        """The rounds that each policy ran."""
        found: Floats = np.einsum("raa->ra", self.counts)
        return found

    @property
    def squares(self) -> Floats:
        """The sum of squared scores of each policy."""
        found: Floats = np.einsum("raa->ra", self.products)
        return found

    @property
    def means(self) -> Floats:
        """The mean score of each policy; in the middle where it has none."""
        n = self.rounds
        return np.where(n > 0.0, self.sums / np.maximum(n, 1.0), 0.5)

    def guess(self, binary: bool | None) -> Floats:
        """The opening guess of a difference's mean square, one per study."""
        if binary is None:
            return np.where(self.between, _SCORE, _SUCCESS)
        return np.full(len(self.sums), _SUCCESS if binary else _SCORE)

    def moments(self, guess: Floats) -> Floats:
        """Mean products of two policies' scores in common rounds, with two rounds' worth of a guess."""
        n, means = self.rounds, self.means
        common = np.minimum(n[:, :, None], n[:, None, :])
        filled = self.products + (common - self.counts) * means[:, :, None] * means[:, None, :]
        out: Floats = filled / (common + 2.0)
        places = np.arange(n.shape[1])
        out[:, places, places] += guess[:, None] / (n + 2.0)
        return out


def grown(square: Any, fill: float) -> Any:
    """Squares with one more row and column."""
    studies, size, _ = square.shape
    out = np.full((studies, size + 1, size + 1), fill, square.dtype)
    out[:, :size, :size] = square
    return out


class Bets(NamedTuple):
    """The bets on every way to pool that some gambler needs, one per row.

    Attributes:
        study: The study.
        u: What is bet on: the sum of u times the scores, whose mean is 0 or less if the hypothesis holds.
        spread: The root mean square of that sum, as known so far.
        grid: Stakes in units of the spread.
        trust: The root of how sure it is that the means contradict the hypothesis.
        hurry: One over the rounds left.
        most: The largest stake that cannot lose all.
        enough: One over the smallest gain seen, 0 where none was.
    """

    study: Ints
    u: Floats
    spread: Floats
    grid: Floats
    trust: Floats
    hurry: Floats
    most: Floats
    enough: Floats


def stakes(seen: Seen, running: Flags, where: tuple[Ints, Ints], family: Family, terms: Terms) -> tuple[Bets, Ints]:
    """The bets of the next round, and which of them each gambler makes.

    Args:
        seen: What is known.
        running: Who runs, a row per study.
        where: The study and the hypothesis of each gambler.
        family: The hypotheses.
        terms: What was declared.
    """
    g, n, means = seen.guess(terms.binary), seen.rounds, seen.means
    variance = (g[:, None] + seen.squares - n * means**2) / (n + 2.0)
    omega = np.where(running, (g[:, None] / 2.0) / variance, 0.0)
    moments = seen.moments(g)

    # every set of policies pooled: its mean, what its members are off it, and how sure that is
    weight = np.einsum("ra,ma->rm", omega, family.members)
    with np.errstate(invalid="ignore"):
        levels = np.einsum("ra,ma->rm", omega * means, family.members) / weight
    off = means[:, None, :] - levels[:, :, None]
    off = np.where(np.abs(off) > NIL, off, 0.0) * family.members  # NaN is not
    u = omega[:, None, :] * off
    quad = np.einsum("rma,rma->rm", np.einsum("rmb,rba->rma", u, moments), u)
    rounds = np.where((family.members > 0.0) & running[:, None, :], n[:, None, :], np.inf).min(axis=2)
    rounds[np.isinf(rounds)] = 0.0
    signal = np.einsum("rma,rma->rm", u, off)
    z = rounds * signal / np.sqrt((rounds + 2.0) * np.where(quad > 0.0, quad, 1.0))
    sure = np.where(quad > 0.0, erf(z / math.sqrt(2.0)), 0.0)

    part = family.pooled(levels, means, running, where)
    key = part + where[0] * len(family.parts)
    used = np.zeros(len(g) * len(family.parts), bool)
    used[key] = True
    number = np.cumsum(used) - 1
    study, part = np.divmod(np.flatnonzero(used), len(family.parts))
    group = family.parts[part]
    trust = sure[study[:, None], group]
    u = u[study[:, None], group, np.arange(family.size)] * trust
    return _bets(seen.of(study), u, trust, (moments[study], g[study]), terms, study), number[key]


def _bets(seen: Seen, u: Floats, trust: Floats, known: tuple[Floats, Floats], terms: Terms, study: Ints) -> Bets:
    moments, g = known
    trust = np.where(u == 0.0, 0.0, trust).max(axis=1)
    half = np.abs(u).sum(axis=1) / 2.0
    idle = half == 0.0
    half = np.where(idle, 1.0, half)
    rounds = np.where(u == 0.0, 0.0, seen.rounds).max(axis=1)
    quad = np.einsum("pa,pab,pb->p", u, moments, u)
    quad = np.maximum(quad, g * np.einsum("pa,pa->p", u, u) / (rounds + 2.0))  # binds where rounds differ only
    spread = np.where(idle, 1.0, np.sqrt(quad))
    top = _MOST * spread / half
    low = np.minimum(math.sqrt(2.0 * terms.target / terms.horizon), 0.9 * top)
    grid = low[:, None] * (top / low)[:, None] ** _STEPS
    up, down = np.maximum(u, 0.0), np.maximum(-u, 0.0)
    pair = np.minimum(up[:, :, None], down[:, None, :])
    with np.errstate(invalid="ignore"):
        least = np.where(pair > 0.0, seen.least * pair, np.inf).min(axis=(1, 2))
    return Bets(
        study=study,
        u=u,
        spread=spread,
        grid=grid,
        trust=np.where(idle, 0.0, np.sqrt(trust)),
        hurry=1.0 / (terms.horizon - rounds),
        most=_MOST / half,
        enough=1.0 / least,
    )


_HAIR = 1e-12  # aim so far above the target that rounding cannot miss it
_EARLIEST = 5  # rounds before a pair may be called futile
_GOAL = 2.3  # how many standard errors decide a pair by the horizon, at an error of .05

_OF_STUDIES = ("running", "futile", "better", "p_values", "rejected")
_OF_GAMBLERS = ("study", "which", "log_wealth", "log_best", "weights")


@dataclass(frozen=True, slots=True)
class Gamblers:
    """The gamblers of every hypothesis still alive, in many studies.

    Attributes:
        family: The hypotheses.
        terms: What was declared.
        seen: What is known of the scores.
        running: Who runs in the next round.
        futile: Pairs that will hardly be decided in time.
        better: The claims.
        p_values: The adjusted anytime p-value of every claim "a is better than b".
        rejected: The largest p-value among the rejected hypotheses that block each claim.
        study: The study of each gambler, rising.
        which: Its hypothesis.
        log_wealth: Its wealth.
        log_best: Its largest wealth so far.
        weights: What it thinks of each stake of the grid.
    """

    family: Family
    terms: Terms
    seen: Seen
    running: Flags
    futile: Flags
    better: Flags
    p_values: Floats
    rejected: Floats
    study: Ints
    which: Ints
    log_wealth: Floats
    log_best: Floats
    weights: Floats

    @classmethod
    def begin(cls, family: Family, terms: Terms, studies: int = 1) -> Gamblers:
        """Before the first round."""
        size, rows = family.size, studies * len(family)
        square = (studies, size, size)
        return cls(
            family=family,
            terms=terms,
            seen=Seen.nothing(studies, size),
            running=np.ones(square[:2], bool),
            futile=np.zeros(square, bool),
            better=np.zeros(square, bool),
            p_values=np.ones(square),
            rejected=np.zeros(square),
            study=np.repeat(np.arange(studies), len(family)),
            which=np.tile(np.arange(len(family)), studies),
            log_wealth=np.zeros(rows),
            log_best=np.zeros(rows),
            weights=np.full((rows, GRID), 1.0 / GRID),
        )

    @property
    def nbytes(self) -> int:
        """Bytes held by what grows with the number of gamblers."""
        return sum(getattr(self, name).nbytes for name in _OF_GAMBLERS)

    @property
    def open(self) -> Flags:
        """The pairs that the question is about and no claim has settled, a square per study."""
        size = self.family.size
        if getattr(self.family, "baseline", 0) is None:  # which is best: a pair of which both may be
            able, _ = self.leaders()
            may = (able[:, None] >> np.arange(size) & 1).astype(bool)
            found: Flags = may[:, :, None] & may[:, None, :] & self.family.asked
            return found
        return ~(self.better | self.better.swapaxes(1, 2)) & self.family.asked

    @property
    def _starts(self) -> Ints:
        return np.flatnonzero(np.diff(self.study, prepend=-1))

    def places(self) -> tuple[Ints, Ints]:
        """The best and the worst rank of every policy that a gambler still allows, a row per study."""
        starts = self._starts
        return (
            np.minimum.reduceat(self.family.first_place[self.which], starts, axis=0),
            np.maximum.reduceat(self.family.last_place[self.which], starts, axis=0),
        )

    def leaders(self) -> tuple[Ints, Ints]:
        """The masks of those that may be best, and of those that every hypothesis left takes for it."""
        masks, starts = self.family.leaders[self.which], self._starts
        return np.bitwise_or.reduceat(masks, starts), np.bitwise_and.reduceat(masks, starts)

    def keep(self, studies: Flags) -> Gamblers:
        """These studies only."""
        rows = studies[self.study]
        number = np.cumsum(studies) - 1
        kept = {name: getattr(self, name)[studies] for name in _OF_STUDIES}
        return replace(self._chosen(rows), **kept, seen=self.seen.of(studies), study=number[self.study[rows]])

    def _chosen(self, rows: Flags) -> Gamblers:
        if rows.all():
            return self
        return replace(self, **{name: getattr(self, name)[rows] for name in _OF_GAMBLERS})

    def step(self, scores: Floats, p_values: bool = True) -> Gamblers:
        """After one more round: a row of scores per study; those of policies that do not run are not looked at."""
        scores = np.where(self.running, scores, 0.0)
        betted = self._betted(scores) if self.seen.counts.any() else self
        return replace(betted, seen=self.seen.plus(scores, self.running))._judged(p_values)

    def _betted(self, scores: Floats) -> Gamblers:
        """Wealth and weights after the round's bets."""
        bets, rows = stakes(self.seen, self.running, (self.study, self.which), self.family, self.terms)
        gain = np.einsum("pa,pa->p", bets.u, scores[bets.study])
        scaled = gain / bets.spread
        grid = bets.grid[rows]
        mean = np.einsum("nq,nq->n", self.weights, grid)
        need = np.clip(self.terms.target - self.log_wealth, 0.0, 700.0)
        kappa = bets.trust[rows] * np.maximum(mean, np.sqrt(2.0 * need * bets.hurry[rows])) / bets.spread[rows]
        kappa = np.minimum(kappa, bets.most[rows])
        kappa = np.minimum(kappa, (np.exp(need) * (1.0 + _HAIR) - 1.0) * bets.enough[rows])
        log_wealth = self.log_wealth + np.log1p(kappa * gain[rows])
        own = scaled[rows]
        grid *= own[:, None]
        grid += 1.0
        grid *= self.weights
        grid /= (1.0 + mean * own)[:, None]
        return replace(self, log_wealth=log_wealth, log_best=np.maximum(self.log_best, log_wealth), weights=grid)

    def _judged(self, p_values: bool) -> Gamblers:
        """Hypotheses rejected, claims made, and who runs on."""
        hit = self.log_best >= self.terms.target
        after = self
        if hit.any():
            spared = self._spared(hit)
            after = replace(self, log_best=np.where(spared, np.nextafter(self.terms.target, 0.0), self.log_best))
            gone = hit & ~spared
            if p_values:
                after = replace(after, rejected=np.maximum(self.rejected, after._chosen(gone)._blocking()))
            after = after._chosen(~gone)
            implied = np.bitwise_and.reduceat(self.family.implied[after.which], after._starts)
            after = replace(after, better=self.better | unpacked(implied, self.family.size))
        if p_values:  # a claim's p-value is the largest among the hypotheses that block it
            now = np.maximum(after.rejected, after._blocking())
            after = replace(after, p_values=np.minimum(after.p_values, now))
        return after.on()

    def _spared(self, hit: Flags) -> Flags:
        """Where every hypothesis of a study would be rejected, those that fare worst against the gamblers stay.

        Rejecting fewer costs no error, and no two claims contradict each other.
        """
        left = np.bincount(self.study[~hit], minlength=len(self.running))
        if left.all():
            return np.zeros(len(hit), bool)
        lowest = np.minimum.reduceat(self.log_best, self._starts)
        spared: Flags = (left[self.study] == 0) & (self.log_best <= lowest[self.study] + 1e-9)
        return spared

    def _blocking(self) -> Floats:
        """The largest p-value among these hypotheses that block each claim; 0 where none does."""
        out = np.zeros_like(self.p_values)
        if len(self.study):
            p, size = np.exp(-self.log_best), self.family.size
            blocked, starts = self.family.blocked[self.which], self._starts
            for a, b in permutations(range(size), 2):
                out[self.study[starts], a, b] = np.maximum.reduceat(np.where(blocked[:, a, b], p, 0.0), starts)
        return out

    def on(self) -> Gamblers:
        """With who runs in the next round."""
        left = self.seen.rounds < self.terms.horizon
        open_ = self.open
        futile = self._hopeless(open_) if self.terms.futility else self.futile
        going = open_ & ~futile & left[:, :, None] & left[:, None, :]
        running: Flags = np.any(going, axis=2)
        return replace(self, futile=futile, running=running)

    def _hopeless(self, open_: Flags) -> Flags:
        """Open pairs with little chance to be decided in time; as it was where one of the two has paused."""
        n, horizon = self.seen.counts, self.terms.horizon
        own, means = self.seen.squares, self.seen.means
        squares = own[:, :, None] + own[:, None, :] - 2.0 * self.seen.products
        spread = (2.0 * self.seen.guess(self.terms.binary)[:, None, None] + squares) / (n + 2.0)
        lead = np.abs(means[:, :, None] - means[:, None, :]) * n
        seen = np.maximum(n, 1.0)
        z = lead / np.sqrt(seen * spread)
        goal = _GOAL * math.sqrt(self.terms.target / math.log(20.0))
        short = (goal - z * np.sqrt(horizon / seen)) / np.sqrt(np.maximum(horizon - n, NIL) / seen)
        both = self.running[:, :, None] & self.running[:, None, :]
        now = (1.0 - ndtr(short) < self.terms.futility) & (n >= _EARLIEST) & (n < horizon)
        return open_ & np.where(both, now, self.futile)


def widened(now: Gamblers, family: Family) -> Gamblers:
    """With one more policy: every hypothesis goes on from what it says of the others.

    A hypothesis that leaves open which of the old ones holds goes on from the poorest of them. No error is spent: the
    gambler of the true hypothesis is never richer than that of the true old one was.
    """
    if len(now.running) != 1:
        raise ValueError(f"`now` must hold one study; got {len(now.running)}.")
    parent, rows = family.parent, np.full(len(now.family), -1)
    rows[now.which] = np.arange(len(now.which))
    rows = np.append(rows, np.argmin(now.log_wealth))[parent]  # -1 takes the last, the poorest
    alive = np.flatnonzero(rows >= 0)
    rows = rows[alive]
    wide = replace(
        now,
        family=family,
        seen=now.seen.wider(),
        running=np.append(now.running, [[True]], axis=1),
        futile=grown(now.futile, False),
        better=grown(now.better, False),
        p_values=grown(now.p_values, 1.0),
        rejected=grown(now.rejected, float(now.rejected.max())),  # each has an heir that blocks any new claim
        study=np.zeros(len(alive), np.int64),
        which=alive,
        log_wealth=now.log_wealth[rows],
        log_best=np.where(parent[alive] < 0, now.log_best.min(), now.log_best[rows]),
        weights=now.weights[rows],
    )
    return wide.on()
