"""The columns and rows of a sheet that the user means.

Which field does a path such as `provider.id` or `stats[name.name=exact_match].mean` mean?

A path goes from the outermost object inwards: names are separated by points, `[2]` is the third item of a list and
`[key=value]` the one item whose own field has that value. A name that itself holds points is tried whole first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from surefoot.core.formatting import some_names
from surefoot.errors import DataError
from surefoot.files.importers import Sheet, series
from surefoot.files.json_files import parsed
from surefoot.table.columns import COLUMNS, match
from surefoot.table.normalising import Asked

if TYPE_CHECKING:
    import polars as pl


MISSING: Any = object()
"""What a path leads to that leads nowhere."""
ITEM = re.compile(r"\[(?P<at>\d{1,9})\]|(?P<bare>\d{1,9})(?=[.\[]|$)")
WHERE = re.compile(r"\[(?P<key>[^=\[\]]+)=(?P<value>[^\]]*)\]")
PREFIXES = ("metric:", "score:", "metadata:", "vars:")
"""How importers name a log's own measures and fields; `acc_norm` stands for `metric:acc_norm`."""


def leads_to(value: Any, path: str) -> Any:
    """What a path leads to; `MISSING` when nowhere."""
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
    own = [key for key, called in sheet.named.items() if called == name and key in header]
    if own:  # what answers print: the format's own name of a canonical column
        return sheet, own[0]
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


TRUTHS = ("true", "false")


def columns(sheet: Sheet, asked: Asked, source: str) -> tuple[Sheet, Asked]:
    """The sheet with the fields that the user names by path, and what was asked in the names of its columns."""
    header = list(sheet.frame.collect_schema())
    own_names = dict(asked.columns)
    for column, name in asked.columns.items():
        if name:
            sheet, own = column_of(sheet, name, source)
            own_names[column] = name if own is None else own
    asked = replace(asked, columns=own_names)
    for name in (*asked.where, *asked.fields):
        sheet, _ = _meant(sheet, name, asked, source)
    added = [name for name in sheet.frame.collect_schema() if name not in header]
    outer = [one for name in added if (one := outer_column(header, name)) is not None]
    taken = set(outer) - {*own_names.values(), *asked.where}
    return replace(sheet, frame=sheet.frame.drop(*taken)), asked  # an object whose fields are named means nothing else


def rows(sheet: Sheet, asked: Asked, source: str) -> pl.LazyFrame | None:
    """The rows that the user wants; None when there are none."""
    import polars as pl

    named = []
    for name in asked.where:
        sheet, own = _meant(sheet, name, asked, source)
        if own is None:
            return None
        named.append(own)
    frame = sheet.frame
    schema = frame.collect_schema()
    for own, wanted in zip(named, asked.where.values(), strict=True):
        same = pl.col(own).cast(pl.String).str.strip_chars().is_in(list(wanted))
        if schema[own].is_numeric():  # 1 is 1.0 among numbers; among names '1' is not '1.0'
            same |= pl.col(own).cast(pl.Float64).is_in([float(value) for value in wanted if _is_number(value)])
        elif schema[own] == pl.Boolean:
            same |= pl.col(own).is_in([value.casefold() == "true" for value in wanted if value.casefold() in TRUTHS])
        frame = frame.filter(same)
    done = [own for name, own in zip(asked.where, named, strict=True) if name == own and len(asked.where[name]) == 1]
    meant = match(list(schema), asked.columns)[0].values()  # a column that is read stays, though it has one value left
    kept = frame.drop(own for own in done if own not in (*meant, *COLUMNS))
    return kept if kept.head(1).collect().height else None


def _meant(sheet: Sheet, name: str, asked: Asked, source: str) -> tuple[Sheet, str | None]:
    """The column that a name means: a canonical one, one of the file's own, or a field by its path."""
    canonical = match(list(sheet.frame.collect_schema()), asked.columns)[0].get(name)
    return (sheet, canonical) if canonical is not None else column_of(sheet, name, source)


def _is_number(word: str) -> bool:
    try:
        return float(word) == float(word)
    except ValueError:
        return False


def nothing_left(sheets: list[Sheet], asked: Asked, source: str) -> DataError:
    """The refusal of a wish that no row fulfils, with what there is."""
    for name, wanted in asked.where.items():
        there: set[str] = set()
        known = False
        for sheet in sheets:
            sheet, own = _meant(sheet, name, asked, source)
            if own is not None:
                known = True
                there |= values(sheet, own)
        if not known:
            return DataError(f"rows must be chosen by a column or a field; there is no {name!r}.", source=source)
        if not there & set(wanted):
            shown = some_names([repr(one) for one in sorted(there)], 8) or "nothing"
            return DataError(
                f"at least one rollout must be chosen; {name!r} is {shown}, not {' or '.join(map(repr, wanted))}.",
                source=source,
            )
    return DataError("at least one rollout must be chosen; no row meets all the conditions.", source=source)


def values(sheet: Sheet, column: str) -> set[str]:
    """The different values of a column, as text."""
    import polars as pl

    return set(sheet.frame.select(pl.col(column).cast(pl.String)).unique().collect().to_series().drop_nulls())
