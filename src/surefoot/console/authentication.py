"""Who asks, by their token, and what they may do.

Three roles with a token each, and each study has its own. Whoever is invited by name has a token of their own: the log
then holds that name as proved, and nobody else may use it. A browser shows its token once and gets a signed cookie in
return; a script sends its token with every request. The cookie is signed with that token, so a restarted server knows
it again and a changed token ends every session made from it.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import json
import secrets
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from surefoot._files import write_whole
from surefoot._secret import Secret
from surefoot.console.operations import Refusal, clean
from surefoot.core.words import as_seen
from surefoot.errors import StudyError
from surefoot.study.events import ROLES as AUTHORS
from surefoot.study.events import Role
from surefoot.study.leases import known_as
from surefoot.study.log_files import Mark, marks

if TYPE_CHECKING:
    from starlette.requests import Request

ROLES: tuple[Role, ...] = ("operator", "runner", "owner")
MARKED = "x-surefoot-mark"
"""The header in which a device says what it knows of the log, and the server shows that line."""
SESSION_SECONDS = 7 * 24 * 3600
LEAST = 16
"""Characters of a token, at least: shorter ones can be guessed."""
APART = "/"
"""Stands between a name that was proved and what its owner calls a script: ``arm-1/left``."""


@dataclass(frozen=True, slots=True)
class Invited:
    """A token, and what it proves: a role, and the name of the person or robot that it was made for, if of one."""

    role: Role
    token: Secret
    name: str = ""


@dataclass(frozen=True, slots=True)
class Tokens:
    """The secret of each role, and of everybody who was invited by name.

    Attributes:
        operator: Sees codes, runs turns.
        runner: As an operator, and alone learns which policy a code means.
        owner: As an operator, and may unblind, amend and export.
        invited: People and robots with a token of their own.
        path: The file in which they are kept, if in one.
    """

    operator: Secret
    runner: Secret
    owner: Secret
    invited: tuple[Invited, ...] = ()
    path: Path | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        each = [one.token.reveal() for one in self.all]
        if any(len(token) < LEAST for token in each):
            raise StudyError(f"A token must have at least {LEAST} characters.")
        if len(set(each)) != len(each):
            raise StudyError("Each role and each name must have a token of its own.")

    @classmethod
    def fresh(cls) -> Tokens:
        """Three new tokens of 144 random bits."""
        return cls(_fresh(), _fresh(), _fresh())

    @classmethod
    def kept(cls, path: Path, study: str = "") -> Tokens:
        """The tokens in a file that only its owner may read; made new if there is none, or only another study's.

        Args:
            path: The file.
            study: The study's short name for itself.
        """
        try:
            if path.exists():
                told = json.loads(path.read_text(encoding="utf-8"))
                if told.pop("study", study) == study or not study:
                    guests = [Invited(**{**one, "token": Secret(one["token"])}) for one in told.pop("invited", ())]
                    return cls(
                        **{role: Secret(token) for role, token in told.items()}, invited=tuple(guests), path=path
                    )
            return replace(cls.fresh(), path=path).written(study)
        except (OSError, TypeError, ValueError, AttributeError, KeyError) as error:
            raise StudyError(f"{path}: the tokens cannot be used: {error}. Delete it for new ones.") from None

    def written(self, study: str = "") -> Tokens:
        """Themselves, once they are in their file."""
        told: dict[str, Any] = {role: self.of(role).reveal() for role in ROLES} | ({"study": study} if study else {})
        if self.invited:
            told["invited"] = [
                {"name": one.name, "role": one.role, "token": one.token.reveal()} for one in self.invited
            ]
        if self.path is not None:
            write_whole(self.path, json.dumps(told, indent=1), private=True)
        return self

    def inviting(self, name: str, role: Role | None) -> Tokens:
        """With a fresh token for that name, in place of an earlier one; without any when it is to have no role."""
        others = tuple(one for one in self.invited if as_seen(one.name) != as_seen(name))
        return replace(self, invited=(*others, *([Invited(role, _fresh(), name)] if role else [])))

    @property
    def all(self) -> list[Invited]:
        """Every token."""
        return [*(Invited(role, self.of(role)) for role in ROLES), *self.invited]

    def of(self, role: Role) -> Secret:
        """A role's token."""
        token: Secret = getattr(self, role)
        return token

    def proved_by(self, token: str) -> Invited | None:
        """What a token proves; every token is compared, and in constant time."""
        found: Invited | None = None
        for one in self.all:
            if Secret(token) == one.token:
                found = one
        return found

    def free(self, name: str) -> str:
        """A name that somebody gives without proving it."""
        seen = as_seen(known_as(name).partition(APART)[0])
        if seen in AUTHORS or any(seen == as_seen(one.name) for one in self.invited):
            raise Refusal(
                403,
                f"The name {name!r} is taken: {'it is a role' if seen in AUTHORS else 'only its own token proves it'}.",
                "Use another, or ask the study's owner for a token of your own (`surefoot study invite NAME`).",
            )
        return name


def _fresh() -> Secret:
    return Secret(secrets.token_urlsafe(18))


@dataclass(frozen=True, slots=True)
class Session:
    """Somebody who showed a token.

    Attributes:
        role: What they may do.
        device: The browser or script, under which turns are held.
        name: Who they say they are; the author of their events.
        browser: Whether a cookie vouches for them: then requests must come from our own pages.
        mark: What they know of the log; nothing if they know none.
        proved: Whether the token was made for that name.
    """

    role: Role
    device: str
    name: str = ""
    browser: bool = False
    mark: Mark | None = None
    proved: bool = False

    @property
    def author(self) -> str:
        """The name in the log."""
        return self.name or self.role

    @property
    def holder(self) -> str:
        """Who holds a turn: a name to recognise, and the device that makes it unique."""
        return f"{self.author} ({self.device})" if self.browser else self.own(self.device)

    def own(self, claimed: str) -> str:
        """A name under which a script works: below its own, where it has a token for that."""
        if not self.proved or claimed.partition(APART)[0] == self.name:
            return claimed
        return f"{self.name}{APART}{claimed}"


def seal(session: Session, tokens: Tokens, now: float | None = None) -> str:
    """The session as a cookie that only we can have written."""
    body = [session.role, session.device, session.name, int((now or time.time()) + SESSION_SECONDS), session.proved]
    text = base64.urlsafe_b64encode(json.dumps(body).encode()).decode().rstrip("=")
    (key,) = _keys(tokens, session.role, session.name, proved=session.proved)
    return f"{text}.{_mark(text, key)}"


def _keys(tokens: Tokens, role: str, name: str, *, proved: bool) -> list[Secret]:
    """The token that signs the cookie of that role and name, if there is one."""
    return [one.token for one in tokens.all if one.role == role and one.name == (name if proved else "")]


def unseal(cookie: str, tokens: Tokens, now: float | None = None) -> Session | None:
    """The session in a cookie; None when it was not written by us, or is too old."""
    text, _, mark = cookie.partition(".")
    try:
        body: Any = json.loads(base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4)))
        role, device, name, until, proved = body
        (key,) = _keys(tokens, role, name, proved=proved)
        good = hmac.compare_digest(mark.encode("ascii"), _mark(text, key).encode())
    except (ValueError, TypeError, UnicodeError):
        return None
    if not good or until <= (now or time.time()):
        return None
    return Session(role, device, name, browser=True, proved=proved)


def _mark(text: str, key: Secret) -> str:
    return hmac.new(f"surefoot session {key.reveal()}".encode(), text.encode(), hashlib.sha256).hexdigest()


class Attempts:
    """Wrong tokens by address: past a number in a minute, another wrong one is told to wait."""

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


@dataclass(slots=True)
class Door:
    """Lets in whoever shows a token, and knows them again by their cookie."""

    tokens: Tokens
    study: str
    attempts: Attempts = field(default_factory=Attempts)
    seen: int = 0

    def __post_init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Take in who was invited, and who no longer is, since the tokens' file was read."""
        path = self.tokens.path
        with contextlib.suppress(OSError, StudyError):  # deleted, or half edited: those that were read still hold
            if path is not None and (written := path.stat().st_mtime_ns) != self.seen:
                self.tokens, self.seen = Tokens.kept(path, self.study), written

    def free(self, name: str) -> str:
        """A name that somebody gives without proving it.

        Raises:
            Refusal: It is a role's, or that of somebody with a token of their own.
        """
        return self.tokens.free(name)

    @property
    def cookie(self) -> str:
        """The cookie's name: each study has its own, so that one browser may take part in several."""
        return f"surefoot_{self.study}"

    def enter(self, request: Request, *roles: Role) -> Session:
        """The session of a request, in one of `roles` if any are named."""
        if request.headers.get("x-surefoot-study", self.study) != self.study:
            raise Refusal(
                421,
                "Another study is served here now.",
                "What you entered is kept until its own study is served again.",
            )
        session = self.known(request)
        if session is None:
            raise Refusal(401, "A token is needed first.", "Scan the code on the owner's page, or send a bearer token.")
        if session.browser and request.method == "POST" and not _by_our_page(request):
            raise Refusal(403, "The request does not say that it comes from our own page.", "Use a current browser.")
        if roles and session.role not in roles:
            raise Refusal(403, f"Only the {' or '.join(roles)} may do this; you are the {session.role}.")
        return replace(session, mark=next(iter(marks(request.headers.get(MARKED, "")[:200])), None))

    def known(self, request: Request) -> Session | None:
        """The session of a request, if it has one.

        Raises:
            Refusal: A token was shown, and it is wrong.
        """
        self.renew()
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            shown = self.proved_by(token.strip(), request)
            name = clean(
                unquote(request.headers.get("x-surefoot-name", "")[:600])[:200], "X-Surefoot-Name", lines=False
            ).strip()
            if shown.name:
                return Session(shown.role, name or shown.name, shown.name, proved=True)
            return Session(shown.role, name or shown.role, self.tokens.free(name))
        return unseal(request.cookies.get(self.cookie, ""), self.tokens)

    def proved_by(self, token: str, request: Request) -> Invited:
        """What a token proves; wrong ones are counted by address, and a right one is never kept waiting by them."""
        self.renew()
        shown = self.tokens.proved_by(token)
        if shown is not None:
            return shown
        address = request.client.host if request.client else ""
        wait = self.attempts.wait(address)
        if wait:
            raise Refusal(429, "Too many wrong tokens from this address.", f"Wait {wait:.0f} s.", wait=wait)
        self.attempts.failed(address)
        raise Refusal(401, "The token is wrong.", "Scan the code again, or copy the whole token.")


def new_device() -> str:
    """A name for a browser, to hold its turns under."""
    return secrets.token_hex(4)


def _by_our_page(request: Request) -> bool:
    """Whether the browser says so itself; `Guard` has refused those that say otherwise."""
    return "origin" in request.headers or "sec-fetch-site" in request.headers
