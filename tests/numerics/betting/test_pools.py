"""Tests of `surefoot.numerics.betting.pools`."""

import numpy as np

from surefoot.numerics.betting.pools import Known, by_masks, products, used_rows


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
