"""Frames as libraries make them, straight into answers: nullable, arrow and categorical columns, missing cells."""

from __future__ import annotations

import polars as pl
import pytest

import surefoot as sf

ROWS = {
    "model": ["a"] * 30 + ["b"] * 30,
    "item": [f"q{at}" for at in range(30)] * 2,
    "success": [int(at % 3 > 0) for at in range(30)] + [int(at % 4 > 1) for at in range(30)],
    "score": [at % 7 / 7 for at in range(60)],
}
LACKING = {**ROWS, "success": [None if at == 7 else value for at, value in enumerate(ROWS["success"])]}


def made(kind: str, rows: dict):
    """The rows as a frame of some kind."""
    if kind == "arrow":
        arrow = pytest.importorskip("pyarrow")
        return arrow.table({name: arrow.array(cells) for name, cells in rows.items()})
    if kind in ("polars", "lazy", "categorical"):
        frame = pl.DataFrame(rows)
        frame = frame.with_columns(pl.col("model", "item").cast(pl.Categorical)) if kind == "categorical" else frame
        return frame.lazy() if kind == "lazy" else frame
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows)
    if kind == "nullable":
        return frame.convert_dtypes().astype({"success": "boolean"})
    if kind == "pyarrow columns":
        pytest.importorskip("pyarrow")
        return frame.convert_dtypes(dtype_backend="pyarrow")
    if kind == "pandas categories":
        return frame.astype({"model": "category", "item": "category", "success": "category"})
    return frame


KINDS = ("polars", "lazy", "categorical", "arrow", "pandas", "nullable", "pyarrow columns", "pandas categories")


@pytest.mark.sample(2)
@pytest.mark.parametrize("rows", [ROWS, LACKING], ids=["whole", "lacking"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame_gives_the_same_answer(kind, rows):
    table = sf.read(pl.DataFrame(rows))
    frame = made(kind, rows)
    assert sf.compare(frame, "a", "b").interval == sf.compare(table, "a", "b").interval
    assert sf.success_rate(sf.read(frame).where(policy="a")) == sf.success_rate(table.where(policy="a"))
    assert sf.rank(frame).to_dict() == sf.rank(table).to_dict()


def test_what_is_no_frame_is_refused_as_before():
    for wrong in ("results.csv", [1, 2], {"a": [1]}, None):
        with pytest.raises(TypeError, match="`rollouts` must be a Rollouts"):
            sf.compare(wrong, "a", "b")


def test_a_frame_of_an_answer_loses_nothing():
    table = sf.read(pl.DataFrame({**ROWS, "light": ["dim", "bright"] * 30}))
    items = sf.items(table).to_frame()
    assert {"successes", "n", "disagreements_1", "disagreements_2", "flaky", "suspicious"} <= {*items.columns}
    assert items["n"].sum() == 60
    plan = sf.plan_next(sf.read(pl.DataFrame({**ROWS})), "a", "b", budget=40)
    assert plan.to_frame()["half_width"].to_list() == [one.half_width for one in plan.purchases]
    gate = sf.gate(table, [{"not_worse_by": 0.3}, {"rate_at_least": 0.1}], first="a")
    assert gate.to_frame().height == 2
    assert gate.to_frame()["ends"].to_list() == [one.ends for one in gate.found]
    found = sf.compare(table, "a", "b").to_frame()
    assert found["n"][0] == 30
