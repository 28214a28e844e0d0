"""NumPy `.npy` of shape (N, 2): two policies, one column each, one row per rollout in the order they were run."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Any

import polars as pl

from surefoot.errors import DataError
from surefoot.rollouts.heads import PICKLE, TO_CONVERT, Head
from surefoot.rollouts.sheets import Sheet

if TYPE_CHECKING:
    import numpy as np


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
            "policy": ["policy 0"] * count + ["policy 1"] * count,
            "order": [*range(1, count + 1)] * 2,
            "success" if binary else "score": [*values[:, 0].tolist(), *values[:, 1].tolist()],
        }
    )
    note = "Column 0 is called 'policy 0' and column 1 'policy 1'; rows are in the order they were run."
    return Sheet(frame, "NumPy array", (note,))


def numbers(content: bytes, source: str) -> np.ndarray[Any, Any]:
    """A plain numeric array, read without trusting its header."""
    import numpy as np

    file = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(file)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, fortran, dtype = read(file)
    except (ValueError, KeyError, TypeError, SyntaxError, EOFError, MemoryError, OverflowError) as error:
        raise DataError(f"the array must have a readable header; {str(error)[:120]}.", source=source) from None
    if dtype.hasobject:
        raise DataError(
            f"the array must hold plain numbers; it holds pickled objects. {PICKLE} {TO_CONVERT}", source=source
        )
    if dtype.kind not in "biuf":
        raise DataError(f"the array must hold numbers; got type {dtype}.", source=source)
    want, got = math.prod(shape) * dtype.itemsize, len(content) - file.tell()
    if want != got or any(side < 0 for side in shape):
        raise DataError(f"the array must hold {want:,} bytes after its header; got {got:,}.", source=source)
    flat = np.frombuffer(content, dtype=dtype, offset=file.tell())
    return flat.reshape(shape, order="F" if fortran else "C")
