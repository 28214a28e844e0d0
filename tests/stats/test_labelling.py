"""Tests of `surefoot.stats.labelling`."""

import numpy as np
import pytest

from surefoot.stats.labelling import draw_gap, labels_expected
from tests.support.judge_corrected_gains import example


def test_labels_expected_fall_with_a_better_judge_and_a_larger_gain():
    judge = example()[0] * 10
    counts = [labels_expected(judge, 0.1, agreement=share).labels for share in (0.7, 0.8, 0.9, 0.97)]
    assert counts == sorted(counts, reverse=True)
    assert labels_expected(judge, 0.2).labels < labels_expected(judge, 0.1).labels
    assert labels_expected(judge, 0.1, confidence=0.99).labels > labels_expected(judge, 0.1).labels
    assert labels_expected(judge, 0.001).labels is None
    with pytest.raises(ValueError, match=r"`agreement` must be above 0\.5 and below 1; got 0\.5"):
        labels_expected(judge, 0.1, agreement=0.5)
    with pytest.raises(ValueError, match="`gain` must be above 0"):
        labels_expected(judge, 0.0)
    with pytest.raises(ValueError, match="`judge` must hold at least 3 items; got 2"):
        labels_expected([1.0, 0.0], 0.1)


# --- Labelled items against the rest


def test_the_gap_of_labels_that_were_chosen():
    rng = np.random.default_rng(5)
    values = rng.random(500)
    drawn = rng.random(500) < 0.2
    assert abs(draw_gap(values.tolist(), drawn.tolist())) < 2.81
    chosen = values > np.quantile(values, 0.8)
    assert draw_gap(values.tolist(), chosen.tolist()) > 2.81
    assert draw_gap([1.0] * 10, [True] * 5 + [False] * 5) == 0.0
    assert draw_gap([1.0, 0.0, 1.0], [True, False, False]) == 0.0


def test_the_gap_allows_for_whole_documents():
    of = np.arange(400) // 20
    values = (of % 2).astype(float)
    labelled = of < 6
    values[of == 1] = values[of == 3] = 0.0
    assert abs(draw_gap(values.tolist(), labelled.tolist(), of.tolist())) < 2.81
    assert abs(draw_gap(values.tolist(), labelled.tolist())) > 2.81
