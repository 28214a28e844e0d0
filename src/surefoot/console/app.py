"""The web application of a study: its pages and its API."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from surefoot.console.authentication import Door, Session, Tokens
from surefoot.console.middleware import LOOPBACK, Guard
from surefoot.console.openapi import DESCRIPTION
from surefoot.console.operations import BASE, OPERATIONS, Operation, Refusal, plain, turn_number
from surefoot.console.pages import Pages
from surefoot.console.service import Service
from surefoot.study.clips import FAULTS, HEAD, Clip, clip_of, is_link, kind_of
from surefoot.study.status import Status
from surefoot.study.studies import Study

MOST_AT_ONCE, MOST_OF_ONE = 8, 4
"""Clips that arrive at one moment, in all and from one person or robot."""
PATIENCE, SLOW = 5.0, 64_000
"""After so many seconds a clip that arrives with fewer bytes a second gives way to one that waits for a place."""
TYPES = {"mp4": "video/mp4", "webm": "video/webm", "mov": "video/quicktime"}


class _Arriving:
    """A clip that arrives: whose, since when, how much of it is here, and what ends it."""

    def __init__(self, whose: str) -> None:
        self.whose, self.began, self.size = whose, time.monotonic(), 0
        self.limit = asyncio.timeout(None)

    @property
    def pace(self) -> float:
        """Bytes a second; endless before it had its time."""
        took = time.monotonic() - self.began
        return self.size / took if took > PATIENCE else float("inf")


class Uploads:
    """The operations on clips."""

    def __init__(self, service: Service, door: Door) -> None:
        """Take clips for a study behind a door."""
        self.service, self.door = service, door
        self._arriving: list[_Arriving] = []

    async def clip(self, request: Request) -> Response:
        """Take a clip and add it to its turn's result."""
        operation = OPERATIONS["clip"]
        session = self.door.enter(request, *operation.roles)
        try:
            number = turn_number(request.path_params["number"])
            values = operation.asked(request.url.query)
            name, link = values.pop("name"), values.pop("link")
            if link and not is_link(link):
                raise Refusal(422, "`link` must begin with http:// or https://.")
            values["size"] = int(request.headers.get("content-length", "0")[:12])
            await self.service.ask("clip", session, number=number, clip=None, **values)
            if link:
                return await self._added(session, number, Clip(link=link), values)
            place = self._place(session)
        except Refusal:
            with contextlib.suppress(Refusal, ClientDisconnect):  # a sender hears an answer only once all is sent
                async for _ in request.stream():
                    pass
            raise
        try:
            with self.service.clips.arriving() as file:
                clip = replace(await self._arrived(request, file, place), name=name)
                answer = await self._added(session, number, clip, values)  # the log names it first
                await asyncio.to_thread(self.service.clips.put, Path(file.name), clip)
                return answer
        except ClientDisconnect:
            raise Refusal(400, "The clip did not arrive whole.", "Send it again.") from None
        except OSError as error:
            hint = "Your clip is kept on your device; send it again."
            raise Refusal(503, f"The clip cannot be kept: {error.strerror}.", hint, wait=5) from None
        finally:
            with contextlib.suppress(ValueError):  # it gave way
                self._arriving.remove(place)

    async def download(self, request: Request) -> Response:
        """The file of a turn's clip: as what its first bytes are, to be kept and never shown as a page."""
        session = self.door.enter(request, *OPERATIONS["download"].roles)
        number = turn_number(request.path_params["number"])
        clip: Clip = await self.service.ask("download", session, number=number)
        path = self.service.clips.where(clip)
        if await asyncio.to_thread(self.service.clips.fault, clip):
            raise Refusal(404, f"The clip of turn {number} is missing, or not the one that was recorded.")
        media = TYPES.get(clip.kind) or f"image/{clip.kind.replace('jpg', 'jpeg')}"
        headers = self.service.shown(session) | {"content-security-policy": "sandbox; default-src 'none'"}
        return FileResponse(path, media_type=media, headers=headers, filename=f"turn-{number}.{clip.kind}")

    def _place(self, session: Session) -> _Arriving:
        """A place for one more."""
        own = sum(one.whose == session.author for one in self._arriving)
        slowest = min(self._arriving, key=lambda one: one.pace, default=None)
        if len(self._arriving) >= MOST_AT_ONCE and slowest is not None and slowest.pace < SLOW:
            slowest.limit.reschedule(0.0)
            self._arriving.remove(slowest)
        elif len(self._arriving) >= MOST_AT_ONCE or own >= MOST_OF_ONE:
            raise Refusal(429, "Too many clips are arriving now.", "Send it again in a moment.", wait=2)
        place = _Arriving(session.author)
        self._arriving.append(place)
        return place

    async def _added(self, session: Session, number: int, clip: Clip, values: dict[str, Any]) -> Response:
        found = await self.service.ask("clip", session, number=number, clip=clip, **values | {"size": clip.bytes})
        return JSONResponse(found, headers=self.service.shown(session))

    async def _arrived(self, request: Request, file: IO[bytes], place: _Arriving) -> Clip:
        head = b""
        try:
            async with place.limit:
                async for block in request.stream():
                    place.size += len(block)
                    head += block[: HEAD - len(head)]
                    if len(head) < HEAD or kind_of(head):  # of what is no clip only the beginning is kept
                        file.write(block)
        except TimeoutError:
            raise Refusal(408, "The clip arrived too slowly while others waited.", "Send it again.", wait=5) from None
        file.flush()
        await asyncio.to_thread(os.fsync, file.fileno())
        clip = await asyncio.to_thread(clip_of, file.name)
        if clip.fault:
            raise Refusal(422, f"The clip was not kept: {FAULTS[clip.fault]}.")
        return clip


MOST_LISTENERS = 200
LOOK_EVERY = 0.25
SIGN_OF_LIFE = 15.0
FIXED = {f"{BASE}{one.path}": one.method for one in OPERATIONS.values() if "{" not in one.path}
"""The addresses without a turn's number, and the method that each takes."""

Endpoint = Callable[[Request], Awaitable[Response]]


class Api:
    """The JSON operations on one study."""

    def __init__(self, service: Service, door: Door) -> None:
        """Serve a study behind a door."""
        self.service, self.door = service, door
        self._listeners = 0
        self._uploads = Uploads(service, door)

    @property
    def routes(self) -> list[Route]:
        """Every operation with its path."""
        own: dict[str, Endpoint] = {"openapi": self.openapi, "export": self.export, "events": self.events}
        own |= {"clip": self._uploads.clip, "download": self._uploads.download}
        return [
            Route(f"{BASE}{one.path}", own.get(one.name) or self._endpoint(one), methods=[one.method])
            for one in OPERATIONS.values()
        ]

    def _endpoint(self, operation: Operation) -> Endpoint:
        async def answer(request: Request) -> Response:
            fixed = FIXED.get(request.url.path)  # /turns/next is no turn: a method that it lacks is none of a turn's
            if fixed and fixed != operation.method:
                raise HTTPException(405, headers={"Allow": fixed})
            session = self.door.enter(request, *operation.roles)
            values = operation.read(await request.body()) if operation.method == "POST" else {}
            if "{number}" in operation.path:
                values["number"] = turn_number(request.path_params["number"])
            if "request" in values and not values["request"]:
                values["request"] = request.headers.get("idempotency-key", "")[:100]
            found = await self.service.ask(operation.name, session, **values)
            return JSONResponse(found, headers=self.service.shown(session))

        return answer

    async def openapi(self, _: Request) -> Response:
        """The description of this API; it holds no secret, so anyone may read it."""
        return JSONResponse(DESCRIPTION)

    async def export(self, request: Request) -> Response:
        """The log as JSON lines, once the study is not blinded."""
        session = self.door.enter(request, *OPERATIONS["export"].roles)
        text = await self.service.ask("export", session)
        headers = {"content-disposition": 'attachment; filename="study.jsonl"', **self.service.shown(session)}
        return PlainTextResponse(text, headers=headers, media_type="application/jsonl")

    async def events(self, request: Request) -> Response:
        """Progress as server-sent events: one at once, and one whenever the log has grown."""
        self.door.enter(request)
        if self._listeners >= MOST_LISTENERS:
            raise Refusal(
                429, "Too many pages follow this study.", "Close some of them, or ask for the status instead.", wait=5
            )
        return StreamingResponse(self._news(request), media_type="text/event-stream")

    async def _news(self, request: Request) -> AsyncIterator[str]:
        self._listeners += 1
        try:
            yield "retry: 2000\n\n"
            told, quiet = -1, 0.0
            while not self.service.closing and not await request.is_disconnected():
                status = await self._news_since(told)
                if status is not None:
                    told, quiet = status.version, 0.0
                    yield f"id: {told}\nevent: status\ndata: {json.dumps(plain(status))}\n\n"
                elif quiet >= SIGN_OF_LIFE:
                    quiet = 0.0
                    yield ": still here\n\n"
                quiet += LOOK_EVERY
                await asyncio.sleep(LOOK_EVERY)
        finally:
            self._listeners -= 1

    async def _news_since(self, told: int) -> Status | None:
        """The status, if the log has grown since version `told`."""
        try:
            if self.service.version == told and not self.service.due:
                return None
            status = await self.service.now()
        except Refusal:  # the store is away for a moment: say nothing, look again
            return None
        return None if status.version == told else status


STATIC = Path(__file__).parent / "static"


class _Static(StaticFiles):
    """Files that a browser may keep, and asks about before it uses them again."""

    def file_response(self, *arguments: object, **more: object) -> Response:
        answer = super().file_response(*arguments, **more)  # type: ignore[arg-type]
        answer.headers["cache-control"] = "no-cache"
        return answer


def create_app(
    study: Study, tokens: Tokens, *, hosts: Collection[str] = LOOPBACK, address: str = "", secure: bool = False
) -> Starlette:
    """A study as a web application.

    Args:
        study: The study, open.
        tokens: The secret of each role.
        hosts: The names and addresses it answers to.
        address: Where a phone reaches it, such as ``http://192.168.1.20:8765``; shown as a QR code to the owner.
        secure: Whether it is served over HTTPS, so that cookies are never sent without.
    """
    service = Service(study)
    door = Door(tokens, service.id)
    service.free = door.free
    pages = Pages(service, door, address=address, secure=secure)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        preparing = asyncio.create_task(service.prepare())
        yield
        preparing.cancel()
        service.close()

    async def worker(_: Request) -> Response:  # a worker may serve no page above its own address
        return FileResponse(STATIC / "worker.js", headers={"cache-control": "no-cache"})

    async def refused(request: Request, error: Exception) -> Response:
        refusal = error if isinstance(error, Refusal) else Refusal(500, "The server failed on this request.")
        if isinstance(error, HTTPException):
            said = {404: "There is nothing at this address.", 405: "This address does not take that method."}
            refusal = Refusal(error.status_code, said.get(error.status_code, error.detail))
        if request.url.path.startswith("/api/"):
            answer: Response = JSONResponse(refusal.body, refusal.status, refusal.headers)
        else:
            answer = pages.refused(request, refusal)
        if isinstance(error, HTTPException) and error.headers:
            answer.headers.update(error.headers)
        return answer

    def may(request: Request) -> None:  # who asks is known before the body is waited for; a form shows its token in it
        if request.url.path.startswith(f"{BASE}/"):
            door.enter(request)

    app = Starlette(
        routes=[
            *Api(service, door).routes,
            *pages.routes,
            Route("/worker.js", worker),
            Mount("/static", _Static(directory=STATIC)),
        ],
        middleware=[Middleware(Guard, hosts=hosts, may=may)],
        exception_handlers={Refusal: refused, HTTPException: refused, 500: refused},
        lifespan=lifespan,
    )
    app.state.service = service
    return app
