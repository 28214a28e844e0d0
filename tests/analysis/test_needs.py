"""Needs as they are written."""

from __future__ import annotations

import pytest

from surefoot import DataError, Gate, Need, read_gate

GOOD = """
[gate]
confidence = 0.9
rule = "at least 2"
first = "new"
[[gate.need]]
measure = "success"
not_worse_by = 0.02
[[gate.need]]
measure = "duration"
at_most_times = 1.10
limit = 120
"""


def written(tmp_path, text):
    path = tmp_path / "release.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_is_read(tmp_path):
    gate = read_gate(written(tmp_path, GOOD))
    assert (gate.rule, gate.confidence, gate.first) == ("at least 2", 0.9, "new")
    assert [str(need) for need in gate.needs] == ["success not worse by 2 points", "duration at most 1.1 times"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[gate]\nrules = 1", "got 'rules'"),
        ("[gates]", "got gates"),
        ("[gate]\nrule = 'all'", "at least one"),
        ("gate = [", "TOML"),
        ("[gate]\n[[gate.need]]\nmeasure = 'success'", "Need 1: A need must make exactly one claim"),
        ("[gate]\n[[gate.need]]\nnot_worse_by = 0.1\nbetter_by = 0.1", "got not_worse_by and better_by"),
        ("[gate]\n[[gate.need]]\nno_slice_worse = true", "no slice was named is no evidence"),
        ("[gate]\n[[gate.need]]\nnot_worse = 0.1", "got 'not_worse'"),
        ("[gate]\n[[gate.need]]\nnot_worse_by = 'x'", "not_worse_by"),
        ("[gate]\nrule = 'at least 2'\n[[gate.need]]\nnot_worse_by = 0.1", "1 to 1 needs"),
        ("[gate]\nrule = 'most'\n[[gate.need]]\nnot_worse_by = 0.1", "rule"),
        ("[gate]\nconfidence = 95\n[[gate.need]]\nnot_worse_by = 0.1", "confidence"),
        ("[gate]\n[[gate.need]]\nnot_worse_by = -0.1", "0 or more"),
        ("[gate]\n[[gate.need]]\nmeasure = 'collision'\nrate_at_most = 1.5", "Write 0.015 for 1.5%"),
        ("[gate]\n[[gate.need]]\nmeasure = 'tokens'\nat_most_times = 1.1", "limit"),
        ("[gate]\n[[gate.need]]\nmeasure = 'tokens'\nnot_worse_by = 10\nlimit = 100", "higher"),
    ],
)
def test_a_file_that_cannot_be_is_refused_with_the_reason(tmp_path, text, says):
    with pytest.raises(DataError, match=r"release\.toml") as refused:
        read_gate(written(tmp_path, text))
    assert says in str(refused.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match="No such file"):
        read_gate(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("one", "other", "says"),
    [
        ({"rate_at_most": 0.1}, {"rate_at_least": 0.2}, "contradict"),
        ({"rate_at_most": 0.5}, {"rate_at_least": 0.9, "by": "benchmark"}, "contradict"),
        ({"not_worse_by": 0.1, "better": "higher"}, {"better_by": 0.1, "better": "lower"}, "contradict"),
        ({"not_worse_by": 0.1}, {"not_worse_by": 0.2}, "one need with not_worse_by"),
        ({"mean_at_most": 1.0, "limit": 2}, {"mean_at_least": 0.5, "limit": 3}, "one limit"),
    ],
)
def test_two_needs_that_contradict_are_refused(one, other, says):
    with pytest.raises(ValueError, match=says):
        Gate(needs=(Need(**one), Need(**other)))


def test_one_claim_overall_and_another_by_level_go_together():
    Gate(needs=(Need(not_worse_by=0.02), Need(not_worse_by=0.05, by="benchmark")))
