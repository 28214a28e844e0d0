"""Is the first policy better when each task is compared with itself?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from surefoot import _check
from surefoot.core import words
from surefoot.core.gain import Gain, decide
from surefoot.core.interval import Interval
from surefoot.core.tally import Tally, tallies
from surefoot.core.verdict import Verdict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ASSUMPTIONS = (
    "Rollouts are independent; within a stratum each policy has one success rate.",
    "The gain is an average over strata, weighted by how much each can tell.",
    "Coverage is close to the confidence, not guaranteed.",
)
_GRID = 32


def stratified_gain(
    strata: Mapping[str, tuple[Tally, Tally]], *, confidence: float = 0.95, margin: float = 0.0
) -> Gain:
    """How much better is the first, task by task, with a warning when the pooled counts say otherwise?

    The gain is the Mantel-Haenszel risk difference and the p-value that of Cochran, Mantel and Haenszel; the
    interval spans every gain that the same score test would not reject, so the two cannot contradict each other.
    (In strata of a handful of rollouts a gain beyond 0 can fit better than 0; the larger p-value is given then.)

    Args:
        strata: First and second tally of every task (or other stratum).
        confidence: How often such intervals hold the gain, nearly.
        margin: The gain that would not matter.

    Assumptions:
        Independent rollouts; one success rate per policy and stratum. Few rollouts per stratum are fine when
        there are many strata.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import stratified_gain
        >>> found = stratified_gain({"easy": (Tally(18, 20), Tally(60, 80)), "hard": (Tally(32, 80), Tally(4, 20))})
        >>> print(found)
        +17.5 points [+2.1, +29.1] n=200 (95% stratified score interval), p = 0.0281: the first is better.
        >>> print(found.notes[0])
        Pooled over strata the gain is -14.0 points, the other way: strata were run in unequal shares (Simpson).

    Reference:
        Mantel and Haenszel (1959); Miettinen and Nurminen (1985), "Comparative analysis of two rates", section 4;
        Greenland and Robins (1985) for the weights.
    """
    confidence, margin = _check.confidence(confidence), _check.margin(margin)
    if not strata:
        raise ValueError("`strata` must hold at least one stratum; got none.")
    each = [tallies(first, second) for first, second in strata.values()]
    found, together = (
        _Score(each),
        _Score([(_pooled([first for first, _ in each]), _pooled([second for _, second in each]))]),
    )
    low, high, p_value = found.invert(confidence)
    verdict = decide(low, high, margin)
    apart = decide(*together.invert(confidence)[:2], margin)
    notes = _warning(found.estimate, together.estimate, verdict, apart)
    data = tuple(tally for pair in each for tally in pair)
    interval = Interval(
        low=low,
        high=high,
        estimate=found.estimate,
        confidence=confidence,
        method="stratified score",
        trials=sum(tally.trials for tally in data),
        scale="gain",
        assumptions=ASSUMPTIONS,
        notes=notes,
        data=data,
    )
    return Gain(interval, p_value, verdict, "stratified score", margin, ASSUMPTIONS, notes, data)


def _warning(strict: float, pooled: float, verdict: Verdict, apart: Verdict) -> tuple[str, ...]:
    shown = words.number(pooled, "gain")
    if strict * pooled < 0.0 and min(abs(strict), abs(pooled)) > 1e-12:
        return (
            f"Pooled over strata the gain is {shown} points, the other way: strata were run in unequal shares "
            "(Simpson).",
        )
    if verdict is not apart:
        return (
            f"Pooled over strata the gain is {shown} points and the verdict '{apart}', not '{verdict}': "
            "trust the strata.",
        )
    return ()


def _pooled(parts: list[Tally]) -> Tally:
    return Tally(sum(tally.successes for tally in parts), sum(tally.trials for tally in parts))


class _Score:
    """The score test of every candidate gain common to all strata."""

    def __init__(self, strata: list[tuple[Tally, Tally]]) -> None:
        import numpy as np

        self.x1, self.n1, self.x2, self.n2 = (
            np.array(column, float)
            for column in zip(*((a.successes, a.trials, b.successes, b.trials) for a, b in strata), strict=True)
        )
        self.weights = self.n1 * self.n2 / (self.n1 + self.n2)
        gaps = self.x1 / self.n1 - self.x2 / self.n2
        self.estimate = float((self.weights * gaps).sum() / self.weights.sum())

    def ratio(self, gain: float) -> float:
        """Squared distance over its variance under the candidate; 0 where both vanish."""
        from surefoot.numerics import gain_scores

        r1, r2 = gain_scores.restricted(self.x1, self.n1, self.x2, self.n2, gain)
        total = self.n1 + self.n2
        spread = (r1 * (1.0 - r1) / self.n1 + r2 * (1.0 - r2) / self.n2) * total / (total - 1.0)
        variance = float((self.weights**2 * spread).sum())
        away = float(self.weights.sum()) * (self.estimate - gain)
        if abs(away) <= 1e-13 * float(self.weights.sum()):
            return 0.0
        return away * away / variance if variance > 0.0 else math.inf

    def invert(self, confidence: float) -> tuple[float, float, float]:
        """Both ends, and the p-value of no gain, by the same test."""
        from surefoot.numerics import normal

        bar = normal.upper_quantile((1.0 - confidence) / 2.0) ** 2
        grid = sorted({self.estimate, *(step / _GRID for step in range(-_GRID, _GRID + 1))})
        ratios = [self.ratio(gain) for gain in grid]
        kept = [place for place, ratio in enumerate(ratios) if ratio <= bar]  # the estimate is always among them
        low = self._edge(bar, grid[kept[0]], grid[kept[0] - 1]) if kept[0] > 0 else -1.0
        high = self._edge(bar, grid[kept[-1]], grid[kept[-1] + 1]) if kept[-1] < len(grid) - 1 else 1.0
        # the largest p-value at or beyond 0, seen from the estimate: the grid that found the ends holds 0, so the
        # interval excludes 0 exactly when this p-value is below 1 - confidence
        beyond = [r for gain, r in zip(grid, ratios, strict=True) if gain == 0.0 or gain * self.estimate < 0.0]
        least = min(beyond) if self.estimate else 0.0
        return low, high, min(1.0, 2.0 * normal.tail(math.sqrt(least)))

    def _edge(self, bar: float, inner: float, outer: float) -> float:
        """Where acceptance ends between an accepted gain and a refused one."""
        while abs(outer - inner) > 1e-12:
            middle = (outer + inner) / 2.0
            if self.ratio(middle) <= bar:
                inner = middle
            else:
                outer = middle
        return inner
