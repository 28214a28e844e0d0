"""NumPy arrays, read without trusting their header and without running anything."""

from __future__ import annotations

import io
import math
import tokenize
import warnings
from typing import TYPE_CHECKING, Any

from surefoot.errors import DataError
from surefoot.files.recognising import PICKLE, TO_CONVERT

if TYPE_CHECKING:
    import numpy as np

BROKEN = (
    *(ValueError, KeyError, TypeError, SyntaxError, EOFError, MemoryError, OverflowError, RecursionError),
    tokenize.TokenError,
)
"""What NumPy raises on a header, which it reads as Python text; a version that it does not know is a KeyError here."""


def numbers(content: bytes, source: str) -> np.ndarray[Any, Any]:
    """A plain numeric array from the bytes of a `.npy` file; arrays of objects are pickles and refused."""
    import numpy as np

    file = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(file)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numpy warns of headers that Python 2 wrote; they are read all the same
            shape, fortran, dtype = read(file)
    except BROKEN as error:
        brief = next(iter(str(error).splitlines()), "")[:120]
        raise DataError(f"the array must have a readable header; {brief}.", source=source) from None
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
