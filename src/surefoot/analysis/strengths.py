"""Which policies do people prefer, from preferences between two at a time?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot import stats
from surefoot.rollouts.preferences import Preferences
from surefoot.stats.preferences import Strengths

if TYPE_CHECKING:
    import numpy as np


def rank_preferences(
    preferences: Preferences,
    *,
    rng: np.random.Generator | int,
    prior: float = 0.0,
    confidence: float = 0.95,
) -> Strengths:
    """How strong is each policy by people's preferences? Bradley-Terry strengths and Elo with bootstrap intervals.

    Sessions that hold several preferences are drawn again as a whole: they are not independent.

    Args:
        preferences: The table.
        rng: A seed, kept with the result, or a Generator.
        prior: Ties added between every two policies that met, for data in which a policy never lost.
        confidence: How often such intervals hold a strength, nearly.

    Raises:
        ValueError: Some policy never met the others, or never lost, so that no strength is determined.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> games = {"A": ["x", "y", "x", "z", "y", "z"] * 9, "B": ["y", "x", "z", "x", "z", "y"] * 9}
        >>> table = pl.DataFrame({**games, "preference": ["A", "B", "A", "tie", "A", "A"] * 9})
        >>> print(sf.rank_preferences(sf.read_preferences(table), rng=7).names)
        ('x', 'z', 'y')
    """
    rows = preferences.frame
    several = rows["session"].n_unique() < rows.height
    return stats.bradley_terry(
        rows.select("first", "second", "outcome").iter_rows(),
        rng=rng,
        sessions=rows["session"].to_list() if several else None,
        prior=prior,
        confidence=confidence,
    )
