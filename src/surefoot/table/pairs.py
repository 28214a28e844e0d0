"""Pairs of rollouts of two policies in the same environment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.record import Record
from surefoot.core.scores import Moments, Scores
from surefoot.core.tally import PairTally
from surefoot.errors import DataError
from surefoot.table.crosstab import Counted, crosstab
from surefoot.table.normalising import home, small
from surefoot.table.rollouts import Measure, Rollouts, scores_in

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

NUMBERED = "a repeat would tell them apart."


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
        self.rollouts.require("success")
        table = crosstab(self.rollouts, "success", self.on, (self.first, self.second))
        (ones, sums), (others, theirs) = table.of(self.first), table.of(self.second)
        both = (ones > 0) & (others > 0)
        if not both.any():
            raise DataError("at least one pair must have both outcomes; got none.", source=self.rollouts.source)
        return tally_of(sums[both] > 0, theirs[both] > 0)

    def scores(self) -> tuple[Scores, Scores]:
        """Both policies' scores, pair by pair, in the order the first policy's were run."""
        table = self.values("score")
        low, high, source = self.rollouts.low, self.rollouts.high, self.rollouts.source
        return scores_in([a for a, _ in table], low, high, source), scores_in([b for _, b in table], low, high, source)

    def values(self, column: str = "success") -> tuple[tuple[float, float], ...]:
        """The pairs' values of a numeric column, both known, in the order the first policy's rollouts were run."""
        return tuple((float(a), float(b)) for a, b in self._joined(column).select("first", "second").rows())

    def labels(self, names: Sequence[str], column: str = "success") -> list[tuple[object, ...]]:
        """What the first policy's rollouts carry in some columns, for the very pairs that `values` gives."""
        beside = tuple(name for name in names if name not in self.on)
        return self._joined(column, beside).select(*names).rows()

    def _joined(self, column: str, beside: tuple[str, ...] = ()) -> pl.DataFrame:
        self.rollouts.require(column)
        one = _home(self.rollouts, self.first, self.on, column, "first", beside)
        two = _home(self.rollouts, self.second, self.on, column, "second")
        joined = one.join(two, on=list(self.on), how="inner", maintain_order="left").drop_nulls(["first", "second"])
        if joined.height == 0:
            raise DataError(f"at least one pair must have `{column}` on both sides; got none.")
        return joined

    def moments(self) -> Moments:
        """How many pairs have both scores, and the mean and variance of first minus second."""
        import polars as pl

        joined = self._joined("score").select((pl.col("first") - pl.col("second")).alias("gap"))
        sums = joined.select(pl.len(), pl.col("gap").sum().alias("total"), (pl.col("gap") ** 2).sum().alias("squares"))
        count, total, squares = sums.row(0)
        width = self.rollouts.high - self.rollouts.low
        return Moments.of_sums(count, total, squares, -width, width)

    def __str__(self) -> str:
        alone = [
            f"{count:,} of {name!r}"
            for count, name in ((self.first_alone, self.first), (self.second_alone, self.second))
            if count
        ]
        left = f"; without a partner: {' and '.join(alone)}" if alone else ""
        said = ", as declared" if self.declared else ""
        pairs = formatting.counted(self.matched, "pair")
        on = ", ".join(map(self.rollouts.called, self.on))
        return f"{pairs} of {self.first!r} and {self.second!r} on {on}{said}{left}."


def tally_of(first: Any, second: Any) -> PairTally:
    """Pairs by which of the two succeeded, from arrays of true and false."""
    sides = ((first, second), (first, ~second), (~first, second), (~first, ~second))
    return PairTally(*(int((one & other).sum()) for one, other in sides))


def pairing(rollouts: Rollouts, first: str, second: str, measure: Measure | None = None) -> Pairing:
    """Whether the table tells, one by one, which rollouts of two policies belong together.

    The unit and its settings tell, as the design of the table has them. Where one policy met a unit several times, its
    rollouts must be told apart, by a repeat that both policies carry.
    """
    two_policies(rollouts, first, second)
    what: Measure = measure or ("success" if "success" in rollouts.columns else "score")
    rollouts.require(what)
    design = rollouts.design
    if rollouts.collected == "independent":
        words = rollouts.words
        return Pairing((), f"Not paired: each {words.rollout} drew {words.an_environment} of its own, as declared.")
    if design.unit is None:
        return Pairing((), f"Not paired: no column tells which {rollouts.words.rollouts} belong together.")
    on = design.keys("unit", "setting")
    met = _met(rollouts, first, second, on)
    for key in design.keys("repeat"):
        if met.repeated:
            empty = unfilled(rollouts, (key,))
            if not empty[first, key] and not empty[second, key]:
                on = (*on, key)
                met = _met(rollouts, first, second, on)
    named = ", ".join(rollouts.called(key) for key in on)
    if met.repeated:
        return Pairing((), f"Not paired one by one: {met.repeated}; {NUMBERED}")
    if not met.matched:
        return Pairing((), f"Not paired: the two share no {named}.")
    return Pairing(on, f"Paired on {named}.")


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


def matched(
    rollouts: Rollouts, first: str, second: str, on: Sequence[str] | None, measure: Measure | None = None
) -> Pairs:
    """The pairs of two policies; see `Rollouts.pairs`."""
    if on is None:
        answer = pairing(rollouts, first, second, measure)
        if not answer:
            raise DataError(
                f'{answer.why} Say what belongs together, on=("task", "order") for instance, or compare unpaired.',
                source=rollouts.source,
            )
        keys = answer.on
    else:
        keys = tuple(rollouts.key(word) for word in ((on,) if isinstance(on, str) else on))
        _declared(rollouts, first, second, keys)
    met = _met(rollouts, first, second, keys)
    if not met.matched:
        raise DataError(f"{first!r} and {second!r} must share some {', '.join(keys)}; they share none.")
    return Pairs(first, second, keys, met.matched, *met.alone, on is not None, rollouts)


def _declared(rollouts: Rollouts, first: str, second: str, keys: tuple[str, ...]) -> None:
    two_policies(rollouts, first, second)
    if not keys or "policy" in keys:
        raise _check.refused("on", "name columns other than policy", keys)
    for key in keys:
        rollouts.require(key)
    empty = unfilled(rollouts, keys)
    for name in (first, second):
        for key in keys:
            if empty[name, key]:
                must = f"must be known for every {rollouts.words.rollout} of {name!r}"
                raise DataError(f"`{key}` {must}; {empty[name, key]:,} have none.", source=rollouts.source)
    met = _met(rollouts, first, second, keys)
    if met.repeated:
        words, by = rollouts.words, ", ".join(keys)
        raise DataError(
            f"each {words.policy} must have one {words.rollout} per {by}; {met.repeated}.", source=rollouts.source
        )


def two_policies(rollouts: Rollouts, first: str, second: str) -> None:
    """Refuse to compare a policy with itself, or with one that is not there."""
    if first == second:
        raise _check.wrong(
            ("first", "second"), f"be different {rollouts.words.policies}; got {first!r} twice.", (first, second)
        )
    for name in (first, second):
        if name not in rollouts.policies:
            rollouts.where(policy=name)  # raises, naming the policies that are there


class _Met(NamedTuple):
    """How two policies met some environments, whatever came of it.

    Attributes:
        matched: Environments that both met.
        alone: Rollouts of each beyond those.
        repeated: Which of them met one of these several times, in words; empty where none did.
    """

    matched: int
    alone: tuple[int, int]
    repeated: str


def _met(rollouts: Rollouts, first: str, second: str, on: tuple[str, ...]) -> _Met:
    names = rollouts.policies
    unknown = any(group.rollouts > group.outcomes for group in rollouts.summary() if group.key[0] in names)
    whole = "success" in rollouts.columns and not unknown
    every: Counted = "success" if whole else "policy"  # that of success is made already, most often
    table = crosstab(rollouts, every, on, names)
    ones, others = (table.of(name)[0] for name in (first, second))
    matched, twice = int(((ones > 0) & (others > 0)).sum()), ((ones > 1) | (others > 1)).nonzero()[0]
    repeated = ""
    if twice.size:
        place = ", ".join(f"{key} {table.labels(key)[twice[0]]!r}" for key in on)
        times, who = max((ones[twice[0]], first), (others[twice[0]], second))
        repeated = f"{who!r} has {formatting.rollouts(int(times), rollouts.words)} with {place}"
    return _Met(matched, (int(ones.sum()) - matched, int(others.sum()) - matched), repeated)


def _home(
    rollouts: Rollouts, policy: str, on: tuple[str, ...], column: str, name: str, beside: tuple[str, ...] = ()
) -> pl.DataFrame:
    import polars as pl

    own = rollouts.where(policy=policy).in_order(*on, *beside, column)
    return home(own).select(*on, *beside, pl.col(column).alias(name))


def pairs_by_position(rollouts: Rollouts, first: str, second: str) -> Pairs:
    """The n-th rollouts of two policies on each task, as declared pairs.

    By the `order` column where both policies share its values; else each policy's rollouts are counted, task by task.

    Raises:
        DataError: The order is not known, or `order` repeats within a task.
    """
    by = () if rollouts.split is None else (rollouts.split,)
    if "order" in rollouts.columns and _share_order(rollouts, first, second):
        return matched(rollouts, first, second, (*by, "order"))
    return matched(_numbered(rollouts, by), first, second, (*by, "order"))


def _share_order(rollouts: Rollouts, first: str, second: str) -> bool:
    """Whether some number in `order` is one of both policies."""
    known = [set(rollouts.where(policy=name).column("order")) - {None} for name in (first, second)]
    return bool(known[0] & known[1])


def _numbered(rollouts: Rollouts, by: tuple[str, ...]) -> Rollouts:
    import narwhals as nw
    import polars as pl

    if not rollouts.ordered or not rollouts.frame.implementation.is_polars():
        raise DataError(
            f"the order of the {rollouts.words.rollouts} must be known to pair the n-th with the n-th; it is not. "
            "Add an `order`, a `seed` or a `condition` column.",
            source=rollouts.source,
        )
    frame = rollouts.frame.to_native()
    if "order" in rollouts.columns:
        frame = frame.sort("order", nulls_last=True, maintain_order=True)
    place = pl.int_range(1, pl.len() + 1).over("policy", *by)
    return replace(rollouts, frame=nw.from_native(frame.with_columns(place.alias("order"))))


def thinned(rollouts: Rollouts, rng: np.random.Generator | int) -> Rollouts:
    """One random policy kept for each environment that several met, so that their rollouts share none."""
    import narwhals as nw
    import polars as pl

    generator, seed = _check.generator(rng)
    keys = rollouts.design.keys("unit", "setting")
    if rollouts.design.unit is None:
        raise DataError(
            f"a column must tell which {rollouts.words.rollouts} share {rollouts.words.an_environment}; none does.",
            source=rollouts.source,
            cure="Say which: rollouts.declare(unit=...).",
        )
    table = rollouts.polars().with_row_index("__row__")
    counted = table.filter(pl.col("valid").fill_null(True)) if "valid" in rollouts.columns else table
    met = counted.select(*keys, "policy").unique().sort(*keys, "policy", nulls_last=True)
    drawn = met.with_columns(pl.Series("__draw__", generator.random(met.height)))
    kept = drawn.sort("__draw__").unique(keys, keep="first", maintain_order=True)
    left = table.join(kept.select(*keys, "policy"), on=[*keys, "policy"], how="semi", nulls_equal=True)
    rows = (
        left.sort("__row__")
        .drop("__row__")
        .with_columns(pl.col(name).cast(pl.Int8) for name in ("success", "valid") if name in rollouts.columns)
    )
    words = rollouts.words
    said = (
        f"Thinned to one random {words.policy} per {words.environment} "
        f"({'seed ' + str(seed) if seed is not None else 'own rng'})."
    )
    return replace(rollouts, frame=nw.from_native(rows.lazy()), notes=(*rollouts.notes, said))
