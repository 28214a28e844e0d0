"""Tests of `surefoot.table.scoring`."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import surefoot as sf
from tests.support.samples import put


@pytest.mark.parametrize("scale", [{"rubric": 5}, {"stages": ("none", "lifted")}])
def test_shares_have_no_other_range(scale) -> None:
    frame = pl.DataFrame({"policy": ["a", "a"], "score": [3, 5], "stage": ["none", "lifted"]})
    with pytest.raises(ValueError, match="`low` and `high` must be left out with a rubric or stages; got 0 and 5"):
        sf.read(frame, low=0, high=5, **scale)
    assert sf.read(frame, low=0.0, high=1.0, **scale).high == 1.0


def test_rubric_and_stages() -> None:
    counted = sf.read(pl.DataFrame({"policy": ["a", "a"], "score": [3, 4]}), rubric=4)
    assert counted.scores().values == (0.75, 1.0)
    passed = {"policy": ["a", "a"], "grasped": ["yes", "no"], "lifted": ["1", "0"], "placed": ["no", "0"]}
    assert sf.read(pl.DataFrame(passed), rubric=("grasped", "lifted", "placed")).scores().values == (2 / 3, 0.0)
    staged = pl.DataFrame({"policy": ["a", "a", "a"], "stage": ["none", "place", "grasp"]})
    assert sf.read(staged, stages=("none", "grasp", "place")).scores().values == (0.0, 1.0, 0.5)


def test_rubric_and_stages_refuse(tmp_path: Path) -> None:
    with pytest.raises(sf.DataError, match="row 2: `score` must be a whole number of sub-tasks passed, 0 to 4; got 5"):
        sf.read(pl.DataFrame({"policy": ["a", "a"], "score": [3, 5]}), rubric=4)
    path = put(tmp_path, "s.csv", "policy,stage\na,grasp\na,grsp\n")
    with pytest.raises(
        sf.DataError, match=r"s.csv, row 2: `score` \(column 'stage'\) must be one of none, grasp; got 'grsp'"
    ):
        sf.read(path, stages=["none", "grasp"])
    other = pytest.importorskip("pandas").DataFrame(
        {"policy": ["a", "b"], "stage": ["grasp", "grsp"], "up": ["1", "?"]}
    )
    with pytest.raises(sf.DataError, match=r"`score` \(column 'stage'\) must be one of none, grasp; got 'grsp'"):
        sf.read(other, stages=["none", "grasp"])
    with pytest.raises(sf.DataError, match=r"`score` \(column 'up'\) must be one of .*; got '\?'"):
        sf.read(other, rubric=["up"])
    with pytest.raises(ValueError, match="must not both be given"):
        sf.read(path, stages=["a", "b"], rubric=2)
    with pytest.raises(ValueError, match="name at least two different stages"):
        sf.read(path, stages=["a", "a"])
    with pytest.raises(TypeError, match="must list names"):
        sf.read(path, stages="ab")
    with pytest.raises(sf.DataError, match=r"`rubric` \(column 'lifted'\) must be a column"):
        sf.read(path, rubric=("lifted",))


def test_stages_without_their_order_are_asked_for(tmp_path: Path) -> None:
    path = put(tmp_path, "a.csv", b"condition,arm,stage\nc1,a,reach\nc1,b,place\n")
    with pytest.raises(sf.DataError, match="Say the order, from the least to the most: stages="):
        sf.read(path)
    assert sf.read(path, stages=["reach", "place"]).where(policy="b").scores().values == (1.0,)
