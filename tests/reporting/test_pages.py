"""Tests of `surefoot.reporting.pages`."""

from __future__ import annotations

import re
import subprocess
import sys

import html5lib
import polars as pl
import pytest

import surefoot as sf
from surefoot import Verdict
from surefoot.reporting import answers, pages
from surefoot.reporting.pages import LONG
from tests.support.reports import rollouts

EVIL = '<script>alert("x")</script> & $\\alpha$ %_#{}~^'


@pytest.fixture(scope="module")
def full() -> sf.Report:
    return sf.report(rollouts(("a", "b", EVIL), (0.9, 0.5, 0.2), scores=True), title=EVIL)


@pytest.fixture(scope="module")
def full_page(full: sf.Report) -> str:
    return full.html()


def test_the_page_is_valid_html(full_page):
    html5lib.HTMLParser(strict=True).parse(full_page)


def test_ids_are_unique(full_page):
    ids = re.findall(r'\bid="([^"]+)"', full_page)
    assert len(ids) == len(set(ids))


def test_each_figure_is_drawn_once(full_page):
    figures = [part.partition("</figure>")[0] for part in full_page.split("<figure>")[1:]]
    assert len(figures) >= 3
    assert [one.count("<svg") for one in figures] == [1] * len(figures)


def test_of_many_comparisons_the_first_are_listed(full, monkeypatch):
    monkeypatch.setattr(pages, "MOST_LISTED", 2)
    page = full.html()
    assert "2 of the 3 comparisons are listed, the best policies first; a report written as .json or .md" in page
    assert "The first 2 comparisons" in page
    assert "Every comparison" not in page


def test_a_report_of_a_table_imports_nothing_of_a_study(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text("policy,task,success\n" + "".join(f"p{at % 2},t{at % 3},{at % 5 % 2}\n" for at in range(60)))
    program = (
        f"import sys, surefoot as sf\nsf.report(sf.read({str(path)!r})).save({str(tmp_path / 'page.html')!r})\n"
        "print([name for name in sys.modules if name.startswith(('surefoot.study', 'surefoot.sequential'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_string_from_the_data_is_escaped(full, full_page):
    assert "<script" not in full_page
    assert "&lt;script&gt;" in full_page
    assert "<script" not in full.markdown()
    tex = full.latex()
    assert r"\$\textbackslash{}alpha\$ \%\_\#\{\}\textasciitilde{}\textasciicircum{}" in tex


def test_the_page_needs_nothing_from_outside(full_page):
    assert not re.findall(r'(?:src|href)="(?!#)[^"]*"', full_page)
    assert "@import" not in full_page
    assert "url(http" not in full_page
    assert len(full_page.encode()) < 1_000_000


def test_the_first_screen_answers():
    two = sf.report(rollouts())
    assert two.overview.comparisons[0].verdict is Verdict.BETTER
    assert answers.overview_answer(two.overview)[0] == "For these 2 settings (task): new is better than old."
    page = two.html()
    assert page.index("new is better than old.") < page.index("Where each policy stands")


def test_headings_name_the_target_and_the_appendix_has_the_roles():
    made = sf.report(rollouts())
    page = made.html()
    assert "<h2>Where each policy stands, for these 2 settings (task)</h2>" in page
    assert "<h2>The gain, for these 2 settings (task)</h2>" in page
    roles = page.split("<h3>What every column was taken for</h3>")[1].split("</table>")[0]
    for column in made.overview.audit.design.columns:
        assert re.search(rf"{column.name}</th><td>{column.role}</td><td class=\"num\">{column.levels}</td>", roles)
    assert f"| {made.overview.audit.design.columns[0].name} | " in made.markdown()


def test_levels_that_disagree_stand_before_the_answer():
    rows = [
        (name, task, int(place < (38 if (name == "new") == (task == "cut") else 12)))
        for name in ("new", "old") for task in ("cut", "pour") for place in range(40)
    ]  # fmt: skip
    made = sf.report(sf.read(pl.DataFrame(rows, schema=["policy", "task", "success"], orient="row")))
    said = "The difference depends on task: worse on pour -65.0 points"
    assert str(made).startswith(said)
    page = made.html()
    assert page.index(said) < page.index("For these 2 settings (task): whether new is better than old depends on task.")
    assert page.index(said) < page.index('<p class="answer">')


def test_what_must_hold_is_apart_from_what_is_promised(full_page):
    methods, holds = full_page.split("<h3>Methods</h3>")[1].split("<h3>What must hold</h3>")
    holds = holds.split("</ul>")[0]
    assert "The number of rollouts was fixed beforehand" in holds
    assert "Coverage" not in holds
    assert "The error is" not in holds
    assert "Coverage is at least the confidence, whatever the rate." in methods


def test_one_policy_alone_has_a_page():
    only = sf.report(rollouts(("new",), (0.8,)))
    assert "new succeeds in" in only.html()
    assert only.overview.comparisons == ()


def test_a_page_for_a_sandbox_has_no_scripts():
    rows = [(f"policy {number}", place % 2) for number in range(LONG + 1) for place in range(4)]
    frame = pl.DataFrame(rows, schema=["policy", "success"], orient="row")
    made = sf.report(sf.read(frame))
    assert "<script" in made.html()
    assert "<script" not in made.html(scripts=False)
