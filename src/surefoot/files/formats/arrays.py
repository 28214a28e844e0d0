"""NumPy `.npy` of shape (N, 2): two policies, one column each, one row per rollout in the order they were run."""

from __future__ import annotations

import polars as pl

from surefoot.errors import DataError
from surefoot.files.array_files import numbers
from surefoot.files.importers import About, Sheet
from surefoot.files.recognising import Head

ABOUT = About(
    name="NumPy pairs",
    file="pairs.npy of shape (N, 2), the input of STEP",
    becomes="two policies, one column each; one row per trial",
    example="surefoot compare pairs.npy --policy new --policy old --first new --second old",
)

NAMES = ("policy 0", "policy 1")


def recognises(head: Head) -> bool:
    """NumPy files say so in their first bytes."""
    return head.start.startswith(b"\x93NUMPY")


def load(head: Head) -> Sheet:
    """Column 0 is the first policy, column 1 the second; binary values are successes, others scores."""
    array = numbers(head.path.read_bytes(), head.name)
    if array.ndim != 2 or array.shape[1] != 2:
        raise DataError(
            f"a .npy file must have the shape (N, 2), one column per policy; got {array.shape}. "
            "Write other shapes to a CSV file with policy and success columns.",
            source=head.name,
        )
    values = array.astype("float64")
    binary = bool(((values == 0.0) | (values == 1.0)).all())
    count = len(values)
    frame = pl.LazyFrame(
        {
            "policy": [name for name in NAMES for _ in range(count)],
            "order": [*range(1, count + 1)] * 2,
            "success" if binary else "score": [*values[:, 0].tolist(), *values[:, 1].tolist()],
        }
    )
    note = "Column 0 is called 'policy 0' and column 1 'policy 1'; rows are in the order they were run."
    return Sheet(frame, "NumPy array", (note,), unnamed=NAMES)
