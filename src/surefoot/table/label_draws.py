"""Which items should a person label? Drawn at random, shown without what the judge said or whose they are."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any
from urllib.parse import quote, unquote

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.formatting import csv_text
from surefoot.core.record import Record
from surefoot.core.words import Worded, in_its_words
from surefoot.errors import DataError
from surefoot.table.columns import plain
from surefoot.table.design import MEETS
from surefoot.table.normalising import small
from surefoot.table.rollouts import Rollouts, a_table

SHOWN = {"task": "task", "condition": "item", "seed": "seed", "repeat": "epoch", "order": "order"}
"""How the columns that tell rollouts apart are headed in a file of labels; the run (`source`) is never shown."""
HEAD = re.compile(r"# surefoot labels draw n=(\d+) items=(\d+) seed=(\d+) by=(\S+) list=([0-9a-f]{64})[\",;\s]*")
"""The first line of a drawn file, names of columns as in a web address.

It has no separator of its own, and a spreadsheet may add some at its end.
"""

Key = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Head(Record):
    """What the first line of a drawn file says.

    Attributes:
        drawn: Items drawn.
        items: Items there were.
        seed: The seed of the draw.
        by: The columns that tell rollouts of one policy apart; `source` among them where there are two runs.
        fingerprint: The hash of the list of items that was drawn from.
    """

    drawn: int
    items: int
    seed: int
    by: tuple[str, ...]
    fingerprint: str

    def __str__(self) -> str:
        by = "+".join(quote(name, safe="") for name in self.by)
        return (
            f"# surefoot labels draw n={self.drawn} items={self.items} seed={self.seed} by={by} list={self.fingerprint}"
        )

    @classmethod
    def of(cls, line: str) -> Head | None:
        """What a line says; None when it is no such head."""
        found = HEAD.fullmatch(line.strip().lstrip('"'))
        if found is None:
            return None
        drawn, items, seed = (int(found[place]) for place in (1, 2, 3))
        return cls(drawn, items, seed, tuple(map(unquote, found[4].split("+"))), found[5])


@dataclass(frozen=True, slots=True)
class LabelDraw(Worded):
    """Items drawn for a person to label.

    Attributes:
        head: What was drawn from what, and how.
        header: The columns that a person sees before the label.
        rows: A row for each rollout to label, in random order.
        key: A row for each code: the code, what tells the rollout, its policy and, of two runs, its file; empty for
            one policy in one run.
        left_out: Items that were not drawn from, because some policy has no outcome there.
    """

    head: Head
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    key: tuple[tuple[str, ...], ...] = ()
    left_out: int = 0

    def to_csv(self) -> str:
        """The file to fill in."""
        return _csv([str(self.head)], [(*self.header, "human", "rater"), *((*row, "", "") for row in self.rows)])

    def key_csv(self) -> str:
        """Which policy is behind each code, for whoever shows the outputs; the labellers must not see it."""
        more = ("source",) if self.head.by[-1] == "source" else ()
        return _csv([], [(*self.header, "policy", *more), *self.key])

    def __str__(self) -> str:
        return (
            f"{formatting.counted(self.head.drawn, 'item')} of {self.head.items:,} drawn at "
            f"random, seed {self.head.seed}: "
            f"{formatting.rollouts(len(self.rows), self.words)} to label."
        )


@in_its_words
def draw_labels(rollouts: Rollouts, items: int, *, seed: int) -> LabelDraw:
    """Which items should a person label? Every rollout of items drawn at random, in random order, blind.

    Where the table holds several policies they are hidden behind codes, which `label` understands; what the judge said
    is never shown.

    Args:
        rollouts: The table, with a column that tells items apart.
        items: How many items.
        seed: The seed of the draw; it is written into the file, so that anybody can check it.

    Raises:
        DataError: The table does not tell its items, or the rollouts of an item, apart.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> frame = pl.DataFrame({"policy": ["a"] * 50 + ["b"] * 50, "item": [*range(50)] * 2, "success": [1, 0] * 50})
        >>> print(sf.draw_labels(sf.read(frame), 20, seed=7))
        20 items of 50 drawn at random, seed 7: 40 rollouts to label.
    """
    import numpy as np

    items, seed = _check.whole(items, "items", least=1), _check.whole(seed, "seed")
    listed = listing(rollouts)
    if items > len(listed.items):
        raise _check.wrong(
            "items",
            f"be at most the {len(listed.items):,} that every {rollouts.words.policy} has an outcome on; got {items}.",
            items,
        )
    head = Head(items, len(listed.items), seed, listed.by, listed.fingerprint)
    drawn = set(drawn_items(listed, head))
    several = len({listed.owner(unit) for unit in listed.units}) > 1
    units = [unit for unit in listed.units if unit[1][: len(listed.on)] in drawn]
    units.sort(key=lambda unit: (unit[0], repr(unit[1])))
    order = np.random.default_rng([seed, 1]).permutation(len(units))
    shown = [place for place, name in enumerate(listed.by) if name != "source"]
    rows, key = [], []
    for policy, where in (units[at] for at in order):
        told = tuple(str(where[place]) for place in shown)
        first = code(head, policy, where) if several else policy
        rows.append((first, *told))
        if several:
            key.append((first, *told, policy, *(str(where[-1]) for _ in listed.by[len(shown) :])))
    header = ("code" if several else "policy", *(SHOWN.get(listed.by[place], listed.by[place]) for place in shown))
    return LabelDraw(head, header, tuple(rows), tuple(key), listed.left_out)


@dataclass(frozen=True, slots=True)
class Listing:
    """The items of a table that every policy has an outcome on, and their rollouts.

    Attributes:
        on: The columns that tell items apart.
        by: The columns that tell rollouts of one policy apart: those of the items, then of the epochs.
        items: The items, sorted.
        units: Policy and key of every rollout of those items.
        left_out: Items that some policy has no outcome on.
        fingerprint: The hash of the items.
    """

    on: tuple[str, ...]
    by: tuple[str, ...]
    items: tuple[Key, ...]
    units: tuple[tuple[str, Key], ...]
    left_out: int
    fingerprint: str

    def owner(self, unit: tuple[str, Key]) -> tuple[str, ...]:
        """Whose rollout it is: the policy and, of two runs, the run."""
        return (unit[0], str(unit[1][-1])) if self.by[-1] == "source" else (unit[0],)


def listing(rollouts: Rollouts) -> Listing:
    """The items that labels can be drawn from."""
    import narwhals as nw

    on = item_columns(a_table(rollouts))
    if not on:
        raise DataError(
            "some column must tell items apart; none does. Say which: --unit COLUMN. These are there:\n"
            f"{rollouts.design}",
            source=rollouts.source,
        )
    told = (*rollouts.design.keys("repeat"), "repeat", "seed", "order", "source")
    more = [name for name in dict.fromkeys(told) if name in rollouts.columns and name not in on]
    known = (~nw.col(name).is_null() for name in ("success", "score") if name in rollouts.columns)
    home = small(rollouts.counted().filter(reduce(or_, known)).select("policy", *on, *more))
    by = _telling(home, on, more, rollouts)
    policies = home["policy"]
    units = [
        (policy, key)
        for policy, key in zip(policies, zip(*(home[name] for name in by), strict=True), strict=True)
        if None not in key
    ]
    runs = by[-1] == "source"
    met: dict[Key, set[tuple[str, ...]]] = {}
    for policy, key in units:
        met.setdefault(key[: len(on)], set()).add((policy, str(key[-1])) if runs else (policy,))
    owners = set().union(*met.values())
    items = tuple(sorted((key for key, who in met.items() if len(who) == len(owners)), key=repr))
    if not items:
        names = ", ".join(" in ".join(owner) for owner in sorted(owners))
        raise DataError(f"{names} must have outcomes on the same items; none has them all.", source=rollouts.source)
    there = set(items)
    kept = tuple(unit for unit in units if unit[1][: len(on)] in there)
    digest = hashlib.sha256("\n".join(json.dumps(key) for key in items).encode()).hexdigest()
    return Listing(on, by, items, kept, len(met) - len(items), digest)


def item_columns(rollouts: Rollouts) -> tuple[str, ...]:
    """The columns that tell one item from another: whatever recurs beside them are its epochs.

    One policy alone meets each item once where a column has another level in every row; of several such columns, the
    one that is called like an item is taken.
    """
    design = rollouts.design
    if design.unit is not None:
        return design.keys("setting", "unit")
    if len(rollouts.policies) > 1:
        return ()
    own = [column for column in design.columns if column.levels == len(rollouts) > 1]
    meant = own if len(own) == 1 else [column for column in own if plain(column.name) in MEETS]
    return (meant[0].key,) if len(meant) == 1 else ()


def drawn_items(listed: Listing, head: Head) -> list[Key]:
    """The items that a draw gives; the same for the same list, number and seed."""
    import numpy as np

    places = np.random.default_rng(head.seed).choice(len(listed.items), head.drawn, replace=False)
    return [listed.items[place] for place in sorted(places.tolist())]


def code(head: Head, policy: str, where: Key) -> str:
    """The name under which a rollout is shown to whoever labels it."""
    told = json.dumps([head.seed, head.fingerprint, policy, *where])
    return hashlib.sha256(told.encode()).hexdigest()[:12]


def _telling(
    home: Mapping[str, Sequence[Any]], on: tuple[str, ...], more: Sequence[str], rollouts: Rollouts
) -> tuple[str, ...]:
    """The fewest columns that tell every rollout of a policy from its others."""
    own = [name for name in more if name != "source"]
    ways: list[tuple[str, ...]] = [(), *((name,) for name in own), tuple(own)]
    if "source" in more:  # two runs of one policy are told apart by their files, and shown under codes
        ways += [(*way, "source") for way in ways]
    for extra in ways:
        keys = list(zip(home["policy"], *(home[name] for name in (*on, *extra)), strict=True))
        if len(set(keys)) == len(keys):
            return (*on, *extra)
    twice = Counter(keys).most_common(1)[0][0]
    raise DataError(
        f"the rows of one item must have different numbers; {twice[0]!r} has several of "
        f"{' '.join(map(repr, twice[1 : 1 + len(on)]))}. Number them in an `epoch` (repeat) column.",
        source=rollouts.source,
    )


def _csv(first: list[str], rows: Sequence[Sequence[str]]) -> str:
    return "".join(f"{line}\n" for line in first) + csv_text(rows)
