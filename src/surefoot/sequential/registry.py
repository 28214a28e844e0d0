"""The registry of sequential rules: what each fits, and how it is shown.

A rule is one file of this room, named in `PAIRS` or `RANKINGS`. Its class says as constants what plan files call it,
what it fits and how it is shown, and enters itself by `@registered`. Studies, replays, plans, the command line and the
docs ask here, and know no rule by name. A file is imported when its rule is asked for. Other packages add rules by the
entry points `surefoot.rules`, and scripts by `@registered`; those are used where they are named, never unasked.
"""

from __future__ import annotations

import importlib
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from inspect import isabstract
from typing import Any, ClassVar, Literal, Self, TypeVar, get_args

from surefoot import _check, _plugins
from surefoot.core.assumptions import Environments as Environments
from surefoot.core.record import Record

ROOM = "surefoot.sequential"
PAIRS: Mapping[str, tuple[str, ...]] = {
    "exact": ("exact_binary",),
    "mixture": ("finite_horizon_mixture",),
    "nscore": ("nscore",),
    "wsr": ("wsr",),
    "savi": ("savi",),
    "fixed": ("fixed_size",),
}
"""The files of the rules that compare two policies, by the word in plan files, in the order shown."""
RANKINGS: Mapping[str, tuple[str, ...]] = {
    "closed": ("closed_ranking",),
    "race": ("race",),
    "holm": ("ranking",),
    "halve": ("halving",),
}
"""The same of those that rank three policies or more."""
HOMES = {**PAIRS, **RANKINGS}

Lists = Literal["none", "whole", "any"]
"""About which lists a rule can decide: about none, about those as long as its horizon, or about any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What is asked, of which policies, and how rollouts are collected: all that a rule is made from.

    Attributes:
        policies: The policies, the first-named first.
        horizon: The most pairs, or rounds.
        confidence: Over all looks.
        claim: What the rule may find; see `Rule`.
        measure: Whether rollouts give successes or scores.
        low: The lowest score possible.
        high: The highest score possible.
        levels: The scores possible, where they are few.
        margin: A gain that would not matter.
        environments: How the rollouts of a pair relate.
        randomised: Whether the order of the environments was drawn at random.
        futility: The chance of a verdict below which the rule gives up; 0 for never.
        question: What is asked of three policies or more; see `ClosedRanking`.
        within: How far below the best the one named may be, where the question is which is best; see `Race`.
        budget: The most rollouts of all policies together, where the question is which is best and the rule keeps one.
        between: Whether scores between the ends of the range are known to occur.
        population: The length of the list that the claim is about, if it is about one.
    """

    policies: tuple[str, ...] = ("first", "second")
    horizon: int = 200
    confidence: float = 0.95
    claim: str = "either"
    measure: Literal["success", "score"] = "success"
    low: float = 0.0
    high: float = 1.0
    levels: tuple[float, ...] = ()
    margin: float = 0.0
    environments: Environments = "independent"
    randomised: bool = True
    futility: float = 0.0
    question: str = "ranking"
    within: float | None = None
    budget: int | None = None
    between: bool = False
    population: int | None = None

    @property
    def binary(self) -> bool:
        """Whether rollouts give successes."""
        return self.measure == "success"

    @property
    def paired(self) -> bool:
        """Whether the rollouts of a pair depend on one another."""
        return self.environments in ("shared", "stratified")


@dataclass(frozen=True, slots=True)
class Offered(Record):
    """What every sequential rule says of itself, whether it compares two policies or ranks many."""

    name: ClassVar[str] = ""  # the word in plan files; rules that share one differ by what they fit
    title: ClassVar[str] = "rule"  # in sentences
    label: ClassVar[str] = ""  # in tables
    summary: ClassVar[str] = ""  # what it is for, in one sentence
    place: ClassVar[int] = 1000  # among the rules shown; of those that fit, the first is chosen unasked
    chosen_to: ClassVar[int | None] = 0  # the longest horizon for which it is chosen unasked; none for any
    policies: ClassVar[tuple[int, int | None]] = (2, 2)  # the fewest and the most
    measures: ClassVar[tuple[str, ...]] = ("success", "score")
    claims: ClassVar[tuple[str, ...]] = ("first better", "either")
    environments: ClassVar[tuple[str, ...]] = get_args(Environments)
    takes_margin: ClassVar[bool] = False
    gives_up: ClassVar[bool] = False  # whether a futility can be declared
    needs_random_order: ClassVar[bool] = True
    lists: ClassVar[Lists] = "none"  # which lists declared beforehand its claim can be about
    once: ClassVar[bool] = False  # whether it looks only when all has been run
    questions: ClassVar[tuple[str, ...] | None] = None  # what it is for; none for any that its policies can be asked
    widens: ClassVar[bool] = False  # whether a policy may be added while it runs
    loses: ClassVar[bool] = False  # whether a policy may be withdrawn while it runs
    finds_one: ClassVar[bool] = False  # whether it finds one policy and ranks none
    picks: ClassVar[bool] = False  # whether that one is only picked: that it is the best is not claimed
    promise: ClassVar[str] = "ranking promise"  # the note that says what is promised, of a ranking

    @classmethod
    @abstractmethod
    def made(cls, setting: Setting) -> Self:
        """The rule as it is declared in this setting.

        Raises:
            ValueError: The rule cannot be declared so.
        """

    @classmethod
    def ranks(cls, policies: int) -> bool:
        """Whether it takes so many policies."""
        least, most = cls.policies
        return least <= policies and (most is None or policies <= most)

    @classmethod
    def up_to(cls, question: str) -> int | None:  # noqa: ARG003
        """The most policies that it takes for this question; none for any number."""
        return cls.policies[1]

    @classmethod
    def grows(cls, setting: Setting) -> bool:
        """Whether a policy may be added while it runs, so that its policies are those of this setting."""
        most = cls.up_to(setting.question)
        return cls.widens and (most is None or len(setting.policies) <= most)

    @classmethod
    def asked(cls, setting: Setting) -> bool:
        """Whether it is meant for the question: two policies are compared unless it is which of them is best."""
        if cls.questions is None:
            return cls.policies != (2, 2) or not setting.question.startswith("best")
        return setting.question in cls.questions

    @classmethod
    def stands(cls, setting: Setting) -> bool:
        """Whether it is meant for this question, environments drawn in this way, and a list where one is declared."""
        return (
            cls.asked(setting)
            and setting.environments in cls.environments
            and (setting.population is None or cls.lists == "any")
        )

    @classmethod
    def suits(cls, setting: Setting) -> bool:
        """Whether it may be chosen unasked."""
        return cls.chosen(setting)

    @classmethod
    def chosen(cls, setting: Setting) -> bool:
        """Whether the number of policies, the measure and the horizon are such that it is chosen unasked."""
        size = len(setting.policies)
        if setting.population is not None and not cls.stands(setting):
            return False
        short = cls.chosen_to is None or setting.horizon <= cls.chosen_to
        plain = cls.takes_margin or not setting.margin or size > 2  # no ranking takes one, and says so
        return short and plain and setting.measure in cls.measures and cls.ranks(size) and cls.asked(setting)

    @property
    def threshold(self) -> float | None:
        """The evidence at which a direction is decided; none for a rule that has no evidence."""
        return None

    @property
    def table(self) -> str:
        """The hash of the table by which it decides; empty for a rule that needs none."""
        return ""


K = TypeVar("K", bound=type[Offered])

REGISTRY: dict[str, list[type[Offered]]] = {}
"""Every rule whose file has been imported, by the word in plan files."""


def registered(kind: K) -> K:
    """Enter a rule; above its class, and above `@dataclass`."""
    if not kind.name:
        raise _check.wrong("name", f"be the word in plan files; {kind.__qualname__} has none.")
    known = REGISTRY.get(kind.name, [])
    homes = [f"{ROOM}.{home}" for home in HOMES.get(kind.name, ())] or [one.__module__ for one in known]
    if homes and kind.__module__ not in homes:
        raise _check.wrong("name", f"be new; got {kind.name!r}, which {homes[0]} has.")
    REGISTRY[kind.name] = [one for one in known if _where(one) != _where(kind)] + [kind]
    return kind


def _where(kind: type) -> tuple[str, str]:
    return kind.__module__, kind.__qualname__


def _admitted(name: str, kind: Any) -> type[Offered]:
    """A rule of another package, under the name of its entry point."""
    if not (isinstance(kind, type) and issubclass(kind, Offered)):
        raise TypeError(f"it must be a subclass of surefoot.sequential.Rule or RoundRule; it is {kind!r}")
    if isabstract(kind):
        raise TypeError(f"it must define {', '.join(sorted(getattr(kind, '__abstractmethods__', ())))}")
    if kind.name != name:
        raise ValueError(f"its `name` must be that of its entry point; it is {kind.name!r}")
    return registered(kind)


def names(policies: int | None = None) -> tuple[str, ...]:
    """The words for rules in plan files; with `policies`, of those that take so many, in the order they are shown."""
    if policies is not None:
        return tuple(dict.fromkeys(kind.name for kind in kinds() if kind.ranks(policies)))
    _plugins.added("rules", _admitted)
    return tuple(dict.fromkeys((*HOMES, *sorted(REGISTRY))))


def known(name: Any) -> str:
    """The word for a rule in plan files, if there is one of that name.

    Raises:
        ValueError: There is none.
    """
    if not (isinstance(name, str) and (name in HOMES or name in REGISTRY)):
        _check.choice(name, "rule", dict.fromkeys(names()))
    return str(name)


def kinds(name: str | None = None) -> tuple[type[Offered], ...]:
    """Every rule, or those of one name, in the order they are shown: other packages' after surefoot's own."""
    if name in HOMES:
        return tuple(_own(name))
    _plugins.added("rules", _admitted)
    others = [kind for word, those in REGISTRY.items() if word not in HOMES and name in (None, word) for kind in those]
    return (*(_own() if name is None else ()), *sorted(others, key=_shown))


def _own(name: str | None = None) -> list[type[Offered]]:
    """The rules of this room, or those of one name, in the order they are shown."""
    words = HOMES if name is None else (name,)
    for word in words:
        for module in HOMES[word]:
            importlib.import_module(f"{ROOM}.{module}")
    return sorted((kind for word in words for kind in REGISTRY[word]), key=_shown)


def _shown(kind: type[Offered]) -> tuple[int, str]:
    return kind.place, kind.name


def advised(setting: Setting) -> str:
    """The name of the rule that fits best, where none is asked for; never another package's."""
    for kind in _own():
        if kind.suits(setting):
            return kind.name
    if setting.question.startswith(("best", "top ")):
        must = f"be at most 1,000 where the best is asked for, 50 for the best few; got {len(setting.policies):,}."
        raise _check.wrong("policies", must)
    raise ValueError("No rule fits: see `surefoot.sequential` for what each takes.")


def fitting(setting: Setting) -> tuple[type[Offered], ...]:
    """One rule of each name that takes so many policies, this measure and these environments, in the order shown."""
    found: dict[str, type[Offered]] = {}
    for kind in kinds():
        if kind.ranks(len(setting.policies)) and setting.measure in kind.measures and kind.stands(setting):
            found.setdefault(kind.name, kind)
    return tuple(found.values())


def for_fewer(chosen: type[Offered], setting: Setting) -> str:
    """What to know where a rule that is shown earlier does not take so many policies; empty where none is."""
    policies = len(setting.policies)
    for kind in _own():
        most = kind.up_to(setting.question)
        if kind.place < chosen.place and most is not None and 2 < most < policies and not chosen.finds_one:
            also = f"{kind.summary[:1].lower()}{kind.summary[1:]}"
            return f"More than {most} policies are ranked by {chosen.title}. Up to {most}, by {kind.title}: {also}"
    return ""


def legend(labels: Iterable[str]) -> tuple[str, ...]:
    """What each of these labels of tables stands for, in a line each; nothing of a rule that says nothing."""
    shown = {kind.label: kind for kind in reversed(kinds()) if kind.label and kind.summary}
    told = [(label, shown[label]) for label in labels if label in shown]
    return tuple(
        f"{label}{f', {kind.title}' if kind.title != label else ''}: {kind.summary[:1].lower()}{kind.summary[1:]}"
        for label, kind in told
    )


def one_of(name: str, setting: Setting) -> type[Offered]:
    """The rule of this name for so many policies in such environments."""
    known(name)
    size = len(setting.policies)
    those = [kind for kind in kinds(name) if kind.ranks(size)]
    if not those:
        asked = [kind.name for kind in kinds() if kind.ranks(size) and kind.asked(setting)]
        others = " or ".join(map(repr, dict.fromkeys(asked)))
        raise _check.refused("rule", f"take {size} policies", name, f"Use {others}.")
    chosen = next((kind for kind in those if kind.stands(setting)), those[-1])
    if chosen.policies == (2, 2) and not chosen.asked(setting):
        hint = f"Use rule = {advised(setting)!r}."
        raise _check.refused("question", f"be 'ranking' for {chosen.title}", setting.question, hint)
    if setting.measure not in chosen.measures:
        hint = f"Use rule = {advised(setting)!r}."
        raise _check.wrong("rule", f"take {setting.measure}s; got {chosen.title}.", None, hint)
    return chosen
