"""Tests of `surefoot.stats.judge_agreement`."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import stdtrit

from surefoot.stats import cohen_kappa
from tests.oracles import structure as twin
from tests.support.judges import least

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
