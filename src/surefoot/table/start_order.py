"""Order in which rollouts were started, and the part of it that is complete.

Rollouts that run side by side end in another order than they were started: failures end sooner, or time out. Results
taken as they end are then not a random part of all results. Taken by their starts, and only as far as every rollout
that was started before has ended, they are.
"""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from surefoot import _check
from surefoot._arguments import write
from surefoot.errors import DataError
from surefoot.table.normalising import small

if TYPE_CHECKING:
    from surefoot.table.rollouts import Rollouts

EPOCH = 1e8
"""Whole numbers from here on are seconds since 1970, not numbers of starts."""


class Started(NamedTuple):
    """A rollout as far as it is known.

    Attributes:
        policy: Whose it is.
        key: What tells which rollouts belong together.
        value: What came of it; None as long as nothing is known.
        counts: Whether it counts; a void one does not.
        place: Its row, from 1 on.
        start: The number or the time of its start; none where the rows are in the order of the starts.
        took: Its duration in seconds, where it is known.
    """

    policy: str
    key: tuple[Any, ...]
    value: float | None
    counts: bool
    place: int
    start: float | None = None
    took: float | None = None

    @property
    def runs(self) -> bool:
        """Whether it has no outcome yet."""
        return self.counts and self.value is None


@dataclass(frozen=True, slots=True)
class Prefix:
    """Rollouts in the order of their starts, as far as all that were started before have ended.

    Attributes:
        rollouts: These rollouts.
        waits: What the next one waits for; empty where none waits.
    """

    rollouts: tuple[Started, ...]
    waits: str = ""


def start_column(rollouts: Rollouts, name: str) -> str | None:
    """The column that is called so and may hold starts: any but policies and outcomes; None where none is."""
    from surefoot.table.design_of import NO_LABELS

    key = rollouts.key(name)
    return key if key in rollouts.columns and key not in NO_LABELS else None


def numbers_starts(rollouts: Rollouts, column: str) -> bool:
    """Whether a column holds numbers of the starts, not times: whole and no Unix times, or no times at all."""
    if column == "started_at":  # a time by its name; a simulator's may well begin at 0
        return False
    known = [value for value in rollouts.polars()[column].to_list() if value is not None]
    numbers = [number for value in known if (number := _number(value)) is not None]
    if len(numbers) == len(known):
        return min(numbers, default=0.0) < EPOCH
    return any(_moment(value) is None for value in known)


def says_start(rollouts: Rollouts) -> bool:
    """Whether there is a column of times whose name says that they are those of the starts."""
    return "started_at" in rollouts.columns and "start" in rollouts.called("started_at").casefold()


def started(rollouts: Rollouts, measure: str, keys: Sequence[str], column: str | None) -> list[Started]:
    """Every row of a table, with its start as a column says it.

    Raises:
        DataError: A start is neither a whole number nor a time.
    """
    import polars as pl

    frame = rollouts.polars()
    counts = pl.col("valid").fill_null(True) if "valid" in frame.columns else pl.lit(True)
    took = pl.col("duration") if "duration" in frame.columns else pl.lit(None)
    columns = [counts.alias("counts"), pl.col(measure).cast(pl.Float64).alias("value"), took.alias("took")]
    table = frame.select(*columns, *(pl.col(name).alias(f"key {place}") for place, name in enumerate(keys)), "policy")
    starts = [None] * frame.height if column is None else _starts(rollouts, column)
    return [
        Started(row[-1], row[3:-1], row[1], row[0], place, start, row[2])
        for place, (row, start) in enumerate(zip(table.rows(), starts, strict=True), 1)
    ]


def numbered(rows: Sequence[Started], policies: Sequence[str], first: int, *, each: bool, source: str = "") -> Prefix:
    """Rollouts whose starts are numbered without a gap, up to the first that is missing or has no outcome.

    Args:
        rows: Every row.
        policies: The policies that are compared; the others only take up numbers.
        first: The first number.
        each: Whether each policy counts its own; otherwise all are counted together, as long as no number recurs.
        source: The file, for messages.
    """
    known: dict[int, list[Started]] = {}
    for row in rows:
        number = int(row.start or 0)
        there = known.setdefault(number, [])
        if number < first:
            must = f"starts must be numbered from {first} on; got {number}."
            raise DataError(must, source=source, row=row.place, cure=f"Say {write('first_start', number)}.")
        if row.counts and any(one.counts and one.policy == row.policy for one in there):
            must = f"each start of {row.policy!r} must have a number of its own; {number} is there twice."
            raise DataError(must, source=source, row=row.place)
        there.append(row)
    own = each or any(len(there) > 1 for there in known.values())
    found: list[Started] = []
    number = first
    while number <= max(known, default=first - 1):
        there = [row for row in known.get(number, ()) if row.policy in policies]
        missing = [name for name in policies if name not in {row.policy for row in there}] if own else []
        if number not in known or missing:
            whose = f" of {missing[0]!r}" if missing else ""
            return Prefix(tuple(found), f"start {number}{whose}")
        running = next((row for row in there if row.runs), None)
        if running is not None:
            return Prefix(tuple(found), f"the outcome of start {number}")
        found += sorted(there, key=lambda row: policies.index(row.policy))
        number += 1
    return Prefix(tuple(found))


def timed(rows: Sequence[Started], policies: Sequence[str], parallel: int, source: str = "") -> Prefix:
    """Rollouts by the times of their starts, up to the last moment at which none can be missing.

    A row is written when its rollout has ended. None that was started before a moment is missing when as many rows as
    run at once were running at that moment.
    """
    last = float("inf") if parallel == 1 else _last_full(rows, parallel, source)
    ours = sorted(
        (row for row in rows if row.policy in policies and row.start is not None and row.start <= last),
        key=lambda row: (row.start, [str(part) for part in row.key], policies.index(row.policy)),
    )
    for one, other in pairwise(ours):
        if (one.start, one.key, one.policy) == (other.start, other.key, other.policy):
            raise DataError(
                f"start times must tell the rollouts of {one.policy!r} apart; two are equal. Number the "
                "starts 1, 2, 3, ... instead.",
                source=source,
                row=other.place,
            )
    found = tuple(_until_running(ours))
    if len(found) < len(ours):
        return Prefix(found, f"the outcome of row {ours[len(found)].place}")
    more = any(row.policy in policies and row.start is not None and row.start > last for row in rows)
    return Prefix(found, "rollouts that may still run" if more else "")


def in_rows(rows: Sequence[Started], policies: Sequence[str]) -> Prefix:
    """Rollouts in the order of the rows, up to the first without an outcome."""
    ours = [row for row in rows if row.policy in policies]
    found = tuple(_until_running(ours))
    return Prefix(found, f"the outcome of row {ours[len(found)].place}" if len(found) < len(ours) else "")


def rounds(rollouts: Iterable[Started], policies: Sequence[str]) -> list[tuple[float, ...]]:
    """Outcomes of rollouts that belong together, one of each policy, in the order of the last of them.

    Rollouts belong together by their key; where several of a policy have one key, the n-th with the n-th.
    """
    waiting: dict[tuple[Any, ...], dict[str, list[float]]] = {}
    found = []
    for row in rollouts:
        if row.policy not in policies or row.value is None or not row.counts:
            continue
        sides = waiting.setdefault(row.key, {name: [] for name in policies})
        sides[row.policy].append(row.value)
        if all(sides.values()):
            found.append(tuple(sides[name].pop(0) for name in policies))
    return found


def refuse_other_order(rollouts: Rollouts) -> None:
    """Refuse rows as the order of the starts where their times show another one.

    Times whose column does not say that they are starts may be those of the ends: they are refused where both readings
    show that rollouts ran side by side and were written as they ended.
    """
    if "started_at" not in rollouts.columns:
        return
    frame = rollouts.polars()
    times = [_moment(one) for one in frame["started_at"].to_list()]
    took = frame["duration"].to_list() if "duration" in frame.columns else [None] * len(times)
    known = [(time, lasted) for time, lasted in zip(times, took, strict=True) if time is not None]
    falls = any(after < before for (before, _), (after, _) in pairwise(known))
    lasting = [(time, lasted) for time, lasted in known if lasted is not None]
    overlap = any(after < before + lasted for (before, lasted), (after, _) in pairwise(lasting))
    as_ends = any(after - long < before - short for (before, short), (after, long) in pairwise(lasting))
    if falls or (overlap and as_ends and not says_start(rollouts)):
        raise DataError(
            f"rows must be in the order in which {rollouts.words.rollouts} were started; "
            f"`{rollouts.called('started_at')}` shows another order.",
            source=rollouts.source,
            cure=f"Say which column tells the starts: {write('start_order', 'COLUMN')}.",
        )


def by_starts(
    rollouts: Rollouts, measure: str, policies: Sequence[str], start_order: str | None = None
) -> tuple[Rollouts, str]:
    """Rollouts of a finished file with the places of their starts in `order`, and what was missing in that order.

    It goes by the column that is named, up to the first number that is missing; else by times whose column says that
    they are starts. Otherwise the table stays as it is, and its `order` or its rows are assumed to be in that order.

    Raises:
        DataError: The rows are not in the order of the starts, or starts cannot be read.
    """
    import narwhals as nw
    import polars as pl

    column = order_column(rollouts, start_order)
    if column is None:
        refuse_other_order(rollouts)
    if column is None or (column == "order" and start_order is None):
        return rollouts, ""
    rows = started(rollouts, measure, rollouts.design.keys("unit", "setting", "cluster", "run", "repeat"), column)
    if numbers_starts(rollouts, column):
        first = min(1, int(min(row.start or 0.0 for row in rows)))
        prefix = numbered(rows, policies, first, each=False, source=rollouts.source)
    else:
        prefix = timed(rows, policies, 1, rollouts.source)
    places = pl.DataFrame({"__row__": [row.place for row in prefix.rollouts]}, schema={"__row__": pl.Int64})
    frame = rollouts.polars().with_columns(__row__=pl.int_range(1, pl.len() + 1, dtype=pl.Int64))
    ordered = places.join(frame, on="__row__", how="left", maintain_order="left").drop("__row__")
    ordered = ordered.with_columns(pl.col("^success|valid$").cast(pl.Int8), order=pl.int_range(1, pl.len() + 1))
    return replace(rollouts, frame=nw.from_native(ordered.lazy())), prefix.waits


def rounds_of(part: Rollouts, measure: str, keys: Sequence[str], policies: Sequence[str]) -> list[tuple[float, ...]]:
    """Outcomes of rollouts of a finished table that belong together, in the order of the last of each to be started."""
    column = "order" if "order" in part.columns else None
    frame = part.polars()
    places = frame[column].to_list() if column else [None] * frame.height
    rows = zip(started(part, measure, keys, None), places, strict=True)
    known = [(row, math.inf if place is None else place) for row, place in rows if row.policy in policies]
    if column:
        known.sort(key=lambda one: (one[1], policies.index(one[0].policy)))
    return rounds((row for row, _ in known), policies)


def order_column(rollouts: Rollouts, start_order: str | None = None) -> str | None:
    """The column by which a finished file is put in the order of its starts; None for that of its rows."""
    if start_order is not None:
        found = start_column(rollouts, start_order)
        if found is None:
            raise _check.refused("start_order", "name a column of numbers or times of the starts", start_order)
        return found
    if says_start(rollouts):
        times = [(policy, _moment(one)) for policy, one in rollouts.polars().select("policy", "started_at").rows()]
        if len(set(times)) == len(times) and all(one is not None for _, one in times):
            return "started_at"  # times by the day tell no order
    return "order" if "order" in rollouts.columns else None


def said_order(rollouts: Rollouts, start_order: str | None = None) -> str:
    """By what the starts of a finished file are ordered, and whether it is only assumed."""
    column = order_column(rollouts, start_order)
    if start_order is not None or column == "started_at":
        return f"of the starts, by `{rollouts.called(column or 'order')}`"
    how = "of the rows" if column is None else f"by `{rollouts.called(column)}`"
    return f"{how}, assumed to be the order of the starts"


def _until_running(rows: Iterable[Started]) -> Iterable[Started]:
    for row in rows:
        if row.runs:
            return
        yield row


def _last_full(rows: Sequence[Started], parallel: int, source: str) -> float:
    """The last start at which as many rollouts were running as run at once."""
    changes: Counter[float] = Counter()
    for row in rows:
        if row.start is None:
            continue
        if row.took is None and not row.runs:
            raise DataError(
                "the duration of every rollout must be known to tell by start times which are missing.",
                source=source,
                row=row.place,
                cure="Number the starts 1, 2, 3, ... instead.",
            )
        changes[row.start] += 1
        if row.took is not None and not row.runs:
            changes[row.start + row.took] -= 1
    running, last = 0, float("-inf")
    for moment in sorted(changes):
        running += changes[moment]
        if running > parallel:
            raise DataError(f"at most {parallel} rollouts must run at once, as declared; {running} did.", source=source)
        last = moment if running == parallel else last
    return last


def _starts(rollouts: Rollouts, column: str) -> list[float]:
    found = []
    number = numbers_starts(rollouts, column)
    for place, value in enumerate(rollouts.polars()[column].to_list(), 1):
        start = _number(value) if number else _moment(value)
        if start is None:
            must = "a whole number" if number else "a time"
            raise DataError(
                f"`{rollouts.called(column)}` must give the start of every {rollouts.words.rollout} as {must}; got "
                f"{str(value)[:40]!r}.",
                source=rollouts.source,
                row=place,
                cure=f"Say another column: {write('start_order', 'COLUMN')}.",
            )
        found.append(start)
    return found


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if number.is_integer() else None


def _moment(value: Any) -> float | None:
    """Seconds of a time: a number of seconds, or a date and time as ISO 8601 writes them."""
    if value is None:
        return None
    try:
        return float(value)
    except ValueError:
        pass
    try:
        found = datetime.datetime.fromisoformat(str(value).strip())
    except ValueError:
        return None
    zoned = found if found.tzinfo is not None else found.replace(tzinfo=datetime.UTC)
    return zoned.timestamp()


# In blocks, or in mixed order

FEWEST = 10
"""In fewer rollouts than this no order can be told from another."""


def changes(labels: Sequence[Any]) -> int:
    """How often the label changes from one rollout to the next."""
    return sum(a != b for a, b in pairwise(labels))


def expected_changes(labels: Sequence[Any]) -> float:
    """How often it would change on average, had the same labels been run in random order."""
    total = len(labels)
    same = sum(count * (count - 1) for count in Counter(labels).values()) / (total * (total - 1))
    return (total - 1) * (1.0 - same)


def in_blocks(labels: Sequence[Any]) -> bool:
    """Whether labels come in longer runs than a random order would give: fewer than half of the changes expected."""
    if len(labels) < FEWEST or len(set(labels)) in (1, len(labels)):
        return False
    expected = expected_changes(labels)
    return expected >= 3.0 and changes(labels) < expected / 2.0


def declared_order(rollouts: Rollouts) -> bool:
    """Whether a column says in which order each policy's rollouts of a level were run; that of the rows may be any.

    That numbers tell when, and not only which, no shape can show: `order` is what a file or its format calls so.
    """
    import narwhals as nw

    if "order" not in rollouts.columns:
        return False
    within = ["policy", *(split for split in [rollouts.split] if split not in (None, "order"))]
    rows = rollouts.counted()
    gaps = small(rows.select(nw.col("order").is_null().cast(nw.Int64).sum().alias("gaps")))["gaps"][0]
    each = rows.group_by(*within, "order").agg(nw.len().alias("times"))
    return not gaps and not small(each.filter(nw.col("times") > 1).select("times").head(1))["times"]
