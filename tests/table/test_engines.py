"""The same table on every engine gives the same answers, computed where the data are."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import surefoot as sf


def rows() -> pl.DataFrame:
    chance = random.Random(11)
    table = []
    for turn in range(60):
        for policy in ("new", "old", "older"):
            success = None if turn % 13 == 4 else chance.random() < 0.6
            table.append(
                {
                    "policy": policy,
                    "task": f"task {turn % 3}",
                    "seed": float(turn),
                    "condition": turn / 4,
                    "order": turn,
                    "success": success,
                    "score": chance.randrange(9) / 8,
                    "cluster": f"user {turn % 7}",
                    "stage": ("none", "grasp", "place")[turn % 3],
                    "passed": turn % 5,
                    "valid": turn != 5,
                }
            )
    return pl.DataFrame(table)


def _pandas(frame: pl.DataFrame) -> Any:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    return frame.to_pandas()


def _duckdb(frame: pl.DataFrame) -> Any:
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    return duckdb.from_arrow(frame.to_arrow())


def _dask(frame: pl.DataFrame) -> Any:
    dataframe = pytest.importorskip("dask.dataframe")
    return dataframe.from_pandas(_pandas(frame), npartitions=3)


def _spark(frame: pl.DataFrame) -> Any:
    sql = pytest.importorskip("pyspark.sql")
    session = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    return session.createDataFrame(frame.to_dicts())


ENGINES: list[Any] = [
    pytest.param(lambda frame: frame.lazy(), id="polars lazy"),
    pytest.param(_pandas, id="pandas"),
    pytest.param(_duckdb, id="duckdb"),
    pytest.param(_dask, id="dask", marks=pytest.mark.slow),
    pytest.param(
        _spark,
        id="spark",
        marks=[pytest.mark.slow, pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning")],
    ),
]


def answers(data: Any) -> dict[str, Any]:
    """Everything a table can be asked."""
    table = sf.read(data)
    new = table.where(policy="new", task=["task 0", "task 1"])
    pairs = table.pairs("new", "old")
    return {
        "text": str(table),
        "notes": table.notes,
        "summary": table.summary(by=("policy", "task")),
        "clusters": table.summary(by=("policy", "cluster")),
        "all": table.summary(by=()),
        "tally": new.tally(),
        "scores": new.scores(),
        "outcomes": new.outcomes(),
        "labels": new.column("cluster"),
        "conditions": new.column("condition"),
        "pairs": (str(pairs), pairs.tally(), pairs.scores(), pairs.values()),
        "declared": table.pairs("old", "older", on=("task", "order")).tally(),
        "thinned": table.thin(3).summary(),
        "audit": sf.audit(table).to_dict(),
        "stages": sf.read(data, stages=("none", "grasp", "place")).summary(),
        "rubric": sf.read(data, rubric=4, columns={"score": "passed"}).where(policy="old").scores(),
    }


@pytest.mark.parametrize("engine", ENGINES)
def test_same_answers(engine: Callable[[pl.DataFrame], Any]) -> None:
    theirs = answers(engine(rows()))
    for question, answer in answers(rows()).items():
        assert theirs[question] == answer, question


@pytest.mark.parametrize("engine", ENGINES)
def test_same_refusals(engine: Callable[[pl.DataFrame], Any]) -> None:
    frame = engine(rows())
    with pytest.raises(sf.DataError, match=r"`success` \(column 'score'\) must be one of 1, true, success"):
        sf.read(frame, columns={"success": "score"})
    with pytest.raises(sf.DataError, match=r"`policy` must be one of 'new', 'old', 'older'; got 'x'"):
        sf.read(frame).where(policy="x")
    with pytest.raises(
        sf.DataError, match=r"`score` \(column 'passed'\) must be a whole number of sub-tasks passed, 0 to 3; got 4"
    ) as refused:
        sf.read(frame, rubric=3, columns={"score": "passed"})
    assert refused.value.source is None
    with pytest.raises(sf.DataError, match=r"`score` \(column 'task'\) must"):
        sf.read(frame, columns={"score": "task"})


def test_text_answers_on_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    table = sf.read(pandas.DataFrame({"policy": ["a", "a", "b"], "success": ["yes", None, "No"]}))
    assert [(group.successes, group.outcomes) for group in table.summary()] == [(1, 1), (0, 1)]
    with pytest.raises(sf.DataError, match=r"`success` must be one of .*; got 'maybe'"):
        sf.read(pandas.DataFrame({"policy": ["a", "a"], "success": ["yes", "maybe"]}))
    mixed = pandas.DataFrame({"policy": ["a", "a", "b"], "success": [True, "no", 1]})
    assert [(group.successes, group.outcomes) for group in sf.read(mixed).summary()] == [(1, 2), (1, 1)]


def test_a_relation_without_order_says_so() -> None:
    relation = _duckdb(rows().drop("order"))
    table = sf.read(relation)
    assert not table.ordered
    assert any("keeps no order of rows" in str(note) for note in table.notes)


@pytest.mark.end_to_end
def test_dask_in_short() -> None:
    """Dask plans slowly, so here only what every report asks; the rest is with the slow tests."""
    table, mine = sf.read(_dask(rows())), sf.read(rows())
    assert table.summary(by=("policy", "task")) == mine.summary(by=("policy", "task"))
    assert table.where(policy="new").scores() == mine.where(policy="new").scores()
    assert table.pairs("new", "old").tally() == mine.pairs("new", "old").tally()
