"""Tests of `surefoot.files.text_files`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import surefoot as sf
from surefoot.files.formats import delimited
from surefoot.files.recognising import Head
from tests.support.samples import put

TABLE = "policy,task,success,score\na,x,1,0.5\na, y ,0,1e-3\nb,x,,\nb,y,1,1\n"


def kinds(path: Path) -> list[str]:
    return [str(kind) for kind in delimited.load(Head(path, path.name)).frame.collect_schema().values()]


def test_outcomes_that_are_numbers_are_read_as_numbers_and_others_as_text(tmp_path: Path) -> None:
    """Parsing every cell again as text took longer than reading the file."""
    plain = put(tmp_path, "plain.csv", TABLE)
    assert kinds(plain) == ["String", "String", "Int8", "Float64"]
    others = [("1,0.5", "yes,0.5"), ("1,0.5", "1,50%"), ("1,0.5", "'1,0.5"), ("b,x,,", "b,x,, nan"), ("1,0.5", "2,0.5")]
    rows = sf.read(plain).polars()
    for place, (cell, other) in enumerate(others):
        path = put(tmp_path, f"{place}.csv", TABLE.replace(cell, other))
        assert kinds(path) == ["String"] * 4
        if place < 3:
            assert sf.read(path).polars().equals(rows)
        else:
            with pytest.raises(sf.DataError, match=r"got ' nan'|got '2'"):
                sf.read(path)


def test_a_word_behind_the_rows_that_are_tried_first_is_read_too(tmp_path: Path) -> None:
    many = TABLE + "a,x,1,0.5\n" * 5000
    last = sf.read(put(tmp_path, "late.csv", many + "b,x,no,0.25\n"))
    assert last.polars().equals(sf.read(put(tmp_path, "plain.csv", many + "b,x,0,0.25\n")).polars())
    with_header = put(tmp_path, "again.csv", many + TABLE)
    assert len(sf.read(with_header)) == 5008


def test_a_million_columns(tmp_path: Path) -> None:
    header = ",".join(f"c{number}" for number in range(1_000_000))
    with pytest.raises(sf.DataError, match="a row must have at most 10,000 columns; got 1,000,000"):
        sf.read(put(tmp_path, "wide.csv", header + "\n"))
    with pytest.raises(sf.DataError, match=r"row 1: a row must have as many cells as the header, 2; got 1,000,000"):
        sf.read(put(tmp_path, "row.csv", "policy,success\n" + "1," * 999_999 + "1\n"))
    record = json.dumps({"policy": "a", "success": 1} | {f"c{number}": 1 for number in range(20_000)})
    with pytest.raises(sf.DataError, match="a row must have at most 10,000 columns"):
        sf.read(put(tmp_path, "wide.jsonl", record + "\n" + record + "\n"))


def test_one_endless_line(tmp_path: Path) -> None:
    with pytest.raises(sf.DataError, match="a line must be shorter than 16 MiB; the first is longer"):
        sf.read(put(tmp_path, "x.csv", "a" * (17 << 20)))
