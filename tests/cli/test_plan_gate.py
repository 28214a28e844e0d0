"""`surefoot plan gate`."""

from __future__ import annotations

import json

import pytest

from tests.support.command_line import said


@pytest.fixture
def needs(tmp_path):
    path = tmp_path / "release.toml"
    path.write_text("[gate]\n[[gate.need]]\nby = 'benchmark'\nnot_worse_by = 0.1\n")
    return str(path)


def test_it_says_how_many_and_what_costs_most(needs, capsys):
    asked = ("plan", "gate", needs, "--expect", "success=0.8", "--levels", "benchmark=4")
    code, out, _ = said(capsys, *asked)
    assert code == 0
    assert "of each policy, on each of 4 benchmarks: the gate passes in at least 80." in out
    assert "Costs most: success on every benchmark not worse by 10 points" in out
    body = json.loads(said(capsys, *asked, "--rollouts", "100", "--json")[1])
    assert (body["type"], body["rollouts"]) == ("GatePlan", 100)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--expect", "success"), "--expect"),
        (("--expect", "success=high"), "--expect"),
        (("--expect", "success=0.8", "--levels", "benchmark=x"), "--levels"),
        (("--expect", "success=0.8"), "--levels"),
    ],
)
def test_what_is_wrong_is_refused(needs, capsys, words, says):
    code, _, err = said(capsys, "plan", "gate", needs, *words)
    assert code == 64
    assert says in err
