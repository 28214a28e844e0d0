"""Commands as a person meets them: what they print, and how they end."""

from __future__ import annotations

import contextlib
import inspect
import os
import random
import re
import signal
import subprocess
import sys
import typing

import pytest
import typer

import surefoot as sf
from surefoot.cli import main
from surefoot.cli.main import COMMANDS, application, run
from tests.support.command_line import said
from tests.support.plugins import installed, put_toy


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["rate", "a/b"], 64, "A tally must be SUCCESSES/ROLLOUTS"),
        (["rate", "38"], 64, "A tally must be SUCCESSES/ROLLOUTS"),
        (["rate", "nan/50"], 64, "A tally must be SUCCESSES/ROLLOUTS"),
        (["rate", "2.5/10"], 64, "A tally must be SUCCESSES/ROLLOUTS"),
        (["rate", "38/0"], 65, "`trials` must be at least 1"),
        (["rate", "12/10"], 65, "`successes` must be at most `trials`; got 12 successes in 10 trials."),
        (["rate", "--", "-1/5"], 65, "`successes` must be at least 0"),
        (["rate", "38/50", "--confidence", "0"], 64, "`--confidence` must be strictly between 0 and 1; got 0"),
        (["rate", "38/50", "--confidence", "1"], 64, "`--confidence` must be strictly between 0 and 1; got 1"),
        (["rate", "38/50", "--confidence", "95"], 64, "Write 0.95 for 95%."),
        (["rate", "38/50", "--confidence", "nan"], 64, "`--confidence` must be strictly between 0 and 1"),
        (["rate", "38/50", "--using", "guess"], 64, "`--using` must be one of wilson"),
        (
            ["rate", "38/50", "--using", "wald", "--lower"],
            64,
            "`--using` must be one of wilson, clopper-pearson, optimal",
        ),
        (["rate", "38/50", "--using", "optimal"], 64, "give a seed"),
        (["rate", "38/50", "--lower", "--upper"], 64, "must not be given together"),
        (["rate", "38/50", "--requires", "0.6", "--lower"], 64, "must be left out with `--requires`"),
        (["rate", "38/50", "--requires", "60"], 64, "must be strictly between 0 and 1"),
        (["rate", "38/50", "--nonsense"], 64, "See `surefoot rate --help`."),
        (["rate"], 64, "Missing argument"),
        (["nonsense"], 64, "No such command"),
        (["plan", "nonsense"], 64, "No such command 'nonsense'. (See `surefoot plan --help`.)"),
        (["rate", "38/50", "--confidence", "high"], 64, "`--confidence` must be a number; got 'high'."),
        (["rate", "38/50", "--confidence", "95%"], 64, "got '95%'. Write 0.95 for 95%."),
        (["rate", "38/50", "--seed", "x"], 64, "`--seed` must be a whole number; got 'x'."),
        (["plan", "compare", "pilot.csv"], 64, "(pilot.csv). A file is named by `--from`. (See"),
        (["study", "backup", "study.db", "copy"], 64, "(copy). A file is named by `--output` or `--key`. (See"),
        (["plan", "compare", "--from", "a.csv", "--sequential"], 64, "needs rates (--first 0.9 --second 0.6);"),
        (["plan", "compare", "--second", "0.6", "--column", "a=b"], 64, "`--column` needs `--from`;"),
        (["plan", "rate", "5"], 64, "Write 0.05 for 5 points."),
        (["plan", "bound"], 64, "must leave exactly one to be found"),
        (["plan", "compare", "--second", "0.6", "--sequential"], 64, "must come with both rates"),
        (
            ["plan", "compare", "--first", "0.9", "--second", "0.6", "--horizon", "9"],
            64,
            "needs `--sequential`;",
        ),
        (
            ["plan", "compare", "--first", "0.9", "--second", "0.6", "--sequential", "--claim", "not-worse"],
            64,
            "`--claim` must be either or better with `--sequential`; got not-worse.",
        ),
        (["plan", "compare", "--second", "0.5", "--first-only", "0.3"], 64, "`--first-only` needs `--second-only`;"),
        (
            ["plan", "compare", "--first", "0.5", "--second-only", "0.3"],
            64,
            "must be left out with `--second-only`",
        ),
        (["plan", "compare", "--first", "new", "--second", "0.3"], 64, "It is a policy's name with `--from` only."),
        (["plan", "rank", "--rates", "0.9,0.5,0.1", "--score", "x"], 64, "`--score` needs `--from`;"),
    ],
)
def test_bad_input_is_one_sentence_and_an_exit_code(capsys, words, code, text):
    found, out, err = said(capsys, *words)
    assert found == code
    assert out == ""
    assert err.startswith("surefoot: ")
    assert err.count("\n") == 1
    assert text in err


def test_help_is_there_for_every_command(capsys):
    for name in COMMANDS:
        code, out, _ = said(capsys, name, "--help")
        assert code == 0
        assert out.startswith("Usage:")
    assert said(capsys)[0] == 0


def test_what_a_command_answers_is_the_first_sentence_of_its_own_help():
    for name, (_, answers) in COMMANDS.items():
        command = main._command(name)
        told = command.info.help if isinstance(command, typer.Typer) else inspect.getdoc(command)
        assert told.splitlines()[0] == answers


@pytest.mark.parametrize("group", [[], ["study"], ["plan"]])
def test_every_summary_fits_a_terminal_of_eighty_columns(capsys, monkeypatch, group):
    monkeypatch.setenv("COLUMNS", "80")
    listed = said(capsys, *group, "--help")[1].split("Commands:\n")[1]
    assert "..." not in listed
    assert all(len(line) <= 80 for line in listed.splitlines())


@pytest.mark.parametrize(
    "words",
    [
        ("rate", "38/50"),
        ("rate", "1/2", "nowhere.csv"),
        ("rate", "9/8"),
        ("compare", "17/20", "14/20"),
        ("compare", "17", "20", "14", "20"),
        ("compare", "17/20"),
        ("compare", "now.csv", "then.csv"),
    ],
)
def test_words_without_options_mean_what_they_mean_after_two_dashes(capsys, words):
    command, *rest = words  # after the dashes the words go through the parser of options, and find none
    assert said(capsys, command, *rest) == said(capsys, command, "--", *rest)


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (["--unit", "task", "--unit=scene"], "`--unit` must be given once."),
        (
            ["--setting", "a", "--setting", "b"],
            "`--setting` must be given once. Write several with commas between them.",
        ),
        (["--weigh", "units", "--weights", "rollouts"], "`--weights` must be given once."),
    ],
)
def test_an_option_that_takes_one_value_is_not_given_two(capsys, words, refusal):
    """The last one was taken, in silence: two columns for one role were one."""
    assert said(capsys, "compare", "runs.csv", *words) == (64, "", f"surefoot: {refusal}\n")
    assert "there is no such file" in said(capsys, "compare", "runs.csv", "--where", "a=1", "--where", "b=2")[2]


def test_a_reader_that_leaves_early_sees_no_traceback():
    shell = f"{sys.executable} -m surefoot rate 38/50 | true"
    done = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_the_version_is_the_packages(capsys):
    assert said(capsys, "--version") == (0, f"surefoot {sf.__version__}\n", "")


def test_the_package_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "surefoot", "rate", "1/0"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 65
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("typed", "offered"), [("surefoot re", {"report", "replay"}), ("surefoot report --prev", {"--previous"})]
)
def test_what_is_typed_is_completed(capsys, monkeypatch, typed, offered):
    monkeypatch.setenv("_SUREFOOT_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split()) - 1))
    with pytest.raises(SystemExit) as ended:
        run([])
    assert ended.value.code == 0
    assert set(capsys.readouterr().out.split()) == offered


def test_ctrl_c_ends_the_line_and_says_so(tmp_path):
    """In a terminal: what was shown last, and the ^C of the terminal itself, stay on a line of their own."""
    pty = pytest.importorskip("pty")
    rng = random.Random(1)
    rows = [f"p{policy},{rng.random():.6f}" for policy in range(40) for _ in range(200)]
    (tmp_path / "many.csv").write_text("policy,score\n" + "\n".join(rows) + "\n")
    seen, shown = pty.openpty()
    words = [sys.executable, "-m", "surefoot", "report", "many.csv", "-o", "many.html"]
    program = subprocess.Popen(words, cwd=tmp_path, stdout=shown, stderr=shown)
    os.close(shown)
    out = b""
    while b"comparing policies" not in out:
        out += os.read(seen, 4096)
    program.send_signal(signal.SIGINT)
    with contextlib.suppress(OSError):  # the other side is closed
        while part := os.read(seen, 4096):
            out += part
    os.close(seen)
    # A shell shows 130 for both: Python ends by the signal itself if it came while a dataclass was being made (`exec`).
    assert program.wait(60) in (130, -signal.SIGINT)
    assert out.endswith(b"\r\nsurefoot: stopped.\r\n")
    assert not (tmp_path / "many.html").exists()


def test_ctrl_c_and_a_fault_of_ours(capsys, monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt

    def broken(*_):
        raise OSError("no file has this fault")

    monkeypatch.setattr("surefoot.cli.rate.rate", stopped)
    assert said(capsys, "rate", "38/50") == (130, "", "surefoot: stopped.\n")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert said(capsys, "rate", "38/50") == (130, "", "\nsurefoot: stopped.\n")
    monkeypatch.setattr("surefoot.cli.rate.rate", broken)
    with pytest.raises(OSError, match="no file has this fault"):
        run(["rate", "38/50"])


CALLS = {
    "rate": "3/5",
    "compare": "rows.csv",
    "rank": "three.csv",
    "best": "three.csv",
    "band": "0.1 0.5 0.7",
    "audit": "rows.csv",
    "gate": "rows.csv needs.toml",
    "slices": "rows.csv --first a --second b",
    "plan gate": "needs.toml --expect success=0.8",
    "plan next": "rows.csv --budget 100",
    "plan race": "--policies 3 --horizon 20 --runs 3",
    "plan halve": "--policies 3 --budget 60 --runs 3",
    "plan best": "--policies 3 --horizon 20 --runs 3",
    "columns": "rows.csv",
    "report": "rows.csv --output page.html",
    "replay": "rows.csv",
    "watch": "rows.csv --once --first a --second b --horizon 20 --in-start-order",
    "open": "",
    "plan rank": "--rates 0.9,0.5,0.1 --runs 5 --horizon 10",
    "plan rate": "0.1",
    "plan bound": "--tightness 0.1",
    "plan band": "0.1",
    "plan mean": "0.1 --spread 0.3",
    "plan compare": "--first 0.9 --second 0.5 --sequential",
    "study create": "plan.toml --policies a,b --check",
    "study plan": "plan.toml",
    "study serve": "study.db",
    "study run": "study.db --command true",
    "study record": "study.db 1 success",
    "labels draw": "rows.csv --n 4 --seed 1",
    "items": "rows.csv",
}
"""A call of every command that takes a number, and what it takes besides."""
INSTEAD = {"plan compare --gain": "--from rows.csv", "plan compare --first-only": "--second-only 0.1"}
INSTEAD |= {"plan compare --second-only": "--first-only 0.3", "plan compare --rollouts": "--first 0.9 --second 0.5"}
INSTEAD |= {"rate --pass-at": "rows.csv", "rate --pass-all": "rows.csv", "rank --prior": "preferences.csv"}
INSTEAD |= {
    "rank --seed": "preferences.csv",
    "compare --margin": "17/20 14/20",
    "plan compare --margin": "--first 0.9 --second 0.5",
}
INSTEAD |= {"rate --seed": "3/5 --using optimal --lower"}


def numeric_options() -> list[tuple[str, str, str]]:
    """Every option of every command that takes a number, with a word that none of them takes."""
    found, todo = [], [("", typer.main.get_command(application()))]
    while todo:
        name, command = todo.pop()
        todo += [(f"{name} {one}".strip(), each) for one, each in getattr(command, "commands", {}).items()]
        hints = typing.get_type_hints(command.callback) if command.callback else {}
        for one in command.params:
            kinds = {hints.get(one.name), *typing.get_args(hints.get(one.name))} & {int, float}
            if kinds and one.param_type_name == "option":
                found.append((name, max(one.opts, key=len), "-7" if int in kinds else "nan"))
    return sorted(found)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The files that the calls name."""
    folder = tmp_path_factory.mktemp("files")
    rows = [f"{name},{i},{(3 * i + k) % 7 / 7:.2f}" for i in range(9) for k, name in enumerate("ab")]
    (folder / "rows.csv").write_text("policy,condition,score\n" + "\n".join(rows))
    (folder / "three.csv").write_text("policy,success\n" + "a,1\nb,0\nc,1\na,0\nb,1\nc,0\n" * 3)
    (folder / "needs.toml").write_text('[[gate.need]]\nmeasure = "success"\nrate_at_least = 0.5\n')
    (folder / "preferences.csv").write_text("first,second,preferred\na,b,first\na,b,second\na,b,tie\n")
    sf.Study.create(sf.Plan(policies=("a", "b")), folder / "study.db").next_turn()
    return folder


@pytest.mark.sample(3)
@pytest.mark.parametrize(("command", "option", "word"), numeric_options())
def test_a_number_that_is_refused_is_named_by_its_option(capsys, monkeypatch, files, command, option, word):
    monkeypatch.chdir(files)
    given = INSTEAD.get(f"{command} {option}", CALLS[command]).split()
    if option in given:
        given[given.index(option) + 1] = word
    else:
        given += [option, word]
    code, out, err = said(capsys, *command.split(), *given)
    assert (code, out) == (64, "")
    assert f"`{option}`" in err
    assert re.findall(r"`[a-z_]+`", err) == []


@pytest.fixture
def toy(tmp_path):
    """The toy package, installed."""
    with installed(put_toy(tmp_path / "site")):
        yield


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("replay",), "rules: third (surefoot-toy 1.0)"),
        (("plan", "compare"), "rules: third (surefoot-toy 1.0)"),
        (("study", "create"), "rules: third (surefoot-toy 1.0)"),
        (("study", "create"), "stores: toy (surefoot-toy 1.0)"),
        (("study", "status"), "stores: toy (surefoot-toy 1.0)"),
        (("study", "run"), "runners: always (surefoot-toy 1.0)"),
        (("report",), "figures: dots (surefoot-toy 1.0)"),
    ],
)
def test_help_tells_of_it(toy, capsys, command, said):
    assert run((*command, "--help")) == 0
    assert said in " ".join(capsys.readouterr().out.split())


def test_help_is_silent_where_nothing_is_added(capsys):
    assert run(("study", "create", "--help")) == 0
    assert "installed packages" not in capsys.readouterr().out
