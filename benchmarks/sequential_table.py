"""How many pairs do the betting rules need to decide, on the same draws? `python -m benchmarks.sequential_table`."""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any, NamedTuple

import numpy as np

from benchmarks import sequential_laws as laws
from benchmarks.common import dated, write
from surefoot.core.verdict import Verdict
from surefoot.sequential import FiniteHorizonMixture, NScore, Wsr, simulate

SEED = 20260


class Setting(NamedTuple):
    name: str
    draw: laws.Draw
    horizon: int
    bins: int
    stored: tuple[float, float, float, float]  # design figures: FHM time, power, N-SCORE time, power
    ratio: float | None  # the most that FHM's time may be of N-SCORE's


SETTINGS = [
    Setting("Bernoulli, 35 alternatives, N=1000", laws.bernoulli, 1000, 2, (93.9, 0.993, 120.5, 0.960), 0.80),
    Setting("Bernoulli, 35 alternatives, N=200", laws.bernoulli, 200, 2, (61.2, 0.897, 73.9, 0.834), None),
    Setting("Bernoulli, 35 alternatives, N=50", laws.bernoulli, 50, 2, (30.1, 0.684, 34.9, 0.557), None),
    Setting("polynomial densities, N=1000", laws.polynomials, 1000, 11, (177.0, 0.921, 201.0, 0.892), 0.90),
    Setting("partial credit, N=50", laws.partial_credit, 50, 11, (27.0, 0.790, 31.2, 0.675), 0.88),
    Setting(
        "partial credit, pairs correlated +.6, N=50", laws.correlated_partial_credit, 50, 11,
        (22.5, 0.918, 28.3, 0.786), None,
    ),
]  # fmt: skip


def rules(setting: Setting) -> dict[str, Any]:
    return {
        "FHM": FiniteHorizonMixture(setting.horizon, binary=setting.bins == 2),
        "N-SCORE": NScore(setting.horizon, bins=setting.bins),
        "WSR two-sided": Wsr(setting.horizon, claim="either"),
    }


def figures(setting: Setting, draws: int, seed: int) -> dict[str, tuple[float, float, float, float]]:
    """Per rule: mean decision time, its standard error, power, its standard error."""
    first, second = setting.draw(np.random.default_rng(seed), draws, setting.horizon)
    # The N=1000 Bernoulli row counts power over the nine alternatives of gap .1 only: the others are always decided.
    counted = slice(0, 9 * (len(first) // 35)) if setting.name.endswith("N=1000") and setting.bins == 2 else slice(None)
    out = {}
    for name, rule in rules(setting).items():
        done = simulate(rule, first, second)
        right = (done.verdicts == Verdict.BETTER)[counted]
        times = done.stopping_times
        power = float(right.mean())
        out[name] = (
            float(times.mean()),
            float(times.std() / len(times) ** 0.5),
            power,
            (power * (1 - power) / len(right)) ** 0.5,
        )
    return out


def table(draws: int, seed: int) -> tuple[list[str], bool]:
    lines = [
        "| setting | FHM | N-SCORE | WSR two-sided | FHM / N-SCORE time | stated | met |",
        "|---|---|---|---|---|---|---|",
    ]
    all_met = True
    for setting in SETTINGS:
        found = figures(setting, draws, seed)
        shown = [f"{t:.1f} ± {te:.1f} / {p:.3f} ± {pe:.3f}" for t, te, p, pe in found.values()]
        ratio = found["FHM"][0] / found["N-SCORE"][0]
        stated = setting.stored
        limit = f" (at most {setting.ratio:.2f})" if setting.ratio else ""
        met = ratio <= (setting.ratio or 1.0) and found["FHM"][2] > found["N-SCORE"][2]
        all_met &= met
        lines.append(
            f"| {setting.name} | {' | '.join(shown)} | {ratio:.3f}{limit} | "
            f"{stated[0]} / {stated[1]:.3f}; {stated[2]} / {stated[3]:.3f} | {'yes' if met else '**no**'} |"
        )
    return lines, all_met


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few draws: a look, not a measurement; writes nothing")
    parser.add_argument("--draws", type=int, default=21_000)
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    began = time.process_time()
    draws = 700 if options.quick else options.draws
    lines, met = table(draws, options.seed)
    spent = time.process_time() - began
    lines = [
        "## Pairs to a decision: the betting rules on the same draws",
        "",
        f"{dated(['surefoot', 'numpy'])}. Mean decision time (undecided counts as N) / power at a one-sided 5%, "
        f"{draws:,} draws a row, seed {options.seed}, {spent:.0f} s of CPU. "
        "Command: `python -m benchmarks.sequential_table`. "
        "The last column holds the figures to be reproduced, FHM then N-SCORE.",
        "",
        *lines,
    ]
    print("\n".join(lines))
    if not options.quick:
        write("sequential_table", lines)
    return 0 if met or options.quick else 1


if __name__ == "__main__":
    sys.exit(main())
