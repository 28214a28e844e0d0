"""Tests of `surefoot.stats.many_clusters`."""

import numpy as np
import pytest

from surefoot import Scores
from surefoot.stats import all_cluster_gains, cluster_gain
from tests.support.clusters import UNEVEN, labels


def test_all_pairs_at_once_are_the_pairs_one_by_one():
    rng = np.random.default_rng(8)
    of = labels(UNEVEN)
    scores = {name: Scores((rng.random(of.size) < 0.7).astype(float)) for name in "abc"}
    scores["d"] = scores["b"]
    found = all_cluster_gains(scores, of, confidence=0.9, margin=0.1)
    assert list(found) == [(a, b) for i, a in enumerate("abcd") for b in "abcd"[i + 1 :]]
    for (first, second), gain in found.items():
        alone = cluster_gain(scores[first], scores[second], of, confidence=0.9, margin=0.1)
        assert (gain.interval.low, gain.interval.high) == pytest.approx((alone.interval.low, alone.interval.high))
        assert gain.p_value == pytest.approx(alone.p_value)
        assert (gain.verdict, gain.freedom, gain.shapes) == (alone.verdict, pytest.approx(alone.freedom), alone.shapes)
    assert [note.kind for note in found["b", "d"].notes] == ["clusters alike"]
