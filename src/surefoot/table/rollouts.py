"""What was run, and how did each rollout end? One read-only table, wherever its rows live."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

from surefoot import _check
from surefoot._arguments import in_python
from surefoot.core import formatting
from surefoot.core.assumptions import Environments
from surefoot.core.notes import Noted
from surefoot.core.scores import Moments, Scores
from surefoot.core.tally import Tally
from surefoot.core.words import NOUNS, USUAL, Words
from surefoot.errors import ArgumentError, DataError
from surefoot.table.cells import outside
from surefoot.table.columns import COLUMNS, NUMBERS, TEXT, WHOLE
from surefoot.table.design import as_number
from surefoot.table.findings import Finding
from surefoot.table.given_letters import GivenLetters
from surefoot.table.labelling import Labelling
from surefoot.table.normalising import REST, home, small
from surefoot.table.summaries import Group, by_policy, groups_of, merged, summarise

if TYPE_CHECKING:
    import narwhals as nw
    import numpy as np
    import polars as pl

    from surefoot.table.design import Design
    from surefoot.table.pairs import Pairing, Pairs


T = TypeVar("T")
Measure = Literal["success", "score"]
"""What is measured: whether rollouts succeed, or how they score."""
Collected = Environments
"""How environments were met."""

SHOWN = 5
"""Rows that a notebook shows."""

COLLECTED: tuple[Collected, ...] = get_args(Environments)


@dataclass(frozen=True, eq=False)  # not slotted: what was once asked of a big table is remembered
class Rollouts:
    """One table of rollouts, read-only; narrow it with `where`, then ask for a tally, scores or pairs.

    The rows stay with the engine that holds them (polars, pandas, DuckDB, Dask, Spark); only small results come back.

    Attributes:
        frame: The rows, in canonical columns, as a lazy narwhals frame.
        low: The least score possible, stated beforehand.
        high: The greatest score possible, stated beforehand.
        notes: What was guessed or decided on reading.
        source: The files the rows came from.
        findings: What the importers found that an audit must repeat.
        collected: How environments were met, when declared.
        ordered: Whether rows are in the order they were run; a table of counts is not.
        files: Paths of the files, for the hash.
        letters: Letters that the files carry, from their authors' own tests.
        whole: Whether rows that are alike here were alike in every column where they came from.
        named: What the files call a canonical column, where they all call it the same.
        labelling: Where the human labels came from, when they were joined to the table.
        words: What sentences call the policies, rollouts, tasks and environments of this table.
        declared: The roles that were said, by column: by the format, then by the user.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> rollouts = sf.read(pl.DataFrame({"policy": ["new", "new", "old"], "success": [1, 0, 0]}))
        >>> print(rollouts.where(policy="new").tally())
        1 of 2 succeeded.
    """

    frame: nw.LazyFrame[Any]
    low: float = 0.0
    high: float = 1.0
    notes: tuple[Noted, ...] = ()
    source: str = ""
    findings: tuple[Finding, ...] = ()
    collected: Collected | None = None
    ordered: bool = True
    files: tuple[str, ...] = field(default=(), repr=False)
    letters: tuple[GivenLetters, ...] = field(default=(), repr=False)
    whole: bool = field(default=True, repr=False)
    named: Mapping[str, str] = field(default_factory=dict, repr=False)
    labelling: Labelling | None = field(default=None, repr=False)
    words: Words = field(default=USUAL, repr=False)
    declared: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        _check.span(self.low, self.high)
        if self.collected is not None and self.collected not in COLLECTED:
            raise _check.refused("collected", f"be one of {', '.join(COLLECTED)}", self.collected)

    # What is in it

    @functools.cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that are there: the canonical ones, then those that the file calls otherwise."""
        there = self.frame.collect_schema().names()
        own = (name for name in there if name not in COLUMNS and name not in HIDDEN)
        return (*(name for name in COLUMNS if name in there), *own)

    @functools.cached_property
    def policies(self) -> tuple[str, ...]:
        """The names of the policies, sorted."""
        return tuple(dict.fromkeys(group.key[0] for group in self.summary() if group.key[0] is not None))

    @functools.cached_property
    def tasks(self) -> tuple[str, ...]:
        """The levels that a table shows side by side, sorted: few units, or a setting's; empty when there are none."""
        if self.split is None:
            return ()
        return tuple(group.key[0] for group in self.summary(by=(self.split,)) if group.key[0] is not None)

    @functools.cached_property
    def design(self) -> Design:
        """The role of every column, from the shape of the table."""
        from surefoot.table.design_of import design_of

        return design_of(self) if self.whole_table is self else self.whole_table.design

    @property
    def whole_table(self) -> Rollouts:
        """The table of all policies that this one was narrowed from; itself where it was not."""
        whole: Rollouts = self.__dict__.get("_whole", self)
        return whole

    @functools.cached_property
    def split(self) -> str | None:
        """The column whose levels are shown side by side; None where there is none."""
        found = self.design.split
        return None if found is None else found.key

    def design_roles(self) -> dict[str, str]:
        """The role that every column has, as roles that are said: for a part of the table, whose shape may differ."""
        kept = {"watched": "ignore", "nothing": "ignore"}
        return {column.key: kept.get(column.role, column.role) for column in self.design.columns}

    def declare(self, **roles: str | Sequence[str] | None) -> Rollouts:
        """The table with roles that are said: ``declare(unit="scene", repeat="trial", setting=("robot",))``.

        Args:
            roles: Columns by role (unit, repeat, setting, cluster, run) or to ignore; as the file calls them, or by
                any word that an answer prints.

        Raises:
            DataError: The table has no such column, or it is the policy or an outcome.
        """
        from surefoot.table.design_of import declaring

        return declaring(self, roles)

    @functools.cached_property
    def labels(self) -> int:
        """How many rollouts that count carry a human label beside the judge's word."""
        import narwhals as nw

        if "human" not in self.columns:
            return 0
        return int(small(self.counted().select(nw.col("human").count().alias("labels")))["labels"][0])

    def called(self, column: str) -> str:
        """What the user calls a canonical column: ``scene`` for `condition`; the usual noun when files differ."""
        return self.named.get(column, getattr(self.words, column) if column in NOUNS else column)

    def names(self, column: str) -> tuple[str, ...]:
        """The different values of a column, sorted."""
        self.require(column)
        if column == "policy":
            return self.policies
        if column == self.__dict__.get("split"):
            return self.tasks
        values = small(self.frame.select(column).unique())[column]
        return tuple(sorted(value for value in values if value is not None))

    def __repr__(self) -> str:
        what = [formatting.policies(len(self.policies), self.words)]
        what += [formatting.tasks(len(self.tasks), self.words)] if self.tasks else []
        origin = f" from {self.source}" if self.source else ""
        return f"<{formatting.rollouts(len(self), self.words)} of {', '.join(what)}{origin}>"

    def _repr_html_(self) -> str:
        """The table as a notebook shows it: how many rollouts of what, and its first rows."""
        rows = small(self.frame.head(SHOWN))
        head = "".join(f"<th>{escape(self.called(name))}</th>" for name in rows)
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(str(value))}</td>' for value in row)}</tr>"
            for row in zip(*rows.values(), strict=True)
        )
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return formatting.visible(f"<p>{escape(repr(self)[1:-1])}</p>{table}")

    def __len__(self) -> int:
        return sum(group.rollouts + group.void for group in self.summary(by=()))

    def __bool__(self) -> bool:
        return True

    @functools.cached_property
    def hash(self) -> str:
        """A fingerprint of what was read: of the files' bytes, or of the rows when a frame was given.

        Of many rows on another engine it is one of their counts, which is all that comes home.
        """
        from surefoot.table.fingerprints import MOST_FETCHED, of_files, of_frame
        from surefoot.table.unit_counts import laid_out

        if self.files:
            return of_files(self.files)
        return of_frame((self if len(self) <= MOST_FETCHED else laid_out(self)).polars())

    def polars(self) -> pl.DataFrame:
        """All rows in memory as a polars frame, `success` and `valid` as true or false."""
        import polars as pl

        kinds = {
            **dict.fromkeys(TEXT, pl.String),
            **dict.fromkeys(WHOLE, pl.Int64),
            **dict.fromkeys(NUMBERS, pl.Float64),
        }
        own = {name: pl.String for name in self.columns if name not in COLUMNS}
        return home(self.frame).select(
            pl.col(name).cast(kinds.get(name, own.get(name, pl.Boolean))) for name in self.columns
        )

    # Narrowing

    def where(self, **only: str | int | Sequence[str | int]) -> Rollouts:
        """The rollouts whose columns have these values; a list means any of them.

        Raises:
            ValueError: The table has no such column.
            TypeError: A column of numbers is asked for text.
            DataError: No rollout has such a name; of numbers none may match, and the table is then empty.

        Example:
            >>> import polars as pl
            >>> import surefoot as sf
            >>> table = sf.read(pl.DataFrame({"policy": ["a", "b"], "task": ["cut", "cut"], "score": [0.5, 1.0]}))
            >>> table.where(policy="b", task=["cut", "pour"]).scores().values
            (1.0,)
        """
        import narwhals as nw

        frame = self.frame
        narrowed: dict[str, list[Any]] = {}
        for asked, value in only.items():
            column = self.key(asked)
            self.require(column)
            values = [value] if not isinstance(value, Sequence) or isinstance(value, str) else [*value]
            if column in TEXT or column not in COLUMNS:
                wanted: list[Any] = [str(item) for item in values]
                there = self.names(column)
                if not set(wanted).intersection(there):
                    raise DataError(_not_there(self.called(column), wanted, there), source=self.source)
            else:
                numbers = [as_number(item) if isinstance(item, str) else item for item in values]  # levels are text
                if None in numbers:
                    raise _check.mistyped(column, "be a number or a list of numbers", value)
                whole = (item for item in numbers if item is not None)
                wanted = [int(item) if isinstance(item, bool) or column in WHOLE else item for item in whole]
            frame = frame.filter(nw.col(column).is_in(wanted))
            narrowed[column] = wanted
        table = replace(self, frame=frame)
        if set(narrowed) == {"policy"}:  # what a column is does not depend on which policy is looked at
            table.__dict__["_whole"] = self.whole_table
        if set(narrowed) <= set(self._cells) and self._cells in self._summaries:
            index = self.once(("by policy", *self._cells), lambda: by_policy(self._summaries[self._cells]))
            table._summaries[self._cells] = groups_of(index, narrowed, *self._cells[1:])
            table.__dict__.update({name: self.__dict__[name] for name in ("split",) if name in self.__dict__})
        return table

    def thin(self, rng: np.random.Generator | int) -> Rollouts:
        """One random policy kept per shared environment, so that the policies' streams are independent.

        An environment is a unit in its settings, with all its repeats. Tests for independent streams need this; tests
        for pairs do not, and lose nothing without it.
        """

        from surefoot.table.pairs import thinned

        return thinned(self, rng)

    # Turning into what statistics take

    def tally(self) -> Tally:
        """Successes among the rollouts of the one policy in the table."""
        self._one_policy()
        self.require("success")
        group = self.summary(by=())[0]
        if not group.outcomes:
            raise DataError(
                f"at least one {self.words.rollout} must have a known success; got none.", source=self.source
            )
        return group.tally

    def scores(self) -> Scores:
        """The scores of the one policy in the table, in the order they were run."""
        self._one_policy()
        self.require("score")
        values = [value for value in self.column("score") if value is not None]
        if not values:
            raise DataError(f"at least one {self.words.rollout} must have a score; got none.", source=self.source)
        return scores_in(values, self.low, self.high, self.source)

    def moments(self) -> Moments:
        """How many scores the one policy in the table has, their mean and variance, computed where the data are."""
        self._one_policy()
        self.require("score")
        group = self.summary(by=())[0]
        if group.least is None or group.most is None:
            raise DataError(f"at least one {self.words.rollout} must have a score; got none.", source=self.source)
        self.require_in_range(group)
        return Moments.of_sums(group.scored, group.total, group.squares, self.low, self.high)

    def outcomes(self) -> tuple[bool, ...]:
        """Success or not of the one policy's rollouts, in the order they were run."""
        self._one_policy()
        return tuple(bool(value) for value in self.column("success") if value is not None)

    def column(self, name: str) -> tuple[Any, ...]:
        """One column of the rollouts that count, in the order they were run."""
        self.require(name)
        return tuple(small(self.in_order(name))[name])

    def summary(self, by: Sequence[str] = ("policy",)) -> tuple[Group, ...]:
        """The sufficient statistics of every group, computed where the data are; groups sorted by name.

        Example:
            >>> import polars as pl
            >>> import surefoot as sf
            >>> table = sf.read(pl.DataFrame({"policy": ["a", "b", "b"], "success": [1, 0, 1]}))
            >>> [(group.key, group.tally.successes, group.tally.trials) for group in table.summary()]
            [(('a',), 1, 1), (('b',), 1, 2)]
        """
        keys = (by,) if isinstance(by, str) else tuple(by)
        for key in keys:
            self.require(key)
        kept = self._summaries
        if keys not in kept:
            if self._cells != keys and set(keys) <= set(self._cells):
                kept[keys] = merged(self.summary(by=self._cells), [self._cells.index(key) for key in keys])
            else:
                kept[keys] = summarise(self.frame, keys, self.columns)
        return kept[keys]

    def pairing(self, first: str, second: str, *, measure: Measure | None = None) -> Pairing:
        """Whether two policies were run in the same environments, and by which columns one can tell.

        It is what `compare` goes by, and asks besides that each rollout has one partner.
        """
        from surefoot.table.pairs import pairing

        return pairing(self, first, second, measure)

    def pairs(
        self, first: str, second: str, *, on: Sequence[str] | None = None, measure: Measure | None = None
    ) -> Pairs:
        """Rollouts of two policies in the same environments.

        Args:
            first: The policy the gain is about.
            second: The policy it is compared with.
            on: The columns that tell which rollouts belong together; by default the unit and its settings, and
                the repeat where one policy met a unit several times. Saying ``on=("task", "order")`` declares that the
                n-th rollouts shared an environment.
            measure: Whose known outcomes count; success where the table has it.

        Raises:
            DataError: The table cannot tell which rollouts belong together.
        """
        from surefoot.table.pairs import matched

        return matched(self, first, second, on, measure)

    def __str__(self) -> str:
        tasks = f" on {formatting.tasks(len(self.tasks), self.words)}" if self.tasks else ""
        known = [name for name in ("success", "score") if name in self.columns]
        scale = f" in [{self.low:g}, {self.high:g}]" if "score" in known else ""
        origin = f", from {self.source}" if self.source else ""
        return (
            f"{formatting.rollouts(len(self), self.words)} of "
            f"{formatting.policies(len(self.policies), self.words)}{tasks}, with {' and '.join(known)}{scale}{origin}."
        )

    # For the rooms above

    @functools.cached_property
    def _summaries(self) -> dict[tuple[str, ...], tuple[Group, ...]]:
        return {}

    @functools.cached_property
    def _memo(self) -> dict[tuple[str, ...], Any]:
        return {}

    def once(self, key: tuple[str, ...], make: Callable[[], T]) -> T:
        """What is made of this very table, worked out for the first who asks and kept for the others."""
        if key not in self._memo:
            self._memo[key] = make()
        found: T = self._memo[key]
        return found

    def ends(self, measure: Measure) -> tuple[float, float]:
        """The least and the greatest outcome there can be: 0 and 1 of success, the stated range of scores."""
        return (0.0, 1.0) if measure == "success" else (self.low, self.high)

    @property
    def _cells(self) -> tuple[str, ...]:
        """The groups that most questions are about: they are summarised in one pass and added up as needed."""
        split = self.__dict__.get("split")  # before it is asked for, no question is about its levels
        return ("policy",) if split is None else ("policy", split)

    @functools.cached_property
    def environments(self) -> dict[tuple[str, ...], Any]:
        """What was found out about shared environments; where rows are narrowed, what still holds goes along."""
        return {}

    def counted(self) -> nw.LazyFrame[Any]:
        """The rows that count: those not declared void."""
        import narwhals as nw

        return self.frame.filter(nw.col("valid") == 1) if "valid" in self.columns else self.frame

    def in_order(self, *names: str) -> nw.LazyFrame[Any]:
        """Some columns of the rows that count, in the order they were run."""
        wanted = dict.fromkeys(names)
        if "order" not in self.columns:
            return self.counted().select(*wanted)
        return self.counted().select(*dict.fromkeys((*wanted, "order"))).sort("order", nulls_last=True)

    def key(self, word: str) -> str:
        """The table's column that a word names: what the file or an answer calls it; `policy` is always the table's."""
        if word == "policy":
            return word
        named = [column for column, name in self.named.items() if name == word and column in self.columns]
        if named or word in self.columns:
            return (named or [word])[0]
        found = self.design.column(word) if word not in COLUMNS else None
        return word if found is None else found.key

    def require(self, column: str) -> None:
        """Refuse when a column is not there."""
        if column in self.columns:
            return
        if column not in COLUMNS:
            shown = ", ".join(repr(self.called(name)) for name in self.columns)
            raise DataError(f"there must be a column {column!r}; got {shown}.", source=self.source)
        other = {
            "success": " There are scores: ask for those.",
            "score": " There is success: rates, comparisons and reports use that.",
        }
        hint = other.get(column, "") if {"success", "score"} & set(self.columns) else ""
        raise DataError(f"there must be a `{column}` column; got {', '.join(self.columns)}.{hint}", source=self.source)

    def require_in_range(self, group: Group) -> None:
        """Refuse scores that the stated range does not allow."""
        for end in (group.least, group.most):
            if end is not None and not self.low <= end <= self.high:
                raise DataError(outside(self.low, self.high, f"one is {end:g}"), source=self.source)

    def _one_policy(self) -> None:
        if len(self.policies) > 1:
            raise ArgumentError(
                f"the table must hold one {self.words.policy} here; got {', '.join(self.policies[:6])}."
                + in_python(f' Narrow it first: .where(policy="{self.policies[0]}").')
            )


HIDDEN = (REST,)
"""Columns of the frame that are made in reading and hold no label."""


def a_table(value: Any, name: str = "rollouts") -> Rollouts:
    """What was given as a table of rollouts; a path or a frame must be read first."""
    shown = repr(str(value)) if isinstance(value, (str, PathLike)) else "..."
    return _check.instance(value, name, Rollouts, f"Read it first: sf.read({shown}).")


def scores_in(values: Sequence[float], low: float, high: float, source: str) -> Scores:
    """Scores inside their stated range; one outside is a fault of the data, not of the caller."""
    for place, value in enumerate(values, 1):
        if not low <= value <= high:
            raise DataError(outside(low, high, f"score {place} is {value:g}"), source=source)
    return Scores(values, low, high)


def _not_there(column: str, wanted: Sequence[object], names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:8])) + (f" and {len(names) - 8:,} more" if len(names) > 8 else "")
    asked = " or ".join(map(repr, wanted))
    return f"`{column}` must be {'one of ' if len(names) > 1 else ''}{shown or 'there'}; got {asked}."
