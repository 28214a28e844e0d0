"""A stranger's package adds a rule, a format, a store, a figure and a runner; a broken one is named and left out."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest

import surefoot as sf
from surefoot import _plugins
from surefoot.cli.main import run
from surefoot.files.formats import importers
from surefoot.reporting import figures
from surefoot.runners import outcomes
from surefoot.sequential import registry
from surefoot.study import stores
from tests.support.plugins import installed, put, put_toy

ROOT = Path(__file__).parents[1]
ASKS = {
    "rules": registry.names,
    "formats": lambda: [one.ABOUT.name for one in importers()],
    "stores": stores.schemes,
    "figures": figures.figure_names,
    "runners": outcomes.runner_names,
}


def test_without_other_packages_there_is_nothing_of_them():
    assert {group: ask() for group, ask in ASKS.items() if group not in ("rules", "formats")} == {
        "stores": (),
        "figures": (),
        "runners": (),
    }
    assert registry.names() == tuple(registry.HOMES)


def test_a_plan_names_its_rule_and_none_is_chosen_unasked(toy):
    assert registry.names()[-1] == registry.kinds()[-1].name == "third"
    assert sf.Plan(policies=("new", "old"), rule="third", horizon=60).rule == "third"
    assert sf.Plan(policies=("new", "old"), horizon=60).rule == "exact"
    assert registry.advised(registry.Setting(measure="score")) == "mixture"


def test_its_format_is_listed_and_read(toy, log, capsys):
    assert run(("formats", "toy")) == 0
    assert capsys.readouterr().out.startswith("toy log: *.toy, written by nobody\n")
    assert sf.read(log).where(policy="old").tally() == sf.Tally(1, 20)
    assert run(("rate", str(log), "--json")) == 0
    assert json.loads(capsys.readouterr().out)


def test_a_study_is_kept_in_its_store_and_run_by_its_runner(toy, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    command = ("study", "create", "plan.toml", "--policies", "new,old", "--rule", "third", "--horizon", "60", "--yes")
    assert run((*command, "--store", "toy://study.jsonl")) == 0
    assert run(("study", "run", "toy://study.jsonl", "--runner", "always")) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "stop: decided"
    study = sf.Study.open("toy://study.jsonl")
    study.unblind(reason="it is over")
    assert study.verdict is sf.Verdict.BETTER
    assert sf.verify("toy://study.jsonl").sound


BROKEN = {
    "raises": ("raise RuntimeError('no\\nlicence')", "RuntimeError: no licence"),
    "exits": ("raise SystemExit(3)", "SystemExit: 3"),
    "is not there": ("", "AttributeError: module 'broken' has no attribute 'thing'"),
    "is of the wrong shape": ("thing = 7", "TypeError: it must"),
}
TAKEN = {"rules": "wsr", "formats": "lines", "stores": "postgresql", "figures": "heat"}
RIGHT = {
    "rules": "from surefoot.sequential.wsr import Wsr\nclass thing(Wsr):\n    pass\n",
    "formats": "from surefoot_toy import ToyFormat as thing",
    "stores": "def thing(address): ...",
    "figures": "def thing(overview): ...",
    "runners": "def thing(turn): ...",
}


@pytest.mark.parametrize("group", ASKS)
@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_package_is_named_in_one_line_and_left_out(tmp_path, caplog, group, fault):
    text, said = BROKEN[fault]
    broken = put(tmp_path / "broken", "broken-one", {group: {"bad": "broken:thing"}}, {"broken": text})
    with installed(put_toy(tmp_path / "site"), broken), caplog.at_level(logging.WARNING):
        names = ASKS[group]()
        ASKS[group]()
    assert "bad" not in names
    assert set(names) & {"third", "toy", "toy log", "dots", "always"}
    (line,) = (one.getMessage() for one in caplog.records)
    assert line.startswith(f"surefoot: bad is left out: broken-one 1.0 ({group}) fails. {said}")
    assert "\n" not in line


@pytest.mark.parametrize("group", TAKEN)
def test_a_name_of_ours_is_not_given_away(tmp_path, caplog, group):
    points = {group: {TAKEN[group]: "broken:thing"}}
    before = registry.kinds("wsr")
    folder = put(tmp_path / "broken", "broken-one", points, {"broken": RIGHT[group]})
    with installed(put_toy(tmp_path / "site"), folder), caplog.at_level(logging.WARNING):
        ASKS[group]()
        assert registry.kinds("wsr") == before
    (line,) = (one.getMessage() for one in caplog.records)
    assert line.startswith(f"surefoot: {TAKEN[group]} is left out: broken-one 1.0 ({group}) fails. ")
    assert TAKEN[group] in line.partition("fails. ")[2]


@pytest.mark.parametrize("group", ["formats", "stores", "figures", "runners"])
def test_of_two_packages_with_one_name_the_first_has_it(tmp_path, caplog, group):
    folders = [
        put(tmp_path / name, name, {group: {"same": f"{name}:thing"}}, {name: RIGHT[group]}) for name in ("one", "two")
    ]
    with installed(put_toy(tmp_path / "site"), *folders), caplog.at_level(logging.WARNING):
        ASKS[group]()
        assert _plugins.packages(group)["same"] == "one 1.0"
    (line,) = (one.getMessage() for one in caplog.records)
    assert "same is left out: two 1.0" in line
    assert "one 1.0 has that name already" in line


def test_a_rule_must_be_called_as_its_entry_point(tmp_path, caplog):
    folder = put_toy(tmp_path / "site")
    other = put(tmp_path / "other", "other", {"rules": {"quarter": "surefoot_toy:Third"}}, {})
    with installed(folder, other), caplog.at_level(logging.WARNING):
        assert "quarter" not in registry.names()
    assert "its `name` must be that of its entry point; it is 'third'" in caplog.text


def test_a_format_that_fails_at_a_file_is_left_out_from_then_on(tmp_path, caplog):
    text = "from surefoot_toy import ToyFormat\nclass thing(ToyFormat):\n    recognises = None\n"
    folder = put(tmp_path / "broken", "broken-one", {"formats": {"bad": "broken:thing"}}, {"broken": text})
    (tmp_path / "rows.csv").write_text("policy,success\nnew,1\n")
    with installed(put_toy(tmp_path / "site"), folder), caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert sf.read(tmp_path / "rows.csv").tally() == sf.Tally(1, 1)
    assert len(caplog.records) == 1


QUIET = """
import sys
from surefoot.cli.main import run
run({words!r})
assert "importlib.metadata" not in sys.modules, "it looked for entry points"
"""


@pytest.mark.parametrize("words", [["rate", "38/50"], ["--help"], ["--version"]])
def test_what_needs_no_package_looks_for_none(words):
    subprocess.run([sys.executable, "-c", QUIET.format(words=words)], check=True, capture_output=True)
