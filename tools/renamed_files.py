"""Does a file answer the same when its columns are called something else?

`python tools/renamed_files.py FILE ... --times 50` writes every file again, each time with other names for all columns
but the policy, the outcome and what else is found by name, with its rows and columns in another order, a constant and a
note. A file of columns (CSV, TSV, JSON Lines, a list of JSON records, Parquet, a workbook) is changed as it stands, and
written in turn as itself, as Parquet, JSON Lines and JSON records; a log of some tool, whose words are not names of
columns, is read first and its table changed, the roles that its format knows declared. Pairs of policies are compared
for both targets, policies measured and the table audited; of preferences the ranking is asked. A folder, or several
files joined by `+`, is one table; the name of a shape of `tests/support/shapes.py` is one drawn. It fails where a
number or a verdict changes and no note says that a name decided, or where what was refused is answered.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import itertools
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import python_calamine

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the renaming is that of the tests

from tests.support.shapes import SHAPES, _word, shape  # noqa: E402

import surefoot as sf  # noqa: E402
from surefoot.auditing.outcome_checks import APART  # noqa: E402
from surefoot.files.preferences import Preferences  # noqa: E402
from surefoot.table.design_of import NO_LABELS  # noqa: E402

Grid = list[list[Any]]
Numbers = tuple[str, tuple[float, ...]]
Answers = dict[tuple[str, ...], Numbers]
SEPARATORS = {".csv": ",", ".tsv": "\t"}
COUNTED = re.compile(r"success|rate|result|trials|Num_|Avg_|Method|Task|CLD|^n(_per_seed)?$|^seeds$", re.IGNORECASE)
"""Columns that hold outcomes or counts of them, and those by which the tables of LBM are known."""
BY_NAME = frozenset(
    {"counted runs", "counter meets", "several counters", "not paired by counter", "sound like results"}
)
"""Notes that say that a name decided: tables that say so are compared among themselves."""
PAIRS = 6
"""So many pairs of policies of a table are compared, drawn by chance; all of them where there are no more."""
TITLE = f"{'file':<58}{'changed as':<12}{'times':>6}{'same':>6}{'said':>6}{'changed':>8}"


def grid_of(path: Path) -> Grid | None:
    """The header and the rows of a file of columns; None where it is something else."""
    if path.suffix == ".xlsx":
        return python_calamine.CalamineWorkbook.from_path(path).get_sheet_by_index(0).to_python()
    if path.suffix == ".parquet":
        frame = pl.read_parquet(path)
        return [frame.columns, *map(list, frame.rows())]
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (UnicodeDecodeError, IsADirectoryError):
        return None
    if path.suffix in SEPARATORS:
        if text.startswith("#"):
            return None
        separator = ";" if text.split("\n")[0].count(";") > 1 else SEPARATORS[path.suffix]
        return [row for row in csv.reader(text.splitlines(keepends=True), delimiter=separator) if row]
    records = _records(path.suffix, text)
    if not records or not all(isinstance(one, dict) for one in records):
        return None
    header = list(dict.fromkeys(key for one in records for key in one))
    return [header, *([one.get(key) for key in header] for one in records)]


def _records(suffix: str, text: str) -> list[Any]:
    if suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    found = json.loads(text) if suffix == ".json" else None
    return found if isinstance(found, list) else []


def written(grid: Grid, path: Path) -> Path:
    """The grid as a file of the same kind."""
    header, *rows = grid
    if path.suffix in (".json", ".jsonl"):
        records = [{key: cell for key, cell in zip(header, row, strict=True) if cell is not None} for row in rows]
        lines = (json.dumps(one) for one in records)
        path.write_text(json.dumps(records) if path.suffix == ".json" else "\n".join(lines), encoding="utf-8")
    elif path.suffix == ".parquet":
        pl.DataFrame(rows, schema=[str(name) for name in header], orient="row", infer_schema_length=None).write_parquet(
            path
        )
    else:
        path = path if path.suffix in SEPARATORS else path.with_suffix(".csv")  # the sheet of a workbook
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter=SEPARATORS[path.suffix]).writerows(grid)
    return path


KINDS = ("", ".parquet", ".jsonl", ".json")
"""How a file is written in turn: as it is, and as other files of columns."""


def as_kind(path: Path, kind: str) -> Path:
    """A file of columns as one of another kind, numbers as numbers; itself where it is no plain table."""
    try:
        if path.suffix == ".parquet" or kind == path.suffix or not kind:
            return path
        if path.suffix == ".json":
            frame = pl.DataFrame(json.loads(path.read_text(encoding="utf-8")), infer_schema_length=None)
        elif path.suffix == ".jsonl":
            frame = pl.read_ndjson(path, infer_schema_length=None)
        else:
            frame = pl.read_csv(path, separator=SEPARATORS[path.suffix], infer_schema_length=None)
    except (pl.exceptions.PolarsError, TypeError):
        return path
    if any(frame.schema[name].is_nested() for name in frame.columns):
        return path
    other = path.with_suffix(kind)
    {".parquet": frame.write_parquet, ".jsonl": frame.write_ndjson, ".json": frame.write_json}[kind](other)
    return other


def changed(grid: Grid, kept: frozenset[str], names: dict[str, str], rng: np.random.Generator) -> Grid:
    """Other names, rows and columns in another order, a constant and a note."""
    header, *rows = grid
    constant, note = _word(rng), _word(rng)
    words = [names[one] if one in names and one not in kept else one for one in header] + [constant, note]
    size = len(header)
    full = [[*row, *[None] * (size - len(row)), "same", f"{note} {at}"] for at, row in enumerate(rows)]
    order = rng.permutation(size + 2) if "" not in header else np.arange(size + 2)
    places = rng.permutation(len(full))
    return [[words[at] for at in order], *([full[row][at] for at in order] for row in places)]


Read = sf.Rollouts | Preferences | None
"""What a file holds; None where it is refused."""


def opened(paths: Sequence[Path], columns: Mapping[str, str]) -> Read:
    """Rollouts, preferences, or nothing."""
    what = paths[0] if len(paths) == 1 else list(paths)
    try:
        return sf.read(what, columns=columns)
    except sf.SurefootError:
        try:
            return sf.read_preferences(what)  # a list of files holds no preferences
        except (sf.SurefootError, TypeError):
            return None


class Table:
    """One table: a file, files, a folder or a shape; and what of it keeps its name."""

    def __init__(self, word: str, folder: Path, columns: Mapping[str, str]) -> None:
        self.paths, self.columns = [Path(one) for one in word.split("+")], dict(columns)
        if word in SHAPES:
            self.paths = [folder / "shape.csv"]
            shape(word, np.random.default_rng(0))[0].write_csv(self.paths[0])
        self.name = word if word in SHAPES else "/".join(self.paths[0].parts[-2:])
        self.name += f" and {len(self.paths) - 1} more" * (len(self.paths) > 1)
        self.read = opened(self.paths, self.columns)
        grids = [grid_of(path) for path in self.paths]
        self.grids = [grid for grid in grids if grid] if all(grids) else []
        self.kept = self._kept()
        named = self.read.named if isinstance(self.read, sf.Rollouts) else {}
        outcomes = {named.get("success"), named.get("score")}
        self.plain = all(outcomes & {*map(str, grid[0])} for grid in self.grids)
        self.grids = self.grids if self._by_columns() else []

    def _kept(self) -> frozenset[str]:
        """What is found by name: the policy, the outcomes, counts of them, and the policies of a sheet."""
        named = self.read.named if isinstance(self.read, sf.Rollouts) else {}
        policies = () if self.read is None else self.read.policies
        headers = {str(name) for grid in self.grids for name in grid[0]}
        told = {name for name in headers if COUNTED.search(name)}
        told |= headers if isinstance(self.read, Preferences) else set()
        own = [named.get(name, name) for name in NO_LABELS]
        return frozenset((*NO_LABELS, *own, *policies, *told, *self.columns.values()))

    def _by_columns(self) -> bool:
        """Whether the file is read as columns of any name: renamed, it holds the same outcomes."""
        if not self.grids or not isinstance(self.read, sf.Rollouts):
            return bool(self.grids)
        with tempfile.TemporaryDirectory() as folder:
            other = self.again(np.random.default_rng(0), Path(folder))
        return isinstance(other, sf.Rollouts) and _counts(other) == _counts(self.read)

    def again(self, rng: np.random.Generator, folder: Path, kind: str = "") -> Read:
        """The table with other names, written as a file of some kind."""
        if not self.grids:
            return self._frame_again(rng)
        names = {str(one): _word(rng) for grid in self.grids for one in grid[0] if str(one).strip()}
        paths = []
        for grid, path in zip(self.grids, self.paths, strict=True):
            columns = [str(one) for one in grid[0]]
            file = written(changed([columns, *grid[1:]], self.kept, names, rng), folder / path.name)
            paths.append(as_kind(file, kind if self.plain else ""))
        named = self.read.named.items() if isinstance(self.read, sf.Rollouts) else ()
        said = {key: name for key, name in named if key in ("policy", "success", "score")}
        told = {key: name for key, name in said.items() if all(name in grid[0] for grid in self.grids)}
        read = opened(paths, told | self.columns)
        return opened(paths, self.columns) if read is None else read  # a format names its columns itself

    def _frame_again(self, rng: np.random.Generator) -> Read:
        rollouts = self.read
        if not isinstance(rollouts, sf.Rollouts):
            return rollouts
        frame = rollouts.polars()
        kept = [name for name in frame.columns if name in (*NO_LABELS, "source")]
        kept += ["seed"] if rollouts.declared.get("seed") == "unit" else []  # a log's own word for what was met
        names = {name: _word(rng) for name in frame.columns if name not in kept}
        constant, note = _word(rng), _word(rng)
        notes = pl.Series(note, [f"{note} {at}" for at in range(frame.height)])
        frame = frame.rename(names).with_columns(pl.lit("same").alias(constant), notes)
        frame = frame[rng.permutation(frame.height).tolist()]
        frame = frame.select([frame.columns[at] for at in rng.permutation(frame.width)])
        declared = rollouts.declared.items()
        roles = {
            role: [names.get(key, key) for key, one in declared if one == role and key in {*names, *kept}]
            for _, role in declared
        }
        made = sf.read(frame, **{"low": rollouts.low, "high": rollouts.high} if "score" in frame.columns else {})
        made = dataclasses.replace(made, ordered=rollouts.ordered, findings=rollouts.findings)
        return made.declare(**{role: keys[0] if role == "unit" else keys for role, keys in roles.items() if keys})


def _counts(rollouts: sf.Rollouts) -> list[tuple[Any, ...]]:
    """The outcomes of every policy."""
    return [(one.key, one.rollouts, one.outcomes, one.successes) for one in rollouts.summary()]


def answers(read: Read, seed: int) -> Answers:
    """Every rate and every pair, for both targets and each outcome; or the ranking of preferences."""
    if read is None:
        return {("refused",): ("", ())}
    if isinstance(read, Preferences):
        ranked = sf.rank_preferences(read, rng=seed, prior=1.0)
        words = ", ".join(f"{name} {low}-{high}" for name, (low, high) in zip(ranked.names, ranked.ranks, strict=True))
        return {("preferences",): (words, ranked.elos)}
    found: Answers = {}
    rollouts = read
    measures = [one for one in ("success", "score") if one in rollouts.columns]
    pairs = list(itertools.combinations(sorted(rollouts.policies), 2))
    rng = np.random.default_rng(seed)
    pairs = [pairs[at] for at in sorted(rng.permutation(len(pairs))[:PAIRS])]
    found["audit",] = _asked(lambda: _audited(rollouts))
    for policy in rollouts.policies[:PAIRS]:
        own = rollouts.where(policy=policy)
        for measure in measures:
            ask = sf.success_rate if measure == "success" else sf.mean_score
            found["rate", policy, measure] = _asked(lambda own=own, ask=ask: ("", _ends(ask(own))))
    for first, second in pairs:
        for measure, target in itertools.product(measures, (None, "like", "these")):
            found["gain", first, second, measure, str(target)] = _asked(
                lambda one=first, two=second, by=measure, of=target: _gain(rollouts, one, two, by, of)
            )
    return found


def _audited(rollouts: sf.Rollouts) -> Numbers:
    """What an audit finds, but for columns that tell policies apart: a note does where each policy has one row."""
    return ", ".join(sorted({one.about for one in sf.audit(rollouts).findings} - {APART})), ()


def _asked(question: Any) -> Numbers:
    try:
        return question()  # type: ignore[no-any-return]
    except (sf.SurefootError, ValueError) as refusal:
        return f"refused: {type(refusal).__name__}", ()


def _ends(interval: Any) -> tuple[float, ...]:
    return interval.estimate, interval.low, interval.high


def _gain(rollouts: sf.Rollouts, first: str, second: str, measure: str, target: Any) -> Numbers:
    found = sf.compare(rollouts, first, second, measure=measure, target=target)
    p_value = float("nan") if found.p_value is None else found.p_value
    return f"{found.verdict} {found.target}", (*_ends(found.interval), p_value)


def same(first: Numbers, second: Numbers) -> bool:
    """Whether two answers say the same, up to the order in which floats were added."""
    return first[0] == second[0] and bool(
        np.allclose(first[1], second[1], rtol=1e-7, atol=1e-9, equal_nan=True)  # ends are found by bisection
    )


def said(read: Read) -> frozenset[tuple[str, bool]]:
    """The notes that say that a name decided."""
    if not isinstance(read, sf.Rollouts):
        return frozenset()
    notes = [note for note in read.design.said if note.kind in BY_NAME]
    return frozenset((note.kind, bool(note.values.get("named", True))) for note in notes)


def asked_again(table: Table, times: int, seed: int) -> Iterator[str]:
    """The line of one table, after the lines of what changed; the last word of a changed one is CHANGED."""
    wanted, by_name = answers(table.read, seed), said(table.read)
    counts = {"same": 0, "said": 0, "changed": 0}
    seen: dict[frozenset[tuple[str, bool]], Answers] = {by_name: wanted}
    for time in range(times):
        rng = np.random.default_rng([seed, time])
        with tempfile.TemporaryDirectory() as folder:
            other = table.again(rng, Path(folder), KINDS[time % len(KINDS)])
            found, named = answers(other, seed), said(other)
        like = seen.setdefault(named, found)
        apart = [key for key in wanted if key not in found or not same(like[key], found[key])]
        if apart:
            counts["changed"] += 1
            if counts["changed"] == 1:
                how = other.design.reading() if isinstance(other, sf.Rollouts) else ""
                yield f"    {apart[0]}: {like[apart[0]]} became {found.get(apart[0])}; {how}"
        else:
            counts["same" if named == by_name else "said"] += 1
    how = "as it stands" if table.grids else "as read"
    line = f"{table.name[:57]:<58}{how:<13}{times:>5}{counts['same']:>6}{counts['said']:>6}{counts['changed']:>8}"
    what = "refused" if table.read is None else f"{len(wanted)} answers"
    yield f"{line}  {what}{'  CHANGED' if counts['changed'] else ''}"


def main(words: list[str] | None = None) -> int:
    """Ask every table, and print a line for each; 1 where something changed."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("files", nargs="+")
    asked.add_argument("--times", type=int, default=50)
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--column", action="append", default=[], help="as of surefoot: score=progress")
    given = asked.parse_args(words)
    columns = dict(one.split("=", 1) for one in given.column)
    print(TITLE)
    failed = False
    for word in given.files:
        with tempfile.TemporaryDirectory() as folder:
            for line in asked_again(Table(word, Path(folder), columns), given.times, given.seed):
                failed = failed or line.endswith("CHANGED")
                print(line, flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
