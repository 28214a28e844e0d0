"""Several appends to a log as one: all of it is kept, or nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from surefoot.study.events import Line
from surefoot.study.stores import Keeper, Store, keeper_of


class SharedStore:
    """A store in front of a store. What is appended within `together` is kept by one append at its end.

    All of it or nothing; so fifty devices that record at one moment, or a batch of fifty rollouts, wait for one commit.
    """

    def __init__(self, store: Store) -> None:
        """Stand in front of `store`."""
        self.behind = store
        self._lines: list[Line] | None = None
        self._after = ""

    @property
    def clips(self) -> Path:
        """Where clips are kept."""
        return self.behind.clips

    def append(self, lines: Sequence[Line], *, after: str) -> None:
        """Keep all lines for good; within `together`, at its end."""
        if self._lines is None:
            self.behind.append(lines, after=after)
            return
        if not self._lines:
            self._after = after
        self._lines.extend(lines)

    def read(self, after: int = 0) -> list[Line]:
        """All lines after number `after`; while lines are held back, of those only: others would be in their place."""
        if not self._lines:
            return self.behind.read(after)
        kept = self.behind.read(after) if after + 1 < self._lines[0].number else []
        first = self._lines[0].number
        return [line for line in kept if line.number < first] + [line for line in self._lines if line.number > after]

    @property
    def keeper(self) -> Keeper | None:
        """What keeps snapshots; none while lines are held back, at one of which it might stand."""
        return None if self._lines else keeper_of(self.behind)

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Keep what is appended within by one append at the end.

        Raises:
            StudyError: The store refused, and nothing of it was kept: whoever appended must read the log anew.
        """
        lines: list[Line] = []
        self._lines = lines
        try:
            yield
        finally:
            self._lines = None
        if lines:
            self.behind.append(lines, after=self._after)
