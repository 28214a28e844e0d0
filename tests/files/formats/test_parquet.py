"""Tests of `surefoot.files.formats.parquet`."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import surefoot as sf
from surefoot.files.formats import parquet
from tests.support.samples import put

ROWS = {"policy": ["new", "old", "new"], "success": [True, False, None]}


def test_rows_are_read_and_void_cells_are_missing(tmp_path: Path) -> None:
    pl.DataFrame(ROWS).write_parquet(tmp_path / "rollouts.parquet")
    rollouts = sf.read(tmp_path / "rollouts.parquet")
    assert rollouts.policies == ("new", "old")
    assert [(group.successes, group.outcomes) for group in rollouts.summary(by=("policy",))] == [(1, 1), (0, 1)]


def test_a_long_file_is_not_held_and_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pl.DataFrame(ROWS).write_parquet(tmp_path / "a.parquet")
    held = sf.read(tmp_path / "a.parquet")
    monkeypatch.setattr(parquet, "HELD_IN_MEMORY", 1)
    assert sf.read(tmp_path / "a.parquet").summary() == held.summary()


def test_a_file_that_only_begins_like_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(sf.DataError, match=r"a\.parquet"):
        sf.read(put(tmp_path, "a.parquet", b"PAR1" + bytes(40)))
