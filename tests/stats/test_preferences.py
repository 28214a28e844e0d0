"""Strengths from preferences: Bradley-Terry and Davidson, their intervals and ranks."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import bdtr
from scipy.stats import binom
from scipy.stats import t as student

from surefoot.core.record import Record
from surefoot.numerics.rates import bradley_terry as fits
from surefoot.reference import davidson
from surefoot.stats import bradley_terry
from tests.oracles import many as twin
from tests.reference import cases


def games_of(wins, ties=None):
    """Preferences from a table of wins; a half win on both sides is a tie."""
    games = []
    for i in range(len(wins)):
        for j in range(i + 1, len(wins)):
            tied = ties[i][j] if ties else round(2 * (wins[i][j] % 1))
            games += [(str(i), str(j), "first")] * int(wins[i][j])
            games += [(str(i), str(j), "second")] * int(wins[j][i])
            games += [(str(i), str(j), "tie")] * int(tied)
    return games


def by_name(found, values):
    return [values[found.names.index(str(i))] for i in range(len(found.names))]


@pytest.mark.parametrize("case", cases("bradley_terry_elo"))
def test_strengths_of_the_reference(case):
    asked, wanted = case
    found = bradley_terry(games_of(asked["wins"]), rng=1, resamples=50)
    assert by_name(found, found.log_strengths) == pytest.approx(wanted["log_strength"], abs=1e-8)
    assert by_name(found, found.elos) == pytest.approx(wanted["elo"], abs=1e-6)


tables = st.lists(st.integers(1, 9), min_size=12, max_size=12).map(
    lambda v: [[0, v[0], v[1]], [v[2], 0, v[3]], [v[4], v[5], 0]]
)


@given(wins=tables)
@settings(max_examples=20)
def test_bradley_terry_is_its_twin(wins):
    found = bradley_terry(games_of(wins), rng=1, resamples=50)
    assert by_name(found, found.log_strengths) == pytest.approx(twin.bradley_terry(wins), abs=1e-6)
    assert sum(found.log_strengths) == pytest.approx(0, abs=1e-9)
    assert list(found.log_strengths) == sorted(found.log_strengths, reverse=True)
    for i, interval in enumerate(found.intervals):
        assert interval.low <= found.log_strengths[i] <= interval.high
        assert found.ranks[i][0] <= found.ranks[i][1]


def test_davidson_is_its_twin():
    rng = np.random.default_rng(0)
    wins, ties = rng.integers(1, 9, (3, 3)).tolist(), np.triu(rng.integers(0, 6, (3, 3)), 1).tolist()
    for i in range(3):
        wins[i][i] = 0
    found = davidson(games_of(wins, ties), rng=1, resamples=50)
    strengths, tie = twin.davidson(wins, ties)
    assert by_name(found, found.log_strengths) == pytest.approx(strengths, abs=1e-5)
    assert found.tie_strength == pytest.approx(tie, rel=1e-4)


def test_davidson_without_ties_is_bradley_terry():
    games = games_of([[0, 7, 9], [3, 0, 6], [1, 4, 0]])
    one, other = davidson(games, rng=1, resamples=50), bradley_terry(games, rng=1, resamples=50)
    assert one.log_strengths == pytest.approx(other.log_strengths, abs=1e-9)
    assert one.tie_strength < 1e-12


@given(wins=tables)
@settings(max_examples=10)
def test_swapping_first_and_second_changes_nothing(wins):
    games = games_of(wins)
    turned = [(b, a, {"first": "second", "second": "first", "tie": "tie"}[o]) for a, b, o in games]
    one, other = bradley_terry(games, rng=1, resamples=50), bradley_terry(turned, rng=1, resamples=50)
    assert by_name(one, one.log_strengths) == pytest.approx(by_name(other, other.log_strengths), abs=1e-9)


def test_intervals_hold_the_strengths_and_ranks():
    """Three policies of known strength, 60 games a pair: pointwise coverage by simulation."""
    rng = np.random.default_rng(5)
    truth = np.array([0.6, 0.0, -0.6])
    covered, ranked = np.zeros(3), np.zeros(3)
    draws = 60
    for _ in range(draws):
        wins = [[0] * 3 for _ in range(3)]
        for i, j in ((0, 1), (0, 2), (1, 2)):
            wins[i][j] = int(rng.binomial(60, 1 / (1 + np.exp(truth[j] - truth[i]))))
            wins[j][i] = 60 - wins[i][j]
        found = bradley_terry(games_of(wins), rng=rng, resamples=200)
        for i in range(3):
            place = found.names.index(str(i))
            covered[i] += truth[i] in found.intervals[place]
            ranked[i] += found.ranks[place][0] <= i + 1 <= found.ranks[place][1]
    least = next(k for k in range(draws) if bdtr(k, draws, 0.95) > 1e-3)
    assert covered.min() >= least
    assert ranked.min() >= least


ROUND = [(i, j) for i in range(8) for j in range(i + 1, 8)]


def sessions_of(rng, number, strengths, spread, games=None):
    """Sessions of eight policies, in each of which strengths are off by their own normal errors."""
    found = []
    for _ in range(number):
        own = strengths + spread * rng.normal(size=8)
        met = ROUND if games is None else [ROUND[k] for k in rng.choice(28, games, replace=False)]
        found.append([(i, j, float(rng.random() < 1 / (1 + np.exp(own[j] - own[i])))) for i, j in met])
    return found


def fitted(sessions, **words):
    games = [(f"{i}", f"{j}", points) for session in sessions for i, j, points in session]
    return bradley_terry(games, rng=1, sessions=[n for n, one in enumerate(sessions) for _ in one], **words)


@pytest.mark.parametrize("games", [None, 14])
@pytest.mark.parametrize("number", [4, 10, 29])
def test_t_intervals_and_ranks_of_few_sessions_are_their_twin(number, games):
    sessions = sessions_of(np.random.default_rng(number), number, np.linspace(1.5, -1.5, 8), 0.5, games)
    found, (theta, covariance, freedom, least) = fitted(sessions), twin.strength_spread(sessions, 8)
    reach = student.ppf(0.975, freedom.diagonal()) * np.sqrt(covariance.diagonal())
    assert by_name(found, [one.low for one in found.intervals]) == pytest.approx(theta - reach, abs=1e-6)
    assert by_name(found, [one.high for one in found.intervals]) == pytest.approx(theta + reach, abs=1e-6)
    assert found.intervals[0].method == "Bradley-Terry t"
    places = by_name(found, found.ranks)
    for i in range(8):
        beaten = [0, 0]
        for j in {*range(8)} - {i}:
            error = np.sqrt(max(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j], least[i, j]))
            lead = (theta[i] - theta[j]) / error / student.ppf(1 - 0.05 / 56, freedom[i, j])
            beaten[0] += lead < -1
            beaten[1] += lead > 1
        assert places[i] == (1 + beaten[0], 8 - beaten[1])


def missed(draws, number, strengths, spread, games=None):
    """The share of strengths that are held, and in how many draws some rank interval leaves out a rank that may be.

    Draws in which a policy never lost or never won are refused, and say nothing: at most 1 in 100 here.
    """
    rng, held, ranked, refused = np.random.default_rng(11), 0, 0, 0
    for _ in range(draws):
        try:
            found = fitted(sessions_of(rng, number, strengths, spread, games), resamples=100)
        except ValueError as error:
            if "strengths would be infinite" not in str(error):
                raise
            refused += 1
            continue
        held += sum(truth in one for truth, one in zip(strengths, by_name(found, found.intervals), strict=True))
        best = [1 + int((strengths > one + 1e-9).sum()) for one in strengths]
        worst = [8 - int((strengths < one - 1e-9).sum()) for one in strengths]
        places = by_name(found, found.ranks)
        ranked += any(place[0] > b or place[1] < w for place, b, w in zip(places, best, worst, strict=True))
    assert refused <= draws / 100
    return held / (8 * (draws - refused)), ranked


@pytest.mark.parametrize(("number", "games"), [(10, None), (3, None), (20, 14)])
def test_equal_policies_have_every_rank_and_few_sessions_cover(number, games):
    """Eight equal policies: some rank was left out in 97% of draws by resamples, each rank by itself."""
    covered, ranked = missed(200, number, np.zeros(8), 0.7, games)
    assert ranked <= binom.ppf(0.999, 200, 0.05)
    assert covered >= 0.93


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 0.7])
@pytest.mark.parametrize("number", [3, 4, 6, 10, 29])
def test_ranks_of_equal_policies_hold_together_in_2000_draws(number, spread):
    covered, ranked = missed(2000, number, np.zeros(8), spread)
    assert ranked <= binom.ppf(0.999, 2000, 0.05)
    assert covered >= 0.93


@pytest.mark.slow
@pytest.mark.parametrize("number", [5, 10, 20])
def test_strengths_that_differ_are_covered_too(number):
    covered, ranked = missed(1000, number, np.linspace(0.8, -0.8, 8), 0.0)
    assert ranked <= binom.ppf(0.999, 1000, 0.05)
    assert covered >= 0.93


@given(seed=st.integers(0, 1000), number=st.integers(3, 12))
@settings(max_examples=20)
def test_rank_intervals_never_contradict_one_another(seed, number):
    """A policy that is called stronger than another has the better ends, and the estimate's rank is inside."""
    found = fitted(sessions_of(np.random.default_rng(seed), number, np.linspace(2, -2, 8), 0.3), prior=1)
    assert all(best <= place <= worst for place, (best, worst) in enumerate(found.ranks, 1))


def test_davidson_without_ties_has_the_intervals_of_bradley_terry():
    sessions = sessions_of(np.random.default_rng(2), 8, np.linspace(1, -1, 8), 0.3)
    games = [(f"{i}", f"{j}", points) for session in sessions for i, j, points in session]
    labels = [n for n, one in enumerate(sessions) for _ in one]
    one, other = (fit(games, rng=1, sessions=labels) for fit in (davidson, bradley_terry))
    assert [i.low for i in one.intervals] == pytest.approx([i.low for i in other.intervals], abs=1e-9)
    assert one.ranks == other.ranks


def test_sessions_are_resampled_whole():
    games = [("a", "b", "first")] * 30 + [("a", "b", "second")] * 20
    sessions = [i // 10 for i in range(50)]  # everyone in a session says the same
    alone = bradley_terry(games, rng=1)
    whole = bradley_terry(games, rng=1, sessions=sessions)
    assert whole.intervals[0].width > 2 * alone.intervals[0].width
    assert whole.log_strengths == alone.log_strengths


def test_a_policy_that_never_lost_can_be_held_by_a_prior():
    games = [("a", "b", "first")] * 5 + [("b", "c", "first")] * 3 + [("c", "b", "first")] * 2
    with pytest.raises(ValueError, match=r"never lost to \(or never beat\) the others.*Give prior=1"):
        bradley_terry(games, rng=1)
    found = bradley_terry(games, rng=1, prior=1)
    assert found.names == ("a", "b", "c")
    assert found.log_strengths[0] < 5
    assert bradley_terry(games, rng=1, prior=0.1).log_strengths[0] > found.log_strengths[0]


@pytest.mark.parametrize(
    "games",
    [
        [("a", "b", "first")] * 3 + [("a", "b", "tie")] * 2,  # a never lost: ties do not hold its lead
        [("a", "b", "tie")] * 3,  # nothing but ties: no readiness to tie is large enough
        [("a", "b", "first"), ("b", "c", "first"), ("a", "b", "tie"), ("b", "c", "tie")],
    ],
)
def test_davidson_refuses_what_grows_without_end_unless_held(games):
    with pytest.raises(ValueError, match=r"wins that ties cannot explain away.*Give prior=1"):
        davidson(games, rng=1)
    held = davidson([*games, ("a", "b", "first")], rng=1, prior=1)
    assert abs(held.log_strengths[0]) < 3
    assert held.tie_strength < 100


def test_davidson_takes_a_circle_of_wins_and_ties():
    """a beat b, b beat c, and a and c tie: no leads fit, so the strengths are finite."""
    games = [("a", "b", "first"), ("b", "c", "first"), ("a", "c", "tie")]
    found = davidson(games, rng=1, resamples=50)
    strengths, tie = twin.davidson([[0, 1, 0], [0, 0, 1], [0, 0, 0]], [[0, 0, 1], [0, 0, 0], [0, 0, 0]])
    assert [found.log_strengths[found.names.index(name)] for name in "abc"] == pytest.approx(strengths, abs=1e-4)
    assert found.tie_strength == pytest.approx(tie, rel=1e-3)


def test_unseen_ends_are_said_to_be_unseen():
    found = bradley_terry([("a", "b", "first")] * 9 + [("a", "b", "second")], rng=1)
    assert any("never lost or never won" in note for note in found.notes)


def test_the_seed_is_kept_and_matters():
    games = games_of([[0, 7, 9], [3, 0, 6], [1, 4, 0]])
    one = bradley_terry(games, rng=1)
    assert one == bradley_terry(games, rng=1)
    assert one.seed == 1
    assert one.intervals != bradley_terry(games, rng=2).intervals
    assert bradley_terry(games, rng=1, confidence=0.8).intervals[0].width < one.intervals[0].width
    assert Record.from_dict(json.loads(json.dumps(one.to_dict()))) == one
    assert str(one).startswith("0  Elo 1164 [")


def test_resamples_of_many_policies_are_fitted_together(monkeypatch):
    steps, real = [], fits.derivatives
    monkeypatch.setattr(fits, "derivatives", lambda points, *rest: steps.append(len(points)) or real(points, *rest))
    rng = np.random.default_rng(0)
    names = [f"p{i}" for i in range(25)]
    games = []
    for _ in range(8000):
        i, j = rng.choice(25, 2, replace=False)
        games.append((names[i], names[j], int(rng.random() < 1 / (1 + np.exp((i - j) / 8)))))
    found = bradley_terry(games, rng=1, resamples=200)
    assert found.ranks[0][0] == 1
    assert len(steps) < 25  # Newton steps, each of all resamples at once
    assert 200 in steps


REFUSALS = [
    (lambda: bradley_terry([], rng=1), "at least one; got none"),
    (lambda: bradley_terry([("a", "b", "won")], rng=1), r"end in first, second or tie \(row 1\)"),
    (lambda: bradley_terry([("a", "a", 1)], rng=1), "name two policies"),
    (
        lambda: bradley_terry([("a", "b", 0.5), ("c", "d", 0.5)], rng=1),
        "`preferences` must link all policies; a, b never met the others",
    ),
    (lambda: bradley_terry([("a", "b", 1)] * 3, rng=1), "strengths would be infinite"),
    (lambda: bradley_terry([("a", "b", 0.5)], rng=None), "`rng` must be"),
    (lambda: bradley_terry([("a", "b", 0.5)] * 2, rng=1, sessions=[1, 1]), "`sessions` must name at least 2"),
    (lambda: bradley_terry([("a", "b", 0.5)], rng=1, prior=-1), "`prior` must be 0 or more"),
    (lambda: bradley_terry([("a", "b", 0.5)] * 4, rng=1), "must differ to show a spread; got 4 that are alike"),
    (lambda: bradley_terry([("a", "b", 0.5), ("a", "b")], rng=1), r"be of three parts \(row 2\)"),
    (lambda: bradley_terry([("a", "b", ["first"])], rng=1), r"end in first, second or tie \(row 1\)"),
    (lambda: davidson([("a", "b", 0.5)], rng=1, resamples=3), "`resamples` must be at least 40"),
]


@pytest.mark.parametrize(("call", "words"), REFUSALS, ids=[str(i) for i in range(len(REFUSALS))])
def test_refusals(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()


@pytest.mark.parametrize("strong", [True, False])
def test_a_policy_that_could_have_never_lost_or_never_won_is_noted(strong: bool) -> None:
    rare = [("A", "B", "first" if strong else "second")] * 9 + [("A", "B", "second" if strong else "first")]
    usual = [("B", "C", "first")] * 10 + [("B", "C", "second")] * 10
    noted = bradley_terry(rare + usual, rng=1, resamples=500).intervals[0].notes
    assert any("never lost or never won" in note for note in noted)
    balanced = bradley_terry(usual + [("A", "B", "first")] * 10 + [("A", "B", "second")] * 10, rng=1, resamples=500)
    assert not any("never lost or never won" in note for note in balanced.intervals[0].notes)
