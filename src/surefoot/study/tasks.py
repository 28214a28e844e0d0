"""Tasks of a study: where each begins, what is said and reset, and its stages."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from surefoot import _check
from surefoot.core.record import Record
from surefoot.study.plan_parts import names, text


@dataclass(frozen=True, slots=True)
class Stage(Record):
    """How far a rollout got, and the points that it has then.

    Attributes:
        name: Its name, such as "grasped".
        points: The score of a rollout that reached it and no later one.
    """

    _schema: ClassVar[int] = 1  # part of a plan's fingerprint
    name: str
    points: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(Record):
    """What is known of one task beyond its name; what is left out is as the plan says for all tasks.

    Attributes:
        name: Its name.
        conditions: Its own initial conditions: poses, objects, scenes.
        instruction: What is read aloud to the robot, or sent to the policy.
        reset: What to do before each rollout, one line for each thing to tick off.
        time_limit: Seconds a rollout may take.
        stages: The stages of a rollout in their order, each with its points.
        success_stage: The stage from which on a rollout is a success; left out, the last.
        failure_tags: What can go wrong, as tags to choose from.
    """

    _schema: ClassVar[int] = 1  # part of a plan's fingerprint
    name: str
    conditions: tuple[str, ...] = ()
    instruction: str = ""
    reset: tuple[str, ...] = ()
    time_limit: float | None = None
    stages: tuple[Stage, ...] = ()
    success_stage: str = ""
    failure_tags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        kept: dict[str, Any] = {
            "conditions": conditions_of(self.conditions, "conditions"),
            "reset": _lines(self.reset),
            "stages": stages_of(self.stages),
            "failure_tags": names(self.failure_tags, "failure_tags"),
        }
        if self.time_limit is not None:
            kept["time_limit"] = _check.positive(self.time_limit, "time_limit")
        for name, value in kept.items():
            object.__setattr__(self, name, value)
        for name in ("name", "instruction", "success_stage"):
            text(getattr(self, name), name)
        check_success(self.stages, self.success_stage)

    def reached(self, stage: str) -> int:
        """How many stages a rollout passed that got as far as `stage`; 0 for none.

        Raises:
            ValueError: The task has no such stage.
        """
        if not stage:
            return 0
        known = [one.name for one in self.stages]
        if stage not in known:
            raise _check.refused("stage", f"be one of {', '.join(known) or 'none: the task names no stages'}", stage)
        return known.index(stage) + 1

    def points(self, stage: str) -> float:
        """The score of a rollout that got as far as `stage`; 0 for none."""
        passed = self.reached(stage)
        return self.stages[passed - 1].points if passed else 0.0

    def succeeds(self, stage: str) -> bool:
        """Whether a rollout that got as far as `stage` is a success."""
        asked = self.success_stage or (self.stages[-1].name if self.stages else "")
        return bool(stage) and self.reached(stage) >= self.reached(asked)


def _lines(value: Any) -> tuple[str, ...]:
    return (text(value, "reset"),) if isinstance(value, str) else names(value, "reset")


def conditions_of(value: Any, name: str) -> tuple[str, ...]:
    """Conditions as names: from a list, from how many there are, or from a table, of which every combination is one.

    Raises:
        TypeError: It is none of these.
        ValueError: A name is there twice.
    """
    if isinstance(value, Mapping):
        parts = [
            [f"{kind} {one}" for one in conditions_of(levels, name)] if isinstance(levels, int) else names(levels, name)
            for kind, levels in value.items()
        ]
        value = [", ".join(one) for one in itertools.product(*parts)] if parts else []
    elif isinstance(value, int) and not isinstance(value, bool):
        value = [str(number) for number in range(1, _check.whole(value, name, least=1) + 1)]
    return names(value, name)


def stages_of(value: Any) -> tuple[Stage, ...]:
    """Stages from a table of names and points, or as they are.

    Raises:
        TypeError: It is no table of names and points.
        ValueError: The points do not rise.
    """
    listed = value.items() if isinstance(value, Mapping) else value
    if not isinstance(listed, Sequence) and listed is value:
        raise _check.mistyped("stages", "be a table such as {grasped = 0.5, placed = 1.0}", value)
    found = [one if isinstance(one, Stage) else _stage(one) for one in listed]
    names([one.name for one in found], "stages")
    points = [one.points for one in found]
    if any(later <= before for before, later in itertools.pairwise([0.0, *points])):
        told = ", ".join(f"{one.name} {one.points:g}" for one in found)
        raise _check.wrong("stages", f"rise in points from above 0, each more than the one before; got {told}.", value)
    return tuple(found)


def _stage(one: Any) -> Stage:
    if isinstance(one, Mapping):
        one = (one.get("name"), one.get("points"))
    if not isinstance(one, tuple | list) or len(one) != 2:
        raise _check.mistyped("stages", "be a table such as {grasped = 0.5, placed = 1.0}", one)
    return Stage(text(one[0], "stages"), _check.real(one[1], "stages"))


def check_success(stages: Sequence[Stage], success_stage: str) -> None:
    """Refuse a success stage that is none of the stages.

    Raises:
        ValueError: There is no such stage.
    """
    if success_stage and success_stage not in [one.name for one in stages]:
        options = ", ".join(one.name for one in stages) or "left out where no stages are named"
        raise _check.refused("success_stage", f"be one of {options}", success_stage)
