"""Tests of `surefoot.planning.assumptions`."""

import numpy as np
import pytest

from surefoot import Scores
from surefoot.planning.assumptions import drawn, law_of


def test_a_rate_a_table_and_pilot_scores_are_laws():
    for law, values, chances in (
        (0.25, [0.0, 1.0], [0.75, 0.25]),
        ({1.0: 0.5, 0.0: 0.2, 0.5: 0.3}, [0.0, 0.5, 1.0], [0.2, 0.3, 0.5]),
        (Scores([0.5, 1.0, 0.5, 0.0]), [0.0, 0.5, 1.0], [0.25, 0.5, 0.25]),
    ):
        found = law_of(law, "first", 0.0, 1.0)
        assert found[0].tolist() == values
        assert found[1] == pytest.approx(np.array(chances))


def test_uniform_numbers_become_scores_with_these_chances():
    values, chances = law_of({0.0: 0.2, 0.5: 0.3, 1.0: 0.5}, "first", 0.0, 1.0)
    uniform = (np.arange(1000) + 0.5) / 1000
    scores, counts = np.unique(drawn(values, chances, uniform), return_counts=True)
    assert dict(zip(scores, counts, strict=True)) == {0.0: 200, 0.5: 300, 1.0: 500}


@pytest.mark.parametrize(
    ("law", "said"),
    [
        ({0.0: 0.5, 1.0: 0.4}, "sum to 1"),
        ({}, "sum to 1"),
        ({2.0: 1.0}, "scores in"),
        (1.2, "first"),
        ({0.0: -1.0, 1.0: 2.0}, "first"),
    ],
)
def test_refusals(law, said):
    with pytest.raises(ValueError, match=said):
        law_of(law, "first", 0.0, 1.0)
