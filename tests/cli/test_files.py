"""Tests of `surefoot.cli.files`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import polars as pl
import pytest

from surefoot.cli import files, terminal
from surefoot.cli.files import wanted_rows
from surefoot.cli.main import run
from tests.support.command_line import said
from tests.support.samples import FIXTURES, put


@pytest.mark.parametrize("name", ["x-rng=7", "x rng=7", "low=, high=", 'policy="b"'])
def test_odd_names_are_shown_as_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    path = put(tmp_path, f"{name}.csv", "success\n1\n0\n")
    assert run(["audit", str(path)]) == 0
    out, err = capsys.readouterr()
    assert f"note: The policy is called {name!r}, after the path." in err
    assert f"from {name}.csv" in out
    put(tmp_path, f"{name}.csv", "success\nmaybe\n")
    assert run(["audit", str(path)]) == 65
    assert f"surefoot: {name}.csv, row 1: `success` must" in capsys.readouterr().err


def test_of_two_files_the_first_named_is_the_first_policy(capsys, tmp_path):
    for name, successes in (("zeta", 18), ("alpha", 3)):
        rows = "".join(f"{int(i < successes)}\n" for i in range(20))
        (tmp_path / f"{name}.csv").write_text(f"success\n{rows}")
    _, out, _ = said(capsys, "compare", str(tmp_path / "zeta.csv"), str(tmp_path / "alpha.csv"))
    assert out.startswith("For rollouts like these: zeta is better. zeta - alpha = +75.0 points, ")
    assert "zeta 90.0% [69.8%, 97.3%] n=20; alpha 15.0% [5.2%, 36.1%] n=20 (95% Wilson intervals)" in out


def test_policies_that_stand_first_by_the_alphabet_alone_are_named(capsys, tmp_path):
    path = tmp_path / "results.csv"
    path.write_text("policy,success\n" + "candidate,1\nbaseline,0\n" * 20)
    code, _, err = said(capsys, "compare", str(path), "--gate")
    assert code == 1  # the baseline is worse: whoever meant the candidate reads why
    assert (
        "note: 'baseline' is first and 'candidate' second, in alphabetical order. To choose: --first, --second." in err
    )
    asked = ("--first", "candidate", "--second", "baseline")
    assert said(capsys, "compare", str(path), "--gate", *asked)[::2] == (0, "")


def test_of_two_folders_the_first_named_is_the_first_policy(capsys, tmp_path):
    for name, successes in (("zeta", 18), ("alpha", 3)):
        (tmp_path / name).mkdir()
        rows = "".join(f"{int(i < successes)}\n" for i in range(20))
        (tmp_path / name / "results.csv").write_text(f"success\n{rows}")
    _, out, err = said(capsys, "compare", str(tmp_path / "zeta"), str(tmp_path / "alpha"))
    assert out.startswith("For rollouts like these: zeta is better. zeta - alpha = +75.0 points, ")
    assert "note: zeta/results.csv: The policy is called 'zeta', after the path." in err  # and not 'results.csv' twice


@pytest.mark.parametrize(
    ("here", "first", "second"),
    [("x", "../y/new", "new"), ("y/new", ".", "../../x/new"), ("", "y/new", "x/new"), ("x", "../y/new", ".")],
)
@pytest.mark.parametrize("alike", [True, False])
def test_two_folders_of_one_name_are_compared_in_the_order_they_are_named(
    capsys, tmp_path, monkeypatch, here, first, second, alike
):
    for name, successes in (("y/new", 18), ("x/new", 3)):
        (tmp_path / name).mkdir(parents=True)
        rows = "".join(f"{int(place < successes)}\n" for place in range(20))
        (tmp_path / name / ("results.csv" if alike else f"results_{successes}.csv")).write_text(f"success\n{rows}")
    monkeypatch.chdir(tmp_path / here)
    _, out, err = said(capsys, "compare", first, second)
    assert "+75.0 points" in out.splitlines()[0]
    assert "alphabet" not in err


CSV = "policy,task,item,success\n" + "".join(
    f"{policy},{task},{item},{int(item % 3 > 0 or policy == 'new')}\n"
    for policy in ("new", "old")
    for task in ("cut", "pour")
    for item in range(9)
)


@pytest.mark.parametrize("command", ["rate", "compare", "rank", "audit", "report"])
def test_rows_are_chosen_on_every_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = put(tmp_path, "runs.csv", CSV)
    assert run([command, str(path), "--where", "task=pour", "--where", "task=stack", "--json"]) == 0
    out, _ = capsys.readouterr()
    assert "cut" not in out
    assert run([command, str(path), "--where", "task=stack"]) == 65
    assert "at least one rollout must be chosen; 'task' is 'cut', 'pour', not 'stack'" in capsys.readouterr().err
    assert run([command, str(path), "--where", "task"]) == 64
    assert "`--where` must be NAME=VALUE, such as task=gsm8k; got 'task'" in capsys.readouterr().err
    assert run([command, str(path), "--sheet", "Trials"]) == 64
    assert "must come with an Excel workbook" in capsys.readouterr().err


def test_a_path_with_an_equals_sign_in_it() -> None:
    assert wanted_rows(["stats[name=acc].mean=1", "a=b=c", "a=d"]) == {"stats[name=acc].mean": ["1"], "a": ["b=c", "d"]}


def test_a_sheet_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(FIXTURES / "excel" / "trials.xlsx")
    assert run(["compare", path, "--sheet", "Side by side", "--first", "ACT", "--second", "DP"]) == 0
    about = "For trials like these 4: cannot tell. ACT - DP = +50.0 points, "
    assert capsys.readouterr().out.startswith(about)


def test_a_column_said_to_be_a_cluster_is_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a unit it was left out of the answer."""
    path = put(tmp_path, "runs.csv", "policy,success,the day\n" + "".join(f"a,{n % 2},{n // 4}\n" for n in range(12)))
    for option in (["--cluster", "the day"], ["--column", "cluster=the day"]):
        assert run(["rate", str(path), *option, "--target", "like"]) == 0
        out, err = capsys.readouterr()
        assert "n=12 (95% Gaffke interval)" in out
        assert "Read as: cluster the day (3)." in out
        assert ("is old: say --cluster 'the day'." in err) is (option[0] == "--column")


def test_totals_beside_the_rollouts_are_no_second_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = put(tmp_path, "a.csv", "policy,success\na,1\na,0\n")
    two = put(tmp_path, "totals.csv", "policy,successes,trials\na,1,2\n")
    assert run(["audit", str(one), str(two)]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("2 rollouts")
    assert "totals.csv: only totals, so left out; the rollouts themselves are here." in err
    assert "are taken as one run" not in err


def test_two_files_that_hold_several_policies_have_no_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = put(tmp_path, "a.csv", "policy,task,success\n" + "x,cut,1\ny,cut,0\n" * 4)
    two = put(tmp_path, "b.csv", "policy,task,success\n" + "x,pour,1\ny,pour,0\n" * 4)
    assert run(["compare", str(one), str(two)]) == 0
    assert "note: 'x' is first and 'y' second, in alphabetical order." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("policy", "`--column` must be NAME=YOURS, such as policy=method; got 'policy'."),
        ("method=policy", "got 'method=policy'. Put 'policy' first, your own name last."),
    ],
)
def test_a_column_is_named_after_its_meaning(word: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "a.csv", "--column", word]) == 64
    assert says in capsys.readouterr().err


def test_progress_is_a_line_for_each_tenth_in_a_pipe_and_one_that_changes_in_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = files.progress("comparing")
    quick(1, 2)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(files, "EXPECTED", 0.0)
    show = files.progress("comparing")
    for done in (1, 10, 11, 20):
        show(done, 20)
    assert capsys.readouterr().err == "comparing: 1 of 20\ncomparing: 10 of 20\ncomparing: 20 of 20\n"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    show = files.progress("comparing")
    for done in (10, 20):
        show(done, 20)
    with terminal.busy("drawing"):
        pass
    assert capsys.readouterr().err == "\rcomparing: 10 of 20\rcomparing: 20 of 20\n\rdrawing ...\r           \r"


@pytest.fixture
def priced(tmp_path):
    rows = [(name, int(at % 10 > 0), cost + at % 7) for name, cost in (("new", 40), ("old", 90)) for at in range(200)]
    path = tmp_path / "results.csv"
    pl.DataFrame(rows, schema=["policy", "success", "tokens"], orient="row").write_csv(path)
    return str(path)


def test_two_get_a_sentence_and_many_a_front(priced, capsys):
    asked = ("--cost", "tokens=200", "--margin", "0.1")
    code, out, _ = said(capsys, "compare", priced, "--first", "new", "--second", "old", *asked)
    assert code == 0
    assert "new is cheaper than old and not worse by 10 points" in out
    body = json.loads(said(capsys, "compare", priced, "--first", "new", "--second", "old", *asked, "--json")[1])
    assert body["cost"]["pairs"][0]["shown"] is True
    assert "new is cheaper than old" in said(capsys, "rank", priced, *asked)[1]
    assert json.loads(said(capsys, "rank", priced, *asked, "--json")[1])["cost"]["type"] == "Front"


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("--cost", "tokens=x"), 64, "--cost"),
        (("--cost", "price"), 65, "price"),
        (("--cost", "tokens", "--gate"), 64, "`--gate` must be left out with `--cost`"),
        (("--cost", "tokens", "--by", "task"), 64, "--by"),
    ],
)
def test_what_is_wrong_is_refused(priced, capsys, words, code, says):
    got, _, err = said(capsys, "compare", priced, "--first", "new", "--second", "old", *words)
    assert got == code
    assert says in err
