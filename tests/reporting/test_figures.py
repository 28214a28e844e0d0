"""Tests of `surefoot.reporting.figures`."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest

import surefoot as sf
from surefoot.analysis.overview import overview
from surefoot.cli.main import run
from surefoot.reporting import figures, pages, style
from tests.support.comparisons import by_tally
from tests.support.plugins import installed, put, put_toy
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


def test_names_and_numbers_on_a_phone_hide_the_grid_and_zero_behind_them(full, tmp_path):
    from surefoot.reporting import style

    with style.sized(style.PAGE, page=True):
        narrow = pages.page_figures(full.overview)["gains"]
    wide = full.figures()["gains"]
    for figure in (narrow, wide):
        style.save(figure, tmp_path / "gains.svg")
    assert all(text.get_bbox_patch() is not None for text in narrow.axes[0].texts)
    assert all(text.get_bbox_patch() is None for text in wide.axes[0].texts)  # beside the grid


def test_the_figure_of_tasks_has_the_policies_in_the_order_of_the_table():
    made = sf.report(rollouts(("a", "b"), (0.2, 0.9)))
    shown = [label.get_text() for label in made.figures()["heat"].axes[0].get_xticklabels()]
    assert shown == [one.policy for one in made.overview.policies] == ["b", "a"]


def test_what_was_not_run_is_not_drawn():
    found = overview(by_tally(("a", "x", 5, 10), ("a", "y", 5, 10), ("b", "x", 2, 10)).declare(unit="task"))
    shown = [text.get_text() for text in figures.heat_figure(found.cells, "success", ["a", "b"]).axes[0].texts]
    assert [text.split()[0] for text in shown] == ["50.0%", "20.0%", "50.0%"]
    with style.drawing():
        _, axes = style.canvas(7.0, 2.0)
        figures.draw_intervals(axes, [("a", found.policies[0].success, "n=20"), ("b", None, "")], "success rate")
    assert [text.get_text() for text in axes.texts] == ["n=20"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]


def test_gains_of_scores_are_in_units_of_the_score():
    found = sf.stats.exact_gain(sf.Tally(6, 10), sf.Tally(4, 10)).interval
    shown = {}
    for scale in ("gain", "score gain"):
        with style.drawing():
            figure, axes = style.canvas(7.0, 2.0)
            figures.draw_gains(axes, [("a v b", replace(found, scale=scale), sf.Verdict.UNDECIDED)], "gain")
        figure.canvas.draw()
        shown[scale] = [label.get_text() for label in axes.get_xticklabels()]
    assert "+20" in shown["gain"]
    assert "0.2" in shown["score gain"]


def test_many_different_scores_are_a_dot_each():
    axes = figures.scores_figure([("a", [place / 20 for place in range(21)])], (), 0.0, 1.0).axes[0]
    assert sum(len(line.get_xdata()) for line in axes.lines if line.get_marker() == ".") == 21
    assert axes.lines[-1].get_xdata()[0] == pytest.approx(0.5)  # the line is the mean


def test_its_figure_is_on_the_page_and_among_the_figures(toy, log, tmp_path):
    made = sf.report(sf.read(log))
    assert "dots" in made.figures()
    assert "A dot for every policy." in made.html()
    assert run(("report", str(log), "-o", str(tmp_path / "page.html"), "--figures", str(tmp_path / "drawn"))) == 0
    assert (tmp_path / "drawn" / "dots.svg").exists()


@pytest.mark.parametrize("text", ["def thing(overview):\n    return 1 / 0\n", "def thing(overview):\n    return 7\n"])
def test_a_figure_that_cannot_be_drawn_is_left_out(tmp_path, log, caplog, text):
    folder = put(tmp_path / "broken", "broken-one", {"figures": {"bad": "broken:thing"}}, {"broken": text})
    with installed(put_toy(tmp_path / "site"), folder), caplog.at_level(logging.WARNING):
        made = sf.report(sf.read(log))
        assert "A dot for every policy." in made.html()
        assert "bad" not in made.figures()
    assert len(caplog.records) == 1


def test_every_figure_of_ours_has_a_name_that_is_kept(log, toy):
    made = sf.report(sf.read(log)).figures()
    assert {name for name in made if not name.startswith("band ")} <= figures.OWN | {"dots"}


def test_ticks_of_half_points_are_written_as_what_they_are():
    """Ticks at 2.5 and 7.5 points were written as +2 and +8."""
    report = sf.report(rollouts(("a", "b"), (0.9, 0.85)))
    axes = report.figures()["gains"].axes[0]
    shown = axes.xaxis.get_major_formatter()
    assert [shown(value, None) for value in (-0.025, 0.0, 0.075, 0.1)] == ["-2.5", "+0", "+7.5", "+10"]
