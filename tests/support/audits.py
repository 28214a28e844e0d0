"""What several tests of audits share."""

from __future__ import annotations

import random
from typing import Any

import polars as pl

import surefoot as sf
from surefoot.auditing.audits import Audit


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


def simpson() -> list[dict[str, Any]]:
    table = {("new", "easy"): (9, 10), ("new", "hard"): (30, 90), ("old", "easy"): (72, 90), ("old", "hard"): (2, 10)}
    return [
        {"policy": policy, "task": task, "success": place < successes}
        for (policy, task), (successes, trials) in table.items()
        for place in range(trials)
    ]
