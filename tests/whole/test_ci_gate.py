"""The recipes of docs/tutorials/ci-gate.md do what the page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "tutorials" / "ci-gate.md").read_text(encoding="utf-8")


def written(path: Path, successes: int, size: int = 40) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("success\n" + "1\n" * successes + "0\n" * (size - successes))
    return path


@pytest.mark.parametrize(("new", "ends"), [(5, "failed"), (30, "skipped")])
def test_the_pytest_recipe(tmp_path, new, ends):
    recipe = re.search(r":caption: test_policy.py\n\n(import pytest.*?)```", PAGE, re.DOTALL)
    assert recipe is not None
    (tmp_path / "test_policy.py").write_text(recipe.group(1))
    written(tmp_path / "new.csv", new)
    written(tmp_path / "old.csv", 28)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_policy.py"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert f"1 {ends}" in done.stdout


@pytest.mark.parametrize(
    ("new", "undecided", "code", "verdict"),
    [
        (39, "pass", 0, "better-or-not-worse"),
        (5, "pass", 1, "worse"),
        (30, "fail", 1, "cannot-tell"),
    ],
)
def test_the_action_ends_as_its_table_says(tmp_path, new, undecided, code, verdict):
    script = re.search(r"      run: \|\n((?:        .*\n)+)", PAGE)
    assert script is not None
    outputs, summary = tmp_path / "outputs", tmp_path / "summary.md"
    told = {
        "NEW": str(written(tmp_path / "a new $(file).csv", new)),
        "OLD": str(written(tmp_path / "old.csv", 28)),
        "MARGIN": "0.05", "UNDECIDED": undecided, "GITHUB_OUTPUT": str(outputs), "GITHUB_STEP_SUMMARY": str(summary),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }  # fmt: skip
    run = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script.group(1)]
    done = subprocess.run(run, cwd=tmp_path, env=told, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert outputs.read_text() == f"verdict={verdict}\n"
    assert summary.read_text().startswith("# ")
