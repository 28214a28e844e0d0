"""`surefoot watch`: what it prints, keeps, follows and refuses."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest

from surefoot.cli.main import run
from tests.support.parallel_runs import parallel

HEAD = "policy,success\n"
WORDS = ("--first", "new", "--second", "old", "--in-start-order", "--horizon", "50")
BY_ROWS = "in the order of the starts (by the order of the rows)"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "results.csv"
    path.write_text(HEAD + "new,1\nold,0\n" * 3)
    return path


def test_it_declares_once_and_looks(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["watch", str(file), *WORDS, "--once"]) == 0
    assert capsys.readouterr().out == f"Continue: 3 pairs of at most 50, {BY_ROWS}.\n"
    kept = json.loads((file.parent / "results.csv.watch.json").read_text())
    assert (kept["first"], kept["horizon"], kept["rows"]) == ("new", 50, 6)
    assert run(["watch", str(file), *WORDS[:-1], "60", "--once"]) == 64
    assert "`--horizon` must be 50, as it was declared in results.csv.watch.json; got 60" in capsys.readouterr().err


def test_it_says_stop_and_what_was_found(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(HEAD + "new,1\nold,0\n" * 20)
    assert run(["watch", str(file), *WORDS]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Stop: new is better than old.")
    assert "after the stop not looked at" in said


def test_a_past_row_that_was_edited_is_refused(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["watch", str(file), *WORDS, "--once"]) == 0
    file.write_text(file.read_text().replace("old,0", "old,1", 1) + "new,1\n")
    assert run(["watch", str(file), *WORDS, "--once"]) == 65
    assert "rows that were seen before must stay as they were" in capsys.readouterr().err


def test_an_edited_declaration_is_refused(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["watch", str(file), *WORDS, "--once"]) == 0
    kept = file.parent / "results.csv.watch.json"
    kept.write_text(kept.read_text().replace('"horizon": 50', '"horizon": 500'))
    assert run(["watch", str(file), *WORDS[:-1], "500", "--once"]) == 65
    assert "it was changed" in capsys.readouterr().err


def test_a_line_that_is_being_written_waits(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(file.read_text() + "new,1\nold")
    assert run(["watch", str(file), *WORDS, "--once"]) == 0
    assert capsys.readouterr().out == f"Continue: 3 pairs of at most 50, {BY_ROWS}.\n"
    file.write_text(HEAD)
    (file.parent / "results.csv.watch.json").unlink()
    assert run(["watch", str(file), *WORDS, "--once"]) == 0
    assert capsys.readouterr().out == "Continue: no results yet.\n"


def test_it_follows_the_file_to_the_end(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def grow() -> None:
        for _ in range(20):
            with file.open("a") as more:
                more.write("new,1\nold,0\n")
            time.sleep(0.02)

    writer = threading.Thread(target=grow)
    writer.start()
    assert run(["watch", str(file), *WORDS, "--every", "0.02"]) == 0
    writer.join()
    assert capsys.readouterr().out.splitlines()[-1].startswith("Stop: new is better than old.")


def test_a_file_that_is_not_there_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["watch", str(tmp_path / "none.csv"), *WORDS]) == 65
    assert "there is no such file" in capsys.readouterr().err


def test_the_score_that_is_asked_for_decides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "both.csv"
    rows = [f"new,{n},1,0.1\nold,{n},0,0.9\n" for n in range(30)]
    path.write_text("policy,condition,success,progress\n" + "".join(rows))
    assert run(["watch", str(path), *WORDS, "--score", "progress"]) == 0
    assert capsys.readouterr().out.startswith("Stop: new is worse than old.")


@pytest.mark.parametrize("content", ["3", "[]", "", "{}"])
def test_a_damaged_declaration_is_refused_in_a_sentence(file: Path, content: str, capsys) -> None:
    (file.parent / "results.csv.watch.json").write_text(content)
    assert run(["watch", str(file), *WORDS, "--once"]) == 65
    assert "the declaration must be as it was written" in capsys.readouterr().err


def test_an_edit_of_what_was_seen_is_refused(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["watch", str(file), *WORDS, "--once"]) == 0
    kept = file.parent / "results.csv.watch.json"
    kept.write_text(kept.read_text().replace('"rows": 6', '"rows": 0'))
    file.write_text(file.read_text().replace("new,1", "new,0", 1))
    assert run(["watch", str(file), *WORDS, "--once"]) == 65
    assert "it was changed" in capsys.readouterr().err


def test_a_column_that_recurs_later_changes_no_past(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "id.csv"
    path.write_text("policy,id,success\n" + "".join(f"new,{n},1\nold,{9 - n},0\n" for n in range(4)))
    assert run(["watch", str(path), *WORDS, "--once"]) == 0
    path.write_text(path.read_text() + "".join(f"new,{n},1\nold,{n},0\n" for n in (0, 0, 1, 1, 2, 2, 3, 3) * 2)[:60])
    path.write_text(path.read_text().rsplit("\n", 1)[0] + "\n")
    assert run(["watch", str(path), *WORDS, "--once"]) == 0


def test_what_is_told_once_is_not_told_again_and_json_tells_it_all(file: Path, monkeypatch, capsys) -> None:
    naps = []

    def nap(_: float) -> None:
        naps.append(1)
        if len(naps) == 2:
            file.write_text(file.read_text() + "new,1\n")  # half a pair says nothing new
        if len(naps) == 4:
            file.write_text(file.read_text().removesuffix("new,1\n") + "new,1\nold,0\n" * 17)

    monkeypatch.setattr("surefoot.cli.watch.time.sleep", nap)
    assert run(["watch", str(file), *WORDS]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == f"Continue: 3 pairs of at most 50, {BY_ROWS}."
    assert len(said) == len(set(said))
    assert run(["watch", str(file), *WORDS, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["decision"] == "stop"


def test_a_policy_that_has_not_begun_and_a_file_of_another_format(tmp_path: Path, capsys) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps([{"policy": "new", "success": True}] * 3))
    assert run(["watch", str(path), *WORDS, "--once"]) == 0
    out, err = capsys.readouterr()
    assert "note: 'old' is not in the file yet; there is new." in err
    assert out == f"Continue: 0 pairs of at most 50, {BY_ROWS}.\n"


def test_a_file_with_a_header_only_says_that_there_is_nothing_yet(tmp_path: Path, capsys) -> None:
    path = tmp_path / "results.csv"
    path.write_text(HEAD)
    assert run(["watch", str(path), *WORDS, "--once"]) == 0
    assert capsys.readouterr().out == "Continue: no results yet.\n"
    assert run(["watch", str(path), *WORDS, "--once", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"decision": "continue", "says": "Continue: no results yet."}
    path.write_text(HEAD + "new,1\nold,0\n")
    assert run(["watch", str(path), *WORDS, "--once"]) == 0
    path.write_text(HEAD + "new,1\nold,0\n" * 30)
    assert run(["watch", str(path), *WORDS]) == 0
    assert "1 pair was there when the rule was declared." in capsys.readouterr().out


def test_a_file_that_does_not_tell_the_order_of_the_starts_gets_no_verdict(file: Path, capsys) -> None:
    words = [word for word in WORDS if word != "--in-start-order"]
    file.write_text(HEAD + "new,1\nold,0\n" * 30)
    assert run(["watch", str(file), *words, "--once"]) == 65
    out, err = capsys.readouterr()
    assert (out, "say --start-order COLUMN, or --in-start-order if rows" in err) == ("", True)
    assert not (file.parent / "results.csv.watch.json").exists()
    assert run(["watch", str(file), *WORDS, "--once"]) == 0  # declared once, it need not be said again
    assert run(["watch", str(file), *words, "--once"]) == 0
    assert f"{BY_ROWS}, p = " in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.parametrize("name", ["episode", "began", "seed"])
def test_any_column_of_numbers_may_tell_the_order_of_the_starts(name: str, tmp_path: Path, capsys) -> None:
    path = tmp_path / "results.csv"
    rows = [(n, policy) for n in range(1, 21) for policy in ("new", "old")]
    numbers = [n if name == "seed" else place for place, (n, _) in enumerate(rows, 1)]
    written = [f"{policy},{number},{int(policy == 'new')}" for (_, policy), number in zip(rows, numbers, strict=True)]
    words = [word for word in WORDS if word != "--in-start-order"]
    path.write_text("\n".join([f"policy,{name},success", *reversed(written[1:])]) + "\n")
    assert run(["watch", str(path), *words, "--start-order", name, "--once"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"Continue: 0 pairs of at most 50, in the order of the starts (by `{name}`). 19 more pairs")
    path.write_text("\n".join([f"policy,{name},success", *reversed(written[1:]), written[0]]) + "\n")
    assert run(["watch", str(path), *words, "--once"]) == 0
    assert capsys.readouterr().out.startswith("Stop: new is better than old.")
    assert run(["watch", str(path), *words, "--start-order", "other", "--once"]) == 64
    assert f"`--start-order` must be {name}, as it was declared" in capsys.readouterr().err


def test_start_times_need_to_know_how_many_run_at_once(tmp_path: Path, capsys) -> None:
    path = tmp_path / "results.csv"
    parallel(1, 4, 20).drop("episode").rename({"start_time": "begun"}).write_csv(path)
    words = [word for word in WORDS if word != "--in-start-order"] + ["--start-order", "begun", "--once"]
    assert run(["watch", str(path), *words]) == 64
    assert "Say how many run at once, --parallel 8 for instance, or number the starts." in capsys.readouterr().err
    assert run(["watch", str(path), *words, "--parallel", "4"]) == 0
    assert "20 pairs of at most 50, in the order of the starts (by `begun`)" in capsys.readouterr().out
