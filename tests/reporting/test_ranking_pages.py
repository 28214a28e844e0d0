"""Tests of `surefoot.reporting.ranking_pages`."""

from __future__ import annotations

from dataclasses import replace

import pytest

import surefoot as sf
from surefoot.reporting import style
from surefoot.reporting.ranking_pages import ranking_figure, ranking_sections
from surefoot.study.ranking import RankedPair
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
