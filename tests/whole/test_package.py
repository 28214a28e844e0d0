"""What is shipped agrees with itself: version, citation, changelog, types, and the module as a program."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Iterator
from importlib.metadata import metadata, packages_distributions, version
from pathlib import Path

import pytest
from tools.changelog import gathered, points

import surefoot
from tests.support.trees import tree_of

ROOT = Path(__file__).parents[2]
CITATION = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OF_NUMBERS = ("core", "numerics", "stats", "sequential", "planning")


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
    assert set(about.get_all("Provides-Extra")) == set(PROJECT["optional-dependencies"])
    assert about.get_payload() or about["Description"]


def imported() -> Iterator[tuple[str, Path]]:
    """Every package that is imported anywhere in surefoot, within functions too, with the file that does.

    But for integrations: it is their host that imports them, so it is there.
    """
    for path in sorted((ROOT / "src" / "surefoot").rglob("*.py")):
        if path.parent.name == "integrations":
            continue
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Import):
                yield from ((alias.name.partition(".")[0], path) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module.partition(".")[0], path


def declared() -> set[str]:
    everything = [
        *PROJECT["dependencies"],
        *(one for extra in PROJECT["optional-dependencies"].values() for one in extra),
    ]
    return {re.split(r"[^\w.-]", one, maxsplit=1)[0].lower() for one in everything}


def test_every_imported_package_is_declared() -> None:
    known, distributions = declared(), packages_distributions()
    for name, path in imported():
        own = Path(path).parent.name == "integrations"  # whoever uses it has the tool
        if name not in sys.stdlib_module_names and name != "surefoot" and not own:
            assert {one.lower() for one in distributions.get(name, [name])} & known, f"{path}: {name}"


def test_every_declared_package_is_imported_or_run_by_one_that_is() -> None:
    distributions = packages_distributions()
    used = {one.lower() for name, _ in imported() for one in distributions.get(name, [name])}
    assert declared() - used <= {"dask", "pyspark"}  # joblib runs a plan on them


NUMBERS_ONLY = """
import importlib, importlib.metadata, pkgutil, sys

OTHERS = set(importlib.metadata.packages_distributions()) - {"surefoot", "numpy", "scipy"}

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in OTHERS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())

import surefoot as sf
from surefoot import planning, sequential, stats

for room in %r:
    package = importlib.import_module(f"surefoot.{room}")
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)
for room in (stats, sequential):
    for name in room.__all__:
        getattr(room, name)
%s
"""

FIGURES = {
    "stats": """
        one, other = sf.Tally(17, 20), sf.Tally(14, 20)
        print(stats.wilson(one))
        print(stats.exact_gain(one, other))
        print(stats.boschloo(one, other))
        print(stats.score_mean(sf.Scores([0.2, 0.5, 0.9, 1.0], low=0.0, high=1.0)))
        print(stats.rank_policies({"a": one, "b": other, "c": sf.Tally(3, 20)}))
    """,
    "sequential": """
        for rule in (sequential.ExactBinary(horizon=50), sequential.Savi(), sequential.NScore()):
            print(sequential.run(rule, [(1, 0)] * 50)[-1])
    """,
    "planning": """
        print(sf.plan_rate(0.05))
        print(sf.plan_comparison(0.8, 0.5))
        print(sf.plan_mean(0.05, spread=0.3))
        print(sf.plan_bound(rollouts=20, confidence=0.9))
    """,
}


@pytest.mark.end_to_end
@pytest.mark.parametrize("room", FIGURES)
def test_numbers_need_numpy_and_scipy_only(room: str) -> None:
    asked = textwrap.dedent(FIGURES[room])
    alone = subprocess.run(
        [sys.executable, "-c", NUMBERS_ONLY % (OF_NUMBERS, asked)], capture_output=True, text=True, check=False
    )
    assert alone.returncode == 0, alone.stderr
    given = f"import surefoot as sf\nfrom surefoot import sequential, stats\n{asked}"
    beside = subprocess.run([sys.executable, "-c", given], capture_output=True, text=True, check=True)
    assert alone.stdout == beside.stdout
    assert alone.stdout


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


def test_a_section_that_was_edited_stays_as_it_is() -> None:
    edited = "# Changes\n\n## 0.2.0 (2026-11-16)\n\nCome in.\n\n**Files**\n- One,\n  two.\n"
    more = gathered(edited, "0.2.0", "2026-11-17", ["One, two.", "Late."])
    assert more.split("(2026-11-17)\n\n")[1] == "Come in.\n\n**Files**\n- One,\n  two.\n- Late.\n"
