"""How long does a final interval take, all that it needs included? `python -m benchmarks.final_intervals`."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.common import Row, section

ASKED = {50: (0.3, 0.3), 100: (1.0, 1.0), 200: (2.0, 2.0), 500: (2.0, 30.0)}
"""CPU seconds allowed for the interval that is shown at once, and for the certified one."""
ONE = """
import time
import numpy as np
from surefoot.sequential import {name}, run
rng = np.random.default_rng({horizon} + 7)
rule = {name}({horizon}, claim="{claim}", futility=0.02)
state = run(rule, (rng.random(({horizon}, 2)) < ({first}, 0.65)) * 1.0)[-1]
began = time.process_time()
state.interval
shown = time.process_time() - began
state.final_interval()
print(state.ending, state.interval_kind, shown, time.process_time() - began, sep="|")
"""
LISTED = """
import time
import numpy as np
from surefoot.sequential import ExactPairedBinary, run
rng = np.random.default_rng(3)
state = run(ExactPairedBinary({horizon}, claim="either", futility=0.02), (rng.random(({horizon}, 2)) < 0.65) * 1.0)[-1]
began = time.process_time()
state.list_interval()
print(time.process_time() - began)
"""
CASES = [
    (name, claim, first)
    for name in ("ExactBinary", "ExactPairedBinary")
    for claim, first in (("either", 0.65), ("either", 0.80), ("first better", 0.65))
]


def run(text: str) -> str:
    """What a process of its own prints: nothing is kept from the case before."""
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout.strip()


def main() -> int:
    """The table; 1 when a claim is not met."""
    rows = []
    for horizon, (at_once, certified) in ASKED.items():
        for name, claim, first in CASES:
            ending, kind, shown, proved = run(ONE.format(name=name, claim=claim, horizon=horizon, first=first)).split(
                "|"
            )
            what = f"{name}, {horizon} pairs, {claim}, {first:g} v 0.65: stopped by {ending}"
            took = f"{float(shown):.2f} s ({kind}), certified {float(proved):.2f} s"
            asked = f"{at_once:g} s" if at_once == certified else f"{at_once:g} s, certified {certified:g} s"
            rows.append(Row(what, took, "", "", asked, float(shown) <= at_once and float(proved) <= certified))
    for horizon in (100, 200, 500):
        took = f"{float(run(LISTED.format(horizon=horizon))):.2f} s"
        rows.append(Row(f"of the list itself, {horizon} pairs", took, "", "", "", True))
    return 0 if section("final_intervals", "Final intervals after a stop", rows, peers=[]) else 1


if __name__ == "__main__":
    sys.exit(main())
