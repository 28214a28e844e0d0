"""Tests of `surefoot.table.findings`."""

from __future__ import annotations

from tests.support.audits import audited, simpson


def test_every_finding_says_what_it_threatens_and_what_to_do() -> None:
    rows = [*simpson(), {"policy": "New", "task": "easy", "success": None}]
    audit = audited(rows)
    assert audit.serious
    for finding in audit.findings:
        assert all(text.endswith(".") for text in (finding.says, finding.threatens, finding.remedy))
        assert str(finding) in str(audit)
    assert [finding.serious for finding in audit.findings] == sorted((f.serious for f in audit.findings), reverse=True)
