"""What recurs is an item, whatever its column is called; and what is only perhaps one is said."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import surefoot as sf
from surefoot.table.normalising import Asked, from_polars
from tests.support.samples import put


def table(column: str, times: int = 3, items: int = 20) -> pl.DataFrame:
    rows = [
        (policy, f"i{item}", (item + k) % 2) for policy in ("new", "old") for item in range(items) for k in range(times)
    ]
    return pl.DataFrame(rows, schema=["policy", column, "success"], orient="row")


@pytest.mark.parametrize("column", ["id", "ID", "problem", "question", "sample", "item", "prompt"])
def test_a_column_of_items_that_recur_makes_clusters(column: str) -> None:
    reading = sf.compare(sf.read(table(column)), "new", "old").reading
    assert reading is not None
    assert (reading.design.unit, reading.units, reading.groups, reading.repeats) == (column, 20, 20, 3)


def test_an_id_of_each_row_is_no_item() -> None:
    rollouts = sf.read(table("id", times=1).with_columns(pl.int_range(40).alias("id")))
    assert "condition" not in rollouts.columns


def test_a_column_of_any_name_that_every_policy_met_alike_is_the_unit_and_nothing_is_noted() -> None:
    rollouts = sf.read(table("ref"))
    assert rollouts.columns == ("policy", "success", "ref")
    assert rollouts.design.unit == "ref"
    assert rollouts.notes == ()


def test_columns_that_were_not_read_are_kept_as_labels() -> None:
    frame = table("kind", items=4).with_columns(pl.Series("Weight (kg)", [0.5, 1.0, None] * 8))
    rollouts = sf.read(frame)
    assert rollouts.columns == ("policy", "success", "kind", "Weight (kg)")
    assert rollouts.notes == ()
    for one in (frame, frame.lazy(), frame.to_pandas(), frame.to_arrow()):
        assert sf.read(one).polars()["Weight (kg)"].to_list()[:3] == ["0.5", "1", None]


def test_a_label_is_read_alike_whatever_its_column_is_called() -> None:
    cells = {"text": [" a ", "", "b"], "whole": [1, 2, None], "broken": [1.0, 2.5, None], "yes": [True, False, None]}
    for values in cells.values():
        frame = pl.DataFrame({"policy": ["x"] * 3, "success": [1, 0, 1], "task": values, "own": values})
        for one in (frame, frame.lazy(), frame.to_pandas()):
            read = sf.read(one).polars()
            assert read["own"].to_list() == read["task"].to_list()


def test_a_named_outcome_decides_how_a_table_is_read(tmp_path: Path) -> None:
    path = put(tmp_path, "x.csv", "octo,pi0\n1,0\n0,1\n")
    assert sf.read(path).policies == ("octo", "pi0")
    assert sf.read(path, columns={"success": "pi0"}, policy="pi0").tally() == sf.Tally(1, 2)


def test_a_guessed_column_that_cannot_be_read_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("policy,Worked?,Completion,Trial\nnew,yes,most,1a\nnew,no,half,2\n")
    found = sf.read(tmp_path / "f.csv", columns={"success": "Worked?"})
    assert found.columns == ("policy", "success", "Completion", "Trial")  # as labels, not as score and order
    assert found.polars()["Completion"].to_list() == ["most", "half"]
    refused = "f.csv, row 1: `score` (column 'Completion') must be a finite number; got 'most'."
    assert f"'Completion' is left out: {refused}" in found.notes
    assert any(note.startswith("'Trial' is left out: ") for note in found.notes)
    asked = {"success": "Worked?", "score": "Completion"}
    with pytest.raises(sf.DataError, match=r"`score` \(column 'Completion'\) must be a finite number; got 'most'"):
        sf.read(tmp_path / "f.csv", columns=asked)
    with pytest.raises(sf.DataError, match=r"`score` .* must be a finite number"):  # the only outcome there is
        sf.read(tmp_path / "f.csv")
    assert sf.read(tmp_path / "f.csv", columns={"success": "Worked?", "score": "", "order": ""}).notes == ()


def test_one_row_twice_and_ids_that_are_missing_make_no_items() -> None:
    unique = table("id", times=1)
    for frame in (
        pl.concat([unique, unique[:1]]),
        unique.with_columns(pl.when(pl.int_range(40) > 2).then("id").alias("id")),
    ):
        assert "condition" not in sf.read(frame).columns


def test_what_recurs_in_one_of_two_files_is_no_unit_of_both(tmp_path) -> None:
    (tmp_path / "new.csv").write_text("policy,id,success\n" + "".join(f"new,{n // 2},1\n" for n in range(12)))
    (tmp_path / "old.csv").write_text("policy,id,success\n" + "".join(f"old,{n},0\n" for n in range(12)))
    rollouts = sf.read([tmp_path / "new.csv", tmp_path / "old.csv"])
    assert rollouts.design.roles["id"] == "watched"


def lazily(frame: pl.DataFrame) -> pl.LazyFrame:
    return from_polars(frame.lazy(), Asked(), source="", hold=False).frame.to_native()


def test_columns_that_are_tidy_are_not_parsed_again_for_every_question() -> None:
    tidy = pl.DataFrame(
        {"policy": ["a", "b"] * 2, "task": ["x", None] * 2, "score": [0.5, None] * 2, "success": [1, 0] * 2}
    )
    untidy = tidy.with_columns(policy=pl.Series(["a", "b ", "a", "b"]), task=pl.Series(["x", " ", "x", ""]))
    one, other = lazily(tidy), lazily(untidy)
    assert ["python_udf" in table.explain() for table in (one, other)] == [False, True]
    assert "is_finite" not in one.explain()
    assert one.collect().equals(other.collect())


def test_an_untidy_score_among_tidy_ones_is_refused_and_an_empty_one_is_none() -> None:
    frame = pl.DataFrame({"policy": ["a", "b", "a"], "success": [1, 0, 1], "score": [0.5, None, 1.0]})
    assert lazily(frame).collect()["score"].to_list() == [0.5, None, 1.0]
    with pytest.raises(sf.DataError, match="finite"):
        from_polars(
            frame.select("policy", score=pl.Series([0.5, float("nan"), 1.0])).lazy(), Asked(), source="", hold=False
        )


@pytest.mark.parametrize("told", [{"rubric": ("passed",)}, {"stages": ("none", "all")}])
def test_a_score_made_of_other_cells_is_never_that_of_its_column(told) -> None:
    """The same numbers, but for the sign of 0, by which the fingerprint of a lazy frame differed."""
    frame = pl.DataFrame({"policy": ["a", "b"], "passed": [0, 0], "stage": ["none"] * 2, "score": [-0.0, -0.0]})
    held, lazy = (sf.read(one, **told) for one in (frame, frame.lazy()))
    assert held.hash == lazy.hash
