"""Tests of `surefoot.numerics.betting.closed_stakes`."""

import numpy as np
import pytest

from surefoot.numerics.betting.closed_stakes import stakes
from surefoot.sequential import ClosedRanking
from tests.support.closed_ranking import NAMES


def obeying(ranks, question, rng):
    """Means in [0, 1] that obey a hypothesis."""
    if question == "ranking":
        return np.sort(rng.random(ranks.max() + 1))[::-1][ranks]
    middle = rng.random()
    above, below = middle + (1.0 - middle) * rng.random(len(ranks)), middle * rng.random(len(ranks))
    return np.where(ranks < 0, above, np.where(ranks > 0, below, middle))


@pytest.mark.parametrize("question", ["ranking", "best", "best or tied", "against b"])
@pytest.mark.parametrize("join", [False, True])
@pytest.mark.parametrize("binary", [True, False])
def test_no_bet_can_win_on_average_where_its_hypothesis_holds(question, join, binary):
    """The heart of the proof: u . mu <= 0 for all means that obey the hypothesis, and no bet can lose all."""
    rng = np.random.default_rng(4)
    rule = ClosedRanking(NAMES[: 3 if join else 4], 60, confidence=0.9, question=question, binary=binary)
    state, betted = rule.start(), 0
    for turn in range(24):
        if state.finished:
            break
        games = state.rule._gamblers(state)
        if turn:
            bets, rows = stakes(games.seen, games.running, (games.study, games.which), games.family, games.terms)
            u, half = bets.u[rows], np.abs(bets.u[rows]).sum(axis=1) / 2.0
            assert np.abs(u.sum(axis=1)).max() < 1e-12
            assert (bets.most[rows] * half <= 0.99 + 1e-12).all()
            assert (u[:, ~games.running[0]] == 0.0).all()
            for _ in range(5):
                means = np.array([obeying(games.family.ranks[place], question, rng) for place in games.which])
                assert np.einsum("na,na->n", u, means).max() < 1e-12
            betted += np.count_nonzero(half)
        scores = rng.random(len(state.rule.names)) * np.linspace(1.0, 0.6, len(state.rule.names))
        kept = np.round(scores) if binary else np.round(scores, 1)
        state = state.rule.step(state, {n: kept[NAMES.index(n)] for n in state.running})
        if join and turn == 9:
            state = state.rule.with_policy(state, "d")
    assert betted > 20


@pytest.mark.parametrize("question", ["ranking", "best", "against b"])
@pytest.mark.parametrize("binary", [True, False])
def test_no_spread_falls_below_what_the_opening_guess_leaves(question, binary):
    """Policies that score alike, one of which came later: products over different rounds may come out below 0."""
    rng = np.random.default_rng(3)
    state, reached = ClosedRanking(NAMES[:3], 60, confidence=0.9, question=question, binary=binary).start(), 0
    for turn in range(10):
        games = state.rule._gamblers(state)
        if turn:
            bets, _ = stakes(games.seen, games.running, (games.study, games.which), games.family, games.terms)
            rounds = np.where(bets.u == 0.0, 0.0, games.seen.of(bets.study).rounds).max(axis=1)
            least = games.seen.guess(binary)[bets.study] * (bets.u**2).sum(axis=1) / (rounds + 2.0)
            assert (bets.spread**2 >= least * (1.0 - 1e-12)).all()
            reached += np.count_nonzero((least > 0.0) & np.isclose(bets.spread**2, least, rtol=1e-12))
        scores = np.clip(rng.random() + 0.02 * rng.standard_normal(4), 0.0, 1.0)
        kept = np.round(scores) if binary else np.round(scores, 2)
        state = state.rule.step(state, {n: kept[NAMES.index(n)] for n in state.running})
        if turn == 4:
            state = state.rule.with_policy(state, "d")
    assert reached
