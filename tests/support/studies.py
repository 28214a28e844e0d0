"""Studies for the tests: small, in memory, with a clock that can be turned."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

from surefoot.study.deviations import deviations
from surefoot.study.plans import Plan
from surefoot.study.state import Fold
from surefoot.study.stores.memory import MemoryStore
from surefoot.study.studies import Study

LAB = """
title = "Three policies on two arms"
question = "best"
rigs = ["left arm", "right arm"]
operators = ["Ana", "Ben"]
stages = {reached = 0.25, grasped = 0.5, lifted = 0.75, placed = 1}
failure_tags = ["missed grasp", "dropped"]
safety_stops = ["joint limit"]
time_limit = 90

[time_budget]
rollout_minutes = 1.5
reset_minutes = 0.5
hours_a_day = 6

[[policies]]
name = "pi0"
checkpoint = "https://example.org/pi0"
[[policies]]
name = "act"
checkpoint = "0123abcd"
serving = {temperature = 0.1}
[[policies]]
name = "dp"

[[tasks]]
name = "mug"
conditions = {pose = 5}
instruction = "Put the mug on the shelf."
reset = ["mug on the mark", "arm home"]
[[tasks]]
name = "towel"
conditions = 5
stages = {grasped = 0.5, folded = 1}
[[tasks]]
name = "drawer"
conditions = 5
[[tasks]]
name = "cube"
conditions = 5
"""
"""The plan of a lab: three policies, four tasks, twenty conditions, two arms, two people, a rubric and six hours."""


class Clock:
    """Tells the time it was set to."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def on(self, **span: float) -> None:
        self.now += timedelta(**span)


def plan(**changes: Any) -> Plan:
    return Plan(**{"policies": ("new", "old"), "rule": "mixture", "horizon": 40, **changes})


def begun(store: Any = None, clock: Clock | None = None, seed: int = 1, **changes: Any) -> Study:
    """A study whose schedule is known."""
    with patch("surefoot.study.log.secrets.token_hex", return_value=f"{seed:064x}"):
        return Study.create(plan(**changes), MemoryStore() if store is None else store, clock=clock)


def outcomes(seed: int, **rates: float) -> Any:
    """A simulated robot: whether a turn succeeds."""
    rng = random.Random(seed)
    return lambda turn: rng.random() < rates[turn.policy]


def driven(study: Study, robot: Any, turns: int | None = None) -> Study:
    """Run so many turns, or until the study needs none."""
    done = 0
    while (turns is None or done < turns) and (turn := study.next_turn()) is not None:
        study.record(turn, robot(turn), duration=1.0)
        done += 1
    return study


def score(study: Study, block: int) -> dict[str, float]:
    return {turn.policy: study.fold.results[turn.number].score for turn in study.fold.blocks[block]}


def said_of(fold: Fold) -> tuple[str, ...]:
    """The sentences of a study's deviations."""
    return tuple(map(str, deviations(fold)))
