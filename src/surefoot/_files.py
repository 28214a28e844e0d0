"""Writing a file whole or not at all, and opening a file that data name.

To a temporary file beside it, flushed to the disk, then renamed over the old one: a full disk, a killed process or
Ctrl+C leaves the earlier file as it was.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO


def open_regular(path: str | os.PathLike[str], *, links: bool = True) -> io.BufferedReader:
    """Open a regular file for reading; a pipe, a device or a socket is refused and never waited for.

    Args:
        path: The file.
        links: Whether a symbolic link at the end of the path is followed.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags | (0 if links else getattr(os, "O_NOFOLLOW", 0)))
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))
    return os.fdopen(handle, "rb")


def inside(path: str | os.PathLike[str], folder: str | os.PathLike[str]) -> Path | None:
    """A path that data name, from the folder of the data; None where it leaves the folder or leads through a link."""
    root = os.path.realpath(folder)
    named = os.path.normpath(Path(root) / path)
    if os.path.realpath(named) != named or os.path.commonpath((root, named)) != root or named == root:
        return None
    return Path(named)


def write_whole(path: str | Path, content: str | bytes, *, private: bool = False) -> Path:
    """Write a file, all of it or nothing; text as UTF-8 with its own line ends.

    Args:
        path: The file.
        content: What it shall hold.
        private: Whether only its owner may read it.

    Raises:
        OSError: It cannot be written; the earlier file, if there was one, stands.
    """
    with whole_file(path, private=private) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)
    return Path(path)


@contextlib.contextmanager
def whole_file(path: str | Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """A file to write into, which takes its place when it is closed without an error."""
    target = Path(os.path.realpath(path))  # a link stays a link, to a new file
    if target.exists() and not target.is_file():  # a pipe or a device, such as /dev/stdout, is written as it is
        with target.open("wb") as file:
            yield file
        return
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=".part", dir=target.parent)
    except OSError as error:
        raise _named(error, path) from None
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o600 if private else _usual(target))
        Path(name).replace(target)
    except OSError as error:
        raise _named(error, path) from None
    finally:
        with contextlib.suppress(OSError):  # gone, once it took its place
            Path(name).unlink()
    settled(target.parent)


def _usual(target: Path) -> int:
    """The earlier file's permissions, or those of any new file."""
    with contextlib.suppress(OSError):
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def settled(folder: Path) -> None:
    """Make the new name outlive a power cut, where folders can be flushed."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _named(error: OSError, path: str | Path) -> OSError:
    """The same error, about the file that was asked for."""
    return OSError(error.errno, error.strerror, str(path)) if error.errno is not None else error
