"""Are 10,000 optimal bounds at n = 50 at least 100 times faster than binomial_cis's loop?"""

from __future__ import annotations

import sys

import numpy as np

from benchmarks.common import Row, cpu, seconds, section, times
from surefoot import Tally
from surefoot.numerics.rates import randomised_counts
from surefoot.stats import optimal_lower

MANY, FEW, TRIALS = 10_000, 300, 50


def main() -> int:
    import binomial_cis

    rng = np.random.default_rng(7)
    counts, draws = rng.integers(0, TRIALS + 1, MANY), rng.random(MANY)
    tallies = [Tally(int(k), TRIALS) for k in counts]
    randomised_counts.low(counts[:10], draws[:10], TRIALS, 0.05)
    ours = cpu(lambda: randomised_counts.low(counts, draws, TRIALS, 0.05), repeats=5)
    one_by_one = cpu(lambda: [optimal_lower(t, draw=u) for t, u in zip(tallies, draws.tolist(), strict=True)])
    binomial_cis.binom_ci(3, TRIALS, 0.05, "lb", verbose=False)
    theirs = cpu(lambda: [binomial_cis.binom_ci(int(k), TRIALS, 0.05, "lb", verbose=False) for k in counts[:FEW]]) * (
        MANY / FEW
    )
    rows = [
        Row(
            "10,000 optimal lower bounds, n=50, 95%, as an array",
            seconds(ours),
            seconds(theirs),
            times(theirs / ours),
            "at least 100x",
            theirs / ours >= 100,
        ),
        Row(
            "the same, one result object each",
            seconds(one_by_one),
            seconds(theirs),
            times(theirs / one_by_one),
            "none",
            True,
        ),
    ]
    note = f"The peer has no array call: its loop was timed on {FEW} of the same counts and scaled up."
    met = section("optimal_bounds", "Optimal bounds", rows, peers=["binomial_cis"], note=note)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
