"""A string that no print, log, report or error shows."""

from __future__ import annotations

import hmac
import re
from typing import NoReturn

HIDDEN = "***"
_PASSWORD = re.compile(r"(?P<before>\b[a-z][a-z0-9+.-]*://[^/?#\s@:]*):[^@/?#\s]*@", re.IGNORECASE)
_OPTION = re.compile(r"(?P<before>\b(?:ssl)?password=)(?:'(?:[^'\\]|\\.)*'|[^&\s]*)", re.IGNORECASE)


class Secret:
    """A text that shows itself only when asked by name."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        """Keep a text."""
        self._text = text

    def reveal(self) -> str:
        """The text itself."""
        return self._text

    def __repr__(self) -> str:
        return f"Secret({HIDDEN})"

    def __str__(self) -> str:
        return HIDDEN

    def __format__(self, _: str) -> str:
        return HIDDEN

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(self._text.encode(errors="replace"), other._text.encode(errors="replace"))

    def __hash__(self) -> int:
        return hash(("secret", self._text))

    def __reduce__(self) -> NoReturn:
        raise TypeError("A secret cannot be pickled; reveal it where it is needed.")


def without_password(text: str) -> str:
    """An address, or a sentence that quotes one, without the password in it."""
    return _OPTION.sub(rf"\g<before>{HIDDEN}", _PASSWORD.sub(rf"\g<before>:{HIDDEN}@", text))
