"""How often is a verdict false, from a file to the answer of a command?

`python tools/referee.py` draws tables under a null: of shapes (units, repeats, settings, clusters, runs and policies,
half of the tables under column names that mean nothing), each for every target that it can be asked about; of layouts
of tasks and of clusters drawn at random; and of cases that misled version 0.2.0. It counts p-values up to 5% and up to
.3%. A case with an exact (Clopper and Pearson's) lower 95% limit above 5%, or .4%, is drawn again, twice as many
tables; it fails where it is above again. Layouts, whose level is measured and not proved, may reach 5.5%.

Of 100 tables with the same labels one is written, read and compared by `surefoot compare`; the others get other
outcomes in the table as read, and of those only the p-value is found, which must be the command's for the first.
Tables of a layout that is compared by one test get its p-value directly; the first ones by way of files as well.

Its own power is shown too: with three methods of 0.2.0 put back (T24, T26, T27) it must find each.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
import multiprocessing
import sys
import tempfile
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import polars as pl
from scipy import stats

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # shapes and layouts are those of the tests

from tests.support import layouts  # noqa: E402
from tests.support.old_methods import OLD, put_back  # noqa: E402
from tests.support.shapes import SHAPES, renamed, shape  # noqa: E402

import surefoot as sf  # noqa: E402
from surefoot.analysis.comparison_data import Asked, Found  # noqa: E402
from surefoot.analysis.comparisons import chosen  # noqa: E402
from surefoot.analysis.levels import held_within  # noqa: E402
from surefoot.analysis.targets import found_between  # noqa: E402
from surefoot.cli.main import run  # noqa: E402

Drawn = tuple[pl.DataFrame, dict[str, str]]
LEVEL, SMALL = 0.05, 0.003
ONE_FILE = 100
"""So many tables in a row of a shape are asked for at once; where their labels are the same, one of them as a file."""
NAMES = 1_000_000
"""Names of the columns of a hundred tables are drawn as if they were the table of this number and on."""
FILES = 3
"""So many tables of a layout go by way of files."""
DECIDED = ("better", "worse")
KNOWN: dict[Any, float] = {}
"""p-values of counts that were met before."""
HEAD = f"{'case':<76}{'null':<8}{'tables':>7}{'5%':>8}{'limit':>8}{'.3%':>8}{'limit':>8}{'refused':>9}"


class Case(NamedTuple):
    """One null that tables are drawn under.

    Attributes:
        kind: A shape, a layout of tasks or of clusters drawn at random, or a named layout.
        name: Its name, or the number of the layout.
        null: The target whose null holds.
        seed: Other tables, and other layouts, for another number.
        old: The finding whose method of 0.2.0 answers in place of today's.
    """

    kind: str
    name: str
    null: str
    seed: int
    old: str = ""

    @property
    def limits(self) -> tuple[float, float]:
        """The largest lower limits at 5% and .3%."""
        return (0.05 if self.kind == "shape" else 0.055), 0.004

    @property
    def shown(self) -> str:
        """What the case is called."""
        return self.name if self.kind == "shape" else layout_of(self).name

    def generator(self, place: int) -> np.random.Generator:
        """The numbers of a table, whichever process draws them."""
        return np.random.default_rng([zlib.crc32(f"{self.kind}|{self.name}|{self.null}".encode()), place, self.seed])


class Job(NamedTuple):
    """Some tables of a case."""

    case: Case
    first: int
    count: int


@cache
def layout_of(case: Case) -> layouts.Case:
    """The layout of a case that is no shape."""
    if case.kind == "named":
        return next(one for one in layouts.NAMED if one.name == case.name)
    drawn: layouts.Case = getattr(layouts, case.kind)(case.seed, int(case.name))
    return drawn


def cases(count: int, seed: int, only: Sequence[str] = ()) -> list[Case]:
    """Every shape under each of its nulls, the named layouts, and so many layouts of tasks and of clusters."""
    found = [Case("shape", name, null, seed) for name, one in SHAPES.items() for null in one.targets]
    found += [Case("named", one.name, one.null, seed) for one in layouts.NAMED]
    for kind, null in (("tasks", "these"), ("clusters", "like")):
        found += [Case(kind, str(place), null, seed) for place in range(count)]
    return [case for case in found if not only or any(word in (case.kind, case.name) for word in only)]


# --- One table, from a file to its p-value


def by_command(path: Path, target: str | None, declared: dict[str, str]) -> float:
    """The p-value that `surefoot compare` prints for a file; nothing where the policies share no task."""
    words = ["compare", str(path), "--first", "a", "--second", "b", "--json"]
    words += [] if target is None else ["--target", target]
    words += [word for role, column in declared.items() for word in (f"--{role}", column)]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        code = run(words)
    if code:
        raise ValueError(printed.getvalue().removeprefix("surefoot: ").strip())
    found = json.loads(printed.getvalue())
    return counted(found["gain"]["verdict"], found["gain"]["p_value"])


def counted(verdict: str, p_value: float | None) -> float:
    """A p-value at most 5% if there is a verdict, and above if not: the verdict is what counts."""
    if p_value is None:
        return LEVEL if verdict in DECIDED else 1.0
    if (verdict in DECIDED) != (p_value <= LEVEL):
        raise AssertionError(f"the verdict is {verdict}, p = {p_value}.")
    return p_value


def by_table(rollouts: sf.Rollouts, target: Any) -> float:
    """The p-value of a table as read, without all else that an answer holds; of equal counts found once."""
    asked = Asked(rollouts, "a", "b", chosen(rollouts, None))
    found = held_within(asked, found_between(asked, target=target), paired=None, target=target)
    if not found.comparable:
        return 1.0
    if not isinstance(found.make, partial) or found.tallies is None:
        return _p(found)
    key = found.make.func, found.make.args
    if key not in KNOWN:
        KNOWN[key] = _p(found)
    return KNOWN[key]


def _p(found: Found) -> float:
    gain = found.gain(confidence=1.0 - LEVEL, margin=0.0)
    return counted(gain.verdict.value, gain.p_value)


def with_outcomes(read: sf.Rollouts, outcomes: pl.Series) -> sf.Rollouts:
    """A table as read, with other outcomes: what a column is does not depend on them."""
    frame = read.frame.to_native().lazy().collect()
    frame = frame.with_columns(outcomes.cast(frame.schema[outcomes.name]))
    made = replace(read, frame=nw.from_native(frame.lazy()))
    made.__dict__["design"] = read.design
    return made


def drawn(case: Case, place: int) -> Drawn:
    """The table of a shape, and what is declared; every other hundred has names that mean nothing.

    Where a name decides what a column is (counters), names stay.
    """
    layout, rng = SHAPES[case.name], case.generator(place)
    frame, declared = shape(case.name, rng, case.null)  # type: ignore[arg-type]
    by_name = layout.labels == "count" or layout.run_labels == "count"
    if by_name or place // ONE_FILE % 2 == 0:
        return frame, declared
    other, names = renamed(frame, case.generator(NAMES + place // ONE_FILE))
    return other, {role: names.get(column, column) for role, column in declared.items()}


def of_shape(job: Job, folder: Path) -> Iterator[float | str]:
    """The p-values of tables of a shape, or why they were refused."""
    case = job.case
    target = None if SHAPES[case.name].headline == case.null else case.null
    path, labels, read = folder / "table.csv", None, None
    for place in range(job.first, job.first + job.count):
        frame, declared = drawn(case, place)
        outcome = "success" if "success" in frame.columns else "score"
        try:
            if read is None or labels is None or not labels.equals(frame.drop(outcome)):
                frame.write_csv(path)
                read, labels = sf.read(path).declare(**declared), frame.drop(outcome)
                table = read
            else:
                table = with_outcomes(read, frame[outcome])
            found = by_table(table, target)
            if place == job.first and (printed := by_command(path, target, declared)) != found:
                raise AssertionError(f"{case.name}, table {place}: {found}; surefoot compare printed {printed}.")
            yield found
        except (sf.SurefootError, ValueError) as refusal:
            yield f"{refusal}"


def of_layout(job: Job, folder: Path) -> Iterator[float | str]:
    """The p-values of tables of a layout; with an old method put back, all by way of files."""
    case = layout_of(job.case)
    for place in range(job.first, job.first + job.count):
        cells = case.draw(job.case.generator(place))
        if job.case.old:
            yield layout_by_file(case, cells, folder)
            continue
        found = case.p_value(cells)
        read = layout_by_file(case, cells, folder) if place < FILES else found
        if not math.isclose(read, found, rel_tol=1e-6, abs_tol=1e-12) and min(read, found) <= 0.06:
            raise AssertionError(f"{case.name}, table {place}: {read} by file, {found} directly.")
        yield found


def layout_by_file(case: layouts.Case, cells: layouts.Cells, folder: Path) -> float:
    """The p-value of a table that was written to a file, read and compared; of six policies, the smallest adjusted."""
    path, frame, asked = folder / "table.csv", case.frame(cells), dict(case.asked)
    how = {key: asked.pop(key) for key in ("target", "weights") if key in asked}
    frame.write_csv(path)
    several = frame["group"].n_unique() > 1
    rollouts = sf.read(path).declare(**(asked if several else {}))
    if len(cells) > 2:
        members = sf.rank(rollouts, **how).members
        known = [one.p_value for one in members if one.p_value is not None]
        decided = any(one.verdict.value in DECIDED for one in members)
        return counted("better" if decided else "undecided", min(known) if known else None)
    found = sf.compare(rollouts, "a", "b", **(how if several else {}))
    return counted(found.verdict.value, found.p_value)


def asked(job: Job) -> tuple[Job, list[float | str]]:
    """What the tables of a job gave: p-values, or why a table was refused."""
    case = job.case
    with tempfile.TemporaryDirectory() as folder, put_back(case.old) if case.old else contextlib.nullcontext():
        of = of_shape if case.kind == "shape" else of_layout
        return job, list(of(job, Path(folder)))


# --- All tables of a case


def lower_limit(count: int, tables: int, confidence: float = 0.95) -> float:
    """Clopper and Pearson's one-sided lower limit of a chance."""
    return float(stats.beta.ppf(1 - confidence, count, tables - count + 1)) if count else 0.0


class Row(NamedTuple):
    """What a case gave."""

    case: Case
    values: list[float]
    refusals: list[str]

    @classmethod
    def of(cls, case: Case, found: Sequence[float | str]) -> Row:
        """The p-values and the refusals apart."""
        values = [one for one in found if isinstance(one, float)]
        return cls(case, values, [one for one in found if isinstance(one, str)])

    @property
    def counts(self) -> tuple[int, int]:
        """How many verdicts were false at 5% and at .3%."""
        return sum(p <= LEVEL for p in self.values), sum(p <= SMALL for p in self.values)

    @property
    def lows(self) -> tuple[float, float]:
        """The exact lower limits of their chances."""
        five, small = (lower_limit(count, len(self.values)) for count in self.counts)
        return five, small

    @property
    def above(self) -> bool:
        """Whether a lower limit is too large."""
        return any(low > most for low, most in zip(self.lows, self.case.limits, strict=True))

    @property
    def figures(self) -> tuple[str, ...]:
        """The case, its null and its numbers, as they are shown."""
        shares = [f"{count / len(self.values):.4f}" if self.values else "" for count in self.counts]
        lows = [f"{low:.4f}" for low in self.lows]
        both = [word for pair in zip(shares, lows, strict=True) for word in pair]
        return (self.case.shown, self.case.null, f"{len(self.values):,}", *both, f"{len(self.refusals)}")

    def __str__(self) -> str:
        name, null, tables, five, low, small, lowest, refused = self.figures
        line = f"{name:<76}{null:<8}{tables:>7}{five:>8}{low:>8}{small:>8}{lowest:>8}{refused:>9}"
        return line + ("\n    " + Counter(self.refusals).most_common(1)[0][0] if self.refusals else "")


def judged(every: Sequence[Case], tables: int, processes: int, *, first: int = 0) -> Iterator[Row]:
    """The rows of the cases, in the order in which they are done."""
    jobs = [
        Job(case, first + start, min(ONE_FILE, tables - start))
        for case in every
        for start in range(0, tables, ONE_FILE)
    ]
    done: dict[Case, list[float | str]] = defaultdict(list)
    context = multiprocessing.get_context("spawn")
    with context.Pool(processes) if processes > 1 else contextlib.nullcontext() as pool:
        answers = map(asked, jobs) if pool is None else pool.imap(asked, jobs)
        for at, (job, found) in enumerate(answers, 1):
            if sys.stderr.isatty():
                print(f"\r{at:,} of {len(jobs):,}", end="\r", file=sys.stderr)
            done[job.case] += found
            if len(done[job.case]) == tables:
                yield Row.of(job.case, done.pop(job.case))


def put_back_cases(seed: int) -> list[Case]:
    """The cases that three methods of 0.2.0, put back, must fail."""
    kinds = {one.name: one.null for one in layouts.NAMED}
    return [
        Case("named" if one.case in kinds else "shape", one.case, kinds.get(one.case, "like"), seed, finding)
        for finding, one in OLD.items()
    ]


# --- The page


PAGE = """# How often is a verdict false?

`make referee` answers it for the whole road: a table is drawn in which no policy is better, written to a file, read and
compared as `surefoot compare` does, and a verdict is counted as false. At a promised 5% at most 5 in 100 may be. This
page is what it wrote on {date}: {tables:,} tables a case, {cases} cases, {minutes} minutes, seed {seed}.

The lower limit is Clopper and Pearson's, of 95%: a case fails where it lies above 5% (.4% for verdicts at .3%; 5.5% for
layouts, whose level is measured and not proved). A case above is drawn again, twice as many tables, and fails if it is
above again. **{above} of {cases} cases failed.** The largest share was {largest}.

## Would it notice?

Three methods of version 0.2.0 were put back, one at a time:

| finding | method of 0.2.0 | case | false at 5% | lower limit | noticed |
|---|---|---|---|---|---|
{old}

## Every case

*Null*: "like" draws units (documents, trainings) with gains of their own whose mean is 0 over units like these; "these"
lets the gains of these very units cancel exactly. A shape is named by units x repeats. Half of its tables have column
names that mean nothing. Layouts of tasks and clusters are drawn at random, with sizes and laws of their own.

| case | null | tables | false at 5% | lower limit | at .3% | lower limit | refused |
|---|---|---|---|---|---|---|---|
{rows}
"""


def page(rows: Sequence[Row], old: Sequence[Row], **said: Any) -> str:
    """The page of the docs."""
    largest = max(rows, key=lambda row: row.counts[0] / max(1, len(row.values)))
    before = (
        (
            row.case.old,
            OLD[row.case.old].about,
            row.case.shown,
            row.figures[3],
            row.figures[4],
            "yes" if row.above else "NO",
        )
        for row in old
    )
    return PAGE.format(
        cases=len(rows),
        above=sum(row.above for row in rows) or "None",
        largest=f"{largest.figures[3]} ({largest.case.shown}, {largest.case.null})",
        old="\n".join(f"| {' | '.join(words)} |" for words in before),
        rows="\n".join(f"| {' | '.join(row.figures)} |" for row in rows),
        **said,
    )


def main(words: list[str] | None = None) -> int:
    """Ask every case and print a row for each; 1 where one fails, or an old method is not noticed."""
    asks = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asks.add_argument("cases", nargs="*", help="names of shapes, or shape, named, tasks, clusters; all when not said")
    asks.add_argument("--tables", type=int, default=1_000)
    asks.add_argument("--layouts", type=int, default=20, help="so many layouts of tasks, and as many of clusters")
    asks.add_argument("--old-tables", type=int, default=200, help="so many tables by each method of 0.2.0 put back")
    asks.add_argument("--seed", type=int, default=0, help="other layouts and tables for another number")
    asks.add_argument("--processes", type=int, default=2)
    asks.add_argument("--page", type=Path, help="where to write the page of the docs")
    given = asks.parse_args(words)
    began = time.monotonic()
    if not (every := cases(given.layouts, given.seed, given.cases)):
        asks.error(f"the cases are shape, named, tasks, clusters, {', '.join(SHAPES)}; got {', '.join(given.cases)}.")
    print(HEAD)
    rows = []
    for found in judged(every, given.tables, given.processes):
        row = found
        if row.above:
            print(f"{row}  drawn again", flush=True)
            (row,) = judged([row.case], 2 * given.tables, given.processes, first=given.tables)
        rows.append(row)
        print(f"{row}{'  TOO MANY' if row.above else ''}", flush=True)
    again = put_back_cases(given.seed) if given.old_tables else []
    old = list(judged(again, given.old_tables, given.processes))
    for row in old:
        print(f"{row.case.old} put back: {row}{'' if row.above else '  NOT NOTICED'}")
    if given.page:
        minutes = math.ceil((time.monotonic() - began) / 60)
        said = {"date": time.strftime("%Y-%m-%d"), "tables": given.tables, "minutes": minutes, "seed": given.seed}
        given.page.write_text(page(rows, old, **said), encoding="utf-8")
    return int(any(row.above for row in rows) or not all(row.above for row in old))


if __name__ == "__main__":
    sys.exit(main())
