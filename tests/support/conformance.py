"""What several tests of conformance share."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from surefoot.sequential import FiniteHorizonMixture, NScore, Rule, registry


class Kind(NamedTuple):
    """A rule to be checked: how to make it from (horizon, claim), and whether it takes successes only."""

    make: Callable[..., Rule]
    binary: bool = False
    steps: bool = True  # whether it may decide before the horizon
    listed: bool = False  # whether its claim is about a list, of 90: draws from a law are then no null


def of_registry() -> dict[str, Kind]:
    """Every rule on two policies that is registered: a new one is checked because it is there."""
    those = [rule for rule in registry.kinds() if issubclass(rule, Rule)]
    return {rule.title: Kind(rule, "score" not in rule.measures, not rule.once) for rule in those}


KINDS = {
    **of_registry(),
    "mixture, binary": Kind(lambda *a, **k: FiniteHorizonMixture(*a, binary=True, **k), binary=True),
    "mixture, list": Kind(lambda horizon, **k: FiniteHorizonMixture(horizon, population=90, **k), listed=True),
    "mixture, binary list": Kind(
        lambda horizon, **k: FiniteHorizonMixture(horizon, population=90, binary=True, **k), binary=True, listed=True
    ),
    "nscore 2": Kind(lambda *a, **k: NScore(*a, bins=2, **k), binary=True),
    "nscore levels": Kind(lambda *a, **k: NScore(*a, levels=(0.0, 0.3, 1.0), **k), binary=True),
    "nscore raw": Kind(lambda *a, **k: NScore(*a, bins=None, **k)),
}
CLAIMS = ["first better", "either"]
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
every_claim = pytest.mark.parametrize("claim", CLAIMS)


def draws(kind: Kind, seed: int, runs: int, horizon: int, gap: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    first, second = rng.random((runs, horizon)), rng.random((runs, horizon))
    if kind.binary:
        return (first < 0.5 + gap / 2).astype(float), (second < 0.5 - gap / 2).astype(float)
    return np.round(first ** (1 - gap), 2), np.round(second ** (1 + gap), 2)
