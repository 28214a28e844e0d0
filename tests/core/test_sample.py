"""What can be asked of any data that a result keeps?"""

from __future__ import annotations

import pytest

from surefoot import Moments, PairTally, Scores, Tally

PAIRS = PairTally(20, 12, 2, 16)


@pytest.mark.parametrize(
    ("sample", "limits", "tallies", "paired"),
    [
        (Tally(38, 50), (0.0, 1.0), (Tally(38, 50),), False),
        (PAIRS, (0.0, 1.0), (PAIRS.first, PAIRS.second), True),
        (Scores([1, 4], 0, 5), (0.0, 5.0), (), False),
        (Moments(4, 2.0, 1.0, -1.0, 3.0), (-1.0, 3.0), (), False),
    ],
)
def test_every_kind_answers_the_same_questions(sample, limits, tallies, paired):
    assert (sample.limits, sample.tallies, sample.paired) == (limits, tallies, paired)
    assert sample.mirrored == (PairTally(20, 2, 12, 16) if paired else sample)
