"""Successes among rollouts, and the four counts of pairs."""

from __future__ import annotations

from dataclasses import dataclass

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.sample import Sample

WRITE = "Write Tally(38, 50) for 38 successes in 50 rollouts."


@dataclass(frozen=True, slots=True)
class Tally(Sample):
    """Successes among rollouts of one policy.

    Example:
        >>> from surefoot import Tally
        >>> print(Tally(38, 50))
        38 of 50 succeeded.
    """

    successes: int
    trials: int

    def __post_init__(self) -> None:
        trials = _check.whole(self.trials, "trials")
        successes = _check.whole(self.successes, "successes")
        if trials == 0:
            raise _check.wrong("trials", "be at least 1; got 0. Without a rollout there is no rate.", self.trials)
        if successes > trials:
            raise _check.wrong(
                "successes", f"be at most `trials`; got {successes} successes in {trials} trials.", self.successes
            )
        object.__setattr__(self, "successes", successes)
        object.__setattr__(self, "trials", trials)

    @property
    def failures(self) -> int:
        """Rollouts that did not succeed."""
        return self.trials - self.successes

    @property
    def rate(self) -> float:
        """The observed rate; a point, so show it with its interval."""
        return self.successes / self.trials

    @property
    def tallies(self) -> tuple[Tally, ...]:
        """This one."""
        return (self,)

    def __str__(self) -> str:
        return f"{self.successes:,} of {self.trials:,} succeeded."


@dataclass(frozen=True, slots=True)
class PairTally(Sample):
    """Pairs of rollouts in the same conditions, by which policy succeeded.

    Example:
        >>> from surefoot import PairTally
        >>> PairTally(both=20, first_only=12, second_only=2, neither=16).pairs
        50
    """

    both: int
    first_only: int
    second_only: int
    neither: int

    def __post_init__(self) -> None:
        for name in ("both", "first_only", "second_only", "neither"):
            object.__setattr__(self, name, _check.whole(getattr(self, name), name))
        if self.pairs == 0:
            raise _check.wrong("pairs", "be at least 1; got 0. Without a pair there is nothing to compare.", self.pairs)

    @property
    def pairs(self) -> int:
        """All pairs."""
        return self.both + self.first_only + self.second_only + self.neither

    @property
    def first(self) -> Tally:
        """The first policy alone."""
        return Tally(self.both + self.first_only, self.pairs)

    @property
    def second(self) -> Tally:
        """The second policy alone."""
        return Tally(self.both + self.second_only, self.pairs)

    @property
    def tallies(self) -> tuple[Tally, ...]:
        """Each policy alone."""
        return self.first, self.second

    @property
    def paired(self) -> bool:
        """It is."""
        return True

    @property
    def mirrored(self) -> PairTally:
        """The same pairs with the policies swapped."""
        return PairTally(self.both, self.second_only, self.first_only, self.neither)

    @property
    def gain(self) -> float:
        """The observed gain, first minus second."""
        return (self.first_only - self.second_only) / self.pairs

    def __str__(self) -> str:
        return (
            f"{formatting.counted(self.pairs, 'pair')}: both succeeded in {self.both:,}, only the first in "
            f"{self.first_only:,}, only the second in {self.second_only:,}, neither in {self.neither:,}."
        )


def tallies(first: Tally, second: Tally) -> tuple[Tally, Tally]:
    """Both policies' tallies; refuses what is none."""
    return _check.instance(first, "first", Tally, WRITE), _check.instance(second, "second", Tally, WRITE)


def pair_tally(pairs: PairTally) -> PairTally:
    """A tally of pairs; refuses what is none."""
    hint = "Write PairTally(both=20, first_only=12, second_only=2, neither=16)."
    return _check.instance(pairs, "pairs", PairTally, hint)
