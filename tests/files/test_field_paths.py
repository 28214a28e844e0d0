"""A path means one field, or nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import surefoot as sf
from surefoot.files.field_paths import MISSING, leads_to
from tests.support.samples import put

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


def test_refusals(tmp_path: Path) -> None:
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
