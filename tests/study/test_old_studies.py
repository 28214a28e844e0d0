"""Studies of earlier versions open, verify and give the same verdicts for ever (tests/fixtures/v0_1_0/README.md)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import surefoot as sf
from surefoot.study.deviations import deviations

OLD = Path(__file__).parents[1] / "fixtures" / "v0_1_0"
NAMES = sorted(path.stem for path in OLD.glob("*.db"))


@pytest.fixture(params=NAMES)
def old(request, tmp_path):
    """The name of an old study, what it must amount to, and a copy of its file that may be written."""
    name = request.param
    shutil.copy(OLD / f"{name}.db", tmp_path / "study.db")
    return name, json.loads((OLD / f"{name}.known.json").read_text()), tmp_path / "study.db"


def amounts_to(study):
    fold = study.fold
    turns = [fold.turns[number] for number in sorted(fold.turns)]
    return {
        "verdict": study.verdict.value,
        "finished": study.finished,
        "blinded": fold.blinded,
        "exploratory": fold.exploratory,
        "recorded": len(fold.results),
        "counted": fold.count,
        "voided": len(fold.voids),
        "deviations": len(deviations(fold)),
        "policies": [turn.policy for turn in turns],
        "codes": [turn.code for turn in turns],
        "contexts": [[turn.task, turn.condition] for turn in turns],
    }


def test_every_kind_of_study_is_kept():
    assert NAMES == ["begun", "exact", "first-better", "paired", "ranking", "running", "scores", "undone"]


def test_an_old_file_opens_and_amounts_to_the_same(old):
    _, known, path = old
    study = sf.Study.open(path)
    assert amounts_to(study) == {name: known[name] for name in amounts_to(study)}
    found = sf.verify(path)
    assert found.sound, found.faults
    assert (found.head, found.lines, found.fingerprint) == (known["head"], known["lines"], known["fingerprint"])


def test_an_old_export_restores_to_the_same(old, tmp_path):
    name, known, _ = old
    if known["blinded"]:
        assert not (OLD / f"{name}.jsonl").exists()
        return
    study = sf.Study.restore((OLD / f"{name}.jsonl").read_text(encoding="utf-8"), tmp_path / "restored.db")
    assert amounts_to(study) == {name: known[name] for name in amounts_to(study)}
    assert sf.verify(study.store).head == known["head"]


def test_an_old_plan_is_the_same_plan(old):
    name, known, path = old
    plan = sf.Plan.from_toml((OLD / f"{name}.toml").read_text(encoding="utf-8"))
    assert plan.fingerprint == known["fingerprint"]
    assert plan == sf.Study.open(path).fold.declared


def test_a_new_report_says_what_the_old_one_said(old):
    name, known, path = old
    if not known["recorded"]:
        return
    then = json.loads((OLD / f"{name}.report.json").read_text(encoding="utf-8"))["study"]
    now = json.loads(json.dumps(sf.report(sf.Study.open(path)).data()))["study"]
    for field in ("fingerprint", "head", "decision", "recorded", "blocks", "blinded", "exploratory"):
        assert now[field] == then[field]
    if then["finding"] is not None:
        assert now["finding"]["verdict"] == then["finding"]["verdict"]
        p_values = [one["finding"]["p_value"] for one in (now, then)]
        error = 1.0 - sf.Study.open(path).plan.confidence
        # A later version may order outcomes otherwise; what the p-value says of the verdict stays.
        assert len({one is not None and one <= error for one in p_values}) == 1


def test_an_old_study_goes_on_where_it_was(tmp_path):
    shutil.copy(OLD / "running.db", tmp_path / "study.db")
    study = sf.Study.open(tmp_path / "study.db")
    while (turn := study.next_turn(holder="arm 1")) is not None:
        study.record(turn, turn.policy == "new")
    assert study.verdict is sf.Verdict.BETTER
    assert sf.verify(study.store).sound
