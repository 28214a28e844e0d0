"""With several attempts at a task, how likely is it that any succeeds, or that all do?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from surefoot import _check
from surefoot.core.interval import Interval
from surefoot.core.scores import Scores
from surefoot.core.tally import Tally
from surefoot.stats import bootstraps
from surefoot.stats.differences import APPROXIMATE
from surefoot.stats.means import betting_mean
from surefoot.stats.rates import counts

DRAWN = "The tasks are independent draws from those that matter."


def pass_at(tally: Tally, attempts: int) -> float:
    """How likely is at least one success in so many attempts (pass@k)? Unbiased, for one task.

    Assumptions:
        Independent attempts with one success rate. More attempts than were recorded cannot be judged.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import pass_at
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
    """How likely is it that every one of so many attempts succeeds (pass^k)? Unbiased, for one task.

    Assumptions:
        Independent attempts with one success rate. More attempts than were recorded cannot be judged.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import pass_all
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
    tasks: Iterable[Tally],
    attempts: int,
    *,
    rng: _check.Rng,
    resamples: int = bootstraps.RESAMPLES,
    confidence: float = 0.95,
) -> Interval:
    """How likely is at least one success in so many attempts, over all tasks like these?

    Args:
        tasks: The tally of every task.
        attempts: How many attempts a task is given.
        rng: A seed, kept with the result, or a Generator.
        resamples: How many resamples of the tasks.
        confidence: How often such intervals hold the mean, nearly.

    Assumptions:
        The tasks are independent draws from those that matter; attempts at a task are independent.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import mean_pass_at
        >>> tasks = [Tally(3, 10), Tally(9, 10), Tally(0, 10), Tally(5, 10), Tally(1, 10), Tally(8, 10)]
        >>> print(mean_pass_at(tasks, 3, rng=7))
        65.4% [33.4%, 93.8%] n=6 (95% task bootstrap of pass@3 interval).

    Reference:
        Chen et al. (2021), equation 1; tasks resampled as in Efron and Tibshirani (1993), section 13.3.
    """
    return _mean(tasks, attempts, pass_at, f"pass@{attempts}", rng, resamples, confidence)


def mean_pass_all(
    tasks: Iterable[Tally],
    attempts: int,
    *,
    rng: _check.Rng,
    resamples: int = bootstraps.RESAMPLES,
    confidence: float = 0.95,
) -> Interval:
    """How likely is it that every one of so many attempts succeeds, over all tasks like these?

    Args:
        tasks: The tally of every task.
        attempts: How many attempts a task is given.
        rng: A seed, kept with the result, or a Generator.
        resamples: How many resamples of the tasks.
        confidence: How often such intervals hold the mean, nearly.

    Assumptions:
        The tasks are independent draws from those that matter; attempts at a task are independent.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import mean_pass_all
        >>> tasks = [Tally(3, 10), Tally(9, 10), Tally(0, 10), Tally(5, 10), Tally(1, 10), Tally(8, 10)]
        >>> print(mean_pass_all(tasks, 3, rng=7))
        21.0% [1.5%, 44.2%] n=6 (95% task bootstrap of pass^3 interval).

    Reference:
        Yao et al. (2024), section 4; tasks resampled as in Efron and Tibshirani (1993), section 13.3.
    """
    return _mean(tasks, attempts, pass_all, f"pass^{attempts}", rng, resamples, confidence)


def _attempts(tally: Tally, attempts: int) -> int:
    attempts, recorded = _check.whole(attempts, "attempts", least=1), counts(tally)[1]
    if attempts > recorded:
        raise ValueError(
            f"`attempts` must be at most the {recorded:,} recorded; got {attempts:,}. "
            "Record more attempts per task: nothing unbiased can be said beyond them."
        )
    return attempts


def _mean(
    tasks: Iterable[Tally],
    attempts: int,
    statistic: Callable[[Tally, int], float],
    name: str,
    rng: _check.Rng,
    resamples: int,
    confidence: float,
) -> Interval:
    import numpy as np

    from surefoot.numerics import resampling

    kept = tuple(tasks)
    if len(kept) < 2:
        raise ValueError(f"`tasks` must hold at least 2 tasks; got {len(kept)}. One task cannot show how tasks differ.")
    values = np.array([statistic(tally, attempts) for tally in kept])
    resamples = bootstraps.check_resamples(resamples, confidence)
    generator, seed = _check.generator(rng)
    low, high = bootstraps.percentile_ends(resampling.resampled_means(values, resamples, generator), confidence)
    notes = (f"{resamples:,} resamples.", *bootstraps.few(len(kept)))
    if low == high:
        sure = betting_mean(Scores(values), confidence=confidence)
        low, high = sure.low, sure.high
        notes = ("All tasks scored alike: the ends are those of the betting interval, not bootstrapped.",)
    return Interval(
        low=low,
        high=high,
        estimate=float(values.mean()),
        confidence=float(confidence),
        method=f"task bootstrap of {name}",
        trials=len(kept),
        assumptions=(DRAWN, APPROXIMATE),
        notes=notes,
        data=kept,
        seed=seed,
    )
