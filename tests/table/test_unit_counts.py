"""Tables on other engines: the same answers, from counts that come home, with rows that do not (P1)."""

from __future__ import annotations

import random
from typing import Any

import narwhals as nw
import polars as pl
import pytest

import surefoot as sf
from surefoot.table import unit_counts
from tests.table.test_engines import _dask, _duckdb

UNITS = 1_200


def laid_out(
    *,
    measure: str = "success",
    units: int = UNITS,
    policies: int = 2,
    repeats: int = 1,
    paired: bool = True,
    numbers: bool = True,
    seed: int = 3,
    **more: int,
) -> pl.DataFrame:
    """A table drawn at random; `more` has the levels of clusters (nested in units), settings (crossing), and voids."""
    rng = random.Random(seed)
    rows = []
    for place in range(policies):
        for unit in range(units):
            for setting in range(more.get("settings", 1)):
                for _ in range(rng.randint(1, repeats)):
                    chance = 0.5 + 0.1 * place + 0.2 * (unit % 5 == 0)
                    score = rng.random() < chance if measure == "success" else rng.randrange(5) / 4
                    row: dict[str, Any] = {"policy": f"p{place}", measure: score}
                    row |= {"scene": unit if numbers else f"scene {unit * 7}"} if paired else {}
                    row |= {"user": f"user {unit % more['clusters']}"} if "clusters" in more else {}
                    row |= {"robot": f"robot {setting}"} if "settings" in more else {}
                    row |= {"task": f"task {unit % more['tasks']}"} if "tasks" in more else {}
                    row |= {"valid": rng.random() > 0.02} if "voids" in more else {}
                    rows.append(row)
    rng.shuffle(rows)
    return pl.DataFrame(rows)


LAYOUTS: dict[str, tuple[dict[str, Any], int]] = {
    "paired": ({}, 60),
    "paired, three policies": ({"policies": 3}, 80),
    "unpaired": ({"paired": False}, 60),
    "tasks": ({"tasks": 4}, 120),
    "tasks, unpaired": ({"tasks": 4, "paired": False}, 80),
    "clusters": ({"clusters": 40}, 400),
    "settings": ({"settings": 2}, 200),
    "settings and clusters": ({"settings": 2, "clusters": 25}, 1000),
    "repeats": ({"repeats": 3, "units": 1_200}, 300),
    "words for units": ({"numbers": False}, 60),
    "void rows": ({"voids": 1}, 120),
    "scores": ({"measure": "score"}, 120),
    "scores, unpaired": ({"measure": "score", "paired": False}, 80),
    "scores, tasks": ({"measure": "score", "tasks": 3}, 240),
    "scores, clusters": ({"measure": "score", "clusters": 30}, 1200),
}


@pytest.fixture
def home(monkeypatch):
    """How many rows each query brought home from another engine."""
    counted: list[int] = []
    collect = nw.LazyFrame.collect

    def counting(self: Any, *args: Any, **more: Any) -> Any:
        found = collect(self, *args, **more)
        if not self.implementation.is_polars():
            counted.append(len(found))
        return found

    monkeypatch.setattr(nw.LazyFrame, "collect", counting)
    return counted


def answers(data: Any) -> dict[str, Any]:
    table = sf.read(data)
    found = {
        "compare": sf.compare(table, "p0", "p1"),
        "these": None,
        "rank": sf.rank(table),
        "measure": sf.measure(table),
        "best": sf.best(table),
        "design": sf.design(table),
    }
    return {name: str(one) for name, one in found.items()}


@pytest.mark.sample(2)
@pytest.mark.parametrize(("layout", "most"), LAYOUTS.values(), ids=LAYOUTS)
def test_the_same_answers_from_few_rows(layout: dict[str, Any], most: int, home: list[int]) -> None:
    frame = laid_out(**layout)
    theirs = answers(_duckdb(frame))
    assert sum(home) <= most
    assert theirs == answers(frame)


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["paired", "settings and clusters", "scores, tasks", "void rows"])
def test_dask_brings_home_as_few(layout: str, home: list[int]) -> None:
    fields, most = LAYOUTS[layout]
    frame = laid_out(**fields)
    theirs = answers(_dask(frame))
    assert sum(home) <= most
    assert theirs == answers(frame)


def test_what_cannot_be_gathered_is_still_answered(home: list[int]) -> None:
    """Several scores in one unit, two columns of thousands of levels: the rows of the unit are needed."""
    frame = laid_out(measure="score", repeats=2, units=1_100)
    assert answers(_duckdb(frame)) == answers(frame)
    two = laid_out(units=1_100).with_columns(other=pl.col("scene") * 3 + 1)
    assert answers(_duckdb(two)) == answers(two)


def test_a_table_at_hand_is_itself() -> None:
    table = sf.read(laid_out(units=1_100))
    assert unit_counts.gathered(table) is table


def test_a_narrowed_table_is_narrowed_here(home: list[int]) -> None:
    table = sf.read(_duckdb(laid_out()))
    one = sf.success_rate(table.where(policy="p0"))
    assert str(one) == str(sf.success_rate(sf.read(laid_out()).where(policy="p0")))
    assert sum(home) <= 60


@pytest.mark.parametrize("layout", [{}, {"measure": "score", "tasks": 3}, {"paired": False, "tasks": 3}])
def test_a_report_brings_home_no_rows(layout: dict[str, Any], home: list[int]) -> None:
    made = sf.report(sf.read(_duckdb(laid_out(units=3_000, **layout))))
    assert "p0" in made.html()
    assert sum(home) < 1_000
