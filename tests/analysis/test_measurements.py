"""Tests of `surefoot.analysis.measurements`."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot import stats
from surefoot.analysis import measurements


def test_a_table_of_very_many_scores_is_measured_by_its_moments(monkeypatch):
    monkeypatch.setattr(measurements, "MANY", 50)
    table = sf.read(pl.DataFrame({"policy": ["a"] * 100, "score": np.random.default_rng(6).random(100)}))
    found = sf.mean_score(table)
    assert found.data == (table.moments(),)
    assert found.low == pytest.approx(stats.empirical_bernstein(table.scores()).low)


def test_a_score_outside_the_range_is_refused_from_moments_too():
    with pytest.raises(sf.DataError, match=r"must lie in the stated range \[0, 1\]; one is 7"):
        sf.read(pl.DataFrame({"policy": ["a"] * 3, "score": [0.1, 7.0, 0.2]})).where(policy="a").moments()
