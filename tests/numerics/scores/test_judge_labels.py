"""Tests of `surefoot.numerics.scores.judge_labels`."""

import numpy as np
import pytest

from surefoot.numerics.scores.judge_labels import clustered_variance, corrected, trusts


def test_clustered_variance_of_items_alone_is_the_plain_one():
    values = np.array([0.2, 0.4, 0.9, 0.1])
    assert clustered_variance(values, np.arange(4)) == pytest.approx(values.var(ddof=1) / 4)
    assert clustered_variance(values, np.zeros(4, dtype=int)) == 0.0


def test_one_document_without_labels_tells_nothing_of_how_they_differ():
    rng = np.random.default_rng(4)
    human = (rng.random(12) < 0.6).astype(float)
    judge, others = np.where(rng.random(12) < 0.2, 1 - human, human), np.array([1.0, 0.0, 1.0, 1.0])
    one, each = (
        corrected(*data, trusts(*data))
        for data in ((human, judge, np.arange(12), others, of) for of in (np.full(4, 12), np.arange(12, 16)))
    )
    assert (one.mean, one.trust) == pytest.approx((each.mean, each.trust))
    assert one.mean == pytest.approx(float((human - one.trust * judge).mean()) + one.trust * 0.75, abs=0.02)
    assert one.judged == 0.0 < each.judged
    assert one.error < each.error
