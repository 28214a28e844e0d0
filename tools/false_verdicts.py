"""How often is a verdict false, shape by shape, from a file to the answer? And does a renamed table answer the same?

`python tools/false_verdicts.py --tables 2000 --shapes 88x5 4x20 --targets like these` writes every table as a CSV file
under the null of the target, reads and compares it, and prints how many verdicts were given, with the exact (Clopper
and Pearson's) lower 95% limit of their chance; it fails where that limit is above 5%. `headline` asks for no target,
under the null of the one that should be answered. A table that is refused gives no verdict and is counted apart. Of 50
tables one is answered in full; of the others only the verdict is found, which takes a third of the time.

`--renaming` asks of every table whether other names, another order of rows and columns, a constant and a note change
the answer: any number or the verdict (it fails then, unless the answer says that a name decided), or the words, new
names put back (told only).
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy import stats

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the shapes are those of the tests

from tests.support.shapes import LISTED, SHAPES, renamed, shape  # noqa: E402

import surefoot as sf  # noqa: E402
from surefoot.analysis.comparison_data import Asked  # noqa: E402
from surefoot.analysis.comparisons import chosen  # noqa: E402
from surefoot.analysis.levels import held_within  # noqa: E402
from surefoot.analysis.targets import found_between  # noqa: E402

TARGETS = ("like", "these", "headline")
LEVEL = 0.05
BY_NAME = frozenset(
    {"counted runs", "counter meets", "several counters", "not paired by counter", "sound like results"}
)
"""Notes that say that a name decided: tables that say so are compared among themselves."""
VERDICTS = f"{'shape':<32}{'target':<10}{'tables':>7}{'false':>7}{'share':>8}{'limit':>8}{'refused':>9}"
RENAMINGS = f"{'shape':<32}{'target':<10}{'tables':>7}{'same':>7}{'words':>8}{'numbers':>9}{'refused':>9}"
DECIDED = (sf.Verdict.BETTER, sf.Verdict.WORSE)


class Question(NamedTuple):
    """One table of a shape, and what is asked of it."""

    shape: str
    target: str
    place: int
    renamings: int = 0
    seed: int = 0

    def generator(self) -> np.random.Generator:
        """The numbers of this table, whichever process draws them."""
        return np.random.default_rng([zlib.crc32(f"{self.shape}|{self.target}".encode()), self.place, self.seed])

    def table(self) -> tuple[pl.DataFrame, dict[str, str]]:
        """The table under the null of the target, and what is declared about its columns."""
        null = SHAPES[self.shape].headline if self.target == "headline" else self.target
        return shape(self.shape, self.generator(), null)  # type: ignore[arg-type]


def answer(frame: pl.DataFrame, target: str, declared: dict[str, str]) -> sf.Comparison:
    """The comparison of the first two policies, from a file."""
    asked: dict[str, Any] = dict(declared) if target == "headline" else {"target": target, **declared}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        frame.write_csv(path)
        return sf.compare(sf.read(path), "a", "b", **asked)


def verdict(frame: pl.DataFrame, target: str, declared: dict[str, str]) -> sf.Verdict:
    """The verdict of `answer`, without the other target, each policy alone, levels and an outlook."""
    wanted: Any = None if target == "headline" else target
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        frame.write_csv(path)
        rollouts = sf.read(path).declare(**declared)
        asked = Asked(rollouts, "a", "b", chosen(rollouts, None))
        found = held_within(asked, found_between(asked, target=wanted), paired=None, target=wanted)
        return found.gain(confidence=1.0 - LEVEL, margin=0.0).verdict if found.comparable else sf.Verdict.UNDECIDED


def decided(question: Question) -> str:
    """What one table gave: "false", "none", or why it was refused; the first of a shape and each 50th by `answer`."""
    frame, declared = question.table()
    try:
        found = verdict(frame, question.target, declared)
        if question.place % 50 == 0 and answer(frame, question.target, declared).verdict is not found:
            return "refused: the verdict is not that of the whole answer"
        return "false" if found in DECIDED else "none"
    except (sf.SurefootError, ValueError) as refusal:
        return f"refused: {refusal}"


Numbers = tuple[str, tuple[float, ...]]


def numbers(compared: sf.Comparison) -> Numbers:
    """The verdict and every number of an answer."""
    interval = compared.interval
    p_value = math.nan if compared.p_value is None else compared.p_value
    return str(compared.verdict), (interval.estimate, interval.low, interval.high, p_value)


def same(first: Numbers, second: Numbers) -> bool:
    """Whether two answers say the same, up to the order in which floats were added."""
    return first[0] == second[0] and bool(
        np.allclose(first[1], second[1], rtol=1e-7, atol=1e-9, equal_nan=True)  # ends are found by bisection
    )


def kept(question: Question) -> str:
    """What renaming one table did: "same", "numbers", "words", or why it was refused."""
    frame, declared = question.table()
    rng = question.generator()
    versions = [renamed(frame, rng) for _ in range(question.renamings)]
    versions.insert(0, (frame, {name: name for name in frame.columns}))
    seen: dict[frozenset[tuple[str, bool]], list[tuple[Numbers, str]]] = {}
    for other, names in versions:
        try:
            compared = answer(other, question.target, {role: names[column] for role, column in declared.items()})
        except (sf.SurefootError, ValueError) as refusal:
            return f"refused: {refusal}"
        words = str(compared)
        for old, new in names.items():
            words = words.replace(new, old)
        notes = [note for note in compared.notes if note.kind in BY_NAME]
        said = frozenset((note.kind, bool(note.values.get("named", True))) for note in notes)
        seen.setdefault(said, []).append((numbers(compared), " ".join(words.split())))
    if not all(same(alike[0][0], found) for alike in seen.values() for found, _ in alike):
        return "numbers"
    return "same" if all(len({words for _, words in alike}) == 1 for alike in seen.values()) else "words"


def lower_limit(count: int, tables: int, confidence: float = 0.95) -> float:
    """Clopper and Pearson's one-sided lower limit of a chance."""
    return float(stats.beta.ppf(1 - confidence, count, tables - count + 1)) if count else 0.0


def questions(
    names: Iterable[str], targets: Iterable[str], tables: int, renamings: int, seed: int = 0
) -> list[list[Question]]:
    """For each shape and each target that it can be asked about, its tables."""
    return [
        [Question(name, target, place, renamings, seed) for place in range(tables)]
        for name in names
        for target in targets
        if target == "headline" or target in SHAPES[name].targets
    ]


def row(given: list[Question], found: list[str]) -> tuple[str, bool]:
    """One line of the table of false verdicts, and whether it fails."""
    count, refused = found.count("false"), [one for one in found if one.startswith("refused")]
    answered = len(found) - len(refused)
    limit = lower_limit(count, answered)
    share = count / answered if answered else math.nan
    failed = limit > LEVEL
    line = (
        f"{given[0].shape:<32}{given[0].target:<10}{answered:>7}{count:>7}{share:>8.4f}{limit:>8.4f}{len(refused):>9}"
    )
    return _with_reason(f"{line}{'  ABOVE 5%' if failed else ''}", refused), failed


def renaming_row(given: list[Question], found: list[str]) -> tuple[str, bool]:
    """One line of the table of renamings, and whether it fails."""
    refused = [one for one in found if one.startswith("refused")]
    kinds = Counter(found)
    failed = kinds["numbers"] > 0
    line = f"{given[0].shape:<32}{given[0].target:<10}{len(found) - len(refused):>7}{kinds['same']:>7}"
    line += f"{kinds['words']:>8}{kinds['numbers']:>9}{len(refused):>9}"
    return _with_reason(f"{line}{'  CHANGED' if failed else ''}", refused), failed


def _with_reason(line: str, refused: list[str]) -> str:
    return f"{line}\n    {Counter(refused).most_common(1)[0][0]}" if refused else line


def main(words: list[str] | None = None) -> int:
    """Ask, and print a table; 1 where something is above 5% or changed."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("--tables", type=int, default=2000)
    asked.add_argument("--shapes", nargs="+", default=list(SHAPES), help='names of shapes; "listed": of section 20')
    asked.add_argument("--targets", nargs="+", choices=TARGETS, default=["like", "these"])
    asked.add_argument("--renaming", type=int, nargs="?", const=5, default=0, metavar="TIMES")
    asked.add_argument("--seed", type=int, default=0, help="other tables for another number")
    asked.add_argument("--processes", type=int, default=2)
    given = asked.parse_args(words)
    names = list(LISTED) if given.shapes == ["listed"] else given.shapes
    if unknown := [name for name in names if name not in SHAPES]:
        asked.error(f"the shapes are {', '.join(SHAPES)}; got {', '.join(unknown)}.")
    print(RENAMINGS if given.renaming else VERDICTS)
    one, line_of = (kept, renaming_row) if given.renaming else (decided, row)
    failed = False
    with multiprocessing.get_context("spawn").Pool(given.processes) as pool:
        for group in questions(names, given.targets, given.tables, given.renaming, given.seed):
            line, bad = line_of(group, pool.map(one, group, chunksize=max(1, min(50, len(group) // 8))))
            failed = failed or bad
            print(line, flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
