"""Tests of `surefoot.analysis.comparison_data`."""

from __future__ import annotations

import surefoot as sf
from surefoot.core.notes import Note
from tests.support.comparisons import by_tally


def test_policies_whose_common_task_has_no_name_are_compared_on_all():
    rollouts = by_tally(("a", "x", 9, 10), ("a", None, 5, 10), ("b", "y", 5, 10), ("b", None, 5, 10))
    found = sf.compare(rollouts, "a", "b")
    assert found.gain == sf.stats.exact_gain(sf.Tally(14, 20), sf.Tally(10, 20))


def test_rollouts_that_name_no_task_are_not_said_to_be_of_one():
    rollouts = by_tally(("a", "x", 9, 10), ("a", None, 1, 10), ("b", "x", 5, 10), ("b", None, 5, 10))
    assert sf.compare(rollouts, "a", "b").task is None
    told = rollouts.declare(unit="task")
    assert [(one.policy, one.task, one.tally) for one in sf.measure(told, by_task=True)] == [
        ("a", "x", sf.Tally(9, 10)),
        ("b", "x", sf.Tally(5, 10)),
    ]
    found = sf.compare(told, "a", "b")
    assert found.gain == sf.stats.exact_gain(sf.Tally(9, 10), sf.Tally(5, 10))
    assert Note("without a task", {"count": 20}) in found.notes
