"""Tests of `surefoot.numerics.betting.listed_orders`."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.numerics.betting.listed_orders import ListedOrders, possible
from surefoot.numerics.betting.pools import Known
from surefoot.numerics.betting.weak_orders import weak_orders
from tests.oracles import closed_ranking as twin

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
