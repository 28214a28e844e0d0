"""What is refused before any handler sees a request.

A wrong host (DNS rebinding), a request that another site made a browser send, one without a token (before its body is
waited for), and a body too large or not all there. Every answer leaves with the same strict headers.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Callable, Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from surefoot.console.operations import OPERATIONS, Refusal
from surefoot.study.clips import MOST_BYTES as MOST_CLIP

MOST_BYTES = 64 * 1024
ARRIVES = 10.0
"""Seconds in which a request's body must have arrived."""
MOST_WAITED, MOST_OF_ONE = 500, 100
"""Bodies that are waited for at one moment, in all and from one address; the oldest then gives way."""
FILES = re.compile("|".join(one.at().replace("None", "[^/]+") for one in OPERATIONS.values() if one.file))
"""Addresses that take a file."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")
HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?")
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
POLICY = (
    "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # "no-referrer" would make browsers send `Origin: null` with our own forms
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=()",
    "cache-control": "no-store",
}


class _GoneError(Exception):
    """Whoever asked has left before all of the request was here."""


class Guard:
    """ASGI middleware around everything."""

    def __init__(
        self,
        app: ASGIApp,
        hosts: Collection[str],
        most: int = MOST_BYTES,
        may: Callable[[Request], object] = lambda _: None,
    ) -> None:
        """Answer only requests that name one of `hosts`, hold at most so many bytes, and that `may` does not refuse."""
        self.app, self.hosts, self.most = app, frozenset(host.lower() for host in hosts), most
        self.may, self._waiting = may, _Waiting()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, then pass on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            headers = Headers(scope=scope)
            self._right_host(headers)
            _same_origin(scope, headers)
            if scope["method"] not in SAFE:
                self.may(Request(scope))
            if FILES.fullmatch(scope["path"]):
                await self.app(scope, _limited(headers, receive), headed)
            elif scope["method"] in SAFE:
                await self.app(scope, receive, headed)
            else:
                async with self._waiting.of(scope):
                    receive = await _whole_body(headers, receive, self.most)
                await self.app(scope, receive, headed)
        except _GoneError:
            return
        except Refusal as refusal:
            answer = JSONResponse(refusal.body, refusal.status, refusal.headers)
            await answer(scope, receive, headed)

    def _right_host(self, headers: Headers) -> None:
        match = HOST.fullmatch(headers.get("host", "").lower())
        name = match[1].strip("[]") if match else None
        if name not in self.hosts:
            raise Refusal(
                421,
                "This server does not answer requests for that host name.",
                "Use the address that it printed when it started.",
            )


class _Waiting:
    """The bodies that are waited for, the oldest first: a stranger who sends halves must not keep others out."""

    def __init__(self) -> None:
        self._all: dict[asyncio.Timeout, str] = {}

    @contextlib.asynccontextmanager
    async def of(self, scope: Scope) -> AsyncIterator[None]:
        """Wait for one more; where they are too many, the oldest, or the oldest of this address, is given up."""
        address, limit = (scope.get("client") or ("",))[0], asyncio.timeout(ARRIVES)
        ours = [one for one, whose in self._all.items() if whose == address]
        if len(ours) >= MOST_OF_ONE or len(self._all) >= MOST_WAITED:
            oldest = ours[0] if len(ours) >= MOST_OF_ONE else next(iter(self._all))
            del self._all[oldest]
            oldest.reschedule(0.0)
        try:
            async with limit:
                self._all[limit] = address
                yield
        except TimeoutError:
            raise Refusal(408, "The request's body did not arrive in time.", "It may be sent again.") from None
        finally:
            self._all.pop(limit, None)


def _same_origin(scope: Scope, headers: Headers) -> None:
    """A request that changes something must come from our own page, or from no browser at all."""
    if scope["method"] in SAFE:
        return
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    ours = f"{scope['scheme']}://{headers.get('host', '')}"
    # The browser's own word comes first: behind a proxy that ends TLS, `Origin` names a scheme that we do not see.
    if site != "same-origin" and (site is not None or (origin is not None and origin.lower() != ours.lower())):
        raise Refusal(403, "The request comes from another site.", "Open the console itself and try there.")


def _limited(headers: Headers, receive: Receive) -> Receive:
    """The body of a file, passed on as it arrives, never past its limit and never with a long pause."""
    too_large = f"A clip may hold at most {MOST_CLIP >> 20} MiB."
    if int(_length(headers)[:12]) > MOST_CLIP:
        raise Refusal(413, too_large)
    size = 0

    async def next_one() -> Message:
        nonlocal size
        try:
            async with asyncio.timeout(ARRIVES):
                message = await receive()
        except TimeoutError:
            raise Refusal(408, "The clip did not arrive in time.", "It may be sent again.") from None
        size += len(message.get("body", b""))
        if size > MOST_CLIP:
            raise Refusal(413, too_large)
        return message

    return next_one


def _length(headers: Headers) -> str:
    length = headers.get("content-length", "0")
    if not length.isdecimal():
        raise Refusal(400, "`Content-Length` must be a whole number.")
    return length


async def _whole_body(headers: Headers, receive: Receive, most: int) -> Receive:
    """The body, read once and never past the limit."""
    if int(_length(headers)[:12]) > most:
        raise Refusal(413, f"A request may hold at most {most // 1024:,} KiB.")
    chunks, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":  # half a request is none: nobody waits for its answer
            raise _GoneError
        chunks.append(message.get("body", b""))
        size += len(chunks[-1])
        more = message.get("more_body", False)
        if size > most:
            raise Refusal(413, f"A request may hold at most {most // 1024:,} KiB.")
    whole = b"".join(chunks)
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": whole, "more_body": False}

    return again
