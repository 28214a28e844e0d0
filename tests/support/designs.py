"""What several tests of designs share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

import surefoot as sf
from surefoot.table.column_shapes import LabelColumn, Labels
from surefoot.table.design import whole_numbers
from tests.oracles.roles import roles


def outcome(frame: pl.DataFrame) -> str:
    return "success" if "success" in frame.columns else "score"


def texts(frame: pl.DataFrame) -> dict[str, list[str | None]]:
    """Every column but the policy's and the outcome's, as text."""
    kept = [name for name in frame.columns if name not in ("policy", outcome(frame))]
    return {name: frame[name].cast(pl.String).to_list() for name in kept}


def label_column(name: str, values: Sequence[str | None]) -> LabelColumn:
    """A column of labels from its cells as text."""
    levels = sorted(set(values), key=lambda level: (level is None, level or ""))
    place = {level: at for at, level in enumerate(levels)}
    codes = np.fromiter((place[value] for value in values), dtype=np.int64, count=len(values))
    return LabelColumn(name, codes, tuple(levels), whole_numbers(levels))


def labels_of(frame: pl.DataFrame) -> Labels:
    """The labels of a table, a kind for every row."""
    names = sorted(set(frame["policy"]))
    policy = np.array([names.index(one) for one in frame["policy"]])
    columns = {name: label_column(name, cells) for name, cells in texts(frame).items()}
    return Labels(policy, len(names), np.ones(frame.height), columns)


def twin_roles(frame: pl.DataFrame, *, names: bool = True) -> dict[str, str]:
    """The roles that the slow twin finds."""
    columns = {name: frame[name].to_list() for name in frame.columns if name != outcome(frame)}
    return roles(columns, "policy", frame[outcome(frame)].to_list(), names=names)


def crossed(*, policies: str = "ab", rate: float = 0.6, draw: int = 0, **levels: Any) -> pl.DataFrame:
    """Policies crossed with levels of columns (a number, or the levels), with outcomes at random."""
    frame = pl.DataFrame({"policy": list(policies)})
    for name, of in levels.items():
        values = [f"{name} {place}" for place in range(of)] if isinstance(of, int) else list(of)
        frame = frame.join(pl.DataFrame({name: values}), how="cross")
    won = np.random.default_rng(draw).random(frame.height) < rate
    return frame.with_columns(pl.Series("success", won.astype(int)))


def counted(cells: dict[tuple[str, ...], tuple[int, int]], *columns: str) -> sf.Rollouts:
    """A table from successes and rollouts by policy and columns."""
    rows = [(*key, int(place < k)) for key, (k, n) in cells.items() for place in range(n)]
    return sf.read(pl.DataFrame(rows, schema=["policy", *columns, "success"], orient="row"))
