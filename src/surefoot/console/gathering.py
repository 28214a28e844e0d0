"""How do many requests share one trip to the disk?

A store in front of a store. What is appended within `together` is kept by one append at its end, all of it or nothing;
so fifty devices that record at one moment wait for one commit, not for fifty.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from surefoot.study.events import Line
from surefoot.study.stores import Store


class Gathering:
    """A store that can hold lines back for a moment and keep them at once."""

    def __init__(self, store: Store) -> None:
        """Stand in front of `store`."""
        self.behind = store
        self._lines: list[Line] | None = None

    def append(self, lines: Sequence[Line]) -> None:
        """Keep all lines for good; within `together`, at its end."""
        if self._lines is None:
            self.behind.append(lines)
        else:
            self._lines.extend(lines)

    def read(self, after: int = 0) -> list[Line]:
        """All lines after number `after`; none while lines are held back, for those would be in their place."""
        return [] if self._lines else self.behind.read(after)

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
            self.behind.append(lines)
