"""Tests of `surefoot.numerics.betting.gated_orders`."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.numerics.betting import gated_orders
from surefoot.numerics.betting.closed_stakes import Terms
from surefoot.numerics.betting.gated_orders import ListedOrders, possible
from surefoot.numerics.betting.weak_orders import Known, weak_orders
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


FIVE = tuple(one.ranks for one in twin.weak_orders(5))


@given(st.permutations(range(5)), st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=5))
@settings(max_examples=25)
def test_every_order_that_the_claims_leave_is_listed_once(order, pairs):
    """Claims drawn from one order, so that they do not contradict each other."""
    better = np.zeros((5, 5), bool)
    for a, b in pairs:
        if a != b:
            better[min(a, b, key=order.index), max(a, b, key=order.index)] = True
    wanted = {ranks for ranks in FIVE if all(ranks[a] < ranks[b] for a, b in np.argwhere(better))}
    found = possible(better, 1000)
    assert len(found) == len(wanted)
    assert set(map(tuple, found.tolist())) == wanted
    assert possible(better, len(wanted)) is not None
    assert possible(better, len(wanted) - 1) is None


def test_sixteen_policies_have_too_many():
    assert possible(np.zeros((16, 16), bool), 4000) is None
    chain = np.triu(np.ones((16, 16), bool), 1)
    assert possible(chain, 1).tolist() == [list(range(16))]
    chain[3:6, 3:6] = False
    assert len(possible(chain, 4000)) == 13


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=30)
def test_groups_are_those_of_the_twin_and_of_the_table(seed, coarse):
    rng = np.random.default_rng(seed)
    means = rng.integers(0, 4, 5) / 4 if coarse else rng.random(5)
    running = rng.random(5) < 0.8
    omega = np.where(running, rng.uniform(0.5, 50.0, 5), 0.0)
    known = Known(means[None], omega[None], running[None], np.full((1, 5), 9.0), np.eye(5)[None])
    where = np.zeros(len(FIVE), np.int64), np.arange(len(FIVE))
    table = weak_orders(5)
    _, masks, number = ListedOrders(table.ranks).groups(known, where)
    _, others, rows = table.groups(known, where)
    for which, ranks in enumerate(table.ranks.tolist()):
        some = [a for a in range(5) if running[a]]
        groups = twin.chain_groups({a: ranks[a] for a in some}, dict(enumerate(means)), dict(enumerate(omega)))
        inside = sum(1 << a for a in some)
        for group in groups:
            assert {int(masks[number[which], a]) & inside for a in group} == {sum(1 << a for a in group)}
            assert {int(others[rows[which], a]) & inside for a in group} == {sum(1 << a for a in group)}
