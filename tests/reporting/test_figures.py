"""Tests of `surefoot.reporting.figures`."""

from __future__ import annotations

import pytest

import surefoot as sf
from tests.support.reports import rollouts

EVIL = '<script>alert("x")</script> & $\\alpha$ %_#{}~^'


@pytest.fixture(scope="module")
def full() -> sf.Report:
    return sf.report(rollouts(("a", "b", EVIL), (0.9, 0.5, 0.2), scores=True), title=EVIL)


def test_every_figure_can_be_written(full, tmp_path):
    from surefoot.reporting import style

    drawn = full.figures()
    assert {"policies", "gains", "tasks", "heat", "scores"} < set(drawn)
    for place, figure in enumerate(drawn.values()):
        for suffix in (".svg", ".png", ".pdf") if not place else (".svg",):
            assert style.save(figure, tmp_path / f"{place}{suffix}").stat().st_size > 1000


def test_names_and_numbers_in_one_column_hide_the_grid_and_zero_behind_them(full, tmp_path):
    from surefoot.reporting import style

    narrow, wide = (full.figures(width=width)["gains"] for width in (3.4, None))
    for figure in (narrow, wide):
        style.save(figure, tmp_path / "gains.svg")
    assert all(text.get_bbox_patch() is not None for text in narrow.axes[0].texts)
    assert all(text.get_bbox_patch() is None for text in wide.axes[0].texts)  # beside the grid


def test_the_figure_of_tasks_has_the_policies_in_the_order_of_the_table():
    made = sf.report(rollouts(("a", "b"), (0.2, 0.9)))
    shown = [label.get_text() for label in made.figures()["heat"].axes[0].get_xticklabels()]
    assert shown == [one.policy for one in made.overview.policies] == ["b", "a"]
