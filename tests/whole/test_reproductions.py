"""The pages that hold printed numbers against ours: they say what the scripts compute, and none is left out."""

from __future__ import annotations

import re

import pytest
from reproductions import (
    binomial_bounds,
    glossary_entry,
    pages,
    sequential_comparison,
    sequential_rollouts,
    table_one,
    web_page,
    wilson_blog,
)
from reproductions.__main__ import NAMES
from reproductions.pages import Check, Outcome, claim, number, rows, sampled

COMPUTED = {
    "wilson-blog": wilson_blog,
    "binomial-bounds": binomial_bounds,
    "sequential-comparison": sequential_comparison,
    "web-page": web_page,
    "glossary-entry": glossary_entry,
}


def text(name: str) -> str:
    return (pages.FOLDER / f"{name}.md").read_text(encoding="utf-8")


LONG = "binomial-bounds"  # seconds: `make reproduce` computes it too


@pytest.mark.end_to_end
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name == LONG)) for name in COMPUTED])
def test_the_page_says_what_its_script_computes(name):
    written = rows(text(name))
    missing = [check.row() for check in COMPUTED[name].exact() if check.row() not in written]
    assert missing == []


@pytest.mark.end_to_end
def test_the_page_of_real_rollouts_says_what_its_script_computes(shared_data):
    made = sequential_rollouts.page(shared_data)
    assert rows(text("sequential-rollouts")) == [check.row() for check in made.checks]
    assert "\n".join(made.body) in text("sequential-rollouts")


def test_without_rollouts_the_page_is_left_alone_with_a_sentence(tmp_path, capsys):
    assert sequential_rollouts.page(tmp_path) is None
    assert f"skipped: no rollouts at {tmp_path}" in capsys.readouterr().out


def test_every_page_is_in_the_index_with_all_its_rows():
    written = {path.stem for path in pages.FOLDER.glob("*.md")} - {"index"}
    toctree = re.search(r"```\{toctree\}\n.*?\n\n(.*?)```", text("index"), re.DOTALL)[1].split()
    assert toctree == NAMES
    assert written == set(NAMES)
    for name in NAMES:
        assert rows(text(name))
        assert all(row in text("index") for row in rows(text(name)))


@pytest.mark.parametrize("name", NAMES)
def test_a_page_names_its_command_date_and_seed_and_has_its_figures(name):
    made = (
        rf"Made by `python -m reproductions {name}` on \d{{4}}-\d\d-\d\d, surefoot \S+, (seed \d+|no chance enters)\."
    )
    assert re.search(made, text(name))
    figures = re.findall(r"\]\((figures/[^)]+)\)", text(name))
    assert all((pages.FOLDER / figure).read_text().startswith("<?xml") for figure in figures)


def test_every_figure_is_shown():
    shown = {name for page in NAMES for name in re.findall(r"\]\(figures/([^)]+)\)", text(page))}
    assert shown == {path.name for path in pages.FIGURES.glob("*.svg")}


def test_the_index_counts_what_it_lists(tmp_path):
    page = pages.Page("one", "One", "A source.", ["Words."], [number("a", 0.1, 0.1, to=0.1), claim("b", "", "", True)])
    pages.write(page, folder=tmp_path)
    index = pages.write_index(["one"], folder=tmp_path).read_text()
    assert "| [One](one.md) | 2 |" in index
    assert "| **all** | 2 | 0 | 0 | 0 | 0 |" in index


def test_agreement_is_to_the_printed_digit():
    assert number("x", 0.12, 0.1249, to=0.01).outcome is Outcome.AGREES
    assert number("x", (0.1, 0.2), (0.1, 0.26), to=0.1, erratum="why").outcome is Outcome.ERRATUM
    assert (
        number("x", (0.1, 0.2), (0.1, 0.26), to=0.1, erratum="why").row()
        == "| x | (0.1, 0.2) | (0.10, 0.26) | **erratum**: why |"
    )
    with pytest.raises(ValueError, match="does not agree; name the erratum"):
        number("x", 0.12, 0.126, to=0.01)
    with pytest.raises(ValueError, match="agrees; take back its erratum"):
        number("x", 0.12, 0.12, to=0.01, erratum="why")


def test_a_claim_and_a_sample_need_a_reason_when_they_fail():
    assert claim("x", "so", "not so", False, erratum="why") == Check("x", "so", "not so", Outcome.ERRATUM, "why")
    with pytest.raises(ValueError, match="name the erratum"):
        claim("x", "so", "not so", False)
    assert sampled("x", 10.0, 12.9, 1.0, digits=1).outcome is Outcome.CHANCE
    assert sampled("x", 10.0, 13.1, 1.0, digits=1, differs="why").outcome is Outcome.DIFFERS
    with pytest.raises(ValueError, match="name the erratum"):
        sampled("x", 10.0, 13.1, 1.0, digits=1)


@pytest.mark.parametrize("task", table_one.TABLE)
def test_table_one_has_the_rates_whose_shortage_is_printed(task):
    from surefoot.stats import expected_shortage

    printed = table_one.TABLE[task].theory
    low, high = table_one.rates_for(printed)
    assert low < high
    assert expected_shortage(40, low) == pytest.approx(printed, abs=1e-9)
    assert expected_shortage(40, high) == pytest.approx(printed, abs=1e-9)
