"""The design of a table of rollouts: its labels brought home, its roles found and kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from surefoot.core.notes import Note
from surefoot.errors import DataError
from surefoot.table.design import DECLARED, EMPTY, Design, as_number, assigned, whole_numbers
from surefoot.table.normalising import home, small

if TYPE_CHECKING:
    import polars as pl

    from surefoot.table.column_shapes import LabelColumn, Labels
    from surefoot.table.level_codes import Coded
    from surefoot.table.rollouts import Rollouts

NO_LABELS = ("policy", "success", "score", "human", "valid", "forecast", "clip")
"""Columns that are found by their names and are what is compared, or how."""


def design_of(rollouts: Rollouts) -> Design:
    """The role of every column of a table."""
    from surefoot.table.unit_counts import laid_out

    names, facts, barred, left = telling(rollouts)
    if not names:
        return Design()
    named = {name: rollouts.called(name) if name in rollouts.named else name for name in names}
    codes, kinds = _kinds(laid_out(rollouts), left)
    columns = {name: _label_column(name, codes[name]) for name in left}
    fractions = [name for name in left if name not in rollouts.declared and _fractions(columns[name].levels)]
    barred |= dict.fromkeys(fractions, "fractions")
    kept = {name: column for name, column in columns.items() if name not in barred}
    made = assigned(
        _labels(codes["policy"], kinds["rows"].to_numpy(), kept),
        named=named,
        declared={name: role for name, role in rollouts.declared.items() if name in kept},
        barred=barred,
        levels={name: facts[name][0] for name in barred},
        said_again=_said_again(kinds, kept),
    )
    results = tuple(column.name for column in made.of("watched") if column.result)
    said = [*made.said]
    if results:
        said.append(Note("sound like results", {"columns": results}))
    unit = made.unit_column
    if unit is not None and unit.result and unit.key not in rollouts.declared:
        said.append(Note("result is unit", {"column": unit.name}))
    return replace(made, said=tuple(said))


def telling(
    rollouts: Rollouts,
) -> tuple[list[str], dict[str, tuple[int, int, bool]], dict[str, str], list[str]]:
    """The columns of labels, facts of each, why some can have no role, and those that may."""
    names = [name for name in rollouts.columns if name not in NO_LABELS and not _added(rollouts, name)]
    if not names:
        return [], {}, {}, []
    rows, facts = _facts(rollouts, names)
    barred: dict[str, str] = {}
    for name in names:
        levels, empty, _ = facts[name]
        if rollouts.declared.get(name, "ignore") != "ignore":
            continue
        if levels <= 1:
            barred[name] = "one level"
        elif empty > EMPTY * rows:
            barred[name] = "more than 5% empty"
        elif levels == rows:
            barred[name] = "every row has its own"
        elif facts[name][2]:
            barred[name] = "fractions"
    return names, facts, barred, [name for name in names if name not in barred]


def design(
    rollouts: Rollouts,
    *,
    unit: str | None = None,
    repeat: str | Sequence[str] = (),
    setting: str | Sequence[str] = (),
    cluster: str | Sequence[str] = (),
    run: str | Sequence[str] = (),
    ignore: str | Sequence[str] = (),
) -> Design:
    """Role of every column of a table, from its shape; what is declared wins.

    Args:
        rollouts: The table.
        unit: The column of what every policy meets.
        repeat: Columns that count the tries at a unit.
        setting: Columns to compare within.
        cluster: Columns of what units belong to.
        run: Columns of trained copies of a policy.
        ignore: Columns without a role.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> rows = [(p, f"scene {s}", (s + len(p)) % 2) for p in ("new", "old!") for s in range(30)]
        >>> print(sf.design(sf.read(pl.DataFrame(rows, schema=["policy", "where", "success"], orient="row"))))
        where  unit           30 levels  met by all alike, with the most levels
    """
    said = {"unit": unit, "repeat": repeat, "setting": setting, "cluster": cluster, "run": run, "ignore": ignore}
    return rollouts.declare(**said).design


def _added(rollouts: Rollouts, name: str) -> bool:
    """Whether reading several files added a column that says from which one a row came."""
    return name == "source" and len(rollouts.files) > 1


def _facts(rollouts: Rollouts, names: Sequence[str]) -> tuple[int, dict[str, tuple[int, int, bool]]]:
    """How many rows there are, and of each column its levels, its empty cells, and whether it holds fractions."""
    import narwhals as nw

    frame = rollouts.counted()
    schema = frame.collect_schema()
    broken = [name for name in names if schema[name].is_float()]
    wanted = [nw.len().alias("rows")]
    for place, name in enumerate(names):
        wanted += [nw.col(name).n_unique().alias(f"n{place}"), nw.col(name).is_null().sum().alias(f"e{place}")]
        if name in broken:
            wanted.append((nw.col(name) != nw.col(name).round(0)).sum().alias(f"f{place}"))
    found = small(frame.select(*wanted))
    facts = {}
    for place, name in enumerate(names):
        empty = int(found[f"e{place}"][0] or 0)
        levels = int(found[f"n{place}"][0]) - (empty > 0)
        facts[name] = levels, empty, name in broken and bool(found[f"f{place}"][0])
    return int(found["rows"][0]), facts


def _kinds(rollouts: Rollouts, names: Sequence[str]) -> tuple[dict[str, Coded], pl.DataFrame]:
    """Policy and labels as numbers, and how many rows there are of each kind, with its least and greatest outcome.

    Where rows are at hand each is a kind; an engine counts those that are alike.
    """
    import narwhals as nw
    import polars as pl

    from surefoot.table.level_codes import coded, codes_of

    outcome, keys = "success" if "success" in rollouts.columns else "score", ("policy", *names)
    value = nw.col(outcome).cast(nw.Float64)
    if rollouts.frame.implementation.is_polars():
        each = home(rollouts.counted().select(value.alias("least"), value.alias("most")))
        return codes_of(rollouts, keys), each.with_columns(rows=pl.lit(1.0))
    ends = (nw.col("value").min().alias("least"), nw.col("value").max().alias("most"))
    there = rollouts.counted().select(*keys, value.alias("value")).group_by(*keys)
    each = home(there.agg(nw.len().cast(nw.Float64).alias("rows"), *ends))
    return {name: coded(each[name]) for name in keys}, each


def _label_column(name: str, found: Coded) -> LabelColumn:
    """A column whose levels are text, in the order of that."""
    import numpy as np
    import polars as pl

    from surefoot.table.column_shapes import LabelColumn

    codes, levels = found.codes, found.levels
    if levels.dtype != pl.String:
        texts = (levels.cast(pl.Int64) if levels.dtype.is_float() else levels).cast(pl.String)
        levels = texts.unique().sort()
        codes = np.append(texts.cast(pl.Enum(levels)).to_physical().cast(pl.Int64).to_numpy(), len(levels))[codes]
    known = levels.to_list()
    every = (*known, None) if found.empty else (*known,)
    return LabelColumn(name, codes, every, whole_numbers(every))


def _fractions(levels: Sequence[str | None]) -> bool:
    """Whether these are numbers, some of which are not whole."""
    numbers = [as_number(level) for level in levels if level is not None]
    return None not in numbers and not all(number.is_integer() for number in numbers if number is not None)


def _labels(policy: Coded, rows: Any, columns: dict[str, LabelColumn]) -> Labels:
    """The labels of a table; rows that are alike are counted where that leaves half as many or fewer."""
    import numpy as np

    from surefoot.table.column_shapes import POLICY, Labels

    made = Labels(policy.codes, policy.size, rows, columns)
    kinds, count = made.cells(POLICY, *columns)
    if 2 * count > len(rows):
        return made
    first = np.zeros(count, dtype=np.int64)
    first[kinds] = np.arange(len(rows))
    fewer = {name: replace(column, codes=column.codes[first]) for name, column in columns.items()}
    return Labels(policy.codes[first], policy.size, np.bincount(kinds, rows).astype(float), fewer)


def _said_again(kinds: pl.DataFrame, columns: Mapping[str, LabelColumn]) -> frozenset[str]:
    """Columns whose levels each hold one outcome only, several in all: they repeat it."""
    import polars as pl

    again = []
    for name, column in columns.items():
        with_level = kinds.select(pl.Series("level", column.codes), "least", "most")
        seen = with_level.group_by("level").agg(pl.col("least").min(), pl.col("most").max())
        if seen.height > 1 and (seen["least"] == seen["most"]).all() and seen["least"].n_unique() > 1:
            again.append(name)
    return frozenset(again)


def declaring(rollouts: Rollouts, roles: Mapping[str, str | Sequence[str] | None]) -> Rollouts:
    """A table with roles that are said."""
    said: dict[str, str] = {}
    for role, words in roles.items():
        if role not in DECLARED:
            raise ValueError(f"a role must be one of {', '.join(DECLARED)}; got {role!r}.")
        for word in (words,) if isinstance(words, str) else words or ():
            key = _column(rollouts, word, role)
            if said.get(key, role) != role:
                raise DataError(f"{word!r} must have one role; got {said[key]} and {role}.", source=rollouts.source)
            said[key] = role
    if sum(role == "unit" for role in said.values()) > 1:
        both = " and ".join(repr(rollouts.called(key)) for key, role in said.items() if role == "unit")
        raise DataError(f"one column must be the unit; got {both}.", source=rollouts.source)
    for key, role in said.items():
        if role == "unit":
            _refuse_own(rollouts, key)
    kept = {key: role for key, role in rollouts.declared.items() if not (role == "unit" and "unit" in said.values())}
    return replace(rollouts, declared={**kept, **said}) if said else rollouts


def _refuse_own(rollouts: Rollouts, key: str) -> None:
    """Refuse a unit of which each policy has its own levels; what a format says is then not paired, and said."""
    levels = [group.key[1] for group in rollouts.summary(by=("policy", key)) if None not in group.key]
    if len(rollouts.policies) > 1 and len(set(levels)) == len(levels):
        name = rollouts.called(key) if key in rollouts.named else key
        raise DataError(
            f"a unit must be met by several policies; each level of {name!r} belongs to one.",
            source=rollouts.source,
            cure=f"Say --run {name} or --cluster {name}.",
        )


def with_unit(rollouts: Rollouts) -> Rollouts:
    """The table in which a cluster, or else a setting, stands for the unit where no column tells units apart."""
    design = rollouts.design
    keys = design.keys("cluster") or design.keys("setting")
    if design.unit is not None or not keys:
        return rollouts
    return replace(rollouts, declared={**rollouts.design_roles(), keys[0]: "unit"})


def _column(rollouts: Rollouts, word: str, role: str) -> str:
    key = rollouts.key(word)
    if key in NO_LABELS and key in rollouts.columns:
        what = "the policy" if key == "policy" else f"the {key}"
        raise DataError(f"a {role} must be another column; {word!r} is {what}.", source=rollouts.source)
    if key not in rollouts.columns:
        raise DataError(f"there must be a column {word!r}; these are there:\n{rollouts.design}", source=rollouts.source)
    return key
