"""Stratified comparison of two policies: each task with itself; how tasks weigh in an average."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from surefoot import _check
from surefoot.core.assumptions import ANY_RATES, GAIN_MEASURED, RATE_BY_TASK, SEARCHED, WEIGHED, Assumed
from surefoot.core.gain import Gain, decide
from surefoot.core.interval import Interval
from surefoot.core.notes import Note
from surefoot.core.scores import Scores
from surefoot.core.tally import Tally, tallies
from surefoot.stats import rate_gains

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats


Weights = Literal["rollouts", "tasks"] | Mapping[str, float]
"""How tasks weigh: by their share of rollouts, equally, or as given."""
SMALL = 5
"""Below so many rollouts of a policy on a task a guaranteed test is the default, where there is one."""

FEW = 5
"""Up to so many tasks with a small cell are compared by the guaranteed test of groups of scores."""

ROUNDED = 1e-6
"""More than a p-value differs by how many gains it is computed for at a time."""

UNEQUAL = 0.05
"""Shares of rollouts that differ by no more are not the reason why pooled counts say otherwise."""

Strata = Mapping[str, tuple[Tally, Tally]]


def task_weights(counts: Mapping[str, int], weights: Weights) -> dict[str, float]:
    """How much each task weighs, summing to 1; `counts` are the rollouts of all policies together."""
    if isinstance(weights, Mapping):
        if set(weights) != set(counts):
            odd = sorted(map(str, set(weights) ^ set(counts)))
            raise _check.wrong(
                "weights", f"hold one number for each task; got a difference in {', '.join(odd)}.", weights
            )
        given = {task: _check.positive(weights[task], f"weights[{task!r}]") for task in counts}
    else:
        _check.choice(weights, "weights", {"rollouts": 1, "tasks": 1})
        given = {task: float(count) if weights == "rollouts" else 1.0 for task, count in counts.items()}
    total = math.fsum(given.values())
    return {task: weight / total for task, weight in given.items()}


def stratified_gain(
    strata: Strata, *, weights: Weights = "rollouts", confidence: float = 0.95, margin: float = 0.0
) -> Gain:
    """How much better is the first, task by task, with a warning when the pooled counts say otherwise? The default.

    The gain is the average over tasks of the first rate less the second. Which test tells how sure it is goes by the
    smallest number of rollouts of one policy on one task: from 5 on it is `stratified_rate_gain`. Below, guaranteed
    tests come first: `stratified_hoeffding_gain` where both policies met every task equally often and tasks weigh by
    rollouts, `stratified_score_gain` on successes as scores with up to 5 tasks. One task is compared by `exact_gain`.

    Args:
        strata: First and second tally of every task (or other stratum).
        weights: How tasks weigh: by the rollouts of both policies, all alike ("tasks"), or a number for each.
        confidence: How often such intervals hold the gain, nearly.
        margin: The gain that would not matter.

    Assumptions:
        Independent rollouts; one success rate per policy and task.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.reference import stratified_gain
        >>> found = stratified_gain({"easy": (Tally(18, 20), Tally(60, 80)), "hard": (Tally(32, 80), Tally(4, 20))})
        >>> print(found)
        +17.5 points [+1.4, +31.2] n=200 (95% stratified rates interval), p = 0.0350: the first is better.
        >>> print(found.notes[0])
        Pooled over tasks the gain is -14.0 points, the other way: tasks were run in unequal shares (Simpson).

    Reference:
        As for `stratified_rate_gain` and `stratified_hoeffding_gain`; record 32 for the choice.
    """
    each = _given(strata)
    if len(each) == 1:
        task_weights(dict.fromkeys(strata, 1), weights)  # a wrong one is refused all the same
        (first, second), *_ = each
        return rate_gains.exact_gain(first, second, confidence=confidence, margin=margin)
    smallest = min(tally.trials for pair in each for tally in pair)
    balanced = all(first.trials == second.trials for first, second in each)
    if smallest < SMALL and weights == "rollouts" and balanced:
        return stratified_hoeffding_gain(strata, confidence=confidence, margin=margin)
    if smallest < SMALL and len(each) <= FEW:
        return _of_groups(strata, weights, _check.confidence(confidence), margin)
    return stratified_rate_gain(strata, weights=weights, confidence=confidence, margin=margin)


def stratified_rate_gain(
    strata: Strata, *, weights: Weights = "rollouts", confidence: float = 0.95, margin: float = 0.0
) -> Gain:
    """How much better is the first over these tasks, whatever the mix of rollouts? By Student's t on drawn-in rates.

    For every gain d the rates that fit it best are found, all tasks together. The variance is the larger of those at
    the fitted and at the seen rates, each cell with a tenth of a success and of a failure added (a quarter where a cell
    has fewer than 5 rollouts); the degrees of freedom tell how much of it rests on few rollouts. The interval spans the
    gains with a p-value above 1 - confidence; the p-value is the largest at 0 and beyond it.

    Args:
        strata: First and second tally of every task.
        weights: How tasks weigh: by the rollouts of both policies, all alike ("tasks"), or a number for each.
        confidence: How often such intervals hold the gain, nearly.
        margin: The gain that would not matter.

    Assumptions:
        Independent rollouts; one success rate per policy and task. Gains may differ between tasks. The level was
        enumerated and simulated, not proved: see record 32.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import stratified_rate_gain
        >>> strata = {"pick": (Tally(18, 20), Tally(12, 20)), "place": (Tally(11, 20), Tally(7, 20))}
        >>> print(stratified_rate_gain(strata, weights="tasks"))
        +25.0 points [+3.9, +45.6] n=80 (95% stratified rates interval), p = 0.0207: the first is better.

    Reference:
        Miettinen and Nurminen (1985), "Comparative analysis of two rates", for the fitted rates; Satterthwaite (1946).
    """
    import numpy as np

    each = _given(strata)
    shares = task_weights(_counts(strata, each), weights)
    table = tuple((a.successes, a.trials, b.successes, b.trials) for a, b in each)
    confidence = _check.confidence(confidence)
    low, high, p_value = _inverted(table, tuple(shares.values()), 1.0 - confidence)
    estimate = float(np.dot(list(shares.values()), [rate_gains.observed_gain(a, b) for a, b in each]))
    estimate = 0.0 if abs(estimate) < 1e-14 else estimate
    held = (RATE_BY_TASK, WEIGHED["given" if isinstance(weights, Mapping) else weights], GAIN_MEASURED)
    return _gain(each, (low, high), estimate, p_value, "stratified rates", held, confidence, margin)


def stratified_hoeffding_gain(strata: Strata, *, confidence: float = 0.95, margin: float = 0.0) -> Gain:
    """Interval of the stratified difference of mean scores, by Hoeffding's inequality.

    The successes of the first and the failures of the second are unlike coins; the tails of their number are bounded by
    those of a binomial of the same mean. The price is width: a tenth to a quarter at rates of .5 to .8, half near .93.

    Args:
        strata: First and second tally of every task, of equal numbers of rollouts; a task weighs by its rollouts.
        confidence: How often such intervals hold the gain, at least.
        margin: The gain that would not matter.

    Assumptions:
        Independent rollouts; nothing about their rates.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.reference import stratified_hoeffding_gain
        >>> strata = {"pick": (Tally(3, 3), Tally(1, 3)), "place": (Tally(4, 4), Tally(1, 4))}
        >>> print(stratified_hoeffding_gain(strata))
        +71.4 points [+14.3, +96.5] n=14 (95% stratified Hoeffding interval), p = 0.0130: the first is better.

    Reference:
        Hoeffding (1956), "On the distribution of the number of successes in independent trials"; Clopper and Pearson
        (1934).
    """
    from surefoot.numerics.rates import strata_rule

    each = _given(strata)
    uneven = [task for task, (first, second) in strata.items() if first.trials != second.trials]
    if uneven:
        raise _check.wrong(
            "strata",
            f"hold equally many rollouts of both policies on every task; got unequal numbers on {uneven[0]!r}.",
            strata,
            "Use `stratified_rate_gain`.",
        )
    confidence = _check.confidence(confidence)
    hits = sum(first.successes + second.failures for first, second in each)
    trials = sum(first.trials + second.trials for first, second in each)
    low, high, p_value = strata_rule.binomial_bound(hits, trials, 1.0 - confidence)
    held = (RATE_BY_TASK, WEIGHED["rollouts"], ANY_RATES)
    estimate = (2 * hits - trials) / trials
    return _gain(each, (low, high), estimate, p_value, "stratified Hoeffding", held, confidence, margin)


def gain_gap_p(
    first_successes: Floats,
    first_trials: Floats,
    second_successes: Floats,
    second_trials: Floats,
    *,
    inside: Floats,
    weights: Floats,
) -> float:
    """P-value of the hypothesis that a gain is the same inside a part of the strata and outside it, by rule X.

    The policies are exchanged outside, so that the difference of the two gains is a weighted sum of rates less 2. The
    level is measured, not proved.

    Args:
        first_successes: Successes of the first policy in every stratum.
        first_trials: Its rollouts there.
        second_successes: Successes of the second policy.
        second_trials: Its rollouts.
        inside: Which strata are inside.
        weights: How strata weigh; each side sums to 1.

    Example:
        >>> import numpy as np
        >>> from surefoot.stats.strata import gain_gap_p
        >>> n = np.full(2, 50.0)
        >>> inside, weights = np.array([True, False]), np.ones(2)
        >>> found = gain_gap_p(np.array([40.0, 20]), n, np.array([20.0, 30]), n, inside=inside, weights=weights)
        >>> print(f"{found:.5f}")
        0.00003

    Reference:
        As for `stratified_rate_gain`.
    """
    import numpy as np

    from surefoot.numerics.rates import strata_rule

    side = np.asarray(inside, bool)
    if side.all() or not side.any():
        return 1.0
    share = np.asarray(weights, float)
    share = np.where(side, share / share[side].sum(), share / share[~side].sum())
    won = np.where(side, first_successes, first_trials - first_successes)
    lost = np.where(side, second_trials - second_successes, second_successes)
    hits, trials = np.concatenate((won, lost)), np.concatenate((first_trials, second_trials))
    found = strata_rule.p_values(hits, trials, np.concatenate((share, share)), np.zeros(1), base=2.0)
    return min(1.0, float(found[0]))


def least_p(strata: Strata, *, weights: Weights, error: float) -> float:
    """Lower bound of the p-value of `stratified_rate_gain`, or of `exact_gain` for one stratum: that of no gain alone.

    The p-value is the largest of no gain and the gains beyond it; this one costs a hundredth of the interval.

    Args:
        strata: First and second tally of every stratum.
        weights: How strata weigh.
        error: One minus the confidence of the interval.
    """
    import numpy as np

    from surefoot.numerics.rates import inversion, strata_rule

    each = _given(strata)
    if len(each) == 1:
        (one,) = (rate_gains.ComparedTallies.separate(*pair) for pair in each)
        if not one.estimate:
            return 1.0
        table, turned = rate_gains.oriented(one.table)
        side = np.array([int((one.estimate < 0.0) != turned)])  # the mirrored table follows the table
        found = inversion.p_values(rate_gains.batch([table], error), side, np.zeros(1), both=True)
    else:
        table_of = np.asarray([(a.successes, a.trials, b.successes, b.trials) for a, b in each], float)
        hits, trials = strata_rule.cells(table_of[:, :2], table_of[:, 2:])
        shares = tuple(task_weights(_counts(strata, each), weights).values())
        found = strata_rule.p_values(hits, trials, np.asarray(shares * 2), np.zeros(1))
    return max(0.0, min(1.0, float(found[0])) - ROUNDED)


def stratified_rate(tallies: Mapping[str, Tally], *, weights: Weights = "tasks", confidence: float = 0.95) -> Interval:
    """Confidence interval of the weighted mean of success rates over strata, by rule X with one policy.

    Where all strata have equally many rollouts and weigh alike, it is Clopper and Pearson's of the pooled count, which
    holds for unlike rates too (Hoeffding 1956); otherwise its level is measured, not proved.

    Args:
        tallies: The tally of every stratum.
        weights: How strata weigh: all alike ("tasks"), by rollouts, or a number for each.
        confidence: How often such intervals hold the rate, at least or nearly.

    Assumptions:
        Independent rollouts; one success rate per stratum. Where strata differ in size or weight the level was
        simulated, not proved: see record 32.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import stratified_rate
        >>> print(stratified_rate({"pick": Tally(18, 20), "place": Tally(11, 20)}))
        72.5% [56.1%, 85.4%] n=40 (95% stratified Clopper-Pearson interval).

    Reference:
        Hoeffding (1956), "On the distribution of the number of successes in independent trials".
    """
    import numpy as np

    from surefoot.numerics.rates import strata_rule
    from surefoot.stats.rates import clopper_pearson

    _check.filled(tallies, "tallies", "hold at least one stratum")
    counts = {task: tally.trials for task, tally in tallies.items()}
    shares = np.asarray(list(task_weights(counts, weights).values()))
    pooled = _pooled(list(tallies.values()))
    if len(set(counts.values())) == 1 and np.ptp(shares) < 1e-12:
        exact = clopper_pearson(pooled, confidence=confidence)
        return replace(exact, method="stratified Clopper-Pearson", assumptions=(RATE_BY_TASK, ANY_RATES))
    hits = np.asarray([tally.successes for tally in tallies.values()], float)
    trials = np.asarray(list(counts.values()), float)
    low, high = strata_rule.rate_ends(hits, trials, shares, 1.0 - _check.confidence(confidence))
    return Interval(
        low=low,
        high=high,
        estimate=float((shares * hits / trials).sum()),
        confidence=confidence,
        method="stratified rates",
        trials=pooled.trials,
        assumptions=(RATE_BY_TASK, GAIN_MEASURED),
        data=tuple(tallies.values()),
    )


def _of_groups(strata: Strata, weights: Weights, confidence: float, margin: float) -> Gain:
    """The guaranteed test of groups of scores, a success scoring 1."""
    from surefoot.stats import score_strata

    each = _given(strata)
    shares = task_weights(_counts(strata, each), weights)
    table = tuple((a.successes, a.trials, b.successes, b.trials) for a, b in each)
    low, high, estimate, p_value = _grouped(table, tuple(shares.values()), confidence)
    held = (RATE_BY_TASK, WEIGHED["given" if isinstance(weights, Mapping) else weights], ANY_RATES, SEARCHED)
    return _gain(each, (low, high), estimate, p_value, score_strata.GUARANTEED, held, confidence, margin)


@lru_cache(maxsize=1024)
def _grouped(
    table: tuple[tuple[int, ...], ...], shares: tuple[float, ...], confidence: float
) -> tuple[float, float, float, float]:
    """Ends, estimate and p-value; seconds of work, and asked for again by families and reports."""
    from surefoot.stats import score_strata

    scores = {
        str(place): (Scores([1.0] * x + [0.0] * (n - x)), Scores([1.0] * y + [0.0] * (m - y)))
        for place, (x, n, y, m) in enumerate(table)
    }
    weights = {str(place): share for place, share in enumerate(shares)}
    found = score_strata.stratified_score_gain(scores, weights=weights, confidence=confidence, method="guaranteed")
    p_value = 1.0 if found.p_value is None else found.p_value
    return found.interval.low, found.interval.high, found.estimate, p_value


@lru_cache(maxsize=4096)
def _inverted(
    table: tuple[tuple[int, ...], ...], shares: tuple[float, ...], error: float
) -> tuple[float, float, float]:
    """Ends and p-value; the same table is asked for again by families and reports."""
    import numpy as np

    from surefoot.numerics.rates import strata_rule

    rows = np.asarray(table, float)
    hits, trials = strata_rule.cells(rows[:, :2], rows[:, 2:])
    return strata_rule.invert(hits, trials, np.asarray(shares * 2), error)


def _given(strata: Strata) -> list[tuple[Tally, Tally]]:
    _check.filled(strata, "strata", "hold at least one stratum")
    return [tallies(first, second) for first, second in strata.values()]


def _counts(strata: Strata, each: list[tuple[Tally, Tally]]) -> dict[str, int]:
    return {task: a.trials + b.trials for task, (a, b) in zip(strata, each, strict=True)}


def _gain(
    each: list[tuple[Tally, Tally]],
    ends: tuple[float, float],
    estimate: float,
    p_value: float,
    method: str,
    assumptions: tuple[Assumed, ...],
    confidence: float,
    margin: float,
) -> Gain:
    """One coherent result, with the warning of Simpson's paradox."""
    margin, verdict = _check.margin(margin), decide(*ends, _check.margin(margin))
    data = tuple(tally for pair in each for tally in pair)
    notes = _warning(each, estimate, ends, confidence, margin)
    interval = Interval(
        low=ends[0],
        high=ends[1],
        estimate=estimate,
        confidence=confidence,
        method=method,
        trials=sum(tally.trials for tally in data),
        scale="gain",
        assumptions=assumptions,
        notes=notes,
        data=data,
    )
    return Gain(interval, p_value, verdict, margin=margin)


def _warning(
    each: list[tuple[Tally, Tally]], estimate: float, ends: tuple[float, float], confidence: float, margin: float
) -> tuple[Note, ...]:
    """What the counts say when the tasks are thrown together, where the policies met them in unequal shares."""
    first, second = (_pooled([pair[side] for pair in each]) for side in (0, 1))
    if max(abs(a.trials / first.trials - b.trials / second.trials) for a, b in each) <= UNEQUAL:
        return ()
    pooled = rate_gains.observed_gain(first, second)
    if estimate * pooled < 0.0 and min(abs(estimate), abs(pooled)) > 1e-12:
        return (Note("pooled the other way", {"gain": pooled}),)
    table = ((first.successes, first.trials, second.successes, second.trials),)
    low, high, _ = _inverted(table, (1.0,), 1.0 - confidence)
    verdict, apart = decide(*ends, margin), decide(low, high, margin)
    if verdict is not apart:
        return (Note("pooled verdict", {"gain": pooled, "pooled": str(apart), "within": str(verdict)}),)
    return ()


def _pooled(parts: list[Tally]) -> Tally:
    return Tally(sum(tally.successes for tally in parts), sum(tally.trials for tally in parts))
