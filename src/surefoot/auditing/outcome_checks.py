"""Can the outcomes be believed? One check per function, counts only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations

from surefoot._arguments import shown
from surefoot.stats.clusters import cluster_shape
from surefoot.table.cells import state_range
from surefoot.table.design import MANY, whole_numbers
from surefoot.table.design_of import NO_LABELS
from surefoot.table.findings import Finding
from surefoot.table.normalising import small
from surefoot.table.rollouts import Rollouts
from surefoot.table.summaries import Group

FEW_CLUSTERS = 20
"""Clusters worth fewer of one size than this are said to be few."""
FEW_FREEDOM = 4.0
"""With fewer degrees of freedom than this, nobody should rely on an interval."""
HEAVY = 0.25
"""A cluster with more than this share of the rollouts is named."""
FEW_LABELS = 20
NAMED = {"dataset": "datasets", "judge": "judges"}
"""What policies are measured with, by column: they must share it."""
APART = "one policy a level"
"""What a finding is about where policies were not run on the same."""


def missing_outcomes(rollouts: Rollouts) -> list[Finding]:
    """Rollouts that ran and have no outcome."""
    found = []
    before: list[tuple[Group, int]] = []
    for column in ("success", "score"):
        if column not in rollouts.columns:
            continue
        gaps = [(group, group.rollouts - group.known(column)) for group in rollouts.summary()]
        other = "score" if column == "success" else "success"
        gaps = [(group, gap) for group, gap in gaps if gap and (group.known(column) or not group.known(other))]
        if not gaps or gaps == before:
            continue
        before = gaps
        listed = some([f"{gap:,} of {group.rollouts:,} of {group.key[0]!r}" for group, gap in gaps])
        ends = ""
        if column == "success" and len(gaps) == 1 and gaps[0][0].outcomes:
            group, gap = gaps[0]
            least, most = group.successes / group.rollouts, (group.successes + gap) / group.rollouts
            ends = f" Counting them all as failures gives {least:.1%}, all as successes {most:.1%}."
        found.append(
            Finding(
                about="missing values",
                values={"column": column, "missing": {str(group.key[0]): gap for group, gap in gaps}},
                says=f"No {column} is known for {listed}; they are left out of every rate and mean.",
                threatens="If failures go unrecorded more often than successes, the rate is too high." + ends,
                remedy="Fill them in, or report both extremes.",
            )
        )
    return found


def void_rollouts(rollouts: Rollouts) -> list[Finding]:
    """Rollouts declared not to count; of a study its deviations tell why, and most were only not needed any more."""
    void = [group for group in rollouts.summary() if group.void]
    if not void or any(getattr(note, "kind", "") == "could stop by looking" for note in rollouts.notes):
        return []
    return [
        Finding(
            about="voided",
            values={"voided": {str(group.key[0]): group.void for group in void}},
            says=f"Declared not to count: {some([f'{group.void:,} of {group.key[0]!r}' for group in void])}.",
            threatens=f"If {rollouts.words.a_rollout} was voided because of how it ended, the rates are biased.",
            remedy=f"Say why each was voided, and void both {rollouts.words.rollouts} of a pair.",
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
            values={"least": least, "most": most, "low": rollouts.low, "high": rollouts.high},
            says=f"Scores run from {least:g} to {most:g}; the stated range is [{rollouts.low:g}, {rollouts.high:g}].",
            threatens="Every guarantee about a mean score rests on the range; none can be given.",
            remedy=shown(state_range()),
        )
    ]


def contradictions(rollouts: Rollouts) -> list[Finding]:
    """Successes with the least score, and failures with the greatest."""
    import narwhals as nw

    if not {"success", "score"} <= set(rollouts.columns) or out_of_range(rollouts):  # at which ends would not be known
        return []
    least = (nw.col("success") == 1) & (nw.col("score") <= rollouts.low)
    greatest = (nw.col("success") == 0) & (nw.col("score") >= rollouts.high)
    counts = (flag.cast(nw.Int64).sum().alias(name) for name, flag in (("low", least), ("high", greatest)))
    low, high = (int(count[0] or 0) for count in small(rollouts.counted().select(*counts)).values())
    if not low + high:
        return []
    return [
        Finding(
            about="success contradicts score",
            values={"successes": low, "failures": high},
            says=f"Successes with the least score: {low:,}; failures with the greatest: {high:,}.",
            threatens="One of the two columns is wrong, or they measure different things.",
            remedy=f"Look at these {rollouts.words.rollouts}; say which column decides.",
        )
    ]


def few_clusters(rollouts: Rollouts) -> list[Finding]:
    """Clusters that are too few, or of too unequal size, to judge how they vary."""
    keys = rollouts.design.keys("cluster")
    if not keys:
        return []
    sizes: dict[str, list[int]] = defaultdict(list)
    for group in rollouts.summary(by=("policy", *keys)):
        if group.key[0] is not None and group.rollouts:
            sizes[group.key[0]].append(group.rollouts)
    shapes = {policy: cluster_shape(of) for policy, of in sizes.items() if len(of) > 1}
    weak = {policy: shape for policy, shape in shapes.items() if shape.effective < FEW_CLUSTERS}
    if not weak:
        return []
    by = " and ".join(rollouts.design.cluster)
    policy, shape = min(weak.items(), key=lambda item: item[1].freedom)
    heavy = (
        f" One {by} holds {shape.largest_share:.0%} of the {rollouts.words.rollouts}."
        if shape.largest_share > HEAVY
        else ""
    )
    return [
        Finding(
            about="few clusters",
            values={"by": keys, "policy": policy, "clusters": shape.clusters, "freedom": shape.freedom},
            says=f"{policy!r} has {shape.clusters:,} clusters ({by}), equivalent to {shape.effective:.1f} of equal "
            f"size: {shape.freedom:.1f} degrees of freedom.{heavy}",
            threatens="The interval allows for this, and is wide for that reason."
            if shape.freedom >= FEW_FREEDOM
            else "With so few degrees of freedom the interval is very wide, and still only approximate.",
            remedy=f"More different {by} narrow it; more {rollouts.words.rollouts} of the same hardly do.",
            serious=shape.freedom < FEW_FREEDOM,
        )
    ]


def uncalibrated_judge(rollouts: Rollouts) -> list[Finding]:
    """Outcomes given by a judge that nobody has checked."""
    if "judge" not in rollouts.columns:
        return []
    judges, labels = rollouts.names("judge"), rollouts.labels
    if not judges or labels >= FEW_LABELS:
        return []
    return [
        Finding(
            about="judged without calibration",
            values={"judges": judges, "labels": labels},
            says=f"Outcomes come from {some([repr(judge) for judge in judges])}; "
            f"{labels or 'no'} {rollouts.words.rollouts} carry a human label.",
            threatens=f"A judge's own errors move the rate, and more {rollouts.words.rollouts} do not remove them.",
            remedy=f"Label at least {FEW_LABELS} {rollouts.words.rollouts} by hand in a `human` column and correct the "
            "rate with them.",
        )
    ]


def not_comparable(rollouts: Rollouts) -> list[Finding]:
    """Policies measured on different datasets or by different judges, and names that differ by case only."""
    found = []
    for column, what in NAMED.items():
        if column not in rollouts.columns or len(rollouts.policies) < 2:
            continue
        of: dict[str, set[str]] = defaultdict(set)
        for group in rollouts.summary(by=("policy", column)):
            if group.key[0] is not None and group.key[1] is not None:
                of[group.key[0]].add(group.key[1])
        for first, second in combinations(sorted(of), 2):
            if not of[first] & of[second]:
                names = [some([repr(name) for name in sorted(of[policy])]) for policy in (first, second)]
                found.append(
                    Finding(
                        about=f"different {what}",
                        values={"column": column, "of": {one: tuple(sorted(of[one])) for one in (first, second)}},
                        says=f"{first!r} was measured with {names[0]}, {second!r} with {names[1]}.",
                        threatens="A difference between them may be one between the measurements.",
                        remedy=f"Compare {rollouts.words.policies} on the same {column}.",
                    )
                )
                break
    found += [_alike("policy", names, rollouts.words.policy) for names in same_but_for_case(rollouts.policies)]
    return found + [_alike("task", names, rollouts.words.task) for names in same_but_for_case(rollouts.tasks)]


def same_but_for_case(names: Sequence[str]) -> list[list[str]]:
    """Names that differ by letter case or spaces only, in groups."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name in names:
        groups[" ".join(name.casefold().split())].append(name)
    return [group for group in groups.values() if len(group) > 1]


def _alike(column: str, names: list[str], noun: str) -> Finding:
    return Finding(
        about="names alike",
        values={"names": tuple(names), "column": column},
        says=f"{some([repr(name) for name in names])} differ by letter case or spaces only.",
        threatens=f"They may be one {noun}, counted as several.",
        remedy=f"Give one {noun} one name.",
    )


def unknown_order(rollouts: Rollouts) -> list[Finding]:
    """Counts without an order."""
    if rollouts.ordered:
        return []
    return [
        Finding(
            about="order unknown",
            says=f"The order of the {rollouts.words.rollouts} is not recorded.",
            threatens="Drift and blocks cannot be seen, and no sequential test can be replayed.",
            remedy=f"Keep results {rollouts.words.rollout} by {rollouts.words.rollout}, with an `order` or "
            "`started_at` column.",
            serious=False,
        )
    ]


def confounded(rollouts: Rollouts) -> list[Finding]:
    """Columns whose every level belongs to one policy: what the column tells and the policy cannot be told apart."""
    if len(rollouts.policies) < 2:
        return []
    alone = [column for column in rollouts.design.of("run") if column.key not in rollouts.declared]
    nothing = [column for column in rollouts.design.of("nothing") if column.key not in rollouts.declared]
    few = [column for column in nothing if 1 < column.levels < MANY and column.key not in NAMED]
    alone += [column for column in few if _of_one_policy(rollouts, column.key)]
    says = {
        column: f"Each of the {column.levels:,} levels of {column.name!r} belongs to one {rollouts.words.policy}."
        for column in alone
    }
    each = {column: met for column in few if (met := _one_each(rollouts, column.key))}
    for column, levels in each.items():
        listed = some([f"{level!r} for {name!r}" for name, level in levels.items()])
        says[column] = f"{column.name!r} has one level in all rows of a {rollouts.words.policy}: {listed}."
    return [
        Finding(
            about=APART,
            values={"column": column.name, "levels": column.levels},
            says=said,
            threatens=f"If {column.name!r} tells what was run, the {rollouts.words.policies} were not run on the same.",
            remedy=f"Say what it is: --run {column.name}, --setting {column.name} or --ignore {column.name}.",
            serious=column in each and rollouts.design.unit is None,  # nothing else tells that they met the same
        )
        for column, said in says.items()
    ]


def _one_each(rollouts: Rollouts, key: str) -> dict[str, str]:
    """The level of every policy in a column, where each has one in several rows; nothing otherwise."""
    met = [group for group in rollouts.summary(by=("policy", key)) if None not in group.key]
    alone = len(met) == len(rollouts.policies) and any(group.rollouts > 1 for group in met)
    return {str(group.key[0]): str(group.key[1]) for group in met} if alone else {}


def _of_one_policy(rollouts: Rollouts, key: str) -> bool:
    """Whether every level of a column belongs to one policy, and some level recurs."""
    groups = [group for group in rollouts.summary(by=("policy", key)) if None not in group.key]
    recurring = any(group.rollouts > 1 for group in groups)
    return recurring and len({group.key[1] for group in groups}) == len(groups)


def lone_totals(rollouts: Rollouts) -> list[Finding]:
    """Tables with one score for each policy, or each policy on each task: these may be means over many rollouts."""
    if "success" in rollouts.columns or rollouts.design.repeats:
        return []
    split = rollouts.split
    groups = rollouts.summary(by=("policy",) if split is None else ("policy", split))
    inside = any(one.most is not None and rollouts.low < one.most < rollouts.high for one in groups)
    if not inside or any(one.scored > 1 for one in groups) or _numbers_rows(rollouts):
        return []
    words = rollouts.words
    where = "" if split is None else f" on each {rollouts.called(split)}"
    return [
        Finding(
            about="perhaps totals",
            values={"scores": len(groups)},
            says=f"Each {words.policy} has one score{where}.",
            threatens=f"A mean over many {words.rollouts} counts here as one {words.rollout}, so that every interval "
            "is wrong.",
            remedy=f"Read the {words.rollouts} themselves; nothing can be said about means without them.",
        )
    ]


def _numbers_rows(rollouts: Rollouts) -> bool:
    """Whether a column beside those of the answer counts, 1, 2, 3 or from 0 on: its rows are tries, not means."""
    for name in rollouts.columns:
        if name in NO_LABELS or name == rollouts.split:
            continue
        numbers = whole_numbers([str(level) for level in rollouts.names(name)])
        if numbers is not None and 1 < len(numbers) == numbers.max() - numbers.min() + 1:
            return True
    return False


CHECKS: tuple[Callable[[Rollouts], list[Finding]], ...] = (
    *(missing_outcomes, void_rollouts, out_of_range, contradictions),
    *(uncalibrated_judge, not_comparable, unknown_order, confounded, lone_totals),
)


def some(parts: list[str]) -> str:
    """The first few of a list, and how many more."""
    return ", ".join(parts[:4]) + (f" and {len(parts) - 4} more" if len(parts) > 4 else "")
