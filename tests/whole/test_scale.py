"""The same seed gives the same numbers on one process, two, threads, a Dask cluster and Ray: by configuration only."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from surefoot import reference
from surefoot.sequential import FiniteHorizonMixture, simulate
from tests.support.scale import scores


def test_another_seed_gives_other_numbers() -> None:
    first, second = scores(2000, 1), scores(2000, 2)
    one, other = (reference.paired_bootstrap(first, second, rng=seed, resamples=6000).interval for seed in (1, 2))
    assert (one.low, one.high) != (other.low, other.high)


def test_long_horizons_are_still_simulated_row_by_row() -> None:
    rule = FiniteHorizonMixture(3_000_000, binary=True)  # one sequence is longer than a block
    ones = np.ones((2, 3_000_000))
    assert simulate(rule, ones, 0 * ones).stopping_times.max() < 50


def test_nothing_of_ours_imports_joblib() -> None:
    code = (
        "import sys, numpy as np, surefoot as sf;"
        "from surefoot import reference; s = sf.Scores(np.random.default_rng(1).random(2000).tolist());"
        "reference.paired_bootstrap(s, s, rng=1, resamples=6000); assert 'joblib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
