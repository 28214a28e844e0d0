"""How long does a final interval take, all that it needs included? `python -m benchmarks.final_intervals`."""

from __future__ import annotations

import subprocess
import sys

from surefoot.sequential import ExactBinary, ExactPairedBinary

RULES = {"ExactBinary": ExactBinary, "ExactPairedBinary": ExactPairedBinary}
ONE = """
import time
import numpy as np
from surefoot.sequential import {name}, run
rng = np.random.default_rng({horizon})
rule = {name}({horizon}, claim="{claim}", futility=0.02)
state = run(rule, (rng.random(({horizon}, 2)) < ({first}, 0.65)) * 1.0)[-1]
began = time.process_time()
kind = state.interval_kind
state.interval
shown = time.process_time() - began
state.final_interval()
print(state.ending, kind, round(shown, 2), round(time.process_time() - began, 2), sep=" | ")
"""


def main() -> int:
    """A table: each rule, claim and horizon in a process of its own."""
    print(
        "| rule | claim | horizon | ended by | shown at once | CPU seconds | certified after |",
        "|---" * 7 + "|",
        sep="\n",
    )
    for name in RULES:
        for claim in ("either", "first better"):
            for horizon in (50, 100, 200, 500):
                for first in (0.65, 0.80):
                    text = ONE.format(name=name, horizon=horizon, claim=claim, first=first)
                    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
                    print(f"| {name} | {claim} | {horizon} | {done.stdout.strip()} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
