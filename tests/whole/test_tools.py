"""Do the tools of the tree pick the right files?"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_make_quick_knows_the_tests_of_a_file():
    quick = tool("quick")
    for path, tests in {
        "src/surefoot/stats/rates.py": ["tests/stats/test_rates.py"],
        "src/surefoot/_check.py": ["tests/test_check.py"],
        "src/surefoot/files/formats/droid.py": ["tests/files/formats/test_droid.py"],
        "src/surefoot/core": ["tests/core"],
        "tests/whole/test_tools.py": ["tests/whole/test_tools.py"],
        "tests/support/studies.py": [],
        "docs/files.md": [],
        "src/surefoot/console/static/base.js": [],
    }.items():
        found = quick.tests_of(ROOT / path)
        assert [test.relative_to(ROOT).as_posix() for test in found] == tests
        assert all(test.exists() for test in found)


def test_arrows_that_follow_from_others_are_left_out():
    picture = tool("import_picture")
    edges = {"a": {"b", "c", "d"}, "b": {"c"}, "c": {"d"}, "d": set()}
    assert picture.reduced(edges) == {"a": {"b"}, "b": {"c"}, "c": {"d"}, "d": set()}
    assert picture.layers(edges) == [["a"], ["b"], ["c"], ["d"]]


def test_what_is_imported_for_types_only_does_not_count(tmp_path):
    file = tmp_path / "a.py"
    file.write_text(
        "from typing import TYPE_CHECKING\nfrom surefoot.core import tally\nif TYPE_CHECKING:\n"
        "    from surefoot.cli import main\ndef late():\n    import surefoot.stats.rates\n"
    )
    assert tool("import_picture").imported(file) == {"core", "stats"}


def test_every_room_must_take_its_branches():
    covered = tool("covered")

    def file(taken, branches):
        counts = (taken, branches, taken, branches)
        return {"summary": dict(zip(covered.COUNTS, counts, strict=True))}

    found = covered.shares(
        {
            "files": {
                "src/surefoot/cli/main.py": file(94, 100),
                "src/surefoot/files/reading.py": file(90, 100),
                "/work/src/surefoot/files/formats/lbm.py": file(100, 100),
                "src/surefoot/_check.py": file(0, 0),
            }
        }
    )
    assert found == {"(no room)": (100.0, 100.0), "cli": (94.0, 94.0), "files": (95.0, 95.0)}
    assert covered.low(found) == ["cli"]


def test_the_house_is_counted(tmp_path, monkeypatch):
    size = tool("size")
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "__init__.py").write_text("from surefoot.room.low import f as f\n")
    (tmp_path / "room" / "low.py").write_text(
        'def f(\n    one,\n):\n    """Docs\n\n    are long.\n    """\n    return 1\n'
    )
    (tmp_path / "room" / "high.py").write_text(
        "from surefoot.room.low import f\n\ndef g():\n    f(1)\n    return f(2)\n"
    )
    monkeypatch.setattr(size, "SOURCE", tmp_path)
    assert size.lines() == 1 + 8 + 5
    assert size.functions() == [(2, "room.high.g"), (1, "room.low.f")]
    assert size.single() == [("room.low", "room.high")]


def test_a_walk_counts_the_calls_of_functions_by_file(tmp_path):
    calls, _ = tool("size").walk(["--version"], tmp_path)
    assert calls["cli/main.py"] > 2
