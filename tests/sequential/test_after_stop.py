"""What may be said after a stop: the estimate, stopping for futility, and overriding it."""

import itertools

import numpy as np
import pytest

from surefoot import Verdict
from surefoot.numerics.designs import stopped_intervals
from surefoot.sequential import (
    ExactBinary,
    ExactPairedBinary,
    FiniteHorizonMixture,
    Savi,
    after_stop,
    designs,
    interval_kind,
    run,
)
from surefoot.sequential.exact_rules import ExactRule
from tests.oracles import after_stop as twin
from tests.support.exact_rules import every_rule


def test_the_estimate_while_running_is_the_observed_gain():
    rule = ExactBinary(50)
    assert rule.start().estimate == rule.start().observed == 0.0
    states = run(rule, [(1, 0), (1, 1), (0, 1), (1, 0)])
    assert [state.estimate for state in states] == pytest.approx([1.0, 0.5, 0.0, 0.25])
    for other in (FiniteHorizonMixture(50), Savi(50)):
        state = run(other, [(1, 0), (1, 1), (0, 1), (1, 0)])[-1]
        assert state.estimate == state.observed == pytest.approx(0.25)


every_claim = pytest.mark.parametrize("claim", ["first better", "either"])


class AllEnds:
    """The interval of every state in which a rule can end, and the law of those states."""

    def __init__(self, rule: ExactRule) -> None:
        self.rule, declared = rule, rule.design.declared
        self.space = designs.space(declared, rule.futility)
        self.ends = self.space.endings
        found = {}
        places = list(zip(self.ends.n.tolist(), self.ends.first.tolist(), self.ends.second.tolist(), strict=True))
        for (n, first, second), gain in zip(places, self.ends.gain.tolist(), strict=True):
            if declared.both and (n, second, first) in found:  # the policies swapped: tested by itself
                low, high = found[n, second, first]
                found[n, first, second] = -high, -low
                continue
            verdict = (Verdict.UNDECIDED, Verdict.BETTER, Verdict.WORSE)[rule_verdict(rule, n, first, second)]
            shown = after_stop.final(rule, declared, (n, first, second), verdict=verdict, estimate=gain, certified=True)
            found[n, first, second] = shown.low, shown.high
        self.low, self.high = np.array([found[place] for place in places]).T

    def mass(self, first: float, second: float) -> np.ndarray:
        """The chance of each state: at success rates, or at chances of a win by one policy alone."""
        chances = np.array([first, 1 - first, second, 1 - second])
        if self.space.counted.paired:
            chances = np.array([first, second, 1 - first - second])
        return np.exp(self.space.counted.counts @ np.log(chances) + self.space.counted.weights)

    def covered(self, first: float, second: float) -> float:
        """How often the interval holds the gain."""
        gain = first - second
        return float(self.mass(first, second)[(self.low <= gain) & (gain <= self.high)].sum())


def rule_verdict(rule: ExactRule, n: int, first: int, second: int) -> int:
    limits = rule.design.limits
    if first > limits[n, second]:
        return 1
    return -1 if rule.claim == "either" and second > limits[n, first] else 0


def grid(make: type[ExactRule], points: int):
    """Pairs of success rates; or of chances that only the first, and only the second, policy succeeds."""
    places = (np.arange(points) + 0.5) / points
    for one, other in itertools.product(places, places):
        yield (one, other) if make is ExactBinary else (one * other, one * (1 - other))


def check_everything(rule: ExactRule, points: int) -> AllEnds:
    found = AllEnds(rule)
    ends, stated = found.ends, 1 - 2 * rule.error
    assert (found.low <= found.high).all()
    assert ((found.low > 0) == (ends.verdict > 0)).all()
    assert ((found.high < 0) == (ends.verdict < 0)).all()
    assert ((found.low <= ends.gain) & (ends.gain <= found.high)).all()
    assert ((found.low >= -1) & (found.high <= 1)).all()
    worst = min(found.covered(*rates) for rates in grid(type(rule), points))
    assert stated <= worst < stated + (0.08 if rule.futility else 0.03)
    return found


@pytest.mark.sample(3)
@every_rule
@every_claim
def test_coverage_by_summation_at_20_pairs(make, claim):
    check_everything(make(20, claim=claim), 60)


@pytest.mark.sample(3)
@every_rule
@every_claim
def test_coverage_by_summation_with_futility(make, claim):
    check_everything(make(20, claim=claim, futility=0.1), 40)


@pytest.mark.slow
@every_rule
@every_claim
@pytest.mark.parametrize("confidence", [0.90, 0.95, 0.99])
@pytest.mark.parametrize("horizon", [20, 50])
def test_coverage_by_summation_at_other_confidences_and_50_pairs(make, claim, confidence, horizon):
    check_everything(make(horizon, claim=claim, confidence=confidence), 60)


@pytest.mark.slow
@every_rule
def test_coverage_by_summation_at_100_pairs(make):
    check_everything(make(100, claim="either"), 60)


# --- widths: all ends on a grid, as in the design's prototype ---


def widths(rule: ExactRule, rates: list[tuple[float, float]]) -> list[float]:
    """Mean widths at some rates, every end found on a grid of gains and nuisances (0.0025 apart)."""
    declared = rule.design.declared
    paired, error = declared.family == "paired", declared.error
    space, plain = designs.space(declared, rule.futility), designs.space(declared, 0.0)
    shares = np.sin(np.linspace(0.0, np.pi / 2, 23)[1:-1]) ** 2
    gains = np.arange(0.00125, 0.9995, 0.0025)

    def tops(counted, order, last, gain):
        logs = np.log(stopped_intervals.outcome_chances(np.full_like(shares, gain), shares, paired=paired))
        most = np.zeros(len(order))
        for one in logs:
            np.maximum(most, np.cumsum(np.exp(counted.counts @ one + counted.weights)[order])[last], out=most)
        return most

    def ordered(values):
        order = np.argsort(values, kind="stable")
        return order, np.searchsorted(values[order], values[order] + 1e-12, side="right") - 1

    far, near = np.zeros(len(space.endings.n)), np.zeros(len(plain.endings.n))
    for cell, centre in enumerate(stopped_intervals.CENTRES[paired]):
        values = stopped_intervals.score(space.endings, centre, paired=paired)
        order, last = ordered(np.where(space.endings.verdict < 0, -1e9, values))
        for gain in gains[(gains >= twin.EDGES[cell]) & (gains < twin.EDGES[cell + 1])]:
            far[order[tops(space.counted, order, last, gain) > error]] = gain
    better = np.flatnonzero(plain.endings.verdict > 0)
    gap = (plain.endings.first - plain.endings.second)[better]
    key = plain.endings.n[better] * 1e4 - gap
    if paired:
        key = -stopped_intervals.signed_root(plain.endings.first[better], plain.endings.second[better])
    order, last = ordered(key)
    ends = np.maximum(plain.endings.gain[better], 0.0)
    for gain in gains[::-1]:
        over = order[tops(plain.counted.chosen(plain.endings.verdict > 0), order, last, gain) > error]
        ends[over] = np.minimum(ends[over], gain)
    near[better] = ends

    def by_place(found, values, swapped=False):
        counts = (found.second, found.first) if swapped else (found.first, found.second)
        return dict(
            zip(zip(found.n.tolist(), *(c.tolist() for c in counts), strict=True), values.tolist(), strict=True)
        )

    fars, nears = by_place(space.endings, far), by_place(plain.endings, near)
    here, there = list(by_place(space.endings, far)), list(by_place(space.endings, far, swapped=True))
    wide = np.array(
        [
            fars[a] - nears[a] if v > 0 else fars[b] - nears[b] if v < 0 else fars[a] + fars[b]
            for a, b, v in zip(here, there, space.endings.verdict.tolist(), strict=True)
        ]
    )
    chances = [[a, b, 1 - a - b] if paired else [a, 1 - a, b, 1 - b] for a, b in rates]
    mass = np.exp(space.counted.counts @ np.log(np.array(chances)).T + space.counted.weights[:, None])
    return (wide @ mass).tolist()


STREAMS = [(0.75, 0.6), (0.9, 0.6), (0.95, 0.85), (0.6, 0.6), (0.2, 0.1)]
PAIRS = [(0.30, 0.15), (0.36, 0.06), (0.20, 0.10), (0.1425, 0.0425), (0.24, 0.24), (0.1, 0.1)]
FIGURES = {  # design figures, plus .006 allowed; .002 of it for the proof
    (ExactBinary, 50, 0.0): [0.436, 0.497, 0.293, 0.450, 0.332],
    (ExactBinary, 100, 0.0): [0.341, 0.456, 0.229, 0.318, 0.255],
    (ExactBinary, 100, 0.02): [0.365, 0.456, 0.242, 0.398, 0.276],
    (ExactBinary, 200, 0.0): [0.297, 0.435, 0.200, 0.230, 0.214],
    (ExactPairedBinary, 50, 0.0): [0.459, 0.537, 0.372, 0.319, 0.475, 0.304],
    (ExactPairedBinary, 100, 0.0): [0.357, 0.504, 0.281, 0.243, 0.336, 0.214],
}


LONG = (ExactBinary, 200, 0.0)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "setting", [pytest.param(one, marks=[pytest.mark.slow] * (one == LONG)) for one in FIGURES], ids=str
)
def test_mean_widths_are_those_of_the_design(setting):
    make, horizon, futility = setting
    rule = make(horizon, claim="either", futility=futility)
    found = widths(rule, STREAMS if make is ExactBinary else PAIRS)
    assert [have <= most + 0.004 for have, most in zip(found, FIGURES[setting], strict=True)] == [True] * len(found)


@pytest.mark.sample(3)
@every_rule
@pytest.mark.parametrize("horizon", [50, 100])
def test_proved_ends_are_next_to_those_found_on_a_grid(make, horizon):
    declared = make(horizon, claim="either").design.declared
    ends = designs.endings(declared, 0.0)
    for place in np.random.default_rng(2).choice(len(ends.n), 15, replace=False):
        state = int(ends.n[place]), int(ends.first[place]), int(ends.second[place])
        proved = after_stop.ends(declared, 0.0, *state, certified=True)
        found = after_stop.ends(declared, 0.0, *state, certified=False)
        assert proved[0] <= found[0] + 1e-12
        assert proved[1] >= found[1] - 1e-12
        assert np.allclose(proved, found, atol=0.0021)


def test_the_interval_of_the_list_is_shorter_and_ends_in_the_gain():
    rule = ExactPairedBinary(50, claim="either")
    last = run(rule, [(1, 0), (1, 1), (1, 0), (0, 0), (1, 0)] * 10)[-1]
    assert last.ending == "verdict"
    assert 0 < last.list_interval().low <= last.list_interval().high
    assert last.list_interval().width < last.interval.width
    assert "50 environments of the list itself" in str(last.list_interval().notes[0])
    with pytest.raises(ValueError, match="must have stopped as declared"):
        rule.start().list_interval()
    known = after_stop.of_list(rule, rule.design.declared, (50, 20, 13), 0.2)
    assert known.low == known.high == known.estimate == pytest.approx(0.14)
    assert str(known.notes[0]) == "All 50 environments of the list were run: the gain on them is known."


# --- what a state shows ---


@every_rule
@every_claim
def test_which_interval_a_state_shows(make, claim):
    rule = make(50, claim=claim, futility=0.05)
    states = run(rule, [(1, 0), (1, 1), (1, 0), (0, 0)] * 12)
    for state in states[:-1]:
        assert state.interval_kind == interval_kind(state.interval) == "anytime"
        assert state.interval == state.anytime_interval
    last = states[-1]
    assert last.verdict is Verdict.BETTER
    assert last.interval_kind == interval_kind(last.interval) == "final"
    shown = last.interval
    assert shown == last.final_interval()
    assert shown.confidence == pytest.approx(0.95 if claim == "either" else 0.90)
    assert shown.estimate == last.estimate < last.observed
    assert 0.0 < shown.low <= last.estimate <= shown.high < 1.0
    assert shown.method == f"{rule.title}, final"
    assert shown.width < last.anytime_interval.width or claim == "first better"
    rough = last.final_interval(certified=False)
    assert interval_kind(rough) == "final, not certified"
    assert rough.method == f"{rule.title}, final, not certified"
    assert type(shown).from_dict(shown.to_dict()) == shown
    assert "+" in str(next(note for note in shown.notes if note.kind == "early_verdict"))


def test_an_estimate_that_is_what_was_observed_is_not_said_to_allow_for_an_early_verdict():
    final = run(ExactPairedBinary(50), [(1, 0)] * 7)[-1].interval
    assert final.estimate == 1.0
    early = next(note for note in final.notes if note.kind == "early_verdict")
    assert str(early).endswith("The estimate is the same, and may be too large.")


@every_rule
def test_a_run_that_did_not_stop_as_declared_has_no_final_interval(make):
    rule = make(40, claim="either", futility=0.05)
    states = run(rule, [(1, 0), (0, 1)] * 20)
    with pytest.raises(ValueError, match=r"must have stopped as declared.*; got \d+ of 40 pairs.*`anytime_interval`"):
        states[0].final_interval()
    assert states[-1].interval_kind == "final"
    state = rule.override(states[-1])
    while not state.finished:
        state = rule.step(state, (1, 0))
    assert state.interval_kind == interval_kind(state.interval) == "anytime"
    with pytest.raises(ValueError, match="got one that was overridden"):
        state.final_interval()


def test_other_ranges_and_long_horizons():
    plain = run(ExactBinary(40), [(1, 0), (1, 1)] * 20)[-1].interval
    wide = run(ExactBinary(40, low=-2, high=8), [(8, -2), (8, 8)] * 20)[-1].interval
    assert (wide.low, wide.high, wide.estimate) == pytest.approx((10 * plain.low, 10 * plain.high, 10 * plain.estimate))
    assert (plain.scale, wide.scale) == ("gain", "score gain")
    lax = run(ExactBinary(20, confidence=0.5), [(1, 0), (1, 1)] * 10)[-1]
    assert lax.interval_kind == "anytime"  # both ends of a one-sided claim at 50% say nothing


@pytest.mark.slow
@every_rule
def test_a_long_horizon_is_not_certified_until_asked_for(make):
    rule = make(500, claim="either", futility=0.02)
    last = run(rule, [(1, 0), (1, 1), (1, 0), (0, 0), (0, 1)] * 100)[-1]
    assert last.interval_kind == interval_kind(last.interval) == "final, not certified"
    proved = last.final_interval()
    assert interval_kind(proved) == "final"
    assert proved.low <= last.interval.low
    assert proved.high >= last.interval.high
    assert proved.width - last.interval.width < 0.003
