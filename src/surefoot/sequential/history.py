"""The past of a state, shared between states and copied never."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, overload

import numpy as np

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats


class Trail(Sequence[float]):
    """Numbers in the order they came: never changed, but cheap to grow.

    Trails grown from one another share one buffer and differ in how much of it they see. A number is written only
    behind the last one that any of them sees; where two trails grow from the same one, the later gets a buffer of its
    own.
    """

    __slots__ = ("_buffer", "_size")

    def __init__(self, values: Iterable[float] = ()) -> None:
        self._buffer = array("d", values)
        self._size = len(self._buffer)

    def grown(self, value: float) -> Trail:
        """The trail with one more number."""
        buffer = self._buffer
        if len(buffer) == self._size:
            buffer.append(value)
        # Checked after writing, so that two threads growing one trail cannot both keep the place.
        if len(buffer) != self._size + 1 or buffer[self._size] != value:
            buffer = self._buffer[: self._size]
            buffer.append(value)
        trail = Trail()
        trail._buffer, trail._size = buffer, self._size + 1
        return trail

    def array(self) -> Floats:
        """The numbers as an array of their own."""
        return np.array(self._buffer[: self._size], np.float64)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[float]:
        return iter(self._buffer[: self._size])

    @overload
    def __getitem__(self, index: int) -> float: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[float, ...]: ...
    def __getitem__(self, index: int | slice) -> float | tuple[float, ...]:
        if isinstance(index, slice):
            return tuple(self._buffer[place] for place in range(*index.indices(self._size)))
        if not -self._size <= index < self._size:
            raise IndexError(index)
        return self._buffer[index % self._size]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trail) and self._buffer[: self._size] == other._buffer[: other._size]

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Trail({list(self)})"
