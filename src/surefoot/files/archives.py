"""Zip files, read so that they cannot fill the memory."""

from __future__ import annotations

import struct
import zipfile
import zlib
from pathlib import Path
from types import TracebackType
from typing import Self

from surefoot.errors import DataError

MOST_MEMBERS = 200_000
LARGEST_MEMBER = 1 << 28
LARGEST_TOTAL = 1 << 31
ZSTD = 93
BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, OverflowError, RuntimeError, ValueError)
"""What `zipfile` raises on bytes that are no whole zip file, most of it undocumented: a changed byte may ask for a
method that it does not know or for a password (RuntimeError both), for a place before the file's start or for a name
that is no text (ValueError both)."""


class Archive:
    """A zip file whose members are read within limits, whatever its headers promise."""

    def __init__(self, path: Path, source: str) -> None:
        """Open `path`, which messages call `source`."""
        self._source, self._left, self._path = source, LARGEST_TOTAL, path
        try:
            self._zip = zipfile.ZipFile(path)
        except BROKEN as error:
            raise self._broken(error) from None
        self._members = {info.filename: info for info in self._zip.infolist()}
        if len(self._members) > MOST_MEMBERS:
            raise DataError(
                f"a zip file must hold at most {MOST_MEMBERS:,} files; got {len(self._members):,}.", source=source
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._zip.close()

    @property
    def names(self) -> tuple[str, ...]:
        """The members' names."""
        return tuple(self._members)

    def read(self, name: str) -> bytes:
        """The content of a member."""
        info = self._members[name]
        if info.flag_bits & 1:
            raise DataError(f"{name} must not be encrypted.", source=self._source)
        limit = min(LARGEST_MEMBER, self._left)
        if info.file_size > limit:
            raise self._too_big(name)
        try:
            content = self._zstd(info, limit) if info.compress_type == ZSTD else self._plain(info, limit)
        except BROKEN as error:
            raise self._broken(error) from None
        if len(content) > limit:
            raise self._too_big(name)
        if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
            raise DataError(f"the zip file must be complete and undamaged; {name} is damaged.", source=self._source)
        self._left -= len(content)
        return content

    def _plain(self, info: zipfile.ZipInfo, limit: int) -> bytes:
        with self._zip.open(info) as file:
            return file.read(limit + 1)

    def _zstd(self, info: zipfile.ZipInfo, limit: int) -> bytes:
        """Zip method 93, which Python's own module reads from 3.14 on; a member may hold several frames."""
        import zstandard  # here, since few files need it

        with self._path.open("rb") as file:
            file.seek(info.header_offset)
            local = file.read(30)
            name, extra = struct.unpack("<4s22xHH", local)[1:]
            file.seek(info.header_offset + 30 + name + extra)
            packed = file.read(min(info.compress_size, LARGEST_MEMBER))
        reader = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(packed, read_across_frames=True)
        try:
            return reader.read(limit + 1)
        except zstandard.ZstdError as error:
            raise self._broken(error) from None

    def _too_big(self, name: str) -> DataError:
        return DataError(
            f"a file inside a zip file must unpack to at most {LARGEST_MEMBER >> 20} MiB and all of them to "
            f"{LARGEST_TOTAL >> 20:,} MiB; {name} does not. It may be a zip bomb.",
            source=self._source,
        )

    def _broken(self, error: Exception) -> DataError:
        return DataError(f"the zip file must be complete and undamaged; {str(error)[:120]}.", source=self._source)
