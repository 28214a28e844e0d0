"""What is known of the scores of many policies, and what is staked on each way to pool their means?

Many studies side by side, one per row. Scores are in [0, 1]. Nothing is changed in place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import erf

from surefoot.numerics.betting.weak_orders import NIL, Family

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
