"""Tests of `surefoot.numerics.betting.weak_orders`."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.numerics.betting import weak_orders
from surefoot.numerics.betting.weak_orders import Known, by_masks, products, top_sets, used_rows
from tests.oracles import closed_ranking as twin


def test_what_a_newcomer_makes_of_rejected_orders():
    """Every order of three goes on from its restriction to two; what was rejected stays so."""
    small, large = weak_orders.weak_orders(2), weak_orders.weak_orders(3)
    for row, parent in zip(large.ranks, large.parent, strict=True):
        a, b = small.ranks[parent]
        assert np.sign(row[0] - row[1]) == np.sign(int(a) - int(b))
    sets = weak_orders.best_sets(3)
    alone = [parent for row, parent in zip(sets.ranks, sets.parent, strict=True) if row.tolist() == [1, 1, 0]]
    assert alone == [-1]  # the newcomer alone is best: which of the old ones is best is open
    assert (sets.parent >= 0).sum() == 6


def test_different_keys_are_found_with_their_places():
    keys, place = used_rows(np.array([7, 3, 7, 0]), 8)
    assert keys.tolist() == [0, 3, 7]
    assert keys[place].tolist() == [7, 3, 7, 0]


def test_a_row_times_its_own_square():
    rng = np.random.default_rng(1)
    rows, squares, study = rng.random((4, 3)), rng.random((2, 3, 3)), np.array([0, 1, 1, 0])
    assert np.allclose(products(rows, squares, study), [u @ squares[s] for u, s in zip(rows, study, strict=True)])
    one = products(rows[:1], squares[:1], np.array([0]))
    assert one.tolist() == products(rows[:1], squares, np.array([0])).tolist()  # one study or many: the same digits


def test_bets_of_a_group_add_up_to_nothing_and_lone_policies_have_none():
    rng = np.random.default_rng(2)
    known = Known(
        means=rng.random((1, 4)),
        omega=np.array([[1.0, 2.0, 0.0, 1.0]]),
        running=np.array([[True, True, False, True]]),
        rounds=np.full((1, 4), 20.0),
        moments=np.eye(4)[None],
    )
    masks = np.array([[0b0111, 0b0111, 0b0111, 0b1000], [0b1011, 0b1011, 0b0100, 0b1011]])
    found = by_masks(known, np.zeros(2, np.int64), masks, np.array([1, 0, 1]))
    assert np.allclose(found.u.sum(axis=1), 0.0)
    assert found.u[0, 2] == found.u[0, 3] == found.u[1, 2] == 0.0
    assert (found.u[:, :2] != 0.0).all()
    assert found.number.tolist() == [1, 0, 1]
    assert ((found.trust >= 0.0) & (found.trust <= 1.0)).all()


def test_every_set_is_a_hypothesis():
    family = top_sets(5, 2)
    assert {one.ranks for one in twin.top_sets(5, 2)} == set(map(tuple, family.ranks.tolist()))
    assert family.last_place.min() == 2
    assert sorted(set(family.parent.tolist())) == [-1, *range(6)]  # with the newcomer inside it is open which it was


@given(st.integers(0, 10**6), st.integers(1, 4), st.booleans())
@settings(max_examples=40)
def test_what_is_bet_on_contradicts_the_set_and_never_the_means_that_obey_it(seed, top, coarse):
    rng = np.random.default_rng(seed)
    means = rng.integers(0, 4, 6) / 4 if coarse else rng.random(6)
    running = rng.random(6) < 0.9
    omega = np.where(running, rng.uniform(0.5, 9.0, 6), 0.0)
    known = Known(means[None], omega[None], running[None], np.full((1, 6), 9.0), np.eye(6)[None])
    family = top_sets(6, top)
    pooled = family.bets(known, (np.zeros(len(family), np.int64), np.arange(len(family))))
    for which, ranks in enumerate(family.ranks.tolist()):
        u = pooled.u[pooled.number[which]]
        some = {a: ranks[a] for a in range(6) if running[a]}
        groups = twin.top_groups(some, dict(enumerate(means)), dict(enumerate(omega)))
        assert sorted(np.flatnonzero(u)) == sorted(a for group in groups for a in group)
        assert abs(u.sum()) < 1e-9
        assert all(u[a] <= 0.0 if ranks[a] == 0 else u[a] >= 0.0 for a in range(6))
        obeying = np.where(np.array(ranks) == 0, 0.7, 0.7 * rng.random(6))
        assert u @ obeying <= 1e-9
