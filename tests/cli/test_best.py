"""`surefoot best`."""

from __future__ import annotations

import json

import polars as pl
import pytest

from tests.support.command_line import said


@pytest.fixture
def checkpoints(tmp_path):
    path = tmp_path / "checkpoints.csv"
    counts = {"10k": 12, "20k": 43, "30k": 40}
    rows = [(name, int(at < hits)) for name, hits in counts.items() for at in range(50)]
    pl.DataFrame(rows, schema=["checkpoint", "success"], orient="row").write_csv(path)
    return path


def test_it_says_who_may_be_the_best_and_how_good_the_pick_is(checkpoints, capsys):
    code, out, _ = said(capsys, "best", str(checkpoints))
    assert code == 0
    assert "20k has the highest rate, 43 of 50 (86.0%)" in out
    assert "allowing for the choice among 3" in out
    assert "2 of 3 may be the best (95%): 20k, 30k." in out


def test_json_holds_the_answer(checkpoints, capsys):
    found = json.loads(said(capsys, "best", str(checkpoints), "--within", "0.3", "--json")[1])
    assert found["type"] == "Best"
    assert found["names"] == ["20k", "30k", "10k"]
    assert found["within"] == 0.3


def test_a_distance_that_is_none_is_refused(checkpoints, capsys):
    code, _, err = said(capsys, "best", str(checkpoints), "--within", "7")
    assert code == 64
    assert "--within" in err


def test_a_column_that_names_no_policy_can_be_said_to(tmp_path, capsys):
    path = tmp_path / "prompts.csv"
    rows = [(f"p{n % 20}", f"q{n // 20}", n % 2) for n in range(200)]
    pl.DataFrame(rows, schema=["prompt", "question", "correct"], orient="row").write_csv(path)
    cure = "say --column policy=YOURS."
    for words in (("best",), ("compare", "--first", "p7", "--second", "p1")):
        assert cure in said(capsys, words[0], str(path), *words[1:])[2]
    assert said(capsys, "best", str(path), "--column", "policy=prompt")[0] == 0
