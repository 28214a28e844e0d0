"""How long do big files take: 10 million rows of CSV to a report, 100 million rows of Parquet to a ranking?

Every run is a process of its own. CPU seconds do not depend on what else the machine does; seconds on the clock do.
Peers read the same CSV: first a million rows, then the largest file that should, by that, take them 60 s of CPU or
4 GB at most. fieldtrial's reader is measured alone, without what its import then writes to a database; orbit-eval's is
`discover.scan` on a folder that holds the file.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.common import Row, seconds, section, times

POLICIES, TASKS = ("act", "diffusion", "pi0", "pi05"), 50
LEVELS = (0.50, 0.52, 0.60, 0.61)
SIZES = (1_000_000, 3_000_000, 10_000_000)
PIECES = 10
PEER_ROWS = 1_000_000
OURS = "import sys; from surefoot.cli.main import run; sys.exit(run(sys.argv[1:]))"
READ = "import sys, surefoot as sf; print(len(sf.read(sys.argv[1])))"
PEERS = {
    "fieldtrial": "import sys; from fieldtrial.io.csv import read_import_csv;"
    " print(len(read_import_csv(sys.argv[1], {'arm': 'policy', 'condition': 'seed'})))",
    "orbit-eval": "import os, sys; from orbit_eval.discover import scan; found = scan(os.path.dirname(sys.argv[1]))[0];"
    " print(sum(len(ended) for tasks in found.data.values() for ended in tasks.values()))",
}
MOST_SECONDS, MOST_MEMORY = 60.0, 4.0


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = [*_reports(folder), _ranking(folder), *_peers(folder)]
    peers = [name for name in PEERS if importlib.util.find_spec(name.replace("-", "_"))]
    note = (
        f"Clock seconds and peak memory in brackets; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores."
    )
    return 0 if section("big_files", "Big files", rows, peers=peers, note=note) else 1


def _reports(folder: Path) -> list[Row]:
    rows, spent = [], []
    for size in SIZES:
        path = folder / f"{size}.csv"
        _table(size).write_csv(path)
        cpu, clock, peak = measured([OURS, "report", str(path), "-o", str(folder / "report.html")])
        spent.append(cpu)
        last = size == SIZES[-1]
        met = not last or (cpu < 60.0 and peak < 4.0)  # of CPU: even on one core it would be done in time
        asked = "60 s on 2 cores, 4 GB" if last else ""
        rows.append(Row(f"{size:,} rows of CSV to a report", _shown(cpu, clock, peak), "", "", asked, met))
    growth = (spent[-1] / spent[0]) / (SIZES[-1] / SIZES[0])
    rows.append(
        Row(f"growth from {SIZES[0]:,} to {SIZES[-1]:,} rows", times(growth), "", "", "at most 1x", growth <= 1.05)
    )
    return rows


def _ranking(folder: Path) -> Row:
    import polars as pl

    base = pl.scan_csv(folder / f"{SIZES[-1]}.csv")
    path = folder / "huge.parquet"
    step = SIZES[-1] // len(POLICIES) // TASKS
    pl.concat([base.with_columns(pl.col("seed") + piece * step) for piece in range(PIECES)]).sink_parquet(path)
    cpu, clock, peak = measured([OURS, "rank", str(path)])
    size = PIECES * SIZES[-1]
    return Row(
        f"{size:,} rows of Parquet, paired by seed, to a ranking",
        _shown(cpu, clock, peak), "", "", "90 s on 2 cores, 6 GB", cpu < 90.0 and peak < 6.0,
    )  # fmt: skip


def _peers(folder: Path) -> list[Row]:
    rows = []
    for name, script in PEERS.items():
        if importlib.util.find_spec(name.replace("-", "_")) is None:
            continue
        small, cpu, peak = _beside(folder, name, script, PEER_ROWS)
        largest = _round(PEER_ROWS * min(MOST_SECONDS / cpu, MOST_MEMORY / peak))
        rows += [small, _beside(folder, name, script, largest, "about the largest it takes in 60 s of CPU or 4 GB")[0]]
    return rows


def _beside(folder: Path, name: str, script: str, size: int, why: str = "") -> tuple[Row, float, float]:
    """One peer and we read the same file, alone in its folder."""
    path = folder / f"{name} {size}" / "results.csv"
    path.parent.mkdir()
    _table(size).write_csv(path)
    ours, theirs = measured([READ, str(path)]), measured([script, str(path)])
    path.unlink()
    what = f"{size:,} rows of CSV read, beside {name}{f': {why}' if why else ''}"
    row = Row(what, _shown(*ours), _shown(*theirs), times(ours[0] / theirs[0]), "", met=True)
    return row, theirs[0], theirs[2]


def _round(size: float) -> int:
    """Down to two digits, so that every task has as many rollouts of every policy."""
    unit = 10 ** max(3, len(str(int(size))) - 2)
    return int(size) // unit * unit


def measured(arguments: list[str]) -> tuple[float, float, float]:
    """CPU seconds, clock seconds and peak gigabytes of a Python script in a process of its own."""
    code, *rest = arguments
    watch = (
        "import json, resource, subprocess, sys;"
        "subprocess.run([sys.executable, '-c', *sys.argv[1:]], check=True, stdout=subprocess.DEVNULL);"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN);"
        "print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss / 1024**2]))"
    )
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", watch, code, *rest], check=True, capture_output=True, text=True)
    cpu, peak = json.loads(done.stdout)
    return float(cpu), time.monotonic() - began, float(peak)


def _shown(cpu: float, clock: float, peak: float) -> str:
    return f"{seconds(cpu)} ({seconds(clock)}, {peak:.1f} GB)"


def _table(size: int) -> Any:
    """Four policies in the same seeds of fifty tasks, success and a score."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(7)
    met = size // len(POLICIES)
    level = np.tile(np.array(LEVELS), met)
    tasks = np.array([f"task{number:02d}" for number in range(TASKS)])
    return pl.DataFrame(
        {
            "policy": np.tile(np.array(POLICIES), met),
            "task": np.repeat(np.repeat(tasks, met // TASKS), len(POLICIES)),
            "seed": np.repeat(np.tile(np.arange(met // TASKS), TASKS), len(POLICIES)),
            "success": (rng.random(level.size) < level).astype(np.int8),
            "score": np.round(rng.beta(2 * level, 2 * (1 - level)), 3),
        }
    )


if __name__ == "__main__":
    sys.exit(main())
