"""Westfall and Young's step-down over slices of a table, in both directions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from surefoot import _check
from surefoot.core.record import Record
from surefoot.core.tally import Tally, tallies
from surefoot.core.verdict import Verdict

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats
    from surefoot.numerics.slice_shuffles import Shuffle

Claim = Literal["both", "worse", "better"]
CLAIMS = ("both", "worse", "better")
POWER = 0.8
MOST_TABLES = 10**6
"""Tables of two binomials that are enumerated for what could have been seen; above, the normal tells."""


@dataclass(frozen=True, slots=True)
class SliceTests(Record):
    """Adjusted one-sided p-values of slices: one error for all of them, whatever they share.

    Attributes:
        worse: The p-value of "in no cell of the slice is the first worse", adjusted, for every slice.
        better: The same of "in no cell is it better".
        local_error: The one-sided error that one slice alone may spend: for intervals that hold together.
        confidence: One minus the chance that any slice is named wrongly.
        claim: Which claims are made: both ways with half of the error each, or one with all of it.
        draws: How often labels were shuffled; 0 where no shuffle was needed.
    """

    worse: tuple[float, ...]
    better: tuple[float, ...]
    local_error: float
    confidence: float = 0.95
    claim: Claim = "both"
    draws: int = 0

    @property
    def error(self) -> float:
        """The error of each side that is claimed."""
        return round((1.0 - self.confidence) / (2.0 if self.claim == "both" else 1.0), 15)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What is claimed of every slice."""
        return tuple(self._verdict(worse, better) for worse, better in zip(self.worse, self.better, strict=True))

    def _verdict(self, worse: float, better: float) -> Verdict:
        if self.claim != "better" and worse <= self.error:
            return Verdict.WORSE
        return Verdict.BETTER if self.claim != "worse" and better <= self.error else Verdict.UNDECIDED


def slice_gains(
    cells: Mapping[str, tuple[Tally, Tally]],
    slices: Mapping[str, Sequence[str]],
    *,
    confidence: float = 0.95,
    claim: Claim = "both",
    draws: int | None = None,
) -> SliceTests:
    """Step-down max-T permutation tests of overlapping groups of cells, strong control of the familywise error.

    Labels are shuffled inside cells. The statistic of a slice is the sum over its cells of expected less seen successes
    of the first, over its standard deviation, corrected for skewness.

    Args:
        cells: First and second tally of every cell.
        slices: The cells of every slice; slices may overlap.
        confidence: One minus the chance that any slice is named wrongly.
        claim: "both" for worse and better with half of the error each; "worse" or "better" with all of it.
        draws: How often labels are shuffled; 19,999 when not said.

    Assumptions:
        Independent rollouts, one success rate per policy and cell. Proved is "worse somewhere in the slice".

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import slice_gains
        >>> cells = {"dim": (Tally(4, 20), Tally(15, 20)), "bright": (Tally(17, 20), Tally(16, 20))}
        >>> found = slice_gains(cells, {"dim": ["dim"], "bright": ["bright"]})
        >>> [str(one) for one in found.verdicts]
        ['worse', 'undecided']

    Reference:
        Westfall and Young (1993), "Resampling-Based Multiple Testing"; Mantel and Haenszel (1959).
    """
    import numpy as np

    from surefoot.numerics import slice_shuffles

    _check.filled(cells, "cells", "hold at least one cell")
    _check.filled(slices, "slices", "hold at least one slice")
    places = {name: place for place, name in enumerate(cells)}
    members = np.zeros((len(cells), len(slices)))
    for column, (name, inside) in enumerate(slices.items()):
        unknown = [cell for cell in inside if cell not in places]
        if unknown or not inside:
            raise _check.wrong("slices", f"name cells that there are; {name!r} has {unknown or 'none'}.", slices)
        members[[places[cell] for cell in inside], column] = 1.0
    each = [tallies(first, second) for first, second in cells.values()]
    won, tried, lost_to, against = np.asarray(
        [(a.successes, a.trials, b.successes, b.trials) for a, b in each], float
    ).T
    return stepped_down(
        slice_shuffles.of_successes(won, tried, lost_to, against, members),
        confidence=confidence,
        claim=claim,
        draws=draws or slice_shuffles.DRAWS,
    )


def stepped_down(shuffle: Shuffle, *, confidence: float, claim: Claim, draws: int) -> SliceTests:
    """The step-down of slices that are shuffled in any way."""
    from scipy import special

    from surefoot.numerics.slice_shuffles import step_down

    confidence = _check.confidence(confidence)
    _check.choice(claim, "claim", dict.fromkeys(CLAIMS))
    found = step_down(shuffle, draws=draws)
    rank = max(1, math.floor((1.0 - confidence) / 2.0 * (draws + 1) + 1e-9))
    largest = max(float(found.worse_maxima[rank - 1]), float(found.better_maxima[rank - 1]))
    local = float(special.ndtr(-largest)) if math.isfinite(largest) else 0.5
    return SliceTests(tuple(found.worse.tolist()), tuple(found.better.tolist()), local, confidence, claim, draws)


def by_holm(worse: Sequence[float], better: Sequence[float], *, confidence: float, claim: Claim) -> SliceTests:
    """Holm's step-down of one-sided p-values, each way by itself."""
    confidence = _check.confidence(confidence)
    _check.choice(claim, "claim", dict.fromkeys(CLAIMS))
    share = (1.0 - confidence) / 2.0 / max(1, len(worse))
    return SliceTests(_holm(worse), _holm(better), share, confidence, claim)


def _holm(p_values: Sequence[float]) -> tuple[float, ...]:
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    adjusted, largest = [1.0] * len(p_values), 0.0
    for done, place in enumerate(order):
        largest = max(largest, min(1.0, p_values[place] * (len(p_values) - done)))
        adjusted[place] = largest
    return tuple(adjusted)


# What could have been seen


def least_drop(first: int, second: int, rate: float, error: float) -> float | None:
    """The least drop from a rate that is noticed with a chance of .8 at a one-sided error, in points of a hundred.

    Args:
        first: Rollouts of the policy that drops.
        second: Rollouts of the other.
        rate: The other's success rate.
        error: The one-sided error.

    Returns:
        The drop; None where not even one to 0 is noticed so often.
    """
    import numpy as np
    from scipy import special

    from surefoot.numerics.slice_shuffles import hypergeometric_moments, statistic

    limit = -float(special.ndtri(error))
    steps = np.arange(1, max(1, round(100.0 * rate)) + 1) / 100.0
    if first * second > MOST_TABLES:
        wide = np.sqrt((rate - steps) * (1.0 - rate + steps) / first + rate * (1.0 - rate) / second)
        chance = special.ndtr(steps / np.maximum(wide, 1e-12) - limit)
        return _first_step(steps, chance)
    x, y = np.arange(first + 1.0), np.arange(second + 1.0)
    mean, variance, third = hypergeometric_moments(np.array(float(first)), np.array(float(second)), x[:, None] + y)
    seen = statistic(mean - x[:, None], variance, -third)
    noticed = np.nan_to_num(seen, nan=-np.inf) >= limit
    after = noticed @ _binomial(second, rate)
    chance = np.array([float(_binomial(first, max(0.0, rate - step)) @ after) for step in steps])
    return _first_step(steps, chance)


def _first_step(steps: Floats, chance: Floats) -> float | None:
    return float(steps[int((chance >= POWER).argmax())]) if (chance >= POWER).any() else None


def _binomial(trials: int, rate: float) -> Any:
    import numpy as np
    from scipy import special

    hits = np.arange(trials + 1.0)
    ways = special.gammaln(trials + 1.0) - special.gammaln(hits + 1.0) - special.gammaln(trials - hits + 1.0)
    return np.exp(ways + special.xlogy(hits, rate) + special.xlog1py(trials - hits, -rate))
