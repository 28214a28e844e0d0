"""Tests of `surefoot.files.folders`."""

import gc
import json
from pathlib import Path

import polars as pl
import pytest

import surefoot as sf
from surefoot.errors import DataError
from surefoot.files import folders
from surefoot.files.formats import importer_of
from surefoot.table.normalising import Asked

FIXTURES = Path(__file__).parents[1] / "fixtures"


def test_a_folder_is_walked_in_sorted_order_without_hidden_files(tmp_path):
    for name in ("b/two.csv", "a.csv", ".hidden/three.csv", "b/.four.csv"):
        path = tmp_path / "runs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    found = folders.walk(tmp_path / "runs")
    assert [(one.name, one.met) for one in found] == [("runs/a.csv", True), ("runs/b/two.csv", True)]


def test_a_file_is_itself_and_was_not_met(tmp_path):
    (one,) = folders.walk(tmp_path / "a.csv")
    assert (one.path, one.name, one.met) == (tmp_path / "a.csv", "a.csv", False)


def test_empty_and_crowded_folders_are_refused(tmp_path, monkeypatch):
    with pytest.raises(DataError, match="it is empty"):
        folders.walk(tmp_path)
    for name in "ab":
        (tmp_path / name).write_text("")
    monkeypatch.setattr(folders, "MOST_FILES", 1)
    with pytest.raises(DataError, match="at most 1 files; got 2"):
        folders.walk(tmp_path)


def test_files_without_an_outcome_are_left_out_and_named(tmp_path):
    (tmp_path / "a.csv").write_text("policy,success\nnew,1\nold,0\n")
    (tmp_path / "b.csv").write_text("policy,colour\nnew,red\n")
    (tmp_path / "steps.jsonl").write_text('{"t": 0, "action": 1}\n{"t": 1, "action": 2}\n')
    rollouts = sf.read(tmp_path)
    assert rollouts.policies == ("new", "old")
    said = [str(note).replace(tmp_path.name, "x") for note in rollouts.notes]
    assert "x/b.csv, x/steps.jsonl: no rollouts found, so left out." in said
    with pytest.raises(DataError, match=r"there must be a `success` or a `score` column; got 't', 'action'"):
        sf.read(tmp_path, strict=True)


@pytest.mark.parametrize(
    "name", ["inspect_0_3_285/clustered.eval", "junit/pytest.xml", "vla/octo.json", "openai_evals/run.jsonl"]
)
def test_a_log_cut_in_the_middle_is_left_out_and_said(tmp_path: Path, name: str) -> None:
    whole = (FIXTURES / name).read_bytes()
    for folder, content in (("a", whole), ("b", whole[: len(whole) * 6 // 10])):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / Path(name).name).write_bytes(content)
    table = sf.read(tmp_path)
    assert len(table) == len(sf.read(FIXTURES / name))
    assert any("1 of 2 files are left out" in str(note) and "complete" in str(note) for note in table.notes)
    with pytest.raises(sf.DataError, match="complete"):
        sf.read(tmp_path, strict=True)


def test_a_log_copied_into_a_folder_counts_once(tmp_path: Path) -> None:
    """What was uploaded twice is no second run; a few rows may go alike, so short files count, and that is said."""
    for rows, kept in ((12, 12), (3, 6)):
        text = "policy,task,success\n" + "".join(f"a,t{n},{n % 2}\n" for n in range(rows))
        folder = tmp_path / str(rows)
        folder.mkdir()
        (folder / "one.csv").write_text(text)
        (folder / "two.csv").write_text(text)
        table = sf.read(folder)
        assert len(table) == kept
        assert any("the very bytes of" in str(note) for note in table.notes)
    assert len(sf.read([tmp_path / "12" / "one.csv", tmp_path / "12" / "two.csv"])) == 24  # both named by the user


def test_files_alike_are_read_as_one_and_faults_are_said_of_their_own(tmp_path: Path) -> None:
    def put(rows: list[dict[str, object]], at: int) -> None:
        (tmp_path / f"{at}.json").write_text(json.dumps(rows))

    rows = [{"policy": "ab"[n % 2], "task": f"t{n}", "success": n % 3 == 0, "score": n / 8} for n in range(8)]
    for at in range(4):
        put(rows[at:] + rows[:at], at)
    each = [sf.read(tmp_path / f"{at}.json").polars().with_columns(source=pl.lit(f"{at}.json")) for at in range(4)]
    table = sf.read([tmp_path / f"{at}.json" for at in range(4)])
    assert table.polars().equals(pl.concat(each).select(table.polars().columns))
    put([{**row, "success": None, "score": None} if at == 5 else row for at, row in enumerate(rows)], 2)
    (note,) = (str(one) for one in sf.read(tmp_path).notes if "neither" in str(one))
    assert "2.json" in note
    assert "1 of 8" in note
    put([{**row, "score": 1.5 if at == 5 else row["score"], "policy": None if at == 6 else "a"} for at, row in
         enumerate(rows)], 3)  # fmt: skip
    with pytest.raises(DataError, match=r"3\.json, row 7: `policy` must name"):
        sf.read(tmp_path)


def test_the_parsed_documents_of_a_folder_are_not_all_held_at_once(tmp_path, monkeypatch):
    """What an Inspect log was parsed to is kept only where a path into it may be asked for; 200 logs took 7.5 GB."""
    held = list[bool]()
    monkeypatch.setattr(folders, "importer_of", lambda head: Collector(held, importer_of(head)))
    made = {"eval": {"model": "m", "task": "t"}, "samples": [{"id": "a", "scores": {"s": {"value": "C", "of": 7}}}]}
    (tmp_path / "a.json").write_text(json.dumps(made))
    for asked, kept in ((Asked(), False), (Asked(fields=("scores.s.of",)), True)):
        ((_, sheet),), _ = folders.sheets_of(folders.walk(tmp_path), asked)
        assert bool(sheet.records) is kept
    assert held == [False, False]
    assert gc.isenabled()


class Collector:
    """An importer that notes whether Python looks for cycles while it reads."""

    def __init__(self, held, importer):
        self.held, self.importer = held, importer

    def load(self, head):
        self.held.append(gc.isenabled())
        return self.importer.load(head)
