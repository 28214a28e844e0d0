"""Parts of a plan, such as policies and tasks, as checked values."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from surefoot import _check
from surefoot.core.record import Record

P = TypeVar("P", bound=Record)


def names(value: Any, name: str) -> tuple[str, ...]:
    """A list of different names.

    Raises:
        TypeError: It is no list of non-empty texts.
        ValueError: A name is there twice.
    """
    listed = isinstance(value, tuple | list)
    if not listed or not all(isinstance(item, str) and text(item, name).strip() for item in value):
        raise _check.mistyped(name, "be a list of non-empty names", value)
    if len(set(value)) != len(value):
        raise _check.refused(name, "not repeat a name", list(value))
    return tuple(value)


def text(value: Any, name: str) -> str:
    """A text that can be written.

    Raises:
        TypeError: It is no text.
        ValueError: It holds half a character.
    """
    found = _check.instance(value, name, str)
    if any("\ud800" <= letter <= "\udfff" for letter in found):
        raise _check.refused(name, "be whole Unicode text", found)
    return found


def part(kind: type[P], value: Any, field: str) -> P:
    """A part of a plan, from the table that describes it.

    Raises:
        TypeError: It is no table.
        ValueError: It has a field that such a part does not have, or no name.
    """
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

    Raises:
        TypeError: It is no such list.
        ValueError: A name is there twice, or details are of a name that is not there.
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
