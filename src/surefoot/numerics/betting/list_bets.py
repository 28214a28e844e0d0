"""Bets on the mean of a list whose items were predicted, and the means that they leave possible.

Outcomes are in [0, 1]; features (predictions) are known for every item beforehand and centred on the list. Before an
item is drawn its outcome is corrected by what the features say, the correction having mean 0 over the items left:
whatever the features are, the corrected outcome has the mean of the items left, and so bets on it are fair. Arrays run
over games in their last axis; sides are 0, that the mean is larger than a candidate, and 1, that it is smaller.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from surefoot.numerics import roots

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats, Ints


CERTAIN = 700.0
"""Log-wealth that stands for certainty: the items left cannot make the claim false."""
SLACK = 1e-9
"""By how much of an item a sum must pass a limit, so that rounding never makes a tie certain."""
_EARLY = 0.8  # the share of the horizon that the smallest stake is made for
_GRID = 16  # stakes mixed
_MOST = 0.99  # never stake all
_LEANING = 0.8  # the log of how much more the largest stake weighs at first than the smallest
_TRUST = 0.4  # what a point of a prediction is taken to be worth before the first outcome
_ITEMS = 12.0  # how many items that guess, and the one of the variance, count for
_VARIANCE = 0.25
_BOLD = 1.2  # stakes for an interval, against those that would be best on its edge
_STEEPEST = 1.5  # a point of a prediction is never taken to be worth more
_NEVER = 1e-12
_HALVINGS = 45  # to the last digits
CLOSE = 1e-9
"""By how much two ends may be too far apart and still be taken for close enough: rounding."""


class Terms(NamedTuple):
    """What is bet on.

    Attributes:
        features: One row a predictor, one column an item, centred.
        error: The error allowed on each side.
        within: How far the ends shall be from the middle; none where a mean is tested.
        against: The mean tested; none where there is none.
    """

    features: Floats
    error: float
    within: float | None
    against: float | None

    @property
    def items(self) -> int:
        """The length of the list."""
        return int(self.features.shape[1])


class Bets:
    """Many games on one list, side by side.

    Attributes:
        seen: Items seen.
        log_wealth: The log-wealth of each side against the mean tested; 0 where none is.
    """

    def __init__(self, terms: Terms, games: int) -> None:
        self.terms, self.seen = terms, 0
        size = len(terms.features)
        self._spread = np.atleast_2d(np.cov(terms.features, bias=True)) if size else np.zeros((0, 0))
        self._spread = self._spread + np.eye(size) * (1e-9 * float(np.trace(self._spread)))  # predictors may be alike
        self._ends = terms.features.min(axis=1, initial=0.0), terms.features.max(axis=1, initial=0.0)
        self._paces = paces(terms.items, terms.items)
        self.sum, self.feature_sums = np.zeros(games), np.zeros((size, games))
        self.products, self.crossed = np.zeros((size, size, games)), np.zeros((size, games))
        self.squares, self.corrected = np.full(games, _ITEMS * _VARIANCE), np.zeros(games)
        self.log_wealth = np.zeros((2, games))
        weights = np.exp(_LEANING * np.arange(_GRID) / (_GRID - 1))
        self.weights = np.tile((weights / weights.sum())[:, None], (2, 1, games))

    _KEPT = ("sum", "feature_sums", "products", "crossed", "squares", "corrected", "log_wealth", "weights")

    def memory(self) -> list[float]:
        """All that one game knows, as numbers."""
        return [value for name in self._KEPT for value in getattr(self, name)[..., 0].ravel().tolist()]

    @classmethod
    def resume(cls, terms: Terms, seen: int, memory: tuple[float, ...]) -> Bets:
        """One game where its memory says it stands."""
        bets, start = cls(terms, 1), 0
        bets.seen = seen
        for name in cls._KEPT:
            shape = getattr(bets, name).shape
            size = math.prod(shape)
            setattr(bets, name, np.array(memory[start : start + size]).reshape(shape))
            start += size
        return bets

    def slopes(self) -> Floats:
        """What a point of each feature is worth, from the items seen and a guess: ridge regression."""
        size = len(self.terms.features)
        if not size:
            return np.zeros((0, len(self.sum)))
        count = max(self.seen, 1)
        left = _ITEMS * self._spread[:, :, None] + self.products
        left = left - self.feature_sums[:, None] * self.feature_sums[None] / count
        right = _ITEMS * _TRUST * self._spread.sum(axis=1)[:, None] + self.crossed
        right = right - self.feature_sums * self.sum / count
        if size == 1:
            out = np.divide(right, left[0], out=np.zeros_like(right), where=left[0] > _NEVER)
        else:
            one, both, other = left[0, 0], left[0, 1], left[1, 1]
            whole = one * other - both * both
            up = np.stack([other * right[0] - both * right[1], one * right[1] - both * right[0]])
            out = np.divide(up, whole, out=np.zeros_like(right), where=whole > _NEVER * (one + other))
        clipped: Floats = np.clip(out, 0.0, _STEEPEST)
        return clipped

    def step(self, outcome: Floats, features: Floats) -> Step:
        """Stake on one more item in every game, and learn from it."""
        items, pace = self.terms.items, float(self._paces.pace[self.seen])
        slopes, means = self.slopes(), -self.feature_sums / (items - self.seen)
        seen_as = outcome - (slopes * features).sum(axis=0)
        value = seen_as + (slopes * means).sum(axis=0)
        least = (slopes * (means - self._ends[1][:, None])).sum(axis=0)
        most = 1.0 + (slopes * (means - self._ends[0][:, None])).sum(axis=0)
        variance = self.squares / (_ITEMS + self.seen)
        if self.terms.within is not None:
            stakes = np.tile(_BOLD * self.terms.within * pace / variance, (2, 1))
        else:
            stakes = self._mixed(value, (least, most), variance, pace)
        usual = self.corrected / self.seen if self.seen else 0.5
        self.squares = self.squares + (seen_as - usual) ** 2
        self.corrected = self.corrected + seen_as
        self.sum, self.feature_sums = self.sum + outcome, self.feature_sums + features
        self.products = self.products + features[:, None] * features[None]
        self.crossed = self.crossed + features * outcome
        self.seen += 1
        return Step(value, least, most, stakes)

    def _mixed(self, value: Floats, ends: tuple[Floats, Floats], variance: Floats, pace: float) -> Floats:
        """The stakes of both sides against the mean tested: the finite-horizon mixture's."""
        tested, goal = self.terms.against or 0.0, -math.log(self.terms.error)
        mean = (self.terms.items * tested - self.sum) / (self.terms.items - self.seen)
        room = float(self._paces.room[self.seen])
        stakes = np.zeros_like(self.log_wealth)
        for side, (gain, risk, open_) in enumerate(
            ((value - mean, mean - ends[0], tested), (mean - value, ends[1] - mean, 1.0 - tested))
        ):
            cap = _MOST / np.maximum(risk, _NEVER)
            top = _MOST / max(open_, 0.01)
            least = np.minimum(0.9, np.sqrt(2.0 * goal / (self._paces.early * variance)) / top)
            grid = np.minimum(pace * top * least ** (1.0 - np.arange(_GRID) / (_GRID - 1))[:, None], cap)
            mixed = (self.weights[side] * grid).sum(axis=0)
            need = np.maximum(goal - self.log_wealth[side], 0.0)
            stake = np.minimum(np.maximum(mixed, pace * np.sqrt(2.0 * need / (room * variance))), cap)
            possible = (mean >= 0.0) & (mean <= 1.0)  # otherwise it is known already
            stake = np.where(possible, stake, 0.0)
            self.log_wealth[side] = self.log_wealth[side] + np.log1p(stake * gain)
            weights = self.weights[side] * np.where(possible, 1.0 + grid * gain, 1.0)
            self.weights[side] = weights / weights.sum(axis=0)
            stakes[side] = stake
        return stakes


class Step(NamedTuple):
    """One item, as it was bet on: what the ends of the mean rest on.

    Attributes:
        value: The corrected outcome.
        least: The least it could have been.
        most: The most it could have been.
        stakes: The stakes of both sides.
    """

    value: Floats
    least: Floats
    most: Floats
    stakes: Floats


class Course(NamedTuple):
    """All items of many games as they were bet on: one row an item, one column a game.

    Attributes:
        items: The length of the list.
        outcomes: What the items gave.
        values: The corrected outcomes.
        least: The least each could have been.
        most: The most it could have been.
        stakes: The stakes, one block a side.
    """

    items: int
    outcomes: Floats
    values: Floats
    least: Floats
    most: Floats
    stakes: Floats

    def log_paths(self, candidate: Floats, side: int) -> Floats:
        """The log-wealth of a side after every item, against a candidate mean per game.

        It falls in the candidate for side 0 and rises for side 1; infinite once the items left cannot give what the
        candidate asks of them.
        """
        done = np.cumsum(self.outcomes, axis=0)
        left = self.items - np.arange(len(done), dtype=np.float64)[:, None]
        mean = (self.items * candidate - (done - self.outcomes)) / left
        gain, risk = (self.values - mean, mean - self.least) if side == 0 else (mean - self.values, self.most - mean)
        path = np.cumsum(np.log1p(np.minimum(self.stakes[side], _MOST / np.maximum(risk, _NEVER)) * gain), axis=0)
        asked, slack = self.items * candidate, SLACK
        path[done > asked + slack if side == 0 else done + (left - 1.0) < asked - slack] = math.inf
        return path

    def ends(self, side: int, target: float, start: Floats, counts: Ints | None = None) -> Floats:
        """The lower (side 0) or upper end of each game after so many items, or after all; never behind `start`.

        Bisection; every mean beyond an end was refused at some moment.
        """
        later = np.zeros(1, bool) if counts is None else np.arange(len(self.outcomes))[:, None] >= counts
        inner, outer = np.full_like(start, 1.0 - side), start.copy()
        for _ in range(_HALVINGS):
            middle = (inner + outer) / 2.0
            path = self.log_paths(middle, side)
            refused = np.where(later, -math.inf, path).max(axis=0) >= target
            outer, inner = np.where(refused, middle, outer), np.where(refused, inner, middle)
        return outer


def played(terms: Terms, outcomes: Floats, places: Ints) -> Course:
    """Every item of every game: outcomes and places on the list, one row an item, one column a game."""
    bets = Bets(terms, outcomes.shape[1])
    steps = [bets.step(row, terms.features[:, place]) for row, place in zip(outcomes, places, strict=True)]
    return course_of(terms.items, outcomes, steps)


def course_of(items: int, outcomes: Floats, steps: list[Step]) -> Course:
    """The steps of many games put together."""
    value, least, most = (np.stack([step[part] for step in steps]) for part in range(3))
    return Course(items, outcomes, value, least, most, np.stack([step.stakes for step in steps], axis=1))


def items_within(course: Course, error: float, within: float) -> Ints:
    """After how many items the ends of each game are at most 2 x `within` apart; at the latest after all."""
    target, games = -math.log(error), course.outcomes.shape[1]
    enough, short = np.full(games, len(course.outcomes)), np.zeros(games, np.int64)
    while (enough - short > 1).any():
        middle = (enough + short + 1) // 2
        middle = np.where(enough - short > 1, middle, enough)
        low, high = (course.ends(side, target, np.full(games, float(side)), middle) for side in (0, 1))
        close = high - low <= 2.0 * within + CLOSE
        enough, short = np.where(close, middle, enough), np.where(close, short, middle)
    return enough


class Paces(NamedTuple):
    """How stakes grow along a list.

    Attributes:
        pace: Before each item, how much faster the mean of the rest moves than at the start.
        room: What all squared paces from each item to the horizon add up to.
        early: The same over the first part of the horizon.
    """

    pace: Floats
    room: Floats
    early: float


@lru_cache(maxsize=16)
def paces(horizon: int, population: int) -> Paces:
    """The paces of a list of `population` items of which at most `horizon` are run."""
    pace = population / (population - np.arange(horizon, dtype=np.float64))
    squares = pace * pace
    room = np.cumsum(squares[::-1])[::-1].copy()
    early = float(squares[: max(1, math.floor(_EARLY * horizon))].sum())
    for array in (pace, room):
        array.flags.writeable = False
    return Paces(pace, room, early)


def means_left(candidate: float, outcomes: Floats, population: int) -> Floats:
    """Before each outcome, the mean that the items left have if the list's mean is the candidate."""
    seen = np.cumsum(outcomes) - outcomes
    return (population * candidate - seen) / (population - np.arange(len(outcomes)))


def log_wealth(candidate: float, outcomes: Floats, stakes: Floats, population: int) -> float:
    """Log of the product of 1 + stake x (outcome - mean left); it falls in `candidate`.

    At most .99 of the wealth is at risk. Infinite where the items left cannot give what the candidate asks of them;
    outcomes are in [-1, 1].
    """
    left = means_left(candidate, outcomes, population)
    if (left < -1.0 - SLACK).any():
        return math.inf
    room = np.maximum(1.0 + left, 1e-15)
    return float(np.sum(np.log1p(np.minimum(stakes, _MOST / room) * (outcomes - left))))


def excluded_below(
    outcomes: Floats, stakes: Floats, target: float, bracket: tuple[float, float], population: int
) -> float:
    """The largest candidate found in the bracket with log-wealth at least `target`; its low end if there is none."""
    return roots.last(lambda mean: log_wealth(mean, outcomes, stakes, population) >= target, *bracket)


def certain(outcomes: Floats, population: int) -> tuple[float, float]:
    """The least and the largest mean that the list can still have; outcomes are in [-1, 1]."""
    seen, left = math.fsum(outcomes.tolist()), population - len(outcomes)
    return (seen - left) / population, (seen + left) / population


def mean_by_stakes(outcomes: Floats, stakes: Floats, population: int) -> float:
    """The candidate mean at which the staked outcomes balance: above every one that the wealth speaks against."""
    left = population - np.arange(len(outcomes))
    seen = np.cumsum(outcomes) - outcomes
    return float(np.sum(stakes * (outcomes + seen / left)) / np.sum(stakes * (population / left)))
