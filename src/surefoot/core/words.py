"""The nouns of sentences: policies and rollouts, or models and samples.

A result of a table holds the nouns of the table, and so does all that it holds; so it says the same wherever it stands.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from surefoot import _check
from surefoot.core.record import Record

_P = ParamSpec("_P")
_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class Words(Record):
    """The nouns of sentences, each with its plural; a plural that is left out follows the rule of English.

    Attributes:
        policy: What is compared: a policy, a model, an agent.
        rollout: One row: a rollout, a sample, an episode.
        task: What rollouts are of: a task, a benchmark.
        environment: What is shared by the rollouts of a pair: an environment, a question.
        policies: Several of the first.
        rollouts: Several rollouts.
        tasks: Several tasks.
        environments: Several environments.

    Example:
        >>> from surefoot.core.words import Words
        >>> words = Words(policy="model", rollout="query")
        >>> words.policies, words.rollouts
        ('models', 'queries')
    """

    policy: str = "policy"
    rollout: str = "rollout"
    task: str = "task"
    environment: str = "environment"
    policies: str = ""
    rollouts: str = ""
    tasks: str = ""
    environments: str = ""

    def __post_init__(self) -> None:
        for one, several in NOUNS.items():
            noun = getattr(self, one)
            if not isinstance(noun, str) or not noun.strip():
                raise _check.refused(one, "be a noun", noun)
            object.__setattr__(self, several, getattr(self, several) or plural(noun))

    def __str__(self) -> str:
        return ", ".join(f"{getattr(self, one)} ({getattr(self, several)})" for one, several in NOUNS.items())

    @property
    def a_policy(self) -> str:
        """One of them, with its article: ``a policy``, ``an agent``."""
        return _check.article(self.policy)

    @property
    def a_rollout(self) -> str:
        """``a rollout``, ``an episode``."""
        return _check.article(self.rollout)

    @property
    def a_task(self) -> str:
        """``a task``."""
        return _check.article(self.task)

    @property
    def an_environment(self) -> str:
        """``an environment``, ``a question``."""
        return _check.article(self.environment)


NOUNS = {"policy": "policies", "rollout": "rollouts", "task": "tasks", "environment": "environments"}
"""The fields of `Words`: one of a thing, and several of it."""


def plural(noun: str) -> str:
    """Several of it, by the rule of English: ``policies``, ``boxes``, ``trials``."""
    if noun[-1:] == "y" and noun[-2:-1] not in tuple("aeiou"):
        return f"{noun[:-1]}ies"
    hissing = noun.endswith(("s", "x", "z", "ch", "sh")) and not noun.endswith("epoch")
    return f"{noun}es" if hissing else f"{noun}s"


USUAL = Words()
"""The words where a table has none of its own."""


@dataclass(frozen=True, slots=True)
class Worded(Record):
    """A record whose sentences use nouns; two that differ in nothing else are equal.

    Attributes:
        words: The nouns, as the table calls its things.
    """

    _: KW_ONLY
    words: Words = field(default=USUAL, compare=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON-ready data; its words only where they are not the usual ones."""
        body = Record.to_dict(self)
        said = body.pop("words")
        return body if self.words == USUAL else {**body, "words": said}


_T = TypeVar("_T")


def worded(value: _T, words: Words) -> _T:
    """A result, with all that it holds, in these words.

    Example:
        >>> from surefoot.core.notes import Note
        >>> from surefoot.core.words import Words, worded
        >>> print(worded(Note("no common task"), Words(policy="model", task="benchmark")))
        The two share no benchmark: this gain is one between benchmarks as much as between models.
    """
    if words == USUAL:
        return value
    made: Any = _worded(value, words, {})
    return made  # type: ignore[no-any-return]


_PLAIN = frozenset([str, int, float, bool, type(None)])


def _worded(value: Any, words: Words, done: dict[int, tuple[Any, Any]]) -> Any:
    """The value in these words; what several results share, such as a design, is gone through once."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Record) and not isinstance(value, Words):
        if id(value) not in done:
            held = {name: getattr(value, name) for name in _field_names(type(value))}  # type: ignore[arg-type]
            now = {name: words if isinstance(one, Words) else _worded(one, words, done) for name, one in held.items()}
            changed = {name: one for name, one in now.items() if one is not held[name]}
            done[id(value)] = value, replace(value, **changed) if changed else value  # type: ignore[type-var]
        return done[id(value)][1]
    if type(value) is tuple and type(next(iter(value), None)) not in _PLAIN:
        several = tuple(_worded(one, words, done) for one in value)
        return several if any(one is not old for one, old in zip(several, value, strict=True)) else value
    if isinstance(value, Mapping):
        named = {name: _worded(one, words, done) for name, one in value.items()}
        return named if any(one is not value[name] for name, one in named.items()) else value
    return value


@functools.cache
def _field_names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind))


class _Worded(Protocol):
    """What knows its words: a table, or a result of one."""

    @property
    def words(self) -> Words: ...


_W = TypeVar("_W", bound=_Worded)


def in_its_words(make: Callable[Concatenate[_W, _P], _R]) -> Callable[Concatenate[_W, _P], _R]:
    """Let a function of a table give its result in the words of the table, its first argument."""

    @functools.wraps(make)
    def made(of: _W, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        result = make(of, *args, **kwargs)  # whatever is given in place of a table is refused by the function itself
        return worded(result, of.words)

    return made


LOOK_ALIKE = str.maketrans(
    "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0456\u0458\u0455"
    "\u03b1\u03b2\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7",
    "abekmhopctyxijsabeikvoptux",
) | str.maketrans("01", "ol")
"""Small Cyrillic and Greek letters, and digits, that look like Latin letters."""


def as_seen(name: str) -> str:
    """A name without what the eye passes over."""
    seen = unicodedata.normalize("NFKC", name).casefold().translate(LOOK_ALIKE)
    return "".join(letter for letter in seen if unicodedata.category(letter) not in ("Cf", "Zs", "Cc"))
