"""Tests of `surefoot.files.preferences`."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import surefoot as sf
from tests.samples import FIXTURES, put


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


def test_preferences_are_not_rollouts() -> None:
    with pytest.raises(sf.DataError, match=r"it holds preferences. Read it with read_preferences"):
        sf.read(FIXTURES / "preferences.csv")
