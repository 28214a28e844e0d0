"""Difference of two mean scores, guaranteed whatever the order of the rollouts.

The default comparison of scores at a number of rollouts fixed beforehand. Interval, p-value and verdict come from one
test. Nothing is dropped: two samples may have any sizes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from surefoot import _check
from surefoot.core.assumptions import (
    ANY_SCORES,
    MEAN_BY_POLICY,
    PAIRS_GAINS_DIFFER,
    PAIRS_ONE_GAIN,
    RANGE_FIXED,
    Assumed,
)
from surefoot.core.gain import Gain, decide
from surefoot.core.interval import Bound, Interval, Side
from surefoot.core.notes import Noted
from surefoot.core.scores import Moments, Scores
from surefoot.stats import score_means
from surefoot.stats.means import WRITE, unit
from surefoot.stats.score_means import ScoreTest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from surefoot.numerics.arrays import Floats, Ints
    from surefoot.numerics.scores.two_groups import TwoGroups


Ranged = Scores | Moments
PAIRED, SEPARATE = "paired Gaffke", "two-sample Gaffke"


def check_ranges(
    first: Ranged, second: Ranged, *, names: tuple[str, str] = ("first", "second"), kind: type[Ranged] = Scores
) -> None:
    """Refuse what is no scores (or no moments of them), and scores that were not measured on one scale."""
    for value, name in zip((first, second), names, strict=True):
        _check.instance(value, name, kind, WRITE if kind is Scores else "")
    if (first.low, first.high) != (second.low, second.high):
        must = f"have the range of `{names[0]}`, [{first.low:g}, {first.high:g}]"
        got = f"[{second.low:g}, {second.high:g}]. Scores on two scales have no gain."
        raise _check.wrong(names[1], f"{must}; got {got}", second)


def paired(first: Scores, second: Scores) -> Floats:
    """First minus second, pair by pair; refuses a pair without its partner."""
    import numpy as np

    check_ranges(first, second)
    if len(first) != len(second):
        raise _check.wrong(
            "second",
            f"hold one score for each score of `first`, {len(first):,}; got {len(second):,}. "
            "A score without its partner is no pair: remove it by name, or compare the two unpaired.",
            second,
        )
    gap = np.subtract(first.values, second.values)
    if np.ptp(gap) <= 1e-15 * max(abs(first.low), abs(first.high)):  # only rounding keeps them apart
        gap[:] = gap[0]
    return gap


def labels(clusters: Iterable[object], size: int, name: str = "clusters") -> tuple[Ints, int]:
    """Cluster numbers 0, 1, ... of `size` observations, and how many clusters there are; one alone is refused."""
    import numpy as np

    from surefoot.numerics.arrays import numbered

    if isinstance(clusters, np.ndarray) and clusters.dtype.kind in "iu":
        low, high = (int(end) for end in (clusters.min(initial=0), clusters.max(initial=0)))
        places, count = numbered(clusters - low, high - low + 1)
        first = np.zeros(count, np.int64)
        first[places[::-1]] = np.arange(len(places))[::-1]
        found = np.argsort(np.argsort(first))[places]  # numbered as they are met
    else:
        numbers: dict[object, int] = {}
        found = np.asarray([numbers.setdefault(label, len(numbers)) for label in clusters])
        count = len(numbers)
        if any(isinstance(label, float) and label != label for label in numbers):
            raise _check.wrong(name, "name the cluster of every observation; got NaN for some.")
    if len(found) != size:
        raise _check.wrong(name, f"name one cluster per observation, {size:,}; got {len(found):,}.")
    if count < 2:
        raise _check.wrong(
            name, "name at least 2 clusters; got 1. One cluster cannot show how clusters differ: there is no interval."
        )
    return found, count


def gain_of(
    data: tuple[Ranged, ...],
    ends: tuple[float, float],
    *,
    estimate: float,
    confidence: float,
    method: str,
    margin: float,
    trials: int,
    p_value: float | None = None,
    assumptions: tuple[Assumed, ...] = (),
    notes: tuple[Noted, ...] = (),
    seed: int | None = None,
) -> Gain:
    """One coherent result from the ends of an interval of the mean gain, kept inside what scores can differ by.

    The data are those of the two policies, task by task if there are several, or the moments of their differences.
    """
    one = data[0]
    most = one.high - one.low if len(data) > 1 else max(-one.low, one.high)
    margin = _check.margin(margin, most)
    low, high = (min(most, max(-most, float(end))) for end in ends)
    low, high = min(low, float(estimate)), max(high, float(estimate))  # a bootstrap's may leave it out
    interval = Interval(
        low=low,
        high=high,
        estimate=float(estimate),
        confidence=float(confidence),
        method=method,
        trials=trials,
        scale="score gain",
        assumptions=assumptions,
        notes=notes,
        data=data,
        seed=seed,
    )
    verdict = decide(low, high, margin)
    p_value = None if p_value is None else min(1.0, float(p_value))
    return Gain(interval, p_value, verdict, margin=margin)


@dataclass(frozen=True, slots=True)
class Compared:
    """Two policies' scores with the test of their gain.

    Attributes:
        data: The scores of both, task by task where there are several.
        test: The test; its target is 0 at the least gain there can be and 1 at the most.
        estimate: The observed gain.
        method: The name of the test.
        trials: Rollouts, or pairs.
        assumptions: What must hold.
        notes: What a reader must know besides.
    """

    data: tuple[Scores, ...]
    test: score_means.Tested
    estimate: float
    method: str
    trials: int
    assumptions: tuple[Assumed, ...]
    notes: tuple[Noted, ...] = ()

    @property
    def most(self) -> float:
        """The largest gain there can be."""
        return self.data[0].high - self.data[0].low

    def share(self, gain: float, name: str = "gain") -> float:
        """A gain as a target of the test."""
        gain = _check.real(gain, name)
        if abs(gain) > self.most:
            must = f"lie between {-self.most:g} and {self.most:g}, the largest gain there can be"
            raise _check.refused(name, must, gain)
        return 0.5 * (1.0 + gain / self.most)

    def gain(self, share: float) -> float:
        """A target of the test as a gain."""
        return self.most * (2.0 * share - 1.0)


def gain_from(compared: Compared, confidence: float, margin: float) -> Gain:
    """Interval, p-value and verdict of one test."""
    error = 1.0 - _check.confidence(confidence)
    (low, high), p_value = score_means.ends_and_p(compared.test, error, 0.5)
    estimate = compared.estimate
    return gain_of(
        compared.data,
        (min(estimate, compared.gain(low)), max(estimate, compared.gain(high))),
        estimate=estimate,
        confidence=confidence,
        method=compared.method,
        margin=margin,
        trials=compared.trials,
        p_value=p_value,
        assumptions=compared.assumptions,
        notes=compared.notes,
    )


def bound_from(compared: Compared, side: Side, confidence: float) -> Bound:
    """The one-sided bound of a test."""
    error = 1.0 - _check.confidence(confidence)
    sides = {"lower": compared.test, "upper": compared.test.mirrored}
    share = _check.choice(side, "side", sides).low_end(error)
    return Bound(
        side=side,
        value=compared.gain(share if side == "lower" else 1.0 - share),
        estimate=compared.estimate,
        confidence=float(confidence),
        method=compared.method,
        trials=compared.trials,
        scale="score gain",
        assumptions=compared.assumptions,
        notes=compared.notes,
        data=compared.data,
    )


def p_values_from(compared: Compared, gain: float) -> ScoreTest:
    """The p-values of one gain."""
    share = compared.share(gain)
    p_value, above, below = score_means.all_sides(compared.test, share)
    return ScoreTest(
        p_value=p_value,
        above=above,
        below=below,
        value=float(gain),
        estimate=compared.estimate,
        method=compared.method,
        trials=compared.trials,
        scale="score gain",
        assumptions=compared.assumptions,
        notes=compared.notes,
        data=compared.data,
    )


def paired_score_gain(
    first: Scores, second: Scores, *, confidence: float = 0.95, margin: float = 0.0, several_tasks: bool = False
) -> Gain:
    """How much better is the first on the same conditions, guaranteed, whatever the order? The default for pairs.

    Args:
        first: Scores of the first policy, one per pair.
        second: Scores of the second policy, pair by pair in the same order as those of the first.
        confidence: How often such intervals hold the gain, at least.
        margin: The gain that would not matter.
        several_tasks: Whether the pairs are of several tasks with gains of their own, each weighing by its pairs.

    Assumptions:
        The range was fixed beforehand; the pairs are independent and share one mean gain. The two scores of a pair
        may depend on each other. With `several_tasks` the mean gains of tasks may differ: guaranteed for tasks
        drawn at random, and within the worst case known for fixed ones.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats import paired_score_gain
        >>> first, second = Scores([1, 0.8, 0.9, 0.7] * 10), Scores([0.4, 0.5, 0.6, 0.5] * 10)
        >>> print(paired_score_gain(first, second))
        +0.350 [+0.223, +0.426] n=40 (95% paired Gaffke interval), p < 0.0001: the first is better.

    Reference:
        Gaffke (2005) and Vlassis and Thomas (2026), arXiv 2607.08415, on the differences.
    """
    return gain_from(_paired(first, second, several_tasks), confidence, margin)


def paired_score_gain_bound(
    first: Scores, second: Scores, side: Side = "lower", *, confidence: float = 0.95, several_tasks: bool = False
) -> Bound:
    """Above (or below) what is the gain on the same conditions, guaranteed? All the error is spent on this side.

    Assumptions:
        As for `paired_score_gain`.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import paired_score_gain_bound
        >>> first, second = Scores([1, 0.8, 0.9, 0.7] * 10), Scores([0.4, 0.5, 0.6, 0.5] * 10)
        >>> print(paired_score_gain_bound(first, second))
        at least +0.245 n=40 (95% paired Gaffke bound).

    Reference:
        As for `paired_score_gain`.
    """
    return bound_from(_paired(first, second, several_tasks), side, confidence)


def paired_score_test(first: Scores, second: Scores, *, gain: float = 0.0, several_tasks: bool = False) -> ScoreTest:
    """Could the gain on the same conditions be this one? The test behind `paired_score_gain`, without its interval.

    Assumptions:
        As for `paired_score_gain`.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import paired_score_test
        >>> first, second = Scores([1, 0.8, 0.9, 0.7] * 10), Scores([0.8, 0.7, 0.9, 0.6] * 10)
        >>> print(paired_score_test(first, second))
        +0.100 against +0.000, p = 0.0481 (paired Gaffke, n=40).

    Reference:
        As for `paired_score_gain`.
    """
    return p_values_from(_paired(first, second, several_tasks), gain)


def score_gain(first: Scores, second: Scores, *, confidence: float = 0.95, margin: float = 0.0) -> Gain:
    """How much better is the first, from separate rollouts, guaranteed, whatever the order? The default.

    Every rollout of both counts, also when one policy has more of them.

    Args:
        first: Scores of the first policy.
        second: Scores of the second policy.
        confidence: How often such intervals hold the gain, at least.
        margin: The gain that would not matter.

    Assumptions:
        The range was fixed beforehand; all rollouts are independent, and those of each policy share one mean. For
        several tasks use `stratified_score_gain`.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats import score_gain
        >>> print(score_gain(Scores([1, 0.8, 0.9, 0.7] * 10), Scores([0.4, 0.5, 0.6] * 5)))
        +0.350 [+0.197, +0.486] n=55 (95% two-sample Gaffke interval), p < 0.0001: the first is better.

    Reference:
        Gaffke (2005) and Vlassis and Thomas (2026), arXiv 2607.08415, for the weighted scores of two groups at
        every pair of means with this gain; the pairs of means that either group rules out are left out at a
        twentieth of the error.
    """
    return gain_from(_separate(first, second), confidence, margin)


def score_gain_bound(first: Scores, second: Scores, side: Side = "lower", *, confidence: float = 0.95) -> Bound:
    """Above (or below) what is the gain, from separate rollouts, guaranteed? All the error is spent on this side.

    Assumptions:
        As for `score_gain`.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import score_gain_bound
        >>> print(score_gain_bound(Scores([1, 0.8, 0.9, 0.7] * 10), Scores([0.4, 0.5, 0.6] * 5)))
        at least +0.220 n=55 (95% two-sample Gaffke bound).

    Reference:
        As for `score_gain`.
    """
    return bound_from(_separate(first, second), side, confidence)


def score_test(first: Scores, second: Scores, *, gain: float = 0.0) -> ScoreTest:
    """Could the gain be this one, from separate rollouts? The test behind `score_gain`, without its interval.

    Assumptions:
        As for `score_gain`.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import score_test
        >>> print(score_test(Scores([1, 0.8, 0.9, 0.7] * 10), Scores([0.7, 0.8, 0.6] * 5)))
        +0.150 against +0.000, p = 0.0169 (two-sample Gaffke, n=55).

    Reference:
        As for `score_gain`.
    """
    return p_values_from(_separate(first, second), gain)


def no_better(first: Scores, second: Scores, gain: float = 0.0) -> float:
    """The one-sided p-value of "the gain is at most this one", from separate rollouts: half of `score_test`'s work.

    Assumptions:
        As for `score_gain`.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats.score_gains import no_better
        >>> first, second = Scores([1, 0.8, 0.9, 0.7] * 10), Scores([0.7, 0.8, 0.6] * 5)
        >>> no_better(first, second) == score_test(first, second).above
        True

    Reference:
        As for `score_gain`.
    """
    compared = _separate(first, second)
    return score_means.one_sided(compared.test, compared.share(gain))


def surely_undecided(first: Scores, second: Scores, *, confidence: float = 0.95, margin: float = 0.0) -> bool:
    """Whether the verdict of `score_gain` is surely "undecided", at the cost of one or two null points.

    For families of many pairs: most are settled by it. A pair that is not needs `score_gain`.

    Assumptions:
        As for `score_gain`.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats.score_gains import surely_undecided
        >>> surely_undecided(Scores([0.9, 0.8, 1.0] * 10), Scores([0.8, 0.9, 0.9] * 10))
        True

    Reference:
        As for `score_gain`.
    """
    compared, each = _separate(first, second), 0.5 * (1.0 - _check.confidence(confidence))
    margin = _check.margin(margin, compared.most)
    test = _groups(first, second)
    mirrored = test.mirrored
    up, down = compared.share(margin), compared.share(-margin)
    if test.may_refuse(up, each) or mirrored.may_refuse(1.0 - down, each):
        return False
    return margin == 0.0 or not (mirrored.may_refuse(1.0 - up, each) and test.may_refuse(down, each))


def _separate(first: Scores, second: Scores) -> Compared:
    check_ranges(first, second)
    assumptions = (RANGE_FIXED, MEAN_BY_POLICY, ANY_SCORES)
    estimate = first.mean - second.mean
    return Compared((first, second), _groups(first, second), estimate, SEPARATE, len(first) + len(second), assumptions)


def _groups(first: Scores, second: Scores) -> TwoGroups:
    from surefoot.numerics.scores import score_tails, two_groups

    samples = score_tails.pool(unit(first)), score_tails.pool(1.0 - unit(second))
    return two_groups.TwoGroups(samples, (0.5, 0.5))


def _paired(first: Scores, second: Scores, several_tasks: bool) -> Compared:
    import numpy as np

    from surefoot.numerics.scores import score_tails

    gap = paired(first, second)
    most = first.high - first.low
    test: score_means.Tested = score_tails.OneSample(score_tails.pool(np.clip(0.5 * (1.0 + gap / most), 0.0, 1.0)))
    if several_tasks:
        test = score_means.Spread(test)
    assumptions = (RANGE_FIXED, PAIRS_GAINS_DIFFER if several_tasks else PAIRS_ONE_GAIN, ANY_SCORES)
    return Compared((first, second), test, math.fsum(gap.tolist()) / gap.size, PAIRED, int(gap.size), assumptions)
