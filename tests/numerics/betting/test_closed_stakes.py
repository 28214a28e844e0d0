"""Tests of `surefoot.numerics.betting.closed_stakes`."""

from dataclasses import replace

import numpy as np
import pytest

from surefoot.numerics.betting import weak_orders
from surefoot.numerics.betting.closed_stakes import Gamblers, Terms, stakes, widened
from surefoot.sequential import ClosedRanking, run_ranking
from tests.oracles import closed_ranking as twin
from tests.support.closed_ranking import NAMES, claims, named


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


# --- Edges and refusals ----------------------------------------------------------------------------------


def test_the_last_order_standing_stays():
    """Rows that contradict every order in turn: claims still hang together."""
    early, late = [(1.0, 0.0)] * 4, [(0.0, 1.0)] * 40
    state = run_ranking(ClosedRanking(("a", "b"), 200, confidence=0.6, binary=True), named(early + late))[-1]
    assert len(claims(state)) <= 1
    games = Gamblers.begin(weak_orders.weak_orders(2), Terms(0.05, 10, True, 0.0))
    games = games.step(np.array([[1.0, 0.0]]))
    doomed = replace(games, log_best=np.array([4.0, 3.5, 3.5]))
    after = doomed._judged(p_values=True)
    assert len(after.which) == 2
    assert (after.log_best < games.terms.target).all()
    assert not (after.better & after.better.swapaxes(1, 2)).any()
    alike = replace(doomed, log_best=np.full(3, 4.0))._judged(p_values=True)
    assert len(alike.which) == 3  # all would be rejected, and none fares worse than another
    assert not alike.better.any()
    assert alike.p_values[0, 0, 1] == pytest.approx(0.05)


# --- Studies side by side


def played(rows, studies):
    """So many studies of three policies, the same number of rounds of each."""
    games = Gamblers.begin(weak_orders.weak_orders(3), Terms(0.2, 40, True, 0.05), studies)
    for row in rows:
        games = games.step(row)
    return games


def test_studies_that_are_kept_go_on_as_if_they_were_alone():
    rows = (np.random.default_rng(5).random((14, 3, 3)) < (0.9, 0.5, 0.2)).astype(float)
    together = played(rows[:12], 3)
    every = together.keep(np.ones(3, bool))
    some = together.keep(np.array([True, False, True]))
    for row in rows[12:]:
        every, some = every.step(row), some.step(row[[0, 2]])
    for games, studies in ((every, range(3)), (some, (0, 2))):
        for place, study in enumerate(studies):
            alone, own = played(rows[:, [study]], 1), games.study == place
            assert np.array_equal(games.which[own], alone.which)
            assert np.array_equal(games.log_wealth[own], alone.log_wealth)
            for name in ("running", "futile", "better", "p_values"):
                assert np.array_equal(getattr(games, name)[place], getattr(alone, name)[0])
            assert [those[place].tolist() for those in games.leaders()] == [
                those[0].tolist() for those in alone.leaders()
            ]
    assert len(some.study) < len(together.study)


def test_a_policy_joins_one_study_at_a_time():
    two = played(np.zeros((1, 2, 3)), 2)
    with pytest.raises(ValueError, match="`now` must hold one study; got 2"):
        widened(two, weak_orders.weak_orders(4))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (weak_orders.weak_orders(2), weak_orders.weak_orders(3)),
        (weak_orders.best_sets(2), weak_orders.best_sets(3)),
        (weak_orders.best_ones(2), weak_orders.best_ones(3)),
        (weak_orders.against(2, 0), weak_orders.against(3, 0)),
    ],
    ids=["ranking", "best", "best or tied", "against"],
)
def test_every_hypothesis_goes_on_from_what_it_says_of_the_others(old, new):
    rng = np.random.default_rng(7)
    now = Gamblers.begin(old, Terms(0.05, 40, True, 0.0))
    now = now._chosen(now.which != 1)  # one was rejected, and all that goes back to it with it
    size = len(now.which)
    now = replace(
        now,
        log_wealth=rng.normal(size=size),
        log_best=rng.uniform(1, 2, size),
        weights=rng.random(now.weights.shape),
        rejected=np.full((1, 2, 2), 0.01),
    )
    wide, poorest = widened(now, new), int(np.argmin(now.log_wealth))
    place = {which: row for row, which in enumerate(now.which.tolist())}
    parents = new.parent.tolist()
    assert wide.which.tolist() == [which for which, parent in enumerate(parents) if parent < 0 or parent in place]
    for row, which in enumerate(wide.which.tolist()):
        parent = parents[which]
        heir = poorest if parent < 0 else place[parent]
        assert wide.log_wealth[row] == now.log_wealth[heir]
        assert wide.log_best[row] == (now.log_best.min() if parent < 0 else now.log_best[heir])
        assert np.array_equal(wide.weights[row], now.weights[heir])
    assert wide.running[0, 2]
    assert wide.p_values[0, 2].tolist() == wide.p_values[0, :, 2].tolist() == [1.0] * 3
    assert (wide.rejected == 0.01).all()
    assert not wide.better.any()


# --- Who is hopeless


@pytest.mark.parametrize(("horizon", "futility"), [(8, 0.4), (20, 0.4), (40, 0.4), (12, 1e-6)])
@pytest.mark.parametrize("seed", range(4))
def test_a_pair_is_futile_when_the_twin_says_so(horizon, futility, seed):
    rows = (np.random.default_rng(seed).random((horizon, 2)) < (0.5 + 0.12 * seed, 0.5)).astype(float)
    games = Gamblers.begin(weak_orders.weak_orders(2), Terms(0.3, horizon, True, futility))
    slow = twin.Study(list(twin.weak_orders(2)), horizon, 0.7, 0.5, futility)
    for row in rows:
        games = games.step(row[None])
        slow.step(row.tolist())
        assert np.argwhere(games.futile[0] & np.triu(np.ones((2, 2), bool))).tolist() == [list(p) for p in slow.futile]
        assert np.flatnonzero(games.running[0]).tolist() == (slow.running if slow.rounds < horizon else [])
        if not slow.running:
            break
