"""Were the rollouts collected so that policies can be compared? One check per function, counts only."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from surefoot.core import formatting
from surefoot.core.words import Words
from surefoot.table.crosstab import Coverage, crosstab
from surefoot.table.design import Column
from surefoot.table.findings import Finding
from surefoot.table.normalising import REST, small
from surefoot.table.rollouts import Rollouts
from surefoot.table.start_order import changes, expected_changes, in_blocks
from surefoot.table.summaries import Group

if TYPE_CHECKING:
    import narwhals as nw

UNEQUAL = 0.05
BY_CHANCE = 0.001
"""A chance of shares that differ as much, below which what was not set beforehand was met unequally."""
LONGEST_SEQUENCE = 1_000_000
MOST_POLICIES = 60
DUPLICATED = "duplicated rows"
OUTCOMES = {"success", "score", "reward", "steps", "duration", "stage", "failure", "human", "note", "valid"}
SELDOM = 20
"""Copies go the same way; of environments run again, at least one in so many does not."""
MANY_KINDS = 10
"""So many different rows, beyond one a label, do not all come an even number of times: all was logged twice."""


def environments_met(met: Coverage, words: Words) -> list[Finding]:
    """Environments that some policies met and others did not."""
    if not met.several or met.shared == met.environments:
        return []
    of = f"{formatting.environments(met.environments, words)} ({met.called})"
    return [
        Finding(
            about="incomplete pairs",
            values={"environments": met.environments, "shared": met.shared},
            says=f"Of {of}, {met.shared:,} were met by every {words.policy} and {met.environments - met.shared:,} by "
            "some only.",
            threatens=f"Pairs are fewer than {words.rollouts}; if runs were dropped because of their "
            "outcome, pairs are misleading.",
            remedy="Run the missing ones, or say why they are missing; the pairs that exist are used.",
            serious=False,
        )
    ]


def duplicated_rows(rollouts: Rollouts, met: Coverage) -> list[Finding]:
    """Rows that are the same in every column, where the columns tell rollouts apart."""
    import narwhals as nw

    if not rollouts.ordered or not rollouts.whole or (met.keys and not met.recurring) or _told_apart(rollouts):
        return []
    columns = [name for name in rollouts.columns if name != "source"]
    columns += [REST] if REST in rollouts.frame.collect_schema().names() else []
    same = rollouts.frame.select(*columns).group_by(*columns, drop_null_keys=False).agg(nw.len().alias("__times__"))
    twice = same.filter(nw.col("__times__") > 1).select(
        nw.len().alias("groups"), nw.col("__times__").sum().alias("rows")
    )
    home = small(twice)
    groups, rows = int(home["groups"][0]), int(home["rows"][0] or 0)
    if not groups or _repeats(same, [name for name in columns if name not in OUTCOMES]):
        return []
    return [
        Finding(
            about=DUPLICATED,
            values={"rows": rows - groups},
            says=f"Rows that repeat another row in every column: {rows - groups:,}.",
            threatens=f"One {rollouts.words.rollout} counted twice makes every interval too narrow.",
            remedy="Find out whether a file was read or logged twice, and remove the copies; if each row is "
            f"{rollouts.words.a_rollout} of its own, number them in a `repeat` or `order` column.",
        )
    ]


def _told_apart(rollouts: Rollouts) -> bool:
    """Whether no policy met a unit twice in the same settings, clusters and repeats: then no rows are alike."""
    keys = rollouts.design.keys("unit", "setting", "cluster", "repeat")
    if not keys or "valid" in rollouts.columns or not rollouts.frame.implementation.is_polars():
        return False
    met = crosstab(rollouts, "policy", keys, rollouts.policies)
    return all(int(met.of(policy)[0].max(initial=0)) <= 1 for policy in rollouts.policies)


def _repeats(same: nw.LazyFrame[Any], keys: list[str]) -> bool:
    """Whether rows alike but for how they went are rollouts of their own, not copies.

    They are where few labels tell rollouts apart (tasks met by many), and where rows alike do go differently.
    """
    import narwhals as nw

    each = same.group_by(*keys, drop_null_keys=False).agg(
        nw.col("__times__").sum().alias("rows"), nw.len().alias("ways"), (nw.col("__times__") % 2).sum().alias("odd")
    )
    told = small(each.select(nw.len().alias("labels"), *(nw.col(name).sum() for name in ("rows", "ways", "odd"))))
    labels, rows, ways, odd = (int(told[name][0]) for name in ("labels", "rows", "ways", "odd"))
    if labels < MANY_KINDS:
        return True
    if not odd and ways - labels >= MANY_KINDS:
        return False
    if 2 * labels < rows:
        return True
    apart = nw.when(nw.col("ways") > 1).then(nw.lit(1)).otherwise(nw.lit(0))
    home = small(each.filter(nw.col("rows") > 1).select(nw.len().alias("back"), apart.sum().alias("apart")))
    return int(home["apart"][0]) * SELDOM >= int(home["back"][0])


def blocks(rollouts: Rollouts) -> list[Finding]:
    """Policies, or tasks, run one after the other instead of in mixed order."""
    clock = next((name for name in ("started_at", "order") if _tells_when(rollouts, name)), None)
    if clock is None:  # the order of the rows alone says nothing of when
        return []
    found, words, first = [], rollouts.words, next(iter(rollouts.policies), "")
    seen = _blocked(rollouts, "policy", clock) if 1 < len(rollouts.policies) <= MOST_POLICIES else None
    if seen is not None:
        found.append(
            Finding(
                about="run in blocks",
                values=seen._asdict(),
                says=f"By `{rollouts.called(clock)}`, the {words.policy} {seen}",
                threatens="Whatever drifts with time (light, wear, the operator's skill) counts as a difference "
                f"between {words.policies}.",
                remedy=f"Next time draw the order at random; now, report when each {words.policy} was run.",
            )
        )
    told = len(rollouts.tasks) > 1 and rollouts.split != clock  # a clock that tells units apart has no blocks
    seen = _blocked(rollouts.where(policy=first), str(rollouts.split), clock) if told else None
    if seen is not None:
        found.append(
            Finding(
                about="tasks run in blocks",
                values=seen._asdict(),
                says=f"The {words.task} of {first!r} {seen}",
                threatens=f"Sequential tests over all {words.tasks} together are not valid when they were run in "
                "blocks.",
                remedy=f"Test each {words.task} by itself, or use fixed-size methods; next time shuffle {words.tasks} "
                "and starts.",
                serious=False,
            )
        )
    return found


def task_mixes(rollouts: Rollouts) -> list[Finding]:
    """Columns whose levels the policies met in different shares, and pooled gains that turn round within them."""
    if not 1 < len(rollouts.policies) <= MOST_POLICIES:
        return []
    design = rollouts.design
    columns = dict.fromkeys(
        column
        for column in (design.split, *(one for one in design.of("watched") if not one.result))
        if column is not None and column.levels > 1
    )
    return [finding for column in columns for finding in _mixes_of(rollouts, column)]


def _mixes_of(rollouts: Rollouts, column: Column) -> list[Finding]:
    groups: dict[str, dict[str, Group]] = defaultdict(dict)
    for group in rollouts.summary(by=("policy", column.key)):
        if group.key[0] is not None and group.key[1] is not None and _size(group):
            groups[group.key[0]][group.key[1]] = group
    if column.role == "watched" and _chance_of_shares(groups) > BY_CHANCE:
        return []
    if column.role == "unit" and all(_size(group) == 1 for of in groups.values() for group in of.values()):
        return []  # what one policy did not meet is an incomplete pair
    totals = {policy: sum(map(_size, levels.values())) for policy, levels in groups.items()}
    gaps, turned = [], []
    for first, second in combinations(groups, 2):
        one, two = groups[first], groups[second]
        shares = {at: (_share(one, at, totals[first]), _share(two, at, totals[second])) for at in {*one, *two}}
        gap, level = max((abs(a - b), at) for at, (a, b) in shares.items())
        if gap > UNEQUAL:
            gaps.append((gap, first, second, level, shares[level]))
        both = [at for at in one if at in two]
        if both and gap > UNEQUAL:
            pooled = _rate([*one.values()]) - _rate([*two.values()])
            within = sum(_rate([one[at]]) - _rate([two[at]]) for at in both) / len(both)
            if pooled * within < 0:
                turned.append((first, second, pooled, within))
    return [*_unequal(column, gaps), *(_turned(column, *one) for one in turned[:3])]


def _chance_of_shares(groups: dict[str, dict[str, Group]]) -> float:
    """The chance of shares that differ between policies as much as these do, had the same chances made them (chi2)."""
    import numpy as np
    from scipy.special import gammaincc

    levels = sorted({level for of in groups.values() for level in of})
    counts = np.array([[_size(of[level]) if level in of else 0 for level in levels] for of in groups.values()], float)
    if min(counts.shape) < 2:
        return 1.0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    freedom = (counts.shape[0] - 1) * (counts.shape[1] - 1)
    return float(gammaincc(freedom / 2.0, ((counts - expected) ** 2 / expected).sum() / 2.0))


def _unequal(column: Column, gaps: list[tuple[float, str, str, str, tuple[float, float]]]) -> list[Finding]:
    if not gaps:
        return []
    _, first, second, level, (a, b) = max(gaps)
    more = f", and {len(gaps) - 1} more pairs differ" if len(gaps) > 1 else ""
    name = column.name
    return [
        Finding(
            about="unequal mixes",
            values={"column": name, "level": level, "shares": {first: a, second: b}, "pairs": len(gaps)},
            says=f"{name!r} was met in unequal shares: {level!r} is {a:.0%} of {first!r} and {b:.0%} of "
            f"{second!r}{more}.",
            threatens="Their rates over all levels are not comparable (Simpson's paradox). Their gains are: a verdict "
            f"must hold within {name!r}.",
            remedy=f"Look at gains, or at rates level by level; next time run every {name} equally often with both.",
            serious=False,
        )
    ]


def _turned(column: Column, first: str, second: str, pooled: float, within: float) -> Finding:
    return Finding(
        about="Simpson's paradox",
        values={"first": first, "second": second, "pooled": pooled, "within": within, "column": column.name},
        says=f"{first!r} against {second!r}: pooled {pooled:+.3f}, but {within:+.3f} on average within "
        f"{column.name!r}.",
        threatens="The pooled comparison points the wrong way.",
        remedy=f"Compare within it: --setting {column.name}.",
        serious=False,
    )


def _size(group: Group) -> int:
    return group.outcomes or group.scored


def _share(tasks: dict[str, Group], task: str, total: int) -> float:
    return _size(tasks[task]) / total if task in tasks else 0.0


def _rate(groups: list[Group]) -> float:
    total: float = sum(group.successes if group.outcomes else group.total for group in groups)
    return total / sum(map(_size, groups))


def _tells_when(rollouts: Rollouts, name: str) -> bool:
    """Whether a column can be a clock: a number that comes back within one policy counts within tasks, not over all.

    That a column tells when is known from its name, which the finding says; no shape tells a clock from an index.
    """
    import narwhals as nw

    if name not in rollouts.columns or len(rollouts) > LONGEST_SEQUENCE:
        return False
    if name == "started_at":  # two rollouts may start in the same second, or be told by the day only
        return True
    each = rollouts.counted().filter(~nw.col(name).is_null()).group_by("policy", name).agg(nw.len().alias("times"))
    return not small(each.filter(nw.col("times") > 1).select("times").head(1))["times"]


class _Blocked(NamedTuple):
    """How often a label changes from one rollout to the next, beside what chance would give."""

    changes: int
    rollouts: int
    expected: float
    called: str

    def __str__(self) -> str:
        times = "once" if self.changes == 1 else f"{self.changes:,} times"
        mixed = f"mixed at random it would change about {self.expected:,.0f} times."
        return f"changes {times} in {self.rollouts:,} {self.called}; {mixed}"


def _blocked(rollouts: Rollouts, column: str, clock: str) -> _Blocked | None:
    """How seldom a column changes, where it comes in blocks."""
    labels = small(rollouts.counted().select(column, clock).sort(clock, nulls_last=True))[column]
    return (
        _Blocked(changes(labels), len(labels), expected_changes(labels), rollouts.words.rollouts)
        if in_blocks(labels)
        else None
    )
