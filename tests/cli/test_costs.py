"""`--cost` of `compare` and `rank`."""

from __future__ import annotations

import json

import polars as pl
import pytest

from tests.support.command_line import said


@pytest.fixture
def priced(tmp_path):
    rows = [(name, int(at % 10 > 0), cost + at % 7) for name, cost in (("new", 40), ("old", 90)) for at in range(200)]
    path = tmp_path / "results.csv"
    pl.DataFrame(rows, schema=["policy", "success", "tokens"], orient="row").write_csv(path)
    return str(path)


def test_two_get_a_sentence_and_many_a_front(priced, capsys):
    asked = ("--cost", "tokens=200", "--margin", "0.1")
    code, out, _ = said(capsys, "compare", priced, "--first", "new", "--second", "old", *asked)
    assert code == 0
    assert "new is cheaper than old and not worse by 10 points" in out
    body = json.loads(said(capsys, "compare", priced, "--first", "new", "--second", "old", *asked, "--json")[1])
    assert body["cost"]["pairs"][0]["shown"] is True
    assert "new is cheaper than old" in said(capsys, "rank", priced, *asked)[1]
    assert json.loads(said(capsys, "rank", priced, *asked, "--json")[1])["cost"]["type"] == "Front"


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("--cost", "tokens=x"), 64, "--cost"),
        (("--cost", "price"), 65, "price"),
        (("--cost", "tokens", "--gate"), 64, "`--gate` must be left out with `--cost`"),
        (("--cost", "tokens", "--by", "task"), 64, "--by"),
    ],
)
def test_what_is_wrong_is_refused(priced, capsys, words, code, says):
    got, _, err = said(capsys, "compare", priced, "--first", "new", "--second", "old", *words)
    assert got == code
    assert says in err
