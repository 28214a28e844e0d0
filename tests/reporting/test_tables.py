"""Tests of `surefoot.reporting.tables`."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

import surefoot as sf
from surefoot.core import formatting
from surefoot.reporting import tables
from tests.support.judge_corrections import judged
from tests.support.reports import rollouts

EVIL = '<script>alert("x")</script> & $\\alpha$ %_#{}~^'


@pytest.fixture(scope="module")
def full() -> sf.Report:
    return sf.report(rollouts(("a", "b", EVIL), (0.9, 0.5, 0.2), scores=True), title=EVIL)


def test_every_number_of_the_dashboard_has_interval_and_size(full):
    page = full.html()
    for one in full.overview.policies:
        rate, tally = one.success, one.success.data[0]
        cells = (
            formatting.number(rate.estimate),
            formatting.span(rate.low, rate.high),
            f"{tally.successes}/{tally.trials}",
        )
        assert "".join(f'<td class="num">{cell}</td>' for cell in cells) in page


def test_letters_that_nobody_could_read_are_left_out(full):
    ranking = full.overview.ranking
    many = replace(ranking.letters, letters=("abcdefghijklmnop",) * 3, notes=("16 letters are too many to read.",))
    found = replace(full.overview, ranking=replace(ranking, letters=many))
    assert tables.columns(found)[-1] == "rank"
    assert len(tables.cells(found, 0)) == len(tables.columns(found)) - 1
    assert tables.notes(found)[2] == "16 letters are too many to read."


def test_rates_of_a_judge_are_not_called_success_rates_beside_letters_by_people():
    """Two rates whose intervals lay apart shared a letter, and nothing said that the letters follow the labels."""
    found = sf.report(sf.read(pl.concat([judged(), judged(policy="old", passed=110)]))).overview
    assert found.corrections
    assert tables.columns(found)[1] == "by the judge"
    assert any(
        line.startswith("Ranks and letters are based on success, by human labels") for line in tables.notes(found)
    )
