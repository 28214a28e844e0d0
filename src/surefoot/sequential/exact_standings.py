"""Where do the counts of an exact rule stand in the region in which it goes on?"""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.core import words
from surefoot.core.record import Record


@dataclass(frozen=True, slots=True)
class Standing(Record):
    """Where the counts stand in the region in which the rule goes on.

    Attributes:
        pairs: Pairs seen.
        first: The first policy's count.
        second: The second policy's count.
        better_above: The rule says BETTER now if the first count is above this, with the second count as it is; none
            when no count is enough after so many pairs.
        worse_above: The same for the second count and WORSE; none also when the rule never says WORSE.
        wins_to_better: The fewest further pairs after which it can say BETTER; none when it cannot any more.
        wins_to_worse: The same for WORSE.
    """

    pairs: int
    first: int
    second: int
    better_above: int | None
    worse_above: int | None
    wins_to_better: int | None
    wins_to_worse: int | None

    def __str__(self) -> str:
        seen = words.counted(self.pairs, "pair")
        parts = [f"{self.first} for the first policy and {self.second} for the second after {seen}"]
        for verdict, wins in (("better", self.wins_to_better), ("worse", self.wins_to_worse)):
            if wins:
                parts.append(f"{words.counted(wins, 'pair')} in a row from {verdict}")
        return "; ".join(parts) + "."
