"""One random policy for each environment that several met, so that rollouts of different policies share none."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from surefoot import _check
from surefoot.errors import DataError

if TYPE_CHECKING:
    import numpy as np

    from surefoot.table.rollouts import Rollouts


def thinned(rollouts: Rollouts, rng: np.random.Generator | int) -> Rollouts:
    """One random policy kept per shared environment; see `Rollouts.thin`."""
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
