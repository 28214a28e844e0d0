"""Tests of `surefoot.reporting.text_formats`."""

from __future__ import annotations

import json

import pytest

import surefoot as sf
from surefoot import Verdict
from surefoot.core import formatting
from tests.support.reports import rollouts
from tests.support.studies import begun, driven, outcomes

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


def test_latex_prints_less_than_in_every_font_encoding(full):
    cells = [line for line in full.latex().splitlines() if "& " in line]
    assert any(r"\textless{} 0.0001" in line for line in cells)
    assert not any("<" in line or ">" in line for line in cells)


def test_latex_of_a_study_has_letters_gains_and_methods():
    rates = {"act": 0.95, "dp": 0.6, "pi_0": 0.1}
    study = driven(begun(policies=tuple(rates), rule=None, horizon=40, blinded=False), outcomes(3, **rates))
    made = sf.report(study)
    ranking, text = made.study.finding.ranking, made.latex()
    for one in ranking.policies:
        row = next(line for line in text.splitlines() if line.startswith(f"{one.policy.replace('_', chr(92) + '_')} &"))
        assert row.endswith(rf"& {one.letters} \\")
    rows = [line for line in text.splitlines() if line.count("&") == 4]
    gains = [line for line in rows if "points" in line]
    assert len(gains) == sum(pair.gain is not None for pair in ranking.pairs)
    for pair, line in zip([pair for pair in ranking.pairs if pair.gain is not None], gains, strict=True):
        assert formatting.span(pair.gain.low, pair.gain.high, pair.gain.scale) in line
    said = made.methods()
    for part in ("closed", "at most 5%", str(made.study.counts), "random order"):
        assert part in said
    assert said.count(". ") <= 3
    assert said.replace("%", r"\%").replace("_", r"\_") in text
    assert said in made.html().replace("&#39;", "'")


def test_methods_of_a_table_name_the_rollouts_and_the_method():
    study = driven(begun(horizon=40, blinded=False, environments="shared"), outcomes(3, new=0.9, old=0.5))
    made = sf.report(study.rollouts())
    assert f"We ran {len(study.fold.results)} rollouts of" in made.methods()
    assert "5% of a false difference" in made.methods()
    assert r"\begin{tabular}" in made.latex()
