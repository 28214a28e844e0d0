"""Tests of `surefoot.analysis.rankings`."""

import polars as pl

import surefoot as sf


def test_sessions_with_several_preferences_are_drawn_as_a_whole():
    winners = ["A", "A", "A", "A", "B", "B", "B", "B", "A", "A", "A", "A"]
    rows = {"session": [n // 4 for n in range(96)], "A": ["x"] * 96, "B": ["y"] * 96, "winner": winners * 8}
    alike = sf.rank_preferences(sf.read_preferences(pl.DataFrame(rows)), rng=1)
    alone = sf.rank_preferences(sf.read_preferences(pl.DataFrame(rows).drop("session")), rng=1)
    assert alike.log_strengths == alone.log_strengths
    assert alike.intervals[0].width > 1.5 * alone.intervals[0].width
