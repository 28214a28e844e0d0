"""What is paired, what is clustered, what is stratified? One description of a table, made once, read by everyone.

An environment is what a rollout was run in: its task and its condition (an item, a scene, a start), or its seed where
there is no condition. What recurs is a cluster: when one policy met an environment several times, those rollouts are
not independent, whatever else tells them apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from surefoot.core.formatting import counted, rollouts
from surefoot.core.record import Record
from surefoot.core.words import spoken
from surefoot.table.crosstab import Crosstab, crosstab
from surefoot.table.normalising import home, small
from surefoot.table.rollouts import Rollouts

if TYPE_CHECKING:
    import polars as pl

Measure = Literal["success", "score"]
Unpaired = Literal[
    "one policy",
    "no column",
    "incomplete",
    "one environment",
    "none shared",
    "few shared",
    "other runs",
    "asked",
    "drawn",
]
"""Why rollouts of two policies are not paired."""

KEYS = ("condition", "seed")
"""What tells environments of one task apart, the better one first."""


@dataclass(frozen=True, slots=True)
class Structure(Record):
    """How rollouts of some policies belong together.

    Attributes:
        policies: The policies it is about.
        rollouts: Their rollouts with a known outcome.
        environment: The columns that tell environments apart; empty where none does.
        environments: How many environments there are.
        shared: How many of them all of these policies met.
        several: How many of them at least two of these policies met.
        recurring: How many of them one policy met more than once.
        clusters: The columns by which rollouts are clustered; empty where every rollout stands alone.
        declared: Whether a `cluster` column says so.
        groups: How many clusters there are; 0 where every rollout stands alone.
        unpaired: Why two policies are not paired; None where they are.
        tasks: How many tasks there are.
        runs: How many training runs each policy has at least, where a `run` column tells of two or more; 0 otherwise.
        named: What the user calls these columns.
    """

    policies: tuple[str, ...]
    rollouts: int
    environment: tuple[str, ...] = ()
    environments: int = 0
    shared: int = 0
    several: int = 0
    recurring: int = 0
    clusters: tuple[str, ...] = ()
    declared: bool = False
    groups: int = 0
    unpaired: Unpaired | None = None
    tasks: int = 0
    runs: int = 0
    named: Mapping[str, str] = field(default_factory=dict)

    @property
    def paired(self) -> bool:
        """Whether rollouts of the two policies are compared environment by environment."""
        return self.unpaired is None

    def called(self, columns: Sequence[str]) -> str:
        """Columns by the names that the user gave them: ``task and scene``."""
        names = [self.named.get(column, column).strip() or column for column in columns]
        return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 2 else names)

    def __str__(self) -> str:
        return self.said()

    def said(self, *, counts: bool = True) -> str:
        """The description as a sentence or two; without counts it is the same for all that is structured alike."""
        return " ".join(
            part for part in (self.pairing(counts=counts), self._clustering(counts), self._running()) if part
        )

    def pairing(self, *, counts: bool) -> str:
        """Whether two policies are paired and by what, or why not, in a sentence."""
        where = self.called(self.environment)
        many = f": {counted(self.shared, 'pair')}" if counts else ""
        some = (
            f"{self.shared:,} of {self.environments:,} {spoken().environments} ({where})" if counts else f"few {where}"
        )
        words = spoken()
        told = {
            None: f"Paired by {where}{many}.",
            "one policy": "",
            "no column": f"Not paired: no column tells which {words.rollouts} belong together.",
            "incomplete": f"Not paired: some {words.rollouts} do not say of which {words.environment} they are.",
            "one environment": f"Not paired: all {words.rollouts} are of one {words.environment}.",
            "none shared": f"Not paired: the two share no {where}.",
            "few shared": f"Not paired: the two share {some}.",
            "other runs": "Not paired: the runs of the two have no names in common.",
            "asked": "Not paired, as asked.",
            "drawn": f"Not paired: each {words.rollout} drew {words.an_environment} of its own, as declared.",
        }
        return told[self.unpaired]

    def _running(self) -> str:
        if not self.runs:
            return ""
        told = f"Several runs of each {spoken().policy}, told by {self.called(('run',))}"
        return f"{told}: the interval allows for what a whole run shares."

    def _clustering(self, counts: bool) -> str:
        if not self.clusters:
            return ""
        many = f"{rollouts(self.rollouts)} in {counted(self.groups, 'cluster')}" if counts else "In clusters"
        name = self.called(self.clusters)
        if self.declared:
            return f"{many}, told by the column {name!r}."
        return f"{many}, one for each {name}, because one {spoken().policy} met it several times."


def structure(rollouts: Rollouts, measure: Measure, policies: Sequence[str] | None = None) -> Structure:
    """How the rollouts of some policies belong together; of all policies when none are named."""
    names = tuple(policies) if policies is not None else rollouts.policies
    return described(rollouts, measure, names)[0]


def described(rollouts: Rollouts, measure: Measure, names: tuple[str, ...]) -> tuple[Structure, Crosstab | None]:
    """The description, and the counts it was made from; none where nothing tells environments apart."""
    return rollouts.once(("structure", measure, *names), lambda: _described(rollouts, measure, names))


def part(rollouts: Rollouts, measures: Sequence[Measure], policy: str, task: str | None = None) -> Rollouts:
    """The rollouts of one policy, on one task where it is named; what is known of all environments goes along."""
    for measure in measures:
        structure(rollouts, measure, (policy,))  # found out once for all policies
    return rollouts.where(policy=policy, **({} if task is None else {"task": task}))


def rows(rollouts: Rollouts, measure: Measure, policy: str, columns: Sequence[str] = ()) -> pl.DataFrame:
    """The known outcomes of a policy as `value`, with some columns, sorted: whatever the order of the rows was."""
    import narwhals as nw

    own = rollouts.counted().filter((nw.col("policy") == policy) & ~nw.col(measure).is_null())
    return home(own.select(*columns, nw.col(measure).cast(nw.Float64).alias("value"))).sort(*columns, "value")


def _described(rollouts: Rollouts, measure: Measure, names: tuple[str, ...]) -> tuple[Structure, Crosstab | None]:
    import numpy as np

    known = sum(group.known(measure) for group in rollouts.summary() if group.key[0] in names)
    runs, named = _runs(rollouts, names), _named(rollouts)
    on, reason, table = _environment(rollouts, measure, names)
    why: Unpaired | None = reason if len(names) == 2 else "one policy"
    made = Structure(names, known, unpaired=why, tasks=len(rollouts.tasks), runs=runs, named=named)
    if table is None:
        return made, None
    counts = [table.of(name)[0] for name in names]
    met = np.sum([count > 0 for count in counts], axis=0)
    recurring = int(np.any([count > 1 for count in counts], axis=0).sum())
    environments, shared = int((met > 0).sum()), int((met == len(names)).sum())
    drawn = rollouts.collected == "independent"  # then what recurs was drawn twice, and ties nothing together
    clusters, declared, groups = _clusters(table, counts, 0 if drawn else recurring)
    if len(names) == 2:
        why = "drawn" if drawn else _apart(counts, shared)
    made = replace(
        made,
        environment=on,
        environments=environments,
        shared=shared,
        several=int((met > 1).sum()),
        recurring=recurring,
        clusters=clusters,
        declared=declared,
        groups=groups,
        unpaired=why,
    )
    return made, table


def _apart(counts: Sequence[Any], shared: int) -> Unpaired | None:
    if not shared:
        return "none shared"
    fewer = min(int((count > 0).sum()) for count in counts)
    return None if 2 * shared >= fewer else "few shared"


def _clusters(table: Crosstab, counts: Sequence[Any], recurring: int) -> tuple[tuple[str, ...], bool, int]:
    """The columns by which rollouts are clustered, whether they were declared, and how many clusters there are."""
    import numpy as np

    if "cluster" in table.on and _grouping(table, counts):
        codes = table.codes("cluster")
        return ("cluster",), True, _distinct(codes[np.sum(counts, axis=0) > 0])
    if recurring:
        by = tuple(column for column in table.on if column != "cluster")
        codes = table.codes(*by)
        return by, False, _distinct(codes[np.sum(counts, axis=0) > 0])
    return (), False, 0


def _environment(
    rollouts: Rollouts, measure: Measure, names: tuple[str, ...]
) -> tuple[tuple[str, ...], Unpaired, Crosstab | None]:
    """The columns that tell environments apart, or why none do; and the counts by them."""
    there = tuple(column for column in (*KEYS, "cluster") if column in rollouts.columns)
    empty = unfilled(rollouts, there)
    full = [column for column in there if not any(empty[name, column] for name in names)]
    reason: Unpaired = "no column" if not there else "incomplete"
    for column in full:
        grouped = ("cluster",) if "cluster" in full and column != "cluster" else ()
        on = (*(("task",) if "task" in rollouts.columns else ()), column, *grouped)
        everyone = tuple(name for name in rollouts.policies if not any(empty[name, key] for key in on if key != "task"))
        table = crosstab(rollouts, measure, on, everyone)
        if grouped and not _grouping(table, [table.of(name)[0] for name in names]):  # it must not hide what recurs
            on = tuple(key for key in on if key != "cluster")
            table = crosstab(rollouts, measure, on, everyone)
        if column == "cluster" or _telling(table, names, column):
            return on, reason, table
        reason = "one environment"
    return (), reason, None


def named_environment(rollouts: Rollouts) -> tuple[str, ...]:
    """The columns by which a table names environments: the task, and the condition, or the seed where there is none."""
    telling = [column for column in KEYS if column in rollouts.columns][:1]
    return (*(("task",) if "task" in rollouts.columns else ()), *telling)


def _grouping(table: Crosstab, counts: Sequence[Any]) -> bool:
    """Whether a cluster holds several rollouts of one policy."""
    import numpy as np

    codes = table.codes("cluster")
    return any(bool((np.bincount(codes, weights=count) > 1).any()) for count in counts)


def _distinct(codes: Any) -> int:
    import numpy as np

    return int(np.count_nonzero(np.bincount(codes)))


def _telling(table: Crosstab, names: Sequence[str], column: str) -> bool:
    """Whether a column tells environments of a task apart: a seed that is the same for all rollouts does not.

    Where every policy met each of its tasks once, several in all, the task tells, and the column names what was met.
    """
    several, once = False, True
    for name in names:
        key = ("telling", name, column)
        if key not in table.kept:
            count = table.of(name)[0]
            own = count > 0
            wide = _distinct(table.codes(*(name for name in table.on if name == "task"))[own])
            fine = _distinct(table.codes(*(name for name in table.on if name in ("task", column)))[own])
            table.kept[key] = (fine > wide, wide > 1, count.sum() == wide)
        finer, wider, single = table.kept[key]
        if finer:
            return True
        several, once = several or wider, once and single
    return several and once


def _runs(rollouts: Rollouts, names: Sequence[str]) -> int:
    """How many runs each policy has at least; 0 where one has a single run, or some rollouts do not say."""
    if "run" not in rollouts.columns:
        return 0
    met: dict[str | None, set[str | None]] = {name: set() for name in names}
    for group in rollouts.summary(by=("policy", "run")):
        if group.key[0] in met and group.rollouts:
            met[group.key[0]].add(group.key[1])
    fewest = min(len(runs) for runs in met.values())
    return 0 if fewest < 2 or any(None in runs for runs in met.values()) else fewest


def _named(rollouts: Rollouts) -> dict[str, str]:
    columns = ("policy", "task", *KEYS, "cluster", "run", "repeat")
    return {column: rollouts.called(column) for column in columns if column in rollouts.columns}


def unfilled(rollouts: Rollouts, keys: tuple[str, ...]) -> Counter[tuple[str, str]]:
    """How many rollouts of each policy lack each key; none where every rollout of a policy is void."""
    import narwhals as nw

    kept = rollouts.environments
    if keys and ("unfilled", *keys) not in kept:
        flags = (nw.when(nw.col(key).is_null()).then(nw.lit(1)).otherwise(nw.lit(0)).alias(key) for key in keys)
        missing = rollouts.counted().select("policy", *flags).group_by("policy")
        lacking = small(missing.agg(*(nw.col(key).sum() for key in keys)))
        policies = lacking.pop("policy")
        kept["unfilled", *keys] = Counter(
            {(policy, key): int(counts[at]) for key, counts in lacking.items() for at, policy in enumerate(policies)}
        )
    found: Counter[tuple[str, str]] = kept["unfilled", *keys] if keys else Counter()
    return found
