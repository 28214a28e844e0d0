"""What a plan assumes of a policy: a rate, scores, or a distribution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from surefoot import _check
from surefoot.core.scores import Scores

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats


Law = float | Mapping[float, float] | Scores
"""What a policy is assumed to do: a success rate, the chance of each score, or pilot scores to draw from."""


def law_of(law: Law, name: str, low: float, high: float) -> tuple[Floats, Floats]:
    """Scores in rising order and their chances."""
    if isinstance(law, Scores):
        values, counts = np.unique(np.array(law.values), return_counts=True)
        chances = counts / counts.sum()
    elif isinstance(law, Mapping):
        values = np.array(sorted(_check.real(score, name) for score in law))
        chances = np.array([_check.rate(law[score], name) for score in sorted(law)])
        if not len(values) or abs(chances.sum() - 1.0) > 1e-9:
            raise _check.refused(name, "hold chances that sum to 1", dict(law))
    else:
        rate = _check.rate(law, name)
        values, chances = np.array([low, high]), np.array([1.0 - rate, rate])
    if values[0] < low or values[-1] > high:
        raise _check.refused(name, f"hold scores in [{low:g}, {high:g}]", values.tolist())
    return values, chances


def drawn(values: Floats, chances: Floats, uniform: Floats) -> Floats:
    """A score for every uniform number."""
    found: Floats = values[np.searchsorted(np.cumsum(chances)[:-1], uniform, side="right")]
    return found
