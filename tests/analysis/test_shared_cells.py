"""Tests of `surefoot.analysis.shared_cells`."""

import polars as pl
import pytest

import surefoot as sf
from surefoot.analysis.comparison_data import Asked
from surefoot.analysis.shared_cells import cells_of

ROWS = [  # policy, scene, robot, success: scene s2 has three rollouts of `new` on one robot, s3 was met by `new` alone
    ("new", "s0", "arm", 1), ("new", "s0", "leg", 0), ("new", "s1", "arm", 1), ("new", "s1", "leg", 1),
    ("new", "s2", "arm", 1), ("new", "s2", "arm", 0), ("new", "s2", "arm", 0), ("new", "s3", "arm", 1),
    ("old", "s0", "arm", 0), ("old", "s0", "leg", 0), ("old", "s1", "arm", 1), ("old", "s1", "leg", 0),
    ("old", "s2", "arm", 1),
]  # fmt: skip


def cells(weights="units"):
    frame = pl.DataFrame(ROWS, schema=["policy", "scene", "robot", "success"], orient="row")
    table = sf.read(frame).declare(unit="scene", setting="robot")
    return cells_of(Asked(table, "new", "old", "success", weights))


def test_cells_that_both_met_are_kept_and_the_rest_is_counted():
    found = cells()
    assert (found.units, found.frame.height, found.spare, found.nameless) == (3, 5, 1, 0)
    assert not found.once
    assert not found.single
    assert found.crossing(found.keys[1])


def test_every_unit_weighs_the_same_and_its_cells_alike():
    found = cells()
    by_unit = {unit: [] for unit in range(3)}
    for unit, weight in zip(found.unit, found.weights, strict=True):
        by_unit[int(unit)].append(float(weight))
    assert by_unit == {0: pytest.approx([1 / 6] * 2), 1: pytest.approx([1 / 6] * 2), 2: pytest.approx([1 / 3])}
    first, second = found.unit_means
    assert first.tolist() == pytest.approx([0.5, 1.0, 1 / 3])
    assert second.tolist() == pytest.approx([0.0, 0.5, 1.0])


def test_by_rollouts_a_unit_weighs_by_how_often_both_met_it():
    assert cells("rollouts").unit_weights().tolist() == pytest.approx([4 / 12, 4 / 12, 4 / 12])
