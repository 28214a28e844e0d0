"""Where do many policies stand after some rounds, whatever rule ranks them?"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.interval import Interval
from surefoot.core.verdict import Verdict
from surefoot.sequential.registry import Setting
from surefoot.stats.letters import Letters, compact_letters

Pair = tuple[str, str]
APART = (Verdict.BETTER, Verdict.WORSE)


def ranked(setting: Setting) -> dict[str, Any]:
    """What every ranking is told.

    Raises:
        ValueError: The setting asks for what a ranking cannot give.
    """
    if setting.claim != "either" or setting.margin:
        raise ValueError("A ranking needs claim = 'either' and no margin.")
    told: dict[str, Any] = {"names": setting.policies, "horizon": setting.horizon, "confidence": setting.confidence}
    return told | {"low": setting.low, "high": setting.high, "binary": True if setting.binary else None}


class Standing(ABC):
    """What every state of a ranking can tell, from its verdicts, ranks and rollouts."""

    __slots__ = ()

    rule: Any
    rounds: int
    rollouts: tuple[int, ...]
    totals: tuple[float, ...]
    verdicts: tuple[Verdict, ...]

    @property
    @abstractmethod
    def ranks(self) -> tuple[tuple[int, int], ...]:
        """The best and the worst place each policy can have."""

    @property
    @abstractmethod
    def running(self) -> tuple[str, ...]:
        """The policies of the next round."""

    @property
    @abstractmethod
    def finished(self) -> bool:
        """Whether nobody runs any more."""

    @property
    @abstractmethod
    def complete(self) -> bool:
        """Whether all that was asked is decided."""

    @property
    def undecided(self) -> tuple[Pair, ...]:
        """The pairs that are not told apart."""
        pairs = zip(self.rule.pairs, self.verdicts, strict=True)
        return tuple(pair for pair, verdict in pairs if verdict not in APART)

    @property
    def paused(self) -> tuple[Pair, ...]:
        """The open pairs that are run no more because they will hardly be decided in time."""
        return ()

    @property
    def evidence(self) -> float | None:
        """None: a ranking has evidence for every pair, not one number."""
        return None

    @property
    def standing(self) -> None:
        """None: a ranking decides by no table of counts."""
        return None

    @abstractmethod
    def interval(self, first: str, second: str) -> Interval:
        """The gain of the first over the second, valid at any moment; all pairs' intervals hold together."""

    @property
    def estimates(self) -> tuple[float, ...]:
        """The mean score of each policy so far."""
        return tuple(total / max(1, used) for total, used in zip(self.totals, self.rollouts, strict=True))

    @property
    def letters(self) -> Letters:
        """Two policies share a letter exactly when they are not separated; 'a' is the best."""
        apart = [pair for pair, verdict in zip(self.rule.pairs, self.verdicts, strict=True) if verdict in APART]
        order = sorted(zip(self.ranks, (-e for e in self.estimates), self.rule.names, strict=True))
        return compact_letters([name for _, _, name in order], apart)

    @property
    def rollouts_used(self) -> int:
        """All rollouts so far."""
        return sum(self.rollouts)

    def verdict(self, first: str, second: str) -> Verdict:
        """What is known about the first of two policies against the second."""
        if (first, second) in self.rule.pairs:
            found: Verdict = self.verdicts[self.rule.pairs.index((first, second))]
            return found
        if (second, first) not in self.rule.pairs:
            raise _check.refused("second", f"be another of {', '.join(self.rule.names)}", second)
        return self.verdict(second, first).mirrored

    def __str__(self) -> str:
        width = max(len(name) for name in self.rule.names)
        of = dict(zip(self.rule.names, zip(self.ranks, self.rollouts, strict=True), strict=True))
        rows, letters = [], self.letters
        for name, own in zip(letters.names, letters.letters, strict=True):
            (best, worst), used = of[name]
            place = f"rank {best}" if best == worst else f"rank {best} to {worst}"
            rows.append(f"{name:<{width}}  {place}  {own}  {formatting.rollouts(used)}")
        return "\n".join([*rows, self.summary, *self.remarks])

    @property
    def summary(self) -> str:
        """How much is settled, and after how much, in a sentence."""
        most = self.rule.horizon * len(self.rule.names)
        so_far = f"{formatting.counted(self.rounds, 'round')} and {formatting.rollouts(self.rollouts_used)}"
        return f"{self.settled} after {so_far} (at most {most:,})."

    @property
    def settled(self) -> str:
        """How much is settled, in words."""
        return self.places_settled

    @property
    def places_settled(self) -> str:
        """How many places are settled, in words."""
        if self.complete:
            return "All places are settled"
        return f"{sum(best < worst for best, worst in self.ranks)} places are open"

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences below the table."""
        return ()
