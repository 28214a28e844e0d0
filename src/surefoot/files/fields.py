"""Values out of parsed documents, each checked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import Any, TypeVar

from surefoot.errors import DataError

T = TypeVar("T")
KINDS: dict[type, str] = {dict: "an object", list: "a list", str: "text", int: "a whole number"}


def need(document: Mapping[str, Any], key: str, kind: type[T], source: str, place: str = "") -> T:
    """The value under `key`, which must be there and of this kind."""
    value = document.get(key)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        path = f"{place}.{key}" if place else key
        raise DataError(f"`{path}` must be {KINDS[kind]}; got {_shown(value)}.", source=source)
    return value


def may(document: Mapping[str, Any], key: str, kind: type[T], source: str, place: str = "") -> T | None:
    """The value under `key` if there is one; it must then be of this kind."""
    return None if document.get(key) is None else need(document, key, kind, source, place)


def inner(document: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """The object that keys lead to, one inside the other; empty where there is none."""
    found: Any = document
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def listed(document: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """The objects in the list under `key`; none where there is no list."""
    found = document.get(key)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def objects(values: Iterable[Any], source: str, place: str) -> Iterable[tuple[str, dict[str, Any]]]:
    """Every item of a list that must hold objects, with its place."""
    for number, value in enumerate(values):
        if not isinstance(value, dict):
            raise DataError(f"`{place}[{number}]` must be an object; got {_shown(value)}.", source=source)
        yield f"{place}[{number}]", value


def number(value: Any, source: str, place: str) -> float | None:
    """A number or a truth value; none for null and for NaN, which writers use for "no value"."""
    if value is None:
        return None
    if not isinstance(value, (bool, int, float)):
        raise DataError(f"`{place}` must be a number; got {_shown(value)}.", source=source)
    try:
        known = float(value)
    except OverflowError:
        raise DataError(f"`{place}` must be a finite number; got {_shown(value)}.", source=source) from None
    return None if math.isnan(known) else known


def scalar(value: Any) -> bool:
    """Whether a value fits in a cell."""
    return value is None or isinstance(value, (bool, int, float, str))


def text(value: Any) -> str | None:
    """A name or an id as text."""
    return None if value is None else value if isinstance(value, str) else str(value)[:1000]


def outcome(values: Iterable[float | None]) -> str:
    """Which canonical column these values are: `success` when all are 0 or 1, else `score`."""
    return "success" if all(value is None or value in (0.0, 1.0) for value in values) else "score"


def repeated(rows: Sequence[dict[str, Any]], *keys: str) -> bool:
    """Number the rows that are alike in these keys as `repeat`; False where no two are alike, and none is numbered."""
    alike = [tuple(row.get(key) for key in keys) for row in rows]
    if len(set(alike)) == len(alike):
        return False
    seen: Counter[tuple[Any, ...]] = Counter()
    for row, key in zip(rows, alike, strict=True):
        seen[key] += 1
        row["repeat"] = seen[key]
    return True


def filled(rows: Sized, must: str, source: str) -> None:
    """Refuse a file that holds nothing of what it must."""
    if not len(rows):
        raise DataError(f"{must}; it has none.", source=source)


def unique(keys: Iterable[tuple[Any, ...]], names: str, source: str) -> None:
    """Refuse a file in which the same rollout appears twice."""
    keys = list(keys)
    if len(set(keys)) == len(keys):
        return
    seen: set[tuple[Any, ...]] = set()
    for row, key in enumerate(keys, 1):
        if key in seen:
            shown = ", ".join(str(part) for part in key)
            raise DataError(f"{names} must not repeat; got {shown} twice.", source=source, row=row)
        seen.add(key)


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    return repr(value)[:80]
