"""Which operations does a study offer over JSON?"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from surefoot.console.bodies import Fields
from surefoot.console.desks import Desk
from surefoot.console.doors import Door
from surefoot.console.openapi import DESCRIPTION
from surefoot.console.refusals import Refusal

MOST_AHEAD = 20
MOST_LISTENERS = 200
LOOK_EVERY = 0.25
SIGN_OF_LIFE = 15.0


class Api:
    """The JSON operations on one desk."""

    def __init__(self, desk: Desk, door: Door) -> None:
        """Serve a desk behind a door."""
        self.desk, self.door = desk, door
        self._listeners = 0

    @property
    def routes(self) -> list[Route]:
        """Every operation with its path."""
        turn = "/turns/{number:int}"
        table = [
            ("/openapi.json", self.openapi, "GET"),
            ("/status", self.status, "GET"),
            ("/plan", self.plan, "GET"),
            ("/turns", self.turns, "GET"),
            ("/turns/next", self.next, "POST"),
            (turn, self.turn, "GET"),
            (f"{turn}/record", self.record, "POST"),
            (f"{turn}/undo", self.undo, "POST"),
            (f"{turn}/void", self.void, "POST"),
            ("/release", self.release, "POST"),
            ("/checks", self.check, "POST"),
            ("/amend", self.amend, "POST"),
            ("/unblind", self.unblind, "POST"),
            ("/results", self.results, "GET"),
            ("/export", self.export, "GET"),
            ("/events", self.events, "GET"),
        ]
        return [Route(f"/api/v1{path}", endpoint, methods=[method]) for path, endpoint, method in table]

    async def openapi(self, _: Request) -> Response:
        """The description of this API; it holds no secret, so anyone may read it."""
        return JSONResponse(DESCRIPTION)

    async def status(self, request: Request) -> Response:
        """Progress, and whether to go on."""
        self.door.enter(request)
        return JSONResponse(await self.desk.ask(self.desk.status))

    async def plan(self, request: Request) -> Response:
        """The plan, amendments included."""
        self.door.enter(request)
        await self.desk.ask(self.desk.look)
        plan = self.desk.plan
        return JSONResponse({"plan": plan.to_dict(), "fingerprint": plan.fingerprint, "version": self.desk.version})

    async def turns(self, request: Request) -> Response:
        """The turns being run now; a runner also learns their policies."""
        session = self.door.enter(request)
        return JSONResponse({"turns": await self.desk.ask(self.desk.held, session)})

    async def turn(self, request: Request) -> Response:
        """One turn that was handed out."""
        session = self.door.enter(request)
        return JSONResponse(await self.desk.ask(self.desk.turn, request.path_params["number"], session))

    async def next(self, request: Request) -> Response:
        """The turn to run next, held for the asker."""
        session = self.door.enter(request)
        fields = Fields(await request.body(), ("holder", "ahead", "lease"))
        holder = fields.text("holder", most=100)
        if session.browser or not holder:  # a browser holds turns under its own name, whatever it says
            holder = session.holder
        ahead = fields.whole("ahead", least=0, most=MOST_AHEAD) or 0
        lease = fields.number("lease", least=1, most=86_400)
        return JSONResponse(await self.desk.ask(self.desk.next_turns, session, holder, ahead, lease))

    async def record(self, request: Request) -> Response:
        """Keep a turn's result."""
        session = self.door.enter(request)
        names = ("result", "duration", "note", "failure", "request", "attempt", "holder")
        fields = Fields(await request.body(), names)
        if fields.raw("result") is None:
            raise Refusal(422, "`result` must be given.")
        entry = {
            "result": fields.raw("result"),
            "duration": fields.number("duration", least=0, most=10_000_000),
            "note": fields.text("note", most=2000),
            "failure": fields.text("failure", most=200),
            "request": fields.text("request", most=100) or request.headers.get("idempotency-key", "")[:100],
            "attempt": fields.whole("attempt", least=1, most=1_000_000),
            "holder": fields.text("holder", most=200),
        }
        return JSONResponse(await self.desk.ask(self.desk.record, session, request.path_params["number"], entry))

    async def undo(self, request: Request) -> Response:
        """Take back a turn's result."""
        session = self.door.enter(request)
        fields = Fields(await request.body(), ("reason", "attempt"))
        reason = fields.text("reason", most=500, required=True)
        attempt = fields.whole("attempt", least=1, most=1_000_000)
        number = request.path_params["number"]
        return JSONResponse(await self.desk.ask(self.desk.undo, session, number, reason, attempt))

    async def void(self, request: Request) -> Response:
        """Declare that the turn's block does not count."""
        session = self.door.enter(request)
        fields = Fields(await request.body(), ("reason", "note"))
        reason, note = fields.text("reason", required=True), fields.text("note", most=2000)
        return JSONResponse(await self.desk.ask(self.desk.void, session, request.path_params["number"], reason, note))

    async def release(self, request: Request) -> Response:
        """Hand back the turns of a holder who will not run them."""
        session = self.door.enter(request)
        holder = Fields(await request.body(), ("holder",)).text("holder", most=200) or session.holder
        return JSONResponse(await self.desk.ask(self.desk.release, session, holder))

    async def check(self, request: Request) -> Response:
        """Log a session's checklist."""
        session = self.door.enter(request)
        fields = Fields(await request.body(), ("items", "note"))
        items, note = fields.texts("items"), fields.text("note", most=2000)
        return JSONResponse(await self.desk.ask(self.desk.check, session, items, note))

    async def amend(self, request: Request) -> Response:
        """Change the plan."""
        session = self.door.enter(request, "owner")
        fields = Fields(await request.body(), ("changes", "reason", "version"))
        changes, reason = fields.mapping("changes"), fields.text("reason", most=500, required=True)
        version = fields.whole("version", least=1, most=1_000_000_000)
        return JSONResponse(await self.desk.ask(self.desk.amend, session, changes, reason, version))

    async def unblind(self, request: Request) -> Response:
        """Reveal which policy each code meant."""
        session = self.door.enter(request, "owner")
        fields = Fields(await request.body(), ("reason", "version"))
        reason = fields.text("reason", most=500, required=True)
        version = fields.whole("version", least=1, most=1_000_000_000)
        return JSONResponse(await self.desk.ask(self.desk.unblind, session, reason, version))

    async def results(self, request: Request) -> Response:
        """Evidence, confidence sequence and tallies, once the study is not blinded."""
        self.door.enter(request)
        live = await self.desk.ask(self.desk.live)
        return JSONResponse(live.data)

    async def export(self, request: Request) -> Response:
        """The log as JSON lines, once the study is not blinded."""
        self.door.enter(request, "owner")
        text = await self.desk.ask(self.desk.export)
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
            while not self.desk.closing and not await request.is_disconnected():
                status = await self._news_since(told)
                if status is not None:
                    told, quiet = status["version"], 0.0
                    yield f"id: {told}\nevent: status\ndata: {json.dumps(status)}\n\n"
                elif quiet >= SIGN_OF_LIFE:
                    quiet = 0.0
                    yield ": still here\n\n"
                quiet += LOOK_EVERY
                await asyncio.sleep(LOOK_EVERY)
        finally:
            self._listeners -= 1

    async def _news_since(self, told: int) -> dict[str, Any] | None:
        """The status, if the log has grown since version `told`."""
        try:
            if self.desk.version == told and self.desk.due:
                await self.desk.ask(self.desk.look)
            status = await self.desk.ask(self.desk.status) if self.desk.version != told else None
        except Refusal:  # the store is away for a moment: say nothing, look again
            return None
        return None if status is None or status["version"] == told else status
