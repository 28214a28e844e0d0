"""Tests of `surefoot.sequential.simulation`."""

import numpy as np
import pytest

from surefoot.sequential import ClosedRanking, RankingRule, run_ranking, simulate_ranking
from tests.support.closed_ranking import NAMES, claims, draws, named

# --- Many studies at once ----------------------------------------------------------------------------------


@pytest.mark.parametrize("adjusting", ["holm", "bonferroni"])
def test_holm_simulated_is_holm_run(adjusting):
    rule = RankingRule(NAMES[:4], 60, binary=True, adjusting=adjusting, confidence=0.9)
    scores = np.stack([draws((0.95, 0.7, 0.3, 0.05), 60, seed) for seed in range(5)])
    done = simulate_ranking(rule, scores)
    for rows, used, better, complete in zip(scores, *done, strict=True):
        last = run_ranking(rule, named(rows))[-1]
        assert list(last.rollouts) == used.tolist()
        assert claims(last) == set(map(tuple, np.argwhere(better).tolist()))
        assert last.complete == complete
    assert done.complete.any()


def test_fewer_rollouts_than_holm_and_more_found():
    scores = np.stack([draws((0.9, 0.7, 0.5, 0.3, 0.1), 200, seed) for seed in range(40)])
    ours = simulate_ranking(ClosedRanking(NAMES[:5], 200, binary=True), scores)
    holm = simulate_ranking(RankingRule(NAMES[:5], 200, binary=True), scores)
    assert ours.mean_rollouts < 0.85 * holm.mean_rollouts
    assert ours.better.sum() > holm.better.sum()
