"""What in these rollouts could make a conclusion wrong? One check per function, counts only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import combinations, pairwise
from typing import Any

from surefoot.rollouts.canon import small
from surefoot.rollouts.environments import Environments
from surefoot.rollouts.findings import Finding
from surefoot.rollouts.table import Group, Rollouts

FEW_CLUSTERS = 20
FEW_LABELS = 20
UNEQUAL = 0.05
LONGEST_SEQUENCE = 1_000_000
MOST_POLICIES = 60


def missing_outcomes(rollouts: Rollouts) -> list[Finding]:
    """Rollouts that ran and have no outcome."""
    found = []
    for column, word in (("success", "success"), ("score", "score")):
        if column not in rollouts.columns:
            continue
        gaps = [(group, group.rollouts - _known(group, column)) for group in rollouts.summary()]
        gaps = [(group, gap) for group, gap in gaps if gap]
        if not gaps or (column == "score" and all(group.outcomes == group.rollouts for group, _ in gaps)):
            continue
        listed = _some([f"{gap:,} of {group.rollouts:,} of {group.key[0]!r}" for group, gap in gaps])
        ends = ""
        if column == "success" and len(gaps) == 1 and gaps[0][0].outcomes:
            group, gap = gaps[0]
            least, most = group.successes / group.rollouts, (group.successes + gap) / group.rollouts
            ends = f" Counting them all as failures gives {least:.1%}, all as successes {most:.1%}."
        found.append(
            Finding(
                about="missing values",
                says=f"No {word} is known for {listed}; they are left out of every rate and mean.",
                threatens="If failures go unrecorded more often than successes, the rate is too high." + ends,
                remedy="Fill them in, or report both extremes.",
            )
        )
    return found


def void_rollouts(rollouts: Rollouts) -> list[Finding]:
    """Rollouts declared not to count."""
    void = [group for group in rollouts.summary() if group.void]
    if not void:
        return []
    return [
        Finding(
            about="void rollouts",
            says=f"Declared not to count: {_some([f'{group.void:,} of {group.key[0]!r}' for group in void])}.",
            threatens="If a rollout was voided because of how it ended, the rates are biased.",
            remedy="Say why each was voided, and void both rollouts of a pair.",
            serious=False,
        )
    ]


def out_of_range(rollouts: Rollouts) -> list[Finding]:
    """Scores that the stated range does not allow."""
    if "score" not in rollouts.columns:
        return []
    ends = [
        (group.least, group.most) for group in rollouts.summary() if group.least is not None and group.most is not None
    ]
    least, most = min((low for low, _ in ends), default=0.0), max((high for _, high in ends), default=0.0)
    if not ends or (least >= rollouts.low and most <= rollouts.high):
        return []
    return [
        Finding(
            about="a score outside its range",
            says=f"Scores run from {least:g} to {most:g}; the stated range is [{rollouts.low:g}, {rollouts.high:g}].",
            threatens="Every guarantee about a mean score rests on the range; none can be given.",
            remedy="State the range that the scoring allows, low= and high=; never read it off the scores.",
        )
    ]


def contradictions(rollouts: Rollouts) -> list[Finding]:
    """Successes with the least score, and failures with the greatest."""
    import narwhals as nw

    if not {"success", "score"} <= set(rollouts.columns):
        return []
    success, score = nw.col("success"), nw.col("score")

    def count(flag: nw.Expr, name: str) -> nw.Expr:
        return nw.when(flag).then(nw.lit(1)).otherwise(nw.lit(0)).sum().alias(name)

    wrong = small(
        rollouts.counted().select(
            count((success == 1) & (score <= rollouts.low), "low"),
            count((success == 0) & (score >= rollouts.high), "high"),
        )
    )
    low, high = int(wrong["low"][0] or 0), int(wrong["high"][0] or 0)
    if not low + high:
        return []
    parts = [
        f"{low:,} successes have the least score" if low else "",
        f"{high:,} failures have the greatest" if high else "",
    ]
    return [
        Finding(
            about="success contradicts score",
            says=f"{' and '.join(filter(None, parts))}.",
            threatens="One of the two columns is wrong, or they measure different things.",
            remedy="Look at these rollouts; say which column decides.",
        )
    ]


def environments_met(rollouts: Rollouts, met: Environments | None) -> list[Finding]:
    """Environments that some policies met and others did not, and those one policy met twice."""
    if met is None:
        return []
    found = []
    if met.shared and met.complete < met.total:
        found.append(
            Finding(
                about="incomplete pairs",
                says=f"Of {met.total:,} environments, {met.complete:,} were met by every policy and "
                f"{met.total - met.complete:,} by some only.",
                threatens="Pairs are fewer than rollouts; if runs were dropped for how they went, pairs mislead.",
                remedy="Run the missing ones, or say why they are missing; the pairs that exist are used.",
                serious=False,
            )
        )
    if met.repeated:
        found.append(
            Finding(
                about="repeated seeds",
                says=f"{met.repeated:,} environments were run more than once by one policy "
                f"({', '.join(met.on)} the same), for instance {met.example}.",
                threatens="A policy that acts the same way twice is counted twice; intervals come out too narrow, "
                "and pairs cannot be told.",
                remedy="If they are repeats, number them in a `repeat` column and cluster by the environment; "
                "if not, give the environments different names.",
            )
        )
    return found


def duplicated_rows(rollouts: Rollouts, met: Environments | None) -> list[Finding]:
    """Rows that are the same in every column."""
    import narwhals as nw

    telling = {"order", "started_at", "condition", "seed", "session", "duration", "reward"} & set(rollouts.columns)
    if not telling or not rollouts.ordered or (met is not None and not met.repeated):
        return []
    columns = [name for name in rollouts.columns if name not in ("source", "note")]
    same = rollouts.frame.select(*columns).group_by(*columns, drop_null_keys=False).agg(nw.len().alias("__times__"))
    twice = same.filter(nw.col("__times__") > 1).select(
        nw.len().alias("groups"), nw.col("__times__").sum().alias("rows")
    )
    home = small(twice)
    groups, rows = int(home["groups"][0]), int(home["rows"][0] or 0)
    if not groups:
        return []
    return [
        Finding(
            about="duplicated rows",
            says=f"{rows - groups:,} rows repeat another row in every column.",
            threatens="A rollout counted twice makes every interval too narrow.",
            remedy="Find out whether a file was read or logged twice, and remove the copies.",
        )
    ]


def blocks(rollouts: Rollouts) -> list[Finding]:
    """Policies, or tasks, run one after the other instead of in mixed order."""
    found = []
    clock = next((name for name in ("started_at", "order") if name in rollouts.columns), None)
    if clock is not None and 1 < len(rollouts.policies) <= MOST_POLICIES:
        labels = _sequence(rollouts, "policy", clock)
        if _blocked(labels):
            found.append(
                Finding(
                    about="policies run in blocks",
                    says=f"By `{clock}`, the policy changes {_changes(labels):,} times in {len(labels):,} rollouts; "
                    f"mixed at random it would change about {_expected(labels):,.0f} times.",
                    threatens="Whatever drifts with time (light, wear, the operator's skill) counts as a difference "
                    "between policies.",
                    remedy="Next time draw the order at random; now, report when each policy was run.",
                )
            )
    if len(rollouts.tasks) > 1 and rollouts.ordered:
        one = rollouts.where(policy=rollouts.policies[0])
        labels = _sequence(one, "task", clock)
        if _blocked(labels):
            found.append(
                Finding(
                    about="tasks run in blocks",
                    says=f"The task of {rollouts.policies[0]!r} changes {_changes(labels):,} times in "
                    f"{len(labels):,} rollouts; mixed at random it would change about {_expected(labels):,.0f} times.",
                    threatens="Sequential tests over all tasks together are not valid on blocked contexts.",
                    remedy="Test each task by itself, or use fixed-size methods; next time shuffle tasks and starts.",
                    serious=False,
                )
            )
    return found


def task_mixes(rollouts: Rollouts) -> list[Finding]:
    """Policies that ran the tasks in different shares, and pooled gains that turn round within tasks."""
    if len(rollouts.tasks) < 2 or not 1 < len(rollouts.policies) <= MOST_POLICIES:
        return []
    groups: dict[str, dict[str, Group]] = defaultdict(dict)
    for group in rollouts.summary(by=("policy", "task")):
        if group.key[0] is not None and group.key[1] is not None and _size(group):
            groups[group.key[0]][group.key[1]] = group
    totals = {policy: sum(map(_size, tasks.values())) for policy, tasks in groups.items()}
    gaps, turned = [], []
    for first, second in combinations(groups, 2):
        one, two = groups[first], groups[second]
        shares = {task: (_share(one, task, totals[first]), _share(two, task, totals[second])) for task in {*one, *two}}
        gap, task = max((abs(a - b), task) for task, (a, b) in shares.items())
        if gap > UNEQUAL:
            gaps.append((gap, first, second, task, shares[task]))
        both = [task for task in one if task in two]
        if both:
            pooled = _rate([*one.values()]) - _rate([*two.values()])
            within = sum(_rate([one[task]]) - _rate([two[task]]) for task in both) / len(both)
            if pooled * within < 0:
                turned.append((first, second, pooled, within))
    found = []
    if gaps:
        _, first, second, task, (a, b) = max(gaps)
        found.append(
            Finding(
                about="unequal task mixes",
                says=f"Tasks are not equally shared: {task!r} is {a:.0%} of {first!r} and {b:.0%} of {second!r}"
                f"{f', and {len(gaps) - 1} more pairs differ' if len(gaps) > 1 else ''}.",
                threatens="A policy looks better merely because it met easier tasks (Simpson's paradox).",
                remedy="Compare task by task, or by the stratified gain; do not pool.",
            )
        )
    for first, second, pooled, within in turned[:3]:
        found.append(
            Finding(
                about="Simpson's paradox",
                says=f"{first!r} against {second!r}: pooled {pooled:+.3f}, but {within:+.3f} on average within tasks.",
                threatens="The pooled comparison points the wrong way.",
                remedy="Use the comparison within tasks.",
            )
        )
    return found


def few_clusters(rollouts: Rollouts) -> list[Finding]:
    """Too few groups of dependent rollouts to judge how they vary."""
    if "cluster" not in rollouts.columns:
        return []
    counts: dict[str | None, int] = defaultdict(int)
    for group in rollouts.summary(by=("policy", "cluster")):
        counts[group.key[0]] += group.key[1] is not None
    few = {policy: count for policy, count in counts.items() if count < FEW_CLUSTERS}
    if not few:
        return []
    return [
        Finding(
            about="too few clusters",
            says=f"Clusters: {_some([f'{count} of {policy!r}' for policy, count in few.items()])}.",
            threatens=f"With fewer than {FEW_CLUSTERS} clusters, an interval that allows for them is rough.",
            remedy="More clusters narrow the interval; more rollouts within them hardly do.",
        )
    ]


def uncalibrated_judge(rollouts: Rollouts) -> list[Finding]:
    """Outcomes given by a judge that nobody has checked."""
    import narwhals as nw

    if "judge" not in rollouts.columns:
        return []
    judges = rollouts.names("judge")
    labels = 0
    if "human" in rollouts.columns:
        labels = int(small(rollouts.counted().select(nw.col("human").count().alias("labels")))["labels"][0])
    if not judges or labels >= FEW_LABELS:
        return []
    return [
        Finding(
            about="judged without calibration",
            says=f"Outcomes come from {_some([repr(judge) for judge in judges])}; "
            f"{labels or 'no'} rollouts carry a human label.",
            threatens="A judge's own errors move the rate, and more rollouts do not remove them.",
            remedy=f"Label at least {FEW_LABELS} rollouts by hand in a `human` column and correct the rate with them.",
        )
    ]


def not_comparable(rollouts: Rollouts) -> list[Finding]:
    """Policies measured on different datasets or by different judges, and names that differ by case only."""
    found = []
    for column, what in (("dataset", "datasets"), ("judge", "judges")):
        if column not in rollouts.columns or len(rollouts.policies) < 2:
            continue
        of: dict[str, set[str]] = defaultdict(set)
        for group in rollouts.summary(by=("policy", column)):
            if group.key[0] is not None and group.key[1] is not None:
                of[group.key[0]].add(group.key[1])
        for first, second in combinations(sorted(of), 2):
            if not of[first] & of[second]:
                names = [_some([repr(name) for name in sorted(of[policy])]) for policy in (first, second)]
                found.append(
                    Finding(
                        about=f"different {what}",
                        says=f"{first!r} was measured with {names[0]}, {second!r} with {names[1]}.",
                        threatens="A difference between them may be one between the measurements.",
                        remedy=f"Compare policies on the same {column}.",
                    )
                )
                break
    alike: dict[str, list[str]] = defaultdict(list)
    for policy in rollouts.policies:
        alike[" ".join(policy.casefold().split())].append(policy)
    for names in alike.values():
        if len(names) > 1:
            found.append(
                Finding(
                    about="names alike",
                    says=f"{_some([repr(name) for name in names])} differ by letter case or spaces only.",
                    threatens="They may be one policy, counted as several.",
                    remedy="Give one policy one name.",
                )
            )
    return found


def unknown_order(rollouts: Rollouts) -> list[Finding]:
    """Counts without an order."""
    if rollouts.ordered:
        return []
    return [
        Finding(
            about="order unknown",
            says="The order of the rollouts is not recorded.",
            threatens="Drift and blocks cannot be seen, and no sequential test can be replayed.",
            remedy="Keep results rollout by rollout, with an `order` or `started_at` column.",
            serious=False,
        )
    ]


ALONE: tuple[Callable[[Rollouts], list[Finding]], ...] = (
    *(missing_outcomes, void_rollouts, out_of_range, contradictions, blocks, task_mixes, few_clusters),
    *(uncalibrated_judge, not_comparable, unknown_order),
)
WITH_ENVIRONMENTS = (environments_met, duplicated_rows)


def _known(group: Group, column: str) -> int:
    return group.outcomes if column == "success" else group.scored


def _size(group: Group) -> int:
    return group.outcomes or group.scored


def _share(tasks: dict[str, Group], task: str, total: int) -> float:
    return _size(tasks[task]) / total if task in tasks else 0.0


def _rate(groups: list[Group]) -> float:
    total: float = sum(group.successes if group.outcomes else group.total for group in groups)
    return total / sum(map(_size, groups))


def _sequence(rollouts: Rollouts, column: str, clock: str | None) -> list[Any]:
    if len(rollouts) > LONGEST_SEQUENCE:
        return []
    frame = rollouts.counted()
    if clock is None:
        return small(frame.select(column))[column]
    return small(frame.select(column, clock).sort(clock, nulls_last=True))[column]


def _changes(labels: list[Any]) -> int:
    return sum(a != b for a, b in pairwise(labels))


def _expected(labels: list[Any]) -> float:
    total = len(labels)
    counts: dict[Any, int] = defaultdict(int)
    for label in labels:
        counts[label] += 1
    same = sum(count * (count - 1) for count in counts.values()) / (total * (total - 1))
    return (total - 1) * (1.0 - same)


def _blocked(labels: list[Any]) -> bool:
    return len(labels) >= 10 and len(set(labels)) > 1 and _changes(labels) < 0.5 * _expected(labels)


def _some(parts: list[str]) -> str:
    return ", ".join(parts[:4]) + (f" and {len(parts) - 4} more" if len(parts) > 4 else "")
