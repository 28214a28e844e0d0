"""The files of a folder, or those that were named, and which of them hold rollouts to read."""

from __future__ import annotations

import contextlib
import filecmp
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from surefoot import _check
from surefoot.core.formatting import some_names
from surefoot.errors import DataError
from surefoot.files import selection
from surefoot.files.formats import importer_of
from surefoot.files.importers import NoOutcomesError, Sheet
from surefoot.files.recognising import START, Head
from surefoot.files.wide_tables import may_be_policies, unpivoted, untold
from surefoot.table.columns import OUTCOMES, match
from surefoot.table.normalising import Asked

MOST_FILES = 100_000


@dataclass(frozen=True, slots=True)
class Found:
    """One file to read: its path, how messages call it, and whether it was named by the user or met in a folder."""

    path: Path
    name: str
    met: bool


def walk(path: Path) -> list[Found]:
    """The file itself, or every file in a folder that is not hidden, sorted."""
    if not path.is_dir():
        return [Found(path, path.name, met=False)]
    met = (file for file in path.rglob("*") if file.is_file())
    files = sorted(file for file in met if not any(part.startswith(".") for part in file.relative_to(path).parts))
    if len(files) > MOST_FILES:
        raise DataError(f"a folder must hold at most {MOST_FILES:,} files; got {len(files):,}.", source=str(path))
    if not files:
        raise DataError("the folder must hold files of rollouts; it is empty.", source=str(path))
    return [Found(file, (Path(path.name) / file.relative_to(path)).as_posix(), met=True) for file in files]


UNKNOWN = (
    "the file must be a table of rollouts (CSV, TSV, JSON, JSON Lines, Parquet or Excel with a success or score "
    "column) or a known log; it is none of these. `surefoot formats` lists them"
)


class _Sorted:
    """Which files hold rollouts, and what is known of the others: sheets with no outcome, and names by reason."""

    def __init__(self) -> None:
        self.sheets, self.lacking = list[tuple[Found, Sheet]](), list[tuple[Found, Sheet]]()
        self.left, self.without, self.twice = list[str](), list[NoOutcomesError](), list[str]()
        self.unused, self.runs, self.known = dict[str, str](), dict[str, str](), dict[tuple[int, bytes], Head]()

    def add(self, file: Found, head: Head, asked: Asked) -> None:
        """Read one file, and put it where it belongs."""
        sheet = self._read(file, head, asked)
        if sheet is None:
            return
        copied = self._copied(file, head, sheet, asked)
        reason = (sheet.unfinished or copied) if file.met else ""
        if reason and asked.strict:
            raise DataError(f"every log must be of a whole run of its own; {reason}.", source=file.name)
        if reason:
            self.unused[file.name] = reason
            return
        self.runs |= {sheet.run: file.name} if sheet.run else {}
        (self.lacking if file.met and _lacks_outcome(sheet, asked) else self.sheets).append((file, sheet))

    def _read(self, file: Found, head: Head, asked: Asked) -> Sheet | None:
        from surefoot.files.workbooks import is_workbook

        if file.met and not head.size:
            self.left.append(file.name)
            return None
        if not file.met:
            head.refuse_unsafe()
        try:
            sheet = _workbook(head, asked, met=file.met) if is_workbook(head) else _sheet(head, asked, met=file.met)
        except NoOutcomesError as error:
            self.without.append(error)
            return None
        except DataError as error:
            if asked.strict or not file.met or _by_hand(head):
                raise
            self.unused[file.name] = f"{error}".removeprefix(f"{file.name}: ").rstrip(".")
            return None
        self.left += [] if sheet is not None else [file.name]
        return sheet

    def _copied(self, file: Found, head: Head, sheet: Sheet, asked: Asked) -> str:
        """Of which file this one is a copy, as a reason to leave it out; empty where it is none."""
        import polars as pl

        first = self.known.setdefault((head.size, head.start), head)
        if sheet.run in self.runs:
            return f"the run in {self.runs[sheet.run]} once more"
        if first is head or not _same_rollouts(first, head, sheet, asked):
            return ""
        if int(sheet.frame.select(pl.len()).collect().item()) >= LONG:
            return f"the very bytes of {first.name} once more"
        self.twice += [file.name] * file.met
        return ""


def sheets_of(files: list[Found], asked: Asked) -> tuple[list[tuple[Found, Sheet]], list[str]]:
    """The sheets of the files that hold rollouts, and what is said of the other files."""
    from surefoot.files.workbooks import is_workbook

    found, heads = _Sorted(), list[Head]()
    for file in files:
        head = Head(file.path, file.name)
        head.wanted = asked.where
        heads.append(head)
        found.add(file, head, asked)
    sheets, unused = found.sheets, found.unused
    if not sheets or asked.strict:
        sheets += found.lacking  # whose refusal says which columns there are
    else:
        found.left += [file.name for file, _ in found.lacking]
    if asked.sheet is not None and not any(map(is_workbook, heads)):
        raise _check.wrong("sheet", "come with an Excel workbook; no file is one.", asked.sheet)
    if not sheets and found.without:
        raise found.without[0]
    if not sheets and unused:
        raise DataError(f"at least one log must be of a whole run; {_listed_by_reason(unused)}.", source="")
    if not sheets:
        raise DataError(f"{UNKNOWN}.", source=some_names(found.left))
    notes = [f"{error} It is left out." for error in found.without]
    if unused:
        notes.append(f"{len(unused):,} of {len(files):,} files are left out: {_listed_by_reason(unused)}.")
    if found.twice:
        notes.append(f"{some_names(found.twice)}: the very bytes of another file; all are counted.")
    again = [(file, sheet) for file, sheet in sheets if sheet.repeats and _beside(file, sheet.repeats, sheets)]
    for one in again:
        notes.append(f"{one[0].name} is left out: {one[1].repeats} beside it holds the same rollouts.")
        sheets.remove(one)
    if found.left:
        notes.append(f"{some_names(found.left)}: no rollouts found, so left out.")
    return _without_totals(sheets, notes)


def _without_totals(sheets: list[tuple[Found, Sheet]], notes: list[str]) -> tuple[list[tuple[Found, Sheet]], list[str]]:
    """Where the rollouts themselves are there, files of totals are left out, and the notes say so."""
    whole = [(file, sheet) for file, sheet in sheets if not sheet.aggregate]
    counted = [(file, sheet) for file, sheet in sheets if sheet.aggregate]
    if not (whole and counted):
        return sheets, notes
    names = some_names([file.name for file, _ in counted], most=2)
    notes = [*notes, f"{names}: only totals, so left out; the rollouts themselves are here."]
    tasks = _tasks([sheet for _, sheet in whole])
    only = _tasks([sheet for _, sheet in counted]) - tasks
    if only and tasks:
        notes.append(f"Some tasks have totals but no rollouts: {some_names(sorted(only))}.")
    return whole, notes


LONG = 10
"""From so many rows on, files of the same bytes are copies; fewer rollouts may have gone alike."""


def _same_rollouts(first: Head, other: Head, sheet: Sheet, asked: Asked) -> bool:
    """Whether two files that begin alike are the same to the last byte and name the policies themselves."""
    named = sheet.policies_in or "policy" in match(list(sheet.frame.collect_schema()), asked.columns)[0]
    return bool(named) and (first.size <= START or filecmp.cmp(first.path, other.path, shallow=False))


def _by_hand(head: Head) -> bool:
    """Whether a file is a table kept by hand, whose faults are refused; a log that is damaged is left out."""
    from surefoot.files.workbooks import is_workbook

    try:
        return is_workbook(head) or (head.kind == "text" and len(head.header) > 1)
    except DataError:
        return head.path.suffix == ".xlsx"


def _lacks_outcome(sheet: Sheet, asked: Asked) -> bool:
    """Whether a table has no column from which an outcome is read, and the user names none."""
    said = asked.scoring.needs or asked.scoring.stages or {"success", "score"} & {*asked.columns}
    return not said and not {"success", "score", "stage"} & {*match(list(sheet.frame.collect_schema()), {})[0]}


def _listed_by_reason(unused: Mapping[str, str]) -> str:
    """The files that were not used, by the reason."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in unused.items():
        by_reason.setdefault(reason, []).append(name)
    return "; ".join(f"{', '.join(names)} ({reason})" for reason, names in by_reason.items())


def _beside(file: Found, name: str, sheets: list[tuple[Found, Sheet]]) -> bool:
    return any(other.path == file.path.with_name(name) for other, _ in sheets)


def _tasks(sheets: Sequence[Sheet]) -> set[str]:
    """The names of the tasks in these sheets, of those that have a column of that name."""
    named = [sheet for sheet in sheets if "task" in sheet.frame.collect_schema()]
    return set[str]().union(*(selection.values(sheet, "task") for sheet in named))


def _workbook(head: Head, asked: Asked, *, met: bool) -> Sheet | None:
    """A sheet of an Excel workbook, read by whichever importer knows its table."""
    import tempfile

    from surefoot.files.workbooks import as_text

    with tempfile.TemporaryDirectory() as folder, polars_errors(head.name):
        text, notes = as_text(head, Path(folder), asked.sheet)
        text.wanted = head.wanted
        sheet = _sheet(text, asked, met=met)
        if sheet is None:
            return None
        return replace(sheet, frame=sheet.frame.collect().lazy(), notes=(*notes, *sheet.notes), hold=True)


def _sheet(head: Head, asked: Asked, *, met: bool) -> Sheet | None:
    from surefoot.files.formats import delimited, lines, stable_baselines
    from surefoot.files.preferences import looks_like
    from surefoot.files.totals import names_outcome, no_table

    with polars_errors(head.name):
        if looks_like(head):
            if met:
                return None
            raise DataError(
                "the file must hold rollouts; it holds preferences. Read it with read_preferences, "
                "or rank it: surefoot rank.",
                source=head.name,
            )
        importer = importer_of(head) if not met else _importer_if_any(head)
        said = {asked.columns.get(column) for column in ("success", "score")} & set(head.header)
        if said or (len(head.header) > 1 and (asked.policies_in or (importer is None and not met))):
            importer = delimited  # the user names an outcome's column, or the refusal can name those that are there
        elif importer is None and not met and any(name.endswith(".npy") for name in head.members):
            importer = stable_baselines  # whose refusal says what an .npz file must hold
        elif importer is None and not met and (inside := lines.wrapped(head.document)):
            known = names_outcome(inside[0]) or {"success", "score"} & set(asked.columns)
            importer = lines if known else None
        policies = may_be_policies(head) if importer is delimited and not met and not said else ()
        if len(policies) > 1 and asked.policies_in is None and not OUTCOMES & head.plain_header:
            raise untold(policies, head.name)
        if importer is None and not met and names_outcome(head.document):
            raise no_table(head.document, head.name)
        if importer is None:
            return None
        with uncollected():
            sheet = importer.load(head)
        if not (asked.columns or asked.where or asked.fields):  # no path is asked for: the memory is free at once
            sheet = replace(sheet, records=())
        if asked.policies_in is not None:
            sheet = replace(sheet, policies_in=asked.policies_in)
        if not sheet.policies_in:
            return sheet
        with sheet.left_out.placed():
            return unpivoted(sheet, asked.columns, source=head.name, guessed=asked.policies_in is None)


def _importer_if_any(head: Head) -> Any:
    """The importer of a file met in a folder; one that is packed or not data at all is left out by name."""
    try:
        head.refuse_unsafe()
    except DataError:
        return None
    return importer_of(head)


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Without Python's search for cycles, which parsed documents have none of: it would look at each object again."""
    import gc

    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@contextlib.contextmanager
def polars_errors(source: str) -> Iterator[None]:
    """Whatever polars cannot parse is the data's fault and says where."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        first = next(iter(str(error).strip().splitlines()), "")[:200]
        raise DataError(f"the table must be readable; {first}.", source=source) from None
