"""What several tests of ranking replays share."""

import numpy as np
import polars as pl

NAMES = ("a", "b", "c")


def outcomes(rates, size, seed):
    return (np.random.default_rng(seed).random((size, len(rates))) < rates).astype(int)


def table(rows, names=NAMES, **more):
    size = len(rows)
    columns = {"policy": [name for _ in range(size) for name in names], "success": rows.ravel().tolist()}
    return pl.DataFrame(columns | {key: [value for value in values for _ in names] for key, values in more.items()})
