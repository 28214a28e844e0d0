"""Sufficient statistics and stakes of the closed ranking by betting.

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
from scipy.special import ndtr

from surefoot.numerics.betting.weak_orders import NIL, Family, Known, Pooled, products, unpacked

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Flags, Floats, Ints


GRID = 16  # stakes mixed
_STEPS = np.arange(GRID) / (GRID - 1)
_MOST = 0.99  # never stake all
_HELD = 1 << 21  # numbers held at once where pairs of policies are looked at
_SUCCESS, _SCORE = 0.5, 0.2  # opening guesses of a difference's mean square


class Terms(NamedTuple):
    """What was declared.

    Attributes:
        error: The chance of a false claim.
        horizon: The most rollouts of each policy.
        binary: Whether scores are successes; none: as long as all scores seen are.
        futility: Below this chance to be decided in time a pair is futile; 0 is never.
        share: The share of the error that is spent on these hypotheses.
    """

    error: float
    horizon: int
    binary: bool | None
    futility: float
    share: float = 1.0

    @property
    def target(self) -> float:
        """The log-wealth at which a hypothesis is rejected."""
        return -math.log(self.error * self.share)


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
        return opening_guess(binary, self.between)

    def moments(self, guess: Floats) -> Floats:
        """Mean products of two policies' scores in common rounds, with two rounds' worth of a guess."""
        n, means = self.rounds, self.means
        common = np.minimum(n[:, :, None], n[:, None, :])
        filled = self.products + (common - self.counts) * means[:, :, None] * means[:, None, :]
        out: Floats = filled / (common + 2.0)
        places = np.arange(n.shape[1])
        out[:, places, places] += guess[:, None] / (n + 2.0)
        return out


def opening_guess(binary: bool | None, between: Flags) -> Floats:
    """The opening guess of a difference's mean square: of successes, scores, or whichever were seen."""
    return np.where(between if binary is None else not binary, _SCORE, np.full(len(between), _SUCCESS))


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
    pooled = family.bets(Known(means, omega, running, n, moments), where)
    return _bets(seen, pooled, moments, g, terms), pooled.number


def _bets(seen: Seen, pooled: Pooled, moments: Floats, g: Floats, terms: Terms) -> Bets:
    study, u = pooled.study, pooled.u
    trust = np.where(u == 0.0, 0.0, pooled.trust).max(axis=1)
    half = np.abs(u).sum(axis=1) / 2.0
    idle = half == 0.0
    half = np.where(idle, 1.0, half)
    rounds = np.where(u == 0.0, 0.0, seen.rounds[study]).max(axis=1)
    quad = np.einsum("pa,pa->p", products(u, moments, study), u)
    quad = np.maximum(quad, g[study] * np.einsum("pa,pa->p", u, u) / (rounds + 2.0))  # binds where rounds differ only
    spread = np.where(idle, 1.0, np.sqrt(quad))
    top = _MOST * spread / half
    low = np.minimum(math.sqrt(2.0 * terms.target / terms.horizon), 0.9 * top)
    grid = low[:, None] * (top / low)[:, None] ** _STEPS
    return Bets(
        study=study,
        u=u,
        spread=spread,
        grid=grid,
        trust=np.where(idle, 0.0, np.sqrt(trust)),
        hurry=1.0 / (terms.horizon - rounds),
        most=_MOST / half,
        enough=1.0 / _smallest_gains(seen.least, study, u),
    )


def _smallest_gains(least: Floats, study: Ints, u: Floats) -> Floats:
    """The smallest gain of each bet that has been possible so far; infinite before the first."""
    found, each = np.empty(len(u)), max(1, _HELD // u.shape[1] ** 2)
    for start in range(0, len(u), each):
        some = slice(start, start + each)
        pair = np.minimum(np.maximum(u[some, :, None], 0.0), np.maximum(-u[some, None, :], 0.0))
        leads = least if len(least) == 1 else least[study[some]]
        with np.errstate(invalid="ignore"):
            found[some] = np.where(pair > 0.0, leads * pair, np.inf).min(axis=(1, 2))
    return found


_HAIR = 1e-12  # aim so far above the target that rounding cannot miss it
_EARLIEST = 5  # rounds before a pair may be called futile
GOAL = 2.3  # how many standard errors decide a pair by the horizon, at an error of .05

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
    def size(self) -> int:
        """Policies."""
        return int(self.family.size)

    @property
    def nbytes(self) -> int:
        """Bytes held by what grows with the number of gamblers."""
        return sum(getattr(self, name).nbytes for name in _OF_GAMBLERS)

    @property
    def open(self) -> Flags:
        """The pairs that the question is about and no claim has settled, a square per study."""
        if self.family.finds:  # which is best: a pair of which both may be; tied ones may all be
            may, sure = self.leaders()
            able = may if self.family.strict else may & ~sure
            found: Flags = able[:, :, None] & able[:, None, :] & self.family.asked
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

    def leaders(self) -> tuple[Flags, Flags]:
        """Those that may be best, and those that every hypothesis left takes for it, a row per study."""
        those, starts = self.family.leaders[self.which], self._starts
        return np.logical_or.reduceat(those, starts), np.logical_and.reduceat(those, starts)

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
            if self.family.strict:
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
        if not len(self.study):
            return out
        p, starts = np.minimum(1.0, np.exp(-self.log_best) / self.terms.share), self._starts
        if not self.family.strict:
            out[self.study[starts]] = np.maximum.reduceat(p, starts)[:, None, None]
            return out
        blocked = self.family.blocked[self.which]
        for a, b in permutations(range(self.family.size), 2):
            out[self.study[starts], a, b] = np.maximum.reduceat(np.where(blocked[:, a, b], p, 0.0), starts)
        return out

    def on(self) -> Gamblers:
        """With who runs in the next round."""
        left = self.seen.rounds < self.terms.horizon
        open_ = self.open
        futile = self.futile
        if self.terms.futility:
            futile = hopeless(self.seen, self.running, self.futile, open_, self.terms)
        going = open_ & ~futile & left[:, :, None] & left[:, None, :]
        running: Flags = np.any(going, axis=2)
        return replace(self, futile=futile, running=running)


def hopeless(seen: Seen, running: Flags, before: Flags, open_: Flags, terms: Terms) -> Flags:
    """Open pairs with little chance to be decided in time; as it was before where one of the two has paused."""
    own, means = seen.squares, seen.means
    squares = own[:, :, None] + own[:, None, :] - 2.0 * seen.products
    lead = np.abs(means[:, :, None] - means[:, None, :]) * seen.counts
    goal = GOAL * math.sqrt(math.log(1.0 / terms.error) / math.log(20.0))
    now = little_chance(lead, squares, seen.counts, seen.guess(terms.binary)[:, None, None], (goal, terms))
    both = running[:, :, None] & running[:, None, :]
    return open_ & np.where(both, now, before)


def little_chance(lead: Floats, squares: Floats, n: Floats, guess: Floats, aim: tuple[float, Any]) -> Flags:
    """Whether pairs have little chance to reach so many standard errors by the horizon.

    Args:
        lead: The sum of differences, without its sign.
        squares: The sum of their squares.
        n: The rounds of each pair.
        guess: The opening guess of their mean square.
        aim: The standard errors that decide a pair, and what was declared: its horizon and its futility.
    """
    goal, horizon, seen = aim[0], aim[1].horizon, np.maximum(n, 1.0)
    z = lead / np.sqrt(seen * (2.0 * guess + squares) / (n + 2.0))
    short = (goal - z * np.sqrt(horizon / seen)) / np.sqrt(np.maximum(horizon - n, NIL) / seen)
    found: Flags = (1.0 - ndtr(short) < aim[1].futility) & (n >= _EARLIEST) & (n < horizon)
    return found


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
