"""What is shipped agrees with itself: version, citation, changelog, types, and the module as a program."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import metadata, version
from pathlib import Path

import pytest
from tools.changelog import gathered, points

import surefoot

ROOT = Path(__file__).parents[2]
CITATION = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def cited(field: str) -> str:
    found = re.search(rf'(?m)^{field}: "?(.*?)"?$', CITATION)
    assert found, field
    return found[1]


def test_one_version_everywhere() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", surefoot.__version__)
    assert version("surefoot") == surefoot.__version__ == cited("version")


def test_the_changelog_tells_of_this_version_on_the_day_that_is_cited() -> None:
    told = re.findall(r"(?m)^## (\S+) \((\d{4}-\d\d-\d\d)\)$", CHANGELOG)
    waiting = [path.name for path in (ROOT / "changelog.d").glob("*.md") if path.name != "README.md"]
    if not told and waiting:
        pytest.skip("not gathered yet: `make changelog`")
    assert told[0] == (surefoot.__version__, cited("date-released"))


def test_the_metadata_a_reader_of_the_index_sees() -> None:
    about = metadata("surefoot")
    assert about["License-Expression"] == cited("license") == "Apache-2.0"
    assert about["Requires-Python"] == ">=3.11"
    assert "Typing :: Typed" in about.get_all("Classifier")
    assert set(about.get_all("Provides-Extra")) == {"cluster", "console", "postgres", "spark", "yaml"}
    assert about.get_payload() or about["Description"]


def test_types_are_shipped() -> None:
    assert (Path(surefoot.__file__).parent / "py.typed").is_file()


def test_the_module_is_the_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "surefoot", "rate", "38/50"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "76.0% [62.5%, 85.8%] n=50 (95% Wilson interval).\n"


@pytest.mark.parametrize(
    ("note", "found"),
    [
        ("- One thing.\n- Another,\n  of two lines.\n", ["One thing.", "Another, of two lines."]),
        ("* A star.\n", ["A star."]),
        ("No bullet,\ntwo lines - with a dash.\n", ["No bullet, two lines - with a dash."]),
    ],
)
def test_notes_are_read_whatever_their_bullets(note: str, found: list[str]) -> None:
    assert points(note) == found


def test_gathering_adds_to_a_version_and_keeps_the_older_ones() -> None:
    once = gathered("# Changes\n", "0.1.0", "2026-11-15", ["`a b` is new.", "word " * 40])
    assert max(map(len, once.splitlines())) <= 120
    assert gathered(once, "0.1.0", "2026-11-15", ["`a b` is new."]) == once
    more = gathered(once, "0.1.0", "2026-11-16", ["Late."])
    assert more.count("## 0.1.0") == 1
    assert more.rstrip().endswith("- Late.")
    later = gathered(more, "0.2.0", "2026-12-24", ["Next."])
    assert re.findall(r"(?m)^## (\S+)", later) == ["0.2.0", "0.1.0"]
    assert later.split("## 0.1.0")[1] == more.split("## 0.1.0")[1]
