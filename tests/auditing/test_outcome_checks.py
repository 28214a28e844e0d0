"""Tests of `surefoot.auditing.outcome_checks`."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import surefoot as sf
from tests.support.audits import audited, clean, found


def test_score_outside_its_range() -> None:
    rows = [*clean(), {"policy": "new", "task": "cut", "seed": 99, "score": 7.0, "order": 99}]
    assert found(rows)["a score outside its range"] == "Scores run from 0 to 7; the stated range is [0, 1]."
    assert "a score outside its range" not in found(rows, high=10)
    remedy = next(one.remedy for one in sf.audit(sf.read(pl.DataFrame(rows))).findings if "range" in one.about)
    assert remedy == "State the range that the scoring allows, low= and high=; do not take it from the scores."


def test_success_contradicts_score() -> None:
    rows = clean()
    rows[0] |= {"success": True, "score": 0.0}
    rows[1] |= {"success": False, "score": 1.0}
    rows[2] |= {"success": False, "score": 1.0}
    says = found(rows)["success contradicts score"]
    assert says == "Successes with the least score: 1; failures with the greatest: 2."


def test_too_few_clusters() -> None:
    few = sf.read(pl.DataFrame([{**row, "cluster": row["seed"] % 4} for row in clean()])).declare(cluster="cluster")
    (finding,) = sf.audit(few).about("few clusters")
    assert finding.says == "'new' has 4 clusters (cluster), equivalent to 4.0 of equal size: 3.0 degrees of freedom."
    assert "few clusters" not in found([{**row, "cluster": f"c{row['seed'] // 2}"} for row in clean()])


def test_clusters_are_judged_by_their_sizes() -> None:
    """Version 0.1.0 counted clusters: twenty were enough, whatever their sizes."""
    rows = [
        {"policy": "a", "user": user, "success": 1} for user, size in enumerate([100, *[5] * 19]) for _ in range(size)
    ]
    (finding,) = sf.audit(sf.read(pl.DataFrame(rows)).declare(cluster="user")).about("few clusters")
    assert finding.serious
    assert finding.says == (
        "'a' has 20 clusters (user), equivalent to 3.6 of equal size: 3.5 degrees of freedom. "
        "One user holds 51% of the rollouts."
    )


def test_judged_without_calibration() -> None:
    judged = [{**row, "judge": "model-x"} for row in clean()]
    assert "no rollouts carry a human label" in found(judged)["judged without calibration"]
    some = [{**row, "human": 1 if row["order"] < 5 else None} for row in judged]
    assert "5 rollouts carry a human label" in found(some)["judged without calibration"]
    assert "judged without calibration" not in found([{**row, "human": 1} for row in judged])


def test_missing_values_give_both_extremes() -> None:
    rows: list[dict[str, Any]] = [{"policy": "new", "success": value} for value in [1] * 6 + [0] * 2 + [None] * 2]
    (finding,) = audited(rows).about("missing values")
    assert finding.says.startswith("No success is known for 2 of 10 of 'new'")
    assert "as failures gives 60.0%, all as successes 80.0%" in finding.threatens


def test_success_in_one_file_and_score_in_another_is_not_missing() -> None:
    rows = [{"policy": "new", "success": 1, "score": None}, {"policy": "old", "success": None, "score": 0.5}]
    assert "missing values" not in found(rows)


def test_void_rollouts() -> None:
    rows = [{**row, "valid": row["order"] != 7} for row in clean()]
    assert "voided" in found(rows)


def test_different_datasets_and_judges() -> None:
    rows = [
        {**row, "dataset": f"v{1 + (row['policy'] == 'new')}", "judge": row["policy"], "human": 1} for row in clean()
    ]
    says = found(rows)
    assert says["different datasets"] == "'new' was measured with 'v2', 'old' with 'v1'."
    assert "different judges" in says
    same = [{**row, "dataset": "v1"} for row in clean()]
    assert "different datasets" not in found(same)


@pytest.mark.parametrize(("column", "levels"), [("robot", {"new": "r1", "old": "r2"}), ("dataset", {})])
def test_what_only_one_policy_met_cannot_be_told_from_it(column: str, levels: dict[str, str]) -> None:
    rows = [{**row, column: levels.get(row["policy"], "all")} for row in clean()]
    told = audited(rows).about("one policy a level")
    assert [one.values for one in told] == ([{"column": column, "levels": 2}] if levels else [])
    assert not any(one.serious for one in told)


def test_items_of_each_policy_alone_are_told_and_what_is_declared_is_not() -> None:
    rows = [{"policy": p, "item": f"{p}{n}", "success": n % 2} for p in ("new", "old") for n in range(30)] * 3
    (told,) = audited(rows).about("one policy a level")
    assert told.values == {"column": "item", "levels": 60}
    said = sf.read(pl.DataFrame(rows)).declare(run="item")
    assert sf.audit(said).about("one policy a level") == ()


def test_one_score_for_each_policy_may_be_a_mean() -> None:
    means = pl.DataFrame({"policy": ["a", "b"], "score": [0.71, 0.65]})
    assert [one.serious for one in sf.audit(sf.read(means)).about("perhaps totals")] == [True]
    tasks = pl.DataFrame({"policy": ["a", "a", "b", "b"], "task": ["x", "y"] * 2, "score": [0.71, 0.65, 0.2, 0.3]})
    assert sf.audit(sf.read(tasks)).about("perhaps totals")
    for fine in (
        means.with_columns(episode=pl.Series([1, 2])),
        means.with_columns(zq=pl.Series([0, 1])),  # what counts tells, not what it is called
        pl.concat([means, means]),
        pl.DataFrame({"policy": ["a", "b"], "score": [1.0, 0.0]}),
    ):
        assert not sf.audit(sf.read(fine)).about("perhaps totals")
