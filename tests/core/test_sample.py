"""What can be asked of any data that a result keeps?"""

from __future__ import annotations

import pytest

from surefoot import Moments, PairTally, Scores, Tally
from surefoot.core.interval import Interval
from surefoot.core.record import Record
from surefoot.stats import exact_gain, exact_paired_gain, paired_score_gain, score_mean, wilson

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


def test_an_interval_knows_the_range_of_what_it_is_about():
    assert wilson(Tally(38, 50)).limits == (0.0, 1.0)
    assert score_mean(Scores([1, 4, 2], 0, 5)).limits == (0.0, 5.0)
    assert Interval(0.1, 0.3, 0.2, 0.95, "none").limits == (0.0, 1.0)


def test_a_gain_knows_what_it_compared():
    one, other = Tally(17, 20), Tally(14, 20)
    assert (exact_gain(one, other).tallies, exact_gain(one, other).paired) == ((one, other), False)
    paired = exact_paired_gain(PAIRS)
    assert (paired.tallies, paired.paired) == ((PAIRS.first, PAIRS.second), True)
    assert paired.mirrored.tallies == (PAIRS.second, PAIRS.first)
    scores = paired_score_gain(Scores([0.5, 0.7]), Scores([0.1, 0.2]))
    assert (scores.tallies, scores.paired) == ((), False)


def test_a_gain_says_nothing_twice():
    made = exact_gain(Tally(17, 20), Tally(14, 20))
    assert set(made.to_dict()) == {"type", "schema", "interval", "p_value", "verdict", "margin"}
    for name in ("method", "assumptions", "notes", "data", "estimate", "confidence", "seed"):
        assert getattr(made, name) == getattr(made.interval, name)


def test_a_gain_that_an_earlier_version_wrote_is_read():
    made = exact_gain(Tally(17, 20), Tally(14, 20), margin=0.1)
    now = made.to_dict()
    then = {**now, **{name: now["interval"][name] for name in ("method", "assumptions", "notes", "data")}}
    assert Record.from_dict(then) == made
    lacking = {name: value for name, value in then.items() if name != "interval"}
    with pytest.raises(ValueError, match="the fields of Gain only; got"):
        Record.from_dict(lacking)
