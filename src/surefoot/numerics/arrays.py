"""Array types for annotations, and long work cut so that one process, many cores or a cluster give the same numbers.

Work is cut into blocks whose number and seeds depend on the work alone, never on who does it. joblib hands them out,
where the caller has told it to: `with joblib.parallel_config(backend="dask"): ...`. It is not needed otherwise.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
T = TypeVar("T")


LOOKED_UP = 1 << 16
"""Up to this many numbers are looked up in a list; of more, they are sorted."""


def numbered(codes: Ints, most: int) -> tuple[Ints, int]:
    """Numbers below `most` replaced by their places among those that occur, in order, and how many do."""
    if most > 4 * len(codes) + LOOKED_UP:
        known, places = np.unique(codes, return_inverse=True)
        return places, len(known)
    there = np.zeros(most, dtype=np.bool_)
    there[codes] = True
    count = int(np.count_nonzero(there))
    return (codes if count == most else (np.cumsum(there) - 1)[codes]), count


def spread(work: Callable[..., T], blocks: Sequence[tuple[Any, ...]]) -> list[T]:
    """What `work` gives for the arguments of each block, in order; wherever joblib was told to run it."""
    joblib: Any = sys.modules.get("joblib")  # who configures it has imported it; importing it here would be slow
    if joblib is None or len(blocks) < 2:
        return [work(*block) for block in blocks]
    found: list[T] = joblib.Parallel()(joblib.delayed(_aligned)(work, *block) for block in blocks)
    return found


def _aligned(work: Callable[..., T], *arguments: Any) -> T:
    """`work` on arrays that begin where a number may: those that Dask hands over do not, and are half as fast."""
    return work(*(np.require(one, requirements="A") if isinstance(one, np.ndarray) else one for one in arguments))


def seeded(rows: int, most: int, rng: np.random.Generator) -> list[tuple[int, np.random.Generator]]:
    """Blocks of at most `most` rows, each with a generator of its own.

    A single block keeps `rng`. More blocks get streams that are independent of one another, named by a draw from
    `rng`: so the state of `rng` decides everything, and it moves on.
    """
    sizes = [min(most, rows - start) for start in range(0, rows, most)]
    if len(sizes) < 2:
        return [(size, rng) for size in sizes]
    root = np.random.SeedSequence(rng.integers(0, 1 << 32, size=8, dtype=np.uint64).tolist())
    return list(zip(sizes, map(np.random.default_rng, root.spawn(len(sizes))), strict=True))
