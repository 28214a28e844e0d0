"""How much of each room do the quick tests run? Lines and branches, from the last `make coverage`.

Fails when a room has fewer than 95% of its branches taken.
"""

from __future__ import annotations

import collections
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

COUNTS = ("covered_lines", "num_statements", "covered_branches", "num_branches")
LEAST = 95.0
OUTSIDE = "(no room)"
"""Where the modules are counted that stand beside the rooms."""


def shares(report: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """For each room of a report of coverage, the percentage of its lines run and of its branches taken."""
    sums: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for name, file in report["files"].items():
        room, *inside = Path(name.rpartition("surefoot/")[2]).parts
        sums[room if inside else OUTSIDE].update({key: file["summary"][key] for key in COUNTS})
    return {
        room: (_percent(s["covered_lines"], s["num_statements"]), _percent(s["covered_branches"], s["num_branches"]))
        for room, s in sorted(sums.items())
    }


def low(found: dict[str, tuple[float, float]]) -> list[str]:
    """The rooms of which too few branches are taken."""
    return [room for room, (_, branches) in found.items() if branches < LEAST]


def _percent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 100.0


def main() -> None:
    """Print the table; the exit code says whether every room holds."""
    data = sys.argv[1] if len(sys.argv) > 1 else ".coverage"
    command = [sys.executable, "-m", "coverage", "json", f"--data-file={data}", "-q", "-o", "-"]
    found = shares(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    print(f"{'room':12} {'lines':>8} {'branches':>9}")
    for room, (lines, branches) in found.items():
        print(f"{room:12} {lines:7.1f}% {branches:8.1f}%")
    if lacking := low(found):
        sys.exit(f"Fewer than {LEAST:g}% of the branches are taken in {', '.join(lacking)}.")


if __name__ == "__main__":
    main()
