"""Rows that hold no rollout: laws of `surefoot.files.stray_rows`; files with such rows are in test_human_mistakes."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.files import stray_rows
from surefoot.files.stray_rows import BLANK, HEADER, TOTAL, LeftOut
from tests.support.samples import put

HEAD = ("policy", "task", "success")
ROWS = st.tuples(st.sampled_from(["new", "old"]), st.sampled_from(["cup", "", "s"]), st.sampled_from(["1", "0", ""]))
STRAYS = st.sampled_from([("", "", ""), HEAD, ("Policy", "TASK", "success"), ("TOTAL", "", "3"), ("", "mean", "0.5")])


def told(header: tuple[str, ...], rows: list[tuple[str, ...]], by: str) -> LeftOut | str:
    try:
        if by == "rows":
            return stray_rows.of_rows(header, rows, "f", lambda place: place + 2)
        text = "\n".join(map(",".join, [header, *rows])) + "\n"
        frame = pl.read_csv(io.StringIO(text), infer_schema=False).lazy()
        filled = sum(any(row) for row in rows)
        return stray_rows.of_frame(frame, header, filled, "f", lambda place: place + 2)
    except sf.DataError as refused:
        return str(refused)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(ROWS, STRAYS), min_size=1, max_size=12))
def test_a_frame_and_rows_in_memory_tell_the_same(rows: list[tuple[str, ...]]) -> None:
    one, other = (told(HEAD, rows, by) for by in ("rows", "frame"))
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
        return
    assert (one.kinds, one.notes) == (other.kinds, other.notes)


@settings(max_examples=150, deadline=None)
@given(st.lists(ROWS, min_size=3, max_size=12), st.lists(st.tuples(st.integers(0, 12), STRAYS), max_size=3))
def test_every_row_is_kept_or_named_in_a_note(
    rows: list[tuple[str, ...]], put_in: list[tuple[int, tuple[str, ...]]]
) -> None:
    every: list[tuple[str, ...]] = [*rows]
    for place, row in put_in:
        every.insert(min(place, len(every)), row)
    found = told(HEAD, every, "rows")
    if isinstance(found, str):
        assert "line " in found
        return
    assert [row for place, row in enumerate(every) if place not in found.kinds] == rows
    assert sorted(line for note in found.notes for line in note.values["lines"]) == [
        place + 2 for place in sorted(found.kinds)
    ]


@given(st.sets(st.integers(0, 20)), st.sets(st.integers(0, 20)), st.integers(1, 10))
def test_a_row_that_is_left_stands_where_it_stood(blank: set[int], again: set[int], row: int) -> None:
    kinds = {**dict.fromkeys(again, HEADER), **dict.fromkeys(blank, BLANK)}
    places = [place for place in range(60) if place not in kinds]
    place = places[row - 1]
    left = LeftOut(kinds)
    assert left.where(row) == (place + 1 - sum(one < place for one in blank), place + 2)
    assert left.line_of_row(left.where(row)[0]) == place + 2


def test_a_table_of_totals_alone_is_kept() -> None:
    found = told(("task", "rate", "n"), [("total", "0.5", "10")], "rows")
    assert isinstance(found, LeftOut)
    assert found.kinds == {}


def test_long_files_are_looked_through_at_the_cost_of_a_column(tmp_path: Path) -> None:
    lines = [f"new,cut,{place % 2}" for place in range(200_000)]
    lines[150_000] = "policy,task,success"
    lines[-1] = "TOTAL,,100000"
    rollouts = sf.read(put(tmp_path, "long.csv", "policy,task,success\n" + "\n".join(lines) + "\n"))
    assert len(rollouts) == 199_998
    assert [str(note) for note in rollouts.notes] == [
        "Left out, the header once more: line 150,002.",
        "Left out, totals and no rollouts: line 200,001 ('TOTAL').",
    ]


@pytest.mark.parametrize(
    "word", ["total", "Mean", "GRAND TOTAL", "avg. success rate", "Sub-total", "Mean ± std", "sum:"]
)
def test_words_of_totals(word: str) -> None:
    found = told(("policy", "score"), [("a", "1"), ("b", "0"), (word, "0.5")], "rows")
    assert isinstance(found, LeftOut)
    assert found.kinds == {2: TOTAL}


@pytest.mark.parametrize(
    "word", ["mean-teacher", "total recall", "summer", "overall-best", "averaged", "meanflow", "std2"]
)
def test_names_that_only_begin_like_totals(word: str) -> None:
    for by in ("rows", "frame"):
        found = told(("policy", "score"), [("a", "1"), ("b", "0"), (word, "0.5")], by)
        assert isinstance(found, LeftOut)
        assert found.kinds == {}


def test_a_table_of_thousands_of_columns_is_read_whole(tmp_path: Path) -> None:
    """Each column as an expression of its own made 9,000 of them run for more than ten minutes."""
    items = ",".join(f"item-{at}" for at in range(3_000))
    cells = ",".join("01"[at % 2] for at in range(3_000))
    text = f"model,{items}\nalpha,{cells}\nmodel,{items}\nbeta,{cells}\n"
    rollouts = sf.read(put(tmp_path, "wide.csv", text))
    assert (len(rollouts), rollouts.policies) == (6_000, ("alpha", "beta"))
    assert "Left out, the header once more: line 3." in map(str, rollouts.notes)
