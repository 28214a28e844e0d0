"""Which field does a path such as `provider.id` or `stats[name.name=exact_match].mean` mean?

A path goes from the outermost object inwards: names are separated by points, `[2]` is the third item of a list and
`[key=value]` the one item whose own field has that value. A name that itself holds points is tried whole first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from surefoot.errors import DataError
from surefoot.files.importers import Sheet, series
from surefoot.files.json_files import parsed

if TYPE_CHECKING:
    import polars as pl

MISSING: Any = object()
"""What a path leads to that leads nowhere."""
ITEM = re.compile(r"\[(?P<at>\d{1,9})\]|(?P<bare>\d{1,9})(?=[.\[]|$)")
WHERE = re.compile(r"\[(?P<key>[^=\[\]]+)=(?P<value>[^\]]*)\]")
PREFIXES = ("metric:", "score:", "metadata:", "vars:")
"""How importers name a log's own measures and fields; `acc_norm` stands for `metric:acc_norm`."""


def leads_to(value: Any, path: str) -> Any:
    """What a path leads to; `MISSING` when nowhere.

    Raises:
        ValueError: Several items of a list have the value that one is known by.
    """
    if not path:
        return value
    if isinstance(value, Mapping):
        for key in sorted((key for key in value if _begins(path, key)), key=len, reverse=True):
            found = leads_to(value[key], path[len(key) :].removeprefix("."))
            if found is not MISSING:
                return found
        return MISSING
    if not isinstance(value, list):
        return MISSING
    if item := ITEM.match(path):
        at = int(item["at"] or item["bare"])
        return leads_to(value[at], path[item.end() :].removeprefix(".")) if at < len(value) else MISSING
    if known := WHERE.match(path):
        fits = [one for one in value if _text(leads_to(one, known["key"])) == known["value"]]
        if len(fits) > 1:
            raise ValueError(f"{path[: known.end()]} must match exactly one item; {len(fits)} have that value")
        return leads_to(fits[0], path[known.end() :].removeprefix(".")) if fits else MISSING
    return MISSING


def _begins(path: str, key: Any) -> bool:
    return (
        isinstance(key, str) and bool(key) and path.startswith(key) and path[len(key) : len(key) + 1] in ("", ".", "[")
    )


def _text(value: Any) -> str | None:
    if value is MISSING or value is None or isinstance(value, (dict, list)):
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)


def column_of(sheet: Sheet, name: str, source: str) -> tuple[Sheet, str | None]:
    """The column that a name means, and the sheet with it: a column, a log's measure, or a field inside an object.

    None when it means nothing in this sheet.
    """
    header = list(sheet.frame.collect_schema())
    if name in header:
        return sheet, name
    short = [f"{prefix}{name}" for prefix in PREFIXES if f"{prefix}{name}" in header]
    if len(short) == 1:
        return sheet, short[0]
    values = _found(sheet.records, name, source) if sheet.records else None
    if values is None:
        values = _of_cells(sheet.frame, header, name, source)
    if values is None:
        return sheet, None
    return replace(sheet, frame=sheet.frame.with_columns(series(name, values, source))), name


def outer_column(header: Iterable[str], path: str) -> str | None:
    """The column in whose cells a path begins."""
    return max((name for name in header if _begins(path, name)), key=len, default=None)


def _of_cells(frame: pl.LazyFrame, header: list[str], path: str, source: str) -> list[Any] | None:
    """A field inside the cells of a column that hold JSON objects or are structures."""
    outer = outer_column(header, path)
    if outer is None:
        return None
    cells = frame.select(outer).collect(engine="streaming").to_series().to_list()
    inner = path[len(outer) :].removeprefix(".")
    return _found((_object(cell, outer, row, source) for row, cell in enumerate(cells, 1)), inner, source)


def _object(cell: Any, column: str, row: int, source: str) -> Any:
    if not isinstance(cell, str):
        return cell
    if not cell.strip():
        return None
    if cell.lstrip()[0] not in "{[":
        raise DataError(
            f"column {column!r} must hold objects for a field inside them to be read; got {cell[:60]!r}.",
            source=source,
            row=row,
        )
    return parsed(cell, source, row=row)


def _found(records: Iterable[Any], path: str, source: str) -> list[Any] | None:
    """What a path leads to in each record; None when nowhere in any."""
    values = []
    for row, record in enumerate(records, 1):
        try:
            values.append(leads_to(record, path))
        except ValueError as error:
            raise DataError(f"a path must lead to one value; {error}.", source=source, row=row) from None
    if all(value is MISSING for value in values):
        return None
    return [None if value is MISSING else value for value in values]
