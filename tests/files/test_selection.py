"""Rows are chosen by canonical columns, the file's own, and fields by path."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import surefoot as sf
from surefoot.files.selection import MISSING, leads_to
from tests.support.samples import FIXTURES, put

CSV = "Method,Task,seed,Outcome,room\nnew,cut,1,1,A\nold,cut,1,0,A\nnew,pour,2,1,B\nold,pour,02,0,b\n"


def test_rows_by_canonical_and_own_columns(tmp_path: Path) -> None:
    path = put(tmp_path, "a.csv", CSV)
    assert sf.read(path, where={"task": "cut"}).names("task") == ("cut",)
    assert len(sf.read(path, where={"room": ["A", "b"]})) == 3
    assert len(sf.read(path, where={"room": "B", "task": "pour"})) == 1
    assert len(sf.read(path, where={"seed": "2"})) == 1
    assert sf.read(path, where={"policy": "new"}).policies == ("new",)
    assert sf.read(path, where={"Method": "new"}).policies == ("new",)
    assert sf.read(path, where={"Method": "new", "Outcome": "1"}).tally() == sf.Tally(2, 2)


def test_numbers_and_truths_are_compared_as_such(tmp_path: Path) -> None:
    rows = [{"policy": "a", "success": True, "lr": 1.0, "n": 3}, {"policy": "a", "success": False, "lr": 0.5, "n": 4}]
    path = put(tmp_path, "a.json", json.dumps(rows))
    assert len(sf.read(path, where={"lr": "1"})) == 1
    assert len(sf.read(path, where={"n": "3.0"})) == 1
    assert len(sf.read(path, where={"success": "True"})) == 1


def test_a_file_without_such_rows_is_left_out(tmp_path: Path) -> None:
    one, two = put(tmp_path, "one.csv", CSV), put(tmp_path, "two.csv", CSV.replace("cut", "stack"))
    rollouts = sf.read([one, two], where={"task": "stack"})
    assert set(rollouts.column("source")) == {"two.csv"}
    assert len(sf.read([one, two], where={"task": "pour"})) == 4


def test_frames(tmp_path: Path) -> None:
    frame = pl.read_csv(put(tmp_path, "a.csv", CSV))
    assert sf.read(frame, where={"task": ["cut"]}).names("task") == ("cut",)


def test_a_logs_filter_and_metric(tmp_path: Path) -> None:
    lines = [
        {"doc_id": at, "doc_hash": f"h{at}", "resps": [], "filter": name, "metrics": ["exact_match", "f1"],
         "exact_match": float(at == 0 or name == "loose"), "f1": 0.5, "doc": {"subject": "algebra" if at else "logic"}}
        for name in ("strict", "loose") for at in range(3)
    ]  # fmt: skip
    path = put(tmp_path, "samples_gsm8k.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    assert sf.read(path).tally().successes == 1
    assert sf.read(path, where={"filter": "loose"}).tally().successes == 3
    assert sf.read(path, columns={"score": "f1"}).column("score") == (0.5, 0.5, 0.5)
    assert sf.read(path, where={"doc.subject": "algebra"}).tally().trials == 2
    with pytest.raises(sf.DataError, match="the filter must be 'strict' or 'loose'; got 'none'"):
        sf.read(path, where={"filter": "none"})


def test_tasks_without_outcomes_are_named_and_left_out(tmp_path: Path) -> None:
    folder = FIXTURES / "lm_eval"
    for file in folder.iterdir():
        put(tmp_path, f"run/{file.name}", file.read_bytes())
    line = {"doc_id": 0, "doc_hash": "h", "resps": [], "filter": "none",
            "metrics": ["word_perplexity", "bits_per_byte"],
            "word_perplexity": [-70.5, 31], "bits_per_byte": [-70.5, 160]}  # fmt: skip
    put(tmp_path, "run/samples_wikitext_2026-01-02T03-04-05.678901.jsonl", json.dumps(line) + "\n" + json.dumps(line))
    rollouts = sf.read(tmp_path / "run")
    assert rollouts.names("task") == ("gsm8k",)
    assert any("the task wikitext has word_perplexity, bits_per_byte only. It is left out" in str(note)
               for note in rollouts.notes)  # fmt: skip
    with pytest.raises(sf.DataError, match="must have its own outcome"):
        sf.read(tmp_path / "run" / "samples_wikitext_2026-01-02T03-04-05.678901.jsonl")


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ({"task": "stack"}, "at least one rollout must be chosen; 'task' is 'cut', 'pour', not 'stack'"),
        ({"floor": "1"}, "rows must be chosen by a column or a field; there is no 'floor'"),
        ({"task": "cut", "room": "B"}, "no row meets all the conditions"),
    ],
)
def test_refusals(tmp_path: Path, where: dict[str, str], says: str) -> None:
    with pytest.raises(sf.DataError, match=says):
        sf.read(put(tmp_path, "a.csv", CSV), where=where)


RECORD = {
    "provider": {"id": "acme", "a.b": {"c": 1}},
    "scores": [{"name": {"name": "em", "split": "test"}, "mean": 0.5}, {"name": {"name": "f1"}, "mean": 0.75}],
    "list": [10, [20]],
    "flag": True,
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("provider.id", "acme"),
        ("provider.a.b.c", 1),
        ("scores[name.name=em].mean", 0.5),
        ("scores[name.name=f1].mean", 0.75),
        ("scores[0].mean", 0.5),
        ("scores.1.mean", 0.75),
        ("list[1][0]", 20),
        ("flag", True),
        ("", RECORD),
        ("provider.no", MISSING),
        ("scores[name.name=bleu].mean", MISSING),
        ("list[7]", MISSING),
        ("flag.x", MISSING),
        ("list.x", MISSING),
        ("scores[split=test].mean", MISSING),
        ("providerid", MISSING),
    ],
)
def test_where_a_path_leads(path: str, found: Any) -> None:
    assert leads_to(RECORD, path) is found if found is MISSING else leads_to(RECORD, path) == found


def test_two_items_with_the_value_are_refused() -> None:
    with pytest.raises(ValueError, match="must match exactly one item; 2 have that value"):
        leads_to({"s": [{"n": 1}, {"n": 1}]}, "s[n=1].x")


ROWS: list[dict[str, Any]] = [
    {"input": "2+2", "provider": {"id": "new"}, "scores": {"Factuality": 1.0, "Tone": None}, "example": {"id": 1}},
    {"input": "2+2", "provider": {"id": "old"}, "scores": {"Factuality": 0.5}, "example": {"id": 1}},
]
COLUMNS = {"policy": "provider.id", "score": "scores.Factuality", "condition": "example.id"}


def test_objects_of_any_table(tmp_path: Path) -> None:
    written = {
        "a.json": json.dumps(ROWS),
        "a.jsonl": "".join(json.dumps(row) + "\n" for row in ROWS),
    }
    for name, text in written.items():
        rollouts = sf.read(put(tmp_path, name, text), columns=COLUMNS)
        assert rollouts.policies == ("new", "old")
        assert rollouts.column("score") == (1.0, 0.5)
        assert rollouts.pairs("new", "old", on=("condition",)).matched == 1


def test_objects_in_the_cells_of_a_table(tmp_path: Path) -> None:
    csv = 'experiment,scores,id\nnew,"{""Factuality"": 0.6, ""x"": NaN}",1\nold,"{""Factuality"": 0.2}",1\n'
    rollouts = sf.read(put(tmp_path, "a.csv", csv), columns={"policy": "experiment", "score": "scores.Factuality"})
    assert rollouts.column("score") == (0.6, 0.2)
    blank = put(tmp_path, "b.csv", 'experiment,scores\nnew,"{""Factuality"": 0.6}"\nold,"  "\n')
    assert sf.read(blank, columns={"policy": "experiment", "score": "scores.Factuality"}).column("score") == (0.6, None)


def test_structures_of_a_frame_and_of_parquet(tmp_path: Path) -> None:
    frame = pl.DataFrame(ROWS)
    frame.write_parquet(tmp_path / "a.parquet")
    for data in (frame, frame.lazy(), tmp_path / "a.parquet"):
        assert sf.read(data, columns=COLUMNS).column("score") == (1.0, 0.5)


def test_a_field_that_some_rows_lack_is_empty_there(tmp_path: Path) -> None:
    rows = [{**ROWS[0], "scores": {"Factuality": 1}}, {**ROWS[1], "scores": {}}]
    rollouts = sf.read(put(tmp_path, "a.json", json.dumps(rows)), columns=COLUMNS)
    assert rollouts.column("score") == (1.0, None)


def test_refusals_field_paths(tmp_path: Path) -> None:
    with pytest.raises(sf.DataError, match=r"`score` \(column 'scores.Tune'\) must be a column"):
        sf.read(put(tmp_path, "a.json", json.dumps(ROWS)), columns={**COLUMNS, "score": "scores.Tune"})
    text = 'policy,scores\na,"{""x"": 1}"\na,broken\n'
    with pytest.raises(sf.DataError, match=r"row 2: column 'scores' must hold objects .* got 'broken'"):
        sf.read(put(tmp_path, "b.csv", text), columns={"score": "scores.x"})
    with pytest.raises(sf.DataError, match="row 1: the file must be complete JSON"):
        sf.read(put(tmp_path, "c.csv", 'policy,scores\na,"{""x"": "\n'), columns={"score": "scores.x"})
    twice = [{"policy": "a", "s": [{"n": "x", "v": 1}, {"n": "x", "v": 0}]}]
    with pytest.raises(sf.DataError, match="row 1: a path must lead to one value"):
        sf.read(put(tmp_path, "d.json", json.dumps(twice)), columns={"score": "s[n=x].v"})
