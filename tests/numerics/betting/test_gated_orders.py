"""Tests of `surefoot.numerics.betting.gated_orders`."""

import numpy as np
import pytest

from surefoot.numerics.betting import gated_orders
from surefoot.numerics.betting.closed_stakes import Terms
from tests.oracles import closed_ranking as twin


@pytest.mark.parametrize("futility", [0.0, 0.1])
@pytest.mark.parametrize("most", [3, 13, 40])
@pytest.mark.parametrize("seed", range(4))
def test_the_slow_twin_agrees_at_every_round(futility, most, seed, monkeypatch):
    monkeypatch.setattr(gated_orders, "MOST_ORDERS", most)
    rng, horizon, binary = np.random.default_rng(seed), 90, bool(seed % 2)
    rates = rng.choice([0.05, 0.5, 0.9, 0.95], 4)
    rows = (rng.random((horizon, 4)) < rates) * (1.0 if binary else rng.choice([0.5, 1.0], (horizon, 4)))
    games = gated_orders.Gate.begin(4, Terms(0.2, horizon, binary, futility))
    slow = twin.GatedStudy(4, horizon, 0.2, 0.5 if binary else 0.2, most, futility)
    for rounds, row in enumerate(rows, 1):
        if not games.running[0].any():
            break
        games = games.step(row[None])
        slow.step(row.tolist())
        assert set(map(tuple, np.argwhere(games.better[0]).tolist())) == slow.better
        assert np.flatnonzero(games.running[0]).tolist() == (slow.running if rounds < horizon else [])
        assert isinstance(games, gated_orders.Gate) == (slow.closure is None)
    if slow.closure is not None:
        left = {tuple(games.family.ranks[which]) for which in games.which}
        assert left == {one.ranks for one in slow.closure.alive}
        for which, wealth in zip(games.which, games.log_wealth, strict=True):
            ranks = tuple(games.family.ranks[which].tolist())
            assert wealth == pytest.approx(slow.closure.log_wealth[twin.Hypothesis("chain", ranks)], abs=1e-8)


def test_studies_played_together_end_as_each_does_alone(monkeypatch):
    monkeypatch.setattr(gated_orders, "MOST_ORDERS", 13)
    scores = (np.random.default_rng(3).random((5, 120, 4)) < (0.9, 0.7, 0.4, 0.1)).astype(float)
    terms = Terms(0.1, 120, True, 0.05)
    together = gated_orders.played(gated_orders.Gate.begin(4, terms, 5), scores)
    for study in range(5):
        alone = gated_orders.played(gated_orders.Gate.begin(4, terms), scores[study : study + 1])
        for every, one in zip(together, alone, strict=True):
            assert every[study].tolist() == one[0].tolist()


def test_a_claim_brings_what_follows_and_never_contradicts():
    better = np.zeros((4, 4), bool)
    for a, b in ((0, 1), (2, 3), (1, 2), (3, 0)):
        gated_orders._claim(better, a, b)
    assert better.tolist() == np.triu(np.ones((4, 4), bool), 1).tolist()
