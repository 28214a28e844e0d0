"""`surefoot gate`."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import polars as pl
import pytest

from surefoot import read_gate
from surefoot.cli.main import run
from tests.support.command_line import said

NEEDS = """
[gate]
[[gate.need]]
measure = "success"
not_worse_by = 0.15
[[gate.need]]
measure = "collision"
rate_at_most = 0.05
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "release.toml").write_text(NEEDS, encoding="utf-8")

    def write(name: str, collisions: int, hits: int = 80):
        rows = [
            (policy, int(at < (hits if policy == "new" else 80)), int(policy == "new" and at < collisions), at)
            for policy in ("new", "old")
            for at in range(100)
        ]
        columns = ["policy", "success", "collision", "rollout_number"]
        pl.DataFrame(rows, schema=columns, orient="row").write_csv(tmp_path / name)
        return str(tmp_path / name)

    return write, str(tmp_path / "release.toml")


@pytest.mark.parametrize(("collisions", "hits", "code"), [(0, 80, 0), (30, 80, 1), (4, 80, 2), (0, 40, 1)])
def test_the_exit_code_is_that_of_compare_gate(files, capsys, collisions, hits, code):
    write, needs = files
    got, out, _ = said(capsys, "gate", write("pr.csv", collisions, hits), needs, "--first", "new", "--second", "old")
    assert got == code
    assert f"(exit code {code})" in out


def test_the_culprit_is_the_first_line(files, capsys):
    write, needs = files
    _, out, _ = said(capsys, "gate", write("pr.csv", 30), needs)
    assert out.startswith("FAIL: collision rate at most 5%: 30/100, 30.0% [")


def test_as_a_comment_as_tests_and_as_data(files, capsys):
    write, needs = files
    path = write("pr.csv", 30)
    code, out, _ = said(capsys, "gate", path, needs, "--format", "github")
    assert code == 1
    assert out.startswith("### Gate failed. 1 broken, 1 hold")
    assert "| **FAIL** | `collision rate at most 5%` | 30/100, 30.0%" in out
    suite = ElementTree.fromstring(said(capsys, "gate", path, needs, "--format", "junit")[1])
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    body = json.loads(said(capsys, "gate", path, needs, "--json")[1])
    assert (body["type"], body["code"], body["found"][0]["ends"]) == ("Gated", 1, "fail")


def test_a_run_against_the_one_before(files, capsys):
    write, needs = files
    code, out, err = said(capsys, "gate", write("pr.csv", 30), needs, "--previous", write("main.csv", 0))
    assert code == 1
    assert out.startswith("FAIL: new: collision rate at most 5%")
    assert "two runs" in err


def test_copies_of_rows_are_not_judged(tmp_path, files, capsys):
    write, needs = files
    rows = pl.read_csv(write("pr.csv", 0)).rename({"rollout_number": "episode"})
    pl.concat([rows, rows]).write_csv(tmp_path / "twice.csv")
    code, out, _ = said(capsys, "gate", str(tmp_path / "twice.csv"), needs)
    assert code == 3
    assert "rows repeat others" in out


def test_wrong_use_is_64_and_wrong_data_65(tmp_path, files, capsys):
    write, needs = files
    assert said(capsys, "gate", write("pr.csv", 0))[0] == 64
    assert said(capsys, "gate", needs)[0] == 64
    bad = tmp_path / "bad.toml"
    bad.write_text("[gate]\nruel = 'all'\n", encoding="utf-8")
    code, _, err = said(capsys, "gate", write("pr.csv", 0), str(bad))
    assert code == 65
    assert "ruel" in err
    code, _, err = said(capsys, "gate", write("pr.csv", 0), needs, "--first", "newer", "--second", "old")
    assert code == 65
    assert "newer" in err


def test_the_file_in_the_help_is_one_that_can_be_read(tmp_path, capsys):
    _, out, _ = said(capsys, "gate", "--help")
    text = out[out.index("[gate]") : out.index("  Examples:")]
    path = tmp_path / "release.toml"
    path.write_text("\n".join(line.strip() for line in text.splitlines()), encoding="utf-8")
    assert len(read_gate(path).needs) == 5


def test_what_a_gate_of_many_levels_is_about_is_said_once(tmp_path, capsys):
    """It named the questions of every benchmark, "questions like these 30; questions like these 40; ...", and
    did not say that its intervals are those of one-sided tests."""
    sizes = (("a", 30), ("b", 40))
    rows = [(who, name, f"{name}{at}", at % 5 > 0) for who in ("new", "old") for name, n in sizes for at in range(n)]
    frame = pl.DataFrame(rows, schema=["policy", "benchmark", "question", "success"], orient="row")
    frame.write_csv(tmp_path / "results.csv")
    (tmp_path / "needs.toml").write_text('[[gate.need]]\nmeasure = "success"\nby = "benchmark"\nnot_worse_by = 0.2\n')
    asked = ["gate", str(tmp_path / "results.csv"), str(tmp_path / "needs.toml"), "--first", "new", "--second", "old"]
    assert run(asked) in (0, 2)
    assert "for questions like these: 2 needs, each at 95% one-sided (intervals of 90%);" in capsys.readouterr().out


def test_a_page_of_two_runs_is_no_form_of_a_gate(files, capsys):
    write, needs = files
    code, _, err = said(capsys, "gate", write("pr.csv", 1), needs, "--format", "html")
    assert (code, "must be one of text, github, junit, json; got 'html'" in err) == (64, True)
