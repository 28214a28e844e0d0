"""The design of a table of rollouts: its labels brought home, its roles found and kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from surefoot.core.notes import Note
from surefoot.errors import DataError
from surefoot.table.design import DECLARED, EMPTY, Design, as_number, assigned, whole_numbers
from surefoot.table.normalising import home, small

if TYPE_CHECKING:
    import polars as pl

    from surefoot.table.column_shapes import Labels
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
    frame = _kinds(laid_out(rollouts), left)
    fractions = [name for name in left if name not in rollouts.declared and _fractions(frame[name])]
    barred |= dict.fromkeys(fractions, "fractions")
    left = [name for name in left if name not in barred]
    labels = _labels(frame, left)
    made = assigned(
        labels,
        named=named,
        declared={name: role for name, role in rollouts.declared.items() if name in left},
        barred=barred,
        levels={name: facts[name][0] for name in barred},
        said_again=_said_again(frame, left),
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


def _kinds(rollouts: Rollouts, names: Sequence[str]) -> pl.DataFrame:
    """Rows that are alike in policy and labels: how many there are, and how many outcomes and successes among them."""
    import narwhals as nw
    import polars as pl

    outcome = "success" if "success" in rollouts.columns else "score"
    rows = rollouts.counted().select("policy", *names, nw.col(outcome).cast(nw.Float64).alias("__value__"))
    value = nw.col("__value__")
    each = rows.group_by("policy", *names).agg(
        nw.len().alias("__rows__"), value.count().alias("__known__"), value.min().alias("__least__"),
        value.max().alias("__most__"),
    )  # fmt: skip
    frame = home(each)
    whole = (pl.Float32, pl.Float64)
    texts = (
        (pl.col(name).cast(pl.Int64) if frame.schema[name] in whole else pl.col(name)).cast(pl.String).alias(name)
        for name in names
    )
    return frame.with_columns(*texts)


def _fractions(column: pl.Series) -> bool:
    """Whether a column of text holds numbers, some of which are not whole."""
    broken = False
    for level in column.drop_nulls().unique().to_list():
        number = as_number(level)
        if number is None:
            return False
        broken = broken or not number.is_integer()
    return broken


def _labels(frame: pl.DataFrame, names: Sequence[str]) -> Labels:
    from surefoot.table.column_shapes import LabelColumn, Labels

    columns = {}
    for name in names:
        levels = sorted(frame[name].unique().to_list(), key=lambda level: (level is None, level or ""))
        place = {level: at for at, level in enumerate(levels)}
        codes = frame[name].replace_strict(
            [level for level in levels if level is not None],
            [place[level] for level in levels if level is not None],
            default=place.get(None),
        )
        columns[name] = LabelColumn(name, codes.to_numpy().astype("int64"), tuple(levels), whole_numbers(levels))
    policies = sorted(frame["policy"].unique().to_list())
    policy = frame["policy"].replace_strict(policies, list(range(len(policies)))).to_numpy().astype("int64")
    return Labels(policy, len(policies), frame["__rows__"].to_numpy().astype("float64"), columns)


def _said_again(frame: pl.DataFrame, names: Sequence[str]) -> frozenset[str]:
    """Columns whose levels each hold one outcome only, several in all: they repeat it."""
    import polars as pl

    again = []
    for name in names:
        seen = frame.group_by(name).agg(pl.col("__least__").min(), pl.col("__most__").max())
        if seen.height > 1 and (seen["__least__"] == seen["__most__"]).all() and seen["__least__"].n_unique() > 1:
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
