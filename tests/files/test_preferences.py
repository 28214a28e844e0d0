"""Tests of `surefoot.files.preferences`.

MT-bench's pairwise judgements, to the schema of FastChat's `llm_judge`, and Chatbot Arena's battles as published.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import polars as pl
import pytest

import surefoot as sf
from surefoot.cli.main import run
from surefoot.files.preferences import holds_preferences
from tests.files.test_fuzz import mutated
from tests.support.samples import FIXTURES, put


def test_preferences() -> None:
    preferences = sf.read_preferences(FIXTURES / "preferences.csv")
    assert str(preferences) == "3 preferences between 3 policies, from preferences.csv."
    assert preferences.counts() == {("act", "pi0"): (1, 0, 0), ("octo", "pi0"): (1, 0, 1)}
    assert any("0 is taken as the first policy preferred" in note for note in preferences.notes)
    pytest.importorskip("yaml", reason="needs the extra `yaml`")
    sessions = sf.read_preferences(FIXTURES / "roboarena")
    assert sessions.counts() == {("pi0_droid", "pi0_fast_droid"): (1, 0, 1)}
    by_name = sf.read_preferences(pl.DataFrame({"model_a": ["x"], "model_b": ["y"], "winner": ["y"]}))
    assert by_name.counts() == {("x", "y"): (0, 1, 0)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A,B,preference\nx,y,2\n", r"p.csv, row 1: `outcome` must be one of .*; got '2'"),
        ("A,B,preference\nx,x,1\n", r"row 1: `first` and `second` must be different policies; got 'x' twice"),
        ("A,B,preference\nx,,1\n", r"row 1: `second` must name a policy in every row"),
        ("A,B\nx,y\n", r"there must be a `outcome` column; got 'A', 'B'"),
        ("A,B,preference\n", r"at least one row"),
    ],
)
def test_preferences_refuse(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(sf.DataError, match=message):
        sf.read_preferences(put(tmp_path, "p.csv", text))


@pytest.mark.parametrize(
    ("data", "columns", "message"),
    [
        (b'{"A": "x", "B": "y", "preference": "A"}', None, r"^p: preferences in JSON must be a list of objects\."),
        (b"\x93NUMPY\x01\x00", None, r"^p: preferences must be CSV, TSV, JSON or YAML text\."),
        (b"A,B,preference\nx,y,0\n", {"first": "C"}, r"^p: `first` must be a column; there is no 'C'\."),
        (pl.DataFrame({"A": [], "B": [], "preference": []}), None, "^there must be at least one preference; got none"),
    ],
)
def test_what_holds_no_preferences_is_refused(
    tmp_path: Path, data: bytes | pl.DataFrame, columns: dict[str, str] | None, message: str
) -> None:
    with pytest.raises(sf.DataError, match=message):
        sf.read_preferences(put(tmp_path, "p", data) if isinstance(data, bytes) else data, columns=columns)


def test_preferences_are_of_a_path_or_a_frame_and_have_four_columns(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="`data` must be a path or a frame; got int"):
        sf.read_preferences(3)
    with pytest.raises(ValueError, match="`columns` must name columns among session, first, second, outcome"):
        sf.read_preferences(tmp_path, columns={"policy": "A"})
    pytest.importorskip("yaml", reason="needs the extra `yaml`")
    with pytest.raises(sf.DataError, match="the folder must hold RoboArena sessions with a preference; it holds none"):
        sf.read_preferences(tmp_path)


def test_sessions_without_a_preference_are_counted_and_left_out(tmp_path: Path) -> None:
    pytest.importorskip("yaml", reason="needs the extra `yaml`")
    both = "policies:\n  A: {policy_name: x}\n  B: {policy_name: y}\n"
    for session, text in (("1", f"preference: A\n{both}"), ("2", both), ("3", "preference: B\npolicies: [x, y]\n")):
        put(tmp_path, f"{session}/metadata.yaml", text)
    table = sf.read_preferences(tmp_path)
    assert table.counts() == {("x", "y"): (1, 0, 0)}
    assert "2 sessions lack a preference or one of the two policies; they are left out." in table.notes


def test_preferences_are_not_rollouts() -> None:
    with pytest.raises(sf.DataError, match=r"it holds preferences. Read it with read_preferences"):
        sf.read(FIXTURES / "preferences.csv")


FOLDER = FIXTURES / "judged"


def test_two_orders_of_a_judgement_are_one_preference() -> None:
    table = sf.read_preferences(FOLDER / "gpt-4_pair.jsonl")
    assert table.counts() == {("alpaca-13b", "gpt-3.5-turbo"): (1, 1, 1), ("alpaca-13b", "vicuna-13b"): (1, 0, 1)}
    assert table.frame["session"].to_list() == ["81", "81", "82", "82", "83"]
    assert any("Where the two disagree, it is a tie: 1 of 5" in note for note in table.notes)
    assert any("1 judgements that ended in an error are left out" in note for note in table.notes)


@pytest.mark.parametrize("name", ["arena.json", "arena.jsonl"])
def test_arena_battles(name: str) -> None:
    table = sf.read_preferences(FOLDER / name)
    assert table.counts() == {
        ("alpaca", "koala"): (0, 0, 2),
        ("alpaca", "vicuna"): (0, 1, 0),
        ("koala", "vicuna"): (0, 2, 0),
    }


@pytest.mark.parametrize("name", ["arena.json", "arena.jsonl", "gpt-4_pair.jsonl"])
def test_the_command_line_ranks_them(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert holds_preferences(FOLDER / name)
    assert run(["rank", str(FOLDER / name), "--prior", "0.5"]) == 0
    assert "Bradley-Terry from 5 preferences" in " ".join(capsys.readouterr().out.split())


def test_they_are_no_rollouts() -> None:
    with pytest.raises(sf.DataError, match="it holds preferences"):
        sf.read(FOLDER / "arena.json")


def test_both_bad_is_a_tie(tmp_path: Path) -> None:
    rows = json.loads((FOLDER / "arena.json").read_text())
    rows[0]["winner"] = "both_bad"
    assert sf.read_preferences(put(tmp_path, "a.json", json.dumps(rows))).frame["outcome"][0] == "tie"


def test_judgements_refuse(tmp_path: Path) -> None:
    line = json.loads((FOLDER / "gpt-4_pair.jsonl").read_text().splitlines()[0])
    text = "".join(json.dumps({**line, "g1_winner": winner}) + "\n" for winner in ("tie", "A"))
    with pytest.raises(sf.DataError, match="row 2: a winner must be model_1, model_2, tie or error; got 'A'"):
        sf.read_preferences(put(tmp_path, "a.jsonl", text))
    with pytest.raises(sf.DataError, match="row 1: a winner must be"):
        sf.read_preferences(put(tmp_path, "b.jsonl", json.dumps({**line, "g2_winner": None}) + "\n" + json.dumps(line)))


def test_rows_of_preferences_are_not_chosen_by_where(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rank", str(FOLDER / "arena.json"), "--where", "language=English"]) == 64
    assert "`--where` needs a file of results" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["arena.json", "arena.jsonl", "gpt-4_pair.jsonl"])
def test_injured_judgements_are_read_or_refused(tmp_path: Path, name: str) -> None:
    chance = random.Random(5)
    path = tmp_path / "judged"
    for _ in range(150):
        path.write_bytes(mutated((FOLDER / name).read_bytes(), chance))
        try:
            table = sf.read_preferences(path)
        except sf.DataError as error:
            assert "judged" in str(error)  # noqa: PT017
        else:
            assert len(table) > 0


def test_columns_of_ones_own_and_judgements_without_errors(tmp_path: Path) -> None:
    path = put(tmp_path, "p.csv", "A,B,who\nx,y,A\nx,y,B\n")
    assert sf.read_preferences(path, columns={"outcome": "who"}).counts() == {("x", "y"): (1, 1, 0)}
    assert not holds_preferences(tmp_path)
    lines = [line for line in (FOLDER / "gpt-4_pair.jsonl").read_text().splitlines() if '"error"' not in line]
    notes = sf.read_preferences(put(tmp_path, "a.jsonl", "\n".join(lines))).notes
    assert not any("ended in an error" in note for note in notes)


def test_annotations_of_alpaca_eval() -> None:
    """A sample by the schema of AlpacaEval 0.6."""
    table = sf.read_preferences(FIXTURES / "judged" / "annotations.json")
    assert table.counts() == {("gpt4_turbo", "llama"): (1, 3, 1)}
    assert table.notes[:3] == (
        "1 is taken as the first output preferred, 2 as the second, 1.5 as a tie.",
        "1 annotations without a preference are left out.",
        "1 preferences are weights; each counts as the nearer output.",
    )


@pytest.mark.parametrize("lines", [False, True])
def test_the_first_object_may_leave_out_what_is_empty(tmp_path, lines) -> None:
    """What a file is must not depend on which of its rows comes first."""
    import json

    rows = json.loads((FIXTURES / "judged" / "annotations.json").read_text())
    rows = [{key: cell for key, cell in row.items() if cell is not None} for row in rows]
    rows.sort(key=len)
    assert "preference" not in rows[0]
    text = "\n".join(map(json.dumps, rows)) if lines else json.dumps(rows)
    table = sf.read_preferences(put(tmp_path, "a.jsonl" if lines else "a.json", text))
    assert table.counts() == {("gpt4_turbo", "llama"): (1, 3, 1)}
    assert holds_preferences(tmp_path / ("a.jsonl" if lines else "a.json"))
