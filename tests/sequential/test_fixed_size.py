"""The fixed-size rule on successes: the exact gain, spoken once. (On scores it is in the conformance suite.)"""

import json

import pytest

from surefoot import PairTally, Tally, stats
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.sequential import FixedSize, run, simulate
from surefoot.stats.one_sided_gains import gain_sides, paired_gain_sides

CLEAR = [(1, 0)] * 8 + [(1, 1), (0, 0)] * 2


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("swap", [True, False])
def test_the_one_look_is_the_exact_gain(paired, swap):
    pairs = [pair[::-1] for pair in CLEAR] if swap else CLEAR
    rule = FixedSize(12, binary=True, paired=paired, claim="either")
    *before, last = run(rule, pairs)
    if paired:
        found = stats.exact_paired_gain(PairTally(2, 0, 8, 2) if swap else PairTally(2, 8, 0, 2))
    else:
        found = stats.exact_gain(*((Tally(2, 12), Tally(10, 12)) if swap else (Tally(10, 12), Tally(2, 12))))
    assert last.gain == found
    assert last.verdict is found.verdict is (Verdict.WORSE if swap else Verdict.BETTER)
    assert last.p_value == found.p_value
    assert (last.interval.low, last.interval.high) == (found.interval.low, found.interval.high)
    assert {state.verdict for state in before} == {Verdict.UNDECIDED}
    assert {(state.interval.low, state.interval.high) for state in before} == {(-1.0, 1.0)}
    assert Record.from_dict(json.loads(json.dumps(last.to_dict()))) == last


def test_one_side_only_speaks_for_the_first():
    rule = FixedSize(12, binary=True)
    better, worse = run(rule, CLEAR)[-1], run(rule, [pair[::-1] for pair in CLEAR])[-1]
    assert (better.verdict, worse.verdict) == (Verdict.BETTER, Verdict.UNDECIDED)
    assert better.interval.high == 1.0
    assert worse.p_value > 0.9


@pytest.mark.parametrize("paired", [True, False])
def test_a_claim_of_one_side_is_asked_of_the_test_of_that_side(paired):
    """Finding T10: it was asked of the two-sided interval, which 8 of 12 against 3 do not pass."""
    pairs = [(1, 0)] * 6 + [(0, 1)] + [(1, 1)] * 2 + [(0, 0)] * 3
    last = run(FixedSize(12, binary=True, paired=paired), pairs)[-1]
    data = (PairTally(2, 6, 1, 3),) if paired else (Tally(8, 12), Tally(3, 12))
    bounds = stats.paired_gain_bounds if paired else stats.gain_bounds
    sides = paired_gain_sides if paired else gain_sides
    assert last.interval.low == pytest.approx(bounds(*data)[0].value, abs=1e-7)
    assert last.interval.confidence == 0.95
    level = 1.0 - 2.0 * (1.0 - 0.95)  # the nuisance is limited by the error, to its last digit
    assert last.p_value == sides(*data, confidence=level).better
    assert (last.p_value <= 0.05, last.verdict) == (True, Verdict.BETTER)
    two_sided = stats.exact_paired_gain if paired else stats.exact_gain
    assert two_sided(*data).verdict is Verdict.UNDECIDED
    back = run(FixedSize(12, binary=True, paired=paired, claim="first not worse", margin=0.3), pairs)[-1]
    assert back.p_value == sides(*data, confidence=level, margin=0.3).not_worse
    same = run(FixedSize(12, binary=True, paired=paired, claim="same", margin=0.9), pairs)[-1]
    assert same.verdict is Verdict.SAME
    either = run(FixedSize(12, binary=True, paired=paired, claim="either", margin=0.1), pairs)[-1]
    assert either.p_value > last.p_value


def test_simulating_is_running():
    rule = FixedSize(12, binary=True, claim="either")
    first, second = zip(*CLEAR, strict=True)
    done = simulate(rule, [first, second, first], [second, first, first])
    assert list(done.verdicts) == [Verdict.BETTER, Verdict.WORSE, Verdict.UNDECIDED]
    assert done.stopping_times.tolist() == [12, 12, 12]
    short = simulate(rule, [first[:5]], [second[:5]])
    assert (short.stopping_times[0], short.verdicts[0]) == (5, Verdict.UNDECIDED)


def test_another_range_moves_the_gain():
    wide = FixedSize(12, binary=True, low=-1.0, high=3.0, claim="either")
    last = run(wide, [(-1 + 4 * a, -1 + 4 * b) for a, b in CLEAR])[-1]
    unit = run(FixedSize(12, binary=True, claim="either"), CLEAR)[-1]
    assert last.interval.low == pytest.approx(4 * unit.interval.low)
    assert last.interval.estimate == pytest.approx(4 * unit.interval.estimate)


def test_margins_are_asked_of_the_interval():
    scores = [(0.9, 0.5), (0.7, 0.4)] * 20
    assert run(FixedSize(40, margin=0.1), scores)[-1].verdict is Verdict.BETTER
    assert run(FixedSize(40, margin=0.34), scores)[-1].verdict is Verdict.UNDECIDED
    assert run(FixedSize(40, margin=0.6, claim="same"), scores)[-1].verdict is Verdict.SAME
    level = [(0.5, 0.5), (0.6, 0.5)] * 20
    assert run(FixedSize(40, margin=0.2, claim="first not worse"), level)[-1].verdict is Verdict.BETTER


def test_what_is_not_a_success_is_refused():
    rule = FixedSize(5, binary=True)
    with pytest.raises(ValueError, match=r"`first` must be 0 or 1 for fixed size; got 0.5. Use FiniteHorizonMixture"):
        rule.step(rule.start(), (0.5, 0.0))
    with pytest.raises(ValueError, match=r"`confidence` must be above 0.5 for fixed size"):
        FixedSize(5, confidence=0.4)
