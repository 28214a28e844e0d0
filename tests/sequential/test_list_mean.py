"""Does the mean of a list come out right from part of it, whatever was predicted?"""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.core.notes import Note
from surefoot.core.verdict import Verdict
from surefoot.sequential import ListMean, run_list, simulate_list
from surefoot.sequential.list_mean import ListMeanState
from surefoot.sequential.simulation import in_orders
from tests.oracles import finite_lists as twin


def example(seed=0, items=40):
    """Scores of a list, good predictions and an incumbent's results."""
    rng = np.random.default_rng(seed)
    scores = (rng.random(items) < 0.6).astype(float)
    predictions = np.clip(0.6 * scores + 0.4 * rng.random(items), 0.0, 1.0)
    incumbent = np.where(rng.random(items) < 0.3, 1.0 - scores, scores)
    return scores, predictions, incumbent, rng.permutation(items).tolist()


def finished(rule, scores, order):
    return run_list(rule, [(item, scores[item]) for item in order])[-1]


# --- the slow twin ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("goal", ["within", "against", "incumbent"])
@pytest.mark.parametrize("helped", [True, False])
@pytest.mark.parametrize("seed", range(2))
def test_it_is_its_twin(goal, helped, seed):
    scores, predictions, incumbent, order = example(seed)
    given_ = {"within": 0.02, "against": 0.55, "incumbent": incumbent}[goal]
    rule = ListMean(40, **{goal: given_}, helped_by=predictions if helped else None)
    states = run_list(rule, [(item, scores[item]) for item in order])
    columns = [c.tolist() for c, used in ((predictions, helped), (incumbent, goal == "incumbent")) if used]
    used = [scores[item] for item in order][: len(states)]
    trace = twin.list_mean(
        order[: len(states)], used, columns, population=40, alpha=0.025, within=rule.within, against=rule.tested
    )
    for trail, name in zip(states[-1].bets, ("value", "least", "most", "up", "down"), strict=True):
        assert list(trail) == pytest.approx(trace[name], rel=1e-8, abs=1e-10), name
    for n in (1, len(states) // 2, len(states)):
        low = twin.list_lower(trace, used[:n], 0.025, 40)
        if states[n - 1].verdict is Verdict.UNDECIDED:
            assert states[n - 1].ends[0] == pytest.approx(low, abs=1e-8)
    if goal != "within" and states[-1].verdict is Verdict.UNDECIDED:
        best = max(*trace["log_up"], *trace["log_down"])
        assert states[-1].p_value == pytest.approx(min(1.0, 2 * math.exp(-best)), rel=1e-8)


# --- the promise, counted over every order ----------------------------------------------------------------------------

LISTS = [
    ([1, 1, 0, 0, 0, 0, 1], [0.9, 0.8, 0.1, 0.2, 0.3, 0.1, 0.7]),
    ([1, 1, 0, 0, 0, 0, 1], [0.1, 0.2, 0.9, 0.8, 0.7, 0.9, 0.3]),  # turned round
    ([0.2, 0.9, 0.4, 0.4, 1.0, 0.0, 0.7], [0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3]),  # of no use
    ([0.2, 0.9, 0.4, 0.4, 1.0, 0.0, 0.7], [0.0, 1.0, 0.5, 0.5, 1.0, 0.0, 1.0]),
]


EVERY = np.array(list(itertools.permutations(range(7))))


@pytest.mark.parametrize(("scores", "predictions"), LISTS)
def test_no_prediction_breaks_the_error_counted_over_every_order(scores, predictions):
    scores = np.array(scores, float)
    for claim, confidence in itertools.product(("either", "first better"), (0.6, 0.8, 0.95)):
        rule = ListMean(7, against=float(scores.mean()), helped_by=predictions, confidence=confidence, claim=claim)
        done = in_orders(rule, scores, EVERY)
        assert np.mean(done.verdicts != Verdict.UNDECIDED) <= 1.0 - confidence
        assert np.mean(done.missed) <= 1.0 - confidence
        for order in EVERY[::900]:  # the same, one at a time
            assert finished(rule, scores, order.tolist()).verdict is in_orders(rule, scores, order[None]).verdicts[0]


@pytest.mark.parametrize(("scores", "predictions"), LISTS)
def test_no_prediction_breaks_the_interval_counted_over_every_order(scores, predictions):
    for confidence in (0.5, 0.8, 0.95):
        rule = ListMean(7, within=0.05, helped_by=predictions, confidence=confidence)
        assert np.mean(in_orders(rule, np.array(scores, float), EVERY).missed) <= 1.0 - confidence


# --- laws -------------------------------------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.booleans())
@settings(max_examples=15)
def test_swapping_success_and_failure_mirrors_it(seed, helped):
    scores, predictions, incumbent, order = example(seed, 20)
    for goal in ({"within": 0.1}, {"against": 0.4}, {"incumbent": incumbent}):
        help_ = {"helped_by": predictions} if helped else {}
        one = finished(ListMean(20, **goal, **help_), scores, order)
        turned = {k: v if k == "within" else 1.0 - np.array(v) for k, v in goal.items()}
        turned = {k: float(v) if k == "against" else v for k, v in turned.items()}
        help_ = {k: 1.0 - v for k, v in help_.items()}
        other = finished(ListMean(20, **turned, **help_), 1.0 - scores, order)
        assert one.run == other.run
        assert one.verdict.mirrored is other.verdict
        assert (one.ends[0], one.ends[1]) == pytest.approx((1 - other.ends[1], 1 - other.ends[0]), abs=1e-7)


def test_ends_only_narrow_and_hold_the_estimate():
    scores, predictions, _, order = example(3)
    states = run_list(ListMean(40, within=0.02, helped_by=predictions), [(i, scores[i]) for i in order])
    for before, after in itertools.pairwise(states):
        assert before.ends[0] <= after.ends[0] <= after.estimate <= after.ends[1] <= before.ends[1]


def test_more_confidence_takes_more_items():
    scores, predictions, _, order = example(4, 200)
    items = [finished(ListMean(200, within=0.08, helped_by=predictions, confidence=c), scores, order).run
             for c in (0.8, 0.95, 0.99)]  # fmt: skip
    assert items == sorted(items)
    assert items[0] < items[-1]


def test_a_complete_run_is_the_answer():
    scores, predictions, _, order = example(5)
    state = finished(ListMean(40, within=1e-6, helped_by=predictions), scores, order)
    assert state.run == 40
    assert state.ends == pytest.approx((scores.mean(),) * 2, abs=1e-12)
    assert state.saved == 0.0
    assert state.finished


def test_a_range_moves_with_the_scores():
    scores, predictions, _, order = example(6)
    unit = finished(ListMean(40, within=0.1, helped_by=predictions), scores, order)
    wide = ListMean(40, within=2.0, helped_by=-10 + 20 * predictions, low=-10.0, high=10.0)
    moved = finished(wide, -10 + 20 * scores, order)
    assert moved.run == unit.run
    assert moved.ends == pytest.approx(tuple(-10 + 20 * end for end in unit.ends), abs=1e-6)
    assert moved.interval.scale == "score"
    assert unit.interval.scale == "rate"


def test_gains_of_two_systems_may_be_predicted_too():
    rng = np.random.default_rng(1)
    gains = rng.choice([-1.0, 0.0, 1.0], 200, p=[0.1, 0.5, 0.4])
    guessed = np.clip(0.8 * gains, -1, 1)
    alone = simulate_list(ListMean(200, against=0.0, low=-1.0), gains, rng=2, orders=100)
    helped = simulate_list(ListMean(200, against=0.0, low=-1.0, helped_by=guessed), gains, rng=2, orders=100)
    assert helped.mean_items < 0.8 * alone.mean_items
    assert helped.share(Verdict.BETTER) == alone.share(Verdict.BETTER) == 1.0


# --- what predictions gave --------------------------------------------------------------------------------------------


def test_what_predictions_explained_and_saved_are_values():
    scores, predictions, _, order = example(7, 200)
    helped = finished(ListMean(200, within=0.06, helped_by=predictions), scores, order)
    alone = finished(ListMean(200, within=0.06), scores, order)
    assert helped.explained > 0.5
    assert alone.explained == alone.saved == 0.0
    assert helped.saved == pytest.approx(alone.run - helped.run, rel=0.5)
    note = Note("predictions", {"explained": helped.explained, "saved": round(helped.saved)})
    assert helped.notes == (Note("of these items", {"items": 200, "run": helped.run}), note)
    assert alone.notes == (Note("of these items", {"items": 200, "run": alone.run}),)
    assert str(note) == (
        f"The predictions explain {100 * helped.explained:.0f}% of the scores' variance and save about "
        f"{helped.saved:.0f} items."
    )
    shown = Note("predictions", {"explained": 0.0, "saved": 0})
    assert str(shown) == "The predictions do not explain the scores: they cost a little and change no guarantee."


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-1.0, 3.0)])
def test_the_estimate_by_hand(low, high):
    """What was seen, and for the rest what a regression on the predictions makes of it."""
    rng = np.random.default_rng(12)
    guessed, scores = rng.random(12), rng.random(12)
    rule = ListMean(12, within=0.001, helped_by=low + (high - low) * guessed, low=low, high=high)
    assert rule.start().estimate == (low + high) / 2
    states = run_list(rule, [(item, low + (high - low) * scores[item]) for item in range(12)])
    f, variance = guessed - guessed.mean(), guessed.var() * (1 + 1e-9)
    for n in (2, 5, 9, 12):
        x, y = f[:n], scores[:n]
        slope = 12 * 0.4 * guessed.var() + n * np.mean((x - x.mean()) * (y - y.mean()))
        slope = np.clip(slope / (12 * variance + n * x.var()), 0.0, 1.5)
        rest = np.clip(y.mean() + slope * (f[n:].mean() - x.mean()), 0.0, 1.0) if n < 12 else 0.0
        wanted = low + (high - low) * (n * y.mean() + (12 - n) * rest) / 12
        state = states[n - 1]
        assert state.estimate == pytest.approx(min(max(wanted, state.ends[0]), state.ends[1]), rel=1e-6)
        values = state.bets[0].array()
        assert state.explained == pytest.approx(max(0.0, 1.0 - values.var() / y.var()))
        more = state.run + state.saved  # items that say as much without predictions
        assert n == 12 or more / (1 - more / 12) * (1 - state.explained) == pytest.approx(n / (1 - n / 12))


def test_what_the_items_left_cannot_change_is_certain():
    state = finished(ListMean(4, against=0.3), np.ones(4), [0, 1])
    assert (state.run, state.verdict, state.p_value) == (2, Verdict.BETTER, math.exp(-700.0))
    assert state.ends == (0.5, 1.0)
    below = finished(ListMean(4, against=0.7), np.zeros(4), [0, 1])
    assert (below.run, below.verdict, below.p_value) == (2, Verdict.WORSE, math.exp(-700.0))
    one_sided = finished(ListMean(4, against=0.7, claim="first better"), np.zeros(4), [0, 1, 2, 3])
    assert (one_sided.run, one_sided.verdict, one_sided.p_value) == (4, Verdict.UNDECIDED, 1.0)


def test_equal_and_constant_predictors_do_no_harm():
    scores, predictions, _, order = example(8)
    twice = ListMean(40, incumbent=predictions, helped_by=predictions)
    flat = ListMean(40, incumbent=[0.5] * 40, helped_by=[0.5] * 40)
    for rule in (twice, flat):
        state = finished(rule, scores, order)
        assert state.ends[0] <= scores.mean() <= state.ends[1] + 1e-12


# --- words ------------------------------------------------------------------------------------------------------------


def test_it_says_what_it_asks_and_what_it_found():
    scores, predictions, _, order = example(9)
    rule = ListMean(40, within=0.1, helped_by=predictions)
    assert str(rule) == (
        "One system on a list of 40 items, met in random order, with predictions: its mean to within 0.1 "
        "(95% over all looks)."
    )
    assert str(finished(rule, scores, order)).startswith(str(finished(rule, scores, order).interval))
    with pytest.raises(ValueError, match="must compare with a mean or an incumbent"):
        finished(rule, scores, order).on_the_list()
    against = ListMean(40, incumbent=np.zeros(40), claim="first better")
    assert str(against).endswith("with an incumbent: whether its mean is above 0 (95% over all looks).")
    state = finished(against, scores, order)
    assert str(state).startswith(f"On these 40 items the system is better ({state.run} run; error 5% for what")
    tied = ListMean(4, incumbent=[1, 0, 1, 0])
    assert "On these 4 items the system is neither better nor worse (all run)." in str(
        finished(tied, [0, 1, 0, 1], [0, 1, 2, 3])
    )


def test_rules_and_states_come_back_from_json():
    scores, predictions, incumbent, order = example(10)
    rule = ListMean(40, incumbent=incumbent, helped_by=predictions)
    assert ListMean.from_dict(json.loads(json.dumps(rule.to_dict()))) == rule
    for state in run_list(rule, [(i, scores[i]) for i in order])[:5]:
        back = ListMeanState.from_dict(json.loads(json.dumps(state.to_dict())))
        assert back == state
        assert back.interval == state.interval
        assert rule.step(back, (order[10], 1.0)) == rule.step(state, (order[10], 1.0))


def test_the_digest_is_of_all_that_was_known():
    _, predictions, incumbent, _ = example(11)
    rule = ListMean(40, incumbent=incumbent, helped_by=predictions)
    same = ListMean(40, incumbent=incumbent.tolist(), helped_by=predictions.tolist(), confidence=0.9)
    assert rule.predictions_digest == same.predictions_digest
    assert len(rule.predictions_digest) == 64
    assert ListMean(40, incumbent=predictions, helped_by=incumbent).predictions_digest != rule.predictions_digest


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "`within` must be given, or `against` or `incumbent`, one of them; got none."),
        ({"within": 0.1, "against": 0.5}, "one of them; got `within` and `against`."),
        ({"within": 0.0}, "`within` must be above 0"),
        ({"within": 0.1, "claim": "first better"}, "`claim` must be 'either' with `within`"),
        ({"against": 1.0}, "`against` must lie strictly between the ends of the range, 0 and 1; got 1.0."),
        ({"within": 0.1, "helped_by": [0.5] * 3}, "`helped_by` must hold one number for each of the 4 items; got 3."),
        ({"within": 0.1, "helped_by": [0.5, 0.5, 1.5, 0.5]}, r"in the range \[0, 1\]; got 1.5 for item 2."),
        ({"within": 0.1, "helped_by": [0.5, math.nan, 0.5, 0.5]}, "`helped_by` must be finite; got nan"),
        ({"incumbent": [1, 0, 1]}, "`incumbent` must hold one number for each of the 4 items; got 3."),
        ({"within": 0.1, "claim": "worse"}, "`claim` must be one of either, first better"),
        ({"within": 0.1, "confidence": 95}, "Write 0.95 for 95%"),
    ],
)
def test_declarations_that_make_no_sense_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        ListMean(4, **arguments)


def test_columns_that_are_no_numbers_are_refused():
    with pytest.raises(TypeError, match="`helped_by` must hold one number for each item; got 'good'"):
        ListMean(4, within=0.1, helped_by="good")
    with pytest.raises(TypeError, match="`helped_by` must be a number; got 'a'"):
        ListMean(4, within=0.1, helped_by=["a", "b", "c", "d"])


@pytest.mark.parametrize(
    ("datum", "words"),
    [
        ((4, 1.0), "`item` must be on the list, 0 to 3; got 4. A list is not enlarged after the start."),
        ((0, 1.0), "`item` must be one that has not been run; got 0. An item counts once."),
        ((1, 1.5), r"`score` must be in the range \[0, 1\]; got 1.5"),
        ((1, math.nan), "`score` must be finite"),
        ((-1, 1.0), "`item` must be at least 0"),
        (1.0, r"`datum` must be an item and its score \(item, score\); got 1.0"),
    ],
)
def test_a_bad_item_is_refused_and_changes_nothing(datum, words):
    rule = ListMean(4, within=0.01)
    state = rule.step(rule.start(), (0, True))
    text = json.dumps(state.to_dict())
    with pytest.raises(ValueError, match=words):
        rule.step(state, datum)
    assert json.dumps(state.to_dict()) == text


def test_states_of_others_and_finished_ones_are_refused():
    rule = ListMean(2, within=0.01)
    with pytest.raises(ValueError, match="`state` must come from this rule"):
        rule.step(ListMean(3, within=0.01).start(), (0, 1.0))
    done = run_list(rule, [(0, 1.0), (1, 0.0)])[-1]
    with pytest.raises(ValueError, match="got one that has ended after 2 items"):
        rule.step(done, (1, 1.0))
