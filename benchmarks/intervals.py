"""Do a million Wilson and a million Clopper-Pearson intervals take at most 1.1 times statsmodels' time?"""

from __future__ import annotations

import sys

import numpy as np

from benchmarks.common import Row, interleaved, seconds, section, times
from surefoot.numerics import normal_quantiles
from surefoot.numerics.rates import binomial

MANY = 1_000_000


def main() -> int:
    from statsmodels.stats.proportion import proportion_confint

    rng = np.random.default_rng(11)
    totals = rng.integers(1, 500, MANY)
    counts = rng.binomial(totals, rng.random(MANY))
    z = normal_quantiles.upper_quantile(0.025)
    pairs = {
        "Wilson": (
            lambda: binomial.wilson_ends(counts, totals, z),
            lambda: proportion_confint(counts, totals, 0.05, "wilson"),
            9,
        ),
        "Clopper-Pearson": (
            lambda: (binomial.exact_low(counts, totals, 0.025), binomial.exact_high(counts, totals, 0.025)),
            lambda: proportion_confint(counts, totals, 0.05, "beta"),
            3,
        ),
    }
    rows = []
    for name, (ours, theirs, repeats) in pairs.items():
        gap = max(float(np.nanmax(np.abs(a - b))) for a, b in zip(ours(), theirs(), strict=True))
        mine, peer = interleaved(ours, theirs, repeats=repeats)
        rows.append(
            Row(
                f"1,000,000 {name} intervals (largest difference {gap:.0e})",
                seconds(mine),
                seconds(peer),
                times(mine / peer),
                "at most 1.1x",
                mine / peer <= 1.1,
            )
        )
    met = section("intervals", "Intervals in bulk", rows, peers=["statsmodels"])
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
