"""A frame with any column names as the canonical table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any, TypeVar, cast

from surefoot import _check
from surefoot._arguments import in_python, write
from surefoot.core import formatting
from surefoot.core.formatting import one_line
from surefoot.core.notes import Noted
from surefoot.core.words import USUAL, Words
from surefoot.errors import DataError
from surefoot.table import cells
from surefoot.table.cells import Cell
from surefoot.table.columns import COLUMNS, OTHER_NAMES, match, plain
from surefoot.table.scoring import Scoring

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

AnyFrame = TypeVar("AnyFrame", bound="pl.LazyFrame | nw.LazyFrame[Any]")
BAD = "__bad__"
REST = "__rest__"
"""A hash of the cells that are not read, for rows that differ in nothing else."""
LABEL = "note"
"""A canonical column of text: labels of any name are read as its cells are."""
MEASURES = ("metric:", "score:")
"""How importers name the measures of a log that were not chosen; they say so themselves."""
GUESSED = ("order", "score", "reward", "steps", "duration")
"""Columns of numbers that no answer needs; beside a success, the score too."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user said about a frame's columns.

    Attributes:
        columns: The frame's name of each canonical column; empty for one that is to be left out.
        scoring: How scores are written.
        policies_in: The columns that are policies, when each has one; None when not said.
        named: Whether the `policy` column was added by the reader, so that messages do not list it.
        where: The values that are wanted of a column; rows with others are left out.
        sheet: The sheet to read of a workbook; its first when None.
        kept: The frame's columns that are kept as labels although no canonical column is made of them.
        fields: Paths of fields inside objects that are read as columns.
        words: What the table calls its things.
        strict: Whether a file of a folder that cannot be used is refused; it is left out and named otherwise.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    scoring: Scoring = field(default_factory=Scoring)
    policies_in: tuple[str, ...] | None = None
    named: bool = False
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sheet: str | None = None
    kept: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    strict: bool = False
    words: Words = USUAL

    def __post_init__(self) -> None:
        for column in self.columns:
            if column not in COLUMNS:
                raise _check.refused("columns", f"name columns among {', '.join(COLUMNS)}", column)


@dataclass(frozen=True, slots=True)
class Canonical:
    """The canonical frame, and what must be known of how it was made.

    Attributes:
        frame: The rows.
        notes: What was guessed or found missing on the way.
        named: The frame's own name of each canonical column.
        whole: Whether it tells all rows apart that the frame does.
    """

    frame: nw.LazyFrame[Any]
    notes: tuple[Noted, ...]
    named: Mapping[str, str]
    whole: bool = True


def from_polars(frame: pl.LazyFrame, asked: Asked, *, source: str, hold: bool) -> Canonical:
    """The canonical table of a polars frame.

    Args:
        frame: The rows as they come; text is parsed.
        asked: What the user said.
        source: The file's name, for messages.
        hold: Read it once and keep it in memory, instead of reading it again for every question.
    """
    import narwhals as nw
    import polars as pl

    frame, asked = _in_one_line(frame, asked)
    schema = frame.collect_schema()
    found, notes = _found(list(schema), asked, source)

    def parse(column: str, name: str) -> Cell:
        percent = asked.scoring.percent if column == "score" else None
        return cells.by_polars(column, name, schema[name], source, percent=percent)

    parsed, parts = _parsed(parse, found, asked.scoring, pl)
    bad = pl.any_horizontal(cell.bad for cell in parsed.values())
    values: dict[str, pl.Expr] = {column: cell.value for column, cell in parsed.items()}
    labels = label_names(schema, found, asked)
    values |= {column: _as_label(name, schema[name], source) for column, name in labels.items()}
    rest = [name for name in unread(schema, found) if schema[name] != pl.Object]
    hashed = {REST: pl.struct(rest).hash()} if rest else {}
    if hold:
        table = frame.select(**values, **hashed, **{BAD: bad}).collect(engine="streaming")
        total, wrong = table.height, bool(table[BAD].any())
        missing = table.select(_no_outcome({column: pl.col(column) for column in values}).sum()).item() if total else 0
        kept = table.drop(BAD).lazy()
    else:
        parsed_as = frame.select(**values).collect_schema()
        elsewhere = {"score"} if asked.scoring.must else set()  # made of other cells than those of its column
        same = [
            column for column, name in found.items() if column not in elsewhere and parsed_as[column] == schema[name]
        ]
        as_is = (values[column].eq_missing(pl.col(found[column])).all().alias(column) for column in same)
        counts = (pl.len().alias("__all__"), bad.any().alias(BAD), _no_outcome(values).sum().alias("__none__"))
        total, wrong, missing, *tidy = frame.select(*counts, *as_is).collect(engine="streaming").row(0)
        # A column whose cells are canonical as they stand need not be parsed again for every question.
        values |= {column: pl.col(found[column]) for column, stands in zip(same, tidy, strict=True) if stands}
        kept = frame.select(**values, **hashed)
    if wrong:
        garbled = [at for at in _unasked(found, asked) if frame.select(parsed[at].bad.any()).collect().item()]
        if not garbled:
            raise _first_bad(frame, parsed, parts, found, asked, bad, source)
        why = (_first_bad(frame, {at: parsed[at]}, parts, found, asked, parsed[at].bad, source) for at in garbled)
        less = replace(
            asked,
            columns={**asked.columns, **dict.fromkeys(garbled, "")},
            kept=(*asked.kept, *(found[at] for at in garbled)),
        )
        made = from_polars(frame, less, source=source, hold=hold)
        left = (f"{found[at]!r} is left out: {error}" for at, error in zip(garbled, why, strict=True))
        return replace(made, notes=(*made.notes, *left))
    return Canonical(nw.from_native(kept), (*notes, *_missing(missing, total, source)), {**found, **labels})


def from_engine(frame: nw.LazyFrame[Any], asked: Asked, *, source: str) -> Canonical:
    """The canonical table of a frame of any other engine, checked where the data are."""
    import narwhals as nw

    frame, asked = _in_one_line(frame, asked)
    schema = frame.collect_schema()
    found, notes = _found(list(schema), asked, source)

    def parse(column: str, name: str) -> Cell:
        return cells.by_narwhals(column, name, schema[name], source)

    parsed, parts = _parsed(parse, found, asked.scoring, nw)
    values = {column: cell.value for column, cell in parsed.items()}
    labels = {
        column: name for column, name in label_names(schema, found, asked).items() if _plain_type(schema[name], nw)
    }
    flags = [cell.bad.cast(nw.Int64).sum().alias(column) for column, cell in parsed.items()]
    counts = (nw.len().alias("__all__"), _no_outcome(values).cast(nw.Int64).sum().alias("__none__"))
    counted = small(frame.select(*flags, *counts))
    for column, cell in parsed.items():
        if counted[column][0]:
            first = frame.filter(cell.bad).head(1)
            wrong = [part.bad.cast(nw.Int64).alias(name) for name, part in zip(asked.scoring.needs, parts, strict=True)]
            name = _cell_at_fault(column, found, asked, small(first.select(*wrong)) if wrong else {})
            value = small(first.select(name))[name][0]
            raise _refused(column, name, value, asked, source=source, row=None)
    said = _missing(int(counted["__none__"][0] or 0), int(counted["__all__"][0]), source)
    kept = (cells.by_narwhals(LABEL, name, schema[name], source).value.alias(column) for column, name in labels.items())
    return Canonical(
        frame.select(*(value.alias(column) for column, value in values.items()), *kept),
        (*notes, *said),
        {**found, **labels},
        whole=not unread(schema, found),
    )


def _in_one_line(frame: AnyFrame, asked: Asked) -> tuple[AnyFrame, Asked]:
    """The frame with headers of one line each, so that none can print lines of its own."""
    header = list(frame.collect_schema())
    new = {name: one_line(name) for name in header if one_line(name) != name}
    for name, shown in new.items():
        if shown in header or list(new.values()).count(shown) > 1:
            new[name] = repr(name)[1:-1]
    if not new:
        return frame, asked
    columns = {column: new.get(name, name) for column, name in asked.columns.items()}
    less = replace(asked, columns=columns, kept=tuple(new.get(name, name) for name in asked.kept))
    return cast("AnyFrame", frame.rename(new)), less


def label_names(schema: Iterable[str], found: Mapping[str, str], asked: Asked) -> dict[str, str]:
    """The columns that are kept as they are, by the name they have in the table: the file's own, where it is free."""
    names: dict[str, str] = {}
    for name in _unused(list(schema), found, asked):
        column = name
        while column in COLUMNS or column in names:
            column = f"{column}_"
        names[column] = name
    return names


def _as_label(name: str, kind: pl.DataType, source: str) -> pl.Expr:
    """Cells as labels, as those of a canonical column of text; cells that hold lists, objects or no number as none."""
    import polars as pl

    if kind.is_nested() or kind in (pl.Object, pl.Binary):
        return pl.lit(None, pl.String)
    cell = cells.by_polars(LABEL, name, kind, source)
    return pl.when(~cell.bad).then(cell.value)


def _plain_type(kind: Any, library: Any) -> bool:
    return not isinstance(kind, (library.List, library.Struct, library.Array, library.Binary))


def home(frame: nw.LazyFrame[Any]) -> pl.DataFrame:
    """Rows brought home from any engine, as a polars frame."""
    import polars as pl

    if not frame.implementation.is_polars():
        return pl.DataFrame(small(frame), infer_schema_length=None)
    held: pl.DataFrame = frame.to_native().collect(engine="streaming")
    return held


def small(frame: nw.LazyFrame[Any]) -> dict[str, list[Any]]:
    """A small result brought home from any engine, as lists."""
    if frame.implementation.is_polars():
        return home(frame).to_dict(as_series=False)
    there = frame.collect()
    return {name: [_known(value) for value in there[name].to_list()] for name in there.columns}


def _known(value: Any) -> Any:
    """A cell, or None where a library says in its own way that there is none: NaN, NaT, or pandas' NA."""
    return None if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value else value


def _found(header: list[str], asked: Asked, source: str) -> tuple[dict[str, str], tuple[Noted, ...]]:
    for column, name in asked.columns.items():
        if name and name not in header:
            raise _absent(column, name, header, source)
    for name in asked.scoring.needs:
        if name not in header:
            raise _absent("rubric", name, header, source)
    free = [name for name in header if name not in asked.scoring.needs]
    found, notes = match(free, asked.columns)
    if "policy" not in found:
        raise DataError(
            f"there must be a `policy` column; got {_list(header)}.",
            source=source,
            cure=f"Say which it is, {write('columns', {'policy': None})}, or name the one policy, "
            f"{write('policy', 'new')}.",
        )
    theirs = [name for name in header if name != "policy"] if asked.named else header
    scored = "score" in found or asked.scoring.needs or (asked.scoring.stages and "stage" in found)
    if asked.scoring.stages and "stage" not in found:
        raise _absent("stage", "stage", header, source)
    if "success" not in found and not scored:
        if "stage" in found:
            raise DataError(
                f"stages must be in order to be scores; {cells.called('stage', found['stage'])} names them only.",
                source=source,
                cure=in_python(
                    f"Say the order, from the least to the most: {write('stages', ['reach', 'grasp', 'place'])}.",
                    "Add a column of scores, such as 0, 0.5 and 1 for reach, grasp and place; or read it in Python, "
                    "where surefoot.read is told the order.",
                ),
            )
        raise DataError(
            f"there must be a `success` or a `score` column; got {_list(theirs)}.",
            source=source,
            cure=f"{_alike(theirs)}{_titled(theirs)}Say which it is: {write('columns', {'success': None})}, or "
            f"{write('columns', {'score': None})} with {write('low')} and {write('high')} when it does not run from 0 "
            f"to 1; or which columns are policies, {write('policies_in', [])}, when each policy has one.",
        )
    return found, notes


def _unused(header: list[str], found: Mapping[str, str], asked: Asked) -> list[str]:
    """The columns that nothing is made of, but for those that were left out on purpose and other measures of a log."""
    away = {name for column, said in asked.columns.items() if not said for name in (column, *OTHER_NAMES[column])}
    return [
        name
        for name in unread(header, found)
        if name not in asked.scoring.needs
        and (plain(name) not in away or name in asked.kept)
        and not name.startswith(MEASURES)
    ]


def unread(header: Iterable[str], found: Mapping[str, str]) -> list[str]:
    """The columns that no canonical one is made of; where a row came from tells nothing of what it is."""
    used = {*found.values(), "source"}
    return [name for name in header if name not in used]


def _unasked(found: Mapping[str, str], asked: Asked) -> list[str]:
    """Columns that are there by a guess only and can be left out: what cannot be read in them stops nobody."""
    guessed = [column for column in GUESSED if column in found and plain(found[column]) != column]
    if "success" in found and not asked.scoring.must and ("success" in asked.columns or "score" in guessed):
        guessed = list(dict.fromkeys((*guessed, "score")))
    else:
        guessed = [column for column in guessed if column != "score"]
    return [column for column in guessed if column in found and column not in asked.columns]


def _alike(header: list[str]) -> str:
    """A question when a column's name is nearly that of an outcome."""
    from difflib import get_close_matches

    for name in header[:1000]:
        for column in get_close_matches(plain(name), ("success", "score"), n=1, cutoff=0.8):
            return f"Is {name!r} the {column}? "
    return ""


def _titled(header: list[str]) -> str:
    """What to do when the first line is a title, above the header: most of its cells are empty."""
    named = [name for name in header if name and not name.startswith("_duplicated_")]
    return "Is the header further down? Delete the lines above it. " if len(named) == 1 < len(header) else ""


def _parsed(
    parse: Callable[[str, str], Cell], found: Mapping[str, str], scoring: Scoring, library: Any
) -> tuple[dict[str, Cell], list[Cell]]:
    """Every canonical column with what is bad in it, and the sub-tasks of a rubric; of polars, or of narwhals."""
    parsed = {column: parse(column, name) for column, name in found.items()}
    parts = [parse("success", name) for name in scoring.needs]
    if parts:
        parsed["score"] = scoring.share(parts)
    elif scoring.stages:
        parsed["score"] = scoring.reached(parsed["stage"], library)
    elif "score" in parsed:
        parsed["score"] = scoring.scaled(parsed["score"])
    policy = parsed["policy"]
    parsed["policy"] = Cell(policy.value, policy.bad | policy.value.is_null())
    if "valid" in parsed:
        parsed["valid"] = Cell(parsed["valid"].value.fill_null(1), parsed["valid"].bad)
    return parsed, parts


def _no_outcome(values: Mapping[str, Any]) -> Any:
    return reduce(and_, (values[column].is_null() for column in ("success", "score") if column in values))


def _first_bad(
    frame: pl.LazyFrame,
    parsed: Mapping[str, Cell],
    parts: list[Cell],
    found: Mapping[str, str],
    asked: Asked,
    bad: pl.Expr,
    source: str,
) -> DataError:

    index = "__row__"
    first = frame.with_row_index(index).filter(bad).head(1).collect(engine="streaming")
    row = int(first[index][0]) + 1
    flags = first.select(cell.bad.alias(column) for column, cell in parsed.items()).row(0, named=True)
    column = next(column for column, flag in flags.items() if flag)
    wrong = first.select(part.bad.alias(name) for name, part in zip(asked.scoring.needs, parts, strict=True))
    name = _cell_at_fault(column, found, asked, wrong.to_dict(as_series=False))
    return _refused(column, name, first[name][0], asked, source=source, row=row)


def _cell_at_fault(column: str, found: Mapping[str, str], asked: Asked, wrong: Mapping[str, list[Any]]) -> str:
    """The frame's column that holds a bad cell; of a rubric's sub-tasks, the first that is `wrong`."""
    if column == "score" and asked.scoring.needs:
        return next(name for name, (flag,) in wrong.items() if flag)
    return found["stage"] if column == "score" and asked.scoring.stages else found[column]


def _refused(column: str, name: str, value: object, asked: Asked, *, source: str, row: int | None) -> DataError:
    if column == "policy":
        return DataError(
            f"{cells.called(column, name)} must name {asked.words.a_policy} in every row; "
            f"got {'an empty cell' if value is None else repr(value)}.",
            source=source,
            row=row,
        )
    if column == "score" and asked.scoring.must:
        what = cells.called(column, name)
        return DataError(f"{what} must {asked.scoring.must}; got {value!r}.", source=source, row=row)
    return cells.wrong_cell(column, name, value, source=source, row=row)


def _absent(column: str, name: str, header: list[str], source: str) -> DataError:
    return DataError(
        f"{cells.called(column, name)} must be a column; there are {_list(header)}. This holds for every file.",
        source=source,
        cure="Where several are read, the column must have the same name in all of them.",
    )


def _list(header: list[str]) -> str:
    header = [name for name in header if name != "source"]  # mostly added on reading, to say which file a row is from
    shown = ", ".join(repr(name if len(name) <= 40 else f"{name[:37]}...") for name in header[:12])
    return f"{shown or 'no columns'}{f' and {len(header) - 12:,} more' if len(header) > 12 else ''}"


def _missing(missing: int, total: int, source: str) -> list[str]:
    """What is said of rollouts without an outcome; refused where there is none with one."""
    if total == 0:
        raise DataError("there must be at least one rollout; got a header and no rows.", source=source)
    if missing == total:
        raise DataError(f"at least one rollout must have an outcome; got {total:,} without.", source=source)
    have = "has" if missing == 1 else "have"
    who = f"{missing:,} of {formatting.rollouts(total)}"
    said = f"{who} {have} neither success nor score: kept in the table, counted in no rate or mean."
    return [said] if missing else []
