"""Tests of `surefoot.stats.differences`."""

import numpy as np
import pytest

from surefoot import Scores, Verdict
from surefoot.stats import differences


def test_pairs_are_first_minus_second():
    assert differences.paired(Scores([0.5, 1.0]), Scores([0.25, 0.0])).tolist() == [0.25, 1.0]


def test_differences_that_only_rounding_keeps_apart_are_one():
    found = differences.paired(Scores([0.3, 0.8]), Scores([0.1, 0.6]))
    assert found[0] == found[1]


def test_clusters_are_numbered_as_they_come():
    numbers, count = differences.labels(["b", "a", "b", None], 4)
    assert numbers.tolist() == [0, 1, 0, 2]
    assert count == 3


def test_a_gain_stays_inside_what_scores_can_differ_by_and_holds_its_estimate():
    data = Scores([0.5, 1.0]), Scores([0.0, 0.5])
    gain = differences.gain_of(
        data, (0.6, 1.7), estimate=0.5, confidence=0.9, method="mine", margin=0.1, trials=2, p_value=1.2
    )
    assert (gain.interval.low, gain.interval.high, gain.p_value) == (0.5, 1.0, 1.0)
    assert gain.verdict is Verdict.BETTER
    wider = differences.gain_of(data, (-0.2, 0.4), estimate=0.1, confidence=0.9, method="mine", margin=0.0, trials=2)
    assert wider.verdict is Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: differences.paired(Scores([1.0]), Scores([1.0, 0.0])),
            "for each score of `first`, 1; got 2",
        ),
        (lambda: differences.check_ranges(Scores([1.0]), Scores([1.0], high=5.0)), "must have the range of `first`"),
        (lambda: differences.labels(["a", "b"], 3), "one cluster per observation, 3; got 2"),
        (lambda: differences.labels(["a", "a"], 2), "at least 2 clusters; got 1"),
        (lambda: differences.labels([1.0, float("nan")], 2), "got NaN for some"),
    ],
)
def test_refusals(call, said):
    with pytest.raises(ValueError, match=said):
        call()


@pytest.mark.parametrize("numbers", [[3, 3, 1, 7, 1], [0, 1, 2], [5, 4, 5, 4, 9, 0]])
def test_labels_in_an_array_are_numbered_as_in_a_list(numbers: list[int]) -> None:
    found, count = differences.labels(np.asarray(numbers), len(numbers))
    same, as_many = differences.labels(numbers, len(numbers))
    assert (found.tolist(), count) == (same.tolist(), as_many)


@pytest.mark.parametrize(("numbers", "size"), [([1, 1, 1], 3), ([1, 2], 3)])
def test_labels_in_an_array_are_refused_as_in_a_list(numbers: list[int], size: int) -> None:
    with pytest.raises(ValueError, match="clusters"):
        differences.labels(np.asarray(numbers), size)
