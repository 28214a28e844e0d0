"""Tests of `surefoot.cli.compare_output`: the same comparison for people, pull requests, test runners and programs."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import surefoot as sf
from surefoot.cli.main import run
from tests.support.samples import put

SCHEMA = Path(__file__).parents[2] / "docs" / "reference" / "compare.schema.json"


def table(folder: Path, name: str = "runs.csv", *, items: int = 600, shift: float = 0.0, only: str = "") -> str:
    chance = random.Random(3)
    lines = ["policy,task,item,success,score"]
    for at in range(items):
        for policy, rate in (("new", 0.72 + shift), ("old", 0.6)):
            success, score = int(chance.random() < rate), round(chance.random(), 3)
            if only in ("", policy):
                lines.append(f"{policy},t{at % 4},{at},{success},{score}")
    return str(put(folder, name, "\n".join(lines) + "\n"))


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run(list(words))
    out, err = capsys.readouterr()
    return code, out, err


def holds(body: Any) -> None:
    pytest.importorskip("jsonschema_rs").validate(json.loads(SCHEMA.read_text()), body)


TWO = ("--first", "new", "--second", "old")


@pytest.mark.parametrize("measure", [(), ("--score", "score")])
def test_json_is_short_and_as_its_schema_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], measure: tuple[str, ...]
) -> None:
    path = table(tmp_path)
    code, out, _ = said(capsys, "compare", path, *TWO, *measure, "--gate", "--json")
    body = json.loads(out)
    holds(body)
    assert len(out) < 4_000
    assert body["gate"]["code"] == code
    whole = sf.compare(sf.read(path), "new", "old", measure="score" if measure else "success", gate=True)
    assert body["gain"]["interval"]["low"] == whole.interval.low
    assert body["verdict"] == whole.verdict.value
    assert body["flipped"]["pairs"] == 600
    assert said(capsys, "compare", path, *TWO, *measure, "--gate", "--format", "json")[1] == out


def test_raw_holds_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = table(tmp_path)
    short = said(capsys, "compare", path, *TWO, "--score", "score", "--json")[1]
    raw = said(capsys, "compare", path, *TWO, "--score", "score", "--json", "--raw")[1]
    assert len(raw) > 5 * len(short)
    body = json.loads(raw)
    body.pop("findings", None)
    assert sf.Comparison.from_dict(body).gain.verdict.value == json.loads(short)["verdict"]


def test_lists_hold_the_schema_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    now, before = table(tmp_path, "now.csv"), table(tmp_path, "before.csv", shift=-0.2)
    for words in ((now, *TWO, "--by", "task"), (now, before), (now, "--previous", before, "--gate")):
        body = json.loads(said(capsys, "compare", *words, "--json")[1])
        assert isinstance(body, list)
        holds(body)


def test_a_previous_run_on_the_gate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    worse = table(tmp_path, "pr.csv", shift=-0.3, only="new")
    main = table(tmp_path, "main.csv", only="new")
    code, out, _ = said(capsys, "compare", worse, "--previous", main, "--gate", "--format", "github")
    assert code == 1
    assert out.startswith("### Gate failed. For items like these 600: `new (pr.csv)` is worse than `new (main.csv)`")
    assert "Lost " in out
    assert "| `all` |" in out
    assert "| `t0` |" in out
    code, out, _ = said(capsys, "compare", worse, "--previous", main, "--gate", "--format", "junit")
    assert code == 1
    assert 'failures="1"' in out


def test_a_refusal_is_written_in_the_form_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lone = put(tmp_path, "lone.csv", "policy,success\nnew,1\n")
    for form, begins in (("github", "### Gate not comparable."), ("junit", "<?xml"), ("json", "{")):
        code, out, err = said(capsys, "compare", str(lone), "--gate", "--format", form)
        assert code == 3
        assert out.startswith(begins)
        assert "not comparable" in err
    holds(json.loads(out))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("17/20", "14/20", "--format", "github"), "`--format` needs a file of results"),
        (("runs.csv", "--format", "junit"), "`--format junit` must come with `--gate`"),
        (("runs.csv", "--raw"), "`--raw` must come with `--json`"),
        (("runs.csv", "--json", "--format", "github"), "`--json` must not come with `--format github`"),
        (("runs.csv", "--format", "pdf"), "`--format` must be one of text, github, junit, json, html"),
        (("17/20", "14/20", "--json", "--raw"), "`--raw` needs a file of results"),
    ],
)
def test_refusals(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], says: str) -> None:
    code, _, err = said(capsys, "compare", *words)
    assert code == 64
    assert says in err
