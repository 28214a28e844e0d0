"""Tests of `surefoot.reporting.page_sections`."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

import surefoot as sf
from surefoot.reporting import page_sections, style
from surefoot.reporting.page_sections import claim_rows, map_html, ranking_figure, ranking_sections, slice_map
from surefoot.study.ranking import RankedPair
from tests.analysis.test_best import counted
from tests.analysis.test_slices import grid, table
from tests.support.studies import begun, driven, outcomes


@pytest.fixture(scope="module")
def account():
    study = begun(policies=("a", "b", "c"), rule=None, horizon=40, blinded=False, futility=0.1)
    driven(study, outcomes(3, a=0.95, b=0.4, c=0.4), 12)
    study.amend({"policies": ["a", "b", "c", "d"]}, reason="a new checkpoint")
    return sf.report(driven(study, outcomes(4, a=0.95, b=0.4, c=0.4, d=0.7))).study


@pytest.mark.parametrize("width", [None, 3.4])
def test_the_figure_names_every_policy_its_letters_and_its_rollouts(account, width):
    ranking = account.finding.ranking
    with style.sized(width):
        figure = ranking_figure(account, ranking)
    svg = style.inline_svg(figure, "x", "ranking")
    for one in ranking.policies:
        assert f">{one.policy}<" in svg
        assert f"{one.rollouts}" in svg
    assert len(figure.axes) == (1 if width else 2)


def test_the_two_families_are_labelled_apart(account):
    first, second = ranking_sections(account, {})
    assert first["title"] == "The ranking"
    assert "hold together at 95%, over all looks" in first["lines"][0]
    assert {row[1] for row in first["table"]["rows"]} == set("abcd")
    assert [row[4] for row in first["table"]["rows"] if row[1] == "d"] == ["4 rounds"]
    assert "a separate family: all 6 intervals hold together at 95%" in second["lines"][0]
    assert "the interval of a claimed pair ends at 0" in second["lines"][0]
    assert {row[2] for row in second["table"]["rows"]} <= {
        "better", "worse", "open", "not asked", "not decidable within the horizon"
    }  # fmt: skip


def test_two_policies_have_no_such_section():
    study = driven(begun(blinded=False), outcomes(1, new=0.9, old=0.1))
    assert ranking_sections(sf.report(study).study, {}) == []


def test_pairs_that_were_not_asked_for_have_no_size(account):
    ranking = account.finding.ranking
    bare = [RankedPair("a", "b", sf.Verdict.UNDECIDED, open=True, paused=False, gain=None)]
    bare += [RankedPair("a", "c", sf.Verdict.UNDECIDED, open=False, paused=False, gain=None)]

    def told(pairs):
        changed = replace(account.finding, ranking=replace(ranking, pairs=tuple(pairs)))
        return ranking_sections(replace(account, finding=changed), {})

    assert [section["title"] for section in told(bare)] == ["The ranking"]
    rows = told([*bare, ranking.pairs[0]])[1]["table"]["rows"]
    assert rows[:2] == [["a", "b", "open", "", ""], ["a", "c", "not asked", "", ""]]


def test_a_picture_and_a_table_of_the_best():
    found = sf.best(counted({"ckpt-1": 9, "ckpt-2": 40, "ckpt-3": 38}))
    assert found.to_frame()["may_be_the_best"].to_list() == [True, True, False]
    assert found.plot().get_xlabel().startswith("training steps (filled: may be the best")
    assert "<svg" in found._repr_html_()
    assert "for all rows together" in sf.best(counted({"x": 9, "y": 40})).plot().get_xlabel()


def test_a_page_of_three_policies_tells_who_may_be_the_best():
    table = counted({"ckpt-1": 9, "ckpt-2": 40, "ckpt-3": 38})
    report, found = sf.report(table), sf.best(table)
    assert report.overview.best == found
    page = report.html()
    assert "Which is the best, and how good is it" in page
    assert all(line in page for line in found.lines()[:-1])
    words = "surefoot plan halve --policies 2 --budget 100".replace(" ", "</span> <span>")
    assert f"<code><span>{words}</span></code> for a fresh number" in page
    assert sf.report(counted({"x": 9, "y": 40})).overview.best is None


@pytest.mark.parametrize("names", [("ckpt-1", "ckpt-2", "ckpt-3"), ("x", "y", "z")])
def test_the_section_marks_who_may_be_the_best(names):
    found = sf.best(counted(dict(zip(names, (9, 40, 38), strict=True))))
    shown = page_sections.best_section(found, None)
    marked = {row[0]: row[-2] for row in shown["table"]["rows"]}
    assert marked == {names[0]: "no", names[1]: "yes", names[2]: "yes"}
    assert found.pick in shown["lines"][0]
    assert "95% for all rows together" in page_sections.caption(found)


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
    first, *rest = claim_rows(found)
    assert (first[0], first[1], first[-2], first[-1]) == ("worse", "lighting=dim & clutter=some", "< 0.0001", "")
    assert "contains one above" in {row[-1] for row in rest} <= {"", "contains one above"}


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
