"""Tests of a joint gate: several needs at once, and the ratio of two means.

Every need has two p-values: p is small where it was shown to hold, p' where it was shown to be broken.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from surefoot import _check
from surefoot.core.assumptions import (
    ANY_SCORES,
    MEAN_BY_POLICY,
    PAIRS_GAINS_DIFFER,
    PAIRS_ONE_GAIN,
    RANGE_FIXED,
    Assumed,
)
from surefoot.core.record import Record
from surefoot.core.scores import Scores
from surefoot.stats import score_gains, score_means
from surefoot.stats.multiplicity import holm
from surefoot.stats.score_means import ScoreTest

ALL, BETTER = "all", "one better, none worse"
AT_LEAST = re.compile(r"at least (\d+)")
PAIRED, SEPARATE = "paired ratio (Gaffke)", "two-sample ratio (Gaffke)"
WIDEST = 1e6
"""The largest ratio that a bound is looked for at."""


@dataclass(frozen=True, slots=True)
class GateTest(Record):
    """What is shown of several needs together.

    Attributes:
        passed: Whether the rule was shown to hold.
        failed: Whether the rule was shown to be broken.
        p_value: The p-value of "the rule does not hold".
        holds: Which needs were shown to hold, each by itself.
        broken: Which needs were shown to be broken, with no false one among them.
        broken_p: The p-value of each "this need holds", adjusted by Holm.
    """

    passed: bool
    failed: bool
    p_value: float
    holds: tuple[bool, ...]
    broken: tuple[bool, ...]
    broken_p: tuple[float, ...]


def gate_test(
    p_values: Sequence[float],
    broken: Sequence[float],
    *,
    rule: str = ALL,
    better: Sequence[float] = (),
    confidence: float = 0.95,
) -> GateTest:
    """Intersection-union test of several needs: all hold, at least k, or one better and none worse.

    "all": the largest p-value, without a correction. "at least k" of m: m - k + 1 times the k-th smallest. "one better,
    none worse": the largest of all p-values of "not worse", and Holm's smallest of "better". Needs are named broken by
    Holm over their own p-values; the rule is broken where more are than it can spare.

    Args:
        p_values: Of every need, the p-value of "it does not hold".
        broken: Of every need, the p-value of "it holds".
        rule: "all", "at least 3" (or another number), or "one better, none worse".
        better: Of every need that may be the better one, the p-value of "it is not better".
        confidence: One minus the error of passing a gate that does not hold, and of failing one that does.

    Assumptions:
        Valid p-values, of any dependence.

    Example:
        >>> from surefoot.stats import gate_test
        >>> found = gate_test([0.03, 0.04, 0.01], [0.99, 0.97, 1.0])
        >>> found.passed, found.p_value
        (True, 0.04)

    Reference:
        Berger (1982), "Multiparameter hypothesis testing and acceptance sampling"; Holm (1979).
    """
    error = 1.0 - _check.confidence(confidence)
    each = [_check.rate(p, f"p_values[{place}]") for place, p in enumerate(p_values)]
    _check.filled(each, "p_values", "hold at least one need")
    if len(broken) != len(each):
        raise _check.wrong("broken", f"hold a p-value for each of {len(each)} needs; got {len(broken)}.", broken)
    adjusted = holm(broken)
    named = tuple(p <= error for p in adjusted)
    p_value, spare = _rule(rule, each, better)
    return GateTest(
        passed=p_value <= error,
        failed=sum(named) > spare,
        p_value=p_value,
        holds=tuple(p <= error for p in each),
        broken=named,
        broken_p=adjusted,
    )


def _rule(rule: str, each: list[float], better: Sequence[float]) -> tuple[float, int]:
    """The p-value of a rule, and how many needs may be broken while it holds."""
    if rule == BETTER:
        _check.filled(better, "better", "hold a need that may be the better one")
        return max(*each, min(holm(better))), 0
    least = needed(rule, len(each))
    spare = len(each) - least
    return min(1.0, (spare + 1) * sorted(each)[least - 1]), spare


def needed(rule: str, needs: int) -> int:
    """How many of the needs a rule asks for."""
    if rule in (ALL, BETTER):
        return needs
    found = AT_LEAST.fullmatch(str(rule))
    if found is None:
        raise _check.refused("rule", f'be "{ALL}", "at least 3" or "{BETTER}"', rule)
    least = int(found[1])
    if not 1 <= least <= needs:
        raise _check.wrong("rule", f"ask for 1 to {needs} needs, as many as there are; got {rule!r}.", rule)
    return least


def paired_ratio_test(first: Scores, second: Scores, ratio: float, *, several_tasks: bool = False) -> ScoreTest:
    """Test of the ratio of two means on the same conditions, such as the time of the first per time of the second.

    With u = first - ratio x second and T the upper end of the range, (T - u) / ((1 + ratio) T) lies between 0 and 1 and
    has a mean of at least 1 / (1 + ratio) exactly when the first mean is at most `ratio` times the second. Its mean is
    tested as in `score_mean`.

    Args:
        first: Values of the first policy, one per pair, between 0 and a limit fixed beforehand.
        second: Values of the second policy, pair by pair.
        ratio: The ratio to test, above 0.
        several_tasks: Whether the pairs are of several tasks with means of their own.

    Assumptions:
        The limit was fixed beforehand; the pairs are independent. The two values of a pair may depend on each other.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats import paired_ratio_test
        >>> new, old = Scores([40.0, 50.0, 45.0] * 20, 0.0, 120.0), Scores([44.0, 46.0, 48.0] * 20, 0.0, 120.0)
        >>> round(paired_ratio_test(new, old, 1.1).below, 4)
        0.0664

    Reference:
        Gaffke (2005) and Vlassis and Thomas (2026), arXiv 2607.08415, on the weighted differences.
    """
    import numpy as np

    from surefoot.numerics.scores import score_tails

    ratio = _ratio(first, ratio)
    score_gains.paired(first, second)
    one, other = (np.asarray(side.values) / first.high for side in (first, second))
    share = np.clip((1.0 - one + ratio * other) / (1.0 + ratio), 0.0, 1.0)
    test: score_means.Tested = score_tails.OneSample(score_tails.pool(share))
    if several_tasks:
        test = score_means.Spread(test)
    held = (RANGE_FIXED, PAIRS_GAINS_DIFFER if several_tasks else PAIRS_ONE_GAIN, ANY_SCORES)
    return _tested((first, second), ratio, test, PAIRED, len(first), held)


def ratio_test(first: Scores, second: Scores, ratio: float) -> ScoreTest:
    """Test of the ratio of two means from separate rollouts, such as the time of the first per time of the second.

    The two groups 1 - first / T and second / T, T the upper end of the range, with weights 1 and `ratio`: the weighted
    sum of their means is at least 1 exactly when the first mean is at most `ratio` times the second. It is tested as in
    `score_gain`.

    Args:
        first: Values of the first policy, between 0 and a limit fixed beforehand.
        second: Values of the second policy.
        ratio: The ratio to test, above 0.

    Assumptions:
        The limit was fixed beforehand; all rollouts are independent, and those of each policy share one mean.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats import ratio_test
        >>> new, old = Scores([40.0, 50.0, 45.0] * 20, 0.0, 120.0), Scores([44.0, 46.0, 48.0] * 20, 0.0, 120.0)
        >>> round(ratio_test(new, old, 1.1).below, 4)
        0.0186

    Reference:
        As for `score_gain`, with weights of the groups that differ.
    """
    from surefoot.numerics.scores import score_tails, two_groups
    from surefoot.stats.means import unit

    ratio = _ratio(first, ratio)
    score_gains.check_ranges(first, second)
    samples = score_tails.pool(1.0 - unit(first)), score_tails.pool(unit(second))
    test = two_groups.TwoGroups(samples, (1.0 / (1.0 + ratio), ratio / (1.0 + ratio)))
    held = (RANGE_FIXED, MEAN_BY_POLICY, ANY_SCORES)
    return _tested((first, second), ratio, test, SEPARATE, len(first) + len(second), held)


def _tested(
    data: tuple[Scores, Scores],
    ratio: float,
    test: score_means.Tested,
    method: str,
    trials: int,
    held: tuple[Assumed, ...],
) -> ScoreTest:
    two_sided, smaller, larger = score_means.all_sides(test, 1.0 / (1.0 + ratio))
    observed = data[0].mean / data[1].mean if data[1].mean else math.inf
    return ScoreTest(two_sided, larger, smaller, ratio, min(observed, WIDEST), method, trials, "score", held, data=data)


def _ratio(first: Scores, ratio: float) -> float:
    if _check.instance(first, "first", Scores).low != 0.0:
        raise _check.wrong("first", f"have a range from 0, for a ratio; got [{first.low:g}, {first.high:g}].", first)
    return _check.positive(ratio, "ratio")


def refuted(holds: Callable[[float], float], error: float, start: float, least: float, most: float) -> float:
    """The end of an interval: the value next to `start` whose p-value is above the error, the next being refuted.

    Args:
        holds: The p-value of a value; it falls from the start towards the far end.
        error: The error of this end.
        start: A value that is not refuted.
        least: The far end, to which it is looked for: below the start or above it.
        most: How near the two sides of the end must be, as a share of the distance.
    """
    if holds(least) > error:
        return least
    kept, out = start, least
    while abs(kept - out) > most * abs(start - least):
        middle = 0.5 * (kept + out)
        kept, out = (middle, out) if holds(middle) > error else (kept, middle)
    return out
