"""Tests that no name in a file reaches a terminal or a page as anything but text."""

from __future__ import annotations

import json

import pytest

from surefoot.cli.main import run
from surefoot.core.formatting import CONTROLS

CLEAR, TURN = "\x1b[2J\x1b[1;1Hnew is better", "new\u202egnp"
NAMES = ("new" + CLEAR, "old\x9b31m\x07" + TURN)


@pytest.fixture
def hostile(tmp_path):
    """A table whose policies, tasks, notes and header hold escape sequences."""
    rows = [
        f"{name},lift{CLEAR},{start},{(start + at) % 3 > 0:d},dim\x1b]0;x\x07,2"
        for at, name in enumerate(NAMES)
        for start in range(12)
    ]
    path = tmp_path / "results.csv"
    header = "policy,task,start,success,light\x1b[8m,note"
    path.write_text("\n".join([header, *rows]), encoding="utf-8")
    return path


COMMANDS = (
    ("rate",),
    ("compare", "--first", NAMES[0], "--second", NAMES[1]),
    ("compare", "--first", NAMES[0], "--second", NAMES[1], "--format", "github"),
    ("compare", "--first", NAMES[0], "--second", NAMES[1], "--format", "junit"),
    ("compare", "--first", "absent" + CLEAR, "--second", NAMES[1]),
    ("rank",),
    ("best",),
    ("columns",),
    ("audit",),
    ("replay", "--first", NAMES[0], "--second", NAMES[1], "--horizon", "20"),
    ("report", "--title", "hostile" + CLEAR),
)


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: "-".join(word for word in words if word.isalpha()))
def test_no_command_prints_a_control_character(words, hostile, tmp_path, capsys):
    command, *options = words
    page = ["-o", str(tmp_path / "page.html"), "--figures", str(tmp_path / "drawn")] if command == "report" else []
    run([command, str(hostile), *options, *page])
    printed = capsys.readouterr()
    assert printed.out or printed.err
    assert CONTROLS.findall(printed.out + printed.err) == []


@pytest.mark.parametrize("ending", ["html", "md", "tex", "json"])
def test_no_page_holds_a_control_character(ending, hostile, tmp_path, capsys):
    page, drawn = tmp_path / f"page.{ending}", tmp_path / "drawn"
    assert run(["report", str(hostile), "-o", str(page), "--figures", str(drawn)]) == 0
    capsys.readouterr()
    for path in (page, *drawn.glob("*.svg")):
        assert CONTROLS.findall(path.read_text(encoding="utf-8")) == [], path.name


def test_json_on_the_terminal_holds_the_names_as_they_are(hostile, capsys):
    run(["rank", str(hostile), "--json"])
    printed = capsys.readouterr().out
    assert CONTROLS.findall(printed) == []
    assert set(NAMES) <= set(_texts(json.loads(printed)))


def _texts(data):
    """Every text in JSON data."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        for one in data.values() if isinstance(data, dict) else data:
            yield from _texts(one)


def test_a_name_is_shown_with_its_escapes(hostile, capsys):
    run(["rank", str(hostile)])
    assert "new\\x1b[2J" in capsys.readouterr().out
