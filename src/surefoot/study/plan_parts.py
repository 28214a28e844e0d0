"""The parts of a plan as checked values: policies, tasks, rigs and time."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from surefoot import _check
from surefoot.core.record import Record
from surefoot.errors import StudyError

if TYPE_CHECKING:
    from surefoot.study.plans import Plan


P = TypeVar("P", bound=Record)


def names(value: Any, name: str) -> tuple[str, ...]:
    """A list of different names."""
    listed = isinstance(value, tuple | list)
    if not listed or not all(isinstance(item, str) and text(item, name).strip() for item in value):
        raise _check.mistyped(name, "be a list of non-empty names", value)
    if len(set(value)) != len(value):
        raise _check.refused(name, "not repeat a name", list(value))
    return tuple(value)


def text(value: Any, name: str) -> str:
    """A text that can be written."""
    found = _check.instance(value, name, str)
    if any("\ud800" <= letter <= "\udfff" for letter in found):
        raise _check.refused(name, "be whole Unicode text", found)
    return found


def part(kind: type[P], value: Any, field: str) -> P:
    """A part of a plan, from the table that describes it."""
    if isinstance(value, kind):
        return value
    if not isinstance(value, Mapping):
        raise _check.mistyped(field, "be a table", value)
    if "type" in value and "schema" in value:
        return kind.from_dict(value)
    known = {one.name: one for one in dataclasses.fields(kind)}  # type: ignore[arg-type]
    unknown = sorted(set(value) - set(known))
    if unknown:
        hint = f"It may have {', '.join(known)}."
        raise _check.wrong(field, f"have fields that this version knows; got {', '.join(unknown)}.", value, hint)
    lacking = [
        name
        for name, one in known.items()
        if name not in value and one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING
    ]
    if lacking:
        raise _check.wrong(field, f"say `{lacking[0]}`; got {dict(value)!r}.", value)
    return kind(**{name: tuple(one) if isinstance(one, list) else one for name, one in value.items()})


def named_parts(
    kind: type[P], listed: Any, details: Iterable[Any], field: str
) -> tuple[tuple[str, ...], tuple[P, ...]]:
    """The names of a list of names and tables, and what is known of each of them beyond its name.

    Args:
        kind: `Policy` or `Task`.
        listed: Names, tables with a name, or both.
        details: What is known besides.
        field: What the list is called.
    """
    if not isinstance(listed, tuple | list):
        raise _check.mistyped(field, "be a list of non-empty names", listed)
    known: dict[str, P] = {}
    for one in details:
        made = part(kind, one, field)
        known[made.name] = made  # type: ignore[attr-defined]
    order = []
    for one in listed:
        if isinstance(one, Mapping | kind):
            made = part(kind, one, field)
            known[made.name] = made  # type: ignore[attr-defined]
            order.append(made.name)  # type: ignore[attr-defined]
        else:
            order.append(one)
    found = names(tuple(order), field)
    strange = sorted(set(known) - set(found))
    if strange:
        raise _check.wrong(field, f"name those that are described; {', '.join(strange)} is described only.", listed)
    return found, tuple(
        known[name] for name in found if name in known and known[name] != part(kind, {"name": name}, field)
    )


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
    """Stages from a table of names and points, or as they are."""
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
    """Refuse a success stage that is none of the stages."""
    if success_stage and success_stage not in [one.name for one in stages]:
        options = ", ".join(one.name for one in stages) or "left out where no stages are named"
        raise _check.refused("success_stage", f"be one of {options}", success_stage)


_PLAIN = (str, int, float, bool)
_COMMIT = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy(Record):
    """What is known of one policy beyond its name.

    Attributes:
        name: Its name.
        checkpoint: What is served: a file, a folder, a URL, a commit or a model's name.
        sha256: The hash of the checkpoint; computed when the study begins, where it is a file or a folder.
        serving: How it is served, such as {temperature = 0.0, action_horizon = 16}.
        rigs: The rigs on which it may run; left out, all.
        checkpoint_may_change: Whether another checkpoint under this name is still this policy. If not, one that is
            changed after the first result makes the verdict exploratory.
    """

    _schema: ClassVar[int] = 1  # part of a plan's fingerprint
    name: str
    checkpoint: str = ""
    sha256: str = ""
    serving: Mapping[str, Any] = field(default_factory=dict, hash=False)
    rigs: tuple[str, ...] = ()
    checkpoint_may_change: bool = False

    def __post_init__(self) -> None:
        for name in ("name", "checkpoint", "sha256"):
            text(getattr(self, name), name)
        if self.sha256 and not re.fullmatch(r"[0-9a-f]{64}", self.sha256):
            raise _check.refused("sha256", "be 64 hexadecimal digits, or left out", self.sha256)
        object.__setattr__(self, "rigs", names(self.rigs, "rigs"))
        if not isinstance(self.checkpoint_may_change, bool):
            raise _check.mistyped("checkpoint_may_change", "be true or false", self.checkpoint_may_change)
        _check.instance(self.serving, "serving", Mapping)  # type: ignore[type-abstract]
        kept = {text(key, "serving"): _served(value) for key, value in self.serving.items()}
        object.__setattr__(self, "serving", kept)

    def hashed(self, root: Path = Path()) -> Policy:
        """The policy with the hash of its checkpoint, where that is a file or a folder.

        Args:
            root: The folder that a relative path begins at.

        Raises:
            StudyError: The checkpoint cannot be hashed, or is not the one whose hash the plan names.
        """
        where = _place(self, root)
        if where is None:
            return self
        found = checkpoint_hash(where)
        if self.sha256 and self.sha256 != found:
            raise StudyError(
                f"The checkpoint of {self.name} is not the one that the plan names: {where} has SHA-256 "
                f"{found[:16]}, and the plan says {self.sha256[:16]}."
            )
        return replace(self, sha256=found)


def _served(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_served(one) for one in value]
    if not isinstance(value, _PLAIN):
        raise _check.mistyped("serving", "hold texts, numbers, true or false, or lists of them", value)
    return value


def _place(policy: Policy, root: Path) -> Path | None:
    """Where the checkpoint lies here; none for a URL, a commit, or the name of a model kept elsewhere."""
    said = policy.checkpoint
    if not said or "://" in said or _COMMIT.fullmatch(said):
        return None
    where = root / Path(said).expanduser()
    if where.exists():
        return where
    written_as_path = said.startswith((".", "/", "~")) or Path(said).suffix in _SUFFIXES or where.is_symlink()
    if written_as_path:
        hint = "Mend the path, or write a URL or a commit, which is kept as it is said."
        raise StudyError(f"The checkpoint of {policy.name} cannot be hashed: there is no {where}. {hint}")
    return None


_SUFFIXES = frozenset({".pt", ".pth", ".ckpt", ".safetensors", ".bin", ".onnx", ".npz", ".pkl", ".gguf", ".zip"})


def checkpoint_hash(where: Path) -> str:
    """The SHA-256 of a file; of a folder, of the names and hashes of all files in it, in the order of their names."""
    try:
        if where.is_file():
            return _file_hash(where)
        digest = hashlib.sha256()
        files = sorted(_files(where), key=lambda one: one.relative_to(where).as_posix())
        for one in files:
            digest.update(f"{one.relative_to(where).as_posix()}\n{_file_hash(one)}\n".encode())
    except (OSError, UnicodeEncodeError) as error:
        raise StudyError(f"The checkpoint {where} cannot be hashed: {error}.") from None
    if not files:
        raise StudyError(f"The checkpoint {where} cannot be hashed: it is neither a file nor a folder with files.")
    return digest.hexdigest()


def _files(folder: Path) -> list[Path]:
    def refuse(error: OSError) -> None:
        raise error

    walked: Sequence[tuple[str, list[str], list[str]]] = list(os.walk(folder, onerror=refuse))
    return [Path(place) / name for place, _, inside in walked for name in inside]


def _file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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


def stations(plan: Plan) -> tuple[tuple[str, str], ...]:
    """Every (rig, operator) that a pair may meet; one empty one where neither is named."""
    shared = [rig for rig in plan.rigs if all(rig in (one.rigs or plan.rigs) for one in plan.policy_details)]
    return tuple((rig, operator) for rig in shared or ("",) for operator in plan.operators or ("",))


def check_rigs(plan: Plan) -> None:
    """Refuse rigs that cannot be met, and environments that a pair on one rig contradicts."""
    for policy in plan.policy_details:
        if strange := [rig for rig in policy.rigs if rig not in plan.rigs]:
            hint = f"{policy.name} may run on {', '.join(policy.rigs)}."
            raise _check.refused("rigs", f"name {', '.join(strange)}", list(plan.rigs), hint)
    allowed = {name: plan.policy(name).rigs or plan.rigs for name in plan.policies}
    if unused := [rig for rig in plan.rigs if not any(rig in rigs for rigs in allowed.values())]:
        hint = "No policy may run there."
        raise _check.refused("rigs", f"leave out {', '.join(unused)}", list(plan.rigs), hint)
    if plan.rigs and not any(all(rig in rigs for rigs in allowed.values()) for rig in plan.rigs):
        told = "; ".join(f"{name}: {', '.join(rigs)}" for name, rigs in allowed.items())
        hint = "Both rollouts of a pair run on one rig."
        raise _check.wrong("rigs", f"name one on which every policy may run; got {told}.", plan.rigs, hint)
    met, places = len(plan.contexts), len(plan.stations)
    if plan.environments == "one" and met * places > 1:
        hint = "Use 'shared' (both policies meet the same one), or 'independent'."
        if places > 1:
            hint = "Use 'shared' (both policies meet the same one)."
        what = f"{met} tasks and conditions" if places == 1 else f"{met * places} rigs, operators, tasks and conditions"
        raise _check.wrong("environments", f"not be 'one' with {what} to run in.", plan.environments, hint)
    if plan.environments == "independent" and places > 1:
        hint = "Use 'shared', or 'stratified' where each rollout draws its own condition within its task."
        must = "not be 'independent' where both rollouts of a pair share their rig or operator"
        raise _check.refused("environments", must, plan.environments, hint)
