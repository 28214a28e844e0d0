"""Every claim, one process each: `python -m benchmarks`, or `python -m benchmarks tightness intervals`.

Only all of them together write the summary at the head of RESULTS.md: one run, one machine, one table.
"""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.common import arrange

HERE = Path(__file__).parent
ORDER = (
    *("features", "exact_designs", "sequential_table", "closed_ranking", "best_arm", "finite_lists", "real_rollouts"),
    *("best_of_many", "clusters", "strata", "slices", "preferences", "newer_peers"),
    *(
        "sequential_speed",
        "long_horizons",
        "final_intervals",
        "exact_gains",
        "optimal_bounds",
        "tightness",
        "intervals",
        "means",
        "order_free",
    ),
    *(
        "bootstrap",
        "letters",
        "start_up",
        "cold_start",
        "big_files",
        "big_files_peers",
        "scaling",
        "console_load",
        "batches",
    ),
)
"""What each tool does, sample sizes and errors, speed, scale: the order to read them in."""


def main() -> int:
    chosen = sys.argv[1:] or ORDER
    began, load = _now(), os.getloadavg()[0]
    lines, failed = [], []
    for number, name in enumerate(chosen, 1):
        print(f"[{number} of {len(chosen)}] {name}", file=sys.stderr, flush=True)
        start = time.monotonic()
        code = subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False, cwd=HERE.parent).returncode
        lines.append(f"| `{name}` | {time.monotonic() - start:.0f} s | {'**no**' if code else 'yes'} |")
        failed += [name] if code else []
    if failed:
        print(f"Not met or not run: {', '.join(failed)}.", file=sys.stderr)
    if not sys.argv[1:]:
        said = f"{len(chosen) - len(failed)} of {len(chosen)} scripts met every claim they make"
        taken = (
            f"One run of `make bench`, {began} to {_now()}, {os.cpu_count()} cores, load average {load:.1f} before it."
        )
        arrange(["summary", *ORDER], ["## In one run", "", f"{taken} {said}.", "", *HEAD, *lines])
    return 1 if failed else 0


HEAD = ("| script | clock | every claim met |", "|---|---|---|")


def _now() -> str:
    return f"{datetime.datetime.now(tz=datetime.UTC):%Y-%m-%d %H:%M} UTC"


if __name__ == "__main__":
    sys.exit(main())
