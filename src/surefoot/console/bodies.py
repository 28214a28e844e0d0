"""How does a request's body become values that the rest may trust?"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any
from urllib.parse import parse_qsl

from surefoot.console.refusals import Refusal

LARGEST = 1e12


class Fields:
    """The fields of a JSON object, each asked for by name and type."""

    def __init__(self, raw: bytes, known: Collection[str], *, form: bool = False) -> None:
        """Read the body; an empty one has no fields.

        Raises:
            Refusal: It is not an object, or has a field that nobody asked for.
        """
        self._data = _form(raw) if form else _object(raw)
        unknown = sorted(set(self._data) - set(known))
        if unknown:
            raise Refusal(422, f"The request must use known fields only; got {', '.join(unknown)[:200]!r}.")

    def __contains__(self, name: str) -> bool:
        return self._data.get(name) is not None

    def raw(self, name: str) -> Any:
        """The value as it came; None when it is absent."""
        return self._data.get(name)

    def text(self, name: str, *, most: int = 200, required: bool = False) -> str:
        """A text, cleaned of white space at its ends; empty when absent."""
        value = self._data.get(name)
        if value is None:
            value = ""
        if not isinstance(value, str):
            raise Refusal(422, f"`{name}` must be a text; got {_shown(value)}.")
        value = clean(value, name).strip()
        if len(value) > most:
            raise Refusal(422, f"`{name}` must have at most {most} characters; got {len(value)}.")
        if required and not value:
            raise Refusal(422, f"`{name}` must be given; it is kept in the log.")
        return value

    def texts(self, name: str, *, most: int = 50, longest: int = 200) -> list[str]:
        """A list of texts; empty when absent."""
        value = [] if self._data.get(name) is None else self._data[name]
        if not isinstance(value, list) or len(value) > most or not all(isinstance(item, str) for item in value):
            raise Refusal(422, f"`{name}` must be a list of at most {most} texts; got {_shown(value)}.")
        if any(len(item) > longest for item in value):
            raise Refusal(422, f"`{name}` must hold texts of at most {longest} characters.")
        return [clean(item, name) for item in value]

    def whole(self, name: str, *, least: int, most: int) -> int | None:
        """A whole number; None when absent."""
        value = self._data.get(name)
        if value is None:
            return None
        if isinstance(value, float) and value.is_integer():  # to JSON, 2.0 and 2 are one number
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise Refusal(422, f"`{name}` must be a whole number from {least} to {most}; got {_shown(value)}.")
        return value

    def number(self, name: str, *, least: float, most: float) -> float | None:
        """A number; None when absent."""
        value = self._data.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise Refusal(422, f"`{name}` must be a number from {least:g} to {most:g}; got {_shown(value)}.")
        return float(value)

    def mapping(self, name: str) -> dict[str, Any]:
        """An object of names and values."""
        value = self._data.get(name)
        if not isinstance(value, dict) or not value:
            raise Refusal(422, f"`{name}` must be an object of names and values; got {_shown(value)}.")
        return value


def _form(raw: bytes) -> dict[str, Any]:
    try:
        return dict(parse_qsl(raw.decode("ascii"), max_num_fields=20))
    except (UnicodeError, ValueError):
        raise Refusal(400, "The form cannot be read.") from None


def _object(raw: bytes) -> dict[str, Any]:
    if not raw.strip():
        return {}
    try:
        data = json.loads(raw.decode("utf-8"), parse_constant=_refused)
        _checked(data)
    except (ValueError, RecursionError) as error:
        raise Refusal(400, f"The body must be JSON; {str(error)[:200] or 'it cannot be read'}.") from None
    if not isinstance(data, dict):
        raise Refusal(400, "The body must be a JSON object.")
    return data


def _checked(value: Any) -> None:
    """Nothing that the log could not keep: endless numbers, broken characters."""
    if isinstance(value, dict):
        for name, item in value.items():
            clean(name, "field")
            _checked(item)
    elif isinstance(value, list):
        for item in value:
            _checked(item)
    elif isinstance(value, str):
        clean(value, "text")
    elif isinstance(value, int | float) and not abs(value) <= LARGEST:
        raise Refusal(422, f"A number must be within ±{LARGEST:g}.")


def clean(text: str, name: str) -> str:
    """The text, if every character of it can be kept and shown."""
    if any((one < " " and one not in "\n\r\t") or "\ud800" <= one <= "\udfff" for one in text):
        raise Refusal(422, f"`{name}` must not hold control characters.")
    return text


def _refused(word: str) -> Any:
    raise ValueError(f"{word} is not a number")


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True)[:60]
