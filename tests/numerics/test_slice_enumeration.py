"""How often a slice of a 2 x 2 table is named wrongly: every outcome of every table, no simulation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats as scipy_stats

from surefoot.stats import slices

pytestmark = pytest.mark.slow

ERROR, VECTORS = 0.025, 1_200
MEMBERS = np.array(
    [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
    float,
).T
LAYOUTS = [
    ((3, 3, 3, 3), (3, 3, 3, 3)),
    ((4, 3, 2, 3), (3, 3, 3, 2)),
    ((1, 4, 2, 3), (4, 1, 2, 2)),
    ((5, 2, 2, 2), (2, 2, 2, 2)),
]


def claims(n: np.ndarray, m: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of every outcome, the successes of both and which slices are claimed worse, by every shuffle of its labels."""
    first, second, named = [], [], []
    for total in itertools.product(*(range(a + b + 1) for a, b in zip(n, m, strict=True))):
        t = np.array(total)
        ranges = [range(max(0, k - b), min(a, k) + 1) for k, a, b in zip(total, n, m, strict=True)]
        x = np.array(list(itertools.product(*ranges)))
        chance = scipy_stats.hypergeom.pmf(x, n + m, t, n).prod(axis=1)
        mean, variance, third = slices.hypergeometric_moments(n.astype(float), m.astype(float), t.astype(float))
        gaps = np.where(variance > 0.0, mean - x, 0.0)
        seen = slices.statistic(gaps @ MEMBERS, variance @ MEMBERS, -third @ MEMBERS)
        seen = np.nan_to_num(seen, nan=-np.inf)
        first.append(x)
        second.append(t - x)
        named.append(np.array([stepped(row, seen, chance) for row in seen]))
    return np.concatenate(first), np.concatenate(second), np.concatenate(named)


def stepped(row: np.ndarray, every: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """The slices that a step-down claims whose shuffles are all listed."""
    left, claimed = list(np.argsort(-row, kind="stable")), np.zeros(len(row), dtype=bool)
    while left and np.isfinite(row[left[0]]):
        if chance[every[:, left].max(axis=1) >= row[left[0]] - 1e-9].sum() > ERROR:
            break
        claimed[left.pop(0)] = True
    return claimed


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_no_rates_make_a_false_claim_likelier_than_promised(layout: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    n, m = (np.array(side) for side in layout)
    x, y, named = claims(n, m)
    assert len(x) == np.prod(n + 1) * np.prod(m + 1)
    rng, worst = np.random.default_rng(23), 0.0
    for _ in range(VECTORS):
        q = rng.choice([rng.uniform(0, 1, 4), rng.choice([0.05, 0.5, 0.95], 4)])
        p = np.where(rng.random(4) < 0.5, q, rng.uniform(0, 1, 4))
        holds = (MEMBERS * (p < q)[:, None]).sum(axis=0) == 0.0  # nowhere in the slice is the first worse
        if not holds.any():
            continue
        laws = zip((*n, *m), (*p, *q), strict=True)
        tables = [scipy_stats.binom.pmf(np.arange(size + 1), size, rate) for size, rate in laws]
        chance = np.ones(len(x))
        for place in range(4):
            chance *= tables[place][x[:, place]] * tables[4 + place][y[:, place]]
        worst = max(worst, float(chance @ named[:, holds].any(axis=1)))
    print(f"{layout}: at most {worst:.4f}")
    assert worst <= ERROR + 1e-12
