"""Letters of a ranking that the data's own authors gave."""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.core.record import Record


@dataclass(frozen=True, slots=True)
class GivenLetters(Record):
    """Letters that a file carries: on one task, policies that share one were not told apart by the file's own test.

    Attributes:
        task: The task; None when all tasks were taken together.
        letters: Each policy's letters, by its name.
        by: Whose test it was, in a few words.
    """

    task: str | None
    letters: tuple[tuple[str, str], ...]
    by: str

    def apart(self, first: str, second: str) -> bool | None:
        """Whether the file's test told two policies apart; None when it says nothing of one of them."""
        of = dict(self.letters)
        if first not in of or second not in of:
            return None
        return not set(of[first]) & set(of[second])

    def __str__(self) -> str:
        where = self.task or "all tasks"
        return f"{where}: {', '.join(f'{policy} {letters}' for policy, letters in self.letters)} ({self.by})."
