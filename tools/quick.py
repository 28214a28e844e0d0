"""Does what was changed still hold? Its own tests and those of the tree, in under half a minute: `make quick`.

A module is tested in the file of its name, or in one beside it whose docstring names the module. What differs from
`main` (or is named: `make quick ARGS=stats/rates.py`) is mapped to those files. Tests that have not begun after twenty
seconds are left to `make test`, and it is said how many.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE, TESTS = ROOT / "src" / "surefoot", ROOT / "tests"
ALWAYS = (TESTS / "whole" / "test_house.py",)
UNCHANGED = (TESTS / "core", TESTS / "table")
"""Where nothing was changed."""
SECONDS = 20


def changed() -> list[Path]:
    """The files that differ from `main`, committed or not."""

    def told(*words: str) -> list[str]:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
        return done.stdout.splitlines() if done.returncode == 0 else []

    names = [*told("diff", "--name-only", "main...HEAD"), *told("diff", "--name-only", "HEAD")]
    return [ROOT / name for name in dict.fromkeys([*names, *told("ls-files", "--others", "--exclude-standard")])]


def tests_of(path: Path) -> list[Path]:
    """The tests of a file: of a module its own, of a room all of its folder, of tests themselves."""
    if TESTS in path.parents:
        return [path] if path.name.startswith("test_") and path.suffix == ".py" else []
    if SOURCE not in path.parents:
        return []
    inside = path.relative_to(SOURCE)
    if path.suffix != ".py":
        return [TESTS / inside] if path.is_dir() else []
    folder, stem = TESTS / inside.parent, inside.stem.lstrip("_")
    own = folder / f"test_{stem}.py"
    if own.is_file():
        return [own]
    name = f"`{'.'.join(('surefoot', *inside.parent.parts, stem))}`"
    return [file for file in sorted(folder.glob("test_*.py")) if name in opening(file)]


def opening(path: Path) -> str:
    """The docstring of a file of tests."""
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


def main(named: list[str]) -> int:
    """Run them."""
    asked = [SOURCE / name if (SOURCE / name).exists() else ROOT / name for name in named] or changed()
    found = dict.fromkeys(test for path in asked for test in tests_of(path) if test.exists())
    chosen = [*(found or UNCHANGED), *ALWAYS]
    print("Tests of", ", ".join(path.relative_to(TESTS).as_posix() for path in chosen))
    jobs = os.environ.get("JOBS", "2")
    words = ["-q", "-n", jobs, "--within", str(SECONDS), "-m", "not slow and not end_to_end", *map(str, chosen)]
    return subprocess.run([sys.executable, "-m", "pytest", *words], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
