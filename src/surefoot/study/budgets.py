"""Rollouts that fit into a lab's hours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from surefoot import _check
from surefoot.core.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeBudget(Record):
    """The time that a study may take.

    Attributes:
        rollout_minutes: Minutes that a rollout takes.
        reset_minutes: Minutes between two rollouts, to reset and to score.
        hours_a_day: Hours a day, of all rigs that run one after another.
        days: Days.
        rigs_at_once: How many rigs run at the same time.
    """

    _schema: ClassVar[int] = 1  # part of a plan's fingerprint
    rollout_minutes: float
    reset_minutes: float = 0.0
    hours_a_day: float = 8.0
    days: float = 1.0
    rigs_at_once: int = 1

    def __post_init__(self) -> None:
        kept: dict[str, Any] = {
            name: _check.positive(getattr(self, name), name) for name in ("rollout_minutes", "hours_a_day", "days")
        }
        kept["reset_minutes"] = _check.real(self.reset_minutes, "reset_minutes")
        kept["rigs_at_once"] = _check.whole(self.rigs_at_once, "rigs_at_once", least=1)
        if kept["reset_minutes"] < 0.0:
            raise _check.refused("reset_minutes", "be 0 or more", self.reset_minutes)
        if kept["hours_a_day"] > 24.0:
            raise _check.refused("hours_a_day", "be at most 24", self.hours_a_day)
        for name, value in kept.items():
            object.__setattr__(self, name, value)

    @property
    def hours(self) -> float:
        """All hours together."""
        return self.hours_a_day * self.days

    @property
    def rollouts(self) -> int:
        """How many rollouts fit in."""
        each = (self.rollout_minutes + self.reset_minutes) / 60.0
        return int(self.hours / each * (1.0 + 1e-12)) * self.rigs_at_once

    def hours_for(self, rollouts: float) -> float:
        """The hours that so many rollouts take."""
        return rollouts * (self.rollout_minutes + self.reset_minutes) / 60.0 / self.rigs_at_once
