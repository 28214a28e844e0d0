"""Lines of a delimited file that are not the rows its header promises.

A parser fills a row that was cut off with nothing, and takes a stray quote for the start of a cell that ends where the
next quote happens to stand: the rows between are gone and nobody says so. Both are found here, in files of any size,
before anything is parsed: separators and line ends are counted outside quotes, a few MiB at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from surefoot.core import formatting
from surefoot.errors import DataError
from surefoot.table.cells import NO, YES
from surefoot.table.columns import match

if TYPE_CHECKING:
    import numpy as np

    Places = np.ndarray[Any, Any]

PIECE = 1 << 22
LONGEST_ROW = 1 << 26
QUOTE, LINE, RETURN = b'"\n\r'
SHOWN = 32


class Rows(NamedTuple):
    """How many rows follow the header, and how many lines hold nothing but separators."""

    rows: int
    blank: int


class _Fault(NamedTuple):
    """What is wrong with a row of a piece, counted from the piece's first."""

    row: int
    says: str


def checked(file: BinaryIO, *, header: Sequence[str], separator: str, source: str) -> Rows:
    """Count the rows of a delimited file.

    Args:
        file: The bytes, from the header on.
        header: The names of the columns.
        separator: What separates cells.
        source: How messages call the file.
    """
    sheet = _Sheet(tuple(header), separator)
    rest, size, rows, blank, read = b"", PIECE, 0, 0, 0
    while True:
        block = file.read(size)
        text = rest + block
        if not read and not rest:
            text = text.removeprefix(b"\xef\xbb\xbf")
        if not text:
            return Rows(max(rows - 1, 0), blank)
        if not block and not text.endswith(b"\n"):
            text += b"\n"
        cut, piece = _piece(text, sheet)
        if piece is None:
            if not block or len(text) > LONGEST_ROW:
                raise DataError(_unclosed(text, separator), source=source, row=rows)
            rest, size = text, 2 * size
            continue
        _utf8(text[:cut], read, source)
        if isinstance(piece, _Fault):
            raise DataError(piece.says, source=source, row=rows + piece.row)
        rows, blank = rows + piece.rows, blank + piece.blank
        read, rest, size = read + cut, text[cut:], PIECE


class _Sheet(NamedTuple):
    """The header's names and what separates cells."""

    header: tuple[str, ...]
    separator: str

    @property
    def width(self) -> int:
        return len(self.header)

    def fits(self, cells: list[str], first: int) -> bool:
        """Whether these cells, of columns from `first` on, could be a row's: an outcome among them can be read."""
        known = match(self.header, {})[0]
        for column in ("success", "score"):
            at = self.header.index(known[column]) - first if column in known else -1
            if 0 <= at < len(cells) and not _outcome(cells[at].strip().casefold(), column):
                return False
        return True


def _outcome(cell: str, column: str) -> bool:
    if not cell or cell in YES or cell in NO:
        return True
    try:
        float(cell.removesuffix("%"))
    except ValueError:
        return False
    return column == "score"


def _piece(text: bytes, sheet: _Sheet) -> tuple[int, Rows | _Fault | None]:
    """Where the last whole row of a piece ends, and its rows or what is wrong in them; None when no row ends in it."""
    import numpy as np

    buffer = np.frombuffer(text, np.uint8)
    quotes = broken = np.empty(0, np.int64)
    if QUOTE in text:
        marks = np.flatnonzero((buffer == QUOTE) | (buffer == LINE) | (buffer == ord(sheet.separator)))
        kinds = buffer[marks]
        inside = np.logical_xor.accumulate(kinds == QUOTE)
        lines, broken = marks[(kinds == LINE) & ~inside], marks[(kinds == LINE) & inside]
        quotes, cells = marks[kinds == QUOTE], marks[(kinds == ord(sheet.separator)) & ~inside]
    else:
        lines, cells = np.flatnonzero(buffer == LINE), np.flatnonzero(buffer == ord(sheet.separator))
    if not len(lines):
        return 0, None
    cut = int(lines[-1]) + 1
    starts = np.concatenate(([0], lines[:-1] + 1))
    quotes, broken, cells = (places[: np.searchsorted(places, cut)] for places in (quotes, broken, cells))
    faults, exact = _quotes(text, starts, lines, quotes, sheet)
    if len(broken):
        faults += _swallowed(text, starts, quotes, broken, cells, sheet)
    filled = lines - starts
    nothing = (filled == 0) | ((filled == 1) & (buffer[starts] == RETURN))
    blank = int(nothing.sum()) if filled.min() <= 1 else 0
    wrong = _miscounted(cells, starts, lines, nothing if blank else None, exact, sheet.width)
    empty = _empty(buffer, starts, filled, cells, sheet.width)
    if len(empty):
        nothing[empty] = True
        blank += len(empty)
    row_of = np.cumsum(~nothing) - 1 if blank else None
    if wrong is not None:
        at, got = wrong
        first = min((fault.row for fault in faults), default=at + 1)
        if at < first:
            faults = [_too_many_or_few(text[starts[at] : lines[at]], at, got, sheet)]
    if faults:
        fault = min(faults)
        return cut, fault if row_of is None else fault._replace(row=int(row_of[fault.row]))
    return cut, Rows(len(lines) - blank, blank)


def _empty(buffer: Places, starts: Places, filled: Places, cells: Places, width: int) -> Places:
    """The rows that are separators alone, as a spreadsheet writes its empty ones."""
    import numpy as np

    if width == 1 or filled.min() > width:  # nearly always: each row is longer
        return np.empty(0, np.int64)
    last = buffer[np.maximum(starts + filled - 1, 0)]
    bare = filled - ((filled > 0) & (last == RETURN))
    few = np.flatnonzero(bare == width - 1)
    met = np.searchsorted(cells, starts[few] + bare[few]) - np.searchsorted(cells, starts[few])
    found: Places = few[met == width - 1]
    return found


def _miscounted(
    cells: Places, starts: Places, lines: Places, nothing: Places | None, exact: dict[int, int], width: int
) -> tuple[int, int] | None:
    """The first row whose cells are more or fewer than the header's, and how many it has."""
    import numpy as np

    if nothing is None and not exact and len(cells) == (width - 1) * len(lines):
        each = cells.reshape(len(lines), width - 1)
        if width == 1 or bool((each[:, 0] >= starts).all() and (each[:, -1] < lines).all()):
            return None
    counts = np.searchsorted(cells, lines) - np.searchsorted(cells, starts) + 1
    for row, got in exact.items():
        counts[row] = got
    if nothing is not None:
        counts[nothing] = width
    bad = np.flatnonzero(counts != width)
    return (int(bad[0]), int(counts[bad[0]])) if len(bad) else None


def _quotes(
    text: bytes, starts: Places, lines: Places, quotes: Places, sheet: _Sheet
) -> tuple[list[_Fault], dict[int, int]]:
    """Quotes that neither open nor close a cell: the first fault, or the cells of rows where they do no harm."""
    import numpy as np

    buffer = np.frombuffer(text, np.uint8)
    opens, closes = quotes[0::2], quotes[1::2]
    fine = np.zeros(256, np.bool_)
    fine[[ord(sheet.separator), LINE, RETURN, QUOTE]] = True
    opened = fine[buffer[opens - 1]] | (opens == 0)
    exact: dict[int, int] = {}
    for place in np.flatnonzero(~(opened & fine[buffer[closes + 1]])):
        start, end = int(opens[place]), int(closes[place])
        row = int(np.searchsorted(starts, start, side="right")) - 1
        if row in exact:
            continue
        if b"\n" not in text[start:end]:
            cells = _cells(text[int(starts[row]) : int(lines[row])].rstrip(b"\r"), sheet.separator.encode())
            if cells is not None:
                exact[row] = cells
                continue
        elif opened[place]:
            return [_Fault(row, _across(text[start + 1 : end], None))], exact
        return [_Fault(row, _stray(_from_cell(text, start, sheet.separator), sheet.separator))], exact
    return [], exact


def _cells(row: bytes, separator: bytes) -> int | None:
    """How many cells a row has when a quote inside a cell that is not quoted is a mere character; None when broken."""
    count, at = 0, 0
    while True:
        count += 1
        if row.startswith(b'"', at):
            at = row.find(b'"', at + 1) + 1
            while at and row.startswith(b'"', at):
                at = row.find(b'"', at + 1) + 1
            if at == len(row):
                return count
            if not at or not row.startswith(separator, at):
                return None
            at += 1
        else:
            end = row.find(separator, at)
            if row.find(b"\n", at, end if end >= 0 else len(row)) >= 0:
                return None  # its quotes hide a line end
            if end < 0:
                return count
            at = end + 1


def _swallowed(
    text: bytes, starts: Places, quotes: Places, broken: Places, cells: Places, sheet: _Sheet
) -> list[_Fault]:
    """The first cell over several lines that would be as many whole rows without its quotes."""
    import numpy as np

    opens, closes = quotes[0::2], quotes[1::2]
    last = -1
    for pair in np.unique(np.searchsorted(opens, broken) - 1):
        if pair <= last:
            continue
        first = last = int(pair)
        while first and opens[first] == closes[first - 1] + 1:
            first -= 1
        while last + 1 < len(opens) and opens[last + 1] == closes[last] + 1:
            last += 1
        start, end = int(opens[first]), int(closes[last])
        row = int(np.searchsorted(starts, start, side="right")) - 1
        at = int(np.searchsorted(cells, start) - np.searchsorted(cells, starts[row]))
        inside = text[start + 1 : end].decode(errors="replace").split("\n")
        ends = [(inside[0], at, sheet.width - at), (inside[-1], 0, at + 1)]
        between = [(part, 0, sheet.width) for part in inside[1:-1] if part.strip()]
        if inside[-1].strip() and all(_row(part, where, count, sheet) for part, where, count in (*ends, *between)):
            return [_Fault(row, _across(text[start + 1 : end], sheet.header[at] if at < sheet.width else None))]
    return []


def _row(part: str, first: int, count: int, sheet: _Sheet) -> bool:
    """Whether a line is the cells of columns `first` on, as many as there must be."""
    cells = part.replace('"', "").split(sheet.separator)
    return len(cells) == count and sheet.fits(cells, first)


def _too_many_or_few(line: bytes, row: int, got: int, sheet: _Sheet) -> _Fault:
    start = line.find(b'"')
    if b"\n" in line and start >= 0:
        return _Fault(row, _across(line[start + 1 : max(line.rfind(b'"'), start + 1)], None))
    last = line.rstrip(b"\r\n").rpartition(sheet.separator.encode())[2]
    return _Fault(row, f"a row must have as many cells as the header, {sheet.width:,}; got {got:,}.{_last(last)}")


def _last(cell: bytes) -> str:
    """The end of a row, where it was cut off or went on."""
    return f" It ends with {_end(cell)}." if cell.strip() else ""


def _across(cell: bytes, name: str | None) -> str:
    lines = formatting.counted(cell.count(b"\n"), "line")
    where = f" in column {name!r}" if name is not None else ""
    return (
        f"a quoted cell must end in its own row; the one{where} that begins with {_begin(cell)} ends {lines} below, "
        f"with {_end(cell)}. Remove the extra quote. If the line breaks belong to the cell, remove them instead."
    )


def _stray(rest: bytes, separator: str) -> str:
    """The refusal of a quote in the middle of a cell; `rest` is its line from the cell's start on."""
    cell = rest.rstrip(b"\r")
    end = cell.find(separator.encode(), cell.find(b'"', 1))
    return (
        f"a quote must be at both ends of a cell; got {_end(cell[:end] if end > 0 else cell)}. "
        "Remove the quote, or double it inside a quoted cell."
    )


def _unclosed(text: bytes, separator: str) -> str:
    """The refusal of a row that never ends: of the quote in it that is closed in another line or nowhere."""
    start, end = text.find(b'"'), 0
    while start >= 0:
        end = text.find(b'"', start + 1)
        if end < 0 or b"\n" in text[start:end]:
            break
        start = text.find(b'"', end + 1)
    if start < 0:
        return f"a row must be shorter than {LONGEST_ROW >> 20} MiB; it begins with {_begin(text)}."
    if start and text[start - 1] not in (ord(separator), LINE):
        return _stray(_from_cell(text, start, separator), separator)
    if end >= 0:
        return _across(text[start + 1 : end], None)
    cell = text[start + 1 :]
    return (
        f"a quoted cell must be closed; the one that begins with {_begin(cell)} is still open at the end of the file."
    )


def _from_cell(text: bytes, place: int, separator: str) -> bytes:
    """The rest of a line from the start of the cell on that holds this place."""
    begin = 1 + max(text.rfind(mark, 0, place) for mark in (b"\n", separator.encode()))
    return text[begin:].split(b"\n", 1)[0]


def _begin(cell: bytes) -> str:
    shown = cell[: 4 * SHOWN].split(b"\n", 1)[0].rstrip(b"\r").decode(errors="replace")
    return repr(shown[:SHOWN])


def _end(cell: bytes) -> str:
    shown = cell[-4 * SHOWN :].rstrip(b"\r\n").rpartition(b"\n")[2].decode(errors="replace")
    return repr(shown[-SHOWN:])


def _utf8(text: bytes, offset: int, source: str) -> None:
    if text.isascii():
        return
    try:
        text.decode()
    except UnicodeDecodeError as error:
        place = offset + error.start
        raise DataError(f"text must be UTF-8; {error.reason} at byte {place}.", source=source) from None
