"""What several tests of reports share."""

from __future__ import annotations

import numpy as np
import polars as pl

import surefoot as sf


def rollouts(names=("new", "old"), levels=(0.9, 0.3), size=20, scores=False) -> sf.Rollouts:
    rng = np.random.default_rng(2)
    rows = [
        (name, task, bool(rng.random() < level), float(rng.integers(0, 6)) / 5)
        for name, level in zip(names, levels, strict=True)
        for task in ("pour", "fold")
        for _ in range(size)
    ]
    frame = pl.DataFrame(rows, schema=["policy", "task", "success", "score"], orient="row")
    return sf.read(frame if scores else frame.drop("score"))
