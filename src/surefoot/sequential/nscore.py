"""N-SCORE: bets as if the scores so far were the whole distributions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from surefoot import _check
from surefoot.numerics.betting.mean_bets import best_stake
from surefoot.sequential.betting import BettingRule, Outcome, Past
from surefoot.sequential.registry import Setting, registered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from surefoot.numerics.arrays import Floats, Ints


_MOST = 0.99  # never stake all
_SLACK = 1e-9  # a score of 0.29 belongs to the bin of 29/100 although 0.29 * 100 < 29 in floating point


@registered
@dataclass(frozen=True, slots=True)
class NScore(BettingRule):
    """Stakes what would have grown fastest on the scores so far: N-SCORE, kept as a published baseline.

    The stake maximises the mean of log(1 + stake * gain) under independent draws from the two policies' past scores,
    rounded down to bins, with a little even mass added so that no early stake can lose everything.

    Attributes:
        bins: Equal-width bins; 2 for success and failure. None takes the raw scores seen so far as they are.
        levels: The levels of a partial-credit score, declared beforehand, in place of bins.
        mass: The even mass added to each policy's scores; left out, 1 for two bins and 2 otherwise.

    Example:
        >>> from surefoot.sequential import NScore, run
        >>> states = run(NScore(horizon=50, bins=2), [(1, 0)] * 50)
        >>> print(states[-1])
        Decided after 6 pairs, p = 0.0377: the first policy is better.

    Reference:
        Snyder et al. (2026), "Beyond binary success: sample-efficient and statistically rigorous robot policy
        comparison", Algorithm 1, with pseudo-counts and stakes at most 0.99 (docs/sequential.md says why).
    """

    bins: int | None = 11
    levels: tuple[float, ...] | None = None
    mass: float | None = None

    name: ClassVar[str] = "nscore"
    title: ClassVar[str] = "N-SCORE"
    label: ClassVar[str] = "N-SCORE"
    summary: ClassVar[str] = "Learns from the scores so far, without the horizon; published, for comparison."
    place: ClassVar[int] = 40

    @classmethod
    def made(cls, setting: Setting) -> Self:
        """The rule as it is declared in this setting, with the levels of the score where it has some."""
        return cls(**cls.declared(setting), levels=setting.levels or None)

    def __post_init__(self) -> None:
        BettingRule.__post_init__(self)
        if self.bins is not None:
            object.__setattr__(self, "bins", _check.whole(self.bins, "bins", least=2))
        if self.levels is not None:
            object.__setattr__(self, "levels", self._declared(self.levels))
        if self.mass is not None:
            object.__setattr__(self, "mass", _check.positive(self.mass, "mass"))

    def _declared(self, levels: Iterable[Any]) -> tuple[float, ...]:
        kept = tuple(_check.real(level, "levels") for level in levels)
        if len(kept) < 2 or any(a >= b for a, b in pairwise(kept)):
            raise _check.refused("levels", "be two or more rising numbers", kept)
        if kept[0] < self.low or kept[-1] > self.high:
            raise _check.refused("levels", f"be in the range [{self.low:g}, {self.high:g}]", kept)
        return kept

    @property
    def remembers_all(self) -> bool:  # type: ignore[override]
        """Whether stakes need every past score: only the raw form's do."""
        return self.bins is None and self.levels is None

    def _score(self, value: Any, name: str) -> float:
        number = BettingRule._score(self, value, name)
        if self.levels is not None and min(abs(number - level) for level in self.levels) > _SLACK * self.width:
            raise _check.refused(name, f"be one of the declared levels {self.levels}", number)
        return number

    def play(self, first: Floats, second: Floats) -> tuple[Ints, NDArray[np.int8]]:
        """Stopping times and verdict codes of many sequences, one per row."""
        if self.levels is not None:
            for name, scores in (("first", first), ("second", second)):
                for value in np.unique(scores):
                    self._score(float(value), name)
        return BettingRule.play(self, first, second)

    def opening(self) -> Floats:
        """Each policy's mass per bin, then the mass per distinct difference of bins."""
        if self.remembers_all:
            return np.empty((0, 1))
        centres, lags, _ = self._table(0.0)
        each = self._mass(len(centres)) / len(centres)
        differences = np.bincount(lags.ravel()) * each * each
        parts = [np.full(2 * len(centres), each)] + ([] if self._closed else [differences])
        return np.concatenate(parts)[:, None]

    @property
    def _closed(self) -> bool:
        """Whether the best stake has a closed form: scores at the two ends of the range only, and no margin."""
        return not self.margin and (self.levels == (self.low, self.high) if self.levels else self.bins == 2)

    def _mass(self, size: int) -> float:
        return self.mass if self.mass is not None else (1.0 if size == 2 and not self.remembers_all else 2.0)

    def _table(self, beyond: float) -> tuple[Floats, Ints, Floats]:
        if self.levels is not None:
            return _table(tuple((level - self.low) / self.width for level in self.levels), beyond)
        bins = self.bins or 2
        return _table(tuple(j / (bins - 1) for j in range(bins)), beyond)

    def stake(self, memory: Floats, log_wealth: Floats, seen: int, beyond: float, past: Past) -> tuple[Floats, Any]:  # noqa: ARG002
        """The stake that would have grown fastest."""
        if self.remembers_all:
            return self._raw_stake(past, len(log_wealth), beyond), None
        if self._closed:  # memory: ours low, ours high, theirs low, theirs high
            won, lost = memory[1] * memory[2], memory[0] * memory[3]
            return np.minimum(_MOST, np.maximum(0.0, (won - lost) / (won + lost))), None
        centres, _, values = self._table(beyond)
        return best_stake(memory[2 * len(centres) :], values, _MOST), None

    def _raw_stake(self, past: Past, games: int, beyond: float) -> Floats:
        out = np.zeros(games)
        if not len(past.ours):
            return out
        for game in range(games):
            atoms, place = np.unique(np.append(past.ours[:, game], past.theirs[:, game]), return_inverse=True)
            seen, size = len(past.ours), len(atoms)
            even = self._mass(size) / size
            ours = even + np.bincount(place[:seen], minlength=size)
            theirs = even + np.bincount(place[seen:], minlength=size)
            values = (atoms[:, None] - atoms[None, :] - beyond) / (1.0 + abs(beyond))
            out[game] = best_stake((ours[:, None] * theirs).reshape(-1, 1), values.ravel(), _MOST)[0]
        return out

    def learn(self, memory: Floats, seen: int, outcome: Outcome, how: Any) -> Floats:  # noqa: ARG002
        """Count both scores, and what they add to the differences: one row of the table each, not all of it."""
        if self.remembers_all:
            return memory
        centres, lags, _ = self._table(0.0)
        size, games = len(centres), np.arange(memory.shape[1])
        out = memory.copy()
        ours, theirs = self._bin(outcome.ours, centres), self._bin(outcome.theirs, centres)
        out[ours, games] += 1.0
        out[size + theirs, games] += 1.0
        if not self._closed:
            every = np.arange(size)[:, None]
            out[2 * size + lags[ours, every], games] += memory[size : 2 * size]
            out[2 * size + lags[every, theirs], games] += out[:size]
        return out

    def _bin(self, scores: Floats, centres: Floats) -> Ints:
        if self.levels is not None:
            return np.searchsorted(centres, scores - _SLACK).clip(0, len(centres) - 1)
        return np.floor((len(centres) - 1) * scores + _SLACK).astype(np.int64)


@lru_cache(maxsize=64)
def _table(centres: tuple[float, ...], beyond: float) -> tuple[Floats, Ints, Floats]:
    """The bins' centres; which distinct difference ours - theirs is, by (ours, theirs); and what each one is worth."""
    at = np.array(centres)
    differences = np.round(at[:, None] - at[None, :], 12)
    distinct, lags = np.unique(differences, return_inverse=True)
    return at, lags.reshape(differences.shape), (distinct - beyond) / (1.0 + abs(beyond))
