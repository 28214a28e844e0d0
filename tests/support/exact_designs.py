"""What several tests of exact designs share."""

import numpy as np
import pytest
from hypothesis import strategies as st

from surefoot.numerics.designs import exact_designs, stopped_walks
from surefoot.sequential import ExactBinary

KINDS = {"binary": stopped_walks.BinaryWalk, "paired": stopped_walks.PairedWalk}
every_family = pytest.mark.parametrize("family", KINDS)


@st.composite
def boundaries(draw, horizon: int) -> np.ndarray:
    """Any monotone table that never decides against what was seen."""
    limits = np.full((horizon + 1, horizon + 1), horizon)
    for n in range(1, horizon + 1):
        above = draw(st.lists(st.integers(0, 4), min_size=n + 1, max_size=n + 1))
        limits[n, : n + 1] = np.maximum.accumulate(np.minimum(np.arange(n + 1) + above, n))
    return limits


# --- the figures, computed exactly through the public rules ---


def thirty_five(rule: ExactBinary, *, curtailed: bool = False) -> tuple[float, float]:
    """(mean pairs, mean power) over the 35 alternatives."""
    points = exact_designs.thirty_five()
    assert len(points.first) == 35
    done = [rule.operating(f, s, curtailed=curtailed) for s, f in zip(points.second, points.first, strict=True)]
    pairs = [sum(n * chance for n, chance in enumerate(stopping, 1)) for stopping, _ in done]
    return float(np.mean(pairs)), float(np.mean([shares["better"] for _, shares in done]))
