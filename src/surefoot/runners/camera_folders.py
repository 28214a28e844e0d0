"""Clips of turns, from the folder that a camera writes to."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from surefoot import _check
from surefoot.study.clips import HEAD, kind_of

SETTLES, PATIENCE = 0.2, 5.0
"""Seconds for which a file must not grow before it is taken for whole, and for which to wait for that."""


class CameraFolder:
    """A folder into which a camera or a recorder writes: the newest clip that appeared during a turn is the turn's."""

    def __init__(self, path: str | Path) -> None:
        """Look at a folder.

        Raises:
            ValueError: There is none.
        """
        self.path = Path(path)
        if not self.path.is_dir():
            raise _check.refused("clips_from", "be a folder that exists", str(path))

    def seen(self) -> dict[str, int]:
        """Every file that is there now, with the moment when it was last written."""
        found = {}
        for one in self._files():
            with contextlib.suppress(OSError):  # gone meanwhile
                if one.is_file():
                    found[one.name] = one.stat().st_mtime_ns
        return found

    def _files(self) -> list[Path]:
        with contextlib.suppress(OSError):  # a folder that went away costs no result
            return list(self.path.iterdir())
        return []

    def newest(self, before: dict[str, int]) -> Path | None:
        """The newest clip written since, once it no longer grows; none when there is none."""
        written = {name: when for name, when in self.seen().items() if before.get(name) != when}
        for name in sorted(written, key=lambda one: (written[one], one), reverse=True):
            path, until = self.path / name, time.monotonic() + PATIENCE
            with contextlib.suppress(OSError):
                size = -1
                while size != (size := path.stat().st_size) and time.monotonic() < until:
                    time.sleep(SETTLES)
                with path.open("rb") as file:
                    if kind_of(file.read(HEAD)) is not None:
                        return path
        return None
