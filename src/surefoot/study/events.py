"""The events of a study's log.

An event is one line of the log. Each carries who, in which role, when and which schema; each line's hash covers the one
before, so that no line can be changed, dropped or slipped in unnoticed. What carries an outcome also carries a random
salt: the hash of a line is shown to everybody, and must not tell what the line says.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from surefoot._secret import Secret
from surefoot.errors import StudyError
from surefoot.study.plans import canonical

SCHEMA = 3
GENESIS = "0" * 64
Role = Literal["operator", "runner", "owner", "local"]
"""In which role somebody writes; "local" writes to the store itself, without a server."""
ROLES: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened: its kind, what it says, who wrote it and when (UTC, ISO 8601), and in which role."""

    kind: str
    body: Mapping[str, Any]
    author: str
    time: str
    role: str = "local"
    schema: int = SCHEMA

    KINDS: ClassVar[dict[str, frozenset[str]]] = {
        "started": frozenset({"plan", "fingerprint", "seed_hash", "table"}),
        "leased": frozenset({"turn", "holder", "seconds"}),
        "recorded": frozenset(
            {"turn", "attempt", "result", "duration", "steps", "note", "failure", "ended", "request", "reason", "salt"}
        ),
        "attached": frozenset({"turn", "attempt", "clip", "salt"}),  # a clip that came after its result
        "crashed": frozenset({"turn", "ended", "note", "request"}),  # a rollout that gave no result, and is run again
        "refused": frozenset({"turn", "holder", "result", "request", "salt"}),  # the turn had gone to another
        "undone": frozenset({"turn", "attempt", "reason"}),
        "voided": frozenset({"turn", "block", "reason", "note", "seen"}),
        "amended": frozenset({"changes", "reason", "table"}),
        "unblinded": frozenset({"seed", "reason"}),
        "overridden": frozenset({"reason"}),  # the rule had stopped for futility, and the study goes on
        "withdrawn": frozenset({"policy", "reason"}),  # a policy of a race that cannot run any more
        "invited": frozenset({"name", "role"}),  # from here on only a token of its own proves that name; "" ends it
        "checked": frozenset({"items", "note"}),
    }
    FIRST: ClassVar[dict[str, frozenset[str]]] = {
        "leased": frozenset({"turn", "holder", "until"}),
        "recorded": frozenset({"turn", "attempt", "result", "duration", "note", "failure", "request"}),
        "refused": frozenset({"turn", "holder", "result", "request"}),
    }
    """What the first schema said otherwise."""
    BESIDES: ClassVar[dict[str, frozenset[str]]] = {
        "started": frozenset({"list"}),
        "leased": frozenset({"rig"}),
        "recorded": frozenset({"clip", "stage"}),
    }
    """What may be said besides: of a declared list, a turn asked for at a rig, a rollout with a clip or a stage."""

    def __post_init__(self) -> None:
        fields = self.KINDS.get(self.kind)
        if fields is None:
            raise StudyError(f"An event's kind must be one of {', '.join(self.KINDS)}; got {self.kind!r}.")
        fields = self.FIRST.get(self.kind, fields) if self.schema == 1 else fields
        fields |= self.BESIDES.get(self.kind, frozenset()) & set(self.body)
        if set(self.body) != fields:
            raise StudyError(f"A {self.kind!r} event must say {sorted(fields)}; got {sorted(self.body)}.")
        if self.schema > 1 and self.role not in ROLES:
            raise StudyError(f"An event's role must be one of {', '.join(ROLES)}; got {self.role!r}.")

    @property
    def key(self) -> str | None:
        """What the store must hold at most once."""
        body = self.body
        if self.kind == "started":
            return "started"
        if self.kind == "recorded":
            return f"result {body['turn']}.{body['attempt']}"
        if self.kind == "voided":
            return f"void {body['block']}"
        return None

    def to_dict(self) -> dict[str, Any]:
        """The event as JSON-ready data; one of the first schema has no role."""
        said = {"kind": self.kind, "body": dict(self.body), "author": self.author, "time": self.time}
        return {**said, "schema": self.schema, **({"role": self.role} if self.schema > 1 else {})}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Event:
        """The event that `to_dict` wrote.

        Raises:
            StudyError: It is not an event, or of a newer schema.
        """
        try:
            schema, body = data["schema"], data["body"]
            if isinstance(schema, bool) or not isinstance(schema, int) or schema < 1:
                raise StudyError(
                    f"A line of the log is not an event: its schema must be a whole number; got {schema!r}."
                )
            if schema > SCHEMA:
                raise StudyError(
                    f"The log is of schema {schema}; this version reads up to {SCHEMA}. Use a newer surefoot."
                )
            said = {name: data[name] for name in ("kind", "author", "time")}
            said["role"] = data["role"] if schema > 1 else ""
        except (KeyError, TypeError) as error:
            raise StudyError(f"A line of the log is not an event: {error}.") from None
        for name, value in said.items():
            if not isinstance(value, str):
                raise StudyError(f"A line of the log is not an event: its {name} must be a text; got {value!r}.")
        if not isinstance(body, Mapping):
            raise StudyError(f"A line of the log is not an event: its body must be an object; got {body!r}.")
        return cls(said["kind"], body, said["author"], said["time"], said["role"], schema)


@dataclass(frozen=True, slots=True)
class Line:
    """An event at its place in the log, with the hash that chains it to the line before."""

    number: int
    event: Event
    hash: str
    private: Secret | None = None  # the seed, beside the first line: kept by the store, never hashed

    @classmethod
    def after(cls, previous: Line | None, event: Event, private: Secret | None = None) -> Line:
        """The line that follows `previous`."""
        number = 1 if previous is None else previous.number + 1
        return cls(number, event, chained(head_of(previous), number, event), private)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Line:
        """The line that `to_dict` wrote."""
        try:
            seed = data.get("seed")
            private = None if seed is None else Secret(str(seed))
            return cls(int(data["number"]), Event.from_dict(data), str(data["hash"]), private)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise StudyError(f"A line of the log cannot be read: {error}.") from None

    def to_dict(self) -> dict[str, Any]:
        """The line as JSON-ready data, as exported."""
        return {"number": self.number, "hash": self.hash, **self.event.to_dict()}


@dataclass(frozen=True, slots=True)
class Before:
    """What a fold leaves out: the blocks that the rule has read, of which only this much is kept.

    Attributes:
        lines: Lines whose hashes are left out.
        turns: Turns, blocks and results left out, the first of each.
        blocks: Blocks.
        results: Results.
        words: A number for each word of a request that was used, rising.
    """

    lines: int = 0
    turns: int = 0
    blocks: int = 0
    results: int = 0
    words: Any = ()

    def knows(self, word: str) -> bool:
        """Whether a request of that word may have been carried out: never no where it was."""
        if not len(self.words):
            return False
        number = word_number(word)
        place = int(np.searchsorted(self.words, np.uint64(number)))
        return place < len(self.words) and int(self.words[place]) == number


def word_number(word: str) -> int:
    """A number of 64 bits that stands for a request's word."""
    return int.from_bytes(hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def head_of(line: Line | None) -> str:
    """The hash that the next line must follow."""
    return GENESIS if line is None else line.hash


def chained(previous: str, number: int, event: Event) -> str:
    """The hash of a line: over the hash before it, its number and its event."""
    try:
        text = f"{previous}\n{number}\n{canonical(event.to_dict())}".encode()
    except ValueError as error:  # half a surrogate pair, or a number that is not finite
        raise StudyError(f"The event cannot be written as text: {error}. Nothing was recorded.") from None
    return hashlib.sha256(text).hexdigest()


def seeded(lines: list[Line]) -> list[Line]:
    """The lines with the secret seed at the first, taken from where it was revealed if it is not kept there."""
    if not lines or lines[0].private:
        return lines
    seed = next((line.event.body["seed"] for line in lines if line.event.kind == "unblinded"), None)
    return [replace(lines[0], private=None if seed is None else Secret(str(seed))), *lines[1:]]


def breaks(lines: list[Line]) -> list[str]:
    """Every place where the chain does not hold, each as a clause."""
    found, previous, place = [], GENESIS, 0
    for line in lines:
        place += 1
        if line.number != place:
            gap = (
                f"lines {place} to {line.number - 1} of the log are" if line.number > place + 1 else f"line {place} is"
            )
            found.append(f"{gap} missing" if line.number > place else f"line {line.number} is there twice")
            place = line.number
        elif line.hash != chained(previous, line.number, line.event):
            found.append(f"line {place} of the log ({line.event.kind}, {line.event.time}) was changed by hand")
        previous = line.hash
    return found


def broken(lines: list[Line]) -> str | None:
    """The first place where the chain does not hold, as a clause; None when it holds."""
    return next(iter(breaks(lines)), None)
