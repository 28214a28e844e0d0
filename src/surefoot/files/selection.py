"""Which columns and rows of a sheet does the user mean?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from surefoot.core.formatting import some_names
from surefoot.errors import DataError
from surefoot.files.field_paths import column_of, outer_column
from surefoot.files.importers import Sheet
from surefoot.table.columns import COLUMNS, match
from surefoot.table.normalising import Asked

if TYPE_CHECKING:
    import polars as pl

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
