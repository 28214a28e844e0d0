"""What must a reader know besides a number? A value, from which a sentence is made.

Every kind of note and its sentence stand at the end of this file, so that a note read back from JSON is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from surefoot import _check
from surefoot.core.record import Record

SENTENCES: dict[str, Callable[..., str]] = {}
"""The sentence of every kind of note; filled below."""


def says(kind: str) -> Callable[[Callable[..., str]], Callable[..., str]]:
    """Register how notes of a kind are said: a function of the note's values.

    Example:
        >>> from surefoot.core.notes import Note, says
        >>> @says("example")
        ... def _example(count: int) -> str:
        ...     return f"{count} of them."
        >>> print(Note("example", {"count": 3}))
        3 of them.
    """

    def register(sentence: Callable[..., str]) -> Callable[..., str]:
        SENTENCES[kind] = sentence
        return sentence

    return register


@dataclass(frozen=True, slots=True)
class Note(Record):
    """One thing to know besides a number.

    Code asks for its kind and values; only people read the sentence.

    Attributes:
        kind: What it is about, a word.
        values: The numbers and names in it.
    """

    kind: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind not in SENTENCES:
            raise ValueError(_check.refusal("kind", f"be one of {', '.join(sorted(SENTENCES))}", self.kind))

    def __hash__(self) -> int:
        return hash((self.kind, tuple(sorted((key, repr(value)) for key, value in self.values.items()))))

    def __str__(self) -> str:
        return SENTENCES[self.kind](**self.values)


Noted = str | Note
"""What the notes of a result hold; only notes whose kind no code asks for may be bare sentences."""
