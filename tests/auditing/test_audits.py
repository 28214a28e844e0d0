"""What the data cannot support is found, and what is right is left in peace."""

from __future__ import annotations

import random
from typing import Any

import polars as pl
import pytest

import surefoot as sf
from surefoot.auditing.audits import Audit
from surefoot.table.structure import structure


def found(rows: list[dict[str, Any]], **options: Any) -> dict[str, str]:
    """What the audit says, by kind."""
    return {finding.about: finding.says for finding in audited(rows, **options).findings}


def audited(rows: list[dict[str, Any]], **options: Any) -> Audit:
    return sf.audit(sf.read(pl.DataFrame(rows, infer_schema_length=None), **options))


def clean(size: int = 40) -> list[dict[str, Any]]:
    """Two policies in the same environments, in mixed order, tasks in equal shares."""
    chance = random.Random(5)
    rows: list[dict[str, Any]] = []
    for seed in range(size):
        task = chance.choice(["cut", "pour"])
        for policy in chance.sample(["new", "old"], 2):
            success = chance.random() < 0.6
            score = 1.0 if success else chance.randrange(8) / 8
            known = {"policy": policy, "task": task, "seed": seed, "success": success, "score": score}
            rows.append({**known, "order": len(rows)})
    return rows


def test_clean_data_are_left_in_peace() -> None:
    audit = audited(clean())
    assert audit.findings == ()
    assert audit.collected == "shared"
    assert str(audit).startswith("80 rollouts: no findings.\nCollected as the same environments")


def test_incomplete_pairs() -> None:
    rows = [row for row in clean() if not (row["policy"] == "old" and row["seed"] < 3)]
    assert (
        found(rows)["incomplete pairs"]
        == "Of 40 environments (task and seed), 37 were met by every policy and 3 by some only."
    )


def test_policies_in_blocks_of_time() -> None:
    rows = sorted(clean(), key=lambda row: row["policy"])
    rows = [{**row, "order": place} for place, row in enumerate(rows)]
    assert found(rows)["policies run in blocks"].startswith("By `order`, the policy changes once in 80 rollouts")
    by_clock = [{**row, "started_at": f"2026-01-01T{row['order']:05d}"} for row in rows]
    assert "By `started_at`" in found(by_clock)["policies run in blocks"]


def test_a_number_that_restarts_is_no_order() -> None:
    rows: list[dict[str, Any]] = [
        {"policy": policy, "task": task, "order": place, "success": (place + len(task)) % 3 > 0}
        for policy in ("act", "dp", "pi0")
        for task in ("cut", "pour", "wipe")
        for place in range(12)
    ]
    assert "policies run in blocks" not in found(rows)
    assert "policies run in blocks" in found([{**row, "order": place} for place, row in enumerate(rows)])


def test_tasks_in_blocks() -> None:
    rows = sorted(clean(), key=lambda row: row["task"])
    assert "tasks run in blocks" in found([{**row, "order": place} for place, row in enumerate(rows)])


def test_repeated_seeds() -> None:
    rows = clean()
    rows.append({**rows[0], "order": 99, "success": not rows[0]["success"], "score": 0.5})
    assert "duplicated rows" not in found(rows)
    made = structure(sf.read(pl.DataFrame(rows)), "success")
    assert made.recurring == 1  # it is allowed for, so it is no finding
    assert made.clusters == ("task", "seed")


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


@pytest.mark.parametrize("column", ["order", "started_at", "condition", "seed"])
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


def test_score_outside_its_range() -> None:
    rows = [*clean(), {"policy": "new", "task": "cut", "seed": 99, "score": 7.0, "order": 99}]
    assert found(rows)["a score outside its range"] == "Scores run from 0 to 7; the stated range is [0, 1]."
    assert "a score outside its range" not in found(rows, high=10)


def test_success_contradicts_score() -> None:
    rows = clean()
    rows[0] |= {"success": True, "score": 0.0}
    rows[1] |= {"success": False, "score": 1.0}
    rows[2] |= {"success": False, "score": 1.0}
    says = found(rows)["success contradicts score"]
    assert says == "Successes with the least score: 1; failures with the greatest: 2."


def simpson() -> list[dict[str, Any]]:
    table = {("new", "easy"): (9, 10), ("new", "hard"): (30, 90), ("old", "easy"): (72, 90), ("old", "hard"): (2, 10)}
    return [
        {"policy": policy, "task": task, "success": place < successes}
        for (policy, task), (successes, trials) in table.items()
        for place in range(trials)
    ]


def test_unequal_task_mixes_and_simpson() -> None:
    says = found(simpson())
    assert "'hard' is 90% of 'new' and 10% of 'old'" in says["unequal task mixes"]
    assert says["Simpson's paradox"] == "'new' against 'old': pooled -0.350, but +0.117 on average within tasks."


def test_too_few_clusters() -> None:
    few = [{**row, "cluster": row["seed"] % 4} for row in clean()]
    assert (
        found(few)["few clusters"] == "Clustered by cluster: 4 of 'new', worth 4.0 of one size, 3.0 degrees of freedom."
    )
    assert "few clusters" not in found([{**row, "cluster": row["seed"] // 2} for row in clean()])


def test_clusters_are_judged_by_their_sizes() -> None:
    """Version 0.1.0 counted clusters: twenty were enough, whatever their sizes."""
    rows = [
        {"policy": "a", "user": user, "success": 1} for user, size in enumerate([100, *[5] * 19]) for _ in range(size)
    ]
    (finding,) = sf.audit(sf.read(pl.DataFrame(rows))).about("few clusters")
    assert finding.serious
    assert finding.says == (
        "Clustered by user: 20 of 'a', worth 3.6 of one size, 3.5 degrees of freedom. "
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
    assert "void rollouts" in found(rows)


def test_different_datasets_and_judges() -> None:
    rows = [
        {**row, "dataset": f"v{1 + (row['policy'] == 'new')}", "judge": row["policy"], "human": 1} for row in clean()
    ]
    says = found(rows)
    assert says["different datasets"] == "'new' was measured with 'v2', 'old' with 'v1'."
    assert "different judges" in says
    same = [{**row, "dataset": "v1"} for row in clean()]
    assert "different datasets" not in found(same)


def test_names_alike() -> None:
    rows = [{"policy": name, "success": 1} for name in ("LBM finetuned", "LBM Finetuned", "other")]
    assert "'LBM Finetuned', 'LBM finetuned' differ" in found(rows)["names alike"]


@pytest.mark.parametrize(
    ("rows", "collected"),
    [
        ([{"policy": p, "seed": 1, "success": 1} for p in "aaabbb"], "one"),
        ([{"policy": p, "seed": s, "success": 1} for p in "ab" for s in range(5)], "shared"),
        ([{"policy": p, "seed": s, "success": 1} for s, p in enumerate("abababab")], "independent"),
        ([{"policy": p, "task": "xy"[s % 2], "seed": s, "success": 1} for s, p in enumerate("abababab")], "stratified"),
        ([{"policy": p, "success": 1} for p in "abab"], "independent"),
        ([{"policy": p, "task": t, "success": 1} for p in "ab" for t in "xy"], "stratified"),
    ],
)
def test_how_it_was_collected_is_inferred(rows: list[dict[str, Any]], collected: str) -> None:
    assert audited(rows).collected == collected
    declared = audited(rows, collected="independent")
    assert (declared.collected, declared.why) == ("independent", "Declared.")


def test_every_finding_says_what_it_threatens_and_what_to_do() -> None:
    rows = [*simpson(), {"policy": "New", "task": "easy", "success": None}]
    audit = audited(rows)
    assert audit.serious
    for finding in audit.findings:
        assert all(text.endswith(".") for text in (finding.says, finding.threatens, finding.remedy))
        assert str(finding) in str(audit)
    assert [finding.serious for finding in audit.findings] == sorted((f.serious for f in audit.findings), reverse=True)


def test_an_audit_survives_json() -> None:
    audit = audited(simpson())
    assert Audit.from_dict(audit.to_dict()) == audit


@pytest.mark.parametrize(("rows", "paired"), [(1, True), (2, False)])
def test_tasks_that_were_each_met_once_are_pairs(rows, paired):
    """A session of RoboArena has its own instruction: its task is no reason to forget which session it was."""
    frame = [
        {"policy": policy, "task": f"t{n}", "condition": f"s{n}", "success": n % 2}
        for policy in "ab"
        for n in range(6)
        for _ in range(rows)
    ]
    made = structure(sf.read(pl.DataFrame(frame)), "success", ("a", "b"))
    assert made.paired is paired
    assert made.unpaired == (None if paired else "one environment")
