"""Who stands at the door: a cookie, a token, or nobody?"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from starlette.requests import Request

from surefoot.console.bodies import clean
from surefoot.console.refusals import Refusal
from surefoot.console.tokens import Attempts, Role, Session, Tokens, unseal


@dataclass(slots=True)
class Door:
    """Lets in whoever shows a token, and knows them again by their cookie."""

    tokens: Tokens
    study: str
    attempts: Attempts = field(default_factory=Attempts)

    @property
    def cookie(self) -> str:
        """The cookie's name: each study has its own, so that one browser may take part in several."""
        return f"surefoot_{self.study}"

    def enter(self, request: Request, *roles: Role) -> Session:
        """The session of a request, in one of `roles` if any are named.

        Raises:
            Refusal: Nobody we know, or not allowed here.
        """
        if request.headers.get("x-surefoot-study", self.study) != self.study:
            raise Refusal(421, "Another study is served here now.", "What you entered waits for its own study.")
        session = self.known(request)
        if session is None:
            raise Refusal(401, "Show a token first.", "Scan the code on the owner's page, or send a bearer token.")
        if session.browser and request.method == "POST" and not _by_our_page(request):
            raise Refusal(403, "The request does not say that it comes from our own page.", "Use a current browser.")
        if roles and session.role not in roles:
            raise Refusal(403, f"This is for the {' or '.join(roles)}; you are the {session.role}.")
        return session

    def known(self, request: Request) -> Session | None:
        """The session of a request, if it has one.

        Raises:
            Refusal: A token was shown, and it is wrong.
        """
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            role = self.role_of(token.strip(), request)
            name = clean(request.headers.get("x-surefoot-name", "")[:100], "X-Surefoot-Name").strip()
            return Session(role, name or role, name)
        return unseal(request.cookies.get(self.cookie, ""), self.tokens)

    def role_of(self, token: str, request: Request) -> Role:
        """Whose token it is; wrong ones are counted by address.

        Raises:
            Refusal: The token is wrong, or too many were.
        """
        address = request.client.host if request.client else ""
        wait = self.attempts.wait(address)
        if wait:
            raise Refusal(429, "Too many wrong tokens from this address.", f"Wait {wait:.0f} s.", wait=wait)
        role = self.tokens.role_of(token)
        if role is None:
            self.attempts.failed(address)
            raise Refusal(401, "The token is wrong.", "Scan the code again, or copy the whole token.")
        return role


def new_device() -> str:
    """A name for a browser, to hold its turns under."""
    return secrets.token_hex(4)


def _by_our_page(request: Request) -> bool:
    """Whether the browser says so itself; `Guard` has refused those that say otherwise."""
    return "origin" in request.headers or "sec-fetch-site" in request.headers
