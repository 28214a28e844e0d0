"""Files, folders and frames as one table of rollouts."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

from surefoot import _check
from surefoot._arguments import in_python
from surefoot.core.formatting import some_names
from surefoot.core.notes import Note, Noted
from surefoot.core.words import Words, worded
from surefoot.errors import DataError
from surefoot.files import naming, selection
from surefoot.files.folders import Found, polars_errors, sheets_of, walk
from surefoot.files.importers import Sheet, told_apart
from surefoot.files.wide_tables import unpivoted
from surefoot.table.columns import match, words_of
from surefoot.table.findings import Finding
from surefoot.table.normalising import Asked, Canonical, from_engine, from_polars, unread
from surefoot.table.rollouts import Collected, Rollouts
from surefoot.table.scoring import Scoring

P = ParamSpec("P")
R = TypeVar("R")


def read(
    data: Any,
    *,
    columns: Mapping[str, str] | None = None,
    policy: str | Sequence[str] | None = None,
    low: float | None = None,
    high: float | None = None,
    rubric: int | Sequence[str] | None = None,
    stages: Sequence[str] | None = None,
    collected: Collected | None = None,
    policies_in: Sequence[str] | None = None,
    where: Mapping[str, str | Sequence[str]] | None = None,
    sheet: str | None = None,
    fields: Sequence[str] = (),
    strict: bool = False,
) -> Rollouts:
    """The rollouts in a file, several files, a folder or a frame, as one table.

    Files are recognised by their content. What was guessed is in the table's `notes`. Every row is read or none.

    Args:
        data: A path, a folder, a list of paths, or a frame of polars, pandas, DuckDB, Dask or Spark.
        columns: The names of your columns, by canonical name: ``{"policy": "method", "score": "progress"}``; a path
            such as ``provider.id`` means a field inside an object; an empty name leaves that column out.
        policy: The policy's name, for a file that does not name it; one per file when several files are given; two
            for a `.npy` file, which has a column for each.
        low: The least score possible. It must be known beforehand; 0 when not said.
        high: The greatest score possible; 1 when not said.
        rubric: The number of sub-tasks when `score` counts those passed, or the sub-tasks' columns.
        stages: The names in `stage`, from the least to the most, when the score is the stage reached.
        collected: How environments were met, when you know: one, shared, independent or stratified.
        policies_in: The columns that are policies, when each policy has a column of its own and a row is what they
            share; guessed where nothing else is possible.
        where: The rows to read, by a column's values: ``{"task": "gsm8k", "filter": ["strict-match"]}``; columns are
            canonical, the file's own, or paths.
        sheet: The sheet of an Excel workbook; its first when not said.
        fields: Paths of fields inside objects to read as columns of their own: ``("metadata.scene",)``.
        strict: Refuse a folder with a log that failed, broke off, stopped early or cannot be read; such a log is left
            out and named otherwise.

    Raises:
        DataError: With the file, row, column and value that could not be used.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> frame = pl.DataFrame({"method": ["new", "old"], "progress": [0.75, 0.5]})
        >>> rollouts = sf.read(frame)
        >>> print(rollouts)
        2 rollouts of 2 methods, with score in [0, 1].
        >>> rollouts.notes
        ("score is guessed to be the column 'progress'.",)
    """
    scoring = Scoring.of(rubric, stages)
    if rubric is None and stages is None and low in (None, 0) and high in (None, 1, 100):
        scoring = replace(scoring, percent=1.0 if high == 100 else 100.0)
    if isinstance(policies_in, (str, bytes)) or (policies_in is not None and not policies_in):
        raise _check.mistyped("policies_in", "list at least one column", policies_in)
    asked = Asked(
        dict(columns or {}),
        scoring,
        None if policies_in is None else tuple(policies_in),
        where={name: (value,) if isinstance(value, str) else tuple(value) for name, value in (where or {}).items()},
        sheet=sheet,
        fields=tuple(fields),
        strict=strict,
    )
    if (rubric is not None or stages is not None) and (low not in (None, 0) or high not in (None, 1)):
        raise _check.wrong(
            ("low", "high"),
            f"be left out with a rubric or stages; got {low!r} and {high!r}. Their scores are shares, from 0 to 1.",
            (low, high),
        )
    if isinstance(data, (str, PathLike)):
        table = _files(walk(Path(data)), asked, policy)
    elif isinstance(data, Sequence):
        table = _listed(data, asked, policy)
    else:
        if policy is not None and not isinstance(policy, str):
            raise _check.mistyped("policy", "be one name for a frame", policy)
        table = _frame(data, asked, policy)
    scale = {"low": low, "high": high}
    stated = {end: float(value) for end, value in scale.items() if value is not None}
    return replace(table, **stated, collected=collected or table.collected)  # type: ignore[arg-type]


def _listed(data: Sequence[Any], asked: Asked, policy: str | Sequence[str] | None) -> Rollouts:
    _check.filled(data, "data", "name at least one file")
    for path in data:
        if not isinstance(path, (str, PathLike)):
            raise _check.wrong_kind(
                "data", f"be a path, a list of paths or a frame; got a list with {type(path).__name__}.", data
            )
    found = [file for path in data for file in walk(Path(path))]
    if len({file.name for file in found}) < len(found):
        found = [replace(file, name=file.path.as_posix()) for file in found]
    return _files(found, asked, policy)


def reads_frames(make: Callable[P, R]) -> Callable[P, R]:
    """Let a function of a table take a frame of polars, pandas, DuckDB, Dask or Spark too, which is read first."""

    @functools.wraps(make)
    def made(*args: P.args, **kwargs: P.kwargs) -> R:
        table: Any = args[0] if args else None
        if table is not None and not isinstance(table, Rollouts):
            from narwhals import dependencies

            if type(table).__name__ in LAZY or dependencies.is_into_dataframe(table):
                return make(read(table), *args[1:], **kwargs)  # type: ignore[arg-type]
        return make(*args, **kwargs)

    return made


LAZY = ("LazyFrame", "DuckDBPyRelation")
"""Frames that are not computed yet."""


def _frame(data: Any, asked: Asked, policy: str | None) -> Rollouts:
    import narwhals as nw
    import polars as pl

    try:
        frame = nw.from_native(data)
    except TypeError:
        raise _check.wrong_kind(
            "data",
            "be a path, a list of paths, or a frame of polars, pandas, DuckDB, Dask or Spark; "
            f"got {type(data).__name__}.",
            data,
        ) from None
    lazy = frame if isinstance(frame, nw.LazyFrame) else frame.lazy()
    if asked.policies_in is not None:
        sheet = Sheet(lazy.collect(backend="polars").to_native().lazy(), "frame", policies_in=asked.policies_in)
        long = unpivoted(sheet, asked.columns, source="")
        table = _frame(long.frame, replace(asked, policies_in=None), policy)
        called = naming.own_names(table.named, long.named)
        roles = _roles([long], asked, table.columns)
        return replace(table, notes=(*long.notes, *table.notes), named=called, words=words_of(called), declared=roles)
    if frame.implementation.is_polars():
        sheet, asked = selection.columns(Sheet(lazy.to_native(), "frame"), asked, "")
        lazy = nw.from_native(sheet.frame)
    there = "policy" in match(lazy.collect_schema().names(), asked.columns)[0]
    if policy is not None and not there:
        lazy = lazy.with_columns(nw.lit(policy).alias("policy"))
    if frame.implementation.is_polars():
        held = isinstance(data, pl.DataFrame)
        with polars_errors(""):
            made = from_polars(lazy.to_native(), asked, source="", hold=held)
    else:
        made = from_engine(lazy, asked, source="")
    ordered = (
        not (frame.implementation.is_duckdb() or frame.implementation.is_pyspark()) or "order" in made.frame.columns
    )
    notes = made.notes
    if not ordered:
        notes = (
            *notes,
            "This engine keeps no order of rows, and there is no `order` column, so the order is not used.",
        )
    called = naming.own_names(made.named, {"policy": ""} if policy is not None and not there else {})
    words = words_of(called)
    table = Rollouts(
        made.frame, notes=worded(notes, words), ordered=ordered, whole=made.whole, named=called, words=words,
        declared=declared_by_columns(asked.columns),
    )  # fmt: skip
    table = table.where(**asked.where) if asked.where else table
    return _renamed(table, policy) if policy is not None and there else table


def _files(files: list[Found], given: Asked, policy: str | Sequence[str] | None) -> Rollouts:
    import narwhals as nw
    import polars as pl

    sheets, before = sheets_of(files, given)
    notes: list[tuple[str, Noted]] = [("", note) for note in before]
    chosen = _names(sheets, policy)
    several = len(sheets) > 1
    prepared, empty, findings = _prepared(sheets, chosen, given)
    frames, called = [], []
    for files_alike in _alike(prepared):
        made_of = _canonical(files_alike)
        one_for_all = made_of[-1] is made_of[0]
        frames += [made.frame.to_native() for made in (made_of[:1] if one_for_all else made_of)]
        for one, made in zip(files_alike, made_of, strict=True):
            added = {"policy": ""} if one.rows.added else {}
            called.append({**naming.own_names(made.named, added | dict(one.sheet.named)), **one.rows.called})
            findings += [finding for finding in one.sheet.findings if finding not in findings]
            said = (*one.sheet.notes, *one.rows.said, *made.notes)
            notes += [(one.source if several else "", note) for note in said]
    if not frames:
        raise selection.nothing_left(empty, given, some_names([file.name for file, _ in sheets]))
    table = pl.concat(frames, how="diagonal") if several else frames[0]
    if several and "valid" in table.collect_schema():
        table = table.with_columns(pl.col("valid").fill_null(1))  # a file that voids nothing need not say so
    if several and all(sheet.hold for _, sheet in sheets):
        table = table.collect().lazy()
    roles = _roles([sheet for _, sheet in sheets], given, table.collect_schema())
    items = {"condition": "unit", "task": "setting"}.items()
    if items <= roles.items() and all(items <= sheet.roles.items() for _, sheet in sheets):
        table = told_apart(table)
    names = naming.in_common(called)
    stated = {(sheet.low, sheet.high) for _, sheet in sheets}
    low, high = stated.pop() if len(stated) == 1 else (None, None)
    met = {sheet.collected for _, sheet in sheets}
    return Rollouts(
        nw.from_native(table),
        low=0.0 if low is None else low,
        high=1.0 if high is None else high,
        notes=worded(said_once(notes, [file.name for file, _ in sheets]), words_of(names)),
        source=some_names([file.name for file, _ in sheets]),
        findings=(*findings, *naming.alike(table, words_of(names))),
        ordered=all(sheet.ordered for _, sheet in sheets),
        collected=met.pop() if len(met) == 1 else None,
        files=tuple(str(file.path) for file, _ in sheets),
        letters=tuple(letters for _, sheet in sheets for letters in sheet.letters),
        named=names,
        words=words_of(names),
        declared=roles,
    )


def _prepared(
    sheets: list[tuple[Found, Sheet]], chosen: list[tuple[Name, str]], given: Asked
) -> tuple[list[_Prepared], list[Sheet], list[Finding]]:
    """The sheets with a policy in each row that was asked for, those of which no row was, and what was found."""
    import polars as pl

    several = len(sheets) > 1
    prepared, empty, findings = list[_Prepared](), list[Sheet](), list[Finding]()
    for (file, sheet), (name, origin) in zip(sheets, chosen, strict=True):
        source = file.name
        words = naming.words(sheet, given)
        with polars_errors(source):
            sheet, asked = selection.columns(sheet, given, source)
            rows = _named(sheet, asked, name, origin, words, alone=not several)
            frame = rows.frame
            if asked.where:
                kept = selection.rows(replace(sheet, frame=frame), asked, source)
                if kept is None:
                    empty.append(replace(sheet, frame=frame))
                    continue
                frame = kept
            if rows.added and origin == "path" and not several:
                findings += naming.pooled(sheet.frame, _rest(sheet.frame, asked), str(name), words)
            if several and "source" not in frame.collect_schema():
                frame = frame.with_columns(pl.lit(source).alias("source"))
        own = replace(asked, named=rows.added, words=words)
        prepared.append(_Prepared(source, sheet, own, rows._replace(frame=frame), frame.collect_schema()))
    return prepared, empty, findings


def _roles(sheets: Sequence[Sheet], asked: Asked, there: Iterable[str]) -> dict[str, str]:
    """What the formats say of the columns that are there, where all files agree; what the user names is the user's."""
    said = sheets[0].roles if all(sheet.roles == sheets[0].roles for sheet in sheets) else {}
    kept = {column: role for column, role in said.items() if column not in asked.columns}
    old = declared_by_columns(asked.columns)
    if "unit" in old.values():
        kept = {column: role for column, role in kept.items() if role != "unit"}
    return {column: role for column, role in {**kept, **old}.items() if column in there}


def declared_by_columns(columns: Mapping[str, str]) -> dict[str, str]:
    """The roles that naming a canonical column says: the finest of condition, seed and task is the unit."""
    said = {column: column for column in ("repeat", "cluster", "run") if columns.get(column)}
    met = [column for column in ("condition", "seed", "task") if columns.get(column)]
    if met:
        said |= {met[0]: "unit"} | dict.fromkeys(met[1:], "setting")
    return said


Name = str | tuple[str, ...]
"""What a file's policy is called; several names for a file with an unnamed column for each."""


def _names(sheets: list[tuple[Found, Sheet]], policy: str | Sequence[str] | None) -> list[tuple[Name, str]]:
    if policy is None:
        return [(name, "path") for name in naming.from_paths([file.path for file, _ in sheets])]
    if isinstance(policy, str):
        return [(policy, "user")] * len(sheets)
    if len(sheets) == 1 and len(policy) == len(sheets[0][1].unnamed):
        return [(tuple(policy), "user")]
    if len(policy) != len(sheets):
        raise _check.wrong(
            "policy", f"name one policy per file; got {len(policy)} names for {len(sheets)} files.", policy
        )
    return [(name, "user") for name in policy]


class _Named(NamedTuple):
    """A sheet's rows with a policy in each, what is said of it, whether the name was added, and its column's name."""

    frame: Any
    said: tuple[str, ...] = ()
    added: bool = False
    called: Mapping[str, str] = {}


def _named(sheet: Sheet, asked: Asked, name: Name, origin: str, words: Words, *, alone: bool) -> _Named:
    import polars as pl

    frame = sheet.frame
    if origin == "user" and sheet.unnamed and isinstance(name, tuple):
        renamed = pl.col("policy").replace_strict(dict(zip(sheet.unnamed, name, strict=True)))
        return _Named(
            frame.with_columns(renamed), (f"The {words.policies} are called {' and '.join(map(repr, name))}.",)
        )
    if origin == "user" and sheet.after_path:
        renamed = pl.lit(f"{name}") + pl.col("policy").str.strip_prefix(sheet.after_path)
        return _Named(frame.with_columns(renamed.alias("policy")), (f"The {words.policy} is called {name!r}.",))
    found, _ = match(list(frame.collect_schema()), asked.columns)
    guessing = alone and origin == "path" and "policy" not in found  # of several files, each is a policy's
    perhaps = naming.policy_column(frame, _rest(frame, asked)) if guessing else None
    if perhaps is not None:
        said = f"policy is guessed to be the column {perhaps!r}."
        return _Named(frame.rename({perhaps: "policy"}), (said,), called={"policy": perhaps})
    if "policy" not in found:
        origin = ", after the path" if origin == "path" else ""
        said = f"The {words.policy} is called {name!r}{origin}."
        return _Named(frame.with_columns(pl.lit(name).alias("policy")), (said,), added=True)
    if origin == "path":
        return _Named(frame)
    column = pl.col(found["policy"])
    there = frame.select(column.cast(pl.String)).unique().head(5).collect(engine="streaming").to_series().to_list()
    if len(there) > 1:
        raise _already_named(sorted(map(str, there)), words)
    said = f"The {words.policy} is called {name!r} as you say; the file calls it {there[0]!r}."
    return _Named(frame.with_columns(pl.lit(name).alias(found["policy"])), (said,))


class _Prepared(NamedTuple):
    """A file's rows as they come, with a policy in each, and what is asked of them."""

    source: str
    sheet: Sheet
    asked: Asked
    rows: _Named
    schema: Any


def _alike(files: Sequence[_Prepared]) -> list[list[_Prepared]]:
    """Files that follow each other and hold columns of the same names and kinds, so that they are read as one."""
    groups = list[list[_Prepared]]()
    for file in files:
        last = groups[-1][-1:] if groups else []
        held = all(one.sheet.hold and not one.sheet.left_out.kinds for one in (*last, file))
        if held and [(one.schema, one.asked) for one in last] == [(file.schema, file.asked)] and not file.asked.where:
            groups[-1].append(file)
        else:
            groups.append([file])
    return groups


def _canonical(files: Sequence[_Prepared]) -> list[Canonical]:
    """The canonical table of each file; one for all of them where all that is said of it holds for each.

    A row that cannot be read, and how many rollouts have no outcome, is said of the file that has it: each is then read
    by itself.
    """
    import polars as pl

    if len(files) > 1:
        first = files[0]
        with contextlib.suppress(DataError):
            every = pl.concat([file.rows.frame for file in files]).collect()
            guessed = match(list(first.schema), first.asked.columns)[1]
            made = from_polars(every.lazy(), first.asked, source="", hold=True)
            if set(made.notes) <= {*guessed} and every["source"].n_unique() == len(files):
                return [made] * len(files)
    found = []
    for file in files:
        places = contextlib.nullcontext() if file.asked.where else file.sheet.left_out.placed()
        with polars_errors(file.source), places:
            found.append(from_polars(file.rows.frame, file.asked, source=file.source, hold=file.sheet.hold))
    return found


def _rest(frame: Any, asked: Asked) -> list[str]:
    """The columns that nothing is read from; none when the user said that no column is the policy."""
    header = list(frame.collect_schema())
    left = unread(header, match(header, asked.columns)[0])
    return [] if "policy" in asked.columns else [name for name in left if name not in asked.scoring.needs]


def _renamed(table: Rollouts, policy: str) -> Rollouts:
    import narwhals as nw

    if len(table.policies) > 1:
        raise _already_named(list(table.policies), table.words)
    said = f"The {table.words.policy} is called {policy!r} as you say; the table calls it {table.policies[0]!r}."
    return replace(table, frame=table.frame.with_columns(nw.lit(policy).alias("policy")), notes=(*table.notes, said))


def _already_named(there: list[str], words: Words) -> ValueError:
    cure = in_python(f'Narrow the table instead: .where(policy="{there[0]}").')
    must = f"be left out when the data name several {words.policies}; they name {', '.join(there[:5])}."
    return _check.wrong("policy", must, cure=cure)


def said_once(notes: Sequence[tuple[str, Noted]], files: Sequence[str]) -> tuple[Noted, ...]:
    """Notes of several files, each a file's name and a note: what all say without names, the rest file by file.

    Args:
        notes: The notes in the order they were made; a name that is empty is of no one file.
        files: The names of all files.
    """
    said: dict[Noted, list[str]] = {}
    for file, note in notes:
        of = said.setdefault(note, [])
        if file not in of:
            of.append(file)
    together: dict[tuple[str, ...], list[str]] = {}
    kept: list[Noted | tuple[str, ...]] = []
    for note, of in said.items():
        names = tuple(of)
        if names == ("",) or (len(files) == len(names)):
            kept.append(note)
        elif isinstance(note, Note) and note.tells_files:
            kept.append(Note(note.kind, {**note.values, "files": names}))
        else:
            if names not in together:
                kept.append(names)
            together.setdefault(names, []).append(str(note))
    return tuple(
        Note("of files", {"files": one, "said": tuple(together[one])}) if isinstance(one, tuple) else one
        for one in kept
    )
