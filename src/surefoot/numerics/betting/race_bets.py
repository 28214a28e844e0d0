"""Bets against each of many policies being the best.

One gambler per policy bets that it is not a best one: on the better of the others, as far as the past tells them. Many
studies are played side by side, one per row; a live race is one row. Scores are in [0, 1]. Nothing is changed in place.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import betaincc, betaln, ndtr, xlog1py, xlogy

from surefoot.numerics import roots
from surefoot.numerics.betting.race_stakes import HAIR, Purses

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Flags, Floats, Ints

OUT, RUNNING, SETTLED, WITHDRAWN = 0, 1, 2, 3
REGRETS = np.arange(41) / 100.0  # how far below the best a champion may be
_SUCCESS, _SCORE = 0.5, 0.2  # opening guesses of a difference's mean square
_SHARP = 18.0  # how soon the opponents of a policy are narrowed down to the leader
_MOVED = 0.8  # of each gambler's wealth, put on the champion when one is named


class Terms(NamedTuple):
    """What was declared.

    Attributes:
        error: The chance of a false claim.
        horizon: The most rounds.
        within: How far below the best the one named may be; none: it must be a best one.
        binary: Whether scores are successes; none: as long as all scores seen are.
        shared: Whether all rollouts of a round share their conditions.
        budget: The most rollouts of all together; none: as many as the rounds take.
        futility: Below this chance to be put out in time a policy is futile; 0 is never.
    """

    error: float
    horizon: int
    within: float | None = None
    binary: bool | None = None
    shared: bool = False
    budget: int | None = None
    futility: float = 0.0

    @property
    def target(self) -> float:
        """The log-wealth at which a policy is out."""
        return -math.log(self.error)

    @property
    def opening(self) -> int:
        """The rounds before a champion is named."""
        return 20 if self.horizon > 100 else max(5, self.horizon // 5)


@dataclass(frozen=True, slots=True)
class Race:
    """Races of as many policies, a row per study.

    Attributes:
        terms: What was declared.
        order: The place of each policy among ties.
        status: `RUNNING`, `OUT`, `SETTLED` or `WITHDRAWN`.
        rounds: Rounds so far.
        counts: Rollouts of each.
        sums: The sum of scores of each.
        between: Whether a score was neither 0 nor 1.
        plain: The gamblers against each being a best one.
        best: The largest log-wealth of each of them.
        against: The gamblers against each being more than `within` better than the champion.
        gaps: Logs of what these would have, were the champion so far below the best as `REGRETS` says.
        champion: The champion; -1 before one is named.
        champions: How many were named.
        futile: Whether nobody else will hardly be put out in time.
    """

    terms: Terms
    order: Ints
    status: Ints
    rounds: Ints
    counts: Ints
    sums: Floats
    between: Flags
    plain: Purses
    best: Floats
    against: Purses | None
    gaps: Floats | None
    champion: Ints
    champions: Ints
    futile: Flags

    @classmethod
    def begin(cls, terms: Terms, order: Ints, studies: int = 1) -> Race:
        """Before the first round; `order` is a row of places for every study."""
        size = order.shape[1]
        shape = (studies, size)
        near = terms.within is not None
        return cls(
            terms=terms,
            order=np.broadcast_to(order, shape),
            status=np.full(shape, RUNNING, np.int8),
            rounds=np.zeros(studies, np.int64),
            counts=np.zeros(shape, np.int64),
            sums=np.zeros(shape),
            between=np.zeros(studies, bool),
            plain=Purses.begin(studies, size),
            best=np.zeros(shape),
            against=Purses.begin(studies, size, -np.inf) if near else None,
            gaps=np.full((*shape, len(REGRETS)), -np.inf) if near else None,
            champion=np.full(studies, -1),
            champions=np.zeros(studies, np.int64),
            futile=np.zeros(studies, bool),
        )

    @property
    def running(self) -> Flags:
        """Who runs, while the race does."""
        found: Flags = np.equal(self.status, RUNNING)
        return found

    @property
    def used(self) -> Ints:
        """All rollouts so far."""
        total: Ints = self.counts.sum(axis=1)
        return total

    @property
    def means(self) -> Floats:
        """The mean score of each, with a rollout's worth of doubt."""
        return (self.sums + 0.5) / (self.counts + 1.0)

    def leader(self) -> Ints:
        """The running one of the largest mean; of ties the one of fewest rollouts, then by order."""
        return self._first(self.running, self.means)

    def _first(self, among: Flags, means: Floats) -> Ints:
        means = np.where(among, means, -np.inf)
        tied = means == means.max(axis=1, keepdims=True)
        counts = np.where(tied, self.counts, np.iinfo(np.int64).max)
        tied &= counts == counts.min(axis=1, keepdims=True)
        found: Ints = np.where(tied, self.order, self.order.shape[1]).argmin(axis=1)
        return found

    @property
    def host(self) -> Ints:
        """Who runs several times a round: the champion, else the leader."""
        return np.where(self.champion >= 0, self.champion, self.leader())

    def turns(self) -> Ints:
        """How often each runs in the next round; 0 for those that do not."""
        out: Ints = self.running.astype(np.int64)
        if not self.terms.shared:
            rivals = np.maximum(out.sum(axis=1) - 1, 0)
            often = np.clip(np.floor(0.7 * np.sqrt(rivals) + 0.5), 1, 8).astype(np.int64)
            rows = np.arange(len(out))
            host = self.host
            out[rows, host] = np.where(out[rows, host] > 0, often, 0)
        return out

    def left(self) -> Floats:
        """The rounds left; with a budget, as many as it buys."""
        if self.terms.budget is None:
            return (self.terms.horizon - self.rounds).astype(np.float64)
        left: Floats = np.maximum(1.0, (self.terms.budget - self.used) / np.maximum(self.turns().sum(axis=1), 1))
        return left

    @property
    def named(self) -> Ints:
        """The one named: alone running, or a champion of which all others are out or settled; -1 before."""
        alone = (self.running.sum(axis=1) == 1) & ((self.champion < 0) | self._sits(RUNNING))
        return np.where(alone, self.running.argmax(axis=1), -1)

    def _sits(self, *status: int) -> Flags:
        """Whether the champion has one of these states."""
        found: Flags = np.isin(self.status[np.arange(len(self.status)), self.champion], status)
        return found

    @property
    def spent(self) -> Flags:
        """Whether the rounds or the budget do not allow one more round."""
        if self.terms.budget is None:
            return np.greater_equal(self.rounds, self.terms.horizon)
        over: Flags = self.used + self.turns().sum(axis=1) > self.terms.budget
        return over

    @property
    def finished(self) -> Flags:
        """Whether no further round is needed or allowed."""
        return (self.named >= 0) | self.spent | self.futile | ~self.running.any(axis=1)

    def keep(self, rows: Flags) -> Race:
        """These studies only."""
        kept: dict[str, Any] = {}
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, Purses):
                kept[one.name] = value.of(rows)
            elif isinstance(value, np.ndarray):
                kept[one.name] = value[rows]
        return replace(self, **kept)

    def step(self, totals: Floats, between: Flags, counts: Ints | None = None) -> Race:
        """After one more round: the sum of scores of each that runs, and whether one was neither 0 nor 1.

        `counts` says how often each ran, where that is not as `turns` says; it must not hang on these scores.
        """
        turns, running, left = self.turns() if counts is None else counts, self.running, self.left()
        totals = np.where(running, totals, 0.0)
        scores = totals / np.maximum(turns, 1)
        guess = np.where(self.between, _SCORE, _SUCCESS)  # by the past: a stake must not know its round
        if self.terms.binary is not None:
            guess = np.full(len(left), _SUCCESS if self.terms.binary else _SCORE)
        facts = guess, self.rounds + left, left
        plain = self._betted(scores, facts)
        against, gaps = self._matched(scores, facts)
        return replace(
            self,
            rounds=self.rounds + 1,
            counts=self.counts + turns,
            sums=self.sums + totals,
            between=self.between | between,
            plain=plain,
            best=np.maximum(self.best, plain.wealth),
            against=against,
            gaps=gaps,
        )._judged(guess)

    def _betted(self, scores: Floats, facts: tuple[Floats, ...]) -> Purses:
        """The gamblers against each being a best one, after the round."""
        rows, running, means, lead = np.arange(len(scores)), self.running, self.means, self.leader()
        lag = means - means[rows, lead][:, None]
        weight = np.where(running, np.exp(_SHARP * lag * np.sqrt(self.rounds + 2.0)[:, None]), 0.0)
        first = weight[rows, lead]
        weight[rows, lead] = 0.0  # summed without the leader, so that its own gambler loses no digits
        rest, gain = weight.sum(axis=1), (weight * scores).sum(axis=1)
        others = rest[:, None] + (first[:, None] - weight)
        total = gain[:, None] + (first * scores[rows, lead])[:, None] - weight * scores
        others[rows, lead], total[rows, lead] = rest, gain
        at = np.nonzero(running & (others > HAIR))
        d = total[at] / others[at] - scores[at]
        return self.plain.bet(at, d, tuple(fact[at[0]] for fact in facts), self.terms.target)[0]

    def _matched(self, scores: Floats, facts: tuple[Floats, ...]) -> tuple[Purses | None, Floats | None]:
        """The gamblers against the champion, after the round."""
        if self.against is None or self.gaps is None or not (self.champion >= 0).any():
            return self.against, self.gaps
        rows = np.arange(len(scores))
        who = self.running & (self.champion >= 0)[:, None]
        who[rows, self.champion] = False
        at = np.nonzero(who)
        behind = scores[at[0], self.champion[at[0]]] - scores[at]
        told = tuple(fact[at[0]] for fact in facts)
        against, stake = self.against.bet(at, behind + (self.terms.within or 0.0), told, self.terms.target)
        gaps = self.gaps.copy()
        gaps[at] += np.log1p(stake[:, None] * (behind[:, None] + REGRETS))
        return against, gaps

    def _judged(self, guess: Floats) -> Race:
        """Who is out or settled, who is champion, and whether going on is futile."""
        running, target = self.running, self.terms.target
        out = running & (self.plain.wealth >= target)
        lowest = np.where(running, self.plain.wealth, np.inf)
        saved = (running & ~out).any(axis=1) | (self.status == SETTLED).any(axis=1)
        out &= saved[:, None] | (lowest > lowest.min(axis=1, keepdims=True))  # never all: one must be best
        status = np.where(out, OUT, self.status)
        after = replace(self, status=status)
        if self.against is not None:
            rich: Flags = np.asarray(np.logaddexp(self.plain.wealth, self.against.wealth) >= target)
            done: Flags = np.asarray(status == RUNNING) & rich
            rows = np.flatnonzero(self.champion >= 0)
            done[rows, self.champion[rows]] = False
            after = replace(after, status=np.where(done, SETTLED, status))._crowned()
        if self.terms.futility and self.terms.within is None:
            after = replace(after, futile=after._hopeless(guess))
        return after

    def _crowned(self) -> Race:
        """With a champion where one is due: named first, out, withdrawn or clearly behind the leader."""
        rows, means = np.arange(len(self.status)), self.means
        running = self.running
        among = np.where(np.atleast_1d(running.any(axis=1))[:, None], running, self.status == SETTLED)
        lead, own = self._first(among, means), self.champion
        high, low = means[rows, lead], means[rows, own]
        doubt = (low * (1.0 - low) + high * (1.0 - high) + 0.01) / (self.counts[rows, lead] + 1.0)
        behind = (lead != own) & (high - low > 2.0 * np.sqrt(doubt))
        due = (own < 0) | self._sits(OUT, WITHDRAWN) | behind
        due &= (self.rounds >= self.terms.opening) & among.any(axis=1)
        return self._named(due, lead) if due.any() else self

    def _named(self, due: Flags, lead: Ints) -> Race:
        """With these champions: settled ones run again, and every gambler moves most of its wealth against them."""
        if self.against is None or self.gaps is None:
            return self
        again = due[:, None] & (self.status == SETTLED)
        status = np.where(again, RUNNING, self.status)
        moved = due[:, None] & (status == RUNNING)
        copied = replace(
            self.plain, wealth=self.plain.wealth + math.log(_MOVED), least=np.full_like(self.plain.least, np.inf)
        )
        against = copied.where(moved, self.against)
        return replace(
            self,
            status=status,
            plain=replace(
                self.plain, wealth=np.where(moved, self.plain.wealth + math.log1p(-_MOVED), self.plain.wealth)
            ),
            against=against,
            gaps=np.where(moved[:, :, None], against.wealth[:, :, None], self.gaps),
            champion=np.where(due, lead, self.champion),
            champions=self.champions + due,
        )

    def _hopeless(self, guess: Floats) -> Flags:
        """Whether every other running one has little chance to be put out in time."""
        left, lead = self.left()[:, None], self.leader()
        rows, means = np.arange(len(left)), self.means
        ahead = means[rows, lead][:, None] - means
        spread = (2.0 * guess[:, None] + self.plain.squares) / (2.0 + self.plain.bets)
        v = np.maximum(spread - ahead**2, 1e-4)
        need = np.maximum(self.terms.target - self.plain.wealth, 0.0)
        left = np.maximum(left, HAIR)
        drift = left * ahead - np.sqrt(2.0 * need * left * v)
        chance = 2.0 * ndtr(drift / np.sqrt(v * left * (1.0 + left / (self.rounds[:, None] + 1.0))))
        others = self.running.copy()
        others[rows, lead] = False
        found: Flags = ((chance < self.terms.futility) | ~others).all(axis=1) & others.any(axis=1)
        return found

    def regret(self) -> Floats:
        """How far below the best the champion is at most; 1 where nothing is known."""
        if self.gaps is None:
            return np.ones(len(self.status))
        rows = np.arange(len(self.status))
        reached = np.logaddexp(self.plain.wealth[:, :, None], self.gaps) >= self.terms.target
        least = np.where(reached.any(axis=2), REGRETS[reached.argmax(axis=2)], 1.0)
        least[(self.status == OUT) | (self.status == WITHDRAWN)] = 0.0
        least[rows, self.champion] = 0.0
        found: Floats = np.where(self.champion >= 0, least.max(axis=1), 1.0)
        return found

    def joined(self, place: int) -> Race:
        """With one more policy, at this place among ties; nothing else changes."""
        late = (self.champion >= 0).any()
        zero = np.zeros((len(self.status), 1))
        wider: dict[str, Any] = {
            "order": np.append(self.order + (self.order >= place), zero.astype(np.int64) + place, axis=1),
            "status": np.append(self.status, zero.astype(np.int8) + RUNNING, axis=1),
            "counts": np.append(self.counts, zero.astype(np.int64), axis=1),
            "sums": np.append(self.sums, zero, axis=1),
            "plain": self.plain.wider(math.log1p(-_MOVED) if late else 0.0),
            "best": np.append(self.best, zero, axis=1),
        }
        if self.against is not None and self.gaps is not None:
            start = math.log(_MOVED) if late else -np.inf
            wider["against"] = self.against.wider(start)
            wider["gaps"] = np.append(self.gaps, np.full((len(zero), 1, len(REGRETS)), start), axis=1)
        return replace(self, **wider, futile=np.zeros_like(self.futile))

    def withdrawn(self, place: int) -> Race:
        """With one that runs no more but stays in; another becomes champion in its place."""
        status = self.status.copy()
        status[:, place] = np.where(status[:, place] == OUT, OUT, WITHDRAWN)
        after = replace(self, status=status)
        return after if self.against is None else after._crowned()


class Ended(NamedTuple):
    """How each of many races ended.

    Attributes:
        counts: Rollouts of each policy, a row per study.
        status: Where each policy stood.
        named: The one named; -1 where none was.
        champion: The last champion; -1 where none was.
        regret: How far below the best it is at most.
        host: Who would run several times next: the champion, else the leader.
        sums: The sum of scores of each.
    """

    counts: Ints
    status: Ints
    named: Ints
    champion: Ints
    regret: Floats
    host: Ints
    sums: Floats


def played(race: Race, draw: Callable[[Ints, Ints, Ints], Floats], between: bool = False) -> Ended:
    """Races run to their ends.

    Args:
        race: Before the first round.
        draw: The sum of each policy's next scores, from the studies, how often each runs and how often it has run.
        between: Whether scores are others than 0 and 1.
    """
    studies, size = race.status.shape
    going = np.arange(studies)
    end = Ended(
        np.zeros((studies, size), np.int64),
        np.zeros((studies, size), np.int8),
        np.full(studies, -1),
        np.full(studies, -1),
        np.ones(studies),
        np.full(studies, -1),
        np.zeros((studies, size)),
    )
    while len(going):
        race = race.step(draw(going, race.turns(), race.counts), np.full(len(going), between))
        done = race.finished
        if done.any():
            gone, left = going[done], race.keep(done)
            values = left.counts, left.status, left.named, left.champion, left.regret(), left.host, left.sums
            for array, value in zip(end, values, strict=True):
                array[gone] = value
            race, going = race.keep(~done), going[~done]
    return end


def reader(streams: Floats) -> Callable[[Ints, Ints, Ints], Floats]:
    """Scores read in order from a stream of each policy, again from the start at its end: studies, rounds, policies."""
    length, columns = streams.shape[1], np.arange(streams.shape[2])

    def draw(rows: Ints, turns: Ints, counts: Ints) -> Floats:
        total = np.zeros(turns.shape)
        for turn in range(int(turns.max(initial=0))):
            seen = streams[rows[:, None], (counts + turn) % length, columns]
            total += np.where(turn < turns, seen, 0.0)
        return total

    return draw


def running_low(successes: int, failures: int, error: float) -> float:
    """The lower bound of a success rate that holds at all moments at once.

    The least rate not rejected by a bet on all higher ones, spread as the arcsine law is.
    """
    if not successes:
        return 0.0

    def rejected(p: float) -> bool:
        evidence = math.log(betaincc(successes + 0.5, failures + 0.5, p)) + betaln(successes + 0.5, failures + 0.5)
        opening = math.log(betaincc(0.5, 0.5, p)) + betaln(0.5, 0.5)
        return bool(evidence - opening >= xlogy(successes, p) + xlog1py(failures, -p) - math.log(error))

    return roots.last(rejected, 1e-300, successes / (successes + failures) * (1.0 - 1e-12))
