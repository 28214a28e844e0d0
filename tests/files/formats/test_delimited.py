"""Tests of `surefoot.files.formats.delimited`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.core.notes import Note
from surefoot.files.stray_rows import are_units
from tests.support.formats import tallies
from tests.support.samples import FIXTURES, put


@pytest.mark.parametrize("name", ["rollouts.csv", "rollouts.tsv"])
def test_a_file_too_long_for_memory_is_read_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from surefoot.files.formats import delimited

    held = sf.read(FIXTURES / name)
    monkeypatch.setattr(delimited, "HELD_IN_MEMORY", 0)
    again = sf.read(FIXTURES / name)
    assert again.polars().equals(held.polars())
    assert again.summary() == held.summary()
    assert again.notes == held.notes


def test_a_bad_row_is_found_in_a_file_too_long_for_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from surefoot.files.formats import delimited, parquet

    monkeypatch.setattr(delimited, "HELD_IN_MEMORY", 0)
    monkeypatch.setattr(parquet, "HELD_IN_MEMORY", 0)
    path = put(tmp_path, "x.csv", "policy,success\na,1\na,0\na,x\n")
    with pytest.raises(sf.DataError, match=r"x.csv, row 3: `success` .* got 'x'"):
        sf.read(path)
    pl.DataFrame({"policy": ["a", "a"], "score": [1.0, float("nan")]}).write_parquet(tmp_path / "x.parquet")
    with pytest.raises(sf.DataError, match=r"x.parquet, row 2: `score` must be a finite number; got nan"):
        sf.read(tmp_path / "x.parquet")
    pl.DataFrame({"policy": ["a", "a"], "score": [1.0, None]}).write_parquet(tmp_path / "y.parquet")
    assert sf.read(tmp_path / "y.parquet").scores().values == (1.0,)


NAMES = st.text(st.characters(exclude_categories=("C", "Z"), codec="utf-8"), min_size=1, max_size=12).filter(
    lambda name: not are_units([name])  # without an outcome such a first row says in what the columns are measured
)
OUTCOMES = st.lists(st.tuples(NAMES, st.one_of(st.none(), st.booleans())), min_size=1, max_size=30)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(rows=OUTCOMES)
def test_a_csv_says_what_its_rows_say(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, Any]]) -> None:
    """Any names in any script; what comes back is what was written."""
    path = tmp_path_factory.mktemp("csv") / "rows.csv"
    pl.DataFrame(rows, schema={"policy": pl.String, "success": pl.Boolean}, orient="row").write_csv(path)
    if all(success is None for _, success in rows):
        with pytest.raises(sf.DataError, match="at least one rollout must have an outcome"):
            sf.read(path)
        return
    table = sf.read(path)
    assert set(table.policies) == {name for name, _ in rows}
    for group in table.summary():
        mine = [success for name, success in rows if name == group.key[0]]
        assert (group.rollouts, group.outcomes) == (len(mine), len(mine) - mine.count(None))
        assert group.successes == mine.count(True)


def test_blank_lines_are_said_and_rows_still_count_right(tmp_path: Path) -> None:
    rollouts = sf.read(put(tmp_path, "a.csv", b"policy,success\na,1\n\nb,0\n\n"))
    assert len(rollouts) == 2
    assert Note("blank rows", {"lines": (3, 5)}) in rollouts.notes
    with pytest.raises(sf.DataError, match=r"row 2, line 4: `success` must be"):
        sf.read(put(tmp_path, "b.csv", b"policy,success\na,1\n\nb,maybe\n"))
    with pytest.raises(sf.DataError, match=r"row 2: a row must have as many cells"):
        sf.read(put(tmp_path, "c.csv", b"policy,success\na,1\n\nb\n"))


def test_a_blank_line_in_a_single_column_is_a_missing_outcome(tmp_path: Path) -> None:
    rollouts = sf.read(put(tmp_path, "new.csv", b"success\n1\n\n0\n"))
    assert tallies(rollouts) == {("new",): (1, 2)}
    assert len(rollouts) == 3


def test_decimal_commas_where_semicolons_part_the_cells(tmp_path: Path) -> None:
    rollouts = sf.read(put(tmp_path, "a.csv", b"policy;task;score\nv0,5;1,5;0,75\nv0,5;1,5;1\nv0,5;2;0,25\n"))
    assert rollouts.where(policy="v0,5").scores().values == (0.75, 1.0, 0.25)
    assert rollouts.names("task") == ("1,5", "2")  # names stay as they are
    assert any("decimal commas" in note for note in rollouts.notes)
    with pytest.raises(sf.DataError, match=r"got '0,75'. Write a decimal point"):
        sf.read(put(tmp_path, "b.csv", b'policy,score\na,"0,75"\n'))


def test_tsv_guesses_and_says_so() -> None:
    rollouts = sf.read(FIXTURES / "rollouts.tsv")
    assert rollouts.where(policy="old").scores().values == (1.0,)
    assert rollouts.notes == ("score is guessed to be the column 'Progress'.",)
    assert rollouts.called("task") == "Task ID"


def test_semicolons_without_a_column_of_numbers(tmp_path: Path) -> None:
    rollouts = sf.read(put(tmp_path, "a.csv", "policy;note\na;yes\na;no\n"), columns={"success": "note"})
    assert tallies(rollouts) == {("a",): (1, 2)}
