"""Tests of `surefoot.reporting.text_formats`."""

from __future__ import annotations

import json

import pytest

import surefoot as sf
from surefoot import Verdict
from tests.support.reports import rollouts

EVIL = '<script>alert("x")</script> & $\\alpha$ %_#{}~^'


@pytest.fixture(scope="module")
def full() -> sf.Report:
    return sf.report(rollouts(("a", "b", EVIL), (0.9, 0.5, 0.2), scores=True), title=EVIL)


def test_the_report_goes_to_every_format(full, tmp_path):
    for name in ("r.html", "r.md", "r.tex", "r.json"):
        assert full.save(tmp_path / name).stat().st_size > 100
    data = json.loads((tmp_path / "r.json").read_text())
    assert data["type"] == "Report"
    assert sf.Report.from_dict(data) == full
    with pytest.raises(ValueError, match=r"must end in \.html, \.pdf, \.md, \.tex or \.json"):
        full.save(tmp_path / "r.docx")


def test_the_table_of_a_paper_names_the_method_of_each_interval(full):
    assert (
        full.latex()
        .splitlines()[-1]
        .startswith(
            "% 95% confidence, ends rounded outward; "
            "success rate by Sidak-over-3 Clopper-Pearson; score by Sidak-over-3 Gaffke; surefoot, data sha256:"
        )
    )


def test_the_change_since_a_previous_run_is_in_every_format():
    now, before = rollouts(levels=(0.9, 0.5)), rollouts(("new",), (0.3,))
    made = sf.report(now, previous=before)
    change = made.overview.changes[0]
    assert (change.first, change.verdict) == ("new (now)", Verdict.BETTER)
    for text in (made.html(), made.markdown(), made.latex()):
        assert "change" in text
        assert "not run before" in text
    assert "new: better" in made.html()
