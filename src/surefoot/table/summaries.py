"""Counts and moments of groups of rollouts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from surefoot.core.record import Record
from surefoot.core.tally import Tally
from surefoot.errors import DataError
from surefoot.table.normalising import small

if TYPE_CHECKING:
    import narwhals as nw


@dataclass(frozen=True, slots=True)
class Group(Record):
    """The sufficient statistics of one group of rollouts; voided rollouts are only counted.

    Attributes:
        key: The group's values, in the order of `by`.
        rollouts: Rollouts that count.
        void: Rollouts declared not to count.
        outcomes: Rollouts with a known success.
        successes: How many of them succeeded.
        scored: Rollouts with a score.
        total: The sum of the scores.
        squares: The sum of the squared scores.
        least: The smallest score.
        most: The largest score.
    """

    key: tuple[str | None, ...]
    rollouts: int
    void: int
    outcomes: int
    successes: int
    scored: int
    total: float
    squares: float
    least: float | None
    most: float | None

    @property
    def tally(self) -> Tally:
        """The group's successes; refused when no success is known."""
        return Tally(self.successes, self.outcomes)

    def known(self, measure: str) -> int:
        """Rollouts whose success, or score, is known."""
        return self.outcomes if measure == "success" else self.scored

    @property
    def mean(self) -> float:
        """The mean score; refused when there is no score."""
        if not self.scored:
            raise DataError(f"there must be a score in group {self.key!r} for a mean; got none.")
        return self.total / self.scored


def summarise(frame: nw.LazyFrame[Any], by: tuple[str, ...], columns: tuple[str, ...]) -> tuple[Group, ...]:
    """Sufficient statistics per group, by one expression on the engine that holds the frame."""
    import narwhals as nw

    valid = nw.col("valid").fill_null(1).cast(nw.Float64) if "valid" in columns else None
    prepared: list[nw.Expr] = []
    wanted: list[nw.Expr] = [nw.len().alias("all")]
    if valid is not None:
        prepared.append(valid.alias("__valid__"))
        wanted.append(nw.col("__valid__").sum().alias("valid"))
    for column in ("success", "score"):
        if column in columns:
            value = nw.col(column).cast(nw.Float64)
            kept = value if valid is None else nw.when(valid == 1.0).then(value)
            prepared.append(kept.alias(f"__{column}__"))
            wanted += [
                nw.col(f"__{column}__").count().alias(f"{column}_known"),
                nw.col(f"__{column}__").sum().alias(f"{column}_sum"),
            ]
    names = {name: f"key_{place}" for place, name in enumerate(by)}
    selected = frame.select(*(nw.col(name).alias(new) for name, new in names.items()), *prepared)
    if "score" in columns:
        score = nw.col("__score__")
        selected = selected.with_columns((score * score).alias("__square__"))
        wanted += [
            nw.col("__square__").sum().alias("squares"),
            score.min().alias("least"),
            score.max().alias("most"),
        ]
    home = small(selected.group_by(*names.values()).agg(*wanted) if by else selected.select(*wanted))
    rows = [dict(zip(home, values, strict=True)) for values in zip(*home.values(), strict=True)]
    groups = [
        Group(
            key=tuple(_text(row[key]) for key in names.values()),
            rollouts=int(row["valid"]) if valid is not None else int(row["all"]),
            void=int(row["all"]) - int(row["valid"]) if valid is not None else 0,
            outcomes=int(row.get("success_known") or 0),
            successes=round(row.get("success_sum") or 0),
            scored=int(row.get("score_known") or 0),
            total=float(row.get("score_sum") or 0.0),
            squares=float(row.get("squares") or 0.0),
            least=_number(row.get("least")),
            most=_number(row.get("most")),
        )
        for row in rows
    ]
    return tuple(sorted(groups, key=by_key))


def merged(groups: Sequence[Group], places: Sequence[int]) -> tuple[Group, ...]:
    """Coarser groups, added up from finer ones by some of their keys."""
    parts: dict[tuple[str | None, ...], list[Group]] = {}
    for group in groups:
        parts.setdefault(tuple(group.key[place] for place in places), []).append(group)
    if not parts and not places:
        parts[()] = []
    made = [
        Group(
            key=key,
            rollouts=sum(one.rollouts for one in each),
            void=sum(one.void for one in each),
            outcomes=sum(one.outcomes for one in each),
            successes=sum(one.successes for one in each),
            scored=sum(one.scored for one in each),
            total=math.fsum(one.total for one in each),
            squares=math.fsum(one.squares for one in each),
            least=min((one.least for one in each if one.least is not None), default=None),
            most=max((one.most for one in each if one.most is not None), default=None),
        )
        for key, each in parts.items()
    ]
    return tuple(sorted(made, key=by_key))


def by_policy(groups: Sequence[Group]) -> dict[str | None, list[Group]]:
    """Groups by policy and perhaps task, looked up by policy: a big table is asked thousands of times."""
    found: dict[str | None, list[Group]] = {}
    for group in groups:
        found.setdefault(group.key[0], []).append(group)
    return found


def groups_of(
    index: dict[str | None, list[Group]], narrowed: dict[str, list[Any]], split: str = ""
) -> tuple[Group, ...]:
    """The groups of some policies, or levels of the second column, in their order."""
    policies = list(dict.fromkeys(narrowed.get("policy", index)))
    found = [group for policy in policies for group in index.get(policy, ())]
    if split in narrowed:
        wanted = set(narrowed[split])
        found = [group for group in found if group.key[1] in wanted]
    return tuple(sorted(found, key=by_key) if len(policies) > 1 else found)


def by_key(group: Group) -> tuple[tuple[bool, str], ...]:
    """The order of groups: by name, those without one last."""
    return tuple((name is None, name or "") for name in group.key)


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
