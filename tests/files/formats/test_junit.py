"""JUnit XML: `pytest.xml` by pytest 9, `promptfoo.xml` by promptfoo 0.121, `retries.xml` to Maven Surefire's schema."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot as sf
from tests.support.samples import FIXTURES, put

FOLDER = FIXTURES / "junit"


def test_totals_are_the_suites_own() -> None:
    rollouts = sf.read(FOLDER / "pytest.xml")
    assert len(rollouts) == 9
    assert (rollouts.tally().successes, rollouts.tally().trials) == (4, 7)
    assert rollouts.findings == ()
    assert any("2 skipped tests" in str(note) for note in rollouts.notes)
    failures = dict(zip(rollouts.column("condition"), rollouts.column("failure"), strict=True))
    assert failures["test_agent::test_needs_server"] == 'failed on setup with "RuntimeError: no server <at all>"'
    assert failures["test_agent::test_answers[0]"] is None


def test_suites_are_tasks() -> None:
    rollouts = sf.read(FOLDER / "promptfoo.xml")
    assert len(rollouts.names("task")) == 4
    assert rollouts.findings == ()
    assert (rollouts.tally().successes, rollouts.tally().trials) == (8, 12)


def test_retries_are_repeats_and_said() -> None:
    rollouts = sf.read(FOLDER / "retries.xml")
    assert rollouts.names("repeat") == ("1", "2", "3")
    assert [finding.about for finding in rollouts.findings] == ["retries"]
    assert not rollouts.findings[0].serious
    assert (rollouts.tally().successes, rollouts.tally().trials) == (2, 6)
    first = sf.read(FOLDER / "retries.xml", where={"repeat": "1"})
    assert (first.tally().successes, first.tally().trials) == (1, 3)


def test_two_runs_of_the_same_tests_pair(tmp_path: Path) -> None:
    other = put(
        tmp_path, "other.xml", (FOLDER / "pytest.xml").read_text().replace("test_answers[5]", "test_answers[9]")
    )
    table = sf.read([FOLDER / "pytest.xml", other], policy=["new", "old"])
    assert table.pairs("new", "old").matched == 8


def test_a_suites_total_that_disagrees_is_found(tmp_path: Path) -> None:
    text = (FOLDER / "pytest.xml").read_text().replace('failures="2"', 'failures="3"')
    found = sf.read(put(tmp_path, "a.xml", text)).findings
    assert [finding.about for finding in found] == ["own totals disagree"]


BOMB = """<?xml version="1.0"?>
<!DOCTYPE testsuite [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<testsuite><testcase name="&b;"/></testsuite>"""
OTHER_FILE = (
    """<!DOCTYPE testsuite [<!ENTITY x SYSTEM "file:///etc/passwd">]><testsuite><testcase name="&x;"/></testsuite>"""
)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (BOMB, "must not declare a document type"),
        (OTHER_FILE, "must not declare a document type"),
        ("<testsuite><testcase name='a'></testsuite>", "must be complete XML; mismatched tag at line 1"),
        ("<testsuite>&undefined;<testcase name='a'/></testsuite>", "undefined entity"),
        ("<testsuite><testcase/></testsuite>", "a testcase must have a name"),
        ("<testsuite/>", "must hold testcases"),
        ("<testsuite>" + "<p>" * 300, "must not be nested this deeply"),
        ("<testsuite><testcase name='a'><testcase name='b'/></testcase></testsuite>", "must not hold another"),
    ],
)
def test_refusals(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(sf.DataError, match=says):
        sf.read(put(tmp_path, "a.xml", text))


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    name = "&lt;script&gt;alert(1)&lt;/script&gt;"
    rollouts = sf.read(put(tmp_path, "a.xml", f"<testsuite><testcase name='{name}'/></testsuite>"))
    assert rollouts.names("condition") == ("<script>alert(1)</script>",)
