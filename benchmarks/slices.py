"""Where does one policy fail? False slices of a policy that fails alike everywhere, and how often a real one is named.

gauntlet-robotics calls a pair of levels a failure cluster where its failure rate is twice the average, whatever the
number of rollouts; it promises no error. Both are given the same tables.
"""

from __future__ import annotations

import itertools
import sys
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import surefoot as sf
from benchmarks.common import cpu, dated, importable, kept, seconds, write

SEED, DRAWS, ERROR = 30, 200, 0.05
AXES = ("lighting", "clutter", "pose")
CELLS = list(itertools.product(range(3), repeat=3))
BAD = {cell for cell in CELLS if cell[:2] == (0, 0)}
Named = set[tuple[tuple[str, int], ...]]


class Setting(NamedTuple):
    """Rollouts in each of 27 cells, the failure rate, and that of one pair of levels."""

    each: int
    rate: float
    bad: float


SETTINGS = (
    Setting(10, 0.5, 0.5),
    Setting(10, 0.2, 0.2),
    Setting(10, 0.05, 0.05),
    Setting(3, 0.1, 0.1),
    Setting(10, 0.2, 0.5),
    Setting(10, 0.2, 0.6),
    Setting(3, 0.1, 0.6),
)


def drawn(setting: Setting, rng: np.random.Generator) -> list[tuple[tuple[int, ...], bool]]:
    """Every rollout: its cell, and whether it failed."""
    rates = [(cell, setting.bad if cell in BAD else setting.rate) for cell in CELLS]
    return [(cell, bool(rng.random() < rate)) for cell, rate in rates for _ in range(setting.each)]


def ours(rows: list[tuple[tuple[int, ...], bool]]) -> Named:
    """The slices that surefoot names."""
    columns = {name: [f"{name}{cell[place]}" for cell, _ in rows] for place, name in enumerate(AXES)}
    frame = pl.DataFrame({"policy": "new", **columns, "success": [not failed for _, failed in rows]})
    found = sf.slices(sf.read(frame), "new")
    return {tuple((name, int(level[-1])) for name, level in one.where) for one in found.claimed}


def theirs(rows: list[tuple[tuple[int, ...], bool]]) -> Named:
    """The failure clusters of gauntlet's report."""
    from gauntlet.report.analyze import build_report
    from gauntlet.runner.episode import Episode

    fixed: dict[str, Any] = {"suite_name": "s", "seed": 0, "terminated": True, "truncated": False}
    episodes = [
        Episode(
            **fixed, cell_index=CELLS.index(cell), episode_index=place, success=not failed, step_count=1,
            total_reward=0.0, perturbation_config=dict(zip(AXES, map(float, cell), strict=True)),
        )
        for place, (cell, failed) in enumerate(rows)
    ]  # fmt: skip
    found = build_report(episodes).failure_clusters
    return {tuple((name, int(level)) for name, level in one.axes.items()) for one in found}


def is_false(where: tuple[tuple[str, int], ...], setting: Setting) -> bool:
    """Whether no cell of a slice fails more than elsewhere."""
    if setting.bad == setting.rate:
        return True
    inside = [cell for cell in CELLS if all(cell[AXES.index(name)] == level for name, level in where)]
    return not BAD.intersection(inside)


def is_it(where: tuple[tuple[str, int], ...]) -> bool:
    """Whether a slice is the bad pair, or one of its two levels."""
    return set(where) <= {("lighting", 0), ("clutter", 0)}


def main() -> int:
    if not importable("gauntlet"):
        print("gauntlet-robotics is not installed here; nothing was measured.", file=sys.stderr)
        return 0
    lines = [
        "## Where does one policy fail?",
        "",
        f"{dated(['surefoot', 'numpy', 'gauntlet-robotics'])}. {DRAWS} tables, seed {SEED}: 27 cells of three columns "
        "of three levels, 36 slices; one pair of levels fails more in the last three rows. False: a slice none of "
        "whose cells fails more is named. Found: the pair, or one of its levels. gauntlet: failure clusters of "
        "`build_report` as it comes. Command: `python -m benchmarks.slices`.",
        "",
        "| rollouts a cell | failure rate | in the pair | surefoot: false | found | gauntlet: false | found | asked of "
        "surefoot | met |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    met = True
    for place, setting in enumerate(SETTINGS):
        rng, counts = np.random.default_rng([SEED, place]), np.zeros((2, 2), dtype=int)
        for _ in range(DRAWS):
            rows = drawn(setting, rng)
            for at, named in enumerate((ours(rows), theirs(rows))):
                counts[at] += any(is_false(one, setting) for one in named), any(map(is_it, named))
        fine = kept(int(counts[0, 0]), DRAWS, error=ERROR)
        met &= fine
        real = setting.bad != setting.rate
        shares = [[f"{count / DRAWS:.3f}" for count in pair] for pair in counts]
        seen = [(false, found if real else "") for false, found in shares]
        lines.append(
            f"| {setting.each} | {setting.rate:g} | {setting.bad:g} | {' | '.join((*seen[0], *seen[1]))} | "
            f"false in 0.05, within its binomial limit | {'yes' if fine else '**no**'} |"
        )
        print(lines[-1], file=sys.stderr, flush=True)
    spent = [seconds(cpu(lambda named=named: named(rows), repeats=3)) for named in (ours, theirs)]
    lines.append(f"| CPU of one table | | | {spent[0]} | | {spent[1]} | | none | yes |")
    print("\n".join(lines))
    write("slices", lines)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
