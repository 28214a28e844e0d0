"""What is fixed before the first rollout of a study?

A plan is one readable TOML file. Its fingerprint is the hash of its content: a plan that was changed is another plan.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, get_args

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.record import Record
from surefoot.errors import StudyError
from surefoot.sequential import registry
from surefoot.sequential.registry import Environments, Setting
from surefoot.sequential.rules import checked_futility
from surefoot.study.item_lists import check_list, checked_items, checked_predictions, list_hash

FIELDS = {
    "title": "What the study is called.",
    "policies": "The policies. Every verdict is about the first one.",
    "claim": '"either" asks which is better; "first better" asks only whether the first is, and needs fewer rollouts.',
    "measure": 'What a rollout gives: "success" (yes or no) or "score" (a number in a range fixed here).',
    "low": "The lowest score possible.",
    "high": "The highest score possible.",
    "levels": "The rubric, when a score can take only these values.",
    "rule": "The rule that decides:",
    "question": (
        "What is asked of three policies or more:\n"
        '  "ranking"       every place\n'
        '  "best"          which one is better than all others; of two, and of more than seven, perhaps tied\n'
        '  "best or tied"  one that no other is better than\n'
        '  "against NAME"  each against one of them'
    ),
    "within": "Of the best: how far below it the one named may be, such as 0.05; it needs fewer rollouts.",
    "budget": "Of the best: the most rollouts of all policies together, in place of a horizon.",
    "confidence": "The confidence of the verdict, over all looks together.",
    "horizon": "The most pairs that will be run. Choose too many rather than too few: a later increase "
    "is an amendment.",
    "margin": "A gain that would not matter (0 for none).",
    "futility": (
        "Stop, undecided, once the chance of a verdict is below this (0 for never). It saves a third of the pairs\n"
        "when the policies are equal, and costs about one percentage point of power."
    ),
    "environments": (
        "How the environment of each rollout is drawn:\n"
        '  "independent"  each rollout draws its own task and condition at random\n'
        '  "shared"       both policies of a pair meet the same task and condition\n'
        "                 (fewer rollouts if the outcomes of a pair are alike)\n"
        '  "stratified"   both policies of a pair meet the same kind of environment, each drawn afresh\n'
        '  "one"          every rollout is in the same environment'
    ),
    "tasks": "The tasks; the study mixes them.",
    "conditions": "The initial conditions, scenes or items; the study mixes them too.",
    "items": (
        "A declared list, in place of tasks and conditions: both policies meet each item once, in an order drawn at\n"
        "random when the study begins. The verdict is about what a complete run of this list would show. It takes far\n"
        "fewer pairs, and says nothing about other items. The list cannot be changed later."
    ),
    "helped_by": "A prediction of the result on each item, in the order of the list: from a simulator or "
    "earlier policies.",
    "blinded": "If true, the person who judges a rollout sees a code instead of the policy's name.",
    "time_limit": "Seconds a rollout may take.",
    "reset": "What to do before each rollout; shown to the operator.",
    "void_reasons": "Why a pair may be declared not to count. Failing is not a reason.",
    "on_crash": (
        "How to count a rollout that crashed, ran out of time or gave an unreadable answer:\n"
        '  "failure"      a failure; of scores, the lowest\n'
        '  "void"         its pair does not count, and another is run\n'
        '  "retry"        it is run again, three times at most; the report says how often, policy by policy'
    ),
}
RANKED = {
    "futility": (
        "Pause two policies once the chance to tell them apart within the horizon is below this: 0.05 is careful,\n"
        "0.1 saves more, 0 for never. Pausing cannot make a claim wrong."
    ),
    "policies": "The policies. One more can be added while the study runs, by an amendment, with no more "
    "risk of error.",
}
"""What is said of three policies or more in another way."""
EXAMPLES = {
    "levels": [0.0, 0.5, 1.0],
    "tasks": ["place mug", "fold towel"],
    "conditions": ["lid left", "lid right"],
    "items": ["issue 1", "issue 2"],
    "time_limit": 90.0,
    "reset": "Put the mug on the blue mark.",
    "within": 0.05,
    "budget": 500,
}
HEAD = """\
# The plan of a study, for `surefoot study create`. All of it is fixed before the first rollout and fingerprinted.
# A later change of the question, the rule, the confidence, the horizon or the range is possible (an amendment, with a
# reason), but after the first result it makes the verdict exploratory, and the report says so. A decision is final:
# after it, none of these can be changed.
"""


def written(plan: Plan) -> str:
    """The plan as commented TOML; what was left out stands as a commented example."""
    lines = [HEAD]
    for name, comment in FIELDS.items():
        if plan.measure == "success" and name in ("low", "high", "levels"):
            continue
        value, many = getattr(plan, name), not plan.in_pairs
        if name in OF_THE_BEST and not plan.question.startswith("best"):
            continue
        if name == "horizon" and plan.budget is not None:
            continue
        if (name == "question" and not many) or (name == "items" and many) or (name == "helped_by" and not value):
            continue
        if many:  # what is a pair of two is a round of more
            comment = comment.replace("pair", "round").replace("both policies", "all policies")
            comment = RANKED.get(name, comment) if registry.kinds(plan.decides)[0].widens else comment
        if name == "rule":
            comment = "\n".join((comment, *_rules(plan)))
        lines += [f"# {part}" for part in comment.split("\n")]
        left_out = name in EXAMPLES and not value
        shown = EXAMPLES[name] if left_out else value
        text = _toml_lines(value) if name in LISTED and value else _toml(shown)
        lines += [f"{'# ' if left_out else ''}{name} = {text}", ""]
    return "\n".join(lines)


def _rules(plan: Plan) -> list[str]:
    """A line for every rule that fits."""
    those = registry.fitting(plan.setting)
    width = max(len(kind.name) for kind in those) + 2
    return [f"  {json.dumps(kind.name):<{width}}  {kind.summary}" for kind in those]


def _toml(value: Any) -> str:
    """One value; JSON writes strings, numbers and lists as TOML reads them, but for the delete character."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).replace("\x7f", "\\u007f")


def _toml_lines(values: Sequence[Any]) -> str:
    """A long list, a line for each value."""
    return "\n".join(["[", *(f"    {_toml(value)}," for value in values), "]"])


StudyClaim = Literal["first better", "either"]
OnCrash = Literal["failure", "void", "retry"]
VOID_REASONS = ("hardware fault", "wrong set-up", "operator error", "safety stop")
OF_THE_BEST = ("within", "budget")
"""What can be said only where the question is which policy is best."""
BINDING = (
    "policies",
    *OF_THE_BEST,
    "measure",
    "levels",
    "low",
    "high",
    "rule",
    "claim",
    "question",
    "confidence",
    "horizon",
    "margin",
    "futility",
    "environments",
    "on_crash",
    "tasks",
    "conditions",
    "time_limit",
)
"""What may not change after the first result without making the verdict exploratory."""
UNBOUND: Mapping[int, frozenset[str]] = dict.fromkeys((1, 2), frozenset({"tasks", "conditions", "time_limit"}))
"""What logs of earlier schemas were free to change: they are read as they were declared."""


def binding(names: Iterable[str], schema: int) -> list[str]:
    """Those of the names whose change after a result makes the verdict of a log of this schema exploratory."""
    return [name for name in names if name in BINDING and name not in UNBOUND.get(schema, ())]


ADDED: Mapping[str, Any] = {"on_crash": "failure", "futility": 0.0, "question": "ranking", "items": (), "helped_by": ()}
ADDED = {**ADDED, **dict.fromkeys(OF_THE_BEST)}
"""Fields that earlier versions' plans lack, and what they amount to there."""
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
            "exact" for successes, and "mixture" for scores and for more than 500 pairs; "closed" for three to seven
            policies, "holm" for more; "race" for the best of two, of more than seven, or with `within`.
        question: What is asked of three policies or more: "ranking", "best", "best or tied" or "against NAME"; of two
            policies "best" asks for a race.
        within: Of the best: how far below it the one named may be.
        budget: Of the best: the most rollouts of all policies together, which sets the horizon.
        confidence: The confidence of the verdict.
        horizon: The most pairs that will be run; left out, 50, or all items of a list.
        margin: A gain that would not matter.
        futility: Stop, undecided, once the chance of a verdict is below this; 0 for never. Left out of a new plan, 0.02
            for "either" and 0.005 for "first better", where the rule can; 0 in what earlier versions wrote.
        environments: How each rollout's environment is drawn; left out, "independent", or "shared" over a list.
        tasks: The tasks; contexts are tasks crossed with conditions, interleaved.
        conditions: The initial conditions, scenes or items.
        items: A declared list that the verdict is about, met in an order drawn when the study begins. Both policies of
            a pair meet the same item, every item counts, and the verdict says nothing about other items.
        helped_by: A prediction of the result on each item, in the order of the list. It narrows what is told of each
            policy's mean on the whole list, and cannot make it wrong; the verdict does not need it.
        blinded: Whether operators see codes in place of policies.
        time_limit: Seconds a rollout may take, if there is a limit.
        reset: What to do before each rollout.
        void_reasons: Why a pair may be declared not to count.
        on_crash: What a rollout counts as that crashed, ran out of time or gave an unreadable answer: a failure, no
            rollout at all (its pair is void), or one to run again, three times at most.
    """

    _schema: ClassVar[int] = 1  # part of the fingerprint
    policies: tuple[str, ...]
    title: str = "Untitled study"
    claim: StudyClaim = "either"
    measure: Literal["success", "score"] = "success"
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
    reset: str = ""
    void_reasons: tuple[str, ...] = _FITTING
    on_crash: OnCrash = "failure"

    def __post_init__(self) -> None:
        declared: int | None = self.horizon
        object.__setattr__(self, "items", checked_items(self.items))
        fitting: dict[str, Any] = {"horizon": HORIZON, "environments": "independent", "void_reasons": VOID_REASONS}
        if self.items:
            fitting = {"horizon": len(self.items), "environments": "shared", "void_reasons": ()}
        for name, value in fitting.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)
        for name in ("policies", "tasks", "conditions", "void_reasons"):
            object.__setattr__(self, name, _names(getattr(self, name), name))
        for name in ("title", "reset", "question"):
            _text(getattr(self, name), name)
        if len(self.policies) < 2:
            raise _check.wrong("policies", f"name at least two policies; got {len(self.policies)}.", self.policies)
        _check.choice(self.measure, "measure", dict.fromkeys(("success", "score")))
        object.__setattr__(self, "horizon", _check.whole(self.horizon, "horizon", least=1))
        for name, options in (("claim", StudyClaim), ("environments", Environments), ("on_crash", OnCrash)):
            _check.choice(getattr(self, name), name, dict.fromkeys(get_args(options)))
        object.__setattr__(self, "confidence", _check.confidence(self.confidence))
        object.__setattr__(self, "margin", _check.margin(self.margin))
        if not isinstance(self.blinded, bool):
            raise _check.mistyped("blinded", "be true or false", self.blinded)
        if self.time_limit is not None:
            object.__setattr__(self, "time_limit", _check.positive(self.time_limit, "time_limit"))
        if self.within is not None:
            object.__setattr__(self, "within", _check.positive(self.within, "within"))
        self.budget is None or _check.whole(self.budget, "budget", least=2 * len(self.policies))
        self._check_range()
        object.__setattr__(self, "helped_by", checked_predictions(self))
        if self.items:
            check_list(self)
        if len(self.policies) == 2 and self.question not in ("ranking", "best", "best or tied"):
            hint = "Two policies are compared, or one is found that is the best of both."
            raise _check.refused("question", "be 'ranking' or 'best' for two policies", self.question, hint)
        given = next((name for name in OF_THE_BEST if getattr(self, name) is not None), None)
        if given and not self.question.startswith("best"):
            raise _check.refused(
                given, f"be left out unless {_check.quoted('question')} is 'best'", getattr(self, given)
            )
        named: str | None = self.rule
        object.__setattr__(self, "rule", named or registry.advised(self.setting))
        registry.known(self.rule)
        if self.items and not any(kind.stands(self.setting) for kind in registry.kinds(self.rule)):
            hint = f"Use rule = {registry.advised(self.setting)!r}."
            raise _check.refused("rule", "take a declared list of items", self.rule, hint)
        if self.budget is not None:
            object.__setattr__(self, "horizon", self._rounds(declared))
        asked: float | None = self.futility
        futility = usual_futility(self.rule, self.setting) if asked is None else checked_futility(asked)
        object.__setattr__(self, "futility", futility)
        if self.environments == "one" and len(self.contexts) > 1:
            hint = "Use 'shared' (both policies meet the same one), or 'independent'."
            must = f"not be 'one' with {len(self.contexts)} tasks and conditions to run in."
            raise _check.wrong("environments", must, self.environments, hint)

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

    def _rounds(self, given: int | None) -> int:
        """The most rounds that the budget allows; a horizon need not be given beside it, and must not be another."""
        made: Any = registry.one_of(self.rule, self.setting).made(dataclasses.replace(self.setting, futility=0.0))
        found = int(made.longest)
        if given not in (None, found):
            raise _check.refused("horizon", f"be left out beside a budget, which makes it {found:,}", given)
        return found

    def _check_range(self) -> None:
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
        size, widens = len(self.policies), any(kind.widens for kind in registry.kinds(self.decides))
        return after[size:] if widens and set(changes) == {"policies"} and after[:size] == self.policies else ()

    @property
    def contexts(self) -> tuple[tuple[str, str], ...]:
        """Every (task, condition) that a rollout may meet; one empty context when neither is named.

        An item of a list stands where a condition does.
        """
        if self.items:
            return tuple(("", item) for item in self.items)
        return tuple((task, condition) for task in self.tasks or ("",) for condition in self.conditions or ("",))

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

    def amended(self, changes: Mapping[str, Any]) -> Plan:
        """The plan with some fields changed."""
        unknown = sorted(set(changes) - {field.name for field in dataclasses.fields(self)})
        if unknown:
            raise StudyError(f"A plan has no field {', '.join(unknown)}.")
        fixed = [name for name in LISTED if name in changes]
        if fixed:
            raise StudyError(
                f"`{fixed[0]}` cannot be amended: a list and its order are fixed when a study begins. "
                "Create another study for another list."
            )
        freed = {"horizon": None} if self.budget is not None and "budget" in changes else {}
        return dataclasses.replace(self, **{**freed, **_tuples(changes)})

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
        try:
            fields = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise StudyError(f"The plan must be TOML; {error}.") from None
        known = {field.name for field in dataclasses.fields(cls)}
        unknown = sorted(set(fields) - known)
        if unknown:
            raise StudyError(f"The plan must use known fields only; got {', '.join(unknown)}.")
        if "policies" not in fields:
            raise StudyError('The plan must name its `policies`, such as policies = ["new", "old"].')
        try:
            return cls(**{**ADDED, **_tuples(fields)})
        except (ValueError, TypeError) as error:
            raise StudyError(f"The plan cannot be used: {error}") from None

    def to_toml(self) -> str:
        """The plan as a commented file that a person can read and edit, and `from_toml` reads back the same."""
        return written(self)

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


def canonical(data: Mapping[str, Any]) -> str:
    """JSON that is the same for the same content."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _tuples(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}


def _names(value: Any, name: str) -> tuple[str, ...]:
    listed = isinstance(value, tuple | list)
    if not listed or not all(isinstance(item, str) and _text(item, name).strip() for item in value):
        raise _check.mistyped(name, "be a list of non-empty names", value)
    if len(set(value)) != len(value):
        raise _check.refused(name, "not repeat a name", list(value))
    return tuple(value)


def _text(value: Any, name: str) -> str:
    text = _check.instance(value, name, str)
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise _check.refused(name, "be whole Unicode text", text)
    return text
