"""What the data cannot support is found, and what is right is left in peace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import surefoot as sf
from surefoot.auditing.audits import Audit
from tests.support.audits import audited, clean, found, simpson


def test_clean_data_are_left_in_peace() -> None:
    audit = audited(clean())
    assert audit.findings == ()
    assert audit.collected == "shared"
    assert str(audit).startswith("80 rollouts: no findings.\nThe policies met the same environments")


def test_names_alike() -> None:
    rows = [{"policy": name, "success": 1} for name in ("LBM finetuned", "LBM Finetuned", "other")]
    assert "'LBM Finetuned', 'LBM finetuned' differ" in found(rows)["names alike"]
    rows = [{"policy": one, "task": task, "success": 1} for one in "ab" for task in ("pick cup", "Pick  cup", "pour")]
    assert "'Pick  cup', 'pick cup' differ" in found(rows)["names alike"]


FEW = [(policy, task) for policy in "ab" for task in "xy"]


@pytest.mark.parametrize(
    ("rows", "collected"),
    [
        ([{"policy": p, "seed": 1, "success": 1} for p in "aaabbb"], "independent"),  # a constant says nothing
        ([{"policy": p, "seed": s, "success": 1} for p in "ab" for s in range(5)], "shared"),
        ([{"policy": p, "seed": s, "success": 1} for s, p in enumerate("abababab")], "independent"),
        ([{"policy": p, "task": t, "seed": s, "success": 1} for s, (p, t) in enumerate(FEW * 2)], "stratified"),
        ([{"policy": p, "success": 1} for p in "abab"], "independent"),
        ([{"policy": p, "task": t, "success": 1} for p, t in FEW], "shared"),
        ([{"policy": p, "task": t, "success": 1} for p, t in FEW * 5], "stratified"),
        ([{"policy": p, "task": t, "success": 1} for p in "ab" for t in range(100, 130)] * 2, "shared"),
    ],
)
def test_how_it_was_collected_is_inferred(rows: list[dict[str, Any]], collected: str) -> None:
    assert audited(rows).collected == collected
    declared = audited(rows, collected="independent")
    assert (declared.collected, str(declared.why)) == ("independent", "Declared.")


def test_an_audit_survives_json() -> None:
    audit = audited(simpson())
    assert Audit.from_dict(audit.to_dict()) == audit


def test_declared_collection() -> None:
    frame = pl.DataFrame({"policy": ["a"], "success": [1]})
    assert sf.audit(sf.read(frame, collected="one")).collected == "one"
    with pytest.raises(ValueError, match="`collected` must be one of one, shared, independent, stratified"):
        sf.read(frame, collected="some")  # type: ignore[arg-type]


def test_one_policy_by_default_is_a_finding_where_a_column_might_name_several(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("lamp,success\n" + "on,1\noff,0\n" * 4)
    (finding,) = sf.audit(sf.read(tmp_path / "mine.csv")).serious
    assert finding.says.endswith("count as one, 'mine'; the column 'lamp' has 2 different values.")
    assert "policy=lamp" in finding.remedy
    assert sf.audit(sf.read(tmp_path / "mine.csv", policy="mine")).serious == ()
    assert sf.read(tmp_path / "mine.csv", columns={"policy": "lamp"}).policies == ("off", "on")
