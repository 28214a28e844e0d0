"""The design of an evaluation: the role of every column, found from the shape of the table (methods, section 20).

Roles follow from which rows share labels, over all policies; never from outcomes. Names of columns are looked at in
three places only, each of which is said: counters (MEETS, RUN_NAMES), and what sounds like a result of the rollout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from surefoot.core.notes import Note
from surefoot.core.record import Record
from surefoot.core.words import plural
from surefoot.table.columns import plain

if TYPE_CHECKING:
    from surefoot.table.column_shapes import Labels

RoleName = Literal["unit", "repeat", "setting", "cluster", "run", "watched", "nothing"]
ROLES: tuple[RoleName, ...] = ("unit", "repeat", "setting", "cluster", "run", "watched", "nothing")
DECLARED = ("unit", "repeat", "setting", "cluster", "run", "ignore")
"""What a user may say of a column."""

MANY = 20
"""From so many levels on, levels can stand for others like them; below, they are few and fixed."""
FEW = 4
"""A unit of fewer levels is spoken of as a setting."""
EMPTY = 0.05
"""The largest share of empty cells of a column that has a role."""

_COUNTED = ["item", "task", "scene", "question", "prompt", "problem", "instance", "example", "case", "env"]
MEETS = frozenset(
    (
        *("seed", "env_seed", "episode_seed", "eval_seed", "doc_id", "document", "id", "condition", "init_state"),
        *("initial_condition", "pose", "layout", "start", *_COUNTED, *(f"{name}_id" for name in _COUNTED)),
    )
)
"""Names of a counter whose numbers mean the same start for every policy."""
RUN_NAMES = frozenset(("run", "train_seed", "training_seed", "run_seed", "model_seed"))
"""Names of a counter of trainings."""

UNLIKE = "not met alike by the policies"
"""Why a column of many levels has no role."""

RESULTS = frozenset(
    (
        *("success", "succeeded", "score", "reward", "return", "progress", "stage", "fail", "failed", "failure"),
        *("reason", "error", "collision", "collisions", "collided", "contact", "contacts", "crash"),
        *("crashed", "timeout", "timeouts", "terminated", "truncated", "termination", "steps", "duration"),
        *("seconds", "elapsed", "latency", "tokens", "cost", "rating", "grade", "outcome", "result"),
        *("intervention", "interventions", "judge"),
    )
)
"""Words in the name of a column that say that the rollout caused it."""
RESULT_ENDS = frozenset(("s", "sec", "secs", "ms", "mins", "minutes", "time"))


@dataclass(frozen=True, slots=True)
class Column(Record):
    """One column of a table and what it was taken for.

    Attributes:
        name: What the file calls it.
        role: Its role; "nothing" where it has none.
        levels: How many different values it has.
        why: The reason, in half a sentence.
        key: The column of the table that holds it.
        result: Whether its name sounds like a result of the rollout.
    """

    name: str
    role: RoleName
    levels: int
    why: str
    key: str
    result: bool = False

    def __str__(self) -> str:
        return f"{self.name}: {self.role} ({self.levels:,}), {self.why}"


@dataclass(frozen=True, slots=True)
class Design(Record):
    """The role of every column of a table; `str()` is the table of roles.

    Attributes:
        columns: Every column but the policy and the outcomes, in the order of roles.
        said: What was decided by a name, and what else must be said of the roles.
        declared: The roles that were said, by column.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> rows = [(p, f"scene {s}", t, (s + t) % 2) for p in "ab" for s in range(6) for t in range(3)]
        >>> table = sf.read(pl.DataFrame(rows, schema=["policy", "scene", "trial", "success"], orient="row"))
        >>> sf.design(table).unit, sf.design(table).repeats
        ('scene', ('trial',))
    """

    columns: tuple[Column, ...] = ()
    said: tuple[Note, ...] = ()
    declared: Mapping[str, str] = field(default_factory=dict)

    def of(self, role: RoleName) -> tuple[Column, ...]:
        """The columns of a role, those with the most levels first."""
        return tuple(column for column in self.columns if column.role == role)

    @property
    def roles(self) -> dict[str, str]:
        """The role of every column, by the file's name of it."""
        return {column.name: column.role for column in self.columns}

    @property
    def unit_column(self) -> Column | None:
        """The column that tells units apart."""
        return next(iter(self.of("unit")), None)

    @property
    def unit(self) -> str | None:
        """What is met: tasks, items, scenes; None where nothing tells."""
        return None if self.unit_column is None else self.unit_column.name

    @property
    def units(self) -> int:
        """How many units there are; 0 where nothing tells."""
        return 0 if self.unit_column is None else self.unit_column.levels

    @property
    def repeats(self) -> tuple[str, ...]:
        """What counts the tries at a unit."""
        return self._names("repeat")

    @property
    def settings(self) -> tuple[str, ...]:
        """Strata: what is compared within."""
        return self._names("setting")

    @property
    def cluster(self) -> tuple[str, ...]:
        """What units belong to."""
        return self._names("cluster")

    @property
    def runs(self) -> tuple[str, ...]:
        """Trained copies of a policy, or units of its own."""
        return self._names("run")

    @property
    def watched(self) -> tuple[str, ...]:
        """Columns without a role in the answer whose levels are looked at."""
        return self._names("watched")

    def keys(self, *roles: RoleName) -> tuple[str, ...]:
        """The table's columns that hold some roles."""
        return tuple(column.key for role in roles for column in self.of(role))

    def column(self, word: str) -> Column | None:
        """The column that a word names: the file's name, the table's, or any word that an answer prints."""
        wanted = plain(word)
        for tells in (
            lambda one: one.name == word or one.key == word,
            lambda one: plain(one.name) == wanted or noun(one.name) == wanted,
            lambda one: wanted in (plural(noun(one.name)), plural(plain(one.name))),
        ):
            found = [one for one in self.columns if tells(one)]
            if found:
                return found[0]
        return None

    @property
    def split(self) -> Column | None:
        """The column whose levels a table shows side by side: few units, else the finest setting or watched column."""
        unit = self.unit_column  # a seed that a study or a log declares says nothing by itself
        watched = (column for column in self.of("watched") if not column.result)
        beside = next(iter((*self.of("setting"), *watched)), None)
        bare = beside is not None and self.declared.get("seed") == "unit"
        few = unit is not None and 1 < unit.levels < MANY and not bare
        return unit if few else beside

    def reading(self) -> str:
        """How the table was read, in a sentence: ``unit task (88), repeat trial (5)``."""
        shown = [f"{role} {column.name} ({column.levels:,})" for role in ROLES[:5] for column in self.of(role)]
        return ", ".join(shown) or "no column has a role"

    def _names(self, role: RoleName) -> tuple[str, ...]:
        return tuple(column.name for column in self.of(role))

    def __str__(self) -> str:
        if not self.columns:
            return "No column but the policy and the outcome."
        width = max(len(column.name) for column in self.columns)
        lines = [
            f"{column.name:<{width}}  {column.role:<8}  {column.levels:>7,} levels  {column.why}"
            for column in self.columns
        ]
        return "\n".join([*lines, *map(str, self.said)])


def noun(name: str) -> str:
    """What one level of a column is called: ``task`` for task_id, ``scene`` for Scene."""
    word = plain(name)
    for end in ("_id", "_name", "_index", "_idx"):
        if word.endswith(end) and len(word) > len(end):
            return word.removesuffix(end)
    return word or name.strip()


def sounds_like_a_result(name: str) -> bool:
    """Whether the name of a column says that the rollout caused what it holds."""
    words = plain(name).split("_")
    return bool(RESULTS.intersection(words)) or words[-1] in RESULT_ENDS


@dataclass(frozen=True, slots=True)
class _Taken:
    role: RoleName
    why: str


def assigned(
    labels: Labels,
    *,
    named: Mapping[str, str] | None = None,
    declared: Mapping[str, str] | None = None,
    barred: Mapping[str, str] | None = None,
    levels: Mapping[str, int] | None = None,
    said_again: frozenset[str] = frozenset(),
) -> Design:
    """The role of every column by the decision table of section 20.

    Args:
        labels: The labels of all rows.
        named: What the file calls each column; its own name when not given. Without it no name is looked at.
        declared: What the user or the format says of columns.
        barred: Columns that have no role, and why: of one level, mostly empty, fractions, all different.
        levels: How many levels the barred columns have.
        said_again: Columns that only repeat the outcome.
    """
    found = _Decision(labels, dict(named or {}), dict(declared or {}), said_again)
    taken = found.decide()
    for name, why in (barred or {}).items():
        taken[name] = _Taken("nothing", why)
    sizes = {name: len(column) for name, column in labels.columns.items()} | dict(levels or {})
    columns = [
        Column(
            name=(named or {}).get(key, key),
            role=one.role,
            levels=sizes.get(key, 0),
            why=one.why,
            key=key,
            result=named is not None and sounds_like_a_result(named.get(key, key)),
        )
        for key, one in taken.items()
    ]
    order = {role: place for place, role in enumerate(ROLES)}
    columns.sort(key=lambda one: (order[one.role], -one.levels))
    return Design(tuple(columns), tuple(found.said), dict(declared or {}))


class _Decision:
    """The decision table of section 20, row by row."""

    def __init__(
        self, labels: Labels, named: dict[str, str], declared: dict[str, str], said_again: frozenset[str]
    ) -> None:
        self.labels, self.named, self.declared, self.said_again = labels, named, declared, said_again
        self.taken: dict[str, _Taken] = {}
        self.said: list[Note] = []

    def decide(self) -> dict[str, _Taken]:
        """The role of every column."""
        labels, taken = self.labels, self.taken
        for name, role in self.declared.items():
            if name in labels.columns:
                taken[name] = self._said(name, role)
        left = [name for name in self._ordered(labels.columns) if name not in taken]
        left = [name for name in left if not self._apart(name)]
        chosen = self._set(left)
        for name in left:
            if name not in chosen:
                self._unset(name)
        self._roles(self._distinct(chosen))
        self._own_cells()
        if not self._has("unit", "setting", "cluster"):
            self._ask([name for name in left if name not in chosen])
        return taken

    def _said(self, name: str, role: str) -> _Taken:
        """What the user or the format says of a column; what each policy has of its own is a run."""
        if role == "cluster" and self.labels.of_one_policy(name):
            return _Taken("run", "as declared; every level belongs to one policy")
        return _Taken("nothing" if role == "ignore" else role, "as declared")  # type: ignore[arg-type]

    def _called(self, name: str) -> str:
        return self.named.get(name, name)

    def _ordered(self, names: Any) -> list[str]:
        """Columns in an order that depends on their levels only: the most levels first, words before numbers."""
        columns = self.labels.columns

        def place(name: str) -> tuple[int, bool, tuple[str, ...], tuple[float, ...]]:
            column = columns[name]
            texts = tuple(level or "" for level in column.levels)
            return (-len(column), column.numbers is not None, texts, tuple(self.labels.counts(name).ravel()))

        return sorted(names, key=place)

    def _has(self, *roles: RoleName) -> list[str]:
        return [name for name, one in self.taken.items() if one.role in roles]

    def _apart(self, name: str) -> bool:
        """Rows 1 to 3: columns that tell nothing that the policies share."""
        labels, column = self.labels, self.labels.columns[name]
        if labels.policies > 1 and labels.constant_in_policy(name):
            self.taken[name] = _Taken("nothing", "the same in all rows of a policy")
        elif labels.of_one_policy(name):
            if labels.rows.sum() >= 2 * len(column):
                self.taken[name] = _Taken("run", "every level belongs to one policy and recurs")
            else:
                self.taken[name] = _Taken("nothing", "every level belongs to one policy")
        elif not labels.shared(name):
            self.taken[name] = _Taken("nothing", "policies share few of its levels")
        return name in self.taken

    def _set(self, left: Sequence[str]) -> list[str]:
        """Row 4: columns whose levels were set beforehand, not measured."""
        from surefoot.table.column_shapes import EVEN

        labels = self.labels
        chosen = self._has("unit", "setting", "cluster", "repeat")
        even = {name: labels.evenness(name) for name in left}
        able = [name for name in left if even[name] <= EVEN]
        if able:
            anchor = min(able, key=lambda name: (even[name], -len(labels.columns[name]), able.index(name)))
            for name in left:
                nested = name in able and (labels.inside(name, anchor) or labels.inside(anchor, name))
                if (
                    name == anchor
                    or nested
                    or (labels.alike_inside(name, anchor) and labels.even_inside(name, anchor) <= EVEN)
                ):
                    chosen.append(name)
        for name in left:
            for counter in left:
                if counter == name or {name, counter} <= set(chosen) or labels.columns[counter].numbers is None:
                    continue
                others = [other for other in chosen if other not in (name, counter)]
                if labels.counting(counter, [name, *others]) and not labels.counting(counter, others):
                    chosen += [one for one in (name, counter) if one not in chosen]
                    break
        return [name for name in left if name in chosen]

    def _unset(self, name: str) -> None:
        """Row 5: a column that was measured, or drawn at random."""
        if len(self.labels.columns[name]) < MANY and name not in self.said_again:
            self.taken[name] = _Taken("watched", "met in shares that differ by chance: looked at, not compared within")
        else:
            why = "repeats the outcome" if name in self.said_again else UNLIKE
            self.taken[name] = _Taken("nothing", why)

    def _ask(self, names: Sequence[str]) -> None:
        """Ask about words of many levels that recur for every policy, where nothing says what was met."""
        labels = self.labels
        for name in names:
            column = labels.columns[name]
            recurs = labels.rows.sum() >= 2 * labels.policies * len(column)
            if self.taken[name].why == UNLIKE and recurs and None in map(as_number, column.levels):
                self.said.append(Note("met unequally", {"column": self._called(name)}))

    def _distinct(self, chosen: Sequence[str]) -> list[str]:
        """Row 6: of columns that divide the rows alike one stays; not the one that sounds like a result."""
        kept: list[str] = []
        known = self._has("unit", "setting", "repeat", "run")  # a cluster for each unit leaves the unit what it is
        for name in sorted(chosen, key=lambda one: sounds_like_a_result(self.named.get(one, ""))):
            twin = next((other for other in (*known, *kept) if self.labels.same(name, other)), None)
            if twin is None:
                kept.append(name)
            else:
                self.taken[name] = _Taken("nothing", f"divides the rows as {self._called(twin)!r} does")
        return [name for name in chosen if name in kept]

    def _roles(self, chosen: list[str]) -> None:
        """Rows 7 to 10: repeats, the unit, and what it is crossed with or lies in."""
        unit = next(iter(self._has("unit")), None)
        fixed = self._has("unit", "setting", "cluster")
        beside = [*chosen, *fixed, *self._has("repeat")]
        runs = self._has("run")
        alone = unit is not None and self.labels.counts(unit).max() <= 1
        counted = [name for name in (*beside, *runs) if name != unit or not alone]  # a unit met once leaves no tries
        counters = [name for name in chosen if self._counter(name, counted)]
        for name in [one for one in counters if self.named and plain(self._called(one)) in RUN_NAMES]:
            self.taken[name] = _Taken("run", "counts, and its name says trainings")
            self.said.append(Note("counted runs", {"column": self._called(name)}))
            counters.remove(name)
            chosen.remove(name)
        repeats = self._repeats(counters, [name for name in (*chosen, *fixed) if name not in counters], unit)
        for name in repeats:
            self.taken[name] = _Taken("repeat", "counts the tries")
        rest = [name for name in chosen if name not in repeats]
        if unit is None and rest:
            meets = [name for name in rest if name in counters]
            unit = meets[0] if meets else rest[0]  # the most levels
            self.taken[unit] = _Taken("unit", "met by all alike, with the most levels")
        for name in rest:
            if name != unit and unit is not None:
                self.taken[name] = self._beside(name, unit)
        if unit is None and not fixed:
            self._name_counter(repeats)

    def _own_cells(self) -> None:
        """Row 6 for what each policy has of its own: a level for each cell of what all met is no run."""
        from surefoot.table.column_shapes import POLICY

        labels, met = self.labels, self._has("unit", "setting", "cluster")
        for name in self._has("run"):
            if name in self.declared:
                continue
            for keys in (*([key] for key in met), met):
                if keys and labels.cells(POLICY, *keys)[1] == labels.cells(name)[1] == labels.cells(name, *keys)[1]:
                    called = " and ".join(repr(self._called(key)) for key in keys)
                    self.taken[name] = _Taken("nothing", f"divides the rows of a policy as {called} does")
                    break

    def _counter(self, name: str, beside: Sequence[str]) -> bool:
        others = [other for other in beside if other != name]
        if others and all(self.labels.inside(name, other) for other in others):
            return False
        return self.labels.counting(name, others)

    def _repeats(self, counters: list[str], plain_ones: Sequence[str], unit: str | None) -> list[str]:
        """Rows 7 and 8: which counters count tries."""
        columns = self.labels.columns
        if not counters:
            return []
        if unit is not None:
            return list(counters)
        finest = len(columns[counters[0]])
        if any(len(columns[name]) > finest for name in plain_ones):
            return list(counters)
        only = len(counters) == 1
        others = [*plain_ones, *self._has("run")]
        if only and finest < MANY and others:
            return list(counters)
        meets = [name for name in counters if self.named and plain(self._called(name)) in MEETS]
        if only:
            if meets:
                self.said.append(Note("counter meets", {"column": self._called(counters[0])}))
            return [] if meets else list(counters)
        kept = (meets or counters)[0]
        values = {"unit": self._called(kept), "units": len(columns[kept])}
        fewer = [name for name in counters if name != kept]
        told = [f"{self._called(name)} ({len(columns[name])})" for name in fewer]
        self.said.append(Note("several counters", {**values, "repeats": tuple(told), "named": bool(meets)}))
        return fewer

    def _beside(self, name: str, unit: str) -> _Taken:
        """Row 10: what the unit lies in or is crossed with."""
        many = len(self.labels.columns[name])
        nested = self.labels.inside(unit, name)
        if not nested and self.labels.inside(name, unit):
            return _Taken("repeat", "tells tries at the unit apart")
        how = "units lie in it" if nested else "crossed with the unit"
        if many < MANY:
            return _Taken("setting", f"{how}, few levels")
        if nested and len(self.labels.columns[unit]) < 2 * many:
            return _Taken("nothing", "hardly coarser than the unit")
        return _Taken("cluster", f"{how}, many levels")

    def _name_counter(self, repeats: Sequence[str]) -> None:
        """A counter alone: whether its number 7 means the same start for both cannot be told."""
        if len(repeats) == 1:
            self.said.append(Note("not paired by counter", {"column": self._called(repeats[0])}))


def whole_numbers(levels: Sequence[str | None]) -> Any:
    """The levels as whole numbers where all of them are, and the least is 0 or 1; None otherwise."""
    import numpy as np

    numbers = []
    for level in levels:
        number = as_number(level)
        if number is None or not number.is_integer() or abs(number) > 2**52:
            return None
        numbers.append(int(number))
    return np.asarray(numbers, dtype=np.int64) if numbers and min(numbers) in (0, 1) else None


def as_number(level: str | None) -> float | None:
    """A label as a finite number; None where it is none."""
    try:
        number = float(level or "")
    except ValueError:
        return None
    return number if number == number and abs(number) != float("inf") else None
