"""`surefoot study ...` as a person meets it."""

from __future__ import annotations

import json
import re
import sys

import pytest

import surefoot as sf
from surefoot.cli.study import app
from tests.support.study_commands import create, said

COMMAND = f"{sys.executable} robot.py"


def test_from_plan_to_report(here, capsys):
    out = create(capsys)
    assert "Wrote plan.toml." in out
    assert re.search(r"Fingerprint [0-9a-f]{64}", out)
    assert re.search(r"0\.9 v 0\.3: \d+ rollouts on average, at most 40; decides correctly with chance", out)
    assert "# The policies." in (here / "plan.toml").read_text()
    assert "continue" in said(capsys, "status")[1]
    code, out, _ = said(capsys, "run", "--command", COMMAND)
    assert code == 0
    assert out.rstrip().endswith("stop: decided")
    assert "new" not in out
    assert "True" not in out
    _, out, _ = said(capsys, "status")
    assert "stop: decided" in out
    assert "better" not in out
    assert said(capsys, "export") == (
        65, "", "surefoot: The study is blinded: its log would reveal outcomes. Unblind it first, "
        "or make a sealed backup with `surefoot study backup`.\n"
    )  # fmt: skip
    code, out, err = said(capsys, "unblind", "--reason", "decided")
    assert "Verdict on new: better." in out
    assert err == ""
    code, out, _ = said(capsys, "report", "-o", "report.html")
    assert out.startswith("new is better than old.")
    assert "new is better than old" in (here / "report.html").read_text()
    assert said(capsys, "verify")[0] == 0
    assert said(capsys, "export", "-o", "log.jsonl")[0] == 0
    assert "Verdict on new: better." in said(capsys, "restore", "log.jsonl", "copy.db")[1]
    assert sf.verify("copy.db").head == sf.verify("study.db").head


def test_a_stop_for_futility_is_said_and_overridden_with_a_reason(here, capsys):
    create(capsys, "--futility", "0.2")
    study = sf.Study.open("study.db")
    while (turn := study.next_turn()) is not None:
        study.record(turn, turn.block % 2 == 0)
    assert "stop: hardly any chance left to decide." in said(capsys, "status")[1]
    code, out, err = said(capsys, "override")
    assert (code, out) == (65, "")
    assert "A reason must be given" in err
    code, out, _ = said(capsys, "override", "--reason", "the robot is free", "--author", "Ann")
    assert code == 0
    assert ": continue." in out
    code, _, err = said(capsys, "override", "--reason", "again")
    assert code == 65
    assert "there is no stop to override" in err


def test_everything_speaks_json(here, capsys):
    made = json.loads(create(capsys, "--json"))
    assert made["store"] == "study.db"
    assert made["expected"][0]["exact"] is True
    assert json.loads(said(capsys, "run", "--command", COMMAND, "--turns", "3", "--json")[1])["turns"] == 3
    assert json.loads(said(capsys, "status", "--json")[1])["recorded"] == 3
    assert json.loads(said(capsys, "verify", "--json")[1])["faults"] == []
    assert json.loads(said(capsys, "report", "--json", "-o", "a.json")[1])["study"]["finding"] is None
    out, err = said(capsys, "unblind", "--reason", "x", "--json")[1:]
    assert json.loads(out)["blinded"] is False
    assert err == ""


@pytest.mark.parametrize(
    ("words", "code", "hint"),
    [
        (("create",), 64, "`--policies` must be given"),
        (("create", "--policies", "new"), 64, "at least two policies"),
        (("create", "--policies", "new,old", "--assume", "0.9"), 64, "one for each policy"),
        (("create", "--policies", "new,old", "--assume", "high,low"), 64, "A number was expected"),
        (("status", "none.db"), 65, "there is no study here. Make one"),
        (("verify", "none.db"), 65, "there is no study here"),
        (("report", "none.db"), 65, "there is no study here"),
        (("run", "none.db", "--command", "true"), 65, "there is no study here"),
        (("run", "http://127.0.0.1:9", "--command", "true"), 64, "`SUREFOOT_TOKEN` must hold a token"),
        (("restore", "none.jsonl", "a.db"), 65, "no such file"),
        (("restore", ".", "a.db"), 65, ".: it cannot be read or written: Is a directory."),
    ],
)
def test_refusals_say_what_to_do(here, capsys, monkeypatch, words, code, hint):
    monkeypatch.delenv("SUREFOOT_TOKEN", raising=False)
    got, out, err = said(capsys, *words)
    assert (got, out) == (code, "")
    assert hint in err
    assert err.count("\n") == 1
    assert not (here / "none.db").exists()


def test_refusals_of_a_study_that_is_there(here, capsys):
    create(capsys)
    for words, code, hint in (
        (("create", "--policies", "a,b"), 64, "`--policies` needs a new plan"),
        (("run",), 64, "One of `--command`, `--runner` and `--gym` must be given"),
        (("run", "--command", "true", "--turns", "0"), 64, "at least 1"),
        (("unblind",), 65, "A reason must be given"),
        (("amend", "study.db", "horizon"), 64, "FIELD=VALUE"),
        (("amend", "study.db", "horizon=0", "--reason", "x"), 65, "at least 1"),
    ):
        got, _, err = said(capsys, *words)
        assert got == code
        assert hint in err
    code, _, err = said(capsys, "create", "--store", "no/study.db", "--assume", "0.9,0.1")
    assert code == 65
    assert "folder must exist" in err
    (here / "plan.toml").write_text("policies = [")
    assert "plan.toml: The plan must be TOML" in said(capsys, "create")[2]


def test_refusals_of_other_files_beside_a_study(here, capsys):
    create(capsys)
    (here / "short.key").write_text("abc")
    (here / "log.jsonl").write_bytes(b"\xff\xfe")
    for words, code, hint in (
        (("serve", "study.db", "--certificate", "a.pem"), 64, "`--certificate` needs `--key`"),
        (("release",), 64, "`--holder` must be given, such as --holder 'arm 1'"),
        (("release", "--holder", "arm 1"), 65, "'arm 1' holds no turn; nothing was handed back."),
        (("backup", "--key", "short.key"), 65, "short.key: it must hold a key of at least 16 characters."),
        (("restore", "log.jsonl", "copy.db"), 65, "log.jsonl: the file is not an exported log."),
        (("report", "--figures", "f"), 65, "There are no figures while a study is blinded: unblind it first."),
    ):
        got, _, err = said(capsys, *words)
        assert (got, err.count(hint)) == (code, 1)


def test_a_forgotten_value_is_not_the_next_option(here, capsys):
    words = ("create", "plan.toml", "--policies", "new,old", "--conditions", "--check")
    assert said(capsys, *words) == (
        64, "", "surefoot: `--conditions` must be followed by its value; got the option --check.\n"
    )  # fmt: skip
    assert list(here.glob("*.db")) + list(here.glob("*.toml")) == []


@pytest.mark.parametrize("port", ["80000", "-1", "65536"])
def test_a_port_that_cannot_be_is_refused(here, capsys, port):
    create(capsys)
    code, _, err = said(capsys, "serve", "study.db", "--port", port)
    assert (code, err) == (64, f"surefoot: `--port` must be a whole number from 0 to 65535; got {port}.\n")


def test_help_has_examples(capsys):
    names = [command.callback.__name__ for command in app.registered_commands]
    assert "release" in names
    for name in names:
        code, out, _ = said(capsys, name, "--help")
        assert code == 0
        assert f"surefoot study {name}" in out.split("Examples:")[1]
