"""What several tests of judge corrections share."""

from __future__ import annotations

import polars as pl


def judged(true_pass=40, false_fail=5, false_pass=4, true_fail=31, passed=120, failed=80, policy="new"):
    """A table of one policy from counts: labelled rollouts first, then those that only the judge saw."""
    kinds = [(1, 1.0, true_pass), (0, 1.0, false_fail), (1, 0.0, false_pass), (0, 0.0, true_fail)]
    kinds += [(1, None, passed), (0, None, failed)]
    rows = [(policy, "judge-1", said, human) for said, human, count in kinds for _ in range(count)]
    return pl.DataFrame(
        rows,
        schema={"policy": pl.String, "judge": pl.String, "success": pl.Int64, "human": pl.Float64},
        orient="row",
    )
