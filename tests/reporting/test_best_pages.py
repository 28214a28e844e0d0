"""The best of several policies on a page and in a figure."""

from __future__ import annotations

import pytest

import surefoot as sf
from surefoot.reporting import best_pages
from tests.analysis.test_best import counted


def test_a_picture_and_a_table_of_the_best():
    found = sf.best(counted({"ckpt-1": 9, "ckpt-2": 40, "ckpt-3": 38}))
    assert found.to_frame()["may_be_the_best"].to_list() == [True, True, False]
    assert found.plot().get_xlabel() == "steps"
    assert "<svg" in found._repr_html_()
    assert "for all rows together" in sf.best(counted({"x": 9, "y": 40})).plot().get_xlabel()


def test_a_page_of_three_policies_tells_who_may_be_the_best():
    table = counted({"ckpt-1": 9, "ckpt-2": 40, "ckpt-3": 38})
    report, found = sf.report(table), sf.best(table)
    assert report.overview.best == found
    page = report.html()
    assert "Which is the best, and how good is it" in page
    assert all(line.replace("`", "") in page for line in found.lines())
    assert sf.report(counted({"x": 9, "y": 40})).overview.best is None


@pytest.mark.parametrize("names", [("ckpt-1", "ckpt-2", "ckpt-3"), ("x", "y", "z")])
def test_the_section_marks_who_may_be_the_best(names):
    found = sf.best(counted(dict(zip(names, (9, 40, 38), strict=True))))
    shown = best_pages.best_section(found, None)
    marked = {row[0]: row[-2] for row in shown["table"]["rows"]}
    assert marked == {names[0]: "no", names[1]: "yes", names[2]: "yes"}
    assert found.pick in shown["lines"][0]
    assert "95% for all rows together" in best_pages.caption(found)
