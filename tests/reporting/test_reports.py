"""The page: its answer, its honesty, its safety."""

from __future__ import annotations

import json
import re
import zlib
from pathlib import Path

import polars as pl
import pytest

import surefoot as sf
from surefoot.analysis.overview import overview
from surefoot.cli.demo import example_rollouts
from surefoot.errors import StudyError
from surefoot.reporting import reports
from surefoot.reporting.answers import overview_answer
from tests.support.judge_corrections import judged
from tests.support.reports import rollouts as reports_rollouts
from tests.support.studies import begun


def test_the_page_says_how_to_make_it_again_only_where_that_is_known(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text(f"policy,success\n{name},1\n{name},0\n")
    one = sf.read(tmp_path / "a.csv")
    assert sf.report(one, confidence=0.9).command == "surefoot report a.csv --confidence 0.9 -o report.html"
    both = sf.read([tmp_path / "a.csv", tmp_path / "b.csv"])  # 'a.csv, b.csv' is no file
    assert sf.report(both).command == "surefoot.report(rollouts).save('report.html')"


def test_a_policy_or_a_task_without_outcomes_stops_no_report():
    ended = {"a": [1] * 18 + [0] * 2, "b": [1] * 6 + [0] * 14, "void": [1] * 20}
    rows = [(name, "xyz"[i % 3], k, name != "void") for name, of in ended.items() for i, k in enumerate(of)]
    rows = [(name, task, None if (name, task) == ("b", "z") else k, counts) for name, task, k, counts in rows]
    rollouts = sf.read(pl.DataFrame(rows, schema=["policy", "task", "success", "valid"], orient="row"))
    found = overview(rollouts)
    assert [one.policy for one in found.policies] == ["a", "b", "void"]
    assert found.policies[-1].success is None
    assert [(one.first, one.second) for one in found.comparisons] == [("a", "b")]
    assert [one.task for one in found.tasks] == ["x", "y"]
    assert sf.rank(rollouts).names == ("a", "b")
    assert "No success is known for void: left out of every comparison." in sf.report(rollouts).html()
    third = [*rows, *(("c", "xyz"[i % 3], i % 2, True) for i in range(20))]
    more = sf.read(pl.DataFrame(third, schema=["policy", "task", "success", "valid"], orient="row"))
    assert "void" not in overview_answer(overview(more))[0]
    assert "void" in sf.report(more).html()
    alone = rollouts.where(policy=["a", "void"])
    assert overview(alone).comparisons == ()
    assert "a" in sf.report(alone).html()
    with pytest.raises(ValueError, match="at least two policies with a success to rank; got a"):
        sf.rank(alone)


def test_the_report_shows_both_rates_and_says_what_is_not_corrected():
    frame = pl.concat([judged(), judged(20, 2, 3, 25, 60, 140, policy="old"), judged(0, 0, 0, 0, 5, 95, policy="raw")])
    table = sf.read(frame)
    made = sf.report(table)
    page, text = made.html(), made.markdown()
    for shown in (page, text, str(made)):
        assert "Corrected for the judge" in shown
    for shown in (page, text):
        assert "Gains, verdicts, ranks and letters are corrected item by item" in shown
        assert "no column tells the items apart" in shown
        assert "Without human labels, so not corrected: raw." in shown
        assert "calibrated prediction-powered" in shown
    assert "58.6%" in text  # the judge's own, 164 of 280
    assert len(json.loads(json.dumps(made.data()))["overview"]["corrections"]) == 2
    assert "judged without calibration" not in {one.about for one in overview(table).audit.findings}


def test_a_report_before_the_first_result_is_refused():
    with pytest.raises(StudyError, match="Nothing was recorded yet"):
        sf.report(begun(blinded=False))


def test_very_many_scores_are_left_out_of_the_data(monkeypatch):
    monkeypatch.setattr("surefoot.reporting.reports.KEPT", 5)
    data = sf.report(reports_rollouts(size=4, scores=True)).data()
    band = data["overview"]["bands"][0]
    assert (band["points"], band["uppers"]) == ([], [])
    assert (band["scores"]["values"], band["scores"]["count"]) == ([], 8)


pytestmark = pytest.mark.end_to_end


def test_a_report_is_printed_with_all_its_pages(tmp_path: Path, chromium) -> None:
    path = sf.report(example_rollouts()).save(tmp_path / "report.pdf")
    content = path.read_bytes()
    assert content.startswith(b"%PDF-")
    assert len(re.findall(rb"/Type\s*/Page\b", content)) >= 2
    assert b"/Type3" not in content
    text = b"".join(_streams(content))
    assert len(text) > 5_000


def _streams(content: bytes) -> list[bytes]:
    found = []
    for stream in re.findall(rb"stream\r?\n(.*?)endstream", content, re.DOTALL):
        try:
            found.append(zlib.decompress(stream))
        except zlib.error:
            continue
    return found


def test_no_browser_is_said_with_the_cure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(reports.shutil, "which", lambda name: None)
    target = tmp_path / "report.pdf"
    target.write_bytes(b"earlier")
    with pytest.raises(ValueError, match=r"none is here: install Chromium or Chrome, or write \.html"):
        sf.report(example_rollouts()).save(target)
    assert target.read_bytes() == b"earlier"


def test_a_browser_that_cannot_print_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports.shutil, "which", lambda name: "/bin/true")
    with pytest.raises(ValueError, match="true must be able to print; it wrote nothing"):
        reports.pdf("<p>x</p>")


def test_a_browser_that_takes_too_long_and_one_that_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    def prints(asked: list[str], **_: object) -> None:
        target = next(word for word in asked if word.startswith("--print-to-pdf="))
        Path(target.removeprefix("--print-to-pdf=")).write_bytes(b"%PDF-1.7")

    def sleeps(asked: list[str], timeout: float, **_: object) -> None:
        raise reports.subprocess.TimeoutExpired(asked, timeout)

    monkeypatch.setattr(reports.shutil, "which", lambda name: "/bin/true")
    monkeypatch.setattr(reports.subprocess, "run", prints)
    assert reports.pdf("<p>x</p>") == b"%PDF-1.7"
    monkeypatch.setattr(reports.subprocess, "run", sleeps)
    with pytest.raises(ValueError, match=r"The browser must print within 120 seconds; it did not\."):
        reports.pdf("<p>x</p>")
