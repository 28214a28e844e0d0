"""Tests of `surefoot.table.findings`."""

from __future__ import annotations

import json

from surefoot.table.findings import Finding
from tests.support.audits import audited, simpson


def test_every_finding_says_what_it_threatens_and_what_to_do() -> None:
    rows = [*simpson(), {"policy": "New", "task": "easy", "success": None}]
    audit = audited(rows)
    assert audit.serious
    for finding in audit.findings:
        assert all(text.endswith(".") for text in (finding.says, finding.threatens, finding.remedy))
        assert str(finding) in str(audit)
    assert [finding.serious for finding in audit.findings] == sorted((f.serious for f in audit.findings), reverse=True)


def test_what_a_finding_tells_is_a_value_besides_its_sentences() -> None:
    rows = [*simpson(), {"policy": "New", "task": "easy", "success": None}, {"policy": "new", "task": "easy"}]
    found = {finding.about: finding for finding in audited(rows).findings}
    assert found["missing values"].values == {"column": "success", "missing": {"New": 1, "new": 1}}
    assert found["names alike"].values == {"names": ("New", "new"), "column": "policy"}
    turned = found["Simpson's paradox"].values
    assert turned["pooled"] * turned["within"] < 0.0
    for finding in found.values():
        assert Finding.from_dict(json.loads(json.dumps(finding.to_dict()))) == finding
        assert len({finding, Finding.from_dict(finding.to_dict())}) == 1


def test_a_finding_of_an_earlier_version_has_its_sentences_only() -> None:
    old = {
        "type": "Finding",
        "schema": 1,
        "about": "voided",
        "says": "A.",
        "threatens": "B.",
        "remedy": "C.",
        "serious": True,
    }
    assert Finding.from_dict(old) == Finding("voided", "A.", "B.", "C.")
