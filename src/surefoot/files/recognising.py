"""The format of a file, by its content.

Nothing a file carries is ever executed: pickles are refused here, before anybody opens them.
"""

from __future__ import annotations

import codecs
import csv
import functools
import io
import json
import re
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from surefoot.errors import DataError
from surefoot.files.archives import BROKEN
from surefoot.files.importers import MOST_COLUMNS, too_wide
from surefoot.files.json_files import parsed
from surefoot.table.columns import plain

START = 1 << 16
LONGEST_LINE = 1 << 24
STARTS = re.compile(r"\s*(?:\{|\[\s*[\[{\]])")
BLANK = b" \t\r\n\xef\xbb\xbf"
LARGEST_TEXT = 1 << 29
"""Documents that must be parsed whole are refused above this many bytes."""

PICKLE = "Nothing a file carries is executed, so pickles are refused."
REFUSED = {
    b"\x04\x22\x4d\x18": f"an lz4-packed pickle (robot_eval_logger). {PICKLE} Write language_command, success, "
    "partial_success and policy_id of every trajectory to a CSV file and read that.",
    b"\x1f\x8b": "gzip-packed. Unpack it first.",
    b"(\xb5/\xfd": "zstd-packed. Unpack it first.",
    b"\x89HDF": "HDF5. Write the table of rollouts to CSV or Parquet and read that.",
    b"\xd0\xcf\x11\xe0": "an old Office file (.xls). Save the sheet as .xlsx or CSV.",
    b"ARROW1": "an Arrow file. Write it as Parquet and read that.",
    b"\xff\xfe": "UTF-16 text. Save it as UTF-8.",
    b"\xfe\xff": "UTF-16 text. Save it as UTF-8.",
}
TO_CONVERT = (
    "Load it in a program that you trust, and write plain data: numpy.save(path, array.astype(float)), "
    "or a CSV file with "
    "policy and success columns."
)


class Head:
    """The beginning of a file, and what can be seen from it; looked at once, by every importer."""

    def __init__(self, path: Path, name: str) -> None:
        """Read the first bytes of `path`, which messages call `name`."""
        self.path, self.name = path, name
        self.lines: tuple[int, ...] = ()  # the sheet's row of each line, where a sheet was written as text
        self.wanted: Mapping[str, tuple[str, ...]] = {}  # what the user wants of a column, for formats that must choose
        try:
            found = path.stat()
            if not stat.S_ISREG(found.st_mode):  # opening a pipe waits for a writer, and it can be read once only
                raise DataError(
                    "it must be a regular file; it is a pipe or a device. Write its content to a file first.",
                    source=name,
                )
            self.size = found.st_size
            with path.open("rb") as file:
                self.start = file.read(START)
        except OSError as error:
            missing = isinstance(error, FileNotFoundError)
            why = "there is no such file" if missing else f"the file must be readable; {error.strerror or error}"
            raise DataError(f"{why}.", source=name) from None

    def refuse_unsafe(self) -> None:
        """Refuse what is empty, packed or would have to be executed."""
        if not self.start.strip(b"\x00 \t\r\n\xef\xbb\xbf"):
            raise DataError("the file must hold rollouts; it is empty.", source=self.name)
        for magic, what in REFUSED.items():
            if self.start.startswith(magic):
                raise DataError(f"the file must be plain data; it is {what}", source=self.name)
        if isinstance(self._decoded, UnicodeDecodeError) and self.start[:1] != b"\x80":
            raise DataError(
                f"text must be UTF-8; byte {self._decoded.start} is not. Save the file as UTF-8.", source=self.name
            )
        if "content.xml" in self.members and "mimetype" in self.members:
            raise DataError(
                "the file must be plain data; it is an OpenDocument file. Save the sheet as .xlsx or CSV.",
                source=self.name,
            )
        torch = any(member.endswith("data.pkl") for member in self.members)
        if torch or (self.start[:1] == b"\x80" and self.start[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05")):
            kind = "a torch checkpoint, which is a pickle" if torch else "a pickle"
            raise DataError(f"the file must be plain data; it is {kind}. {PICKLE} {TO_CONVERT}", source=self.name)

    @functools.cached_property
    def members(self) -> tuple[str, ...]:
        """The names inside a zip file; none when it is not one."""
        if not self.start.startswith(b"PK\x03\x04"):
            return ()
        try:
            with zipfile.ZipFile(self.path) as archive:
                return tuple(archive.namelist())
        except BROKEN as error:
            raise DataError(f"the zip file must be complete and undamaged; {error}.", source=self.name) from None

    @functools.cached_property
    def text(self) -> str:
        """The beginning as text; empty when it is not text."""
        return self._decoded if isinstance(self._decoded, str) else ""

    @functools.cached_property
    def _decoded(self) -> str | UnicodeDecodeError:
        if b"\x00" in self.start or self.start.startswith((b"PAR1", b"PK\x03\x04", b"\x93NUMPY")):
            return ""
        try:
            return codecs.getincrementaldecoder("utf-8-sig")().decode(self.start, final=self.size <= START)
        except UnicodeDecodeError as error:
            return error

    def whole_text(self) -> str:
        """All of a text file that must be read whole."""
        if self.size > LARGEST_TEXT:
            raise DataError(
                f"a file of this kind must be at most {LARGEST_TEXT >> 20:,} MiB; got {self.size >> 20:,} MiB. "
                "Write its rollouts to Parquet or CSV, which are read piece by piece.",
                source=self.name,
            )
        return utf8(self.path.read_bytes(), self.name)

    @functools.cached_property
    def is_json(self) -> bool:
        """Whether the text starts like a JSON object or a list of lists or objects; a log may start with [12:30]."""
        return bool(STARTS.match(self.text))

    @property
    def kind(self) -> Literal["packed", "json", "xml", "text"]:
        """What the file begins with, by which the formats it may be of are chosen."""
        if not self.text:
            return "packed"
        return "json" if self.is_json else "xml" if self.text.lstrip().startswith("<") else "text"

    @functools.cached_property
    def first_record(self) -> dict[str, Any] | None:
        """The first line when it is a JSON object of its own and more follow: JSON Lines."""
        if not self.is_json:
            return None
        with self.path.open("rb") as file:
            line = b""
            while not line.strip(BLANK) and (line := file.readline(LONGEST_LINE)):
                pass
            more = any(file.read(START).strip() for _ in range(4))
        if not more:
            return None
        try:
            record = json.loads(line.decode("utf-8-sig"))
        except (ValueError, RecursionError):
            return None
        return record if isinstance(record, dict) else None

    @functools.cached_property
    def record_keys(self) -> frozenset[str]:
        """The keys of the objects that a file lists, or of its first lines: each may leave out what is empty."""
        if self.first_record is None:
            listed = self.document if isinstance(self.document, list) else []
            return frozenset(str(key) for one in listed if isinstance(one, dict) for key in one)
        found = set(self.first_record)
        for line in self.text.splitlines()[1:]:
            try:
                found.update(json.loads(line))
            except (ValueError, TypeError, RecursionError):  # the last of the beginning is mostly cut
                break
        return frozenset(map(str, found))

    @functools.cached_property
    def document(self) -> Any:
        """The parsed JSON document; None when the file is not JSON or has an object per line.

        Raises:
            DataError: It starts like JSON and does not parse.
        """
        if not self.is_json or self.first_record is not None:
            return None
        return parsed(self.whole_text(), self.name)

    @functools.cached_property
    def json_object(self) -> dict[str, Any]:
        """The JSON document when it is an object; otherwise empty."""
        return self.document if isinstance(self.document, dict) else {}

    @functools.cached_property
    def separator(self) -> str:
        """What separates the cells of the first line."""
        line = self._first_line
        return max(",\t;|", key=line.count)

    @functools.cached_property
    def header(self) -> tuple[str, ...]:
        """The cells of the first line of a text file that is not JSON."""
        if not self.text or self.is_json:
            return ()
        line = self._first_line
        if line.count(self.separator) >= MOST_COLUMNS:
            raise too_wide(line.count(self.separator) + 1, self.name)
        try:
            return tuple(next(csv.reader(io.StringIO(line), delimiter=self.separator), ()))
        except csv.Error as error:
            raise DataError(f"the header must be delimited text; {error}.", source=self.name, row=0) from None

    @functools.cached_property
    def plain_header(self) -> frozenset[str]:
        """The header as column names are compared."""
        return frozenset(plain(name) for name in self.header)

    @functools.cached_property
    def _first_line(self) -> str:
        first = self.text.split("\n", 1)[0]
        if "\n" not in self.text and self.size > START:
            with self.path.open("rb") as file:
                line = file.readline(LONGEST_LINE)
            if len(line) == LONGEST_LINE:
                raise DataError(
                    f"a line must be shorter than {LONGEST_LINE >> 20} MiB; the first is longer.", source=self.name
                )
            first = utf8(line, self.name)
        return first.rstrip("\r\n")


def utf8(content: bytes, source: str, *, row: int | None = None, encoding: str = "utf-8-sig") -> str:
    """Bytes as text."""
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise DataError(f"text must be UTF-8; byte {error.start} is not.", source=source, row=row) from None
