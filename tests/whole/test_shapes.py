"""Are the tables that false verdicts are counted on what they say: their labels, their nulls, their renamings?"""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from tools.renamed_files import BY_NAME

import surefoot as sf
from tests.oracles.roles import roles
from tests.support.shapes import LISTED, MANY, MORE, SHAPES, drawn, renamed, shape

SMALL = [name for name, layout in SHAPES.items() if layout.units <= 100]
SHAKY = {"88x1..5", "20x1..5", "20x5 lost", "12x10 with collision", "30x8 with measured columns"}
"""Shapes whose roles depend on chance: numbers with gaps, and columns that were measured."""


def outcome(frame: pl.DataFrame) -> str:
    return "success" if "success" in frame.columns else "score"


def found_roles(frame: pl.DataFrame, *, names: bool = True) -> dict[str, str]:
    columns = {name: frame[name].to_list() for name in frame.columns if name != outcome(frame)}
    return roles(columns, "policy", frame[outcome(frame)].to_list(), names=names)


def meant(name: str) -> list[str]:
    """The roles that the shape was laid out for, column by column."""
    layout = SHAPES[name]
    found = [] if layout.unit is None else ["run" if layout.labels == "own" else "unit"]
    if layout.held:
        found.append("cluster" if layout.held[1] >= MANY else "setting")
    found += ["cluster" if count >= MANY else "setting" for count in layout.settings.values()]
    found += ["run"] * bool(layout.run)
    if layout.repeat and (layout.repeats != 1 or layout.more):
        found.append("setting" if layout.takes == "text" else "repeat")
    return found


def test_every_listed_shape_is_there_and_twenty_more():
    assert len(LISTED) == 35
    assert len(MORE) >= 20
    assert not LISTED.keys() & MORE.keys()


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_drawn_again_from_its_seed(name):
    frame, declared = shape(name, np.random.default_rng(3))
    again, _ = shape(name, np.random.default_rng(3))
    assert frame.equals(again)
    assert {"a", "b"} <= set(frame["policy"])
    assert frame[outcome(frame)].is_between(0, 1).all()
    assert set(declared.values()) <= set(frame.columns)


@pytest.mark.parametrize("name", [name for name in SHAPES if name not in SHAKY])
def test_a_shape_has_the_roles_it_was_laid_out_for(name):
    for seed in range(3):
        frame, _ = shape(name, np.random.default_rng(seed))
        assert list(found_roles(frame).values()) == meant(name)


@pytest.mark.parametrize("name", [name for name, layout in SHAPES.items() if "these" in layout.targets])
def test_gains_of_these_units_cancel_exactly(name):
    for seed in range(3):
        rows, chances = drawn(name, np.random.default_rng(seed), "these")
        assert abs(chances.gain()) < 1e-12
        assert all(0 <= chances.of(row) <= 1 for row in rows)
    first, second = chances.chance[:2]
    assert max(abs(first[cell] - second[cell]) for cell in chances.both) > 0.05


@pytest.mark.parametrize("name", SMALL)
def test_gains_of_units_like_these_have_mean_zero(name):
    gains = [drawn(name, np.random.default_rng(seed), "like")[1].gain() for seed in range(60)]
    assert abs(np.mean(gains)) <= 4.5 * np.std(gains) / math.sqrt(60)
    assert np.std(gains) > 0.005 or SHAPES[name].unit is None


@pytest.mark.parametrize("name", ["20x5", "2 robots x 10 x 5", "scores 4x20", "runs 5x30 declared"])
def test_the_other_null_is_another_table(name):
    like, these = (shape(name, np.random.default_rng(4), null)[0] for null in ("like", "these"))
    assert like.drop(outcome(like)).equals(these.drop(outcome(these)))
    assert not like.equals(these)


@pytest.mark.parametrize("name", SMALL)
def test_renaming_keeps_every_row_and_says_the_new_names(name):
    frame, _ = shape(name, np.random.default_rng(5))
    other, names = renamed(frame, np.random.default_rng(6))
    assert set(names) == set(frame.columns) - {"policy", outcome(frame)}
    assert not set(names.values()) & set(frame.columns)
    added = [column for column in other.columns if column not in {*names.values(), "policy", outcome(frame)}]
    assert sorted(other[column].n_unique() for column in added) == [1, frame.height]
    back = other.drop(added).rename({new: old for old, new in names.items()}).select(frame.columns)
    assert back.sort(frame.columns).equals(frame.sort(frame.columns))
    assert other["policy"].to_list() != frame["policy"].to_list()


@pytest.mark.parametrize("name", SMALL)
def test_roles_by_shape_do_not_change_under_renaming(name):
    frame, _ = shape(name, np.random.default_rng(7))
    wanted = found_roles(frame, names=False)
    for seed in range(3):
        other, names = renamed(frame, np.random.default_rng(seed))
        found = found_roles(other)
        assert {old: found.pop(new) for old, new in names.items()} == wanted
        assert list(found.values()) == ["nothing", "nothing"]


@pytest.mark.parametrize("name", SMALL)
def test_where_a_name_decides_the_design_says_it(name):
    frame, _ = shape(name, np.random.default_rng(8))
    if found_roles(frame) != found_roles(frame, names=False):
        assert BY_NAME.intersection(note.kind for note in sf.read(frame).design.said)
