"""Tests of `surefoot._lazy`."""

import importlib
import json
import py_compile
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from surefoot import _lazy

SRC = Path(__file__).parents[1] / "src"


def test_a_name_is_fetched_from_its_module_and_a_module_is_itself():
    fetch, names = _lazy.attach("surefoot", {"Tally": "surefoot.core.tally", "stats": "surefoot.stats"})
    from surefoot import stats
    from surefoot.core.tally import Tally

    assert fetch("Tally") is Tally
    assert fetch("stats") is stats
    assert names() == ["Tally", "stats"]


ROOM = """
from __future__ import annotations
from typing import TYPE_CHECKING
from surefoot import _lazy
if TYPE_CHECKING:
    from {room} import inner as inner
    from surefoot.core.tally import Tally as Tally
    from surefoot.analysis.attempts import Attempts as Attempts
_HOMES = _lazy.homes(__name__, __file__)
"""


@pytest.mark.parametrize("kept", ["folder", "zip", "compiled"])
def test_the_names_of_a_package_are_those_it_imports_for_type_checkers(tmp_path, monkeypatch, kept):
    room, place = f"surefoot_{kept}", tmp_path / "installed"
    source = tmp_path / "written.py"
    source.write_text(ROOM.format(room=room))
    if kept == "zip":
        with zipfile.ZipFile(place, "w") as file:
            file.write(source, f"{room}/__init__.py")
    elif kept == "compiled":
        py_compile.compile(str(source), str(place / room / "__init__.pyc"), doraise=True)
    else:
        (place / room).mkdir(parents=True)
        source.rename(place / room / "__init__.py")
    monkeypatch.syspath_prepend(str(place))
    found = importlib.import_module(room)
    monkeypatch.delitem(sys.modules, room)
    assert list(found._HOMES.items()) == [
        ("Attempts", "surefoot.analysis.attempts"),
        ("Tally", "surefoot.core.tally"),
        ("inner", f"{room}.inner"),
    ]


ROOMS = ["core", "numerics", "table", "files", "auditing", "analysis", "study", "runners", "reporting", "console"]


@pytest.mark.parametrize(
    ("package", "name", "said"),
    [
        ("surefoot", "Tallies", "; dir(surefoot) lists what is public"),
        ("surefoot", "rollouts", "; did you mean surefoot.Rollouts?"),
        ("surefoot", "wilson", "; did you mean surefoot.stats.wilson?"),
        ("surefoot.stats", "foo", "; dir(surefoot.stats) lists what is public"),
        ("surefoot.stats", "wilsn", "; did you mean surefoot.stats.wilson?"),
        ("surefoot.stats", "compare", "; did you mean surefoot.compare?"),
        ("surefoot.planning", "Plan_Rate", "; did you mean surefoot.plan_rate?"),
        *((f"surefoot.{room}", "compare", "; did you mean surefoot.compare?") for room in ROOMS),
        *((f"surefoot.{room}", "nothing_like_it", "; dir(surefoot) lists what is public") for room in ROOMS),
    ],
)
def test_a_name_that_is_not_there_says_where_to_look(package, name, said):
    room = importlib.import_module(package)
    with pytest.raises(AttributeError) as refused:
        getattr(room, name)
    assert str(refused.value) == f"module {package!r} has no attribute {name!r}{said}"
    assert not hasattr(room, name)


def test_a_room_that_is_not_public_says_what_is_public_of_it():
    said = "module 'surefoot' has no attribute 'auditing'; what is public of it is surefoot.audit"
    assert str(_lazy.MissingNameError("surefoot", "auditing")) == said


def test_a_name_of_the_version_before_answers_and_says_the_new_one():
    import surefoot as sf

    with pytest.warns(DeprecationWarning, match=r"surefoot\.compare_tasks is"):
        assert sf.compare_tasks is sf.compare_by
    assert "compare_tasks" not in dir(sf)


@pytest.fixture(scope="module")
def zipped(tmp_path_factory):
    """The package as one zip file."""
    place = tmp_path_factory.mktemp("zip") / "surefoot.zip"
    with zipfile.ZipFile(place, "w") as file:
        for path in sorted((SRC / "surefoot").rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                file.write(path, path.relative_to(SRC))
    return place


LISTED = """
import importlib, json
import surefoot
from surefoot.files.formats import importers
from surefoot.sequential import registry
from surefoot.stats import rate_methods
names = {}
for room in ("surefoot", "surefoot.stats", "surefoot.sequential", "surefoot.planning"):
    package = importlib.import_module(room)
    names[room] = [name for name in dir(package) if getattr(package, name) is not None]
print(json.dumps({
    "file": surefoot.__file__,
    "names": names,
    "rules": [kind.__qualname__ for kind in registry.kinds()],
    "formats": [one.ABOUT.name for one in importers()],
    "methods": {str(side): list(rate_methods.methods(side)) for side in (None, "lower", "upper")},
    "design": surefoot.sequential.ExactBinary(horizon=20).table,
}))
"""


def running(place, code, **options):
    """What a program prints that takes surefoot from a place."""
    found = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(place)!r})\n{code}"]
    return subprocess.run(found, check=True, capture_output=True, **options).stdout


@pytest.mark.end_to_end
def test_a_zip_file_offers_all_that_a_folder_does(zipped, tmp_path):
    held, folder = (
        json.loads(running(place, LISTED, env={"XDG_CACHE_HOME": str(tmp_path)})) for place in (zipped, SRC)
    )
    assert held.pop("file").startswith(str(zipped))
    assert folder.pop("file").startswith(str(SRC))
    assert held == folder
    assert len(held["rules"]) == 11
    assert not list(tmp_path.iterdir())  # the designs that come with the package are found: none is computed


@pytest.mark.end_to_end
def test_a_zip_file_answers(zipped, tmp_path):
    (tmp_path / "rows.csv").write_text("policy,success\n" + "new,1\nold,0\n" * 20)
    asked = [["rate", "38/50"], ["report", "rows.csv", "-o", "page.html"], ["demo"]]
    command = f"from surefoot.cli.main import run\nfor words in {asked!r}:\n    print('====', run(words))"
    *answers, last = running(zipped, command, cwd=tmp_path).decode().split("==== 0\n")
    assert len(answers) == 3
    assert all(answers)
    assert not last
