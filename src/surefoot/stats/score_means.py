"""Confidence interval of the mean of bounded scores, whatever the order of the rollouts.

The default for a number of rollouts fixed beforehand. It is a function of the scores and not of their order, its
coverage is guaranteed for any distribution inside the stated range, and on scores of 0 and 1 it is Clopper-Pearson.
"""

from __future__ import annotations

from surefoot import _check
from surefoot.core.assumptions import ANY_SCORES, MEANS_DIFFER, ONE_MEAN, RANGE_FIXED, Assumption
from surefoot.core.interval import Bound, Interval
from surefoot.core.scores import Scores
from surefoot.stats import order_free
from surefoot.stats.means import bound_of, interval_of, unit
from surefoot.stats.order_free import ScoreTest

METHOD = "Gaffke"


def score_mean(scores: Scores, *, confidence: float = 0.95, several_tasks: bool = False) -> Interval:
    """Where does the mean score lie, guaranteed, whatever the order of the rollouts? The default.

    Args:
        scores: The scores; their order does not matter.
        confidence: How often such intervals hold the mean, at least.
        several_tasks: Whether the rollouts are of several tasks with means of their own, each weighing by its
            rollouts.

    Assumptions:
        The range was fixed beforehand; the rollouts are independent and share one mean. With `several_tasks` the
        means of tasks may differ: guaranteed for tasks drawn at random, and within the worst case known for fixed
        ones.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats import score_mean
        >>> print(score_mean(Scores([1.0, 0.8, 1.0, 0.6, 1.0, 0.9, 1.0, 1.0, 0.7, 1.0] * 4)))
        0.900 [0.809, 0.942] n=40 (95% Gaffke interval).

    Reference:
        Gaffke (2005), "Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative
        variable"; Vlassis and Thomas (2026), arXiv 2607.08415, prove its level.
    """
    error = 1.0 - _check.confidence(confidence)
    low, high = order_free.ends(_test(scores, several_tasks), error)
    return interval_of(scores, low, high, confidence, METHOD, _assumptions(several_tasks))


def score_mean_lower(scores: Scores, *, confidence: float = 0.95, several_tasks: bool = False) -> Bound:
    """Above what is the mean score, guaranteed, whatever the order? All the error is spent on this side.

    Assumptions:
        As for `score_mean`.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import score_mean_lower
        >>> print(score_mean_lower(Scores([1.0, 0.8, 1.0, 0.6, 1.0, 0.9, 1.0, 1.0, 0.7, 1.0] * 4)))
        at least 0.823 n=40 (95% Gaffke bound).

    Reference:
        As for `score_mean`.
    """
    error = 1.0 - _check.confidence(confidence)
    share = _test(scores, several_tasks).low_end(error)
    return bound_of(scores, "lower", share, confidence, METHOD, _assumptions(several_tasks))


def score_mean_upper(scores: Scores, *, confidence: float = 0.95, several_tasks: bool = False) -> Bound:
    """Below what is the mean score, guaranteed, whatever the order? All the error is spent on this side.

    Assumptions:
        As for `score_mean`.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import score_mean_upper
        >>> print(score_mean_upper(Scores([0.0, 0.2, 0.0, 0.4, 0.0, 0.1, 0.0, 0.0, 0.3, 0.0] * 4)))
        at most 0.177 n=40 (95% Gaffke bound).

    Reference:
        As for `score_mean`.
    """
    error = 1.0 - _check.confidence(confidence)
    share = 1.0 - _test(scores, several_tasks).mirrored.low_end(error)
    return bound_of(scores, "upper", share, confidence, METHOD, _assumptions(several_tasks))


def score_mean_test(scores: Scores, mean: float, *, several_tasks: bool = False) -> ScoreTest:
    """Could the mean score be this one? The test behind `score_mean`, two-sided and in both directions.

    Assumptions:
        As for `score_mean`.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import score_mean_test
        >>> print(score_mean_test(Scores([1.0, 0.8, 1.0, 0.6, 1.0, 0.9, 1.0, 1.0, 0.7, 1.0] * 4), 0.8))
        0.900 against 0.800, p = 0.0318 (Gaffke, n=40).

    Reference:
        As for `score_mean`.
    """
    test, mean = _test(scores, several_tasks), _check.real(mean, "mean")
    if not scores.low <= mean <= scores.high:
        raise _check.wrong("mean", f"lie in the range [{scores.low:g}, {scores.high:g}]; got {mean:g}.", mean)
    share = (mean - scores.low) / (scores.high - scores.low)
    p_value, above, below = order_free.all_sides(test, share)
    return ScoreTest(
        p_value=p_value,
        above=above,
        below=below,
        value=mean,
        estimate=scores.mean,
        method=METHOD,
        trials=len(scores),
        assumptions=_assumptions(several_tasks),
        data=(scores,),
    )


def _test(scores: Scores, several_tasks: bool) -> order_free.Tested:
    from surefoot.numerics.scores import score_samples, score_tails

    test = score_tails.OneSample(score_samples.pool(unit(scores)))
    return order_free.Spread(test) if several_tasks else test


def _assumptions(several_tasks: bool) -> tuple[Assumption, ...]:
    return (RANGE_FIXED, MEANS_DIFFER if several_tasks else ONE_MEAN, ANY_SCORES)
