"""Tests of `surefoot.numerics.betting.top_sets`; tests/sequential/test_closed_ranking.py holds whole studies."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.numerics.betting.pools import Known
from surefoot.numerics.betting.top_sets import top_sets
from tests.oracles import closed_ranking as twin


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
