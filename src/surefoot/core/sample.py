"""What all data kept in results have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from surefoot.core.record import Record

if TYPE_CHECKING:
    from surefoot.core.tally import Tally


@dataclass(frozen=True, slots=True)
class Sample(Record):
    """What rollouts gave: the input of a statistic, kept in its result."""

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the greatest value that a rollout could have given."""
        return 0.0, 1.0

    @property
    def tallies(self) -> tuple[Tally, ...]:
        """Successes among rollouts, policy by policy; none where scores were kept."""
        return ()

    @property
    def paired(self) -> bool:
        """Whether both policies of a comparison are in it, pair by pair."""
        return False

    @property
    def mirrored(self) -> Self:
        """The same with the policies swapped."""
        return self
