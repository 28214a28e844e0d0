"""Tables of a declared list that several tests share."""

import numpy as np
import polars as pl


def listed(items=120, run=80, *, in_full=True, seed=5):
    """Successes on a list, in the order drawn: part of the first policy's, and all of the second's if run in full."""
    rng = np.random.default_rng(seed)
    hard = rng.random(items)
    old = (hard < 0.5).astype(int)
    new = np.where(rng.random(items) < 0.3, 1, old)
    forecast = np.clip(1.0 - hard + 0.1 * rng.standard_normal(items), 0.0, 1.0).round(3)
    order = rng.permutation(items)
    rows = [("old", f"item-{i}", old[i], forecast[i]) for i in (range(items) if in_full else order[:run])]
    rows += [("new", f"item-{i}", new[i], forecast[i]) for i in order[:run]]
    return pl.DataFrame(rows, schema=["policy", "item", "success", "guess"], orient="row"), new.mean() - old.mean()
