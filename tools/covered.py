"""How much of each room do the quick tests run? Lines and branches, from the last `make coverage`.

Fails when a room of the statistics has fewer than 95% of its branches taken.
"""

from __future__ import annotations

import collections
import json
import subprocess
import sys
from pathlib import Path

ROOMS = ("numerics", "stats", "sequential", "analysis", "study")
COUNTS = ("covered_lines", "num_statements", "covered_branches", "num_branches")
LEAST = 95.0


def shares(data: str) -> dict[str, tuple[float, float]]:
    """For each room, the percentage of its lines run and of its branches taken."""
    command = [sys.executable, "-m", "coverage", "json", f"--data-file={data}", "-q", "-o", "-"]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    sums: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for name, file in found["files"].items():
        sums[Path(name.rpartition("surefoot/")[2]).parts[0]].update({key: file["summary"][key] for key in COUNTS})
    return {
        room: (_percent(s["covered_lines"], s["num_statements"]), _percent(s["covered_branches"], s["num_branches"]))
        for room, s in sums.items()
    }


def _percent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 100.0


def main() -> None:
    """Print the table; the exit code says whether every room holds."""
    found = shares(sys.argv[1] if len(sys.argv) > 1 else ".coverage")
    print(f"{'room':12} {'lines':>8} {'branches':>9}")
    for room in (*ROOMS, *sorted(found.keys() - set(ROOMS))):
        lines, branches = found[room]
        print(f"{room:12} {lines:7.1f}% {branches:8.1f}%" + ("" if room in ROOMS else "   (not held to a figure)"))
    low = [room for room in ROOMS if found[room][1] < LEAST]
    if low:
        sys.exit(f"Fewer than {LEAST:g}% of the branches are taken in {', '.join(low)}.")


if __name__ == "__main__":
    main()
