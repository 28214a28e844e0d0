"""Tests of `surefoot.stats.task_weights`."""

import pytest

from surefoot.stats.task_weights import task_weights


def test_weights_sum_to_one():
    counts = {"x": 30, "y": 10}
    assert task_weights(counts, "rollouts") == {"x": 0.75, "y": 0.25}
    assert task_weights(counts, "tasks") == {"x": 0.5, "y": 0.5}
    assert task_weights(counts, {"x": 1, "y": 3}) == {"x": 0.25, "y": 0.75}
    with pytest.raises(ValueError, match="one number for each task; got a difference in y, z"):
        task_weights(counts, {"x": 1, "z": 3})
