"""Uploads of clips from phones and robots.

Block by block into a file of its own, never all of it in memory. Who may add it, and whether there is room for it, is
asked before a byte is read. When all of it is there the log names it first, through the queue, and then it takes its
place: a clip that is refused is never kept. Where all places are taken, the slowest that has had its time gives way.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response

from surefoot.console.authentication import Door, Session
from surefoot.console.operations import OPERATIONS, turn_number
from surefoot.console.responses import Refusal
from surefoot.console.service import Service
from surefoot.study.clips import FAULTS, HEAD, Clip, clip_of, is_link, kind_of

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
        """A place for one more.

        Raises:
            Refusal: There is none.
        """
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
