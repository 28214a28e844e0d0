"""ExactBinary and ExactPairedBinary: verdicts, p-values by enumeration, where the counts stand, refusals."""

import dataclasses
from collections.abc import Iterator

import numpy as np
import pytest

from surefoot import PairTally, Tally, Verdict
from surefoot.sequential import ExactBinary, ExactPairedBinary, FiniteHorizonMixture, Savi, run, simulate
from surefoot.sequential.exact_rules import Counts, ExactRule
from tests.oracles import after_stop
from tests.oracles import after_stop as after_stop_twin
from tests.oracles import exact_designs as twin
from tests.support.exact_rules import every_rule, slow_rule
from tests.support.exact_rules import moves as after_stop_moves

every_claim = pytest.mark.parametrize("claim", ["first better", "either"])


def moves(make: type[ExactRule], first: float, second: float) -> list[tuple[int, int, float]]:
    """(second's step, first's step, chance): for pairs the rates are those of a win by one policy alone."""
    if make is ExactBinary:
        return [(a, b, (second if a else 1 - second) * (first if b else 1 - first)) for a in (0, 1) for b in (0, 1)]
    return [(0, 0, 1 - first - second), (0, 1, first), (1, 0, second)]


def endings(rule: ExactRule, first: float, second: float) -> Iterator[tuple[float, int, Counts, Verdict]]:
    """Every way a run can end, futility aside: (chance, pairs, counts, verdict), by a dictionary of states."""
    alive = {(0, 0): 1.0}
    for n in range(1, rule.horizon + 1):
        fresh: dict[tuple[int, int], float] = {}
        for (s, f), mass in alive.items():
            for a, b, chance in moves(type(rule), first, second):
                fresh[s + a, f + b] = fresh.get((s + a, f + b), 0.0) + mass * chance
        alive = {}
        for (s, f), mass in fresh.items():
            verdict, _ = rule.judge(n, Counts(f, s))
            if verdict is Verdict.UNDECIDED and n < rule.horizon:
                alive[s, f] = mass
            else:
                yield mass, n, Counts(f, s), verdict


@pytest.mark.sample(3)
@every_rule
@every_claim
@pytest.mark.parametrize("common", [0.02, 0.15, 0.33, 0.5])
def test_the_p_value_is_valid_by_enumeration(make, claim, common):
    # P(p <= u) <= u for every u, when the policies are equal.
    rule = make(12, claim=claim, confidence=0.9)
    ends = [(rule.judge(n, counts)[1], mass) for mass, n, counts, _ in endings(rule, common, common)]
    assert sum(mass for _, mass in ends) == pytest.approx(1.0)
    below = 0.0
    for p_value, mass in sorted(ends):
        below += mass
        if p_value < 1.0:
            assert below <= p_value + 1e-7


def further(make: type[ExactRule], one: tuple[int, int, int], other: tuple[int, int, int]) -> bool:
    """The order of verdicts: streams by the earlier, then the larger gain; pairs by the signed root."""
    if make is ExactPairedBinary:
        return after_stop.root(one) >= after_stop.root(other) - 1e-12
    return one[0] < other[0] or (one[0] == other[0] and one[2] - one[1] >= other[2] - other[1])


@pytest.mark.sample(3)
@every_rule
@every_claim
def test_the_p_value_is_the_largest_chance_of_ending_as_far(make, claim):
    rule = make(10, claim=claim, confidence=0.9)
    grid = np.linspace(0.002, 0.998, 250) / (1.0 if make is ExactBinary else 2.0)
    walked = [list(endings(rule, rate, rate)) for rate in grid]
    sides = 2.0 if claim == "either" else 1.0
    for _, pairs, counts, verdict in walked[0]:
        if verdict is not Verdict.BETTER:
            continue
        tails = [
            sum(
                mass
                for mass, n, (f, s), v in ends
                if v is Verdict.BETTER and further(make, (n, s, f), (pairs, counts.second, counts.first))
            )
            for ends in walked
        ]
        found = rule.judge(pairs, counts)[1]
        if make is ExactBinary:
            assert found == pytest.approx(min(sides * max(tails), 0.1), rel=2e-3)
        else:  # over every number of pairs that differ, not only independent pairs
            assert sides * max(tails) <= found + 1e-9
        assert found <= 0.1 + 1e-12


@pytest.mark.sample(3)
@every_rule
@every_claim
def test_verdict_and_p_value_agree_at_every_end(make, claim):
    rule = make(20, claim=claim, confidence=0.9)
    for _, pairs, counts, verdict in endings(rule, 0.3, 0.3):
        assert rule.judge(pairs, counts)[0] is verdict
        assert (rule.judge(pairs, counts)[1] <= 1 - rule.confidence) == (verdict is not Verdict.UNDECIDED)


def test_a_stronger_ending_has_a_smaller_p_value():
    rule = ExactBinary(50, claim="either")
    early = run(rule, [(1, 0)] * 50)[-1]
    late = run(rule, [(1, 0), (1, 1)] * 25)[-1]
    assert early.pairs < late.pairs
    assert early.p_value < late.p_value <= 0.05
    mirrored = run(rule, [(0, 1), (1, 1)] * 25)[-1]
    assert mirrored.verdict is Verdict.WORSE
    assert mirrored.p_value == late.p_value


def test_before_the_end_the_p_value_is_1_and_an_undecided_end_has_one():
    rule = ExactBinary(20)
    states = run(rule, ([(1, 0)] + [(1, 1)] * 2 + [(0, 0)]) * 5)
    assert all(state.p_value == 1.0 for state in states[:-1])
    last = states[-1]
    assert (last.pairs, last.verdict) == (20, Verdict.UNDECIDED)
    assert 0.05 < last.p_value < 0.5
    assert str(last).startswith("Undecided at the end after 20 pairs, p = 0.")


@every_rule
@every_claim
def test_certain_futility_ends_the_run_and_says_so(make, claim):
    rule = make(30, claim=claim)
    state = run(rule, [(1, 0), (0, 1)] * 15)[-1]
    assert state.hopeless
    assert state.finished
    assert state.pairs < 30
    assert str(state) == (f"Undecided after {state.pairs} pairs: no verdict can be reached any more within 30 pairs.")
    with pytest.raises(ValueError, match="no verdict can be reached any more"):
        rule.step(state, (1, 0))
    # It is true: the best that could still come decides nothing.
    limits = rule.design.limits
    first, second = state.counts
    for more in range(1, 30 - state.pairs + 1):
        assert first + more <= limits[state.pairs + more, second]
        assert claim != "either" or second + more <= limits[state.pairs + more, first]


@every_rule
@every_claim
def test_hopeless_is_what_the_slow_twin_calls_hopeless(make, claim):
    rule = make(13, claim=claim, confidence=0.8)
    slow = twin.rule_from(rule.design.limits.tolist(), claim == "either")
    steps = [(a, b) for a, b, _ in moves(make, 0.3, 0.3)]
    known = twin._hopeless(slow, 13, steps)
    for n in range(1, 13):
        for s in range(n + 1):
            for f in range(n + 1 - (s if make is ExactPairedBinary else 0)):
                if not slow(n, s, f):
                    assert rule.hopeless(n, Counts(f, s)) == ((n, s, f) in known)


@pytest.mark.sample(3)
@every_rule
@every_claim
def test_simulated_is_run(make, claim):
    rule = make(60, claim=claim)
    rng = np.random.default_rng(5)
    first, second = (rng.random((60, 60)) < 0.6).astype(float), (rng.random((60, 60)) < 0.4).astype(float)
    done = simulate(rule, first, second)
    for row in range(60):
        state = run(rule, zip(first[row], second[row], strict=True))[-1]
        assert (state.pairs, state.verdict) == (done.stopping_times[row], done.verdicts[row])
    short = simulate(rule, first[:, :3], second[:, :3])
    assert (short.stopping_times == 3).all()


@pytest.mark.sample(3)
@every_rule
@every_claim
def test_operating_is_the_law_of_every_end(make, claim):
    rule = make(20, claim=claim)
    stopping, shares = rule.operating(0.8, 0.5, curtailed=False)
    counted, found = np.zeros(20), dict.fromkeys(shares, 0.0)
    for mass, pairs, _, verdict in endings(rule, *rule._chances(0.8, 0.5)):
        counted[pairs - 1] += mass
        found[verdict.value] += mass
    assert stopping == pytest.approx(counted, abs=1e-13)
    assert shares == pytest.approx(found, abs=1e-13)
    sooner, same = rule.operating(0.8, 0.5)
    assert same == pytest.approx(shares, abs=1e-13)
    assert sum(n * c for n, c in enumerate(sooner, 1)) < sum(n * c for n, c in enumerate(stopping, 1))


@pytest.mark.sample(3)
@every_rule
@every_claim
def test_the_chance_to_decide_from_here(make, claim):
    rule = make(30, claim=claim)
    _, whole = rule.operating(0.7, 0.4)
    assert rule.start().chance_to_decide(0.7, 0.4) == pytest.approx(whole, abs=1e-12)
    state = rule.start()
    for pair in [(1, 0), (1, 0), (1, 1)]:
        state = rule.step(state, pair)
    ahead = state.chance_to_decide(0.7, 0.4)
    assert ahead["better"] > whole["better"]
    # One step on, averaged over what may come, it is the same.
    mean = sum(
        (0.7 if a else 0.3) * (0.4 if b else 0.6) * rule.step(state, (a, b)).chance_to_decide(0.7, 0.4)["better"]
        for a in (0, 1)
        for b in (0, 1)
    )
    assert mean == pytest.approx(ahead["better"], abs=1e-12)
    decided = run(rule, [(1, 0)] * 30)[-1]
    assert decided.chance_to_decide(0.1, 0.9) == {"better": 1.0, "worse": 0.0, "undecided": 0.0}


@every_rule
def test_where_the_counts_stand(make):
    rule = make(50, claim="either")
    state = rule.start()
    assert state.standing.better_above is None
    wins = state.standing.wins_to_better
    assert wins == state.standing.wins_to_worse == run(rule, [(1, 0)] * 50)[-1].pairs
    for _ in range(3):
        state = rule.step(state, (1, 0))
    assert state.standing.wins_to_better == wins - 3
    assert state.standing.wins_to_worse > wins
    for _ in range(20):
        state = rule.step(state, (1, 1))
    place = state.standing
    assert place.first > place.second
    assert place.worse_above is None or place.worse_above >= place.first
    assert f"{place.wins_to_better} pairs in a row from better" in str(place)
    last = run(rule, [(1, 0)] * (wins - 1))
    assert str(last[0].standing).startswith("1 for the first policy and 0 for the second after 1 pair; ")
    assert "; 1 pair in a row from better" in str(last[-1].standing)
    one_sided = make(50).start().standing
    assert one_sided.wins_to_worse is None
    assert "from worse" not in str(one_sided)


def test_states_keep_their_tallies():
    pairs = [(1, 0), (1, 1), (0, 0), (0, 1), (1, 0)]
    state = run(ExactBinary(50), pairs)[-1]
    assert state.tallies == (Tally(3, 5), Tally(2, 5))
    paired = run(ExactPairedBinary(50), pairs)[-1]
    assert paired.tally == PairTally(both=1, first_only=2, second_only=1, neither=1)


@pytest.mark.sample(3)
@every_rule
@every_claim
@pytest.mark.parametrize("horizon", [6, 40])
def test_the_interval_leaves_out_zero_exactly_when_there_is_a_verdict(make, claim, horizon):
    rng, seen = np.random.default_rng(horizon), set()
    for rates in ((1.0, 0.0), (0.9, 0.4), (0.4, 0.9), (0.5, 0.5), (0.97, 0.8), (0.1, 0.9)):
        rule = make(horizon, claim=claim, confidence=0.9)
        for state in run(rule, (rng.random((horizon, 2)) < rates) * 1.0):
            interval = state.interval
            assert (interval.low > 0.0) == (state.verdict is Verdict.BETTER)
            assert (interval.high < 0.0) == (state.verdict is Verdict.WORSE)
            final = state.finished and claim == "first better"  # both ends are bounded, each at its own error
            assert interval.confidence == pytest.approx(0.8 if final else 0.9)
            anytime = state.anytime_interval
            assert (anytime.low > 0.0, anytime.high < 0.0) == (interval.low > 0.0, interval.high < 0.0)
            seen.add(state.verdict)
    assert {Verdict.BETTER, Verdict.UNDECIDED} <= seen


PAIRS = ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (0.0, 0.0))


def chances(make: type[ExactRule], first: float, second: float) -> tuple[float, ...]:
    """How likely each of `PAIRS` is; for the paired rule the rates are those of a win by one policy alone."""
    if make is ExactBinary:
        return first * (1 - second), second * (1 - first), first * second, (1 - first) * (1 - second)
    return first, second, 0.0, 1 - first - second


@pytest.mark.sample(3)
@every_rule
@every_claim
def test_the_interval_holds_the_gain_at_every_moment_by_enumeration(make, claim):
    # Every run of six pairs, walked once: how likely is it that the true gain was ever outside?
    rule = make(6, claim=claim, confidence=0.8)
    grid = np.linspace(0.0, 1.0, 11)
    rates = [(f, s) for f in grid for s in (*grid, f + rule.near, f - rule.near) if 0.0 <= s <= 1.0]
    rates = [(f, s) for f, s in rates if make is ExactBinary or f + s <= 1.0]
    gains = np.round([f - s for f, s in rates], 12)
    laws = np.array([chances(make, f, s) for f, s in rates]).T
    missed = np.zeros(len(rates))

    def walk(state, mass, out):
        for pair, law in zip(PAIRS, laws, strict=True):
            if law.any():
                after = rule.step(state, pair)
                low, high = after.anytime_interval.low, after.anytime_interval.high
                outside = out | (gains < low - 1e-11 * (low < 0.0)) | (gains > high + 1e-11 * (high > 0.0))
                if after.finished:
                    missed[outside] += (mass * law)[outside]
                else:
                    walk(after, mass * law, outside)

    walk(rule.start(), np.ones(len(rates)), np.zeros(len(rates), bool))
    assert 0.02 < missed.max() <= 0.2 + 1e-12


@pytest.mark.sample(4)
@pytest.mark.parametrize("claim", ["first better", "either"])
@pytest.mark.parametrize("make", [ExactBinary, ExactPairedBinary, Savi])
def test_the_interval_is_about_all_pairs_where_the_bets_have_stopped(make, claim):
    """The bets may be decided before the table, and follow no pair from then on: the estimate and n still do."""
    rng, rule, stopped = np.random.default_rng(0), make(30, claim=claim, low=-10.0, high=10.0), 0
    for _ in range(60):
        first, second = (np.where(rng.random(30) < rate, 10.0, -10.0) for rate in (0.9, 0.5))
        for state in run(rule, zip(first, second, strict=True)):
            shown, seen = getattr(state, "anytime_interval", None) or state.interval, state.pairs
            assert shown.trials == seen
            assert shown.estimate == pytest.approx(float(np.mean(first[:seen] - second[:seen])))
            assert shown.low <= shown.estimate <= shown.high
            stopped += state.companion.pairs < seen
    assert stopped  # else nothing was asked


@every_rule
def test_what_an_exact_rule_refuses(make):
    with pytest.raises(ValueError, match=r"`horizon` must be at most 2,000 for exact .*; got 5000"):
        make(5000)
    with pytest.raises(ValueError, match=r"`horizon` must be at least \d+ for exact .* at 99.9999%; got 3"):
        make(3, confidence=0.999999)
    with pytest.raises(ValueError, match=r"`margin` must be 0 for exact .*betting rules"):
        make(20, margin=0.1)
    with pytest.raises(ValueError, match="`claim` must be one of first better, either"):
        make(20, claim="same")
    rule = make(20)
    with pytest.raises(ValueError, match=r"`first` must be 0 or 1 for exact .*; got 0.5. Use FiniteHorizonMixture"):
        rule.step(rule.start(), (0.5, 1.0))
    with pytest.raises(ValueError, match=r"`first` must be between 0 and 1"):
        rule.operating(1.2, 0.5)


# --- where a run is given up ---


@pytest.mark.sample(5)
@every_rule
@every_claim
@pytest.mark.parametrize("futility", [0.01, 0.05, 0.2])
def test_futile_is_a_predictive_chance_below_the_declared_one(make, claim, futility):
    rule = make(14, claim=claim, confidence=0.9, futility=futility)
    slow = slow_rule(rule)
    chance = after_stop_twin.foreseen(slow, 14, after_stop_moves(make))
    some = 0
    for n, s, f in after_stop_twin.every_state(14, after_stop_moves(make)):
        if not slow(n, s, f):
            assert rule.futile(n, Counts(f, s)) == (chance(n, s, f) < futility)
            assert rule.hopeless(n, Counts(f, s)) == (chance(n, s, f) == 0)
            some += 0 < chance(n, s, f) < futility
    assert some


@pytest.mark.sample(3)
@every_rule
@every_claim
def test_simulated_is_run_with_futility(make, claim):
    rule = make(60, claim=claim, futility=0.05)
    rng = np.random.default_rng(6)
    first, second = (rng.random((60, 60)) < 0.55).astype(float), (rng.random((60, 60)) < 0.5).astype(float)
    done = simulate(rule, first, second)
    ended = set()
    for row in range(60):
        state = run(rule, zip(first[row], second[row], strict=True))[-1]
        assert (state.pairs, state.verdict) == (done.stopping_times[row], done.verdicts[row])
        ended.add(state.ending)
    assert "futility" in ended
    assert done.mean_pairs < simulate(dataclasses.replace(rule, futility=0.0), first, second).mean_pairs


@pytest.mark.sample(3)
@every_rule
@every_claim
def test_the_chance_to_decide_counts_giving_up(make, claim):
    rule = make(30, claim=claim, futility=0.1)
    assert rule.start().chance_to_decide(0.7, 0.5) == pytest.approx(rule.operating(0.7, 0.5)[1], abs=1e-12)
    stopped = run(rule, [(1, 0), (0, 1)] * 15)[-1]
    assert stopped.ending == "futility"
    assert sum(stopped.chance_to_decide(0.7, 0.5).values()) == pytest.approx(1.0)
    assert stopped.chance_to_decide(1.0, 0.0)["better"] > 0.0  # if it went on


# --- what the state tells, and going on all the same ---


@pytest.mark.parametrize("make", [ExactBinary, ExactPairedBinary, FiniteHorizonMixture])
def test_a_stop_for_futility_says_so_and_may_be_overridden(make):
    rule = make(40, claim="either", futility=0.05)
    states = run(rule, [(1, 0), (0, 1)] * 20)
    assert [state.ending for state in states[:-1]] == [None] * (len(states) - 1)
    stopped = states[-1]
    assert (stopped.ending, stopped.verdict, stopped.overridden) == ("futility", Verdict.UNDECIDED, False)
    assert stopped.pairs < run(dataclasses.replace(rule, futility=0.0), [(1, 0), (0, 1)] * 20)[-1].pairs
    assert str(stopped).endswith(": stopped, the chance of a verdict within 40 pairs is below 5%.")
    with pytest.raises(ValueError, match=r"stopped for futility. To continue anyway, step from `override"):
        rule.step(stopped, (1, 0))
    state = rule.override(stopped)
    assert (state.ending, state.overridden, state.futile) == (None, True, True)
    with pytest.raises(ValueError, match=r"must have stopped for futility to be overridden; got one that goes on"):
        rule.override(state)
    other = make(41, claim="either", futility=0.05)
    with pytest.raises(ValueError, match="`state` must come from this rule"):
        other.override(stopped)
    while not state.finished:
        state = rule.step(state, (1, 0))
        assert state.overridden
    assert state.ending in ("verdict", "horizon", "out of reach")
    assert state.estimate == pytest.approx(state.observed)
    with pytest.raises(ValueError, match=r"got one that ended by"):
        rule.override(state)
    assert type(state).from_dict(state.to_dict()) == state
    assert type(rule).from_dict(rule.to_dict()) == rule
