"""How many may sit on the line and say nothing?

A connection that sends no whole request within some seconds is closed; and of those that are idle only so many are
kept, the newest. So a thousand open and silent connections cost the others nothing.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEAD = 10.0
"""Seconds in which a request's head must have arrived."""
MOST_IDLE = 100
"""Connections that are kept while they ask nothing."""


def bounded() -> type[asyncio.Protocol]:
    """The protocol of one server, which knows its idle connections."""
    idle: OrderedDict[Any, None] = OrderedDict()  # the oldest first

    class Bounded(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
        """HTTP as uvicorn speaks it, with bounds on silence."""

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            self._patience = asyncio.get_running_loop().call_later(HEAD, transport.close)
            self._rest()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is not None and not self.cycle.response_complete:
                self._patience.cancel()
                idle.pop(self, None)

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if not self.transport.is_closing() and (self.cycle is None or self.cycle.response_complete):
                self._rest()

        def connection_lost(self, exc: Exception | None) -> None:
            self._patience.cancel()
            idle.pop(self, None)
            super().connection_lost(exc)

        def _rest(self) -> None:
            idle[self] = None
            idle.move_to_end(self)
            while len(idle) > MOST_IDLE:
                oldest, _ = idle.popitem(last=False)
                oldest.transport.close()

    return Bounded
