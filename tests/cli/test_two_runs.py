"""Are files that hold the same policies two runs, each policy compared with itself?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest

from surefoot.cli.main import run


class Said(NamedTuple):
    stdout: str
    stderr: str


@pytest.fixture
def surefoot(capsys):
    def call(*words: str, code: int = 0) -> Said:
        assert run(words) == code
        return Said(*capsys.readouterr())

    return call


def written(folder: Path, name: str, rates: dict[str, int], task: str = "") -> str:
    rows = [(policy, int(place < wins)) for policy, wins in rates.items() for place in range(40)]
    frame = pl.DataFrame(rows, schema=["policy", "success"], orient="row")
    frame = frame.with_columns(pl.lit(task).alias("task")) if task else frame
    path = folder / name
    frame.write_csv(path)
    return str(path)


@pytest.fixture
def runs(tmp_path: Path) -> tuple[str, str]:
    now = written(tmp_path, "now.csv", {"m1": 36, "m2": 20})
    return now, written(tmp_path, "prev.csv", {"m1": 18, "m2": 20})


def test_each_policy_is_compared_with_itself(runs: tuple[str, str], surefoot) -> None:
    """Version 0.1.0 compared m1 with m2 over both runs pooled."""
    said = surefoot("compare", *runs)
    assert "two runs: each policy is compared with itself" in said.stderr
    assert "m1 (now.csv) is better. m1 (now.csv) - m1 (prev.csv) = +45.0 points" in said.stdout
    assert "cannot tell. m2 (now.csv) - m2 (prev.csv) = +0.0 points" in said.stdout
    found = json.loads(surefoot("compare", *runs, "--json").stdout)
    assert [one["policy"] for one in found] == ["m1", "m2"]
    assert [one["gain"]["verdict"] for one in found] == ["better", "undecided"]


def test_one_policy_in_each_file_compares_the_files(tmp_path: Path, surefoot) -> None:
    """Version 0.1.0 pooled one model under two prompts into one rate."""
    pair = written(tmp_path, "pr.csv", {"gpt": 38}), written(tmp_path, "main.csv", {"gpt": 20})
    assert "gpt (pr.csv) is better. gpt (pr.csv) - gpt (main.csv) = +45.0 points" in surefoot("compare", *pair).stdout
    page = tmp_path / "page.json"
    surefoot("report", *pair, "-o", str(page))
    found = json.loads(page.read_text())
    assert found["overview"]["rollouts"] == 40
    assert [one["policy"] for one in found["overview"]["changes"]] == ["gpt"]


def test_pooling_must_be_asked_for(runs: tuple[str, str], surefoot) -> None:
    pooled = surefoot("compare", *runs, "--pool-runs", "--first", "m1", "--second", "m2")
    assert "m1 67.5%" in pooled.stdout
    refused = surefoot("compare", *runs, "--first", "m1", "--second", "m2", code=65)
    assert "--pool-runs" in refused.stderr
    assert "--pool-runs" in surefoot("rank", *runs, code=65).stderr
    assert "m1" in surefoot("rank", *runs, "--pool-runs").stdout
    assert "--pool-runs" in surefoot("rate", *runs, code=65).stderr
    assert "m1: success" in surefoot("rate", *runs, "--pool-runs").stdout
    assert "--pool-runs" in surefoot("replay", *runs, "--first", "m1", "--second", "m2", code=65).stderr


def test_a_gate_takes_the_previous_run(runs: tuple[str, str], surefoot) -> None:
    now, previous = runs
    passed = surefoot("compare", now, "--previous", previous, "--gate", "--margin", "0.3")
    assert "m1 (now.csv) is not worse by as much as 30.0 points. m1 (now.csv) - m1 (prev.csv) = " in passed.stdout
    assert "Gate: passed" in passed.stdout
    surefoot("compare", previous, "--previous", now, "--gate", code=1)


def test_parts_of_one_run_are_no_two_runs(tmp_path: Path, surefoot) -> None:
    parts = [written(tmp_path, f"{task}.csv", {"m1": 36, "m2": 10}, task) for task in ("cut", "pour")]
    said = surefoot("compare", *parts, "--first", "m1", "--second", "m2")
    assert said.stdout.startswith("For these 2 settings (task): m1 is better. m1 - m2 = +65.0 points")
    assert "are two runs:" not in said.stderr
    assert "By its name 'task', of one level in each file, is what was met: parts of one run." in said.stderr


def test_a_column_that_is_constant_in_each_file_makes_no_parts_unless_it_is_what_is_met(tmp_path, surefoot) -> None:
    """The day of each run differs between the runs: each policy is compared with itself."""
    days = [written(tmp_path, f"{day}.csv", {"m1": 36, "m2": 10}, day) for day in ("mon", "tue")]
    for path in map(Path, days):
        path.write_text(path.read_text().replace("task", "day"))
    assert "are two runs: each policy is compared with itself" in surefoot("compare", *days).stderr


def test_more_files_of_one_policy_are_one_run_and_that_is_said(tmp_path: Path, surefoot) -> None:
    three = [written(tmp_path, f"{name}.csv", {"m1": 20}) for name in "abc"]
    assert "'m1' is in 3 files on the same tasks: they are taken as one run." in surefoot("rate", *three).stderr
    assert "in 2 files" in surefoot("audit", *three[:2]).stderr
    apart = [written(tmp_path, f"{task}.csv", {"m1": 20}, task) for task in ("x", "y", "z")]
    assert "files" not in surefoot("rate", *apart).stderr


def test_the_earlier_run_is_called_by_its_own_file(runs: tuple[str, str], surefoot, tmp_path: Path) -> None:
    said = surefoot("report", *runs, "-o", str(tmp_path / "page.html")).stdout
    assert f"now minus {runs[1]}," in said


def test_a_report_of_two_runs_has_its_earlier_run(runs: tuple[str, str], surefoot, tmp_path: Path) -> None:
    refused = surefoot("report", *runs, "--previous", runs[1], "-o", str(tmp_path / "page.html"), code=64)
    assert "`--previous` must be left out when two files hold the same policies: the second is the earlier." in (
        refused.stderr
    )


def test_policies_of_one_run_only_are_named(tmp_path: Path, surefoot) -> None:
    now = written(tmp_path, "now.csv", {"m1": 36, "m2": 20})
    before = written(tmp_path, "prev.csv", {"m1": 18, "m3": 20})
    said = surefoot("compare", now, "--previous", before)
    assert "two runs: 'm1' is compared with itself. Only in one of them: m2, m3." in said.stderr
