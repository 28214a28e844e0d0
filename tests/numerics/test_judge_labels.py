"""Tests of `surefoot.numerics.judge_labels`."""

import numpy as np
import pytest

from surefoot.numerics.judge_labels import clustered_variance


def test_clustered_variance_of_items_alone_is_the_plain_one():
    values = np.array([0.2, 0.4, 0.9, 0.1])
    assert clustered_variance(values, np.arange(4)) == pytest.approx(values.var(ddof=1) / 4)
    assert clustered_variance(values, np.zeros(4, dtype=int)) == 0.0
