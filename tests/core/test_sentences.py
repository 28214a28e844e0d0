"""Tests of `surefoot.core.sentences`."""

from surefoot import Gain, Interval, Verdict
from surefoot.core import formatting, sentences


def test_a_margin_is_shown_as_it_was_given() -> None:
    assert sentences.sentence(Verdict.SAME, -0.01, 0.01, margin=0.0125).endswith("are the same, within 1.25 points.")
    assert "by more than 0.04 points" in sentences.sentence(Verdict.BETTER, 0.1, 0.2, margin=0.0004)
    interval = Interval(-0.01, 0.01, 0.0, 0.95, "none", scale="gain")
    assert str(Gain(interval, None, Verdict.SAME, margin=0.0125)).endswith("the same (margin 1.25 points).")
    assert [formatting.margin(value, "gain") for value in (0.05, 0.1, 0.07)] == [
        "5.0 points",
        "10.0 points",
        "7.0 points",
    ]
    assert [formatting.margin(value, "score gain") for value in (0.05, 2.0, 0.0004)] == ["0.050", "2.000", "0.0004"]


def test_names_are_listed_however_many() -> None:
    listed = ["none", "a", "a and b", "a, b and c"]
    assert [sentences.listed("abc"[:many]) for many in range(4)] == listed
    assert sentences.listed("abcde", most=3) == "a, b and 3 others"
