"""What do sentences call the things a table is about: policies and rollouts, or models and samples?

Whoever shows results of a table says which, before any sentence is made; nothing that was said is ever rewritten, so
the names of users stay as they are. No code asks what the words are.
"""

from __future__ import annotations

import contextlib
import functools
import unicodedata
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
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
    return f"{noun}es" if noun.endswith(("s", "x", "z", "ch", "sh")) else f"{noun}s"


_SPOKEN: ContextVar[Words] = ContextVar("words", default=Words())  # noqa: B039  # frozen


def spoken() -> Words:
    """The words that sentences are made of now."""
    return _SPOKEN.get()


def say(sentence: str, **values: Any) -> str:
    """A sentence with its places filled, those for values and those for words: ``{words.rollouts}``."""
    return sentence.format(**values, words=spoken())


def speak(words: Words) -> None:
    """Let sentences from here on use these words; for a command that has read its table."""
    _SPOKEN.set(words)


@contextlib.contextmanager
def said_in(words: Words) -> Iterator[None]:
    """Let sentences use these words."""
    before = _SPOKEN.set(words)
    try:
        yield
    finally:
        _SPOKEN.reset(before)


class _Worded(Protocol):
    """What knows its words: a table, or a result of one."""

    @property
    def words(self) -> Words: ...


_W = TypeVar("_W", bound=_Worded)


def in_its_words(make: Callable[Concatenate[_W, _P], _R]) -> Callable[Concatenate[_W, _P], _R]:
    """Let a function of a table, or a method of a result, speak in the words that its first argument carries."""

    @functools.wraps(make)
    def made(of: _W, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        words = getattr(of, "words", None)  # whatever is given in place of a table is refused by the function itself
        with said_in(words if isinstance(words, Words) else spoken()):
            return make(of, *args, **kwargs)

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
