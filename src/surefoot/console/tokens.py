"""Who is asking, and what may they do?

Three roles with a token each. A browser shows its token once and gets a signed cookie in return; a script sends its
token with every request. The cookie is signed with the role's token, so a restarted server knows it again and a
changed token ends every session made from it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import secrets
import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from surefoot.errors import StudyError

Role = Literal["operator", "runner", "owner"]
ROLES: tuple[Role, ...] = get_args(Role)
SESSION_SECONDS = 7 * 24 * 3600
LEAST = 16
"""Characters of a token, at least: shorter ones can be guessed."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """The secret of each role.

    Attributes:
        operator: Sees codes, runs turns.
        runner: As an operator, and alone learns which policy a code means.
        owner: As an operator, and may unblind, amend and export.
    """

    operator: str = field(repr=False)
    runner: str = field(repr=False)
    owner: str = field(repr=False)

    def __post_init__(self) -> None:
        each = [getattr(self, role) for role in ROLES]
        if any(not isinstance(token, str) or len(token) < LEAST for token in each):
            raise StudyError(f"A token must have at least {LEAST} characters.")
        if len(set(each)) != len(each):
            raise StudyError("Each role must have a token of its own.")

    @classmethod
    def fresh(cls) -> Tokens:
        """Three new tokens of 144 random bits."""
        return cls(*(secrets.token_urlsafe(18) for _ in ROLES))

    @classmethod
    def kept(cls, path: Path) -> Tokens:
        """The tokens in a file that only its owner may read; made new if there is none.

        Raises:
            StudyError: The file cannot be read or written.
        """
        try:
            if not path.exists():
                tokens = cls.fresh()
                handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(handle, "w") as file:
                    json.dump(asdict(tokens), file, indent=1)
                return tokens
            return cls(**json.loads(path.read_text()))
        except (OSError, TypeError, ValueError) as error:
            raise StudyError(f"{path}: the tokens cannot be used: {error}. Delete it for new ones.") from None

    def role_of(self, token: str) -> Role | None:
        """Whose token it is; every token is compared, and in constant time."""
        found: Role | None = None
        for role in ROLES:
            if hmac.compare_digest(token.encode(errors="replace"), getattr(self, role).encode()):
                found = role
        return found


@dataclass(frozen=True, slots=True)
class Session:
    """Somebody who showed a token.

    Attributes:
        role: What they may do.
        device: The browser or script, under which turns are held.
        name: Who they say they are; the author of their events.
        browser: Whether a cookie vouches for them: then requests must come from our own pages.
    """

    role: Role
    device: str
    name: str = ""
    browser: bool = False

    @property
    def author(self) -> str:
        """The name in the log."""
        return self.name or self.role

    @property
    def holder(self) -> str:
        """Who holds a turn: a name to recognise, and the device that makes it unique."""
        return f"{self.author} ({self.device})" if self.browser else self.device


def seal(session: Session, tokens: Tokens, now: float | None = None) -> str:
    """The session as a cookie that only we can have written."""
    body = [session.role, session.device, session.name, int((now or time.time()) + SESSION_SECONDS)]
    text = base64.urlsafe_b64encode(json.dumps(body).encode()).decode().rstrip("=")
    return f"{text}.{_mark(text, getattr(tokens, session.role))}"


def unseal(cookie: str, tokens: Tokens, now: float | None = None) -> Session | None:
    """The session in a cookie; None when it was not written by us, or is too old."""
    text, _, mark = cookie.partition(".")
    try:
        body: Any = json.loads(base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4)))
        role, device, name, until = body
        key = getattr(tokens, role) if role in ROLES else ""
        good = hmac.compare_digest(mark.encode("ascii"), _mark(text, key).encode()) if key else False
    except (ValueError, TypeError, UnicodeError):
        return None
    if not good or until <= (now or time.time()):
        return None
    return Session(role, device, name, browser=True)


def _mark(text: str, key: str) -> str:
    return hmac.new(f"surefoot session {key}".encode(), text.encode(), hashlib.sha256).hexdigest()


class Attempts:
    """Wrong tokens by address: past a number in a minute, no further token is looked at."""

    def __init__(self, most: int = 10, seconds: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        """Allow `most` wrong tokens in so many seconds."""
        self.most, self.seconds, self._clock = most, seconds, clock
        self._wrong: dict[str, deque[float]] = {}

    def wait(self, address: str) -> float:
        """Seconds until this address may try again; 0 when it may now."""
        now, wrong = self._clock(), self._wrong.get(address)
        if not wrong:
            return 0.0
        while wrong and wrong[0] <= now - self.seconds:
            wrong.popleft()
        if not wrong:
            del self._wrong[address]
        return wrong[0] + self.seconds - now if len(wrong) >= self.most else 0.0

    def failed(self, address: str) -> None:
        """Count a wrong token."""
        if len(self._wrong) > 10_000:  # somebody has many addresses: keep memory bounded, forget the oldest
            del self._wrong[next(iter(self._wrong))]
        self._wrong.setdefault(address, deque(maxlen=self.most)).append(self._clock())
