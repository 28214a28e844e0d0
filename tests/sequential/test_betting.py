"""The betting rules: published numbers, slow twins, the promise counted exactly, margins, intervals."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from surefoot.core.verdict import Verdict
from surefoot.numerics import wealth
from surefoot.numerics.wealth import best_stake, log_wealth
from surefoot.sequential import FiniteHorizonMixture, NScore, Savi, Wsr, run, simulate
from surefoot.sequential.history import Trail
from tests.oracles import sequential as twin
from tests.reference import cases

HAIR = 1e-12


def sequence(seed: int, pairs: int, gap: float = 0.2, binary: bool = False) -> tuple[list[float], list[float]]:
    rng = np.random.default_rng(seed)
    first, second = rng.random(pairs), rng.random(pairs)
    if binary:
        return (first < 0.5 + gap).astype(float).tolist(), (second < 0.5).astype(float).tolist()
    return np.round(first ** (1 - gap), 2).tolist(), np.round(second, 2).tolist()


def gains(first: list[float], second: list[float]) -> list[float]:
    return [a - b for a, b in zip(first, second, strict=True)]


# --- published numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("given_", "expected"), cases("nscore_xi_star"))
def test_the_best_stake_is_the_reference_one(given_, expected):
    ours, theirs, at = (np.array(given_[name]) for name in ("p1", "p0", "c"))
    weights, values = (ours[:, None] * theirs).reshape(-1, 1), (at[:, None] - at).ravel()
    assert best_stake(weights, values, 1.0)[0] == pytest.approx(expected["xi"], abs=1e-9)


@pytest.mark.parametrize(("given_", "expected"), cases("nscore_trace_literal"))
def test_the_literal_algorithm_gives_the_reference_trace(given_, expected):
    """Algorithm 1 as printed, stakes up to 1 and no added mass, on our best stake."""
    r0, r1, bins = given_["r0"], given_["r1"], given_["bins"]
    wealth, best = 1.0, 1.0
    for i, (a, b) in enumerate(zip(r0, r1, strict=True)):
        stake = 0.0
        if i:
            rounded = [
                [math.floor((bins - 1) * r + 1e-9) / (bins - 1) if bins else r for r in side[:i]] for side in (r1, r0)
            ]
            values = np.array([one - other for one in rounded[0] for other in rounded[1]])
            stake = best_stake(np.full((len(values), 1), 1.0 / len(values)), values, 1.0)[0]
        assert stake == pytest.approx(expected["xi_used"][i], abs=1e-9)
        wealth *= 1.0 + stake * (b - a)
        best = max(best, wealth)
        assert wealth == pytest.approx(expected["X"][i], abs=1e-9)
        assert 1.0 / best == pytest.approx(expected["p_anytime"][i], abs=1e-9)


@pytest.mark.parametrize(("given_", "expected"), cases("nscore_process_given_xi"))
def test_wealth_of_given_stakes_is_the_reference_one(given_, expected):
    outcomes = np.array(given_["r1"]) - np.array(given_["r0"])
    stakes = np.array(given_["xi"], float)
    found = [math.exp(log_wealth(0.0, outcomes[: n + 1], stakes[: n + 1])) for n in range(len(stakes))]
    assert found == pytest.approx(expected["X"], rel=1e-12)
    assert [1 / max(1.0, *found[: n + 1]) for n in range(len(found))] == pytest.approx(expected["p_anytime"], rel=1e-12)


@pytest.mark.parametrize(("given_", "expected"), cases("wsr_trace"))
def test_wsr_stakes_and_capital_are_the_reference_ones(given_, expected):
    if given_["variance_mean"].startswith("mu_hat_t"):  # the algorithm as printed; ours is the original one
        lams = twin.wsr_bets([(z + 1) / 2 for z in given_["z"]], given_["alpha"], 2, running=False)[0]
        assert lams == pytest.approx(expected["lam"], rel=1e-10)
        return
    rule = Wsr(50, confidence=0.95, claim="either")
    state = rule.start()
    for z in given_["z"]:
        state = rule.step(state, (max(z, 0.0), max(-z, 0.0)))
    lams = np.minimum(np.array(expected["lam"]), 2 * given_["c"])  # truncated at c/m, m = 1/2
    assert list(state.sides[0].stakes) == pytest.approx(list(lams / 2), rel=1e-10)
    middle = given_["m"].index(0.5)
    assert math.exp(state.sides[0].log_wealth) == pytest.approx(expected["Mplus_final"][middle], rel=1e-10)
    assert math.exp(state.sides[1].log_wealth) == pytest.approx(expected["Mminus_final"][middle], rel=1e-10)


@pytest.mark.parametrize(("given_", "expected"), cases("theta_savi_bernoulli"))
def test_savi_evidence_is_the_reference_one(given_, expected):
    states = run(Savi(len(given_["y0"])), zip(given_["y1"], given_["y0"], strict=True))
    assert [s.evidence for s in states] == pytest.approx(expected["e"][: len(states)], rel=1e-10)
    assert [s.p_value for s in states] == pytest.approx(expected["p_anytime"][: len(states)], rel=1e-10)


# --- slow twins --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_the_mixture_is_its_twin(seed, binary):
    first, second = sequence(seed, 60, binary=binary)
    states = run(FiniteHorizonMixture(60, binary=binary), zip(first, second, strict=True))
    pairs = None if binary else list(zip(first, second, strict=True))
    trace = twin.fhm(gains(first, second), 60, v0=0.5 if binary else 0.2, hair=HAIR, scores=pairs)
    assert [s.evidence for s in states] == pytest.approx(trace["X"], rel=1e-9)
    assert [s.p_value for s in states] == pytest.approx(trace["p"], rel=1e-9)
    assert list(states[-1].sides[0].stakes) == pytest.approx(trace["xi"], rel=1e-9)
    for n in (1, len(states) // 2, len(states)):
        low = twin.gain_lower(gains(first, second)[:n], trace["xi"][:n], 0.05)
        assert states[n - 1].interval.low == pytest.approx(low, abs=1e-9)


@pytest.mark.parametrize("margin", [0.0, 0.1])
@pytest.mark.parametrize("rising", [True, False])
def test_the_stake_beyond_one_counts_while_no_pair_could_ruin_it(rising, margin):
    rng = np.random.default_rng(4)
    low, high = (0.1, 0.3) if rising else (0.0, 0.9)  # of the second policy: far below the first's, or across it
    first, second = rng.uniform(0.5, 0.9, 80), rng.uniform(low, high, 80)
    rule = FiniteHorizonMixture(800, margin=margin, binary=False)
    states = run(rule, zip(first, second, strict=True))
    values = ((first - second - margin) / (1 + margin)).tolist()
    pairs = list(zip(first.tolist(), second.tolist(), strict=True))
    trace = twin.fhm(values, 800, v0=0.2, hair=HAIR, scores=pairs, beyond=margin)
    plain = twin.fhm(values, 800, v0=0.2, hair=HAIR)
    assert [s.evidence for s in states] == pytest.approx(trace["X"], rel=1e-9)
    if rising:
        assert len(trace["X"]) < len(plain["X"])


def test_the_undeclared_mixture_follows_what_it_has_seen():
    scores, successes = sequence(1, 40), sequence(1, 40, binary=True)
    undeclared = FiniteHorizonMixture(40)
    told = run(FiniteHorizonMixture(40, binary=False), zip(*scores, strict=True))
    found = run(undeclared, zip(*scores, strict=True))
    # Before the first pair the stake beyond one does not count: it might be of successes, which lose by it.
    assert found[0].sides[0].stakes[0] < told[0].sides[0].stakes[0]
    assert [s.evidence for s in found] == pytest.approx([s.evidence for s in told], rel=0.05)
    stakes = run(undeclared, zip(*successes, strict=True))[2].sides[0].stakes
    known = run(FiniteHorizonMixture(40, binary=True), zip(*successes, strict=True))[2].sides[0].stakes
    assert stakes[0] != known[0]  # before the first pair it is taken for a score


@pytest.mark.parametrize(
    ("own", "other", "binary"),
    [
        ({"bins": 2}, {"bins": 2}, True),
        ({"bins": 11}, {"bins": 11}, False),
        ({"bins": 21}, {"bins": 21}, False),
        ({"bins": None}, {"bins": None}, False),
        ({"levels": tuple(j / 100 for j in range(101))}, {"levels": [j / 100 for j in range(101)]}, False),
        ({"bins": 11, "mass": 0.5}, {"bins": 11, "mass": 0.5}, False),
    ],
)
def test_nscore_is_its_twin(own, other, binary):
    first, second = sequence(3, 25, binary=binary)
    states = run(NScore(25, **own), zip(first, second, strict=True))
    trace = twin.nscore(second, first, alpha=0.05, **other)
    assert [s.evidence for s in states] == pytest.approx(trace["X"], rel=1e-9)
    assert list(states[-1].sides[0].stakes) == pytest.approx(trace["xi"], abs=1e-9)


def test_uneven_levels_are_their_own_bins():
    levels = (0.0, 0.1, 0.4, 1.0)
    rng = np.random.default_rng(0)
    first, second = rng.choice(levels, 30).tolist(), rng.choice(levels, 30).tolist()
    states = run(NScore(30, levels=levels), zip(first, second, strict=True))
    trace = twin.nscore(second, first, levels=list(levels), alpha=0.05)
    assert [s.evidence for s in states] == pytest.approx(trace["X"], rel=1e-9)
    rule = NScore(30, levels=levels)
    with pytest.raises(ValueError, match="`first` must be one of the declared levels"):
        rule.step(rule.start(), (0.2, 0.1))
    with pytest.raises(ValueError, match="`second` must be one of the declared levels"):
        simulate(rule, [0.1], [0.2])


@pytest.mark.parametrize("seed", range(4))
def test_wsr_is_its_twin(seed):
    first, second = sequence(seed, 50)
    states = run(Wsr(50), zip(first, second, strict=True))
    trace = twin.wsr_one_sided(gains(first, second))
    assert [s.evidence for s in states] == pytest.approx(trace["X"][: len(states)], rel=1e-9)
    both = run(Wsr(50, claim="either"), zip(first, second, strict=True))
    trace = twin.wsr_two_sided(gains(first, second))
    assert [s.p_value for s in both] == pytest.approx(trace["p"][: len(both)], rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_savi_is_its_twin(seed):
    first, second = sequence(seed, 50, binary=True)
    states = run(Savi(50), zip(first, second, strict=True))
    trace = twin.theta_savi([int(v) for v in second], [int(v) for v in first])
    assert [s.evidence for s in states] == pytest.approx(trace["X"][: len(states)], rel=1e-9)


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
@settings(max_examples=60, deadline=None)
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


# --- margins, claims, intervals ----------------------------------------------------------------------------

CLAIMS = [
    ("first better", 0.0),
    ("first better", 0.1),
    ("either", 0.0),
    ("either", 0.1),
    ("first not worse", 0.2),
    ("same", 0.2),
]


@pytest.mark.parametrize(("claim", "margin"), CLAIMS)
@pytest.mark.parametrize("make", [FiniteHorizonMixture, NScore, Wsr])
def test_the_interval_excludes_the_tested_gain_exactly_when_decided(make, claim, margin):
    rule = make(80, claim=claim, margin=margin, confidence=0.9)
    verdicts = set()
    for seed in range(6):
        first, second = sequence(seed, 80, gap=0.3 + 0.1 * seed)
        if seed % 3 == 0:
            first, second = second, first
        for state in run(rule, zip(first, second, strict=True)):
            seen = state.interval
            shown = {
                "first better": seen.low > margin,
                "first not worse": seen.low > -margin,
                "either": seen.low > margin or seen.high < -margin,
                "same": -margin < seen.low and seen.high < margin,
            }[claim]
            assert shown == (state.verdict is not Verdict.UNDECIDED)
        verdicts.add(state.verdict)
    assert len(verdicts) > 1


@pytest.mark.parametrize("claim", ["first better", "either"])
def test_rounding_never_puts_the_tested_gain_back(claim, monkeypatch):
    state = run(FiniteHorizonMixture(80, claim=claim), [(1.0, 0.0)] * 80)[-1]
    monkeypatch.setattr(wealth, "excluded_below", lambda gains, staked, target, within: within[0])
    assert state.interval.low > 0.0


@pytest.mark.parametrize("margin", [0.1, 0.3])
def test_a_margin_is_paid_for(margin):
    first, second = sequence(5, 200, gap=0.7)
    plain = run(FiniteHorizonMixture(200), zip(first, second, strict=True))[-1]
    more = run(FiniteHorizonMixture(200, margin=margin), zip(first, second, strict=True))[-1]
    less = run(FiniteHorizonMixture(200, claim="first not worse", margin=margin), zip(first, second, strict=True))[-1]
    assert less.pairs < plain.pairs < more.pairs


@pytest.mark.parametrize("claim", ["first better", "first not worse", "either", "same"])
def test_the_error_with_a_margin_is_kept_at_its_edge(claim):
    margin, runs, pairs = 0.2, 4000, 60
    rng = np.random.default_rng(8)
    edge = {"first better": margin, "either": margin, "first not worse": -margin, "same": margin}[claim]
    first = (rng.random((runs, pairs)) < 0.5 + edge / 2).astype(float)
    second = (rng.random((runs, pairs)) < 0.5 - edge / 2).astype(float)
    rule = FiniteHorizonMixture(pairs, claim=claim, margin=margin, confidence=0.9)
    wrong = int(np.sum(simulate(rule, first, second).verdicts != Verdict.UNDECIDED))
    assert special.betainc(max(wrong, 1), runs - max(wrong, 1) + 1, 0.1) > 1e-4


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Savi(9, margin=0.1), "`margin` must be 0 for theta-SAVI; got 0.1. The betting rules"),
        (lambda: Wsr(9, claim="same"), "`margin` must be above 0 for the claim 'same'"),
        (lambda: Wsr(9, claim="first not worse"), "`margin` must be above 0"),
        (lambda: Wsr(9, margin=1.0), "`margin` must be below the width of the score range"),
        (lambda: Wsr(9, claim="same", margin=0.1, confidence=0.4), "`confidence` must be above 0.5"),
        (lambda: NScore(9, bins=1), "`bins` must be at least 2"),
        (lambda: NScore(9, levels=(0.5,)), "`levels` must be two or more rising numbers"),
        (lambda: NScore(9, levels=(0.0, 2.0)), r"`levels` must be in the range \[0, 1\]"),
        (lambda: NScore(9, mass=0), "`mass` must be above 0"),
    ],
)
def test_declarations_that_make_no_sense_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_the_sequence_of_intervals_covers_the_gain_at_every_moment_together():
    rng = np.random.default_rng(11)
    misses, runs, gap = 0, 80, 0.3
    rule = FiniteHorizonMixture(30, claim="either", confidence=0.8)
    for _ in range(runs):
        first, second = rng.random(30) < 0.4 + gap, rng.random(30) < 0.4
        states = run(rule, zip(first.tolist(), second.tolist(), strict=True))
        misses += any(gap not in state.interval for state in states)
    assert special.betainc(max(misses, 1), runs - max(misses, 1) + 1, 0.2) > 1e-4


def test_losing_for_ever_is_survived():
    done = simulate(FiniteHorizonMixture(3000), np.zeros((1, 3000)), np.ones((1, 3000)))
    assert done.stopping_times[0] == 3000
    state = run(FiniteHorizonMixture(400), [(0.0, 1.0)] * 400)[-1]
    assert state.evidence >= 0.0
    assert state.interval.low >= -1.0


def test_a_trail_grows_without_changing_and_branches_apart():
    empty = Trail()
    one = empty.grown(1.0)
    left, right = one.grown(2.0), one.grown(3.0)
    assert (list(empty), list(one), list(left), list(right)) == ([], [1.0], [1.0, 2.0], [1.0, 3.0])
    assert left == Trail([1.0, 2.0])
    assert hash(left) == hash(Trail([1.0, 2.0]))
    assert (left[0], left[-1], left[:1], left[::-1]) == (1.0, 2.0, (1.0,), (2.0, 1.0))
    assert Trail.of(left) is left
    assert left.array().tolist() == [1.0, 2.0]
    assert left[-2] == 1.0
    for beyond in (1, -2):
        with pytest.raises(IndexError):
            one[beyond]


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


@pytest.mark.parametrize("claim", ["first better", "either"])
def test_the_interval_says_how_sure_it_is(claim):
    state = run(FiniteHorizonMixture(30, claim=claim), [(0.5, 0.5)] * 25)[-1]
    assert state.interval.confidence == pytest.approx(0.95, abs=1e-12)
    assert (state.interval.high == 1.0) == (claim == "first better")


def test_an_interval_holds_the_gain_observed_even_when_gains_drift():
    """The finding: sorted pairs gave an interval that left out its own estimate."""
    rule = FiniteHorizonMixture(400, claim="either")
    state = rule.start()
    for gap in [0.6] * 12 + [-0.45] * 200:
        if state.finished:
            break
        state = rule.step(state, (0.5 + gap / 2, 0.5 - gap / 2))
    assert state.interval.estimate in state.interval
    slow = FiniteHorizonMixture(400, claim="first better", margin=0.2)
    later = slow.start()
    for gap in [0.1] * 60 + [-0.8] * 120:
        later = slow.step(later, (0.5 + gap / 2, 0.5 - gap / 2))
        assert later.interval.estimate in later.interval


def test_a_verdict_is_not_taken_back_by_an_unweighted_mean():
    """Small losses staked on with little, then wins staked on with much: the mean of the pairs is below 0."""
    rule = FiniteHorizonMixture(50, claim="first better")
    state = rule.step(rule.start(), (1.0, 0.0))
    sizes = np.array([0.001] * 6 + [0.9] * 5)
    gaps = np.array([-0.99] * 6 + [0.97] * 5)
    wealth = float(np.log1p(sizes * gaps).sum())
    assert wealth >= -math.log(rule.error)
    side = replace(state.sides[0], log_wealth=wealth, log_best=wealth, stakes=sizes.tolist())
    shown = replace(state, first=(0.5 + gaps / 2).tolist(), second=(0.5 - gaps / 2).tolist(), sides=(side,))
    assert shown.observed < 0.0 < shown.interval.low <= shown.interval.estimate
    assert shown.interval.notes[0].kind == "gain by stakes"
