"""`surefoot study ...` as a person meets it."""

from __future__ import annotations

import json
import re
import sqlite3
import sys

import pytest

import surefoot as sf
from surefoot.cli.main import run
from surefoot.cli.study import app
from surefoot.console.authentication import Tokens
from surefoot.runners import functions
from surefoot.study.stores import StoreError

ROBOT = """
import json, os, random, sys
turn = json.loads(sys.stdin.readline())
assert turn["policy"] == os.environ["SUREFOOT_POLICY"] and turn["code"] == os.environ["SUREFOOT_CODE"]
rng = random.Random(turn["number"])
print("driving", turn["policy"])
print(rng.random() < {"new": 0.97, "old": 0.2}[turn["policy"]])
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "robot.py").write_text(ROBOT)
    return tmp_path


def said(capsys, *words):
    code = run(["study", *words])
    out = capsys.readouterr()
    return code, out.out, out.err


def create(capsys, *more):
    words = ("create", "plan.toml", "--policies", "new,old", "--horizon", "20", "--assume", "0.9,0.3", *more)
    code, out, err = said(capsys, *words)
    assert code == 0, err
    return out


COMMAND = f"{sys.executable} robot.py"


def test_from_plan_to_report(here, capsys):
    out = create(capsys)
    assert "Wrote plan.toml." in out
    assert re.search(r"Fingerprint [0-9a-f]{64}", out)
    assert re.search(r"0\.9 v 0\.3: \d+ rollouts on average, at most 40; decides rightly with chance", out)
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
        65, "", "surefoot: The study is blinded: its log would give outcomes away. Unblind it first, "
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


def test_a_plan_is_written_and_shown_before_anything_is_fixed(here, capsys):
    assert "Nothing is fixed yet" in create(capsys, "--check")
    assert not (here / "study.db").exists()
    text = (here / "plan.toml").read_text().replace("horizon = 20", "horizon = 30")
    (here / "plan.toml").write_text(text)
    code, out, _ = said(capsys, "create", "--assume", "0.9,0.3")
    assert code == 0
    assert "at most 30 pairs" in out
    assert sf.Study.open("study.db").plan.horizon == 30
    code, _, err = said(capsys, "create", "--assume", "0.9,0.3")
    assert code == 65
    assert "already holds a study" in err


def test_every_part_of_a_plan_can_be_given(here, capsys):
    words = [
        "--futility",
        "0.01",
        "--tasks",
        "mug,towel",
        "--conditions",
        "left, right",
        "--claim",
        "first better",
        "--levels",
        "0,0.5,1",
    ]
    create(capsys, *words, "--environments", "shared", "--title", "Mugs", "-c", "0.9", "--json")
    plan = sf.Plan.from_toml((here / "plan.toml").read_text())
    assert plan == sf.Plan(
        policies=("new", "old"), title="Mugs", horizon=20, claim="first better", confidence=0.9,
        measure="score", futility=0.01, levels=(0.0, 0.5, 1.0), environments="shared",
        tasks=("mug", "towel"), conditions=("left", "right"),
    )  # fmt: skip


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
        (("create", "--policies", "a,b"), 64, "`--policies` must be left out when plan.toml exists"),
        (("run",), 64, "Either `--command` or `--runner` must be given"),
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


def test_a_study_given_to_report_is_shown_the_way(here, capsys):
    create(capsys)
    assert run(["report", "study.db"]) == 65
    assert "A study is read by `surefoot study report`" in capsys.readouterr().err


def test_a_plan_of_three_speaks_of_rounds(here, capsys):
    said(capsys, "create", "plan.toml", "--policies", "a,b,c", "--horizon", "9", "--check")
    assert "pair" not in (here / "plan.toml").read_text()
    assert "# The most rounds that will be run." in (here / "plan.toml").read_text()


def test_an_amendment_is_kept_with_its_reason(here, capsys):
    create(capsys)
    assert said(capsys, "amend", "study.db", "time_limit=90", 'reset="Home it"', "--reason", "clearer")[0] == 0
    plan = sf.Study.open("study.db").plan
    assert (plan.time_limit, plan.reset) == (90.0, "Home it")


def test_tampering_is_found_by_verify_and_by_the_report(here, capsys):
    create(capsys)
    said(capsys, "run", "--command", COMMAND)
    said(capsys, "unblind", "--reason", "decided")
    with sqlite3.connect("study.db") as link:
        link.execute(
            "update log set event = replace(event, '\"result\":true', '\"result\":false') where number = "
            "(select min(number) from log where event like '%\"result\":true%')"
        )
    link.close()
    code, out, _ = said(capsys, "verify")
    assert code == 65
    assert "was changed by hand" in out
    code, out, _ = said(capsys, "report", "-o", "report.html")
    assert "does not verify" in out
    assert "was changed by hand" in (here / "report.html").read_text()
    code, _, err = said(capsys, "status")
    assert code == 65
    assert "was changed by hand" in err


# --- what a command says ---


def test_a_result_can_be_said_in_many_ways(here, capsys):
    create(capsys, "--levels", "0,0.5,1")
    for text in ("0.5", "1", '{"result": 0.5, "note": "slow", "failure": "dropped"}'):
        (here / "say.py").write_text(f"print('hello'); print('''{text}'''); print()")
        assert said(capsys, "run", "--command", f"{sys.executable} say.py", "--turns", "1")[0] == 0
    results = sf.Study.open("study.db").fold.results
    assert [results[n].score for n in (1, 2, 3)] == [0.5, 1.0, 0.5]
    assert (results[3].note, results[3].failure) == ("slow", "dropped")
    assert results[3].duration > 0


@pytest.mark.parametrize(
    ("program", "hint"),
    [
        ("import sys; sys.exit(3)", "crash: the command ended with exit code 3"),
        ("raise RuntimeError", "crash: the command ended with exit code 1"),
        ("pass", "unreadable: the last line must be the result"),
        ("print('[1]')", "unreadable: the last line must be the result"),
        ("print('2')", "unreadable: `result` must be true or false"),
        ('print(\'{"result": true, "nte": 3}\')', "unreadable: the last line must be the result"),
    ],
)
def test_what_is_no_result_is_a_failure_and_the_run_goes_on(here, capsys, program, hint):
    create(capsys)
    (here / "bad.py").write_text(program)
    code, _, _ = said(capsys, "run", "--command", f"{sys.executable} bad.py", "--holder", "arm 1", "--turns", "2")
    assert code == 0
    results = sf.Study.open("study.db").fold.results
    assert [result.score for result in results.values()] == [0.0, 0.0]
    assert f"{results[1].ended}: {results[1].note}".startswith(hint)


def test_a_command_that_is_not_there_ends_the_run_and_hands_the_turn_back(here, capsys):
    create(capsys)
    code, _, err = said(capsys, "run", "--command", "pyhton3.99 rollout.py", "--holder", "arm 1")
    assert (code, "The command cannot be run: exit code 127" in err) == (65, True)
    study = sf.Study.open("study.db")
    assert study.fold.results == {}
    assert study.next_turn(holder="arm 2").number == 1


def test_bytes_that_are_no_text_lose_no_result(here, capsys):
    create(capsys)
    (here / "bytes.py").write_text("import sys; sys.stdout.buffer.write(b'\\xff\\xfe noise\\ntrue\\n')")
    assert said(capsys, "run", "--command", f"{sys.executable} bytes.py", "--turns", "1")[0] == 0
    assert sf.Study.open("study.db").fold.results[1].score == 1.0


def test_exit_codes_are_read_only_when_asked_for(here, capsys):
    create(capsys)
    for code, score in ((0, 1.0), (1, 0.0)):
        words = ("run", "--command", f"exit {code}", "--exit-code", "--turns", "1")
        assert said(capsys, *words)[0] == 0
        assert sf.Study.open("study.db").fold.results[len(sf.Study.open("study.db").fold.results)].score == score
    assert said(capsys, "run", "--command", "exit 2", "--exit-code", "--turns", "1")[0] == 0
    assert sf.Study.open("study.db").fold.results[3].ended == "crash"


def test_a_store_that_is_away_is_waited_for(here, capsys, monkeypatch):
    create(capsys)
    monkeypatch.setattr(functions, "PAUSE", 0.0)
    record, calls = sf.Study.record, []

    def away(self, *words, **more):
        calls.append(more["request"])
        if len(calls) < 3:
            raise StoreError("The disk is full.")
        return record(self, *words, **more)

    monkeypatch.setattr(sf.Study, "record", away)
    code, _, err = said(capsys, "run", "--command", "echo true", "--turns", "1")
    assert code == 0
    assert err.count("Trying again.") == 2
    assert len(calls) == 3
    assert len(set(calls)) == 1


@pytest.fixture
def served(here, capsys, monkeypatch):
    """The address of a study that is being served, whose runner we are."""
    pytest.importorskip("uvicorn", reason="needs the extra `console`")
    from tests.consoles import threaded

    create(capsys)
    tokens = Tokens.fresh()
    monkeypatch.setenv("SUREFOOT_TOKEN", tokens.runner.reveal())
    with threaded(sf.Study.open("study.db"), tokens) as address:
        yield address


def test_a_served_study_is_run_by_its_address(served, capsys):
    code, out, _ = said(capsys, "run", served, "--command", COMMAND)
    assert code == 0
    assert out.rstrip().endswith("stop: decided")


def test_a_turn_of_a_served_study_is_handed_back_too(served, capsys):
    code, _, err = said(capsys, "run", served, "--command", "exit 127")
    assert code == 65
    assert "The command cannot be run" in err
    study = sf.Study.open("study.db")
    assert study.next_turn(holder="another").number == 1


def test_help_has_examples(capsys):
    names = [command.callback.__name__ for command in app.registered_commands]
    assert "release" in names
    for name in names:
        code, out, _ = said(capsys, name, "--help")
        assert code == 0
        assert f"surefoot study {name}" in out.split("Examples:")[1]
