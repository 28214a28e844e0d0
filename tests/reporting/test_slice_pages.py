"""Tests of `surefoot.reporting.slice_pages`."""

import polars as pl
import pytest

import surefoot as sf
from surefoot.reporting.slice_pages import claim_rows, map_html, slice_map
from tests.analysis.test_slices import grid, table


def held(drop=0.7):
    rows, columns = grid(drop=drop)
    return table(rows, columns)


def test_the_map_marks_what_is_claimed_and_nothing_else():
    found = sf.slices(held(), "new", "old")
    grid_of = slice_map(found)
    cells = [cell for row in grid_of["rows"] for cell in row["cells"] if cell]
    assert {cell["kind"] for cell in cells if cell["mark"]} == {"worse"}
    two = {grid_of["by"], grid_of["across"]}
    shown = [one for one in found.claimed if {column for column, _ in one.where} <= two]
    assert sum(bool(cell["mark"]) for cell in cells) == len(shown) > 2
    assert claim_rows(found)[0][1] == "lighting=dim & clutter=some"


def test_nothing_is_drawn_where_nothing_is_claimed():
    found = sf.slices(held(0.0), "new", "old")
    assert found.claimed == ()
    assert slice_map(found) is None
    assert map_html(found) == ""
    page = sf.report(held(0.0)).html()
    assert "No slice is shown to be different." in page
    assert 'class="heat map"' not in page


def test_the_page_markdown_and_notebook_tell_the_claims():
    report = sf.report(held())
    page, text = report.html(), report.markdown()
    assert 'class="heat map"' in page
    assert "What is claimed (" in page
    assert "lighting=dim & clutter=some" in text.replace("&amp;", "&")
    shown = sf.slices(held(), "new", "old")._repr_html_()
    assert "▼" in shown
    assert "lighting=dim" in shown


def test_one_policy_is_told_where_it_fails():
    rows, columns = grid(drop=0.75)
    only = table([row for row in rows if row[0] == "new"], columns)
    page = sf.report(only).html()
    assert "Where new fails more than elsewhere" in page
    assert "▲" not in page


def test_names_of_levels_are_never_markup():
    rows = [
        (who, level, int(at < (5 if (who, level) == ("new", "<b>dim</b>") else 36)))
        for who in ("new", "old") for level in ("<b>dim</b>", '"day"') for at in range(40)
    ]  # fmt: skip
    read = sf.read(pl.DataFrame(rows, schema=["policy", "light", "success"], orient="row"))
    page = sf.report(read).html()
    assert "▼" in page
    assert "<b>dim</b>" not in page
    assert "<b>dim" not in sf.slices(read, "new", "old", by="light")._repr_html_()


@pytest.mark.parametrize("policies", [3, 4, 7])
def test_several_policies_share_the_error(policies):
    rows = [
        (f"p{who}", light, int(at < (6 if (who, light) == (1, "dim") else 30)))
        for who in range(policies) for light in ("dim", "day") for at in range(40)
    ]  # fmt: skip
    found = sf.report(sf.read(pl.DataFrame(rows, schema=["policy", "light", "success"], orient="row"))).overview
    assert len(found.slices) == {3: 3, 4: 3, 7: 0}[policies]
    pairs = policies * (policies - 1) // 2
    assert all(one.tests.confidence == pytest.approx(1.0 - 0.05 / pairs) for one in found.slices)
