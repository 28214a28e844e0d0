"""Any column as what is measured: a table whose success or score is that column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from surefoot.core import formatting
from surefoot.errors import DataError
from surefoot.table import cells
from surefoot.table.normalising import home

if TYPE_CHECKING:
    import polars as pl

    from surefoot.table.rollouts import Measure, Rollouts

SHOWN = 6
"""Rows that a refusal names."""


def column_of(rollouts: Rollouts, measure: str) -> str:
    """The table's column that a measure names."""
    key = rollouts.key(measure)
    if key not in rollouts.columns or key == "policy":
        there = [rollouts.called(name) for name in rollouts.columns if name != "policy"]
        raise DataError(
            f"a measure must be a column; {measure!r} is {'the policy' if key == 'policy' else 'none'}. "
            f"There are {formatting.some_names(list(map(repr, there)), 12)}.",
            source=rollouts.source,
        )
    return key


def is_yes_or_no(rollouts: Rollouts, key: str) -> bool:
    """Whether all cells of a column say yes or no, or are empty."""
    import polars as pl

    frame = home(rollouts.counted().select(key))
    cell = cells.by_polars("success", key, frame.schema[key], rollouts.source)
    return not bool(frame.select((cell.bad & pl.col(key).is_not_null()).any()).item())


def measuring(
    rollouts: Rollouts, measure: str, kind: Measure, policies: Sequence[str], *, limit: float | None = None
) -> Rollouts:
    """The table whose success or score is another column; every other column keeps its role.

    Args:
        rollouts: The table.
        measure: The column, as the file calls it.
        kind: Whether the column says yes or no ("success"), or holds numbers ("score").
        policies: Whose rows must have the measure.
        limit: The most that a number can be; the least is then 0.

    Raises:
        DataError: Rows lack the measure, or hold no number, or one outside its range.
    """
    import narwhals as nw
    import polars as pl

    key = column_of(rollouts, measure)
    frame = home(rollouts.frame).with_row_index("__row__", offset=1)
    low, high = (rollouts.low, rollouts.high) if limit is None else (0.0, limit)
    cell = cells.by_polars(kind, key, frame.schema[key], rollouts.source)
    asked = pl.col("policy").is_in(list(policies))
    asked = asked & (pl.col("valid") == 1) if "valid" in rollouts.columns else asked
    own = frame.filter(asked).select("__row__", value=cell.value, bad=cell.bad & pl.col(key).is_not_null())
    what = "yes or no (1 or 0)" if kind == "success" else "a number"
    _refuse(rollouts, own.filter("bad"), f"`{measure}` must be {what}", "hold something else")
    _refuse(rollouts, own.filter(pl.col("value").is_null()), f"every row must have `{measure}`", "lack it")
    if kind == "score":
        out = own.filter(~pl.col("value").is_between(low, high))
        must = f"`{measure}` must lie between {low:g} and {high:g}, the limit"
        _refuse(rollouts, out, must, "do not", "A timeout counts the limit: write the limit there, or raise it.")
    if key == kind and limit is None:
        return rollouts
    made = frame.drop("__row__").with_columns(cell.value.alias(kind))
    if key != kind:
        made = made.drop("human", strict=False)  # labels are of the judge's outcome
    roles = {**rollouts.design_roles(), **({} if key in ("success", "score") else {key: "ignore"})}
    return replace(rollouts, frame=nw.from_native(made.lazy()), low=low, high=high, declared=roles)


def _refuse(rollouts: Rollouts, rows: pl.DataFrame, must: str, what: str, cure: str = "") -> None:
    if rows.height:
        places = formatting.some_names([f"{row:,}" for row in rows["__row__"].to_list()], SHOWN)
        many = f"{formatting.rollouts(rows.height, rollouts.words)} {what if rows.height > 1 else _singular(what)}"
        raise DataError(f"{must}; {many}: row {places}.", source=rollouts.source, cure=cure)


def _singular(what: str) -> str:
    return {"hold something else": "holds something else", "lack it": "lacks it", "do not": "does not"}[what]
