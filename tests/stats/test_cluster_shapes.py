"""Tests of `surefoot.stats.cluster_shapes`."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.stats import cluster_shape
from tests.oracles import clusters as twin
from tests.support.clusters import labels


@given(st.lists(st.integers(1, 40), min_size=2, max_size=12))
@settings(max_examples=60)
def test_the_shape_of_clusters_needs_no_matrix(sizes):
    of = labels(sizes)
    shape = cluster_shape(sizes)
    assert shape.freedom == pytest.approx(twin.cr2(np.zeros(of.size), of, of * 0, [1.0])[2], rel=1e-8)
    assert shape.effective == pytest.approx(sum(sizes) ** 2 / sum(m * m for m in sizes))
    assert (shape.clusters, shape.largest_share) == (len(sizes), max(sizes) / sum(sizes))
    assert 1.0 - 1e-9 <= shape.freedom <= len(sizes) - 1 + 1e-9


def test_more_clusters_of_one_size_leave_more_freedom():
    assert all(a < b for a, b in pairwise(cluster_shape((5,) * count).freedom for count in range(2, 9)))
