"""How often is a verdict false, over layouts of tasks and of clusters drawn at random and cases that misled before?

`python tools/false_layouts.py tasks --layouts 80 --seed 7` draws 80 layouts and laws without a gain, and for each
2,000 tables. It counts p-values of at most 5% and of at most .3% and fails where the exact lower 95% limit of a share
is above .055, or .004. The first tables of a layout are written as files, read and compared: the p-value must be that
of the test called on the values, which is what the other tables get. `named` runs findings T24, T25 and T27.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np
from scipy import stats

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # layouts are those of the tests

from tests.support import layouts  # noqa: E402

import surefoot as sf  # noqa: E402

LIMITS = ((0.05, 0.055), (0.003, 0.004))
LINE = "{:>5} {:>6}  {:>5} {:.4f} {:>4} {:.4f}  {}{}"


def by_file(case: layouts.Case, drawn: layouts.Cells) -> float:
    """The p-value of a table that was written to a file, read and compared; of six policies, of all their pairs."""
    asked = dict(case.asked)
    how = {key: asked.pop(key) for key in ("target", "weights") if key in asked}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        frame = case.frame(drawn)
        frame.write_csv(path)
        rollouts = sf.read(path).declare(**({} if frame["group"].n_unique() == 1 else asked))
        how = how if frame["group"].n_unique() > 1 else {}
        if len(drawn) > 2:
            members = sf.rank(rollouts, **how).members
            return min(1.0, len(members) * min(member.p_value for member in members if member.p_value is not None))
        found = sf.compare(rollouts, "a", "b", **how)
    decided = found.verdict in (sf.Verdict.BETTER, sf.Verdict.WORSE)
    if found.p_value is None or decided != (found.p_value <= 1.0 - found.gain.confidence):
        raise AssertionError(f"{case.name}: the verdict is {found.verdict}, p = {found.p_value}.")
    return found.p_value


def p_values(case: layouts.Case, seed: int, tables: int, files: int) -> list[float]:
    """The p-values of so many tables, the first ones by way of files as well."""
    found = []
    for place in range(tables):
        drawn = case.draw(np.random.default_rng([zlib.crc32(case.name.encode()), seed, place]))
        found.append(case.p_value(drawn))
        read = by_file(case, drawn) if place < files else found[-1]
        if not math.isclose(read, found[-1], rel_tol=1e-6, abs_tol=1e-12) and min(read, found[-1]) <= 0.06:
            raise AssertionError(f"{case.name}, table {place}: {read} by file, {found[-1]} directly.")
    return found


def lower_limit(count: int, tables: int) -> float:
    """Clopper and Pearson's lower 95% limit of a share."""
    return float(stats.beta.ppf(0.05, count, tables - count + 1)) if count else 0.0


def main(words: list[str] | None = None) -> int:
    """Count, and print a line a layout; 1 where a share is too large."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("kind", choices=["tasks", "clusters", "named"])
    asked.add_argument("--layouts", type=int, default=80)
    asked.add_argument("--first", type=int, default=0, help="the number of the first layout")
    asked.add_argument("--tables", type=int, default=2_000)
    asked.add_argument("--files", type=int, default=10, help="so many of the tables by way of files too")
    asked.add_argument("--seed", type=int, default=0, help="other layouts and tables for another number")
    given = asked.parse_args(words)
    places = range(given.first, given.first + given.layouts)
    cases = layouts.NAMED if given.kind == "named" else [getattr(layouts, given.kind)(given.seed, at) for at in places]
    failed = False
    for place, case in enumerate(cases, given.first):
        found = p_values(case, given.seed, given.tables, given.files)
        counts = [sum(p <= level for p in found) for level, _ in LIMITS]
        lows = [lower_limit(count, len(found)) for count in counts]
        bad = any(low > most for low, (_, most) in zip(lows, LIMITS, strict=True))
        failed = failed or bad
        shown = (value for pair in zip(counts, lows, strict=True) for value in pair)
        print(LINE.format(place, len(found), *shown, case.name, "  TOO MANY" if bad else ""), flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
