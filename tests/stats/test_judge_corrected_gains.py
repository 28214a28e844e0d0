"""Gains and means corrected by human labels: the formula, its laws, its refusals, and how often it is right."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import bdtr, bdtrc, ndtri

from surefoot import Verdict
from surefoot.core.assumptions import ROUGH
from surefoot.core.record import Record
from surefoot.stats import judge_corrected_gain, judge_corrected_mean, labels_needed
from surefoot.stats.judge_corrected_gains import LARGEST, LeftOut, judge_corrected_rates
from tests.oracles import judges as twin
from tests.oracles.clusters import p_of_moments
from tests.reference import listed
from tests.support.judge_corrected_gains import documents, example, run_of, some_labelled

# --- The formula


@pytest.mark.parametrize("case", listed("cluster.judge_cases"))
def test_the_reference_cases(case):
    data = case["judge"], case["human"], case["document"]
    found = judge_corrected_gain(*data)
    assert found.left_out is None
    assert (found.gain.estimate, found.trust) == pytest.approx((case["gain"], case["trust"]), rel=1e-9)
    assert (found.gain.interval.low, found.gain.interval.high) == pytest.approx(case["ends_95"], abs=1e-6)
    assert found.gain.p_value == pytest.approx(case["p"], rel=1e-6)


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", ["none", "four", "ragged"])
@pytest.mark.parametrize("epochs", [1, 3])
def test_it_is_the_formula(kind, epochs):
    judge, human, of = example(kind=kind, epochs=epochs)
    found = judge_corrected_gain(judge, human, of)
    wanted = twin.corrected_gain(judge, human, of)
    assert found.left_out is None
    assert (found.gain.estimate, found.trust) == pytest.approx((wanted["gain"], wanted["trust"]), rel=1e-10)
    at = {**wanted, "mean": wanted["gain"], "pooled": wanted["m3"]}
    if found.gain.estimate > 0:
        assert found.gain.p_value == pytest.approx(p_of_moments(at, 0.0, -1.0, two_sided=True), rel=1e-6)
    low = found.gain.interval.low
    assert p_of_moments(at, low, -1.0, two_sided=True) == pytest.approx(0.05, rel=1e-6)


@pytest.mark.parametrize("kind", ["none", "ragged"])
def test_rates_subtract_to_the_gain(kind):
    rng = np.random.default_rng(8)
    sides = [(rng.random((2, 200)) < rate).mean(axis=0) for rate in (0.8, 0.6)]
    judged = [np.where(rng.random(200) < 0.15, 1 - side, side) for side in sides]
    there = rng.random(200) < 0.4
    people = [[float(x) if seen else None for x, seen in zip(side, there, strict=True)] for side in sides]
    of = documents(kind, 200).tolist()
    gaps = [None if one is None else one - other for one, other in zip(*people, strict=True)]
    gain = judge_corrected_gain(judged[0] - judged[1], gaps, of)
    first, second = judge_corrected_rates(tuple(judged), tuple(people), of)
    assert gain.left_out is None
    assert first.interval.estimate - second.interval.estimate == pytest.approx(gain.gain.estimate, abs=1e-12)
    assert first.trust == pytest.approx(gain.trust)
    alone = judge_corrected_rates(tuple(judged), tuple(people), of, method="labels")
    assert [one.trust for one in alone] == [0.0, 0.0]
    assert alone[0].interval.estimate == pytest.approx(np.mean(sides[0][there]))


@pytest.mark.parametrize("half_width", [0.1, 0.12, 0.15])
def test_labels_needed_is_the_least_by_the_formula(half_width):
    found = judge_corrected_gain(*example())
    known = (found.items, found.left, found.judged, found.trust)
    needed = labels_needed(found, half_width)
    assert twin.half_width(needed.labels, *known) <= half_width < twin.half_width(needed.labels - 1, *known)
    assert (needed.low, needed.high) == (math.floor(0.7 * needed.labels), min(300, math.ceil(1.35 * needed.labels)))


def test_labels_needed_says_when_the_items_are_too_few():
    needed = labels_needed(judge_corrected_gain(*example()), 0.0001)
    assert (needed.labels, needed.low, needed.high) == (None, None, None)
    assert str(needed) == "More labels of these 300 items would hardly do: more items are needed."


# --- Laws


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(["none", "four", "ragged"]), st.sampled_from([1, 3]))
def test_swapping_the_policies_mirrors_everything(seed, kind, epochs):
    judge, human, of = example(seed, kind=kind, epochs=epochs)
    one = judge_corrected_gain(judge, human, of)
    other = judge_corrected_gain([-x for x in judge], [None if x is None else -x for x in human], of)
    assert other.gain.interval.low == pytest.approx(-one.gain.interval.high, abs=1e-12)
    assert other.gain.interval.high == pytest.approx(-one.gain.interval.low, abs=1e-12)
    assert other.gain.verdict is one.gain.verdict.mirrored
    assert other.gain.p_value == pytest.approx(one.gain.p_value, rel=1e-9)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.permutations(range(300)))
def test_the_order_of_items_does_not_matter(seed, order):
    judge, human, of = example(seed, kind="ragged")
    one = judge_corrected_gain(judge, human, of)
    other = judge_corrected_gain(*([values[place] for place in order] for values in (judge, human, of)))
    assert other.gain.interval.low == pytest.approx(one.gain.interval.low, abs=1e-11)
    assert other.gain.p_value == pytest.approx(one.gain.p_value, rel=1e-9)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.floats(0.5, 0.99), st.floats(0.1, 50.0))
def test_interval_p_and_scale_agree(seed, confidence, span):
    judge, human, of = example(seed)
    found = judge_corrected_gain(judge, human, of, confidence=confidence)
    assert (0.0 in found.gain.interval) == (found.gain.p_value >= 1 - confidence)
    assert found.gain.estimate in found.gain.interval
    wide = judge_corrected_gain(
        [span * x for x in judge], [None if x is None else span * x for x in human], of,
        span=span, scale="score gain", confidence=confidence,
    )  # fmt: skip
    assert wide.gain.interval.low == pytest.approx(span * found.gain.interval.low, rel=1e-9, abs=1e-11 * span)
    assert wide.gain.verdict is found.gain.verdict
    assert labels_needed(wide, 0.08 * span, span=span).labels == labels_needed(found, 0.08).labels


def test_leniency_on_one_policy_moves_the_judge_and_not_the_corrected_gain():
    judge, human, _ = example(labels=150)
    lenient = [min(1.0, max(-1.0, x + 0.2)) if x <= 0 else x for x in judge]
    one, other = judge_corrected_gain(judge, human), judge_corrected_gain(lenient, human)
    assert np.mean(lenient) - np.mean(judge) > 0.1
    assert abs(one.gain.estimate - other.gain.estimate) < 0.03


def test_every_parameter_matters():
    judge, human, of = example(kind="four")
    plain = judge_corrected_gain(judge, human, of)
    assert judge_corrected_gain(judge, human).gain.interval != plain.gain.interval
    assert judge_corrected_gain(judge, human, of, method="labels").left_out is LeftOut.ASKED
    assert judge_corrected_gain(judge, human, of, confidence=0.9).gain.interval.width < plain.gain.interval.width
    assert judge_corrected_gain(judge, human, of, margin=0.9).gain.verdict is Verdict.SAME
    assert judge_corrected_gain(judge, human, of, span=2.0).gain.interval.low < plain.gain.interval.low
    assert judge_corrected_gain(judge, human, of, scale="score gain").gain.interval.scale == "score gain"


# --- When the judge is left out


def test_the_judge_is_left_out_by_rules_fixed_beforehand():
    judge, human, _ = example()
    assert judge_corrected_gain(judge, human).left_out is None
    few = [value if place < 29 else None for place, value in enumerate(x for x in human if x is not None)]
    assert judge_corrected_gain(judge[:60], few).left_out is LeftOut.FEW
    turned = [-x for x in judge]
    assert judge_corrected_gain(turned, human).left_out is LeftOut.CHANCE
    all_of_them = [x for x in human if x is not None]
    assert judge_corrected_gain(judge[:60], all_of_them).left_out is LeftOut.ALL
    rng = np.random.default_rng(1)
    true, judged, _ = run_of(rng, (0.97, 0.2), (0.95, 0.95, 0.0))
    far = judge_corrected_gain(judged.tolist(), some_labelled(rng, true, 100))
    assert far.left_out is LeftOut.LARGE
    assert abs(far.gain.estimate) > LARGEST


def test_the_labels_alone_do_not_depend_on_the_judge():
    judge, human, of = example(kind="four")
    for with_documents in (None, of):
        one = judge_corrected_gain(judge, human, with_documents, method="labels")
        other = judge_corrected_gain([-x for x in judge], human, with_documents, method="labels")
        assert one.gain == other.gain
        assert one.bought == 0.0


def test_labels_alone_are_named_and_unequal_documents_are_said_to_be_approximate():
    judge, human, of = example(kind="ragged")
    alone = judge_corrected_gain(judge, human, method="labels").gain
    grouped = judge_corrected_gain(judge, human, of, method="labels").gain
    assert (alone.method, grouped.method) == ("labels alone", "clustered labels alone")
    assert ROUGH not in alone.assumptions
    assert ROUGH in grouped.assumptions


def test_what_the_judge_bought():
    found = judge_corrected_gain(*example(labels=150)[:2])
    assert 0.05 < found.bought < 0.5
    assert found.bought == pytest.approx(1 - found.gain.interval.width / found.without)


# --- Refusals and records


@pytest.mark.parametrize(
    ("judge", "human", "says"),
    [
        ([0.5, 0.2], [None], r"`human` must have a label or None for the 2 items of `judge`; got 1\."),
        ([0.5, 1.2], [None, 0.1], r"`judge` must lie between -1 and 1; got 1\.2\."),
        ([0.5, 0.2, 0.1], [-1.5, 0.1, None], r"`human` must lie between -1 and 1; got -1\.5\."),
        ([0.5, float("nan")], [0.1, 0.1], r"`judge` must lie between -1 and 1; got nan\."),
        ([0.5, 0.2], [None, 0.1], r"at least 2 documents; got 1 labelled item in 1\. One document cannot show"),
    ],
)
def test_refusals(judge, human, says):
    with pytest.raises(ValueError, match=says):
        judge_corrected_gain(judge, human)


def test_refusals_of_one_document_and_of_other_arguments():
    with pytest.raises(ValueError, match="2 labelled items in 1"):
        judge_corrected_gain([0.5, 0.2, 0.0], [0.1, 0.1, None], ["a", "a", "b"])
    judge, human, _ = example()
    with pytest.raises(ValueError, match="`method` must be one of judge, labels; got 'best'"):
        judge_corrected_gain(judge, human, method="best")
    with pytest.raises(ValueError, match="`span` must be above 0"):
        judge_corrected_gain(judge, human, span=0)
    with pytest.raises(ValueError, match="`margin` must be below 1"):
        judge_corrected_gain(judge, human, margin=1.0)
    with pytest.raises(ValueError, match="`half_width` must be above 0"):
        labels_needed(judge_corrected_gain(judge, human), 0.0)
    with pytest.raises(ValueError, match=r"`human` must lie between 0 and 1; got 2\.0"):
        judge_corrected_mean([0.5, 0.2], [2.0, 0.1])


def test_results_are_written_and_read_back():
    judge, human, of = example(kind="four")
    found = judge_corrected_gain(judge, human, of)
    rate = judge_corrected_mean([(x + 1) / 2 for x in judge], [None if x is None else (x + 1) / 2 for x in human], of)
    for one in (found, judge_corrected_gain(judge, human, method="labels"), labels_needed(found, 0.05), rate):
        again = Record.from_dict(json.loads(json.dumps(one.to_dict())))
        assert again == one
        assert str(again) == str(one)


# --- One policy


def test_a_mean_is_inside_its_range_and_never_of_no_width():
    found = judge_corrected_mean([1.0] * 100, [1.0] * 40 + [None] * 60).interval
    assert found.high == found.estimate == 1.0
    assert 0.85 < found.low < 0.97
    stretched = judge_corrected_mean([10.0] * 100, [10.0] * 40 + [None] * 60, low=-10.0, high=10.0, scale="score")
    assert stretched.interval.low == pytest.approx(20 * found.low - 10)


def test_documents_widen_a_mean():
    said = [float(place // 8 % 2) for place in range(400)]
    labels = [x if place % 4 == 0 else None for place, x in enumerate(said)]
    alone = judge_corrected_mean(said, labels).interval
    grouped = judge_corrected_mean(said, labels, [place // 8 for place in range(400)]).interval
    assert grouped.width > 1.2 * alone.width


# --- How often it is right


def fewest(draws, coverage, chance=1e-4):
    """The number of covered draws below which a true coverage of `coverage` would be an accident of that chance."""
    return next(k for k in range(draws + 1) if bdtr(k, draws, coverage) > chance)


JUDGES = [(0.7, 0.7, 0.0), (0.9, 0.9, 0.0), (0.9, 0.8, 0.09), (0.98, 0.98, 0.0)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["none", "four", "ragged"])
@pytest.mark.parametrize("epochs", [1, 3])
def test_the_corrected_gain_covers(kind, epochs):
    rng, draws = np.random.default_rng(2026), 250
    worst, every = 1.0, []
    for labels in (30, 100, 200):
        for judge in JUDGES:
            for rates in ((0.5, 0.5), (0.8, 0.7), (0.95, 0.9)):
                held = 0
                for _ in range(draws):
                    true, judged, of = run_of(rng, rates, judge, items=600, epochs=epochs, kind=kind)
                    human = some_labelled(rng, true, labels)
                    held += rates[0] - rates[1] in judge_corrected_gain(judged, human, of).gain.interval
                assert held >= fewest(draws, 0.94), (labels, judge, rates, held / draws)
                worst = min(worst, held / draws)
                every.append(held / draws)
    assert np.mean(every) >= 0.95
    print(kind, epochs, "least", worst, "mean", np.mean(every))


@pytest.mark.slow
def test_the_judge_saves_a_tenth_of_the_width():
    rng = np.random.default_rng(1)
    ratios = []
    for _ in range(200):
        true, judged, _ = run_of(rng, (0.7, 0.65), (0.9, 0.9, 0.0))
        found = judge_corrected_gain(judged, some_labelled(rng, true, 100))
        ratios.append(found.gain.interval.width / found.without)
    assert np.mean(ratios) <= 0.90


@pytest.mark.slow
@pytest.mark.parametrize("judge", [(0.9, 0.9, 0.1), (0.9, 0.9, -0.1), (0.8, 0.7, -0.2), (0.7, 0.95, -0.25)])
@pytest.mark.parametrize("rates", [(0.70, 0.75), (0.90, 0.95), (0.45, 0.50)])
def test_a_worse_policy_passes_no_gate_however_the_judge_leans(judge, rates):
    rng, runs, passed, by_judge = np.random.default_rng(11), 2000, 0, 0
    for _ in range(runs):
        true, judged, _ = run_of(rng, rates, judge, items=400)
        # a gate is two one-sided tests: the lower end at 95% is that of the interval at 90%
        gain = judge_corrected_gain(judged, some_labelled(rng, true, 60), margin=0.05, confidence=0.9).gain
        passed += gain.interval.low > -0.05  # the truth is just minus the margin, the worst there is
        by_judge += judged.mean() - 1.645 * judged.std() / 20 > -0.05
    assert bdtrc(passed - 1, runs, 0.05) > 1e-3, passed / runs
    print(judge, rates, passed / runs, by_judge / runs)
    if judge[2] <= -0.2:
        assert by_judge / runs > 0.2


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["four", "ragged"])
@pytest.mark.parametrize("epochs", [1, 3])
def test_a_corrected_mean_covers(kind, epochs):
    rng, draws, items = np.random.default_rng(5), 300, 600
    of = documents(kind, items)
    for labels in (30, 60, 200):
        for right in (0.7, 0.9, 0.98):
            for rate in (0.5, 0.9, 0.98):
                held = 0
                for _ in range(draws):
                    z = np.sqrt(0.5) * rng.normal(size=of.max() + 1)[of] + np.sqrt(0.2) * rng.normal(size=items)
                    true = z + np.sqrt(0.3) * rng.normal(size=(epochs, items)) < ndtri(rate)
                    judged = (rng.random((epochs, items)) < np.where(true, right, 1 - right)).mean(axis=0)
                    human = some_labelled(rng, true.mean(axis=0), labels)
                    held += rate in judge_corrected_mean(judged, human, of).interval
                assert held >= fewest(draws, 0.94), (labels, right, rate, held / draws)
