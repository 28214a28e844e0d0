"""Confidence bands of the distribution of a score.

A band holds the true distribution function everywhere at once, so all that is read off one band (quantiles, the
mean, the average of the worst rollouts, the chance to reach a threshold) holds at once.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from typing import Protocol

from surefoot import _check
from surefoot.core.assumptions import BAND_AT_LEAST, BAND_EXACT, ONE_DISTRIBUTION, RANGE_FIXED
from surefoot.core.bands import Band
from surefoot.core.scores import Scores
from surefoot.stats.means import WRITE

TIES = "Some scores are equal: the band holds with more than the stated confidence."

MOST_TAIL_TIGHT = 20_000
"""Beyond so many rollouts the exact calibration of `tail_tight` takes minutes."""

METHOD_NAMES = {"ks": "KS", "dkw": "DKW", "tail_tight": "tail-tight"}


class Heights(Protocol):
    """A way to make a band: how high it is after 0, 1, ..., n sorted scores, in the worst case."""

    __name__: str

    def __call__(self, rollouts: int, /, *, confidence: float, sides: int) -> tuple[float, ...]:
        """The heights for so many rollouts; the best case mirrors them."""


def ks(rollouts: int, *, confidence: float = 0.95, sides: int = 1) -> tuple[float, ...]:
    """How high is the Kolmogorov-Smirnov band? The observed share plus one exact offset, everywhere.

    Assumptions:
        Independent rollouts with one distribution. Exact without ties, conservative with them.

    Example:
        >>> from surefoot.reference import ks
        >>> [round(height, 4) for height in ks(4)]
        [0.5652, 0.8152, 1.0, 1.0, 1.0]

    Reference:
        Birnbaum and Tingey (1951), "One-sided confidence contours for probability distribution functions";
        Vincent et al. (2024), equations 16 to 18. Two-sided: Kolmogorov's exact distribution.
    """
    confidence, sides = _check.confidence(confidence), _sides(sides)
    if sides == 1:
        offset = ks_offset(rollouts, confidence=confidence)
    else:
        from surefoot.numerics.scores import boundary_crossing

        offset = boundary_crossing.two_sided_offset(_check.whole(rollouts, "rollouts", least=1), 1.0 - confidence)
    return _shifted(rollouts, offset)


def dkw(rollouts: int, *, confidence: float = 0.95, sides: int = 1) -> tuple[float, ...]:
    """How high is the band of the Dvoretzky-Kiefer-Wolfowitz inequality? A formula, always above `ks`.

    Assumptions:
        Independent rollouts with one distribution; for confidence of at least one half.

    Example:
        >>> from surefoot.reference import dkw
        >>> [round(height, 4) for height in dkw(4)]
        [0.6119, 0.8619, 1.0, 1.0, 1.0]

    Reference:
        Massart (1990), "The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality".
    """
    confidence, sides = _check.confidence(confidence), _sides(sides)
    if sides == 1 and confidence < 0.5:
        raise _check.refused("confidence", "be at least 0.5 for the one-sided DKW band", confidence)
    rollouts = _check.whole(rollouts, "rollouts", least=1)
    return _shifted(rollouts, math.sqrt(math.log(sides / (1.0 - confidence)) / (2.0 * rollouts)))


def tail_tight(rollouts: int, *, confidence: float = 0.95, sides: int = 1) -> tuple[float, ...]:
    """How high is the band that is narrow in the tails? Each sorted score gets the same chance to escape.

    The height after i scores is the Clopper-Pearson upper bound of i successes in n, at one common local level
    chosen so that the whole band holds with exactly the confidence. Against `ks` it gives up a little in the
    middle and gains much in the tails, where safety questions are asked.

    Assumptions:
        Independent rollouts with one distribution. Exact without ties, conservative with them. At most 20,000
        rollouts; the calibration is computed, not simulated.

    Example:
        >>> from surefoot.reference import tail_tight
        >>> [round(height, 4) for height in tail_tight(4)]
        [0.648, 0.8364, 0.9476, 0.9961, 1.0]

    Reference:
        Aldor-Noiman, Brown, Buja, Rolke and Stine (2013), "The power to see: a new graphical test of normality";
        Gontscharuk, Landwehr and Finner (2016), equal local levels. Calibration after Moscovich and Nadler
        (2017), "Fast calculation of boundary crossing probabilities for Poisson processes".
    """
    confidence, sides = _check.confidence(confidence), _sides(sides)
    rollouts = _check.whole(rollouts, "rollouts", least=1)
    if rollouts > MOST_TAIL_TIGHT:
        hint = "Use `ks` for so many rollouts."
        raise _check.refused("rollouts", f"be at most {MOST_TAIL_TIGHT:,} for `tail_tight`", rollouts, hint)
    return _equal_local_levels(rollouts, confidence, sides)


def band(scores: Scores, *, confidence: float = 0.95, using: Heights = ks) -> Band:
    """What is the worst the whole distribution of scores can be? The upper band on its distribution function.

    Assumptions:
        Independent rollouts with one distribution, and a range fixed beforehand: left of the smallest score the
        band is not 0, so the worst case of the mean reaches down to the range's low end.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats import band
        >>> worst = band(Scores([0.2, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0] * 4))
        >>> print(worst)
        mean at least 0.540, median at least 0.700, worst quarter averages at least 0.048 n=40 (95% KS band).
        >>> round(worst.chance_at_least(0.6), 4)
        0.6109

    Reference:
        Vincent et al. (2024), section V; Birnbaum and Tingey (1951).
    """
    scores = _check.instance(scores, "scores", Scores, WRITE)
    uppers = using(len(scores), confidence=confidence, sides=1)
    return _band(scores, uppers, (), confidence, using)


def best_case_band(scores: Scores, *, confidence: float = 0.95, using: Heights = ks) -> Band:
    """What is the best the whole distribution of scores can be? The lower band on its distribution function.

    Assumptions:
        As for `band`.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import best_case_band
        >>> print(best_case_band(Scores([0.0, 0.1, 0.2, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.9] * 4)))
        mean at most 0.571, median at most 0.500, worst quarter averages at most 0.212 n=40 (95% KS band).

    Reference:
        As for `band`, mirrored.
    """
    scores = _check.instance(scores, "scores", Scores, WRITE)
    uppers = using(len(scores), confidence=confidence, sides=1)
    return _band(scores, (), _mirrored(uppers), confidence, using)


def two_sided_band(scores: Scores, *, confidence: float = 0.95, using: Heights = ks) -> Band:
    """Between which worst and best case does the whole distribution lie? Both sides hold together.

    Assumptions:
        As for `band`.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import tail_tight, two_sided_band
        >>> both = two_sided_band(Scores([0.2, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0] * 4), using=tail_tight)
        >>> round(both.mean_bound(), 3), round(both.mean_ceiling(), 3)
        (0.53, 0.852)

    Reference:
        Kolmogorov's exact two-sided distribution for `ks`; as for `tail_tight` with both sides.
    """
    scores = _check.instance(scores, "scores", Scores, WRITE)
    uppers = using(len(scores), confidence=confidence, sides=2)
    return _band(scores, uppers, _mirrored(uppers), confidence, using)


def ks_offset(rollouts: int, *, confidence: float = 0.95) -> float:
    """How far above the observed distribution can the true one be? The exact one-sided offset.

    Assumptions:
        As for `ks`.

    Example:
        >>> from surefoot.reference import ks_offset
        >>> round(ks_offset(40), 5)
        0.18913

    Reference:
        Birnbaum and Tingey (1951), theorem 1; Vincent et al. (2024), equation 18.
    """
    from surefoot.numerics.scores import boundary_crossing

    tail = 1.0 - _check.confidence(confidence)
    return boundary_crossing.one_sided_offset(_check.whole(rollouts, "rollouts", least=1), tail)


def ks_error(rollouts: int, offset: float) -> float:
    """How often does a one-sided band with this offset miss? One minus its confidence, to full accuracy.

    Assumptions:
        As for `ks`.

    Example:
        >>> from surefoot.reference import ks_error
        >>> round(ks_error(40, 0.189), 6)
        0.050204

    Reference:
        Birnbaum and Tingey (1951), theorem 1; Vincent et al. (2024), equation 16.
    """
    from surefoot.numerics.scores import boundary_crossing

    return boundary_crossing.one_sided_tail(
        _check.whole(rollouts, "rollouts", least=1), _check.fraction(offset, "offset")
    )


@lru_cache(maxsize=32)
def _equal_local_levels(rollouts: int, confidence: float, sides: int) -> tuple[float, ...]:
    """The heights, kept: many bands of one size are asked for in a report or a simulation."""
    from surefoot.numerics.scores import boundary_crossing

    level = boundary_crossing.local_level(rollouts, 1.0 - confidence, sides)
    return (*boundary_crossing.local_limits(rollouts, level, 1)[1].tolist(), 1.0)


def _sides(sides: int) -> int:
    if sides not in (1, 2) or isinstance(sides, bool):
        raise _check.refused("sides", "be 1 or 2", sides)
    return int(sides)


def _shifted(rollouts: int, offset: float) -> tuple[float, ...]:
    return (*(min(1.0, offset + i / rollouts) for i in range(rollouts)), 1.0)


def _mirrored(uppers: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(1.0 - height for height in reversed(uppers))


def _band(
    scores: Scores, uppers: tuple[float, ...], lowers: tuple[float, ...], confidence: float, using: Heights
) -> Band:
    n, points = len(scores), tuple(sorted(scores.values))
    heights = uppers or _mirrored(lowers)
    tied = any(a == b for a, b in pairwise(points))
    return Band(
        scores=scores,
        points=points,
        uppers=uppers,
        lowers=lowers,
        offset=max(height - i / n for i, height in enumerate(heights)),
        confidence=float(confidence),
        method=METHOD_NAMES.get(using.__name__, using.__name__),
        assumptions=(ONE_DISTRIBUTION, RANGE_FIXED, BAND_AT_LEAST if using is dkw else BAND_EXACT),
        notes=(TIES,) if tied else (),
    )
