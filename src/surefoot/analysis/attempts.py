"""Pass@k and pass^k of the policies of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from surefoot import _check, stats
from surefoot.core.gain import Gain
from surefoot.core.interval import Interval
from surefoot.core.record import Record
from surefoot.core.tally import Tally
from surefoot.core.words import in_its_words
from surefoot.errors import DataError
from surefoot.table.crosstab import crosstab
from surefoot.table.rollouts import Rollouts, a_table


@dataclass(frozen=True, slots=True)
class Attempts(Record):
    """One policy's pass@k or pass^k over the problems of a table.

    Attributes:
        policy: The policy.
        interval: Where the mean over problems like these lies.
        attempts: How many attempts a problem is given.
        problems: How many problems there are.
        fewest: The fewest attempts that were recorded at one of them.
        by: What the user calls the columns that tell problems apart.
    """

    policy: str
    interval: Interval
    attempts: int
    problems: int
    fewest: int
    by: tuple[str, ...]

    def __str__(self) -> str:
        where = " and ".join(self.by)
        return f"{self.policy}: {str(self.interval).removesuffix('.')}; {self.problems:,} problems by {where}."


@dataclass(frozen=True, slots=True)
class AttemptsCompared(Record):
    """Two policies' pass@k or pass^k on the same problems.

    Attributes:
        first: The policy that the gain and the verdict are about.
        second: The policy it is compared with.
        gain: Interval, p-value and verdict.
        of_first: The first policy alone.
        of_second: The second policy alone.
    """

    first: str
    second: str
    gain: Gain
    of_first: Attempts
    of_second: Attempts

    def __str__(self) -> str:
        return f"{self.first} against {self.second}: {self.gain}"


@in_its_words
def pass_rates(
    rollouts: Rollouts, attempts: int, *, every: bool = False, confidence: float = 0.95
) -> tuple[Attempts, ...]:
    """Pass@k or pass^k of each policy, with confidence intervals.

    A problem is a task and condition (item, scene) of the table, or a task where there are no conditions; the rollouts
    of a policy at it are the attempts.

    Args:
        rollouts: The table.
        attempts: How many attempts a problem is given.
        every: Whether all attempts must succeed.
        confidence: How often such intervals hold the mean, at least.

    Raises:
        DataError: No column tells problems apart, or a problem has fewer attempts than asked for.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> rows = [("new", item, (item + place) % 3 == 0) for item in range(12) for place in range(10)]
        >>> table = sf.read(pl.DataFrame(rows, schema=["policy", "item", "success"], orient="row"))
        >>> print(sf.pass_rates(table, 5)[0].problems)
        12
    """
    _check.confidence(confidence)
    return tuple(
        _measured(rollouts, policy, _problems(rollouts, (policy,), attempts), attempts, every, confidence)
        for policy in a_table(rollouts).policies
    )


@in_its_words
def compare_pass_rates(
    rollouts: Rollouts,
    first: str,
    second: str,
    *,
    attempts: int,
    every: bool = False,
    confidence: float = 0.95,
    margin: float = 0.0,
) -> AttemptsCompared:
    """Difference of two policies in pass@k or pass^k, on the problems that both met.

    Args:
        rollouts: The table.
        first: The policy the gain is about.
        second: The policy it is compared with.
        attempts: How many attempts a problem is given.
        every: Whether all attempts must succeed.
        confidence: The confidence of the interval and the verdict.
        margin: A gain that would not matter.
    """
    found = _problems(rollouts, (first, second), attempts)
    if not found.tallies[first]:
        raise DataError(f"{first!r} and {second!r} must share a problem; they share none.", source=rollouts.source)
    make = stats.pass_all_gain if every else stats.pass_at_gain
    one, other = (found.tallies[name] for name in (first, second))
    gain = make(one, other, attempts, clusters=found.clusters, confidence=confidence, margin=margin)
    alone = [_measured(rollouts, name, found, attempts, every, confidence) for name in (first, second)]
    return AttemptsCompared(first, second, gain, alone[0], alone[1])


@dataclass(frozen=True, slots=True)
class _Problems:
    """The problems that all of some policies met: their tallies, and the cluster of each where there are clusters."""

    tallies: dict[str, list[Tally]]
    clusters: list[Any] | None
    by: tuple[str, ...]


def _problems(rollouts: Rollouts, policies: tuple[str, ...], attempts: int) -> _Problems:
    attempts = _check.whole(attempts, "attempts", least=1)
    rollouts.require("success")
    design = rollouts.design
    if design.unit is None:
        raise DataError(
            f"some column must tell problems apart; none does. Say which: --unit COLUMN. These are there:\n{design}",
            source=rollouts.source,
        )
    on = design.keys("setting", "unit", "cluster")
    for name in policies:
        rollouts.where(policy=name)  # raises, naming the policies that are there
    table = crosstab(rollouts, "success", on, rollouts.policies)
    counts = {name: table.of(name) for name in policies}
    met = [place for place in range(table.frame.height) if all(counts[name][0][place] > 0 for name in policies)]
    rows = table.frame.select(f"key_{place}" for place in range(len(on))).rows()
    for name in policies:
        for place in met:
            if counts[name][0][place] < attempts:
                where = ", ".join(
                    f"{rollouts.called(key)} {value!r}" for key, value in zip(on, rows[place], strict=True)
                )
                raise DataError(
                    f"every problem must have at least {attempts:,} attempts; {name!r} has "
                    f"{int(counts[name][0][place]):,} at {where}.",
                    source=rollouts.source,
                )
    tallies = {
        name: [Tally(int(counts[name][1][place]), int(counts[name][0][place])) for place in met] for name in policies
    }
    own = design.keys("cluster")[:1]
    clusters = [rows[place][on.index(own[0])] for place in met] if own else None
    if clusters is not None and len(set(clusters)) in (1, len(clusters)):
        clusters = None
    return _Problems(tallies, clusters, tuple(rollouts.called(key) for key in design.keys("setting", "unit")))


def _measured(
    rollouts: Rollouts, policy: str, found: _Problems, attempts: int, every: bool, confidence: float
) -> Attempts:
    tallies = found.tallies[policy]
    if not tallies:
        raise DataError(f"{policy!r} must have a known success; got none.", source=rollouts.source)
    make = stats.mean_pass_all if every else stats.mean_pass_at
    interval = make(tallies, attempts, clusters=found.clusters, confidence=confidence)
    return Attempts(policy, interval, attempts, len(tallies), min(tally.trials for tally in tallies), found.by)
