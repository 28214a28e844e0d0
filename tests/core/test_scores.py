"""Tests of `surefoot.core.scores`."""

import math
from typing import Any

import pytest

from surefoot import Scores


@pytest.mark.parametrize(
    ("values", "span", "error", "text"),
    [
        ([], (0, 1), ValueError, "`values` must hold at least one score; got none"),
        ([0.5, 1.2], (0, 1), ValueError, r"stated range \[0, 1\]; score 2 is 1.2"),
        ([0.5, math.nan], (0, 1), ValueError, "score 2 is nan"),
        ([math.nan, 0.5], (0, 1), ValueError, "score 1 is nan"),
        ([0.5, -0.25], (0, 1), ValueError, "score 2 is -0.25"),
        ([0.5], (1, 0), ValueError, "`low` must be below `high`"),
        ([0.5], (-1e308, 1e308), ValueError, "`high` must be finitely far from `low`"),
        ([0.5], (0, math.inf), ValueError, "`high` must be finite"),
        ("0.5", (0, 1), TypeError, "`values` must be a list of numbers; got '0.5'"),
        (0.5, (0, 1), TypeError, "`values` must be a list of numbers; got 0.5"),
        (["a"], (0, 1), TypeError, r"`values\[0\]` must be a number"),
    ],
)
def test_scores_refuse_nonsense(values: Any, span: tuple[Any, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Scores(values, low=span[0], high=span[1])
