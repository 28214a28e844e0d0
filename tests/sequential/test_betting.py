"""The betting rules: published numbers, slow twins, the promise counted exactly, margins, intervals."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from surefoot.core.verdict import Verdict
from surefoot.sequential import FiniteHorizonMixture, NScore, Savi, Wsr, run, simulate
from tests.oracles import after_stop as after_stop_twin
from tests.support.betting import sequence

# --- the promise, counted ----------------------------------------------------------------------------------


@pytest.mark.parametrize("pairs", [8, pytest.param(12, marks=pytest.mark.slow)])
@pytest.mark.parametrize("claim", ["first better", "either"])
@pytest.mark.parametrize(
    "make", [lambda *a, **k: FiniteHorizonMixture(*a, binary=True, **k), Wsr], ids=["mixture", "wsr"]
)
def test_the_error_is_kept_exactly_for_all_equal_policies_on_few_binary_pairs(make, claim, pairs):
    """All 3^N differences: the chance to reject given m discordant pairs bounds the error at every discordance."""
    rule = make(pairs, confidence=0.9, claim=claim)
    signs = np.array(list(itertools.product((-1, 0, 1), repeat=pairs)), np.int8)
    done = simulate(rule, (signs > 0).astype(float), (signs < 0).astype(float))
    discordant = np.abs(signs).sum(axis=1)
    wrong = np.bincount(discordant[done.verdicts != Verdict.UNDECIDED], minlength=pairs + 1)
    chance = wrong / (2.0 ** np.arange(pairs + 1) * special.binom(pairs, np.arange(pairs + 1)))
    assert chance.max() <= 0.1
    assert chance.max() > 0.03  # and the error is used, not wasted


@pytest.mark.parametrize("make", [lambda n: NScore(n, bins=2, confidence=0.9), lambda n: Savi(n, confidence=0.9)])
def test_the_error_is_kept_exactly_at_every_rate_on_eight_binary_pairs(make):
    """All 4^8 outcomes, for rules that look at both scores and not only at their difference."""
    pairs = 8
    every = np.array(list(itertools.product((0.0, 1.0), repeat=2 * pairs)))
    done = simulate(make(pairs), every[:, :pairs], every[:, pairs:])
    total = every.sum(axis=1).astype(int)
    wrong = np.bincount(total[done.verdicts == Verdict.BETTER], minlength=2 * pairs + 1)
    rates = np.linspace(0, 1, 1001)[:, None]
    powers = np.arange(2 * pairs + 1)
    assert (wrong * rates**powers * (1 - rates) ** (2 * pairs - powers)).sum(axis=1).max() <= 0.1


def stakes_of_nscore(s1: np.ndarray, s0: np.ndarray, n: int) -> tuple[np.ndarray, ...]:
    ours, theirs = 0.5 + s1, 0.5 + s0
    won, lost = ours * (0.5 + n - s0), theirs * (0.5 + n - s1)
    stake = np.clip((won - lost) / (won + lost), 0.0, 0.99)
    same = np.zeros_like(stake)
    return same, np.log1p(stake), np.log1p(-stake), same  # both, first only, second only, neither


def factors_of_savi(s1: np.ndarray, s0: np.ndarray, n: int) -> tuple[np.ndarray, ...]:
    high, low = (2.0 + s1) / (3.0 + n), (1.0 + s0) / (3.0 + n)
    middle = (high + low) / 2
    out = []
    for one, other in ((1, 1), (1, 0), (0, 1), (0, 0)):
        top = (high if one else 1 - high) * (low if other else 1 - low)
        under = (middle if one else 1 - middle) * (middle if other else 1 - middle)
        out.append(np.where(high > low, np.log(top / under), 0.0))
    return tuple(out)


@pytest.mark.parametrize("logs", [stakes_of_nscore, factors_of_savi])
@pytest.mark.parametrize("rate", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("pairs", [16, pytest.param(60, marks=pytest.mark.slow)])
def test_an_upper_bound_of_the_error_is_below_the_promise(logs, rate, pairs):
    """A walk on both counts and the log-evidence rounded up: stakes depend on counts only, so rounding can only reject
    more. What it finds bounds the true error from above."""
    cell, error = 0.004, 0.05
    target = -math.log(error)
    least = -6.0  # evidence below this is lifted to it: again only more rejections
    size = math.ceil((target - least) / cell)
    mass = np.zeros((pairs + 1, pairs + 1, size))
    start = math.ceil((0.0 - least) / cell)
    mass[0, 0, start] = 1.0
    rejected = 0.0
    for n in range(pairs):
        s1, s0 = np.meshgrid(np.arange(n + 1.0), np.arange(n + 1.0), indexing="ij")
        after = np.zeros_like(mass)
        chances = (rate * rate, rate * (1 - rate), (1 - rate) * rate, (1 - rate) ** 2)
        for (one, other), chance, log in zip(((1, 1), (1, 0), (0, 1), (0, 0)), chances, logs(s1, s0, n), strict=True):
            up = np.ceil(log / cell - 1e-9).astype(int)
            for a, b in itertools.product(range(n + 1), repeat=2):
                row, shift = chance * mass[a, b], int(up[a, b])
                if not row.any():
                    continue
                moved = after[a + one, b + other]
                if shift >= 0:
                    moved[shift:] += row[: size - shift]
                    rejected += row[size - shift :].sum()
                else:
                    moved[: size + shift] += row[-shift:]
                    moved[0] += row[:-shift].sum()
        mass = after
    assert rejected <= error


@given(data=st.data())
@settings(max_examples=60)
def test_every_stake_is_a_fair_bet_made_before_its_pair(data):
    """From any state a won and a lost pair are worth, on average, what is held: with Ville this is the promise, at any
    horizon and for any equal policies, successes or scores."""
    make = data.draw(st.sampled_from([FiniteHorizonMixture, NScore, Wsr]))
    score = st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0])
    claim = data.draw(st.sampled_from(["first better", "either"]))
    rule = make(60, claim=claim, confidence=0.99)
    past = data.draw(st.lists(st.tuples(score, score), max_size=40))
    states = [rule.start(), *run(rule, past)]
    state = next(s for s in reversed(states) if not s.finished)
    one, other = data.draw(st.tuples(score, score))
    won, lost = rule.step(state, (one, other)), rule.step(state, (other, one))
    for i, side in enumerate(state.sides):
        held = math.exp(side.log_wealth)
        after = (math.exp(won.sides[i].log_wealth) + math.exp(lost.sides[i].log_wealth)) / 2
        assert after == pytest.approx(held, rel=1e-12)
        assert won.sides[i].stakes == lost.sides[i].stakes  # chosen without looking
        assert 0.0 <= won.sides[i].stakes[-1] <= 0.99


@pytest.mark.parametrize("margin", [0.1, 0.3])
def test_a_margin_is_paid_for(margin):
    first, second = sequence(5, 200, gap=0.7)
    plain = run(FiniteHorizonMixture(200), zip(first, second, strict=True))[-1]
    more = run(FiniteHorizonMixture(200, margin=margin), zip(first, second, strict=True))[-1]
    less = run(FiniteHorizonMixture(200, claim="first not worse", margin=margin), zip(first, second, strict=True))[-1]
    assert less.pairs < plain.pairs < more.pairs


def test_losing_for_ever_is_survived():
    done = simulate(FiniteHorizonMixture(3000), np.zeros((1, 3000)), np.ones((1, 3000)))
    assert done.stopping_times[0] == 3000
    state = run(FiniteHorizonMixture(400), [(0.0, 1.0)] * 400)[-1]
    assert state.evidence >= 0.0
    assert state.interval.low >= -1.0


@pytest.mark.parametrize(
    ("pairs", "ends", "scale"),
    [
        ([(1.0, 0.0)] * 3, {}, "gain"),
        ([(1.0, 0.5)] * 3, {}, "score gain"),
        ([(1.0, 0.0)] * 3, {"high": 2.0}, "score gain"),
    ],
)
def test_successes_gain_points_and_scores_gain_scores(pairs, ends, scale):
    assert run(FiniteHorizonMixture(20, **ends), pairs)[-1].interval.scale == scale


# --- betting rules ---


@pytest.mark.sample(3)
@pytest.mark.parametrize("claim", ["first better", "either", "first not worse", "same"])
@pytest.mark.parametrize("make", [FiniteHorizonMixture, Wsr])
def test_betting_futility_is_the_closed_form(make, claim):
    margin = 0.1 if claim in ("first not worse", "same") else 0.0
    rule = make(60, claim=claim, margin=margin * 3, low=-1.0, high=2.0, futility=0.2)
    rng = np.random.default_rng(8)
    first, second = rng.beta(2, 2, (60, 60)) * 3 - 1, rng.beta(2, 2, (60, 60)) * 3 - 1
    done = simulate(rule, first, second)
    ended = set()
    for row in range(60):
        states = run(rule, zip(first[row], second[row], strict=True))
        assert (states[-1].pairs, states[-1].verdict) == (done.stopping_times[row], done.verdicts[row])
        ended.add(states[-1].ending)
        for state in states[:: max(1, len(states) // 5)]:
            if state.verdict is not Verdict.UNDECIDED or state.pairs == 60:
                continue
            each = []
            for side, (sign, beyond, _) in zip(state.sides, rule.directions, strict=True):
                gains = sign * (first[row] - second[row])[: state.pairs] / 3
                need = np.log(1 / rule.error) - side.log_wealth
                shown = side.log_best >= np.log(1 / rule.error)
                values = ((gains - beyond) / (1 + abs(beyond))).tolist()
                each.append(1.0 if shown else after_stop_twin.betting_chance(values, need, 60 - state.pairs))
            assert state.futile == ((min if claim == "same" else max)(each) < 0.2)
    assert "futility" in ended


def test_betting_futility_saves_pairs_when_equal_and_loses_little():
    rng = np.random.default_rng(3)
    plain, given = (FiniteHorizonMixture(100, claim="either", futility=share) for share in (0.0, 0.02))
    equal = rng.beta(2, 2, (2000, 100)), rng.beta(2, 2, (2000, 100))
    assert simulate(plain, *equal).mean_pairs > 97
    assert simulate(given, *equal).mean_pairs < 66  # the design figure is 63.0
    better = rng.beta(2.6, 2, (2000, 100)), rng.beta(2, 2, (2000, 100))
    lost = simulate(plain, *better).share(Verdict.BETTER) - simulate(given, *better).share(Verdict.BETTER)
    assert 0.0 <= lost <= 0.012
