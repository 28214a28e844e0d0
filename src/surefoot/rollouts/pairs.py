"""Which rollouts of two policies were run in the same environment?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from surefoot.core.record import Record
from surefoot.core.scores import Scores
from surefoot.core.tally import PairTally
from surefoot.errors import DataError
from surefoot.rollouts.canon import small
from surefoot.rollouts.columns import COLUMNS, PAIR_KEYS
from surefoot.rollouts.table import Rollouts, scores_in

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl


@dataclass(frozen=True, slots=True)
class Pairing(Record):
    """Whether two policies can be paired.

    Attributes:
        on: The columns that tell which rollouts belong together; none when they cannot be told.
        why: The reason, in a sentence.
    """

    on: tuple[str, ...]
    why: str

    def __bool__(self) -> bool:
        return bool(self.on)

    def __str__(self) -> str:
        return self.why


@dataclass(frozen=True, eq=False)
class Pairs:
    """Rollouts of two policies in the same environments, and what had no partner.

    Attributes:
        first: The policy the gain is about.
        second: The policy it is compared with.
        on: The columns that tell which rollouts belong together.
        matched: Pairs found.
        first_alone: Rollouts of the first policy without a partner.
        second_alone: Rollouts of the second policy without a partner.
        declared: Whether the user said what belongs together, so that it rests on the user's word.
    """

    first: str
    second: str
    on: tuple[str, ...]
    matched: int
    first_alone: int
    second_alone: int
    declared: bool
    rollouts: Rollouts = field(repr=False)

    def tally(self) -> PairTally:
        """The pairs by which policy succeeded, counted where the data are."""
        import narwhals as nw

        self.rollouts.require("success")
        one, two = _sides(self.rollouts, self.first, self.second, self.on, "success")
        both = one.join(two, on=list(self.on), how="inner").group_by("first", "second").agg(nw.len().alias("pairs"))
        home = small(both)
        cells: dict[tuple[int | None, int | None], int] = {}
        for one_value, two_value, count in zip(home["first"], home["second"], home["pairs"], strict=True):
            known = tuple(None if value is None else round(value) for value in (one_value, two_value))
            cells[known[0], known[1]] = int(count)
        counts = [cells.get(cell, 0) for cell in ((1, 1), (1, 0), (0, 1), (0, 0))]
        if not sum(counts):
            raise DataError("at least one pair must have both outcomes; got none.", source=self.rollouts.source or None)
        return PairTally(*counts)

    def scores(self) -> tuple[Scores, Scores]:
        """Both policies' scores, pair by pair, in the order the first policy's were run."""
        table = self.values("score")
        low, high, source = self.rollouts.low, self.rollouts.high, self.rollouts.source
        return scores_in([a for a, _ in table], low, high, source), scores_in([b for _, b in table], low, high, source)

    def values(self, column: str = "success") -> tuple[tuple[float, float], ...]:
        """The pairs' values of a numeric column, both known, in the order the first policy's rollouts were run."""
        self.rollouts.require(column)
        one, two = (
            _home(self.rollouts, name, self.on, column, side)
            for name, side in ((self.first, "first"), (self.second, "second"))
        )
        joined = one.join(two, on=list(self.on), how="inner", maintain_order="left").drop_nulls(["first", "second"])
        if joined.height == 0:
            raise DataError(f"at least one pair must have `{column}` on both sides; got none.")
        return tuple((float(a), float(b)) for a, b in joined.select("first", "second").rows())

    def keys(self) -> pl.DataFrame:
        """The environments of the pairs, in the order the first policy's rollouts were run."""
        what = "success" if "success" in self.rollouts.columns else "score"
        one, two = (_home(self.rollouts, name, self.on, what, name) for name in (self.first, self.second))
        return one.join(two, on=list(self.on), how="inner", maintain_order="left").select(self.on)

    def __str__(self) -> str:
        alone = [
            f"{count:,} of {name!r}"
            for count, name in ((self.first_alone, self.first), (self.second_alone, self.second))
            if count
        ]
        left = f"; without a partner: {' and '.join(alone)}" if alone else ""
        said = ", as declared" if self.declared else ""
        return f"{self.matched:,} pairs of {self.first!r} and {self.second!r} on {', '.join(self.on)}{said}{left}."


def pairing(rollouts: Rollouts, first: str, second: str) -> Pairing:
    """Whether the table tells which rollouts of two policies belong together."""
    import narwhals as nw

    keys = [key for key in PAIR_KEYS if key in rollouts.columns]
    _both_there(rollouts, first, second)
    if not {"condition", "seed"} & set(keys):
        return Pairing(
            (), "Not paired: there is neither a condition nor a seed to tell which rollouts belong together."
        )
    frame = rollouts.counted()
    empty = [
        small(frame.filter(nw.col("policy") == name).select(*(nw.col(key).is_null().sum() for key in keys)))
        for name in (first, second)
    ]
    on = tuple(key for key in keys if not any(counts[key][0] for counts in empty))
    if not {"condition", "seed"} & set(on):
        return Pairing((), "Not paired: some rollouts have no condition and no seed.")
    for name in (first, second):
        twice = _repeated(frame, name, on)
        if twice is not None:
            place = ", ".join(f"{key} {value!r}" for key, value in zip(on, twice, strict=True))
            return Pairing(
                (), f"Not paired: {name!r} has more than one rollout with {place}; a repeat would tell them apart."
            )
    one, two = _sides(rollouts, first, second, on)
    if not int(small(one.join(two, on=list(on), how="inner").select(nw.len().alias("pairs")))["pairs"][0]):
        return Pairing((), f"Not paired: {first!r} and {second!r} share no {', '.join(on)}.")
    return Pairing(on, f"Paired on {', '.join(on)}.")


def matched(rollouts: Rollouts, first: str, second: str, on: Sequence[str] | None) -> Pairs:
    """The pairs of two policies; see `Rollouts.pairs`."""
    import narwhals as nw

    if on is None:
        answer = pairing(rollouts, first, second)
        if not answer:
            raise DataError(
                f'{answer.why} Say what belongs together, on=("task", "order") for instance, or compare unpaired.',
                source=rollouts.source or None,
            )
        keys = answer.on
    else:
        keys = (on,) if isinstance(on, str) else tuple(on)
        _both_there(rollouts, first, second)
        _declared(rollouts, first, second, keys)
    one, two = _sides(rollouts, first, second, keys)
    count = [int(small(side.select(nw.len().alias("rows")))["rows"][0]) for side in (one, two)]
    pairs = int(small(one.join(two, on=list(keys), how="inner").select(nw.len().alias("pairs")))["pairs"][0])
    if not pairs:
        raise DataError(f"{first!r} and {second!r} must share some {', '.join(keys)}; they share none.")
    return Pairs(first, second, keys, pairs, count[0] - pairs, count[1] - pairs, on is not None, rollouts)


def _declared(rollouts: Rollouts, first: str, second: str, keys: tuple[str, ...]) -> None:
    if not keys or "policy" in keys:
        raise ValueError(f"`on` must name columns other than policy; got {keys!r}.")
    for key in keys:
        if key not in COLUMNS:
            raise ValueError(f"`on` must name columns of a rollout; got {key!r}.")
        rollouts.require(key)
    for name in (first, second):
        twice = _repeated(rollouts.counted(), name, keys)
        if twice is not None:
            place = ", ".join(f"{key} {value!r}" for key, value in zip(keys, twice, strict=True))
            raise DataError(
                f"{name!r} must have one rollout per {', '.join(keys)}; it has more with {place}.",
                source=rollouts.source or None,
            )


def _both_there(rollouts: Rollouts, first: str, second: str) -> None:
    if first == second:
        raise ValueError(f"`first` and `second` must be different policies; got {first!r} twice.")
    for name in (first, second):
        if name not in rollouts.policies:
            rollouts.where(policy=name)  # raises, naming the policies that are there


def _repeated(frame: nw.LazyFrame[Any], policy: str, on: tuple[str, ...]) -> tuple[object, ...] | None:
    import narwhals as nw

    same = frame.filter(nw.col("policy") == policy).group_by(*on).agg(nw.len().alias("__times__"))
    home = small(same.filter(nw.col("__times__") > 1).head(1))
    return tuple(home[key][0] for key in on) if home["__times__"] else None


def _sides(
    rollouts: Rollouts, first: str, second: str, on: tuple[str, ...], column: str | None = None
) -> tuple[nw.LazyFrame[Any], nw.LazyFrame[Any]]:
    import narwhals as nw

    frame = rollouts.counted()

    def side(policy: str, name: str) -> nw.LazyFrame[Any]:
        value = [] if column is None else [nw.col(column).alias(name)]
        return frame.filter(nw.col("policy") == policy).select(*on, *value)

    return side(first, "first"), side(second, "second")


def _home(rollouts: Rollouts, policy: str, on: tuple[str, ...], column: str, name: str) -> pl.DataFrame:
    import polars as pl

    lists = small(rollouts.where(policy=policy).in_order(*on, column))
    return pl.DataFrame({**{key: lists[key] for key in on}, name: lists[column]}, infer_schema_length=None)
