"""The recipes of docs/tutorials/ci-gate.md do what the page says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.end_to_end

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
