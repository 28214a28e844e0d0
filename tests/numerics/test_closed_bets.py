"""Tests of `surefoot.numerics.closed_bets`."""

import numpy as np

from surefoot.numerics import weak_orders
from surefoot.numerics.closed_bets import Gamblers
from surefoot.numerics.closed_stakes import Terms
from surefoot.sequential import ClosedRanking, run_ranking
from tests.support.closed_ranking import claims, named

# --- Edges and refusals ----------------------------------------------------------------------------------


def test_the_last_order_standing_stays():
    """Rows that contradict every order in turn: claims still hang together."""
    early, late = [(1.0, 0.0)] * 4, [(0.0, 1.0)] * 40
    state = run_ranking(ClosedRanking(("a", "b"), 200, confidence=0.6, binary=True), named(early + late))[-1]
    assert len(claims(state)) <= 1
    games = Gamblers.begin(weak_orders.weak_orders(2), Terms(0.05, 10, True, 0.0))
    games = games.step(np.array([[1.0, 0.0]]))
    doomed = Gamblers(**{**{n: getattr(games, n) for n in games.__slots__}, "log_best": np.array([4.0, 3.5, 3.5])})
    after = doomed._judged(p_values=True)
    assert len(after.which) == 2
    assert (after.log_best < games.terms.target).all()
    assert not (after.better & after.better.swapaxes(1, 2)).any()
