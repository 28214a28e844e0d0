"""Shape facts of label columns: by hand, and as the slow twin has them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from surefoot.table.column_shapes import EVEN
from tests.oracles import roles as twin
from tests.support.designs import crossed, labels_of, texts
from tests.support.shapes import SHAPES, shape

SMALL = [name for name, layout in SHAPES.items() if layout.units <= 30 and not layout.more]

tables = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 4), st.integers(0, 6), st.integers(0, 3)), min_size=4, max_size=60
).filter(lambda rows: len({row[0] for row in rows}) > 1)


def framed(rows: list[tuple[str, int, int, int]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["policy", "u", "v", "n"], orient="row").with_columns(success=pl.lit(1))


def test_evenness_by_hand() -> None:
    """Levels met 8 and 2 times by the one, 6 and 4 times by the other."""
    rows = [("a", "x")] * 8 + [("a", "y")] * 2 + [("b", "x")] * 6 + [("b", "y")] * 4
    labels = labels_of(pl.DataFrame(rows, schema=["policy", "u"], orient="row").with_columns(success=pl.lit(1)))
    distance = sum((own - total / 2) ** 2 / (total / 4) for own, total in ((8, 14), (2, 6)))
    assert labels.evenness("u") == pytest.approx(chi2.cdf(distance, 1))
    assert labels.inside("u", "u")
    assert labels.shared("u")


def test_levels_that_were_set_are_even_and_drawn_ones_are_not() -> None:
    frame = crossed(u=12, t=5)
    drawn = np.random.default_rng(1).choice(["dim", "lit"], frame.height)
    labels = labels_of(frame.with_columns(light=pl.Series(drawn)))
    assert labels.evenness("u") <= EVEN < labels.evenness("light")
    assert labels.alike_inside("t", "u")
    assert labels.even_inside("t", "u") <= EVEN
    assert not labels.alike_inside("light", "u")


def test_what_belongs_to_a_policy() -> None:
    frame = crossed(u=6).with_columns(own=pl.col("policy") + pl.col("u"), size=pl.col("policy"))
    labels = labels_of(frame)
    assert [labels.of_one_policy(name) for name in ("u", "own", "size")] == [False, True, True]
    assert [labels.constant_in_policy(name) for name in ("u", "own", "size")] == [False, False, True]
    assert [labels.shared(name) for name in ("u", "own", "size")] == [True, False, False]


def test_counting_by_hand() -> None:
    labels = labels_of(crossed(u=4, t=range(1, 6), k=[3, 7, 8]))
    assert labels.counting("t", ["u", "k"])
    assert not labels.counting("t", ["u"])  # every number three times
    assert not labels.counting("k", ["u", "t"])  # does not begin at 0 or 1
    assert not labels.counting("u", ["t", "k"])  # no numbers


def test_a_yes_or_no_does_not_count_cells_of_one_row() -> None:
    labels = labels_of(crossed(u=20).with_columns(hit=pl.Series([0, 1] * 20)))
    assert not labels.counting("hit", ["u"])


def test_rows_that_are_alike_count_as_often_as_they_are_there() -> None:
    frame = crossed(u=5, t=3).drop("t")
    kinds = frame.group_by("policy", "u").agg(pl.len().alias("times"), success=pl.lit(1)).sort("policy", "u")
    short = labels_of(kinds.drop("times"))
    short = type(short)(short.policy, short.policies, kinds["times"].to_numpy().astype(float), short.columns)
    assert short.evenness("u") == labels_of(frame).evenness("u")


@settings(max_examples=60, deadline=None)
@given(rows=tables)
def test_facts_are_those_of_the_twin(rows: list[tuple[str, int, int, int]]) -> None:
    frame = framed(rows)
    labels, cells = labels_of(frame), texts(frame)
    policies = frame["policy"].to_list()
    for name in cells:
        assert labels.evenness(name) == pytest.approx(twin.evenness(cells[name], policies), abs=1e-12)
        for other in cells:
            assert labels.inside(name, other) == twin.inside(cells[name], cells[other])
            if other != name:
                wanted = twin.evenness(cells[name], policies, cells[other])
                assert labels.even_inside(name, other) == pytest.approx(wanted, abs=1e-12)
                within = list(zip(policies, cells[other], strict=True))
                assert labels.counting(name, [other]) == twin.counts_in(cells[name], within)
                if len(set(cells[name])) > 1:
                    assert labels.alike_inside(name, other) == twin.alike(cells[name], cells[other], policies)


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", SMALL)
def test_facts_of_the_shapes_are_those_of_the_twin(name: str) -> None:
    frame, _ = shape(name, np.random.default_rng(2))
    labels, cells, policies = labels_of(frame), texts(frame), frame["policy"].to_list()
    for one in cells:
        assert labels.evenness(one) == pytest.approx(twin.evenness(cells[one], policies), abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(rows=tables, seed=st.integers(0, 99))
def test_facts_do_not_depend_on_the_order_of_rows(rows: list[tuple[str, int, int, int]], seed: int) -> None:
    frame = framed(rows)
    one, other = labels_of(frame), labels_of(frame.sample(fraction=1.0, shuffle=True, seed=seed))
    for name in one.columns:
        assert one.evenness(name) == pytest.approx(other.evenness(name), abs=1e-12)
        assert one.shared(name) == other.shared(name)
