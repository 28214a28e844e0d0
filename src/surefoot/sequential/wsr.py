"""Betting rule of Waudby-Smith and Ramdas, by the running variance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from surefoot.sequential.betting import BettingRule, Outcome, Past
from surefoot.sequential.registry import registered

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats


_MOST = 0.95


@registered
@dataclass(frozen=True, slots=True)
class Wsr(BettingRule):
    """Stakes by the running variance: the predictable plug-in of Waudby-Smith and Ramdas, a published baseline.

    On z = (gain + 1)/2 the stake of pair t is sqrt(2 ln(1/error) / (t ln(t + 1) variance)), the variance being that of
    the pairs before. An either-claim is their hedged capital process.

    Example:
        >>> from surefoot.sequential import Wsr, run
        >>> print(run(Wsr(horizon=50), [(1, 0)] * 50)[-1])
        Decided after 5 pairs, p = 0.0355: the first policy is better.

    Reference:
        Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting", eqs. 26 and 31.
    """

    name: ClassVar[str] = "wsr"
    title: ClassVar[str] = "WSR"
    label: ClassVar[str] = "WSR"
    summary: ClassVar[str] = "Adapts to the variance so far, without the horizon; published, for comparison."
    place: ClassVar[int] = 50

    def opening(self) -> Floats:
        """The sum of z, and of squared distances from the running means."""
        return np.array([[0.5], [0.25]])

    def stake(self, memory: Floats, log_wealth: Floats, seen: int, beyond: float, past: Past) -> tuple[Floats, Any]:  # noqa: ARG002
        """The plug-in stake, truncated."""
        variance = memory[1] / (seen + 1)
        now = seen + 1
        stake = np.sqrt(-2.0 * math.log(self.error) / (now * math.log(now + 1) * variance))
        return np.minimum(_MOST, stake / 2.0), None

    def learn(self, memory: Floats, seen: int, outcome: Outcome, how: Any) -> Floats:  # noqa: ARG002
        """Add the pair to the running mean, then its distance from it."""
        z = (outcome.value + 1.0) / 2.0
        sum_ = memory[0] + z
        away = z - sum_ / (seen + 2)
        return np.stack([sum_, memory[1] + away * away])
