"""Tests of `surefoot.analysis.live_slices`."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from surefoot import Verdict
from surefoot.analysis.live_slices import slices_of_pairs

PLANNED = [{"task": task, "light": light} for task in "abc" for light in ("dim", "day")] * 20
TWO = ("new", "old")


def met(rng, rates, count=120):
    """Pairs of the schedule, in an order drawn at random, with rates of both by task."""
    order = rng.permutation(len(PLANNED))[:count]
    found = []
    for levels in (PLANNED[at] for at in order):
        first, second = (float(rng.random() < rate) for rate in rates[levels["task"]])
        found.append((levels, first, second))
    return found


def test_slices_follow_from_the_schedule_and_not_from_what_was_met():
    rates = dict.fromkeys("abc", (0.5, 0.5))
    few, many = (
        slices_of_pairs(TWO, PLANNED, met(np.random.default_rng(1), rates, count), measure="success")
        for count in (10, 120)
    )
    assert [one.name for one in few.slices] == [one.name for one in many.slices]
    assert len(few.slices) == 3 + 2 + 6
    assert slices_of_pairs(TWO, PLANNED[:6], [], measure="success") is None  # none of 8 pairs
    assert slices_of_pairs(TWO, [{"task": "a"}] * 50, [], measure="success") is None  # the whole


def test_a_drop_is_named_and_swapping_the_policies_swaps_the_claim():
    pairs = met(np.random.default_rng(2), {"a": (0.1, 0.95), "b": (0.7, 0.7), "c": (0.7, 0.7)})
    found = slices_of_pairs(TWO, PLANNED, pairs, measure="success")
    assert found.of(Verdict.WORSE)[0].name == "task=a"
    other = slices_of_pairs(TWO[::-1], PLANNED, [(at, y, x) for at, x, y in pairs], measure="success")
    assert {one.name for one in other.of(Verdict.BETTER)} == {one.name for one in found.of(Verdict.WORSE)}
    assert [one.worse for one in other.slices] == [one.better for one in found.slices]


def test_scores_in_a_range_of_their_own():
    pairs = [
        (at, 10.0 * x, 10.0 * y)
        for at, x, y in met(np.random.default_rng(2), {"a": (0.1, 0.95), "b": (0.7, 0.7), "c": (0.7, 0.7)})
    ]
    found = slices_of_pairs(TWO, PLANNED, pairs, measure="score", low=0.0, high=10.0)
    assert [one.name for one in found.of(Verdict.WORSE)][:1] == ["task=a"]


@pytest.mark.slow
def test_a_study_that_stops_where_a_slice_looks_worst_names_few_wrongly():
    """Of 1,000 studies of equal policies. P-values never rise, so that the last look has what any look would show."""
    rng, wrong, studies = np.random.default_rng(30), 0, 1_000
    for _ in range(studies):
        rates = {task: (rate, rate) for task, rate in zip("abc", rng.uniform(0.2, 0.95, 3), strict=True)}
        pairs = met(rng, rates)
        wrong += bool(slices_of_pairs(TWO, PLANNED, pairs, measure="success").claimed)
    print(f"{wrong}/{studies}")
    assert scipy_stats.binom.sf(wrong - 1, studies, 0.05) > 1e-3
