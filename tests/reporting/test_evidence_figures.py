"""Tests of `surefoot.reporting.evidence_figures`."""

from surefoot.analysis.replays import replay_pairs
from surefoot.reporting.evidence_figures import evidence_figure, replay_figure


def test_figures_mark_the_threshold_and_the_decision():
    pairs = [(1.0, 0.0)] * 12
    drawn = replay_figure(replay_pairs(pairs))
    assert "decides\nat 20" in [text.get_text() for text in drawn.axes[0].texts]
    one = evidence_figure({"rule": [2.0, 5.0]}, 20.0, title="new v old")
    assert [text.get_text() for text in one.axes[0].get_legend().get_texts()] == ["rule, undecided"]
