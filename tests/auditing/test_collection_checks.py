"""Tests of `surefoot.auditing.collection_checks`."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import surefoot as sf
from tests.support.audits import clean, found, simpson


def test_rows_that_differ_in_a_column_not_read_are_no_copies(tmp_path: Path) -> None:
    rows = [f"new,{place % 6},1,thing {place}" for place in range(12)]
    (tmp_path / "f.csv").write_text("policy,seed,success,object\n" + "\n".join(rows) + "\n")
    assert "duplicated rows" not in {found.about for found in sf.audit(sf.read(tmp_path / "f.csv")).findings}
    (tmp_path / "g.csv").write_text("policy,seed,success,object\n" + "\n".join(rows * 2) + "\n")
    assert "duplicated rows" in {found.about for found in sf.audit(sf.read(tmp_path / "g.csv")).findings}


def test_incomplete_pairs() -> None:
    rows = [row for row in clean() if not (row["policy"] == "old" and row["seed"] < 3)]
    assert (
        found(rows)["incomplete pairs"]
        == "Of 40 environments (seed and task), 37 were met by every policy and 3 by some only."
    )


def test_policies_in_blocks_of_time() -> None:
    rows = sorted(clean(), key=lambda row: row["policy"])
    rows = [{**row, "order": place} for place, row in enumerate(rows)]
    assert found(rows)["run in blocks"].startswith("By `order`, the policy changes once in 80 rollouts")
    by_clock = [{**row, "started_at": f"2026-01-01T{row['order']:05d}"} for row in rows]
    assert "By `started_at`" in found(by_clock)["run in blocks"]


def test_a_number_that_restarts_is_no_order() -> None:
    rows: list[dict[str, Any]] = [
        {"policy": policy, "task": task, "order": place, "success": (place + len(task)) % 3 > 0}
        for policy in ("act", "dp", "pi0")
        for task in ("cut", "pour", "wipe")
        for place in range(12)
    ]
    assert "run in blocks" not in found(rows)
    assert "run in blocks" in found([{**row, "order": place} for place, row in enumerate(rows)])


def test_tasks_in_blocks() -> None:
    rows = sorted(clean(), key=lambda row: row["task"])
    assert "tasks run in blocks" in found([{**row, "order": place} for place, row in enumerate(rows)])


def test_duplicated_rows() -> None:
    rows = clean()
    says = found([*rows, rows[3], rows[7]])
    assert says["duplicated rows"] == "Rows that repeat another row in every column: 2."


def test_a_table_without_keys_has_no_duplicates() -> None:
    assert "duplicated rows" not in found([{"policy": "a", "success": 1}] * 9)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("session", ("monday", "tuesday")),
        ("duration", (10, 11, 12)),
        ("reward", (0.0, 1.0)),
        ("started_at", ("2026-01-01", "2026-01-02")),
        ("condition", ("left", "middle", "right")),
        ("seed", (0, 1, 2, 3, 4)),
    ],
)
def test_rollouts_alike_by_chance_are_no_copies(column: str, values: tuple[object, ...]) -> None:
    outcomes = (1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1)
    rows = [
        {"policy": policy, column: values[place % len(values)], "success": outcomes[place % len(outcomes)]}
        for policy in ("new", "old")
        for place in range(30)
    ]
    rows = [{**row, "success": int(row["reward"])} for row in rows] if column == "reward" else rows
    assert "duplicated rows" not in found(rows)


@pytest.mark.parametrize("column", ["order", "started_at", "condition", "seed", "zz"])
def test_rollouts_logged_twice_are_copies(column: str) -> None:
    rows = [{"policy": "new", column: 7 * place, "success": place % 3 > 0} for place in range(30)]
    rows = [{**row, "started_at": f"2026-01-01 10:00:{place}"} for place, row in enumerate(rows)]
    assert found(rows * 2)["duplicated rows"] == "Rows that repeat another row in every column: 30."


def test_a_whole_table_logged_twice_is_found_where_conditions_come_back() -> None:
    chance = random.Random(3)
    rows = [
        {"policy": policy, "condition": f"c{place % 5}", "success": chance.random() < 0.6}
        for policy in ("new", "old")
        for place in range(50)
    ]
    assert "duplicated rows" not in found(rows)
    assert "duplicated rows" in found(rows * 2)


def test_unequal_task_mixes_and_simpson() -> None:
    says = found(simpson())
    assert "'hard' is 90% of 'new' and 10% of 'old'" in says["unequal mixes"]
    assert says["Simpson's paradox"] == "'new' against 'old': pooled -0.350, but +0.117 on average within 'task'."


def test_what_was_drawn_at_random_is_not_called_unequal() -> None:
    chance = random.Random(4)
    rows = [{**row, "light": chance.choice(["dim", "bright"])} for row in clean()]
    assert "unequal mixes" not in found(rows)
    chosen = [{**row, "light": "dim" if row["order"] % 7 < 2 + 4 * (row["policy"] == "new") else "lit"} for row in rows]
    assert "'light' was met in unequal shares" in found(chosen)["unequal mixes"]


def test_a_clock_with_few_levels_is_not_looked_at_against_itself() -> None:
    rows = [{"policy": p, "started_at": f"2026-01-0{n % 3 + 1}", "success": n % 2} for p in "ab" for n in range(30)]
    assert "tasks run in blocks" not in found(rows)


@pytest.mark.parametrize("column", ["seed", "zz"])
def test_copies_are_found_where_a_column_of_any_name_numbers_the_rows(column: str) -> None:
    rows = [{"policy": p, column: n, "success": (n + len(p)) % 3 > 0} for p in ("new", "older") for n in range(20)]
    assert "duplicated rows" not in found(rows)
    assert found(rows + rows[3:6])["duplicated rows"] == "Rows that repeat another row in every column: 3."


def test_tasks_met_by_many_are_no_copies_of_each_other() -> None:
    for tasks in (4, 20):
        rows = [{"policy": p, "zz": f"t{n % tasks}", "success": 1} for p in ("new", "old") for n in range(80)]
        assert "duplicated rows" not in found(rows)
