"""What several tests of replays share."""

import numpy as np
import polars as pl


def table(**more):
    rng = np.random.default_rng(1)
    policy = ["new", "old"] * 40
    score = np.where(np.array(policy) == "new", rng.random(80) ** 0.3, rng.random(80)).round(2)
    return pl.DataFrame({"policy": policy, "score": score, **more})
