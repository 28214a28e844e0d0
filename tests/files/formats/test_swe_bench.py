"""SWE-bench reports, written by hand to the schema of `swebench/harness/reporting.py`, version 2, and the older one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import surefoot as sf
from tests.support.samples import FIXTURES, put

FOLDER = FIXTURES / "swe_bench"


def report(**changed: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((FOLDER / "acme__small.run1.json").read_text())
    return document | changed


def read(folder: Path, document: Any) -> sf.Rollouts:
    return sf.read(put(folder, "model.run.json", json.dumps(document)))


def test_totals_are_the_reports_own() -> None:
    rollouts = sf.read(FOLDER / "acme__small.run1.json")
    own = report()
    assert (rollouts.tally().successes, rollouts.tally().trials) == (own["resolved_instances"], 8)
    assert rollouts.policies == ("acme__small.run1",)
    assert rollouts.findings == ()
    assert rollouts.column("failure").count("empty patch") == own["empty_patch_instances"]
    assert rollouts.column("failure").count("error") == own["error_instances"]
    assert any("2 instances were not submitted" in str(note) for note in rollouts.notes)


def test_the_older_report() -> None:
    rollouts = sf.read(FOLDER / "leaderboard.json")
    assert (rollouts.tally().successes, rollouts.tally().trials) == (3, 8)


def test_two_systems_pair_on_the_instance(tmp_path: Path) -> None:
    other = report(resolved_ids=["django__django-11019"], unresolved_ids=["django__django-11001"], error_ids=[])
    other |= {"resolved_instances": 1, "unresolved_instances": 1, "error_instances": 0}
    path = put(tmp_path, "other.run1.json", json.dumps(other))
    table = sf.read([FOLDER / "acme__small.run1.json", path])
    assert table.pairs(*table.policies).matched == 3


def test_a_failure_of_the_infrastructure_is_no_outcome(tmp_path: Path) -> None:
    rollouts = read(tmp_path, report(infra_failure_ids=["django__django-11099"]))
    assert (rollouts.tally().successes, rollouts.tally().trials) == (3, 7)
    assert any("1 instances were hit by a failure" in str(note) for note in rollouts.notes)


def test_instances_by_themselves(tmp_path: Path) -> None:
    rollouts = read(tmp_path, {"a-1": {"resolved": True}, "a-2": {"resolved": False, "patch_exists": True}})
    assert (rollouts.tally().successes, rollouts.tally().trials) == (1, 2)


def test_a_total_that_disagrees_is_found(tmp_path: Path) -> None:
    found = read(tmp_path, report(resolved_instances=4)).findings
    assert [finding.about for finding in found] == ["own totals disagree"]


@pytest.mark.parametrize(
    ("document", "says"),
    [
        (report(unresolved_ids=["django__django-11001"]), "'django__django-11001' is listed as both"),
        (report(resolved_ids=["a-1", "a-1"]), "must name an instance once; got 'a-1' twice"),
        (report(error_ids=[3]), "`error_ids` must be a list of instances"),
        ({"resolved": ["a-1"], "no_logs": [], "no_generation": []}, "must list the instances that were tried"),
        ({"resolved_ids": [], "submitted_ids": []}, "must hold instances that were submitted"),
    ],
)
def test_refusals(tmp_path: Path, document: Any, says: str) -> None:
    with pytest.raises(sf.DataError, match=says):
        read(tmp_path, document)
