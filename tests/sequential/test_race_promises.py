"""What a race promises and what it takes, over thousands of studies: errors by exact binomial limits, mean rollouts.

The means are those of the design's prototype, met within 4% and two standard errors; the best is listed at random.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betaincinv, ndtr

from surefoot.numerics.betting import race_bets
from surefoot.numerics.betting.race_bets import OUT, Race, Terms
from surefoot.numerics.rates.best_of_many import HighestOfMany

pytestmark = pytest.mark.slow

TEN = (0.2, 0.35, 0.5, 0.6, 0.68, 0.74, 0.78, 0.80, 0.80, 0.70)
TWENTY = tuple(np.interp(np.linspace(0, 9, 20), range(10), TEN))
STUDIES, ERROR = 4_000, 0.05


def fine(wrong, studies=STUDIES, error=ERROR):
    """Whether so many wrong ones fit an error of at most 5%: the lower end of their exact 95% interval."""
    return wrong == 0 or betaincinv(wrong, studies - wrong + 1, 0.025) <= error


def orders(rng, studies, size):
    return np.argsort(np.argsort(rng.random((studies, size)), axis=1), axis=1)


def drawing(rng, rates, tied=0.0):
    """Successes; those of a round are tied by a Gaussian copula."""

    def draw(rows, turns, counts):
        if not tied:
            return rng.binomial(turns, rates).astype(float)
        common = tied**0.5 * rng.standard_normal((len(rows), 1))
        return ((turns > 0) & (ndtr(common + (1 - tied) ** 0.5 * rng.standard_normal(turns.shape)) < rates)) * 1.0

    return draw


def raced(rates, horizon, seed, within=None, tied=0.0):
    rng, size = np.random.default_rng([29, seed]), len(rates)
    parts, terms = [], Terms(ERROR, horizon, within, True, bool(tied))
    for _ in range(4):
        race = Race.begin(terms, orders(rng, STUDIES // 4, size), STUDIES // 4)
        parts.append(race_bets.played(race, drawing(rng, np.array(rates), tied)))
    return race_bets.Ended(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def errors(end, rates, within=0.0):
    """Studies in which a best one is out, a wrong one is named, or the regret is too small."""
    rates = np.array(rates)
    lost = int((end.status[:, rates.argmax()] == OUT).sum())
    wrong = (end.named >= 0) & (rates.max() - rates[end.named] > within + 1e-9)
    told = (end.champion >= 0) & (rates.max() - rates[end.champion] > end.regret + 1e-9)
    return lost, int(wrong.sum()), int(told.sum())


CASES = {
    "five": ((0.9, 0.7, 0.5, 0.3, 0.1), 200, 172, 0.99),
    "ten": (np.arange(0.95, 0.04, -0.1), 500, 482, 0.99),
    "sixteen": (0.95 - 0.06 * np.arange(16), 1_000, 1_112, 0.99),
    "one of ten": ((0.8, *(0.5,) * 9), 200, 476, 0.99),
    "one of twenty": ((0.8, *(0.5,) * 19), 200, 946, 0.99),
    "fifty": ((0.9, *np.linspace(0.75, 0.2, 49)), 200, 1_819, 0.88),
    "hundred": ((0.9, *np.linspace(0.7, 0.3, 99)), 200, 3_530, 0.97),
}


@pytest.mark.parametrize("case", CASES)
def test_the_best_is_named_in_few_rollouts(case):
    rates, horizon, rollouts, named = CASES[case]
    end = raced(rates, horizon, 1)
    used = end.counts.sum(axis=1)
    assert used.mean() == pytest.approx(rollouts, abs=0.04 * rollouts + 2 * used.std() / len(used) ** 0.5)
    assert (end.named >= 0).mean() >= named
    assert all(map(fine, errors(end, rates)[:2]))


@pytest.mark.parametrize("size", [2, 3, 5, 20, 50])
def test_a_best_one_is_seldom_lost_among_equals(size):
    assert fine(errors(raced((0.7,) * size, 200, 2), (0.7,) * size)[0])


NEAR = {
    "curve of ten": (TEN, 0.0, 1_650, 0.93),
    "curve of twenty": (TWENTY, 0.0, 3_310, 0.88),
    "ten, shared": (TEN, 0.6, 1_260, 0.95),
    "twenty, shared": (TWENTY, 0.6, 2_590, 0.93),
}


@pytest.mark.parametrize("case", NEAR)
def test_one_within_a_tenth_is_named_in_few_rollouts(case):
    rates, tied, rollouts, named = NEAR[case]
    end = raced(rates, 900, 3, within=0.1, tied=tied)
    used = end.counts.sum(axis=1)
    assert used.mean() == pytest.approx(rollouts, abs=0.04 * rollouts + 2 * used.std() / len(used) ** 0.5)
    assert (end.named >= 0).mean() >= named
    assert all(map(fine, errors(end, rates, 0.1)))


@pytest.mark.parametrize(
    ("rates", "horizon"),
    [
        ((0.8, *(0.699,) * 9), 900),
        ((0.8, 0.699), 900),
        ((0.55, *(0.449,) * 9), 900),
        ((0.55, 0.449), 900),
        ((0.8, 0.8, *(0.699,) * 18), 600),
        ((0.6, *(0.499,) * 4), 60),
    ],
)
def test_a_champion_just_too_far_below_is_seldom_named(rates, horizon):
    assert all(map(fine, errors(raced(rates, horizon, 4, within=0.1), rates, 0.1)))


SCORES = {
    "coins": (np.array([0.9, 0.9, 0.9]), None),
    "halves": (np.array([0.7, 0.599, 0.599, 0.599]), 0.1),
    "constant": (np.array([0.8, 0.699, 0.699]), 0.1),
}


@pytest.mark.parametrize("case", SCORES)
def test_scores_keep_the_promise_too(case):
    """A constant against coins of the same mean; scores of three levels and constants just more than `within` above."""
    means, within = SCORES[case]
    rng = np.random.default_rng([30, len(means)])

    def draw(rows, turns, counts):
        if case == "halves":
            return rng.binomial(2 * turns, means) / 2.0
        coins = rng.binomial(turns, means).astype(float)
        coins[:, 0] = means[0] * turns[:, 0]
        return coins

    race = Race.begin(Terms(ERROR, 300, within, False), orders(rng, STUDIES, len(means)), STUDIES)
    end = race_bets.played(race, draw, between=True)
    assert all(map(fine, errors(end, means, within or 0.0)[: 3 if within else 2]))


def test_one_that_joins_after_a_champion_is_named_costs_no_error():
    """The newcomer is a little more than `within` better than the champion, and its joining is told by the results."""
    rng, rates = np.random.default_rng(31), np.array([0.699, 0.699, 0.699, 0.8])
    studies, horizon = 500, 300
    lost = wrong = 0
    for _ in range(STUDIES // studies):
        race = Race.begin(Terms(ERROR, horizon, 0.1, True), orders(rng, studies, 3), studies)
        for _ in range(25):
            race = race.step(rng.binomial(race.turns(), rates[:3]).astype(float), np.zeros(studies, bool))
        race = race.keep(~race.finished & (race.champion >= 0)).joined(3)
        end = race_bets.played(race, drawing(rng, rates))
        found = errors(end, rates, 0.1)
        lost, wrong = lost + found[0], wrong + max(found[1:])
    assert fine(lost)
    assert fine(wrong)


@pytest.mark.parametrize("size", [3, 5])
def test_one_that_joins_by_looking_costs_no_error(size):
    """It joins, as good as all others, in the very round in which a best one looks nearly beaten."""
    rng, rates = np.random.default_rng([34, size]), np.full(size + 1, 0.7)
    race = Race.begin(Terms(ERROR, 200, None, True), orders(rng, STUDIES, size), STUDIES)
    lost = joined = 0
    for _ in range(60):
        race = race.step(rng.binomial(race.turns(), rates[:size]).astype(float), np.zeros(len(race.rounds), bool))
        lost += int((race.status[:, 0] == OUT).sum())
        race = race.keep(~race.finished & (race.status[:, 0] != OUT))
        nearly = race.best[:, 0] > np.log(4.0)
        if nearly.any():
            end = race_bets.played(race.keep(nearly).joined(size), drawing(rng, rates))
            lost, joined = lost + int((end.status[:, 0] == OUT).sum()), joined + int(nearly.sum())
            race = race.keep(~nearly)
    end = race_bets.played(race, drawing(rng, rates[:size]))
    lost += int((end.status[:, 0] == OUT).sum())
    assert joined > STUDIES / 10
    assert fine(lost)


@pytest.mark.parametrize("within", [None, 0.1])
def test_one_that_is_withdrawn_is_never_said_to_be_beaten(within):
    """The leader of most studies is withdrawn; what is named later is the best, or within, of those that are left."""
    rng, rates = np.random.default_rng(32), np.array([0.9, 0.8, 0.699, 0.699])
    race = Race.begin(Terms(ERROR, 400, within, True), orders(rng, STUDIES, 4), STUDIES)
    for _ in range(8):
        race = race.step(rng.binomial(race.turns(), rates).astype(float), np.zeros(STUDIES, bool))
    race = race.keep(~race.finished & race.running[:, 0]).withdrawn(0)
    end = race_bets.played(race, drawing(rng, rates))
    assert not (end.status[:, 0] == OUT).any()
    left = np.where(np.arange(4) > 0, rates, -1.0)
    lost = int((end.status[:, 1] == OUT).sum())
    wrong = int(((end.named >= 0) & (left.max() - left[end.named] > (within or 0.0) + 1e-9)).sum())
    assert fine(wrong, len(end.named))
    assert within is None or fine(lost, len(end.named))


@pytest.mark.parametrize("rate", [0.7, 0.85])
def test_a_best_one_of_twenty_equal_is_seldom_left_out_of_the_shortlist(rate):
    rng = np.random.default_rng(33)
    draws = rng.binomial(50, rate, (STUDIES, 20))
    wrong = sum(HighestOfMany(row.tolist(), [50] * 20).p_value(0) <= ERROR for row in draws)
    assert fine(wrong)
