"""Is the mean of 1,000 scores bounded far faster than by ville's BettingCS?"""

from __future__ import annotations

import sys

import numpy as np

from benchmarks.common import Row, interleaved, seconds, section
from surefoot import Scores
from surefoot.reference import betting_mean, wsr_mean
from surefoot.stats import betting_sequence, score_mean

SEED = 20260


def main() -> int:
    from ville import BettingCS

    values = np.random.default_rng(SEED).beta(5.0, 1.0, 1_000)
    scores = Scores(values)
    rows = []
    for what, ours, most in (
        ("hedged WSR, fixed n", wsr_mean, 0.01),
        ("the default, order-free", score_mean, 0.1),
        ("aimed betting, recorded order", betting_mean, 0.1),
        ("anytime sequence, all 1,000 ends", betting_sequence, None),
    ):
        ours(scores)  # imports are not part of the claim
        mine, theirs = interleaved(lambda ours=ours: ours(scores), lambda: BettingCS().fit(values), repeats=5)
        asked = f"at most {most:g}x" if most is not None else "none"
        met = most is None or mine / theirs <= most
        rows.append(Row(f"{what}, 1,000 scores", seconds(mine), seconds(theirs), f"{mine / theirs:.4f}x", asked, met))
    found = BettingCS().fit(values)
    lower, upper = float(np.ravel(found.lower_)[-1]), float(np.ravel(found.upper_)[-1])
    widths = ", ".join(f"{f.__name__} {f(scores).width:.4f}" for f in (score_mean, betting_mean, wsr_mean))
    note = f"Seed {SEED}, beta(5,1). Widths: {widths}, BettingCS {upper - lower:.4f} (anytime, grid of 10,000 means)."
    met = section("means", "The mean of 1,000 scores", rows, peers=["ville"], note=note)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
