"""Tests of `surefoot.files.formats.wide`."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot as sf
from tests.support.formats import tallies
from tests.support.samples import FIXTURES, put


@pytest.mark.parametrize("first", ["", "Unnamed: 0", "session_id", "seed", "zz"])
def test_a_wide_table_may_name_its_rows(tmp_path: Path, first: str) -> None:
    rollouts = sf.read(put(tmp_path, "a.csv", f"{first},pi0,fast\r\nx7,0.5,1\r\ny8,,0\r\nz9,1,0.25\r\n".encode()))
    assert rollouts.policies == ("fast", "pi0")
    (unit,) = rollouts.design.keys("unit")
    assert rollouts.where(policy="pi0").column(unit) == ("x7", "z9")
    assert rollouts.pairs("pi0", "fast").matched == 2
    again = sf.read(put(tmp_path, "b.csv", f"{first},pi0,fast\nx,0.5,1\nx,,0\nx,1,0\n".encode()))
    assert (again.design.unit, again.pairs("pi0", "fast").matched) == ("row", 2)


def test_wide() -> None:
    rollouts = sf.read(FIXTURES / "wide.csv")
    assert tallies(rollouts) == {("act",): (1, 2), ("octo",): (1, 2), ("pi0",): (2, 3)}
    assert rollouts.pairs("pi0", "octo").tally() == sf.PairTally(0, 1, 1, 0)
    assert any("2 empty cells" in note for note in rollouts.notes)
