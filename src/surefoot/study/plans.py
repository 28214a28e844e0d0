"""The plan: what is fixed before the first rollout of a study.

A plan is one readable TOML file. Its fingerprint is the hash of its content: a plan that was changed is another plan.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, get_args

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.record import Record
from surefoot.errors import StudyError
from surefoot.sequential import registry
from surefoot.sequential.registry import Environments, Setting
from surefoot.sequential.rules import checked_futility
from surefoot.study import plan_files
from surefoot.study.amendments import DETAILS
from surefoot.study.item_lists import check_list, checked_items, checked_predictions, list_hash
from surefoot.study.plan_parts import (
    Policy,
    Stage,
    Task,
    TimeBudget,
    check_rigs,
    check_success,
    conditions_of,
    named_parts,
    names,
    part,
    stages_of,
    stations,
    text,
)

StudyClaim = Literal["first better", "either"]
OnCrash = Literal["failure", "void", "retry"]
OnSafetyStop = Literal["failure", "void"]
VOID_REASONS = ("hardware fault", "wrong set-up", "operator error", "safety stop")
OF_THE_BEST = ("within", "budget")
"""What can be said only where the question is which policy is best."""
ADDED: Mapping[str, Any] = {"on_crash": "failure", "futility": 0.0, "question": "ranking", "items": (), "helped_by": ()}
ADDED = {**ADDED, **dict.fromkeys((*OF_THE_BEST, "time_budget")), "instruction": "", "success_stage": ""}
OF_A_LAB = ("policy_details", "task_details", "stages", "failure_tags", "rigs", "operators", "safety_stops")
ADDED = {**ADDED, **dict.fromkeys(OF_A_LAB, ()), "on_safety_stop": "failure", "take_over_minutes": 10.0}
"""Fields that earlier versions' plans lack, and what they amount to there."""
NAMED = ("failure_tags", "rigs", "operators", "safety_stops")
LISTED = ("items", "helped_by")
"""What is declared of a list, and never amended: its order is drawn when the study begins."""
HORIZON = 50
_FITTING: Any = None  # what fits the plan, chosen when none is named
FUTILITY = {"either": 0.02, "first better": 0.005}
"""What a new plan declares as futility: it costs at most 1.5 points of power at the rates of docs/sequential.md."""
RANKED_BY = {"mixture": "holm"}
"""What the first version's plans call the rule that ranks three policies or more, and what it is called now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Record):
    """What a study asks, of which policies, by which rule; fixed before the first rollout.

    Attributes:
        title: What the study is called.
        policies: The policies; every verdict is about the first-named of a pair.
        claim: "first better" spends all error on one side; "either" splits it.
        measure: Whether a rollout's result is a success or a score.
        levels: The rubric's levels, when a score can take only these.
        low: The lowest possible score.
        high: The highest possible score.
        rule: Which sequential rule decides, by its name; when left out, the one that fits best: of two policies
            "exact" for successes, and "mixture" for scores and for more than 500 pairs; "closed" for three to sixteen
            policies, "holm" for more; "race" for the best of two, of more than seven, or with `within`.
        question: What is asked of three policies or more: "ranking", "best", "best or tied", "top M" or "against NAME";
            of two policies "best" asks for a race.
        within: Of the best: how far below it the one named may be.
        budget: Of the best: the most rollouts of all policies together, which sets the horizon.
        confidence: The confidence of the verdict.
        horizon: The most pairs that will be run; left out, 50, or all items of a list.
        margin: A gain that would not matter.
        futility: Stop, undecided, once the chance of a verdict is below this; 0 for never. Left out of a new plan, 0.02
            for "either" and 0.005 for "first better", where the rule can; 0 in what earlier versions wrote.
        environments: How each rollout's environment is drawn; left out, "independent", or "shared" over a list and on
            several rigs or with several operators.
        tasks: The tasks; contexts are tasks crossed with conditions, interleaved.
        conditions: The initial conditions, scenes or items, of all tasks that have none of their own.
        items: A declared list that the verdict is about, met in an order drawn when the study begins. Both policies of
            a pair meet the same item, every item counts, and the verdict says nothing about other items.
        helped_by: A prediction of the result on each item, in the order of the list. It narrows what is told of each
            policy's mean on the whole list, and cannot make it wrong; the verdict does not need it.
        blinded: Whether operators see codes in place of policies.
        time_limit: Seconds a rollout may take, if there is a limit.
        instruction: What is read aloud, or sent to the policy, in a task that has no instruction of its own.
        reset: What to do before each rollout: a line, or a list of things to tick off.
        stages: How far a rollout may get, each stage with its points; `levels` are then made from them.
        success_stage: The stage from which on a rollout is a success; left out, the last.
        failure_tags: What can go wrong, as tags to choose from.
        rigs: The robots or stations. Both rollouts of a pair are on the same one.
        operators: The people who run rollouts. Both rollouts of a pair are by the same one.
        policy_details: What is known of policies beyond their names; `policies` takes such tables as well as names.
        task_details: What is known of tasks beyond their names, likewise.
        time_budget: The time that the study may take; where no horizon is given, it sets it.
        safety_stops: What ends a rollout for safety.
        on_safety_stop: What such a rollout counts as: a failure, or no rollout at all (its pair is void).
        take_over_minutes: For how long a device must have been silent before another is offered its turns.
        void_reasons: Why a pair may be declared not to count.
        on_crash: What a rollout counts as that crashed, ran out of time or gave an unreadable answer: a failure, no
            rollout at all (its pair is void), or one to run again, three times at most.
    """

    _schema: ClassVar[int] = 1  # part of the fingerprint
    policies: tuple[str, ...]
    title: str = "Untitled study"
    claim: StudyClaim = "either"
    measure: Literal["success", "score"] = _FITTING
    levels: tuple[float, ...] = ()
    low: float = 0.0
    high: float = 1.0
    rule: str = _FITTING
    question: str = "ranking"
    within: float | None = None
    budget: int | None = None
    confidence: float = 0.95
    horizon: int = _FITTING
    margin: float = 0.0
    futility: float = _FITTING
    environments: Environments = _FITTING
    tasks: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    helped_by: tuple[float, ...] = ()
    blinded: bool = True
    time_limit: float | None = None
    instruction: str = ""
    reset: str = ""
    stages: tuple[Stage, ...] = ()
    success_stage: str = ""
    failure_tags: tuple[str, ...] = ()
    rigs: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()
    policy_details: tuple[Policy, ...] = ()
    task_details: tuple[Task, ...] = ()
    time_budget: TimeBudget | None = None
    safety_stops: tuple[str, ...] = ()
    on_safety_stop: OnSafetyStop = "failure"
    take_over_minutes: float = 10.0
    void_reasons: tuple[str, ...] = _FITTING
    on_crash: OnCrash = "failure"

    def __post_init__(self) -> None:
        declared: int | None = self.horizon
        self._keep(items=checked_items(self.items))
        self._check_parts()
        fitting: dict[str, Any] = {"environments": "independent", "void_reasons": VOID_REASONS, "measure": "success"}
        fitting |= {"horizon": HORIZON if self.time_budget is None else self._rounds_in_time()}
        if len(self.stations) > 1:
            fitting |= {"environments": "shared"}
        if self.items:
            fitting |= {"horizon": len(self.items), "environments": "shared", "void_reasons": ()}
        if any(task.stages and not task.success_stage for task in self.described):
            fitting |= {"measure": "score"}
        self._keep(**{name: value for name, value in fitting.items() if getattr(self, name) is None})
        self._keep(void_reasons=names(self.void_reasons, "void_reasons"))
        self._check_values()
        self._check_range()
        self._keep(helped_by=checked_predictions(self))
        if self.items:
            check_list(self)
        self._check_question()
        self._check_rule()
        if self.budget is not None:
            self._keep(horizon=self._rounds(declared))
        asked: float | None = self.futility
        futility = usual_futility(self.rule, self.setting) if asked is None else checked_futility(asked)
        self._keep(futility=futility)
        check_rigs(self)

    def _keep(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _check_parts(self) -> None:
        """Names and what is known beyond them."""
        policies, policy_details = named_parts(Policy, self.policies, self.policy_details, "policies")
        tasks, task_details = named_parts(Task, self.tasks, self.task_details, "tasks")
        self._keep(policies=policies, policy_details=policy_details, tasks=tasks, task_details=task_details)
        self._keep(conditions=conditions_of(self.conditions, "conditions"), stages=stages_of(self.stages))
        self._keep(**{name: names(getattr(self, name), name) for name in NAMED})
        reset: Any = self.reset
        self._keep(reset="; ".join(names(reset, "reset")) if isinstance(reset, list | tuple) else reset)
        for name in ("title", "reset", "question", "instruction", "success_stage"):
            text(getattr(self, name), name)
        if len(self.policies) < 2:
            raise _check.wrong("policies", f"name at least two policies; got {len(self.policies)}.", self.policies)
        check_success(self.stages, self.success_stage)
        if self.time_budget is not None:
            self._keep(time_budget=part(TimeBudget, self.time_budget, "time_budget"))

    def _check_values(self) -> None:
        _check.choice(self.measure, "measure", dict.fromkeys(("success", "score")))
        self._keep(horizon=_check.whole(self.horizon, "horizon", least=1))
        choices = {"claim": StudyClaim, "environments": Environments, "on_crash": OnCrash}
        for name, options in {**choices, "on_safety_stop": OnSafetyStop}.items():
            _check.choice(getattr(self, name), name, dict.fromkeys(get_args(options)))
        self._keep(confidence=_check.confidence(self.confidence), margin=_check.margin(self.margin))
        if not isinstance(self.blinded, bool):
            raise _check.mistyped("blinded", "be true or false", self.blinded)
        for name in ("time_limit", "within", "take_over_minutes"):
            if getattr(self, name) is not None:
                self._keep(**{name: _check.positive(getattr(self, name), name)})
        self.budget is None or _check.whole(self.budget, "budget", least=2 * len(self.policies))

    def _check_question(self) -> None:
        if len(self.policies) == 2 and self.question not in ("ranking", "best", "best or tied"):
            hint = "Two policies are compared, or one is found that is the best of both."
            raise _check.refused(
                "question", "be 'ranking' or 'best' for two policies, or left out", self.question, hint
            )
        given = next((name for name in OF_THE_BEST if getattr(self, name) is not None), None)
        if given and not self.question.startswith("best"):
            raise _check.refused(
                given, f"be left out unless {_check.quoted('question')} is 'best'", getattr(self, given)
            )

    def _check_rule(self) -> None:
        named: str | None = self.rule
        self._keep(rule=named or registry.advised(self.setting))
        registry.known(self.rule)
        if self.items and not any(kind.stands(self.setting) for kind in registry.kinds(self.rule)):
            hint = f"Use rule = {registry.advised(self.setting)!r}."
            raise _check.refused("rule", "take a declared list of items", self.rule, hint)

    @property
    def setting(self) -> Setting:
        """What a rule is made from."""
        own = {field.name for field in dataclasses.fields(self)}
        shared = [field.name for field in dataclasses.fields(Setting) if field.name in own]
        return Setting(**{name: getattr(self, name) for name in shared}, population=len(self.items) or None)

    @property
    def in_pairs(self) -> bool:
        """Whether two policies are compared, pair by pair: there are two, and the question is not which is best."""
        return len(self.policies) == 2 and self.question == "ranking"

    @property
    def unit(self) -> str:
        """What the rule counts: a pair of two policies, or a round of more."""
        return "pair" if self.in_pairs else "round"

    @property
    def decides(self) -> str:
        """The name of the rule that decides, as it is called now."""
        return self.rule if self.in_pairs else RANKED_BY.get(self.rule, self.rule)

    @property
    def timed(self) -> bool:
        """Whether its hours make the horizon."""
        return self.time_budget is not None and self.horizon == self.time_budget.rollouts // len(self.policies)

    def _rounds_in_time(self) -> int:
        """The most rounds, or pairs, that the hours allow."""
        budget = self.time_budget
        rollouts = 0 if budget is None else budget.rollouts
        if rollouts < len(self.policies):
            unit = "pair" if len(self.policies) == 2 else "round"
            hint = f"Its hours allow {rollouts:,}."
            raise _check.wrong("time_budget", f"allow one {unit}, of {len(self.policies)} rollouts.", None, hint)
        return rollouts // len(self.policies)

    def _rounds(self, given: int | None) -> int:
        """The most rounds that the budget allows; a horizon need not be given beside it, and must not be another."""
        made: Any = registry.one_of(self.rule, self.setting).made(dataclasses.replace(self.setting, futility=0.0))
        found = int(made.longest)
        if given not in (None, found):
            raise _check.refused("horizon", f"be left out beside a budget, which makes it {found:,}", given)
        return found

    def _check_range(self) -> None:
        if self.measure == "score" and (points := self._points()):
            if self.levels and tuple(self.levels) != points:
                raise _check.refused(
                    "levels", f"be left out beside stages, which make them {list(points)}", self.levels
                )
            self._keep(levels=points, low=points[0], high=points[-1])
        low, high = _check.span(self.low, self.high)
        if not isinstance(self.levels, tuple | list):
            raise _check.mistyped("levels", "be a list of scores", self.levels)
        levels = tuple(_check.real(level, "levels") for level in self.levels)
        if any(not low <= level <= high for level in levels) or list(levels) != sorted(set(levels)):
            raise _check.wrong("levels", f"rise within [{low:g}, {high:g}]; got {list(levels)}.", self.levels)
        if len(levels) == 1:
            raise _check.wrong("levels", f"be at least two, or left out; got {list(levels)}.", self.levels)
        for name, value in (("low", low), ("high", high), ("levels", levels)):
            object.__setattr__(self, name, value)
        if self.measure == "success" and (levels or (low, high) != (0.0, 1.0)):
            raise _check.wrong(("levels", "low", "high"), f"be left out when {_check.quoted('measure')} is 'success'.")

    def joining(self, changes: Mapping[str, Any]) -> tuple[str, ...]:
        """The policies that a change adds at the end, where that is all it changes and the rule allows it."""
        given = changes.get("policies", ())
        after = tuple(given) if isinstance(given, tuple | list) else ()
        size, wider = len(self.policies), dataclasses.replace(self.setting, policies=after)
        grows = any(kind.grows(wider) for kind in registry.kinds(self.decides))
        if not grows or not set(changes) <= {"policies", "policy_details"} or after[:size] != self.policies:
            return ()
        told = self.amended(changes) if after[size:] and "policy_details" in changes else self
        return after[size:] if all(told.policy(name) == self.policy(name) for name in self.policies) else ()

    def _points(self) -> tuple[float, ...]:
        """Every score that stages give; none where there are no stages."""
        points = {stage.points for task in self.described for stage in task.stages}
        return tuple(sorted({0.0, *points})) if points else ()

    def policy(self, name: str) -> Policy:
        """What is known of a policy."""
        return next((one for one in self.policy_details if one.name == name), Policy(name=name))

    def task(self, name: str) -> Task:
        """What a task is: what is said of it, and for the rest what is said of all tasks."""
        own = next((one for one in self.task_details if one.name == name), Task(name=name or "all"))
        usual: dict[str, Any] = {name: getattr(self, name) for name in ("conditions", "instruction", "time_limit")}
        lines = tuple(line for part in self.reset.split(";") if (line := part.strip()))
        usual |= {"reset": lines, "failure_tags": self.failure_tags}
        given = {name: value for name, value in usual.items() if not getattr(own, name) and value}
        if not own.stages:
            given |= {"stages": self.stages, "success_stage": self.success_stage}
        return dataclasses.replace(own, **given)

    @property
    def described(self) -> tuple[Task, ...]:
        """Every task, with all that is known of it; one for all rollouts where none is named."""
        return tuple(self.task(name) for name in self.tasks or ("",))

    @property
    def uneven(self) -> bool:
        """Whether tasks have conditions of their own; each task is then met equally often."""
        return any(task.conditions for task in self.task_details)

    @property
    def stations(self) -> tuple[tuple[str, str], ...]:
        """Every (rig, operator) that a pair may meet; one empty one where neither is named."""
        return stations(self)

    @property
    def contexts(self) -> tuple[tuple[str, str], ...]:
        """Every (task, condition) that a rollout may meet; one empty context when neither is named.

        An item of a list stands where a condition does.
        """
        details = tuple((task.name, task.conditions) for task in self.task_details)
        return _contexts(self.items, self.tasks, self.conditions, details)

    @property
    def fingerprint(self) -> str:
        """The hash of the plan's content."""
        content = self.to_dict()
        kept = _tuples(content)
        for name, usual in ADDED.items():  # a plan of an earlier version keeps its fingerprint
            if kept[name] == usual:
                del content[name]
        return hashlib.sha256(canonical(content).encode()).hexdigest()

    @property
    def worst(self) -> float:
        """The result of a rollout that gave none, where it counts as a failure."""
        if self.measure == "success":
            return False
        return self.levels[0] if self.levels else self.low

    def value(self, result: Any) -> float:
        """A rollout's result as a score in the plan's range.

        Raises:
            StudyError: The result is not one that the plan knows.
        """
        result = result.item() if hasattr(result, "item") and getattr(result, "size", 1) == 1 else result
        if self.measure == "success":
            if not isinstance(result, bool | int | float) or result not in (0, 1):
                raise StudyError(_check.refusal("result", "be true or false", result))
            return float(result)
        if isinstance(result, bool) or not isinstance(result, int | float) or not self.low <= result <= self.high:
            raise StudyError(_check.refusal("result", f"be a score in [{self.low:g}, {self.high:g}]", result))
        if self.levels and float(result) not in self.levels:
            options = ", ".join(f"{level:g}" for level in self.levels)
            raise StudyError(_check.refusal("result", f"be one of the rubric's levels {options}", result))
        return float(result)

    def result_at(self, task: str, stage: str) -> float:
        """The result of a rollout of a task that got as far as a stage; an empty stage is none of them.

        Raises:
            ValueError: The task has no such stage.
        """
        known = self.task(task)
        return known.succeeds(stage) if self.measure == "success" else self.low + known.points(stage)

    def amended(self, changes: Mapping[str, Any]) -> Plan:
        """The plan with some fields changed; a name without a table keeps what is known of it."""
        unknown = sorted(set(changes) - {field.name for field in dataclasses.fields(self)})
        if unknown:
            raise StudyError(f"A plan has no field {', '.join(unknown)}.")
        fixed = [name for name in LISTED if name in changes]
        if fixed:
            raise StudyError(
                f"`{fixed[0]}` cannot be amended: a list and its order are fixed when a study begins. "
                "Create another study for another list."
            )
        freed: dict[str, Any] = {"horizon": None} if self.budget is not None and "budget" in changes else {}
        kept = {
            details: tuple(one for one in getattr(self, details) if one.name in _names_in(changes[listed]))
            for listed, details in DETAILS.items()
            if listed in changes and details not in changes
        }
        if self.measure == "score" and {"stages", "task_details", "tasks"} & set(changes):
            freed |= {"levels": (), "low": 0.0, "high": 1.0} if self._points() and "levels" not in changes else {}
        return dataclasses.replace(self, **{**freed, **kept, **_tuples(changes)})

    def hashed(self, root: Path = Path()) -> Plan:
        """The plan with the hash of every checkpoint that is a file or a folder.

        Raises:
            StudyError: One cannot be hashed, or is not the one that the plan names.
        """
        found = tuple(one.hashed(root) for one in self.policy_details)
        return self if found == self.policy_details else dataclasses.replace(self, policy_details=found)

    @classmethod
    def from_earlier(cls, body: dict[str, Any]) -> dict[str, Any]:
        """The fields of a plan that an earlier version wrote: those that it lacked were the usual ones."""
        return {**ADDED, **body}

    @classmethod
    def from_toml(cls, text: str) -> Self:
        """The plan that a TOML text describes.

        Raises:
            StudyError: The text is not TOML, or not a plan.
        """
        fields = plan_files.fields_in(text)
        try:
            return cls(**{**ADDED, **_tuples(fields)})
        except (ValueError, TypeError) as error:
            raise StudyError(f"The plan cannot be used: {error}") from None

    def to_toml(self) -> str:
        """The plan as a commented file that a person can read and edit, and `from_toml` reads back the same."""
        return plan_files.written(self)

    def __str__(self) -> str:
        names = " v ".join(self.policies)
        where = f"{self.environments} environments"
        if self.items:
            where = f"of a list of {formatting.counted(len(self.items), 'item')} (SHA-256 {list_hash(self)[:16]})"
        return (
            f"{formatting.one_line(self.title)}: {names}, claim {self.claim!r}, {self.rule} rule "
            f"at {formatting.percent(self.confidence)}, at most {self.horizon:,} {self.unit}s, {where}."
        )


def usual_futility(rule: str, setting: Setting) -> float:
    """What a new plan declares as futility: none of a ranking or on a list, or where the rule cannot stop for it."""
    able = setting.population is None and len(setting.policies) == 2 and setting.question == "ranking"
    able = able and any(kind.gives_up for kind in registry.kinds(rule))
    return FUTILITY[setting.claim] if able else 0.0


@lru_cache(maxsize=16)
def _contexts(
    items: tuple[str, ...],
    tasks: tuple[str, ...],
    conditions: tuple[str, ...],
    details: tuple[tuple[str, tuple[str, ...]], ...],
) -> tuple[tuple[str, str], ...]:
    if items:
        return tuple(("", item) for item in items)
    own, usual = dict(details), conditions or ("",)
    return tuple((task, condition) for task in tasks or ("",) for condition in own.get(task) or usual)


def canonical(data: Mapping[str, Any]) -> str:
    """JSON that is the same for the same content."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _names_in(listed: Any) -> list[Any]:
    return [one.get("name") if isinstance(one, Mapping) else getattr(one, "name", one) for one in listed]


def _tuples(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
