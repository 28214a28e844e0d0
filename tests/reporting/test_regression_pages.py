"""Two runs as a terminal, a pull request and a browser show them."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import html5lib
import jsonschema
import pytest

from surefoot.cli.main import run
from tests.analysis.test_regressions import frames

SCHEMA = Path(__file__).parents[2] / "docs" / "reference" / "compare.schema.json"


class Said(NamedTuple):
    stdout: str
    stderr: str


@pytest.fixture
def surefoot(capsys):
    def call(*words: str, code: int | None = 0) -> Said:
        ended = run(words)
        assert code in (ended, None)
        return Said(*capsys.readouterr())

    return call


def put(folder: Path, **more: Any) -> tuple[str, str]:
    """Two folders with a file for each benchmark; the first category of the first has fallen."""
    found = []
    for name, table in zip(("pr", "main"), frames(4, **more), strict=True):
        (folder / name).mkdir()
        for (bench,), part in table.partition_by("benchmark", as_dict=True).items():
            part.write_csv(folder / name / f"{bench}.csv")
        found.append(str(folder / name))
    return found[0], found[1]


@pytest.fixture
def logs(tmp_path: Path) -> tuple[str, str]:
    return put(tmp_path, benchmarks=12, categories=8, items=25, fall=0.7, tokens=0.7)


def test_a_comment_is_short_and_its_worst_row_first(logs, surefoot):
    now, before = logs
    said = surefoot("compare", now, "--previous", before, "--gate", "--margin", "0.05", "--format", "github", code=None)
    lines = said.stdout.splitlines()
    assert len(lines) <= 40
    assert lines[0].startswith("### Gate ")
    assert lines[1].startswith("**Worse in b0, c0: -")
    rows = [line for line in lines if line.startswith("| `")]
    assert rows[0].startswith("| `all` | ")
    assert rows[1].startswith("| `b0, c0` | ")
    assert rows[1].endswith("| **worse** |")
    assert any(re.match(r"\| `tokens` \| .* times \| .* \| less is better \| less", line) for line in rows)
    assert any(line.startswith("Lost ") and "in `b0, c0`: `b0c0q" in line for line in lines)
    assert "more rows: --format html or --json" in said.stdout


def test_a_terminal_shows_tables_and_json_has_every_row(logs, surefoot):
    now, before = logs
    said = surefoot("compare", now, "--previous", before).stdout
    assert len(said.splitlines()) <= 50
    assert said.index("Worse in b0, c0") < said.index(" all ") < said.index(" b0, c0 ") < said.index("tokens")
    body = json.loads(surefoot("compare", now, "--previous", before, "--json").stdout)
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(body)
    assert len(body["changed"]["rows"]) == 12 + 8 + 96
    assert body["changed"]["culprit"] == "b0, c0"
    assert body["changed"]["rows"][0]["where"] == {"benchmark": "b0", "category": "c0"}


def test_the_page_holds_every_row_and_is_whole(logs, surefoot):
    now, before = logs
    page = surefoot("compare", now, "--previous", before, "--format", "html").stdout
    html5lib.HTMLParser(strict=True).parse(page)
    assert page.count('<th scope="row">') == 1 + 116 + 1
    assert "Worse in b0, c0" in page
    assert "<script" not in page


def test_benchmarks_that_must_all_pass_are_not_charged_for_each_other(tmp_path, surefoot):
    now, before = put(tmp_path, benchmarks=12, categories=1, items=60, fall=0.5)
    failed = surefoot("compare", now, "--previous", before, "--gate", "--by", "benchmark", code=1)
    assert failed.stdout.splitlines()[-1] == "Gate: failed, worse (exit code 1): b0."
    shutil.copytree(now, tmp_path / "again")
    same = surefoot(
        "compare", str(tmp_path / "again"), "--previous", now, "--gate", "--by", "benchmark", "--margin", "0.06"
    )
    assert "Gate: passed" in same.stdout


def test_a_page_is_of_two_runs(logs, surefoot):
    table = f"{logs[0]}/b0.csv"
    refused = surefoot("compare", table, "--format", "html", code=64).stderr
    assert "`--format html` must come with two runs; `surefoot report` makes the page of one." in refused


def test_names_are_inert(tmp_path, surefoot):
    rows = ["model,benchmark,id,success"]
    rows += [f"m,<b>@x{at % 2}</b>,q{at},{int(at % 3 > 0)}" for at in range(60)]
    for name in ("now.csv", "prev.csv"):
        (tmp_path / name).write_text("\n".join(rows))
    asked = ("compare", str(tmp_path / "now.csv"), "--previous", str(tmp_path / "prev.csv"), "--format")
    assert "<b>@x" not in surefoot(*asked, "html").stdout
    comment = surefoot(*asked, "github").stdout
    assert "| `<b>@x0</b>` |" in comment
    assert "@x" not in comment.replace("`<b>@x0</b>`", "").replace("`<b>@x1</b>`", "")
