"""Pass@k and pass^k: intervals of their means over tasks, and of gains."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace

from surefoot import _check
from surefoot.core.assumptions import TASKS_DRAWN
from surefoot.core.gain import Gain
from surefoot.core.interval import Interval
from surefoot.core.scores import Scores
from surefoot.core.tally import Tally
from surefoot.stats.cluster_gains import cluster_gain
from surefoot.stats.clusters import cluster_mean
from surefoot.stats.rates import counts
from surefoot.stats.score_gains import paired_score_gain
from surefoot.stats.score_means import score_mean


def pass_at(tally: Tally, attempts: int) -> float:
    """How likely is at least one success in this many attempts (pass@k)? Unbiased, for one task.

    Assumptions:
        Independent attempts with one success rate. More attempts than were recorded cannot be judged.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.reference import pass_at
        >>> round(pass_at(Tally(3, 10), 5), 4)
        0.9167

    Reference:
        Chen et al. (2021), "Evaluating large language models trained on code", equation 1.
    """
    attempts = _attempts(tally, attempts)
    if attempts > tally.failures:
        return 1.0
    # the chance that all attempts fall among the failures, as logarithms: a rare success keeps its digits
    missed = math.fsum(math.log1p(-tally.successes / (tally.trials - i)) for i in range(attempts))
    return -math.expm1(missed) + 0.0


def pass_all(tally: Tally, attempts: int) -> float:
    """How likely is it that every one of this many attempts succeeds (pass^k)? Unbiased, for one task.

    Assumptions:
        Independent attempts with one success rate. More attempts than were recorded cannot be judged.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.reference import pass_all
        >>> round(pass_all(Tally(19, 20), 2), 4)
        0.9

    Reference:
        Yao et al. (2024), "tau-bench", section 4 (pass^k).
    """
    attempts = _attempts(tally, attempts)
    if attempts > tally.successes:
        return 0.0
    return math.prod((tally.successes - i) / (tally.trials - i) for i in range(attempts))


def mean_pass_at(
    tasks: Iterable[Tally], attempts: int, *, clusters: Iterable[object] | None = None, confidence: float = 0.95
) -> Interval:
    """Confidence interval of mean pass@k: at least one success in k attempts, over tasks like these.

    Every task counts once, with its unbiased estimate: the interval is that of the mean of bounded scores, guaranteed
    whatever their law. One success more never lowers an end.

    Args:
        tasks: The tally of every task.
        attempts: How many attempts a task is given.
        clusters: The cluster of each task, where tasks are not independent; the interval is approximate then.
        confidence: How often such intervals hold the mean, at least.

    Assumptions:
        The tasks (or their clusters) are independent draws from those that matter, and the attempts at a task are
        independent with one success rate.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import mean_pass_at
        >>> tasks = [Tally(3, 10), Tally(9, 10), Tally(0, 10), Tally(5, 10), Tally(1, 10), Tally(8, 10)]
        >>> print(mean_pass_at(tasks, 3))
        65.4% [26.1%, 91.4%] n=6 (95% pass@3, Gaffke interval).

    Reference:
        Chen et al. (2021), equation 1; the interval as `score_mean`.
    """
    return _mean(tasks, attempts, pass_at, f"pass@{attempts}", clusters, confidence)


def mean_pass_all(
    tasks: Iterable[Tally], attempts: int, *, clusters: Iterable[object] | None = None, confidence: float = 0.95
) -> Interval:
    """Confidence interval of mean pass^k: all of k attempts succeed, over tasks like these.

    Args:
        tasks: The tally of every task.
        attempts: How many attempts a task is given.
        clusters: The cluster of each task, where tasks are not independent; the interval is approximate then.
        confidence: How often such intervals hold the mean, at least.

    Assumptions:
        As for `mean_pass_at`.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import mean_pass_all
        >>> tasks = [Tally(3, 10), Tally(9, 10), Tally(0, 10), Tally(5, 10), Tally(1, 10), Tally(8, 10)]
        >>> print(mean_pass_all(tasks, 3))
        21.0% [3.9%, 60.8%] n=6 (95% pass^3, Gaffke interval).

    Reference:
        Yao et al. (2024), "tau-bench", section 4; the interval as `score_mean`.
    """
    return _mean(tasks, attempts, pass_all, f"pass^{attempts}", clusters, confidence)


def pass_at_gain(
    first: Iterable[Tally],
    second: Iterable[Tally],
    attempts: int,
    *,
    clusters: Iterable[object] | None = None,
    confidence: float = 0.95,
    margin: float = 0.0,
) -> Gain:
    """Confidence interval of the difference of two policies in pass@k, on the same tasks.

    Args:
        first: The tally of the first policy on every task.
        second: The tally of the second policy, task by task in the same order.
        attempts: How many attempts a task is given.
        clusters: The cluster of each task, where tasks are not independent; the interval is approximate then.
        confidence: How often such intervals hold the gain, at least.
        margin: The gain that would not matter.

    Assumptions:
        As for `mean_pass_at`; the two policies' results on a task may depend on each other.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import pass_at_gain
        >>> new = [Tally(k, 10) for k in (8, 9, 5, 7, 9, 6, 8, 9)]
        >>> old = [Tally(k, 10) for k in (1, 0, 1, 0, 0, 1, 2, 0)]
        >>> print(pass_at_gain(new, old, 2).verdict)
        better

    Reference:
        Chen et al. (2021), equation 1; the interval as `paired_score_gain`.
    """
    return _gain((first, second), attempts, pass_at, f"pass@{attempts}", clusters, confidence, margin)


def pass_all_gain(
    first: Iterable[Tally],
    second: Iterable[Tally],
    attempts: int,
    *,
    clusters: Iterable[object] | None = None,
    confidence: float = 0.95,
    margin: float = 0.0,
) -> Gain:
    """Confidence interval of the difference of two policies in pass^k, on the same tasks.

    Args:
        first: The tally of the first policy on every task.
        second: The tally of the second policy, task by task in the same order.
        attempts: How many attempts a task is given.
        clusters: The cluster of each task, where tasks are not independent; the interval is approximate then.
        confidence: How often such intervals hold the gain, at least.
        margin: The gain that would not matter.

    Assumptions:
        As for `pass_at_gain`.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import pass_all_gain
        >>> new = [Tally(k, 10) for k in (8, 9, 10, 7, 9, 9, 8, 9)]
        >>> old = [Tally(k, 10) for k in (1, 3, 1, 4, 0, 1, 2, 5)]
        >>> print(pass_all_gain(new, old, 2).verdict)
        better

    Reference:
        Yao et al. (2024), "tau-bench", section 4; the interval as `paired_score_gain`.
    """
    return _gain((first, second), attempts, pass_all, f"pass^{attempts}", clusters, confidence, margin)


def _attempts(tally: Tally, attempts: int) -> int:
    attempts, recorded = _check.whole(attempts, "attempts", least=1), counts(tally)[1]
    if attempts > recorded:
        raise _check.wrong(
            "attempts",
            f"be at most the {recorded:,} recorded; got {attempts:,}.",
            attempts,
            "Record more attempts per task: nothing unbiased can be said beyond them.",
        )
    return attempts


def _values(tasks: tuple[Tally, ...], attempts: int, statistic: Callable[[Tally, int], float]) -> Scores:
    """The unbiased estimate of every task."""
    return Scores([statistic(tally, attempts) for tally in tasks])


def _mean(
    tasks: Iterable[Tally],
    attempts: int,
    statistic: Callable[[Tally, int], float],
    name: str,
    clusters: Iterable[object] | None,
    confidence: float,
) -> Interval:
    kept = tuple(tasks)
    _check.filled(kept, "tasks", "hold at least one task")
    values = _values(kept, attempts, statistic)
    if clusters is None:
        made = score_mean(values, confidence=confidence)
    else:
        made = cluster_mean(values, clusters, confidence=confidence).interval
    assumptions = (TASKS_DRAWN, *made.assumptions)
    method = f"{name}, {made.method}"
    return replace(made, scale="rate", method=method, trials=len(kept), data=kept, assumptions=assumptions)


def _gain(
    sides: tuple[Iterable[Tally], Iterable[Tally]],
    attempts: int,
    statistic: Callable[[Tally, int], float],
    name: str,
    clusters: Iterable[object] | None,
    confidence: float,
    margin: float,
) -> Gain:
    first, second = (tuple(side) for side in sides)
    if len(first) != len(second) or not first:
        raise _check.wrong("second", f"hold a tally for each of the {len(first):,} tasks; got {len(second):,}.")
    one, other = (_values(side, attempts, statistic) for side in (first, second))
    if clusters is None:
        made = paired_score_gain(one, other, confidence=confidence, margin=margin)
    else:
        made = cluster_gain(one, other, clusters, confidence=confidence, margin=margin)
    method, assumptions = f"{name}, {made.method}", (TASKS_DRAWN, *made.assumptions)
    interval = replace(made.interval, scale="gain", method=method, trials=len(first), assumptions=assumptions)
    return replace(made, interval=interval)
