"""Tests of `surefoot.analysis.slice_tables`."""

from functools import partial

import numpy as np
import pytest

import surefoot as sf
from surefoot import Tally, stats
from surefoot.analysis.slice_tables import sides_of
from surefoot.analysis.targets import weakest
from surefoot.stats.strata import least_p
from tests.analysis.test_slices import grid, table


def test_results_are_left_out_and_said():
    rows, columns = grid()
    more = [(*row, ("none", "arm")[int(place) % 2]) for place, row in enumerate(rows)]
    data = table(more, [*columns, "failure_reason"])
    found = sf.slices(data, "new", "old")
    assert "failure_reason" not in found.columns
    assert any("failure_reason" in str(note) for note in found.notes)
    assert "failure_reason" in sf.slices(data, "new", "old", by="failure_reason").columns


def test_row_order_and_names_of_levels_and_columns_do_not_matter():
    rows, columns = grid()
    found = sf.slices(table(rows, columns), "new", "old")
    mixed = [rows[place] for place in np.random.default_rng(2).permutation(len(rows))]
    again = sf.slices(table(mixed, columns), "new", "old")
    assert [one.to_dict() for one in again.claimed] == [one.to_dict() for one in found.claimed]
    other = {"dim": "zz", "mid": "b", "bright": "a"}
    renamed = [(who, other[light], *rest) for who, light, *rest in rows]
    named = sf.slices(table(renamed, columns), "new", "old")
    assert sorted(one.worse for one in named.slices) == sorted(one.worse for one in found.slices)


def test_measured_numbers_are_cut_in_thirds():
    rng = np.random.default_rng(8)
    who = ["new"] * 90 + ["old"] * 90
    rows = [(name, round(float(rng.uniform(0.2, 0.9)), 4), bool(rng.random() < 0.7)) for name in who]
    found = sf.slices(table(rows, ["policy", "friction", "success"]), "new", "old")
    assert found.columns == ("friction",)
    assert len(found.slices) == 3
    assert sum(sum(one.rollouts) for one in found.slices) == 180


def test_what_partners_do_not_share_was_not_set_beforehand():
    rng = np.random.default_rng(9)
    rows = [
        (who, f"s{scene}", "ab"[scene % 2], "xy"[rng.integers(2)], bool(rng.random() < 0.7))
        for scene in range(60)
        for who in ("new", "old")
    ]
    data = table(rows, ["policy", "scene", "room", "grasp", "success"])
    found = sf.slices(data, "new", "old")
    assert found.columns == ("room",)
    assert any("grasp" in str(note) for note in found.notes)
    with pytest.raises(sf.DataError, match="partners share"):
        sf.slices(data, "new", "old", by="grasp")


def test_a_column_that_repeats_the_outcome_is_a_result():
    rows, columns = grid()
    data = table([(*row, ("no", "yes")[row[-1]]) for row in rows], [*columns, "done"])
    with pytest.raises(sf.DataError, match="a result of the rollout"):
        sf.slices(data, "new", "old", by="done")


def test_every_way_of_a_slice_must_say_it():
    """The pooled way shows a loss, the way within a column does not: the larger p-value counts."""
    pooled = partial(stats.exact_gain, Tally(10, 40), Tally(30, 40))
    within = partial(stats.exact_gain, Tally(5, 10), Tally(6, 10))
    alone, both = (sides_of(make, 0.05, 1.0) for make in (within, weakest([within, pooled])))
    assert sides_of(pooled, 0.05, 1.0).worse < 0.001
    assert both.worse == alone.worse > 0.2


def test_a_lower_bound_stands_for_a_p_value_until_it_is_asked_for():
    parts = {"a": (Tally(9, 20), Tally(14, 20)), "b": (Tally(12, 30), Tally(18, 30))}
    make = partial(stats.stratified_rate_gain, parts, weights={"a": 0.5, "b": 0.5})
    rough, exact = sides_of(make, 0.001, 0.001), sides_of(make, 0.001, 1.0)
    assert rough.worse <= exact.worse
    assert rough.worse == pytest.approx(least_p(parts, weights={"a": 0.5, "b": 0.5}, error=0.001) / 2)
    assert exact.worse == pytest.approx(make(confidence=0.999, margin=0.0).p_value / 2)
