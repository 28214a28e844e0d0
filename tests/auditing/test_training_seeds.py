"""A column called seed that is a training's is suspected, and never taken for one unasked."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import surefoot as sf
from surefoot.auditing.outcome_checks import TrainingSeed, training_seed_suspected
from surefoot.core.notes import Note


def rows(seeds: int, scenes: int, **more: Any) -> list[dict[str, Any]]:
    return [
        {"policy": policy, "Seed": seed, "scene": scene, "success": 1, **more}
        for policy in ("new", "old")
        for seed in range(seeds)
        for scene in range(scenes)
    ]


def suspected(found: list[dict[str, Any]], **columns: str) -> TrainingSeed | None:
    return training_seed_suspected(sf.read(pl.DataFrame(found), columns=columns))


def test_few_seeds_that_each_meet_many_environments() -> None:
    found = suspected(rows(3, 25))
    assert found == TrainingSeed("Seed", 3, 25)
    assert found.note == Note("training seed", {"column": "Seed", "seeds": 3, "environments": 25})
    assert "say columns={\"run\": 'Seed'}" in str(found)


@pytest.mark.parametrize(("seeds", "scenes"), [(1, 50), (11, 50), (50, 1), (5, 3), (10, 12)])
def test_many_seeds_or_few_environments_are_environments(seeds: int, scenes: int) -> None:
    assert suspected(rows(seeds, scenes)) is None


def test_without_conditions_the_order_or_the_rows_tell() -> None:
    plain = [{key: value for key, value in row.items() if key != "scene"} for row in rows(3, 25)]
    assert suspected(plain) == TrainingSeed("Seed", 3, 25)
    numbered = [{**row, "episode": place % 25} for place, row in enumerate(plain)]
    assert suspected(numbered) == TrainingSeed("Seed", 3, 25)


def test_one_that_is_declared_is_not_suspected() -> None:
    assert suspected(rows(3, 25), run="Seed") is None
    assert suspected([{**row, "run": "r1"} for row in rows(3, 25)]) is None


def test_the_audit_says_it() -> None:
    found = sf.audit(sf.read(pl.DataFrame(rows(3, 25)))).about("perhaps a training seed")
    assert len(found) == 1
    assert not found[0].serious
    assert sf.audit(sf.read(pl.DataFrame(rows(25, 3)))).about("perhaps a training seed") == ()


def test_one_score_for_each_policy_may_be_a_mean() -> None:
    means = pl.DataFrame({"policy": ["a", "b"], "score": [0.71, 0.65]})
    assert [one.serious for one in sf.audit(sf.read(means)).about("perhaps totals")] == [True]
    tasks = pl.DataFrame({"policy": ["a", "a", "b"], "task": ["x", "y", "x"], "score": [0.71, 0.65, 0.2]})
    assert sf.audit(sf.read(tasks)).about("perhaps totals")
    for fine in (
        means.with_columns(episode=pl.Series([1, 2])),
        pl.concat([means, means]),
        pl.DataFrame({"policy": ["a", "b"], "score": [1.0, 0.0]}),
    ):
        assert not sf.audit(sf.read(fine)).about("perhaps totals")
