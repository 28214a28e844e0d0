"""Which items does a file list, and what does it know of each beforehand? All of the list is taken, or nothing.

The order of the file means nothing: a study draws its own.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

from surefoot.errors import DataError
from surefoot.table.cells import reading

NAMES = ("item", "items", "item_id", "instance_id", "id", "condition", "task_id", "sample_id")
"""What the column of items is called."""
LARGEST = 64 << 20


@dataclass(frozen=True, slots=True)
class ItemFile:
    """A list of items as a file has it.

    Attributes:
        source: The file's name.
        items: The items, in the order of the file.
        columns: What stands beside them, by the column's name; empty cells are empty.
    """

    source: str
    items: tuple[str, ...]
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def numbers(self, column: str, ends: tuple[float, float]) -> tuple[float, ...]:
        """A number for every item, from a column of this file."""
        if column not in self.columns:
            others = ", ".join(map(repr, self.columns)) or "none besides the items"
            raise DataError(f"the file must have a column {column!r}; got {others}.", source=self.source)
        cells = zip(self.items, self.columns[column], strict=True)
        return tuple(self._number(word, item, row, ends) for row, (item, word) in enumerate(cells, 1))

    def _number(self, word: str, item: str, row: int, ends: tuple[float, float]) -> float:
        value = reading(word)
        if value is None:
            got = f"{word[:60]!r}" if word else "none"
            message = f"there must be a number, yes or no for every item; got {got} for {item!r}."
            raise DataError(message, source=self.source, row=row)
        if not ends[0] <= value <= ends[1]:  # also refuses NaN
            message = f"a number must lie between {ends[0]:g} and {ends[1]:g}; got {word[:60]} for {item!r}."
            raise DataError(message, source=self.source, row=row)
        return value


def read_items(path: str | PathLike[str]) -> ItemFile:
    """The list of items in a file: a CSV with a column `item`, or a text (.txt) with an item on every line."""
    place = Path(path)
    text = _text(place)
    if place.suffix.lower() == ".txt":
        items = [line.strip() for line in text.splitlines()]
        found = ItemFile(place.name, _each_once([item for item in items if item], place.name))
    else:
        found = _table(text, place.name)
    if not found.items:
        raise DataError("the list must have at least one item; got none.", source=place.name)
    return found


def numbers_for(items: Sequence[str], path: str | PathLike[str], ends: tuple[float, float]) -> tuple[float, ...]:
    """A number for every item of a list, from a file with the items and one more column, in the order of the list."""
    found = read_items(path)
    if len(found.columns) != 1:
        others = ", ".join(map(repr, found.columns)) or "none"
        raise DataError(f"the file must have one column besides the items; got {others}.", source=found.source)
    known, listed = dict.fromkeys(found.items), set(items)
    for row, item in enumerate(found.items, 1):
        if item not in listed:
            raise DataError(f"an item must be on the declared list; {item!r} is not.", source=found.source, row=row)
    missing = [item for item in items if item not in known]
    if missing:
        more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        message = f"there must be a number for every item of the list; got none for {missing[0]!r}{more}."
        raise DataError(message, source=found.source)
    values = dict(zip(found.items, found.numbers(next(iter(found.columns)), ends), strict=True))
    return tuple(values[item] for item in items)


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST:
            raise DataError(f"a list of items must be at most {LARGEST >> 20} MiB.", source=path.name)
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("a list of items must be text, a CSV or one item on every line.", source=path.name) from None
    except OSError as error:
        raise DataError(f"the list of items cannot be read: {error.strerror or error}.", source=str(path)) from None


def _table(text: str, source: str) -> ItemFile:
    try:
        mark = "\t" if "\t" in text.split("\n", 1)[0] else ","
        lines = [line for line in csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True) if line]
    except csv.Error as error:
        raise DataError(f"a list of items must be a CSV; {error}.", source=source) from None
    header, *rows = lines or [[]]
    header = [name.strip() for name in header]
    named = next((name for wanted in NAMES for name in header if name.casefold() == wanted), None)
    if named is None:
        got = ", ".join(map(repr, header)) or "nothing"
        raise DataError(f"the items must be in a column `item`; got {got}.", source=source)
    for row, cells in enumerate(rows, 1):
        if len(cells) != len(header):
            message = f"every row must have the {len(header)} cells of the header; got {len(cells)}."
            raise DataError(message, source=source, row=row)
    columns = {name: tuple(cells[at].strip() for cells in rows) for at, name in enumerate(header)}
    items = _each_once(columns.pop(named), source)
    return ItemFile(source, items, columns)


def _each_once(items: Sequence[str], source: str) -> tuple[str, ...]:
    seen: dict[str, int] = {}
    for row, item in enumerate(items, 1):
        if not item:
            raise DataError("an item must have a name; got an empty cell.", source=source, row=row)
        if item in seen:
            message = f"each item must be listed once; {item!r} is in row {seen[item]} too."
            raise DataError(message, source=source, row=row)
        seen[item] = row
    return tuple(items)
