"""Up to seven policies, by closed testing over weak orders."""

import dataclasses
import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.numerics.betting.closed_stakes import Gamblers
from surefoot.sequential import ClosedRanking, run_ranking, simulate_ranking
from surefoot.sequential.closed_ranking import ClosedRankingState
from tests.oracles import closed_ranking as twin
from tests.reference import cases
from tests.support.closed_ranking import NAMES, claims, draws, named

# --- The reference --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("given", "wanted"), cases("closed_ranking"))
def test_every_claim_and_every_rollout_of_the_reference(given, wanted):
    rows = given["rounds"]
    rule = ClosedRanking(
        NAMES[: len(rows[0])], given["horizon"], confidence=given["confidence"], binary=given["binary"]
    )
    last = run_ranking(rule, named(rows))[-1]
    assert list(last.rollouts) == wanted["rollouts"]
    assert claims(last) == set(map(tuple, wanted["better"]))
    done = simulate_ranking(rule, [rows])
    assert done.rollouts.tolist() == [wanted["rollouts"]]
    assert set(map(tuple, np.argwhere(done.better[0]).tolist())) == claims(last)


def slow_study(rule):
    g = 0.5 if rule.binary else 0.2
    size = len(rule.names)
    declared = (rule.horizon, rule.confidence, g, rule.futility)
    if rule.question == "ranking":
        return twin.Study(list(twin.weak_orders(size)), *declared)
    if rule.question == "best":
        return twin.BestStudy(list(twin.best_sets(size)), *declared)
    if rule.question == "best or tied":
        return twin.BestStudy(list(twin.best_ones(size)), *declared)
    if rule.top:
        return twin.TopStudy(list(twin.top_sets(size, rule.top)), *declared)
    study = twin.AgainstStudy(list(twin.against(size, rule.names.index(rule.baseline))), *declared)
    study.baseline = rule.names.index(rule.baseline)
    return study


@pytest.mark.sample(5)
@pytest.mark.parametrize("question", ["ranking", "best", "best or tied", "against b", "top 1", "top 2"])
@pytest.mark.parametrize("futility", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(6))
def test_the_slow_twin_agrees_at_every_round(question, futility, seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 5)) + 2 * question.startswith("top")
    binary = bool(seed % 2)
    rule = ClosedRanking(
        NAMES[:size],
        int(rng.integers(20, 50)),
        confidence=float(rng.choice([0.8, 0.95])),
        binary=binary,
        question=question,
        futility=futility,
    )
    rates = rng.choice([0.1, 0.4, 0.6, 0.9], size)
    rows = draws(rates, rule.horizon, seed) if binary else np.round(rng.random((rule.horizon, size)) * rates, 1)
    slow, state = slow_study(rule), rule.start()
    for row in rows:
        if slow.finished:
            break
        slow.step(row.tolist())
        state = rule.step(state, {name: row[NAMES.index(name)] for name in state.running})
        assert claims(state) == slow.better
        assert {NAMES.index(name) for name in state.leaders} >= {NAMES.index(name) for name in state.best}
        assert [NAMES.index(name) for name in state.running] == (slow.running if not slow.finished else [])
        assert {tuple(map(NAMES.index, pair)) for pair in state.futile} == slow.futile
        for i, j in itertools.permutations(range(size), 2):
            assert state.p_value(NAMES[i], NAMES[j]) == pytest.approx(slow.p_value(i, j), rel=1e-8)
    assert state.finished
    assert list(state.rollouts) == list(slow.rollouts.values())


# --- The promise ----------------------------------------------------------------------------------------


def every_path(size, rounds, confidence, question="ranking"):
    """The claims at the end of every path of successes, and the outcomes of each path."""
    rule = ClosedRanking(NAMES[:size], rounds, confidence=confidence, binary=True, question=question)
    outcomes = np.array(list(itertools.product((0.0, 1.0), repeat=size)))
    games, paths = Gamblers.begin(rule.family(size), rule.terms), np.zeros((1, 0), np.int64)
    for _ in range(rounds - 1):
        count, more = len(outcomes), len(paths)
        rows = np.tile(np.arange(len(games.study)), count)
        wide = {name: np.concatenate([getattr(games, name)] * count) for name in OF_STUDIES}
        seen = games.seen.of(np.tile(np.arange(more), count))
        study = games.study[rows] + np.repeat(np.arange(count), len(games.study)) * more
        own = {name: getattr(games, name)[rows] for name in ("which", "log_wealth", "log_best", "weights")}
        games = Gamblers(games.family, games.terms, seen, **wide, study=study, **own)
        games = games.step(np.repeat(outcomes, more, axis=0), p_values=False)
        paths = np.column_stack([np.tile(paths, (count, 1)), np.repeat(np.arange(count), more)])
    ends = [games.step(np.tile(row, (len(paths), 1)), p_values=False) for row in outcomes]
    return paths, [(end.better, end.leaders()[1]) for end in ends]


OF_STUDIES = ("running", "futile", "better", "p_values", "rejected")


def laws(size):
    """Means and chances of the outcomes of a round: independent, and tied by a common condition."""
    outcomes = np.array(list(itertools.product((0, 1), repeat=size)))
    for rates in [
        (0.5,) * size,
        (0.8, *(0.5,) * (size - 1)),
        (0.3,) * size,
        (*(0.9,) * (size - 1), 0.4),
        (0.8, 0.79, 0.2),
    ]:
        yield rates, np.prod(np.where(outcomes, rates, 1 - np.array(rates)), axis=1)
    single = np.array([0.25 * (row.sum() == 1) + 0.25 * (row.sum() == 0) for row in outcomes])
    yield (0.25,) * size, single  # at most one succeeds
    yield (0.5,) * size, np.array([0.5 * (row.sum() in (0, size)) for row in outcomes])  # all or none


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("rounds", [4, *(pytest.param(most, marks=pytest.mark.slow) for most in (5, 6))])
@pytest.mark.parametrize("question", ["ranking", "best", "best or tied", "against b", "top 2"])
def test_the_family_error_counted_over_every_path(confidence, rounds, question):
    paths, ends = every_path(3, rounds, confidence, question)
    largest = 0.0
    for rates, chances in laws(3):
        assert chances.sum() == pytest.approx(1.0)
        true = np.array(rates)[:, None] > np.array(rates)
        beaten = true.sum(axis=0) >= (2 if question == "top 2" else 1)  # those that are not of the best
        start, wrong = chances[paths].prod(axis=1), 0.0
        for chance, (better, best) in zip(chances, ends, strict=True):
            false = (better & ~true).any(axis=(1, 2))
            if question.startswith(("best", "top")):
                false |= (best & beaten).any(axis=1)
            wrong += chance * start @ false
            assert not (better & better.swapaxes(1, 2)).any()
        assert wrong <= 1.0 - confidence
        largest = max(largest, wrong)
    if confidence == 0.8:
        assert largest > 0.0  # something is claimed at all


@pytest.mark.slow
@pytest.mark.parametrize("confidence", [0.9, 0.95])
@pytest.mark.parametrize(
    "rates", [(0.5,) * 5, (0.9, 0.5, 0.5, 0.2), (0.6, 0.6, 0.6, 0.3), (0.5, 0.49, 0.48), (0.8, 0.8, 0.2, 0.2)]
)
def test_the_family_error_with_ties_and_near_ties(rates, confidence):
    rng, studies = np.random.default_rng(5), 400
    rule = ClosedRanking(NAMES[: len(rates)], 150, confidence=confidence, binary=True)
    done = simulate_ranking(rule, rng.random((studies, 150, len(rates))) < rates)
    true = np.array(rates)[:, None] > np.array(rates)
    wrong = int((done.better & ~true).any(axis=(1, 2)).sum())
    assert wrong == 0 or special.betainc(wrong, studies - wrong + 1, 1.0 - confidence) > 1e-4


# --- Laws -----------------------------------------------------------------------------------------------

levels = st.sampled_from([0.0, 0.25, 0.5, 1.0])
tables = st.integers(2, 4).flatmap(
    lambda size: st.lists(st.lists(levels, min_size=size, max_size=size), min_size=1, max_size=14)
)
questions = st.sampled_from(["ranking", "best", "best or tied", "against a", "top 1"])


@given(rows=tables, question=questions, times=st.integers(1, 4))
@settings(max_examples=40)
def test_claims_hang_together_and_never_retract(rows, question, times):
    rows = rows * times
    rule = ClosedRanking(NAMES[: len(rows[0])], len(rows), confidence=0.8, question=question)
    before, state = set(), rule.start()
    p_values = dict.fromkeys(itertools.permutations(rule.names, 2), 1.0)
    for row in named(rows):
        if state.finished:
            break
        state = rule.step(state, {name: row[name] for name in state.running})
        now = claims(state)
        assert before <= now
        assert all((i, k) in now for i, j in now for m, k in now if j == m)
        assert not any((j, i) in now for i, j in now)
        for one, other in p_values:
            p = state.p_value(one, other)
            assert 0.0 < p <= p_values[one, other]
            assert (p <= 1.0 - rule.confidence) == (state.verdict(one, other) is Verdict.BETTER)
            p_values[one, other] = p
        for i, (best, worst) in enumerate(state.ranks):
            assert 1 + sum(j == i for _, j in now) <= best <= worst <= len(rule.names) - sum(j == i for j, _ in now)
        assert set(state.futile) <= set(state.open)
        before = now
    assert state.complete == (not state.open)


@given(rows=tables, data=st.data())
@settings(max_examples=25)
def test_other_names_permute_the_answer(rows, data):
    size = len(rows[0])
    order = data.draw(st.permutations(range(size)))
    rule = ClosedRanking(NAMES[:size], 40, confidence=0.8, futility=0.05)
    one = run_ranking(rule, named(rows * 3))[-1]
    other = run_ranking(rule, named([[row[place] for place in order] for row in rows * 3]))[-1]
    assert {(order[i], order[j]) for i, j in claims(other)} == claims(one)
    assert [other.rollouts[order.index(place)] for place in range(size)] == list(one.rollouts)
    assert {frozenset((order[NAMES.index(a)], order[NAMES.index(b)])) for a, b in other.futile} == {
        frozenset((NAMES.index(a), NAMES.index(b))) for a, b in one.futile
    }


@given(rows=tables, question=questions)
@settings(max_examples=15)
def test_live_is_replayed_read_back_and_simulated(rows, question):
    rule = ClosedRanking(NAMES[: len(rows[0])], 30, confidence=0.8, question=question)
    states = run_ranking(rule, named(rows * 3))
    done = simulate_ranking(rule, [rows * 3])
    assert tuple(done.rollouts[0].tolist()) == states[-1].rollouts
    if question not in ("best or tied", "top 1"):
        assert set(map(tuple, np.argwhere(done.better[0]).tolist())) == claims(states[-1])
    assert bool(done.complete[0]) == states[-1].complete
    middle = states[len(states) // 2]
    back = ClosedRankingState.from_dict(json.loads(json.dumps(middle.to_dict())))
    assert back == middle
    assert back.memory is None
    if middle is not states[-1]:
        row = named(rows * 3)[middle.rounds]
        assert rule.step(back, {name: row[name] for name in back.running}) == states[middle.rounds]
    assert Record.from_dict(json.loads(json.dumps(rule.to_dict()))) == rule


def test_a_range_moves_with_the_scores():
    rng = np.random.default_rng(3)
    rows = np.round(rng.random((40, 3)) * (1.0, 0.6, 0.2), 2)
    unit = run_ranking(ClosedRanking(NAMES[:3], 40), named(rows))[-1]
    wide = run_ranking(ClosedRanking(NAMES[:3], 40, low=-10.0, high=10.0), named(-10.0 + 20.0 * rows))[-1]
    assert claims(unit)
    assert (claims(unit), unit.rollouts) == (claims(wide), wide.rollouts)
    assert wide.estimates[0] == pytest.approx(-10.0 + 20.0 * unit.estimates[0])


def test_every_setting_matters():
    rows = named(draws((0.9, 0.6, 0.6, 0.1), 120, 8))
    base = {"horizon": 120, "binary": True}
    ends = {}
    for change in [
        {},
        {"confidence": 0.8},
        {"horizon": 60},
        {"binary": False},
        {"futility": 0.1},
        {"question": "best"},
        {"question": "against d"},
        {"low": -1.0},
    ]:
        ends[str(change)] = run_ranking(ClosedRanking(NAMES[:4], **{**base, **change}), rows)[-1].rollouts
    assert len(set(ends.values())) == len(ends)
    left_out = run_ranking(ClosedRanking(NAMES[:4], 120), rows)[-1]
    assert left_out.rollouts == ends["{}"]  # all scores are at the ends, so they are taken for successes


# --- What it tells ---------------------------------------------------------------------------------------


def test_clear_policies_are_put_in_order_and_dropped_when_settled():
    rule = ClosedRanking(NAMES[:4], 150, binary=True)
    states = run_ranking(rule, named(draws((0.95, 0.6, 0.25, 0.02), 150, 1)))
    last = states[-1]
    assert last.ranks == ((1, 1), (2, 2), (3, 3), (4, 4))
    assert last.letters.letters == ("a", "b", "c", "d")
    assert last.finished
    assert last.complete
    assert last.best == last.leaders == ("a",)
    assert last.rollouts_used == sum(len(state.running) for state in [rule.start(), *states[:-1]])
    assert last.rollouts_used < 4 * last.rounds
    assert last.verdict("d", "a") is Verdict.WORSE
    assert str(last).endswith(
        f"All places are settled after {last.rounds} rounds and {last.rollouts_used} rollouts (at most 600)."
    )


def test_which_is_best_asks_less():
    rows = named(draws((0.9, 0.5, 0.4, 0.3), 150, 2))
    full = run_ranking(ClosedRanking(NAMES[:4], 150, binary=True), rows)[-1]
    best = run_ranking(ClosedRanking(NAMES[:4], 150, binary=True, question="best"), rows)[-1]
    assert best.rollouts_used < full.rollouts_used / 2
    assert best.best == ("a",)
    assert [best.verdict("a", other) for other in "bcd"] == [Verdict.BETTER] * 3
    assert best.verdict("b", "d") is Verdict.UNDECIDED
    assert best.ranks == ((1, 1), (2, 4), (2, 4), (2, 4))
    assert "a is best after" in str(best)
    open_ = run_ranking(ClosedRanking(NAMES[:4], 12, binary=True, question="best"), rows)[-1]
    assert not open_.complete
    assert f"{', '.join(open_.leaders)} may be best after 12 rounds" in str(open_)


def test_a_best_one_perhaps_tied_asks_least():
    rows = named(draws((0.9, 0.5, 0.4, 0.3), 150, 2))
    best = run_ranking(ClosedRanking(NAMES[:4], 150, binary=True, question="best"), rows)[-1]
    tied = run_ranking(ClosedRanking(NAMES[:4], 150, binary=True, question="best or tied"), rows)[-1]
    assert tied.rollouts_used <= best.rollouts_used
    assert tied.best == tied.leaders == ("a",)
    assert tied.complete
    assert claims(tied) == set()  # a tie is not excluded
    assert tied.ranks == ((1, 4),) * 4
    assert "a is best, perhaps tied after" in str(tied)


def test_each_against_a_baseline():
    rows = named(draws((0.95, 0.5, 0.9, 0.1), 150, 3))
    state = run_ranking(ClosedRanking(NAMES[:4], 150, binary=True, question="against b"), rows)[-1]
    assert [state.verdict(name, "b") for name in "acd"] == [Verdict.BETTER, Verdict.BETTER, Verdict.WORSE]
    assert state.verdict("a", "d") is Verdict.BETTER  # follows
    assert state.verdict("a", "c") is Verdict.UNDECIDED
    assert state.complete
    assert state.best == ()
    assert "3 of 3 were shown to differ from b" in str(state)


def test_a_futile_pair_is_paused_and_said_so():
    rows = named([(i % 2, (i + 1) % 2, 0.0) for i in range(200)])
    careful = run_ranking(ClosedRanking(NAMES[:3], 200, binary=True, futility=0.1), rows)[-1]
    plain = run_ranking(ClosedRanking(NAMES[:3], 200, binary=True), rows)[-1]
    assert careful.rounds < plain.rounds == 200
    assert careful.futile == (("a", "b"),)
    assert careful.verdict("a", "b") is Verdict.UNDECIDED
    assert careful.finished
    assert not careful.complete
    assert careful.open == (("a", "b"),)
    assert str(careful).endswith("a and b: not decidable within 200 rounds.")


def test_intervals_are_a_family_of_their_own():
    rule = ClosedRanking(NAMES[:3], 100, binary=True)
    state = run_ranking(rule, named(draws((0.95, 0.5, 0.1), 100, 4)))[-1]
    seen, other = state.interval("a", "c"), state.interval("c", "a")
    assert (seen.low, seen.high) == pytest.approx((-other.high, -other.low))
    assert seen.confidence == 0.95
    assert seen.low > 0.0
    assert "apart from the claims" in str(seen.notes[-1])
    met = [row for row in state.scores() if "a" in row and "c" in row]
    assert (seen.trials, seen.scale) == (len(met), "gain")
    assert seen.estimate == pytest.approx(sum(row["a"] - row["c"] for row in met) / len(met))
    nothing = rule.start().interval("a", "b")
    assert (nothing.low, nothing.high, nothing.trials) == (-1.0, 1.0, 0)
    with pytest.raises(ValueError, match="`second` must be another of a, b, c"):
        state.interval("a", "x")


# --- A policy added on the way ---------------------------------------------------------------------------


def joined(rule, rows, after, name):
    state = rule.start()
    for row in rows[:after]:
        state = rule.step(state, {one: row[one] for one in state.running})
    state = rule.with_policy(state, name)
    for row in rows[after:]:
        if state.finished:
            break
        state = state.rule.step(state, {one: row[one] for one in state.running})
    return state


@pytest.mark.parametrize("question", ["ranking", "best", "best or tied", "against a", "top 1"])
def test_a_policy_may_join(question):
    rows = named(draws((0.6, 0.1, 0.95), 160, 5))
    rule = ClosedRanking(("a", "b"), 120, binary=True, question=question)
    before = run_ranking(rule, rows[:40])[-1]
    assert before.complete
    after = rule.with_policy(before, "c")
    assert after.rule == ClosedRanking(
        ("a", "b", "c"), 120, binary=True, question=question, joined=(0, 0, before.rounds)
    )
    assert claims(before) <= claims(after)
    assert after.p_value("a", "b") == before.p_value("a", "b")
    assert after.p_value("c", "a") > 0.05
    assert "c" in after.running
    assert f"c joined after {before.rounds} rounds." in str(after)
    last = joined(rule, rows, before.rounds, "c")
    if question in ("best or tied", "top 1"):
        assert last.best == ("c",)
    else:
        assert last.verdict("c", "a") is Verdict.BETTER
        assert last.verdict("a", "b") is Verdict.BETTER
    assert last.rollouts[2] < last.rollouts[0]
    assert max(last.rollouts) <= 120
    amended = last.rule
    assert run_ranking(amended, rows)[-1] == last  # the amended rule replays the whole study
    assert ClosedRankingState.from_dict(json.loads(json.dumps(last.to_dict()))) == last


def test_a_policy_joins_before_the_first_round_as_if_declared():
    rows = named(draws((0.9, 0.5, 0.1), 60, 6))
    late = joined(ClosedRanking(("a", "b"), 60, binary=True), rows, 0, "c")
    assert late == run_ranking(ClosedRanking(("a", "b", "c"), 60, binary=True), rows)[-1]


@pytest.mark.slow
@pytest.mark.parametrize("question", ["ranking", "best"])
def test_adding_a_policy_because_of_the_results_costs_no_error(question):
    """Two equal policies; a third, equal to both, joins as soon as one seems to win."""
    studies, wrong = 250, 0
    for seed in range(studies):
        rows = named(draws((0.5, 0.5, 0.5), 80, 900 + seed))
        rule = ClosedRanking(("a", "b"), 80, confidence=0.9, binary=True, question=question)
        state = rule.start()
        for row in rows:
            if state.finished:
                break
            state = state.rule.step(state, {name: row[name] for name in state.running})
            if len(state.rule.names) == 2 and min(state.p_values) < 0.3:
                state = state.rule.with_policy(state, "c")
        wrong += bool(claims(state))
    assert wrong == 0 or special.betainc(wrong, studies - wrong + 1, 0.1) > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize(("confidence", "most", "complete"), [(0.95, 1275.0, 0.96), (0.9, 1080.0, 0.96)])
def test_the_published_ranking_benchmark(confidence, most, complete):
    """Five policies at .20 to .90, at most 1,000 each; three standard errors of 400 studies are allowed for."""
    rng = np.random.default_rng(11)
    scores = rng.random((400, 1000, 5)) < (0.90, 0.65, 0.45, 0.35, 0.20)
    done = simulate_ranking(ClosedRanking(NAMES[:5], 1000, confidence=confidence, binary=True), scores)
    used = done.rollouts.sum(axis=1)
    assert used.mean() - 3.0 * used.std() / 20.0 <= most
    missed = int((~done.complete).sum())
    assert missed == 0 or special.betainc(missed, 400 - missed + 1, 1.0 - complete) > 1e-4


def test_equal_scores_all_the_way():
    state = run_ranking(ClosedRanking(NAMES[:3], 30), named([(0.3, 0.3, 0.3)] * 30))[-1]
    assert claims(state) == set()
    assert state.p_value("a", "b") == 1.0
    assert state.rollouts == (30, 30, 30)
    assert "3 places are open after 30 rounds and 90 rollouts (at most 90)." in str(state)


def test_seven_policies_and_one_round():
    state = run_ranking(ClosedRanking(NAMES, 3, binary=True), named(draws((0.5,) * 7, 3, 1)))[-1]
    assert state.rollouts == (3,) * 7
    one = run_ranking(ClosedRanking(NAMES[:3], 1), named([(1, 0, 0)]))[-1]
    assert one.finished
    assert one.interval("a", "b").trials == 1


def test_earlier_states_of_a_large_study_forget_their_gamblers_and_find_them_again():
    rule = ClosedRanking(NAMES[:6], 60, binary=True)
    rows = named(draws((0.9, 0.8, 0.6, 0.4, 0.2, 0.1), 60, 2))
    states = run_ranking(rule, rows[:6])
    assert [state.memory is None for state in states] == [True] * 5 + [False]
    again = rule.step(states[2], rows[3])
    assert again == states[3]
    assert np.array_equal(rule.step(again, rows[4]).memory.log_wealth, rule._gamblers(states[4]).log_wealth)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ClosedRanking(("a",)), "`names` must be two or more different policies"),
        (lambda: ClosedRanking(("a", "a")), "`names` must be two or more different policies"),
        (lambda: ClosedRanking("abc"), "`names` must be two or more different policies; got 'abc'"),
        (
            lambda: ClosedRanking(map(str, range(17))),
            "`names` must be at most 16 policies for 'ranking'; got 17. RankingRule takes more, by Holm.",
        ),
        (
            lambda: ClosedRanking(tuple("abcdefgh"), question="best"),
            "`names` must be at most 7 policies for 'best'; got 8. Race takes more.",
        ),
        (
            lambda: ClosedRanking(tuple("abcdefghijk"), question="against a"),
            "`names` must be at most 10 policies for 'against a'; got 11. RankingRule",
        ),
        (
            lambda: ClosedRanking(map(str, range(30)), question="top 5"),
            "`question` must leave at most 20,000 sets of the best; got 'top 5: 142,506 sets of 30'",
        ),
        (lambda: ClosedRanking(tuple("abc"), question="top 3"), "ask for fewer than the 3 first policies"),
        (lambda: ClosedRanking(tuple("abc"), question="top 0"), "`question` must be one of"),
        (
            lambda: ClosedRanking(map(str, range(51)), question="top 2"),
            "`names` must be at most 50 policies for 'top 2'; got 51",
        ),
        (lambda: ClosedRanking(("a", "b"), 0), "`horizon` must be at least 1"),
        (lambda: ClosedRanking(("a", "b"), {"a": 3, "b": 4}), "`horizon` must be a whole number"),
        (lambda: ClosedRanking(("a", "b"), confidence=95), "Write 0.95 for 95%"),
        (lambda: ClosedRanking(("a", "b"), low=1.0, high=0.0), "`low` must be below `high`"),
        (lambda: ClosedRanking(("a", "b"), futility=0.5), "`futility` must be from 0"),
        (lambda: ClosedRanking(("a", "b"), binary=1), "`binary` must be True, False or None"),
        (
            lambda: ClosedRanking(("a", "b"), question="worst"),
            "`question` must be one of ranking, best, best or tied, top M, against a",
        ),
        (lambda: ClosedRanking(("a", "b"), question="against c"), "`question` must be one of"),
        (lambda: ClosedRanking(("a", "b", "c"), joined=(0, 3)), "`joined` must hold a round for each policy"),
        (lambda: ClosedRanking(("a", "b", "c"), joined=(0, 3, 3)), "`joined` must hold a round for each policy"),
        (
            lambda: ClosedRanking(("a", "b", "c"), joined=(0, 0, 3), question="against c"),
            "`question` must name a baseline that runs from the start",
        ),
    ],
)
def test_bad_declarations_are_refused(make, words):
    with pytest.raises((ValueError, TypeError), match=words):
        make()


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ({"a": 1.0}, r"`scores` must name the running policies \['a', 'b', 'c'\]; got \['a'\]"),
        ({"a": 1.0, "b": 0.0, "x": 1.0}, "`scores` must name the running policies"),
        ({"a": 1.0, "b": 0.0, "c": 1.0, "d": 1.0}, "`scores` must name the running policies"),
        ({"a": 1.0, "b": 0.0, "c": 1.5}, r"`scores\['c'\]` must be in the range \[0, 1\]; got 1.5"),
        ({"a": math.nan, "b": 0.0, "c": 1.0}, r"`scores\['a'\]` must be finite"),
        ({"a": "1", "b": 0.0, "c": 1.0}, r"`scores\['a'\]` must be a number"),
        ({"a": None, "b": 0.0, "c": 1.0}, r"`scores\['a'\]` must be a number"),
    ],
)
def test_a_bad_round_is_refused_and_changes_nothing(scores, words):
    rule = ClosedRanking(("a", "b", "c"), 10)
    state = rule.step(rule.start(), {"a": 1.0, "b": 0.5, "c": 0.0})
    text, held = json.dumps(state.to_dict()), state.memory
    with pytest.raises((ValueError, TypeError), match=words):
        rule.step(state, scores)
    assert json.dumps(state.to_dict()) == text
    assert state.memory is held


def test_other_refusals():
    rule = ClosedRanking(("a", "b", "c"), 40, binary=True)
    rows = named([(1.0, float(i % 2), 0.0) for i in range(40)])
    states = run_ranking(rule, rows)
    last = states[-1]
    with pytest.raises(ValueError, match="A ranking is final"):
        rule.step(last, {"a": 1.0, "b": 1.0})
    partly = next(state for state in states if len(state.running) == 2)
    with pytest.raises(ValueError, match="`scores` must name the running policies"):
        rule.step(partly, {"a": 1.0, "b": 0.0, "c": 1.0})  # one of them is finished
    with pytest.raises(ValueError, match="`state` must come from this rule; got a state of another"):
        ClosedRanking(("a", "b", "c"), 41).step(partly, {"a": 1.0, "b": 1.0})
    with pytest.raises(ValueError, match="`state` must come from this rule; got a state of another"):
        ClosedRanking(("a", "b", "c"), 41).with_policy(partly, "d")
    with pytest.raises(ValueError, match="`names` must be two or more different policies"):
        rule.with_policy(last, "a")
    with pytest.raises(ValueError, match="`second` must be another of a, b, c"):
        last.verdict("a", "x")
    with pytest.raises(ValueError, match="`second` must be another of a, b, c"):
        last.p_value("a", "a")
    with pytest.raises(ValueError, match=r"`scores` must hold studies, rounds and 3 policies; got shape \(2, 3\)"):
        simulate_ranking(rule, np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"`scores` must be in the range \[0, 1\]"):
        simulate_ranking(rule, np.full((1, 2, 3), 2.0))
    with pytest.raises(TypeError, match="`scores` must be an array of numbers"):
        simulate_ranking(rule, [[["a", "b", "c"]]])
    with pytest.raises(ValueError, match="all policies from the start"):
        simulate_ranking(last.rule.with_policy(last, "d").rule, np.zeros((1, 2, 4)))
    assert str(simulate_ranking(rule, [[[1.0, 0.0, 0.0]]])) == "1 studies, 3.0 rollouts on average, 0.0% complete."


def test_an_override_runs_what_was_paused_and_can_be_played_anew():
    rule = ClosedRanking(NAMES[:3], 60, binary=True, futility=0.1)
    rng = np.random.default_rng(3)
    paused = run_ranking(rule, [dict(zip(rule.names, row, strict=True)) for row in rng.integers(0, 2, (60, 3))])[-1]
    assert paused.finished
    assert paused.futile
    state = rule.override(paused)
    assert state.rule.futility == 0.0
    assert state.futile == ()
    assert set(state.running) == {name for pair in paused.open for name in pair}
    assert (state.verdicts, state.p_values, state.rounds) == (paused.verdicts, paused.p_values, paused.rounds)
    scores = dict.fromkeys(state.running, 1.0)
    anew = dataclasses.replace(state, memory=None)
    assert state.rule.step(anew, scores) == state.rule.step(state, scores)
    with pytest.raises(ValueError, match="must have paused a pair to be overridden; got one that has paused none"):
        state.rule.override(state)
    with pytest.raises(ValueError, match="must come from this rule"):
        rule.override(state)


@pytest.mark.slow
@pytest.mark.parametrize("rates", [(0.9, 0.5, 0.1), (0.5, 0.5, 0.5), (0.8, 0.7, 0.65)])
def test_all_intervals_hold_the_gains_together(rates):
    """Where the ranking stopped by itself; the exact tail of a binomial is the limit."""
    rule, missed, studies = ClosedRanking(NAMES[:3], 60, binary=True, confidence=0.9), 0, 300
    for seed in range(studies):
        state = run_ranking(rule, named(draws(rates, 60, seed)))[-1]
        missed += any(
            rates[NAMES.index(one)] - rates[NAMES.index(other)] not in state.interval(one, other)
            for one, other in rule.pairs
        )
    assert missed == 0 or special.betainc(missed, studies - missed + 1, 0.1) > 1e-4
