"""Tests of `surefoot.numerics.cluster_spread`."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.numerics import cluster_spread
from surefoot.numerics.cluster_spread import freedom
from tests.oracles import clusters as twin
from tests.oracles import judges as judges_twin


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.floats(-1, 1)), min_size=8, max_size=25))
@settings(max_examples=60)
def test_weighted_groups_are_those_of_direct_matrices(rows):
    rows += [(g, t, 0.1 * g) for g in range(2) for t in range(3)]  # every task meets two clusters, in one part
    clusters, groups, values = (list(column) for column in zip(*rows, strict=True))
    weights = np.array([0.5, 0.3, -0.2])
    _, numbers = np.unique(clusters, return_inverse=True)
    layout = cluster_spread.layout(numbers, np.array(groups), weights)
    estimate, variances = layout.error(np.array(values))
    wanted = twin.cr2(values, clusters, groups, weights)
    assert (estimate, variances.sum(), layout.freedoms[0]) == pytest.approx(wanted, rel=1e-8, abs=1e-12)


@given(st.lists(st.integers(1, 40), min_size=2, max_size=12))
def test_degrees_of_freedom_by_the_matrix(sizes):
    assert freedom(np.array(sizes, dtype=float)) == pytest.approx(judges_twin.bell_mccaffrey(sizes), rel=1e-9)


def test_degrees_of_freedom_of_equal_clusters_are_one_less_than_they():
    assert freedom(np.full(10, 7.0)) == pytest.approx(9.0)
