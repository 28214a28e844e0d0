"""How does a clip arrive from a phone or a robot, without holding anything else up?

Block by block into a file of its own beside the others, never all of it in memory. Who may add it is asked before a
byte is read; it is hashed and put in its place aside, and only the line of the log goes through the queue.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from surefoot.console.authentication import Door, Session
from surefoot.console.operations import OPERATIONS, turn_number
from surefoot.console.responses import Refusal
from surefoot.console.service import Service
from surefoot.study.clips import FAULTS, HEAD, Clip, is_link, kind_of

MOST_AT_ONCE = 8


class Uploads:
    """The operation `clip`."""

    def __init__(self, service: Service, door: Door) -> None:
        """Take clips for a study behind a door."""
        self.service, self.door = service, door
        self._arriving = 0

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
            await self.service.ask("clip", session, number=number, clip=None, **values)
            if link:
                return await self._added(session, number, Clip(link=link), values)
            if self._arriving >= MOST_AT_ONCE:
                raise Refusal(429, "Too many clips are arriving now.", "Send it again in a moment.", wait=2)
        except Refusal:
            with contextlib.suppress(Refusal, ClientDisconnect):  # a sender hears an answer only once all is sent
                async for _ in request.stream():
                    pass
            raise
        self._arriving += 1
        try:
            return await self._added(session, number, await self._arrived(request, name), values)
        except ClientDisconnect:
            raise Refusal(400, "The clip did not arrive whole.", "Send it again.") from None
        finally:
            self._arriving -= 1

    async def _added(self, session: Session, number: int, clip: Clip, values: dict[str, Any]) -> Response:
        found = await self.service.ask("clip", session, number=number, clip=clip, **values)
        return JSONResponse(found, headers=self.service.shown(session))

    async def _arrived(self, request: Request, name: str) -> Clip:
        folder = self.service.clips
        try:
            folder.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=folder.path, prefix=".arriving-", suffix=".part") as file:
                head = b""
                async for block in request.stream():
                    head += block[: HEAD - len(head)]
                    if len(head) < HEAD or kind_of(head):  # of what is no clip only the beginning is kept
                        file.write(block)
                file.flush()
                clip = await asyncio.to_thread(folder.kept, Path(file.name))
        except OSError as error:
            hint = "Your clip is kept on your device; send it again."
            raise Refusal(503, f"The clip cannot be kept: {error.strerror}.", hint, wait=5) from None
        if clip.fault:
            raise Refusal(503 if clip.fault == "not kept" else 422, f"The clip was not kept: {FAULTS[clip.fault]}.")
        return replace(clip, name=name)
