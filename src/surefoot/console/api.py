"""How does a request become an operation on the study, and its answer JSON?"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from surefoot.console.authentication import Door
from surefoot.console.openapi import DESCRIPTION
from surefoot.console.operations import BASE, OPERATIONS, Operation, turn_number
from surefoot.console.responses import Refusal, plain
from surefoot.console.service import Service
from surefoot.study.status import Status

MOST_LISTENERS = 200
LOOK_EVERY = 0.25
SIGN_OF_LIFE = 15.0

Endpoint = Callable[[Request], Awaitable[Response]]


class Api:
    """The JSON operations on one study."""

    def __init__(self, service: Service, door: Door) -> None:
        """Serve a study behind a door."""
        self.service, self.door = service, door
        self._listeners = 0

    @property
    def routes(self) -> list[Route]:
        """Every operation with its path."""
        own: dict[str, Endpoint] = {"openapi": self.openapi, "export": self.export, "events": self.events}
        return [
            Route(f"{BASE}{one.path}", own.get(one.name) or self._endpoint(one), methods=[one.method])
            for one in OPERATIONS.values()
        ]

    def _endpoint(self, operation: Operation) -> Endpoint:
        async def answer(request: Request) -> Response:
            session = self.door.enter(request, *operation.roles)
            values = operation.read(await request.body()) if operation.method == "POST" else {}
            if "{number}" in operation.path:
                values["number"] = turn_number(request.path_params["number"])
            if "request" in values and not values["request"]:
                values["request"] = request.headers.get("idempotency-key", "")[:100]
            return JSONResponse(await self.service.ask(operation.name, session, **values))

        return answer

    async def openapi(self, _: Request) -> Response:
        """The description of this API; it holds no secret, so anyone may read it."""
        return JSONResponse(DESCRIPTION)

    async def export(self, request: Request) -> Response:
        """The log as JSON lines, once the study is not blinded."""
        session = self.door.enter(request, *OPERATIONS["export"].roles)
        text = await self.service.ask("export", session)
        headers = {"content-disposition": 'attachment; filename="study.jsonl"'}
        return PlainTextResponse(text, headers=headers, media_type="application/jsonl")

    async def events(self, request: Request) -> Response:
        """Progress as server-sent events: one at once, and one whenever the log has grown."""
        self.door.enter(request)
        if self._listeners >= MOST_LISTENERS:
            raise Refusal(429, "Too many pages are listening.", "Close some, or ask for the status instead.", wait=5)
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
