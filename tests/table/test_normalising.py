"""What recurs is an item, whatever its column is called; and what is only perhaps one is said."""

from __future__ import annotations

import polars as pl
import pytest

import surefoot as sf
from surefoot.core.notes import Note


def table(column: str, times: int = 3, items: int = 20) -> pl.DataFrame:
    rows = [
        (policy, f"i{item}", (item + k) % 2) for policy in ("new", "old") for item in range(items) for k in range(times)
    ]
    return pl.DataFrame(rows, schema=["policy", column, "success"], orient="row")


@pytest.mark.parametrize("column", ["id", "ID", "problem", "question", "sample", "item", "prompt"])
def test_a_column_of_items_that_recur_makes_clusters(column: str) -> None:
    compared = sf.compare(sf.read(table(column)), "new", "old")
    assert compared.structure is not None
    assert compared.structure.groups == 20


def test_an_id_of_each_row_is_no_item() -> None:
    rollouts = sf.read(table("id", times=1).with_columns(pl.int_range(40).alias("id")))
    assert "condition" not in rollouts.columns


def test_a_column_that_every_policy_met_alike_is_told_and_not_taken() -> None:
    rollouts = sf.read(table("ref"))
    assert "condition" not in rollouts.columns
    assert Note("recurring column", {"column": "ref", "values": 20, "times": 3}) in rollouts.notes


def test_few_kinds_and_uneven_ones_are_not_taken_for_items() -> None:
    for frame in (table("kind", items=4), table("ref")[:-1]):
        assert not any(isinstance(note, Note) and note.kind == "recurring column" for note in sf.read(frame).notes)
