"""Tests of `surefoot.stats.selection`."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import PairTally, Scores, Tally, reference, stats
from surefoot.numerics.rates import binomial
from surefoot.numerics.rates.best_of_many import HighestOfMany
from surefoot.reference import simultaneous_lower_bounds
from surefoot.stats import regret_bound, selection, selection_bias, shortlist, simultaneous_intervals
from surefoot.stats.selection import Shortlist, simultaneous_confidence
from tests.oracles import selection as twin
from tests.reference import listed

CURVE = (0.2, 0.35, 0.5, 0.6, 0.68, 0.74, 0.78, 0.80, 0.80, 0.70)
TWENTY = np.interp(np.linspace(0, 9, 20), np.arange(10), CURVE)


def named(successes, trials):
    return {f"p{place}": Tally(int(x), int(n)) for place, (x, n) in enumerate(zip(successes, trials, strict=True))}


def of(kind):
    return [pytest.param(case, id=str(case["id"])) for case in listed("race") if case["kind"] == kind]


@pytest.mark.parametrize("case", of("chosen_low"))
def test_lower_bound_of_the_pick_is_the_stored_one(case):
    others = {str(place): Tally(1, 2) for place in range(case["policies"] - 1)}
    found = simultaneous_lower_bounds(
        {"picked": Tally(case["successes"], case["trials"]), **others}, confidence=case["confidence"]
    )["picked"]
    assert found.value == pytest.approx(case["value"], abs=1e-7)
    slow = twin.sidak_low(case["successes"], case["trials"], case["policies"], case["confidence"])
    assert found.value == pytest.approx(slow, abs=1e-9)
    assert found.confidence == case["confidence"]


@pytest.mark.parametrize("case", of("corrected_rate"))
def test_corrected_rate_is_the_stored_one(case):
    found = selection_bias(named(case["successes"], case["trials"]))
    assert found.corrected == pytest.approx(case["value"], abs=1e-7)


def test_shortlist_says_who_may_be_the_best():
    found = shortlist(named([46, 40, 21], [50] * 3))
    assert found.names == ("p0", "p1")
    assert found.out == ("p2",)
    assert found.p_values[0] == 1.0 > found.p_values[1] > 0.05 > found.p_values[2]
    assert Shortlist.from_dict(found.to_dict()) == found
    assert str(shortlist(named([46, 4], [50] * 2))) == "p0 is the best of 2 (95%, exact maximum of pooled z)."


def test_more_confidence_keeps_more():
    tallies = named([46, 41, 36, 20], [50] * 4)
    kept = [set(shortlist(tallies, confidence=level).names) for level in (0.8, 0.95, 0.999)]
    assert kept[0] < kept[1] < kept[2]


def test_a_table_of_p_values_is_multiplied_by_the_others():
    tallies = named([9, 8, 2], [10] * 3)
    found = shortlist(tallies, p_values={("p0", "p2"): 0.02, ("p1", "p2"): 0.03, ("p0", "p1"): 0.3})
    assert found.names == ("p0", "p1")
    assert found.p_values == (1.0, 0.6, 0.04)
    assert shortlist(tallies, p_values={}).names == ("p0", "p1", "p2")
    everyone_out = {(a, b): 0.001 for a in tallies for b in tallies if a != b}
    assert shortlist(tallies, p_values=everyone_out).names == ("p0",)  # never empty


def test_scores_and_very_many_rollouts_are_tested_pair_by_pair():
    rng = np.random.default_rng(1)
    scores = {name: Scores(rng.beta(a, 2, 40)) for name, a in (("a", 8), ("b", 7), ("c", 1))}
    found = shortlist(scores)
    assert found.out == ("c",)
    least = min(reference.score_test(scores[name], scores["c"]).above for name in ("a", "b"))
    assert found.p_values[-1] == pytest.approx(2 * least)
    many = shortlist(named([900, 1200, 1210], [2000] * 3))
    assert many.names == ("p2", "p1")
    assert many.method == "Bonferroni over 2"


def test_intervals_share_the_error():
    tallies = named([18, 12, 5], [20] * 3)
    each = 1 - (1 - 0.95 ** (1 / 3))
    for name, one in simultaneous_intervals(tallies).items():
        own = stats.clopper_pearson(tallies[name], confidence=each)
        assert (one.low, one.high) == pytest.approx((own.low, own.high), abs=1e-12)
        assert one.confidence == 0.95
        assert one.method == "Sidak-over-3 Clopper-Pearson"
    apart = simultaneous_intervals(tallies, independent=False)["p0"]
    own = stats.clopper_pearson(tallies["p0"], confidence=1 - 0.05 / 3)
    assert (apart.low, apart.high) == pytest.approx((own.low, own.high), abs=1e-12)
    assert apart.method == "Bonferroni-over-3 Clopper-Pearson"
    scores = {"a": Scores([0.5, 0.7] * 9), "b": Scores([0.2, 0.1] * 9)}
    shown = simultaneous_intervals(scores)["a"]
    assert shown.low == stats.score_mean(scores["a"], confidence=simultaneous_confidence(2)).low
    assert simultaneous_lower_bounds(scores, independent=False)["a"].value > shown.low


@given(st.integers(1, 400), st.floats(0.5, 0.999))
@settings(max_examples=50)
def test_shares_lie_between_bonferroni_and_the_whole(count, confidence):
    sidak = simultaneous_confidence(count, confidence)
    dunn = simultaneous_confidence(count, confidence, independent=False)
    assert confidence <= sidak + 1e-12
    assert sidak <= dunn + 1e-12
    assert sidak**count == pytest.approx(confidence, abs=1e-9)


def test_selection_bias_says_what_was_picked():
    found = selection_bias(named([43, *[41] * 19], [50] * 20))
    assert str(found) == (
        "p0: its 86.0% is probably about 9 points too high, because it was picked as the highest of 20."
    )
    tie = selection_bias(named([12, 12, 3], [20] * 3))
    assert str(tie) == "p0 and p1 are tied for the highest rate of 3, 60.0%."
    assert not tie.matters
    clear = selection_bias(named([50, 5], [50] * 2))
    assert not clear.matters
    assert "under half a point" in str(clear)


@given(st.lists(st.integers(0, 12), min_size=2, max_size=6))
@settings(max_examples=30, deadline=None)
def test_bias_is_of_the_policies_and_not_of_their_order(successes):
    found = selection_bias(named(successes, [12] * len(successes)))
    back = selection_bias(named(successes[::-1], [12] * len(successes)))
    assert found.bias == pytest.approx(back.bias, abs=1e-12)
    assert 0.0 <= found.bias <= 1.0


def test_regret_is_the_largest_upper_bound():
    tallies = named([40, 43, 20], [50, 60, 45])
    found = regret_bound(tallies, "p0")
    each = 1 - 0.05 / 2
    bounds = [stats.gain_bounds(tallies[name], tallies["p0"], confidence=each)[1].value for name in ("p1", "p2")]
    assert found.value == max(bounds)
    even = named([40, 39, 20], [50] * 3)
    every = [stats.gain_bounds(even[name], even["p0"], confidence=each)[1].value for name in ("p1", "p2")]
    assert regret_bound(even, "p0").value == max(every)
    assert regret_bound(named([50, 2], [50] * 2), "p0").value == 0.0
    shared = {"a": Scores([1, 0, 1, 1] * 9), "b": Scores([1, 0, 0, 1] * 9)}
    paired = partial(reference.paired_score_gain_bound, side="upper")
    assert regret_bound(shared, "a", using=paired).value == 0.0
    apart = regret_bound(shared, "b")
    assert apart.value == reference.score_gain_bound(shared["a"], shared["b"], "upper", confidence=0.95).value > 0.25


def test_refusals():
    with pytest.raises(ValueError, match=r"`policies` must hold 2 to 1,000 policies; got 1"):
        shortlist({"a": Tally(1, 2)})
    with pytest.raises(ValueError, match="tallies only or scores only"):
        simultaneous_intervals({"a": Tally(1, 2), "b": Scores([0.5, 0.6])})
    with pytest.raises(TypeError, match="be a Tally or Scores"):
        shortlist({"a": Tally(1, 2), "b": PairTally(1, 1, 1, 1)})
    with pytest.raises(ValueError, match="share one range"):
        shortlist({"a": Scores([1, 2], 0, 3), "b": Scores([0.5, 0.6])})
    with pytest.raises(ValueError, match="`picked` must be one of a, b"):
        regret_bound({"a": Tally(1, 2), "b": Tally(1, 3)}, "c")
    with pytest.raises(ValueError, match="name two of"):
        shortlist(named([1, 2], [3, 3]), p_values={("p0", "p7"): 0.5})
    with pytest.raises(ValueError, match="between 0 and 1"):
        shortlist(named([1, 2], [3, 3]), p_values={("p0", "p1"): 1.5})
    with pytest.raises(TypeError, match="Tally"):
        selection_bias({"a": Scores([0.5, 0.6]), "b": Scores([0.5, 0.6])})
    with pytest.raises(ValueError, match="confidence"):
        regret_bound(named([1, 2], [3, 3]), "p0", confidence=95)


@pytest.mark.parametrize("count", [10, 20, 50])
def test_interval_of_the_best_of_equal_ones_holds(count):
    """T31: the interval beside the highest of `count` equal policies; 0.2.0 held in .83, .69 and .40."""
    rng, n, rate = np.random.default_rng(31), 50, 0.7
    highest = rng.binomial(n, rate, (2000, count)).max(axis=1)
    tail = (1 - simultaneous_confidence(count)) / 2
    low, high = binomial.exact_low(highest, n, tail), binomial.exact_high(highest, n, tail)
    assert np.mean((low <= rate) & (rate <= high)) >= 0.94
    best = named([highest[0], 20], [n, n])
    each = stats.clopper_pearson(best["p0"], confidence=1 - 2 * tail)
    assert (each.low, each.high) == pytest.approx((low[0], high[0]))


def test_lower_bound_of_the_best_of_twenty_holds():
    rng = np.random.default_rng(32)
    highest = rng.binomial(50, 0.7, (4000, 20)).max(axis=1)
    bounds = binomial.exact_low(highest, 50, 1 - simultaneous_confidence(20))
    assert np.mean(bounds > 0.7) <= 0.05 + 2 * (0.05 * 0.95 / 4000) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.7, 0.85])
def test_a_best_one_of_twenty_equal_is_left_out_seldom(rate):
    rng = np.random.default_rng(33)
    lost = [HighestOfMany(row, [50] * 20).p_value(0) <= 0.05 for row in rng.binomial(50, rate, (2000, 20))]
    assert np.mean(lost) <= 0.05 + 2 * (0.05 * 0.95 / 2000) ** 0.5


@pytest.mark.slow
def test_shortlist_and_regret_on_a_curve_of_twenty():
    rng = np.random.default_rng(34)
    kept, regret = [], []
    for row in rng.binomial(50, TWENTY, (150, 20)):
        tallies = named(row, [50] * 20)
        kept.append(len(shortlist(tallies).names))
        regret.append(regret_bound(tallies, f"p{row.argmax()}").value)
    assert np.mean(kept) == pytest.approx(11.8, rel=0.04 + 2 * np.std(kept) / 150**0.5 / 11.8)
    assert np.mean(regret) == pytest.approx(0.18, rel=0.04 + 2 * np.std(regret) / 150**0.5 / 0.18)


def test_the_regret_in_scores_is_that_of_all_others_and_needs_the_bound_of_few(monkeypatch):
    rng = np.random.default_rng(5)
    policies = {f"p{at}": Scores(rng.beta(2, 1 + at / 3, 12 + 4 * (at % 3)).round(2).tolist()) for at in range(6)}
    full, asked = selection._upper, []
    monkeypatch.setattr(
        selection, "_upper", lambda *both, confidence: asked.append(1) or full(*both, confidence=confidence)
    )
    for name in ("p1", "p4"):
        asked.clear()
        found = selection.regret_bound(policies, name)
        assert len(asked) < 5
        assert found == selection.regret_bound(policies, name, using=full)
