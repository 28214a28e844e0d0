"""What does the mixture's stake beyond one change, on the same draws? `python -m benchmarks.long_horizons`.

The six settings of the table, and scores with a large and steady gain under a horizon four times too long. The peer is
the same mixture without that stake.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.common import Row, section, times
from benchmarks.sequential_table import SETTINGS
from surefoot.core.verdict import Verdict
from surefoot.sequential import FiniteHorizonMixture, simulate

if TYPE_CHECKING:
    from numpy.typing import NDArray

SEED = 41_207
RUNS = 4_000
TUNED, LONG = 50, 200


class Before(FiniteHorizonMixture):
    """The mixture whose largest stake is the largest that may be placed."""

    def opening(self) -> NDArray[np.float64]:
        """The opening of successes, on which no stake lies beyond one."""
        return FiniteHorizonMixture(self.horizon, binary=True).opening()


def easy(rng: np.random.Generator, runs: int) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Scores whose gain is large and steady: the mixture tuned to 50 pairs decides nearly all within 30."""
    shape = runs, LONG
    start = rng.beta(2, 2, shape)
    return {
        "beta(8, 2) v beta(4, 6)": (rng.beta(8, 2, shape), rng.beta(4, 6, shape)),
        "beta(20, 6) v beta(12, 10)": (rng.beta(20, 6, shape), rng.beta(12, 10, shape)),
        "0.85 v 0.55, spread 0.1": tuple(np.clip(rng.normal(m, 0.1, shape), 0, 1) for m in (0.85, 0.55)),  # type: ignore[dict-item]
        "uniform on [.5, 1] v [.1, .7]": (rng.uniform(0.5, 1.0, shape), rng.uniform(0.1, 0.7, shape)),
        "shared start, 0.2 + half of it": (
            np.clip(0.3 + 0.5 * start + rng.normal(0, 0.05, shape), 0, 1),
            np.clip(0.1 + 0.5 * start + rng.normal(0, 0.05, shape), 0, 1),
        ),
        "rubric of five levels": (
            rng.choice(5, shape, p=(0.02, 0.03, 0.15, 0.3, 0.5)) / 4,
            rng.choice(5, shape, p=(0.15, 0.25, 0.3, 0.2, 0.1)) / 4,
        ),
    }


def main() -> int:
    """The table; 1 when a claim is not met."""
    rows = []
    for place, setting in enumerate(SETTINGS):
        first, second = setting.draw(np.random.default_rng(SEED + place), 7_000, setting.horizon)
        binary = setting.bins == 2
        after, before = (
            simulate(rule(setting.horizon, binary=binary), first, second) for rule in (FiniteHorizonMixture, Before)
        )
        ratio, lost = after.mean_pairs / before.mean_pairs, before.share(Verdict.BETTER) - after.share(Verdict.BETTER)
        told = [f"{one.mean_pairs:.2f} / {one.share(Verdict.BETTER):.3f}" for one in (after, before)]
        asked = "at most 1.01x, .005 of power"
        rows.append(Row(setting.name, *told, f"{ratio:.3f}x", asked, ratio <= 1.01 and lost <= 0.005))
    worth = {"now": [0.0, 0.0], "before": [0.0, 0.0]}
    for name, (first, second) in easy(np.random.default_rng(SEED), RUNS).items():
        tuned = simulate(Before(TUNED, binary=False), first[:, :TUNED], second[:, :TUNED]).mean_pairs
        shown = []
        for rule, key in ((FiniteHorizonMixture, "now"), (Before, "before")):
            used = simulate(rule(LONG, binary=False), first, second).mean_pairs
            worth[key][0] += used / tuned
            worth[key][1] += 1
            shown.append(used)
        label = f"{name}, horizon {LONG} (tuned: {tuned:.1f})"
        rows.append(Row(label, f"{shown[0]:.2f}", f"{shown[1]:.2f}", times(shown[0] / tuned), "", True))
    now, before = (total / count for total, count in worth.values())
    label = f"mean over these laws, of the old time at horizon {TUNED}"
    rows.append(Row(label, f"{now:.3f}", f"{before:.3f}", "", "at most 1.08", now <= 1.08))
    note = f"Mean pairs / power, seed {SEED}. The peer is the mixture without the stake beyond one, on the same draws."
    met = section("long_horizons", "The mixture's stake beyond one", rows, peers=[], note=note)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
