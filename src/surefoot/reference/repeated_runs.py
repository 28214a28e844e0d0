"""Mean and variance components of several runs of the same tasks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.assumptions import (
    MANY_ROLLOUTS,
    NOTHING_SHARED,
    RUNS_DIFFER,
    RUNS_OF_DRAWN_TASKS,
    RUNS_OF_THESE_TASKS,
    Assumed,
)
from surefoot.core.interval import Interval
from surefoot.core.record import Record
from surefoot.core.scores import Scores
from surefoot.reference.mean_gains import satterthwaite

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats


_IMAGINED = 0.3  # the least with coverage of .94 or more on every layout tried; decision 0031


@dataclass(frozen=True, slots=True)
class Components(Record):
    """Where the noise of a mean over tasks and runs comes from.

    Attributes:
        mean: The mean over all tasks and runs.
        runs: How many runs.
        tasks: How many tasks.
        run_means: The mean of each run.
        between_tasks: Variance of the means of the tasks.
        within_task: Variance from run to run of one task, averaged over tasks; none with one run.
        task_part: Variance of the tasks' true means, between less noise / runs; below 0 only by chance. The noise is
            the variance within a task, less what whole runs share where they were said to share something.
        run_part: Variance of what a whole run shares, 0 if none was seen; none with one run.
        by_task: Cluster-robust standard error of the mean, clusters being tasks (CR0).
        by_run: The same, clusters being runs.
        two_way: Two-way clustered variance of the mean (CR0).
        largest: The part that contributes most to the variance of the mean: "tasks", "noise" or "runs".
        notes: What a reader must know besides.
        shared_runs: Whether whole runs were said to share something.
    """

    mean: float
    runs: int
    tasks: int
    run_means: tuple[float, ...]
    between_tasks: float
    within_task: float | None
    task_part: float | None
    run_part: float | None
    by_task: float
    by_run: float
    two_way: float
    largest: str | None
    notes: tuple[str, ...] = ()
    shared_runs: bool = False

    @property
    def between_runs(self) -> float | None:
        """Standard deviation of the means of the runs; none with one run."""
        if self.runs == 1:
            return None
        return math.sqrt(math.fsum((m - self.mean) ** 2 for m in self.run_means) / (self.runs - 1))

    @property
    def error(self) -> float:
        """Standard error of the mean for tasks like these, with what whole runs share if they were said to."""
        return math.sqrt(self.between_tasks / self.tasks + self._shared / self.runs)

    @property
    def one_run_error(self) -> float | None:
        """Standard error that one run of these tasks would have had; none with one run."""
        if self.task_part is None or self.within_task is None:
            return None
        alone = max(0.0, self.task_part + self.within_task - self._shared)
        return math.sqrt(alone / self.tasks + self._shared)

    @property
    def _shared(self) -> float:
        """The variance of what a whole run shares, if runs were said to share something and several show it."""
        return (self.run_part or 0.0) if self.shared_runs else 0.0

    def error_with(self, *, runs: int, tasks: int, shared_runs: bool | None = None) -> float:
        """The standard error to expect from another number of runs and tasks.

        Args:
            runs: How many runs.
            tasks: How many tasks.
            shared_runs: Whether whole runs share something; as it was said of these runs unless given.
        """
        runs, tasks = _check.whole(runs, "runs", least=1), _check.whole(tasks, "tasks", least=1)
        if self.within_task is None or self.run_part is None:
            raise _check.wrong("runs", f"be at least 2 to foresee other runs; got {self.runs}.", runs, _UNSEEN)
        shared = self.run_part if (self.shared_runs if shared_runs is None else shared_runs) else 0.0
        noise = self.within_task - shared
        task = max(0.0, self.between_tasks - noise / self.runs)
        return math.sqrt(task / tasks + noise / (tasks * runs) + shared / runs)

    def __str__(self) -> str:
        head = f"{self.tasks:,} tasks, {formatting.counted(self.runs, 'run')}, mean {self.mean:.3f}."
        return " ".join((head, *self.notes))


_UNSEEN = "One run cannot tell the spread of tasks from the noise of one run: repeat at least some tasks."


def variance_components(outcomes: Sequence[Sequence[float]], *, shared_runs: bool = False) -> Components:
    """Variance components of tasks and runs, and what more of each would bring.

    Args:
        outcomes: One row per run, one column per task: successes (1 or 0) or scores.
        shared_runs: Whether something is shared by a whole run, such as a training seed.

    Assumptions:
        Every run did every task; tasks are independent of one another.

    Example:
        >>> from surefoot.reference import variance_components
        >>> found = variance_components([[1, 1, 0, 1, 0, 1, 1, 0], [1, 0, 0, 1, 1, 1, 1, 0]])
        >>> print(round(found.error, 4), found.largest)
        0.1567 tasks

    Reference:
        Searle, Casella and McCulloch (1992), "Variance components", section 4.4 (two-way, one observation per
        cell).
    """
    return _components(_table(outcomes), shared_runs)


def mean_over_tasks(
    outcomes: Sequence[Sequence[float]],
    *,
    shared_runs: bool = False,
    low: float = 0.0,
    high: float = 1.0,
    confidence: float = 0.95,
) -> Interval:
    """Confidence interval of the mean over tasks like these, from several runs of the same tasks.

    The tasks are the clusters, so the noise of the runs is inside their spread and is not added a second time.

    Args:
        outcomes: One row per run, one column per task: successes (1 or 0) or scores.
        shared_runs: Whether something is shared by a whole run, such as a training seed; its spread is then added.
        low: The lowest score possible.
        high: The highest score possible.
        confidence: How often such intervals hold the mean, nearly.

    Assumptions:
        The tasks are independent draws from those that matter, and all runs did all tasks.

    Example:
        >>> from surefoot.reference import mean_over_tasks
        >>> print(mean_over_tasks([[1, 1, 0, 1, 0, 1, 1, 0], [1, 0, 0, 1, 1, 1, 1, 0]]))
        62.5% [23.9%, 91.8%] n=16 (95% Korn-Graubard interval).

    Reference:
        Miller (2024), "Adding error bars to evals", section 3; Searle, Casella and McCulloch (1992).
    """
    table = _table(outcomes)
    scores, found = Scores(table.ravel(), low, high), _components(table, shared_runs)
    variance, freedom = found.between_tasks / found.tasks, float(found.tasks - 1)
    notes = found.notes
    if shared_runs:
        if found.run_part is None:
            raise _check.wrong(
                "shared_runs", "be False with one run; got True. One run cannot show how runs differ.", shared_runs
            )
        added = found.run_part / found.runs
        if added > 0.0:
            freedom = satterthwaite(variance, found.tasks - 1, added, found.runs - 1)
            variance += added
    held = (RUNS_OF_DRAWN_TASKS, RUNS_DIFFER if shared_runs else NOTHING_SHARED, MANY_ROLLOUTS)
    return _interval(table, scores, variance, freedom, confidence, None, held, notes)


def mean_on_these_tasks(
    outcomes: Sequence[Sequence[float]],
    *,
    shared_runs: bool = False,
    low: float = 0.0,
    high: float = 1.0,
    confidence: float = 0.95,
) -> Interval:
    """Where does the mean lie on these very tasks, if the suite is all that matters? Only the runs' noise is left.

    Args:
        outcomes: One row per run, one column per task: successes (1 or 0) or scores; at least two runs.
        shared_runs: Whether something is shared by a whole run, such as a training seed.
        low: The lowest score possible.
        high: The highest score possible.
        confidence: How often such intervals hold the mean, nearly.

    Assumptions:
        These tasks are all that matters, and all runs did all tasks.

    Example:
        >>> from surefoot.reference import mean_on_these_tasks
        >>> print(mean_on_these_tasks([[1, 1, 0, 1, 0, 1, 1, 0], [1, 0, 0, 1, 1, 1, 1, 0]]))
        62.5% [41.7%, 79.5%] n=16 (95% Wilson on effective size interval).

    Reference:
        Miller (2024), "Adding error bars to evals", section 3.1.
    """
    table = _table(outcomes)
    scores, found = Scores(table.ravel(), low, high), _components(table, shared_runs)
    if found.within_task is None or found.between_runs is None:
        raise _check.wrong(
            "outcomes",
            "hold at least 2 runs; got 1. One run of a fixed set of tasks cannot show its own "
            "noise: repeat it, or ask for `mean_over_tasks`.",
            outcomes,
        )
    if shared_runs:
        variance, freedom = found.between_runs**2 / found.runs, float(found.runs - 1)
    else:
        variance = found.within_task / (found.tasks * found.runs)
        freedom = float(found.tasks * (found.runs - 1))
    held = (RUNS_OF_THESE_TASKS, RUNS_DIFFER if shared_runs else NOTHING_SHARED, MANY_ROLLOUTS)
    # the noise of fixed tasks is at most that of as many independent rollouts, so their number is safe to fall back on
    least = float(found.runs if shared_runs else table.size)
    return _interval(table, scores, variance, freedom, confidence, least, held, ())


def _components(table: Floats, shared_runs: bool) -> Components:
    import numpy as np

    runs, tasks = table.shape
    mean = float(table.mean())
    apart = table - mean
    cells = runs * tasks
    by_task = float((apart.sum(axis=0) ** 2).sum()) / cells**2
    by_run = float((apart.sum(axis=1) ** 2).sum()) / cells**2
    two_way = by_task + by_run - float((apart**2).sum()) / cells**2
    task_means, run_means = table.mean(axis=0), table.mean(axis=1)
    between = _seen(float(task_means.var(ddof=1)), table)
    within = task = run = largest = None
    if runs > 1:
        within = _seen(float(table.var(axis=0, ddof=1).mean()), table)
        left = table - task_means - run_means[:, None] + mean
        alone = float((left**2).sum()) / ((runs - 1) * (tasks - 1))
        run = _seen(max(0.0, float(np.var(run_means, ddof=1)) - alone / tasks), table)
        shared = run if shared_runs else 0.0
        noise = within - shared
        task = between - noise / runs
        parts = {"tasks": max(0.0, task) / tasks, "noise": noise / cells, "runs": shared / runs}
        largest = max(parts, key=parts.__getitem__)
        notes = _advice(parts, runs, tasks)
    else:
        notes = (_UNSEEN,)
    return Components(
        mean,
        runs,
        tasks,
        tuple(float(m) for m in run_means),
        between,
        within,
        task,
        run,
        math.sqrt(by_task),
        math.sqrt(by_run),
        two_way,
        largest,
        notes,
        shared_runs,
    )


def _advice(parts: dict[str, float], runs: int, tasks: int) -> tuple[str, ...]:
    """What one more run would do, against the same number of rollouts spent on new tasks."""
    now = math.sqrt(math.fsum(parts.values()))
    if now == 0.0:
        return ("No spread was seen: neither tasks nor runs differed.",)
    more_runs = math.sqrt(parts["tasks"] + (parts["noise"] + parts["runs"]) * runs / (runs + 1))
    more_tasks = math.sqrt((parts["tasks"] + parts["noise"]) * runs / (runs + 1) + parts["runs"])
    best = "More tasks help" if more_tasks < more_runs else "More runs help"
    gain_runs, gain_tasks = (100.0 * (1.0 - then / now) for then in (more_runs, more_tasks))
    return (
        f"{best} most: {formatting.rollouts(tasks)} more narrow the interval by {gain_tasks:.0f}% as new tasks, by "
        f"{gain_runs:.0f}% as one more run.",
    )


def _table(outcomes: Sequence[Sequence[float]]) -> Floats:
    import numpy as np

    given: list[Any] = list(outcomes.tolist() if hasattr(outcomes, "tolist") else outcomes)
    if not all(isinstance(row, Iterable) for row in given):
        raise _check.wrong_kind(
            "outcomes", "hold one list of outcomes per run; got outcomes that are in no list.", outcomes
        )
    rows = [list(row) for row in given]
    if not rows or len(rows[0]) < 2:
        raise _check.wrong(
            "outcomes", "hold at least 1 run of at least 2 tasks. One task cannot show how tasks differ.", outcomes
        )
    if len({len(row) for row in rows}) > 1:
        raise _check.wrong(
            "outcomes",
            f"hold every task in every run; got runs of {sorted({len(row) for row in rows})} tasks.",
            outcomes,
            "Cluster by task with `cluster_mean` where runs are incomplete.",
        )
    kept = [[float(v) if isinstance(v, bool) else _check.real(v, "outcomes") for v in row] for row in rows]
    return np.asarray(kept)


def _seen(variance: float, table: Floats) -> float:
    """The variance, or 0 where rounding alone could have made it."""
    return variance if variance > (1e-14 * float(abs(table).max())) ** 2 else 0.0


def _interval(
    table: Floats,
    scores: Scores,
    variance: float,
    freedom: float,
    confidence: float,
    least: float | None,
    assumptions: tuple[Assumed, ...],
    notes: tuple[str, ...],
) -> Interval:
    """Successes of fixed tasks by Wilson on the effective size, `least` where no spread is seen; scores by Student's t.

    Where `least` is left out, tasks were drawn: successes by Korn and Graubard, the tasks as clusters; without a
    success or a failure each counts as one.
    """
    from scipy import special

    from surefoot.numerics import normal_quantiles

    confidence = _check.confidence(confidence)
    reach = float(special.stdtrit(freedom, (1.0 + confidence) / 2.0))
    mean, variance = scores.mean, _seen(variance, table)
    binary = set(scores.values) <= {0.0, 1.0} and (scores.low, scores.high) == (0.0, 1.0)
    method = "clustered t"
    if binary and least is not None:
        method = "Wilson on effective size"
        size = mean * (1.0 - mean) / variance if 0.0 < mean < 1.0 and variance > 0.0 else least
        low = 0.0 if mean == 0.0 else float(normal_quantiles.wilson_low(mean * size, size, reach))
        high = 1.0 if mean == 1.0 else float(normal_quantiles.wilson_high(mean * size, size, reach))
    elif binary:
        method = "Korn-Graubard"
        clusters = table.shape[1]
        if 0.0 < mean < 1.0:
            low, high = _korn_graubard(mean, variance, freedom, clusters, table.size, confidence)
        else:
            low, high = _clopper_pearson_ends(mean, clusters, confidence)
    elif variance > 0.0:
        half = reach * math.sqrt(variance)
        low, high = max(scores.low, mean - half), min(scores.high, mean + half)
    else:
        raise _check.wrong(
            "outcomes", "vary; got no spread to learn from.", None, "Use `score_mean` on the means of tasks."
        )
    return Interval(
        low=min(low, mean),
        high=max(high, mean),
        estimate=mean,
        confidence=confidence,
        method=method,
        trials=table.size,
        scale="rate" if binary else "score",
        assumptions=assumptions,
        notes=notes,
        data=(scores,),
    )


def _korn_graubard(
    rate: float, variance: float, freedom: float, clusters: int, trials: int, confidence: float
) -> tuple[float, float]:
    """Korn and Graubard's ends of a rate strictly between 0 and 1, from tasks that all have as many rollouts.

    Near 0 and 1 few clusters show a failure (or a success), so that the variance itself is badly known: it is drawn
    towards that of clusters whose rollouts are all alike, which `imagined` such clusters would show.
    """
    from scipy import special

    most = rate * (1.0 - rate)
    imagined = _IMAGINED * (1.0 / most - 4.0)
    inverse = clusters * max(1.0 / trials, variance / most) + imagined / clusters
    size, tail = (clusters + imagined) / inverse, (1.0 + confidence) / 2.0
    lost = float(special.stdtrit(trials - 1, tail) / special.stdtrit(freedom, tail)) ** 2
    return _clopper_pearson_ends(rate, size * lost, confidence)


def _clopper_pearson_ends(rate: float, size: float, confidence: float) -> tuple[float, float]:
    """Clopper and Pearson's ends for a rate seen in so many rollouts, a number that need not be whole."""
    from surefoot.numerics.rates import binomial

    tail, successes = (1.0 - confidence) / 2.0, rate * size
    return float(binomial.exact_low(successes, size, tail)), float(binomial.exact_high(successes, size, tail))
