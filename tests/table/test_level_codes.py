"""Tests of `surefoot.table.level_codes`."""

from __future__ import annotations

import polars as pl
import pytest

import surefoot as sf
from surefoot.table.crosstab import crosstab
from surefoot.table.level_codes import coded, codes_of
from tests.support.designs import crossed


@pytest.mark.parametrize("cells", [["b", None, "a", "b"], [10, None, 9, 10], [0.5, None, 0.25, 0.5]])
def test_levels_are_numbered_in_order_and_an_empty_cell_is_beyond_the_last(cells) -> None:
    found = coded(pl.Series("x", cells))
    assert found.codes.tolist() == [1, 2, 0, 1]
    assert found.levels.to_list() == sorted(set(cells) - {None})
    assert found.size == 3
    assert found.nothing_first.tolist() == [2, 0, 1, 2]
    full = coded(pl.Series("x", cells).drop_nulls())
    assert (full.size, full.nothing_first.tolist()) == (2, [1, 0, 1])


def test_a_design_and_a_crosstab_share_the_numbers_of_a_column(monkeypatch) -> None:
    """A group of rows by their names took as long as all else; void rows are not numbered."""
    frame = crossed(policies="abc", scene=30, robot=3).with_columns(valid=pl.Series([0] + [1] * 269))
    rollouts = sf.read(frame)
    assert rollouts.design.roles == {"scene": "unit", "robot": "setting"}
    monkeypatch.setattr("surefoot.table.level_codes.coded", lambda _: pytest.fail("numbered twice"))
    keys = rollouts.design.keys("unit", "setting")
    table = crosstab(rollouts, "success", keys, rollouts.policies)
    assert len(codes_of(rollouts, keys)[keys[0]].codes) == 269
    assert sum(int(table.of(policy)[0].sum()) for policy in "abc") == 269
