"""Tests of `surefoot.reporting.study_pages`."""

from __future__ import annotations

import json
import re

import pytest

import surefoot as sf
from surefoot.study.status import Account
from tests.studies import begun, driven, outcomes


def test_a_blinded_report_can_be_written(tmp_path):
    made = sf.report(driven(begun(), outcomes(1, new=0.9, old=0.5), 3))
    assert isinstance(made, sf.ProgressReport)
    for name in ("a.html", "a.md", "a.json"):
        assert made.save(tmp_path / name).stat().st_size > 100
    with pytest.raises(ValueError, match=r"\.html, \.md or \.json"):
        made.save(tmp_path / "a.tex")
    assert sf.ProgressReport.from_dict(json.loads(json.dumps(made.to_dict()))) == made
    assert "Continue." in str(made)


# --- the report of a study that is not blinded ---


@pytest.mark.parametrize(
    "changes",
    [
        {"rule": "exact", "horizon": 20, "tasks": ("mug", "towel")},
        {"rule": "mixture", "margin": 0.05},
        {"measure": "score", "levels": (0.0, 0.5, 1.0)},
        {"policies": ("new", "old", "none")},
        {"rule": "fixed", "horizon": 12},
    ],
    ids=["exact", "margin", "score", "ranking", "fixed"],
)
def test_the_declared_rule_speaks_first(changes, tmp_path):
    study = driven(begun(blinded=False, **changes), lambda turn: float(turn.policy == "new"))
    made = sf.report(study)
    assert isinstance(made, sf.Report)
    assert made.study.finding.verdict is study.verdict is sf.Verdict.BETTER
    assert str(made).startswith(("new is better than", "new is better"))
    assert made.overview.comparisons == ()
    assert made.overview.ranking is None
    page = made.html()
    assert page.index("new is better") < page.index("Where each policy stands")
    assert made.study.fingerprint in page
    assert len(re.findall(r'\bid="([^"]+)"', page)) == len(set(re.findall(r'\bid="([^"]+)"', page)))
    for name in ("a.html", "a.md", "a.tex", "a.json"):
        made.save(tmp_path / name)
    assert Account.from_dict(json.loads(json.dumps(made.study.to_dict()))) == made.study
    if len(study.plan.policies) == 2:
        assert made.study.finding.steps[-1].pairs == len(study.fold.counted)
        assert "sequence" in made.figures()


def test_a_study_that_goes_on_gives_no_verdict():
    study = driven(begun(blinded=False), lambda turn: turn.policy == "new", 4)
    assert str(sf.report(study)).startswith("Not decided yet")


def test_an_undecided_end_is_said_so():
    study = driven(begun(blinded=False, horizon=5, futility=0), lambda turn: True)
    assert study.status().decision == "stop: nothing more can be decided"
    assert str(sf.report(study)).startswith("Cannot tell whether new is better than old.")


def test_strings_of_the_study_are_escaped_on_its_pages():
    evil = '<script>alert("x")</script>'
    study = begun(title=evil, policies=(evil, "old"), void_reasons=(evil,))
    driven(study, lambda turn: turn.policy == evil, 4)
    study.void(1, reason=evil)
    assert "<script" not in sf.report(study).html()
    study.unblind(reason=evil)
    page = sf.report(study).html()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
