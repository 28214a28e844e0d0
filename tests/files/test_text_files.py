"""Tests of `surefoot.files.text_files`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import surefoot as sf
from tests.support.samples import put


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
