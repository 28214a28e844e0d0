"""Tests of `surefoot.numerics.betting.race_bets`; tests/sequential/test_race.py holds whole races against a twin."""

import numpy as np

from surefoot.numerics.betting import race_bets
from surefoot.numerics.betting.race_bets import OUT, RUNNING, Race, Terms

ORDER = np.array([[0, 1, 2]])


def scores(*means, studies=1):
    """A round in which every running policy scores as it always does."""
    return lambda race: np.array([means] * studies) * race.turns()


def after(race, rounds, draw):
    for _ in range(rounds):
        race = race.step(draw(race), np.zeros(len(race.status), bool))
    return race


def test_the_leader_runs_more_often_unless_conditions_are_shared():
    race = after(Race.begin(Terms(0.05, 100), ORDER), 2, scores(1.0, 0.5, 0.0))
    assert race.turns().tolist() == [[1, 1, 1]]
    crowd = after(Race.begin(Terms(0.05, 100), np.arange(12)[None]), 2, scores(1.0, *[0.5] * 11))
    assert crowd.turns()[0].tolist() == [2, *[1] * 11]
    shared = after(Race.begin(Terms(0.05, 100, shared=True), np.arange(12)[None]), 2, scores(1.0, *[0.5] * 11))
    assert shared.turns()[0].tolist() == [1] * 12


def test_studies_played_together_end_as_each_does_alone():
    rng = np.random.default_rng(5)
    streams = (rng.random((6, 80, 3)) < [0.9, 0.5, 0.3]).astype(float)
    terms = Terms(0.05, 80, binary=True)
    together = race_bets.played(Race.begin(terms, ORDER, 6), race_bets.reader(streams))
    for study in range(6):
        alone = race_bets.played(Race.begin(terms, ORDER), race_bets.reader(streams[study : study + 1]))
        for all_of_them, one in zip(together, alone, strict=True):
            assert all_of_them[study : study + 1].tolist() == one.tolist()


def test_never_all_are_out_and_who_is_out_has_reached_the_target():
    race = after(Race.begin(Terms(0.05, 100), ORDER), 40, scores(1.0, 0.4, 0.0))
    assert race.status[0].tolist() == [RUNNING, OUT, OUT]
    assert (race.plain.wealth[0, 1:] >= race.terms.target).all()
    assert race.named.tolist() == [0]


def test_one_that_joins_late_has_lost_nothing_and_won_nothing():
    race = after(Race.begin(Terms(0.05, 100), ORDER), 3, scores(1.0, 0.5, 0.0))
    wider = race.joined(1)
    assert wider.order.tolist() == [[0, 2, 3, 1]]
    assert wider.plain.wealth[0].tolist() == [*race.plain.wealth[0].tolist(), 0.0]
    assert wider.withdrawn(3).turns()[0, 3] == 0


def test_the_running_bound_is_below_the_rate_and_falls_with_less_error():
    assert race_bets.running_low(0, 10, 0.05) == 0.0
    low, lower = (race_bets.running_low(18, 2, error) for error in (0.05, 0.005))
    assert 0.0 < lower < low < 0.9
    assert race_bets.running_low(180, 20, 0.05) > low
    assert race_bets.running_low(20, 0, 0.05) < 0.05 ** (1 / 20)  # looking at all times costs something
