"""How do peers fare with big files? The same CSV read by them and by us, in one run.

First a million rows, then the largest file that should, by that, take the peer 60 s of CPU or 4 GB at most. Of
fieldtrial's import its reader is measured, without what it then writes to a database; of orbit-eval, its `scan` of
the folder that holds the file.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path

from benchmarks.big_files import load, measured, shown, table
from benchmarks.common import Row, section, times

PEER_ROWS = 1_000_000
READ = "import sys, surefoot as sf; print(len(sf.read(sys.argv[1])))"
PEERS = {
    "fieldtrial": "import sys; from fieldtrial.io.csv import read_import_csv;"
    " print(len(read_import_csv(sys.argv[1], {'arm': 'policy', 'condition': 'seed'})))",
    "orbit-eval": "import os, sys; from orbit_eval.discover import scan; found = scan(os.path.dirname(sys.argv[1]))[0];"
    " print(sum(len(ended) for tasks in found.data.values() for ended in tasks.values()))",
}
MOST_SECONDS, MOST_MEMORY = 60.0, 4.0


def main() -> int:
    peers = [name for name in PEERS if importlib.util.find_spec(name.replace("-", "_"))]
    with tempfile.TemporaryDirectory() as name:
        rows = [row for peer in peers for row in _peer(Path(name), peer)]
    title = "Big files, beside the peers"
    return 0 if section("big_files_peers", title, rows, peers=peers, note=load()) else 1


def _peer(folder: Path, name: str) -> list[Row]:
    small, cpu, peak = _beside(folder, name, PEER_ROWS)
    largest = _round(PEER_ROWS * min(MOST_SECONDS / cpu, MOST_MEMORY / peak))
    return [small, _beside(folder, name, largest, "about the largest it takes in 60 s of CPU or 4 GB")[0]]


def _beside(folder: Path, name: str, size: int, why: str = "") -> tuple[Row, float, float]:
    """One peer and we read the same file, alone in its folder."""
    path = folder / f"{name} {size}" / "results.csv"
    path.parent.mkdir()
    table(size).write_csv(path)
    ours, theirs = measured([READ, str(path)]), measured([PEERS[name], str(path)])
    path.unlink()
    what = f"{size:,} rows of CSV read, beside {name}{f': {why}' if why else ''}"
    row = Row(what, shown(*ours), shown(*theirs), times(ours[0] / theirs[0]), "", met=True)
    return row, theirs[0], theirs[2]


def _round(size: float) -> int:
    """Down to two digits, so that every task has as many rollouts of every policy."""
    unit: int = 10 ** max(3, len(str(int(size))) - 2)
    return int(size) // unit * unit


if __name__ == "__main__":
    sys.exit(main())
