"""JSON, read so that nothing in it is lost unsaid.

Python's own reader keeps the last of two equal keys. Here the file is refused: which of the two is meant cannot be
told.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from surefoot.errors import DataError


class DoubledKeyError(ValueError):
    """A key that an object names twice."""

    def __init__(self, key: str) -> None:
        """Keep the key."""
        super().__init__(key)
        self.key = key


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are all different; for `json.loads(..., object_pairs_hook=once)`."""
    found = dict(pairs)
    if len(found) < len(pairs):
        times = Counter(key for key, _ in pairs)
        raise DoubledKeyError(next(key for key, count in times.items() if count > 1))
    return found


DECODER = json.JSONDecoder(object_pairs_hook=once)


SCAN: Any = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
APART = ('" ', '"\t', '"\r', '"\n')
"""A key that is followed by one of these may be one that no colon follows at once."""


def flat(text: str) -> dict[str, Any] | None:
    """An object without others inside, whose keys are all different; None where any of that cannot be told at once.

    Each of its keys ends with a quote and a colon: where there are as many of these as keys, none is named twice.
    """
    try:
        value, end = SCAN(text, 0)
    except (ValueError, StopIteration, RecursionError):
        return None
    told = isinstance(value, dict) and text.count('":') == len(value) and not any(one in text for one in APART)
    return value if told and not text[end:].strip() else None


def parsed(text: str, source: str, *, row: int | None = None) -> Any:
    """A JSON document; bare NaN and Infinity are accepted, as Python's own writer makes them."""
    try:
        return DECODER.decode(text)
    except RecursionError:
        raise DataError("JSON must not be nested this deeply.", source=source, row=row) from None
    except json.JSONDecodeError as error:
        cut = error.msg.startswith("Unterminated") or error.pos >= len(text.rstrip()) - 1
        place = f"line {error.lineno}, column {error.colno}"
        what = f"it is cut off after {place}" if cut else f"{error.msg} at {place}"
        raise DataError(f"the file must be complete JSON; {what}.", source=source, row=row) from None
    except DoubledKeyError as error:
        raise DataError(
            f"a key must be named once in an object; got {error.key[:60]!r} twice.",
            source=source,
            row=_item(text) if row is None else row,
        ) from None
    except ValueError as error:  # a number with too many digits
        raise DataError(f"the file must be readable JSON; {error}.", source=source, row=row) from None


def _item(text: str) -> int | None:
    """Which item of a list holds an object with a doubled key, counted from 1; None when the document is no list."""
    at = text.find("[") + 1
    if not at or text[: at - 1].strip():
        return None
    item = 1
    while True:
        while text[at] in " \t\r\n,":
            at += 1
        try:
            _, at = DECODER.raw_decode(text, at)
        except DoubledKeyError:
            return item
        item += 1
