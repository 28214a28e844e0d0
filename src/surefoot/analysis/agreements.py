"""Where do the authors of the data draw another conclusion than we do?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from surefoot.analysis.comparisons import Comparison
from surefoot.core import words
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.rollouts.given import GivenLetters


@dataclass(frozen=True, slots=True)
class Disagreement(Record):
    """Two policies that a file's own letters tell apart and we do not, or the reverse.

    Attributes:
        first: The one policy.
        second: The other.
        task: The task, or None when all are taken together.
        theirs: Whether the file's letters tell them apart.
        verdict: What we say of the first.
        by: Whose test the letters come from.
        family: How many statements ours holds together with.
        p_value: Our p-value of this pair by itself, where there is one.
    """

    first: str
    second: str
    task: str | None
    theirs: bool
    verdict: Verdict
    by: str
    family: int
    p_value: float | None

    def __str__(self) -> str:
        where = f" on {self.task}" if self.task else ""
        pair = f"{self.first} and {self.second}{where}"
        if self.theirs:
            says = f"The file's letters tell {pair} apart; here they cannot be told apart."
        else:
            says = f"The file's letters do not tell {pair} apart; here the first of them is {self.verdict.value}."
        alone = f"; this pair by itself has {words.p_value(self.p_value)}" if self.p_value is not None else ""
        held = f" Ours must hold together with {self.family - 1:,} others{alone}." if self.family > 1 else ""
        return f"{says} The letters come from another test, {self.by}.{held}"


def disagreements(letters: Iterable[GivenLetters], comparisons: Sequence[Comparison]) -> tuple[Disagreement, ...]:
    """Where the letters that a file carries and these comparisons, which hold together, do not say the same.

    Args:
        letters: What the file says.
        comparisons: One family of comparisons, each of a task or of all tasks together.
    """
    found = []
    for one in comparisons:
        for given in letters:
            theirs = given.apart(one.first, one.second) if given.task == one.task else None
            ours = one.verdict in (Verdict.BETTER, Verdict.WORSE)
            if theirs is None or theirs == ours:
                continue
            size = len(comparisons)
            alone = None if one.p_value is None or one.p_value >= 1.0 else one.p_value / size
            found.append(Disagreement(one.first, one.second, one.task, theirs, one.verdict, given.by, size, alone))
    return tuple(found)
