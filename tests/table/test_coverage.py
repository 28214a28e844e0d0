"""Tests of `surefoot.table.coverage`."""

from __future__ import annotations

import polars as pl

import surefoot as sf
from surefoot.table.coverage import Coverage, coverage
from tests.support.designs import crossed


def test_units_that_all_met_once() -> None:
    found = coverage(sf.read(crossed(policies="abc", scene=10)))
    assert found == Coverage(("condition",), "scene", 10, 10, 10, 0)
    assert found.once


def test_units_in_settings_and_units_met_again() -> None:
    found = coverage(sf.read(crossed(scene=10, robot=2, trial=range(3))))
    assert (found.called, found.environments, found.shared, found.recurring) == ("scene and robot", 20, 20, 20)
    assert not found.once


def test_units_that_some_policies_missed() -> None:
    frame = crossed(policies="abc", scene=10)
    some = frame.filter(~((pl.col("policy") == "a") & (pl.col("scene") == "scene 1")))
    some = some.filter((pl.col("policy") == "c") | (pl.col("scene") != "scene 2"))
    found = coverage(sf.read(some).declare(unit="scene"))
    assert (found.environments, found.shared, found.several) == (10, 8, 9)


def test_outcomes_that_are_not_known_do_not_count() -> None:
    frame = crossed(scene=4).with_columns(pl.when(pl.col("scene") != "scene 0").then("success"))
    assert coverage(sf.read(frame).declare(unit="scene")).environments == 3


def test_where_nothing_tells_units_there_is_none() -> None:
    assert coverage(sf.read(pl.DataFrame({"policy": ["a", "b"], "success": [1, 0]}))) == Coverage()
