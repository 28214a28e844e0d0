"""Tests of `surefoot.stats.labelling`."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import stdtrit

from surefoot.stats import cohen_kappa
from surefoot.stats.labelling import draw_gap, labels_expected
from tests.oracles import structure as twin
from tests.support.judge_corrected_gains import example
from tests.support.judges import least


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


# --- Agreement


@given(data=st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=5, max_size=40))
@settings(max_examples=40)
def test_kappa_is_its_twin(data):
    one, other = [a for a, _ in data], [b for _, b in data]
    if len({*one, *other}) < 2:
        return
    found = cohen_kappa(one, other)
    table = [[sum(1 for a, b in data if (a, b) == (i, j)) for j in "abc"] for i in "abc"]
    assert found.estimate == pytest.approx(twin.cohen_kappa(table)[0], abs=1e-12)
    assert -1 <= found.low <= found.estimate <= found.high <= 1
    assert found.width > 0
    assert cohen_kappa(other, one).low == pytest.approx(found.low)


def test_kappa_interval_by_hand():
    one, other = [1] * 20 + [0] * 20, [1] * 16 + [0] * 4 + [0] * 17 + [1] * 3
    found = cohen_kappa(one, other)
    z = 1.959963984540054
    table = [[16 + z * z / 4, 4 + z * z / 4], [3 + z * z / 4, 17 + z * z / 4]]
    kappa, error = twin.cohen_kappa(table)
    assert found.low == pytest.approx(kappa - stdtrit(39, 0.975) * error)


@pytest.mark.parametrize("agreement", [0.0, 0.4, 0.8, 0.95])
def test_kappa_coverage(agreement):
    rng = np.random.default_rng(31)
    p, draws, covered = 0.8, 300, 0
    same = agreement * p * (1 - p)
    law = [p * p + same, p * (1 - p) - same, p * (1 - p) - same, (1 - p) ** 2 + same]
    for row in rng.multinomial(50, law, size=draws):
        one = [1] * (row[0] + row[1]) + [0] * (row[2] + row[3])
        other = [1] * row[0] + [0] * row[1] + [1] * row[2] + [0] * row[3]
        covered += agreement in cohen_kappa(one, other)
    assert covered >= least(draws)


@pytest.mark.parametrize("kinds", [2, 3, 7, 20, 49])
def test_full_agreement_is_1_to_the_last_digit(kinds):
    labels = [place % kinds for place in range(3 * kinds + 1)]
    found = cohen_kappa(labels, labels)
    assert (found.estimate, found.high) == (1.0, 1.0)
