"""Tests of `surefoot.reporting.curve_figures`."""

import surefoot as sf
from surefoot.analysis.replays import replay_pairs
from surefoot.reporting.curve_figures import band_figure, evidence_figure, replay_figure

VALUES = [0.2, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0]


def test_figure_says_the_worst_case_and_its_terms():
    worst = sf.stats.band(sf.Scores(VALUES * 4))
    figure = band_figure(worst, sf.stats.band(sf.Scores(VALUES * 4), using=sf.reference.tail_tight), what="progress")
    axes = figure.axes[0]
    said = [text.get_text() for text in axes.texts]
    assert axes.get_title(loc="left") == "All at once: mean at least 0.540, and half of the rollouts reach 0.700"
    assert "mean ≥ 0.540 (observed 0.725)" in said
    assert "median ≥ 0.700" in said
    assert "worst case" in said
    assert "10% quantile: no bound yet" in said
    figure.canvas.draw()
    beside = [text for text in axes.texts if "quantile" in text.get_text() or "median" in text.get_text()]
    assert beside
    for text in beside:  # no curve runs outside the axes
        assert text.get_window_extent().x0 > axes.get_window_extent().x1
    caption = figure.get_supxlabel()
    assert "n = 40 rollouts, 95% confidence (KS band" in caption
    assert axes.get_xlabel() == "progress"


def test_figures_mark_the_threshold_and_the_decision():
    pairs = [(1.0, 0.0)] * 12
    drawn = replay_figure(replay_pairs(pairs))
    assert "decides\nat 20" in [text.get_text() for text in drawn.axes[0].texts]
    one = evidence_figure({"rule": [2.0, 5.0]}, 20.0, title="new v old")
    assert [text.get_text() for text in one.axes[0].get_legend().get_texts()] == ["rule, undecided"]
