"""Results as JSON-ready data, and back."""

from __future__ import annotations

import builtins
import dataclasses
import sys
import types
import typing
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, ClassVar, Self

from surefoot import _check, _lazy

SCHEMA = 3
"""Since 3, comparisons and audits say what every column was taken for; since 2, notes and assumptions are records.

What earlier versions wrote is still read."""
LONGEST = 240
"""A result whose fields take more characters than this is shown by what it says."""


class Record:
    """A frozen result that can be written as a dictionary and read back.

    Subclasses are frozen dataclasses whose fields are plain numbers, strings, enums, tuples, mappings, sequences
    of numbers with a type of their own, or other records.
    """

    __slots__ = ()
    _known: ClassVar[dict[str, type[Record]]] = {}
    _schema: ClassVar[int] = SCHEMA
    _made: ClassVar[str] = ""
    """What `to_dict` adds to the fields, made from them."""

    def __init_subclass__(cls) -> None:
        if _own(cls) or cls.__name__ not in Record._known or not _own(Record._known[cls.__name__]):
            Record._known[cls.__name__] = cls  # another package's record does not displace surefoot's of that name
        if "__repr__" not in vars(cls):
            cls.__repr__ = Record.__repr__  # type: ignore[method-assign]  # else a dataclass writes all of itself

    def __repr__(self) -> str:
        """All fields where they are few, otherwise what the result says."""
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        held = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields if one.repr)
        written = f"{type(self).__name__}({held})"
        if len(written) <= LONGEST:
            return written
        if type(self).__str__ is not object.__str__:
            return f"<{type(self).__name__}: {_first_line(str(self))}>"
        return f"{written[: LONGEST - 5]} ...)"

    def _repr_html_(self) -> str:
        """The result as a notebook shows it: what it says, its table and its picture."""
        shown: str = _shown().html(self)
        return shown

    def to_frame(self, library: str = "polars") -> Any:
        """The result as a table of data: a row for each number that it holds.

        Args:
            library: Whose table: "polars", "pandas" or "pyarrow".
        """
        return _shown().frame(self, library)

    def plot(self, ax: Any = None) -> Any:
        """Draw the result.

        Args:
            ax: The axes of matplotlib to draw on; new ones when left out.

        Returns:
            The axes.
        """
        return _shown().draw(self, ax)

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON-ready data, with its type and the schema version."""
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        body = {field.name: _plain(getattr(self, field.name)) for field in fields}
        return {"type": type(self).__name__, "schema": self._schema, **body}

    @classmethod
    def from_earlier(cls, body: dict[str, Any]) -> dict[str, Any]:
        """The fields of a record that an earlier version wrote, as they are now."""
        return body

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The record that `to_dict` wrote.

        Raises:
            ValueError: The data are of another type or schema, or lack a field.
        """
        record = _record(_check.instance(data, "data", Mapping))  # type: ignore[type-abstract]
        if not isinstance(record, cls):
            must, got = _check.article(cls.__name__), _check.article(type(record).__name__)
            raise _check.wrong("data", f"describe {must}; got {got}.", data)
        return record


def _shown() -> Any:
    """How results are shown."""
    return _lazy.PROVIDED["shown"]()


def _first_line(text: str) -> str:
    line = text.partition("\n")[0]
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 4]} ..."


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):  # a sequence of numbers with a type of its own
        return list(value)
    return value


def _record(data: Mapping[str, Any]) -> Record:
    kind = _kind(str(data.get("type")))
    if kind is None:
        raise _check.wrong("data", f"name a known type; got {data.get('type')!r}.", data)
    if data.get("schema") not in range(1, SCHEMA + 1):
        raise _check.wrong("data", f"be of schema {SCHEMA}; got {data.get('schema')!r}.", data)
    hints = hints_of(kind)
    body = kind.from_earlier({name: value for name, value in data.items() if name not in ("type", "schema")})
    body.pop(kind._made, None)
    fields = dataclasses.fields(kind)  # type: ignore[arg-type]
    unknown = sorted(set(body) - {field.name for field in fields})
    if unknown:
        raise _check.wrong("data", f"hold the fields of {kind.__name__} only; got {unknown}.", data)
    lacking = [
        field.name
        for field in fields
        if field.name not in body
        and field.default is dataclasses.MISSING
        and field.default_factory is dataclasses.MISSING
    ]
    if lacking:
        raise _check.wrong("data", f"hold every field of {kind.__name__}; {', '.join(lacking)} missing.", data)
    return kind(**{name: _restore(value, hints[name]) for name, value in body.items()})


def hints_of(kind: type) -> dict[str, Any]:
    """The types of a record's fields, those that its module imports for type checkers only included."""
    return typing.get_type_hints(kind, localns=_Names(vars(sys.modules[kind.__module__])))


class _Names(dict[str, Any]):
    """What a module names, and the records that it imports for type checkers only."""

    def __missing__(self, name: str) -> type[Record]:
        kind = None if hasattr(builtins, name) else _kind(name)
        if kind is None:
            raise KeyError(name)
        return kind


def _own(kind: type) -> bool:
    """Whether a class is surefoot's own."""
    return kind.__module__.partition(".")[0] == "surefoot"


def _kind(name: str) -> type[Record] | None:
    """The class of that name; its module is imported for it."""
    if name not in Record._known:
        _lazy.PROVIDED["imported"](name)
    return Record._known.get(name)


def _restore(value: Any, hint: Any) -> Any:
    if isinstance(value, Mapping):
        if "type" in value and "schema" in value:
            return _record(value)
        return {key: _restore(item, Any) for key, item in value.items()}
    if isinstance(value, list):
        inner = next(iter(typing.get_args(hint)), Any)
        listed = isinstance(hint, type) and issubclass(hint, Sequence) and not issubclass(hint, str)
        own: Any = hint if listed else tuple
        return own(_restore(item, inner) for item in value)
    for option in typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,):
        if isinstance(option, type) and issubclass(option, Enum) and value is not None:
            return option(value)
    return value
