"""Is a paired bootstrap of 2,000 pairs, 10,000 resamples, at least as fast as scipy's?"""

from __future__ import annotations

import sys

import numpy as np

from benchmarks.common import Row, interleaved, seconds, section, times
from surefoot import Scores
from surefoot.reference import paired_bca, paired_bootstrap, unpaired_bootstrap

PAIRS, RESAMPLES, SEED = 2_000, 10_000, 7


def main() -> int:
    from scipy.stats import bootstrap

    rng = np.random.default_rng(SEED)
    smooth = rng.beta(4, 2, PAIRS), rng.beta(3, 2, PAIRS)
    levels = tuple(np.round(values * 6) / 6 for values in smooth)

    def gap(a: np.ndarray, b: np.ndarray, axis: int = -1) -> np.ndarray:
        return a.mean(axis=axis) - b.mean(axis=axis)

    rows = []
    for what, data, ours, paired, method in (
        ("paired percentile, continuous scores", smooth, paired_bootstrap, True, "percentile"),
        ("paired percentile, 7 levels of partial credit", levels, paired_bootstrap, True, "percentile"),
        ("paired BCa, continuous scores", smooth, paired_bca, True, "BCa"),
        ("unpaired percentile, continuous scores", smooth, unpaired_bootstrap, False, "percentile"),
    ):
        first, second = Scores(data[0]), Scores(data[1])

        def mine(ours=ours, first=first, second=second):  # type: ignore[no-untyped-def]
            return ours(first, second, rng=SEED, resamples=RESAMPLES).interval

        def theirs(data=data, paired=paired, method=method):  # type: ignore[no-untyped-def]
            found = bootstrap(data, gap, paired=paired, method=method, n_resamples=RESAMPLES, rng=SEED)
            return found.confidence_interval

        one, other = mine(), theirs()
        apart = max(abs(one.low - other.low), abs(one.high - other.high))
        fast, slow = interleaved(mine, theirs, repeats=3)
        asked, met = "at most 1x", fast <= slow
        rows.append(
            Row(f"{what} (ends differ by {apart:.0e})", seconds(fast), seconds(slow), times(fast / slow), asked, met)
        )
    # The fairest peer: the differences taken beforehand and scipy's own mean.
    first, second = Scores(smooth[0]), Scores(smooth[1])
    gaps = (smooth[0] - smooth[1],)
    fast, slow = interleaved(
        lambda: paired_bootstrap(first, second, rng=SEED, resamples=RESAMPLES),
        lambda: bootstrap(gaps, np.mean, method="percentile", n_resamples=RESAMPLES, rng=SEED),
        repeats=5,
    )
    what = "paired percentile, against scipy on ready-made differences"
    rows.append(Row(what, seconds(fast), seconds(slow), times(fast / slow), "at most 1x", fast <= slow))
    note = f"{PAIRS:,} pairs, {RESAMPLES:,} resamples, seed {SEED}."
    return 0 if section("bootstrap", "Bootstrap of a gain in scores", rows, peers=[], note=note) else 1


if __name__ == "__main__":
    sys.exit(main())
