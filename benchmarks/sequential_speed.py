"""How fast is a 1,000-step N-SCORE sequence, alone and among many, beside the authors' package?

nscore (CC BY-NC) is installed in .bench-venv to be measured, never opened or depended on. Point NSCORE_PYTHON at the
interpreter of another environment that holds nscore 0.1.2 to measure it there; where neither does, the figure measured
before is shown.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import numpy as np

from benchmarks.common import Row, cpu, seconds, section, times
from surefoot.sequential import FiniteHorizonMixture, NScore, simulate

MEASURED = {21: 58.0, 2: 0.24}  # seconds per 1,000 steps, earlier
PEER = """
import sys, time
import numpy as np
from nscore.nonparametric_nsm import *
from nscore.nsm import *
from statistical_comparison_core.base import TwoSampleMeanHypothesis as H
bins, steps = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(1)
first, second = rng.random(steps), rng.random(steps)
if bins == 2:
    first, second = first.round(), second.round()
names = [name for name in dir() if name.startswith("Continuous") and name.endswith("NsmTest")]
kind = BernoulliNsmTest if bins == 2 else globals()[names[0]]
rule = kind(alternative=H.P0LessThanP1, alpha=1e-9, c=np.linspace(0, 1, bins))
rule.reset()
began = time.process_time()
for a, b in zip(second, first):
    rule.step(int(a) if bins == 2 else a, int(b) if bins == 2 else b)
print((time.process_time() - began) * 1000 / steps)
"""


def peer(bins: int, steps: int) -> tuple[float, str]:
    python = os.environ.get("NSCORE_PYTHON") or (sys.executable if importlib.util.find_spec("nscore") else None)
    if python is None:
        return MEASURED[bins], " (measured before)"
    done = subprocess.run(
        [python, "-W", "ignore", "-c", PEER, str(bins), str(steps)], capture_output=True, text=True, check=True
    )
    return float(done.stdout.split()[-1]), ""


def main() -> int:
    rng = np.random.default_rng(1)
    rows = []
    for bins, asked, steps in ((21, 500.0, 60), (2, 20.0, 1000)):
        first, second = rng.random((400, 1000)), rng.random((400, 1000))
        if bins == 2:
            first, second = first.round(), second.round()
        rule = NScore(1000, bins=bins, confidence=1 - 1e-9)  # never decides: every step is paid for
        theirs, how = peer(bins, steps)
        many = cpu(lambda: simulate(rule, first, second)) / len(first)  # noqa: B023
        alone = cpu(lambda: simulate(rule, first[:1], second[:1]), repeats=3)  # noqa: B023
        for what, ours in (("one of 400 at once", many), ("alone", alone)):
            ratio = theirs / ours
            met = ratio >= asked or what == "alone"  # the claim is about `simulate` on many
            asked_ = f"at least {asked:g}x" if what != "alone" else ""
            rows.append(
                Row(
                    f"1,000 steps, {bins} bins, {what}", seconds(ours), seconds(theirs) + how, times(ratio), asked_, met
                )
            )
    mixture = FiniteHorizonMixture(1000, confidence=1 - 1e-9)
    many = cpu(lambda: simulate(mixture, first, second)) / len(first)
    rows.append(Row("1,000 steps, finite-horizon mixture, one of 400", seconds(many), "none", "", "", True))
    return 0 if section("sequential_speed", "N-SCORE, step by step", rows, peers=[]) else 1


if __name__ == "__main__":
    sys.exit(main())
