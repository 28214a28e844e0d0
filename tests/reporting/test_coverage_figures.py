"""Tests of `surefoot.reporting.coverage_figures`."""

from __future__ import annotations


def test_a_coverage_plot_draws_every_curve_and_does_not_round_its_promise_up():
    from surefoot.reporting.coverage_figures import coverage_figure

    drawn = coverage_figure([0.1, 0.9], {str(i): [0.9, 1.0] for i in range(6)}, trials=20, confidence=0.999)
    (axes,) = drawn.axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == list("012345")
    assert axes.get_title(loc="left") == "Exact coverage of 99.9% intervals, n = 20 rollouts"
