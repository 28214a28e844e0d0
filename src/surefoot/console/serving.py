"""The server of a study, and the links to it."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from surefoot.console.authentication import Tokens
from surefoot.errors import StudyError
from surefoot.study.events import Role
from surefoot.study.notifications import Notifier
from surefoot.study.studies import Study

PORT = 8765
EVERYWHERE = ("0.0.0.0", "::")
"""To listen at these is to listen at every address of this machine; nobody can reach it by them."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a study is served.

    Attributes:
        host: The address to listen at; this machine only by default.
        port: The port; 0 takes a free one.
        names: Further names it answers to, such as the machine's name on the network.
        certificate: The TLS certificate's file, to serve over HTTPS.
        key: The certificate's private key.
    """

    host: str = "127.0.0.1"
    port: int = PORT
    names: tuple[str, ...] = ()
    certificate: Path | None = None
    key: Path | None = None

    @property
    def secure(self) -> bool:
        """Whether it is served over HTTPS."""
        return self.certificate is not None


def lan_address() -> str:
    """This machine's address on its network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing: only asks which of our addresses would be used
            return str(probe.getsockname()[0])
        except OSError:
            raise StudyError("This machine is on no network; give its address with --host.") from None


READABLE = "Anyone on this network can read what is sent. Use a network that you trust, or --certificate and --key."

LINKS: dict[Role, str] = {
    "operator": "runs turns by code",
    "runner": "learns the policies",
    "owner": "unblinds",
}
"""Whose links are shown, and what they may do."""


def serve(
    study: Study, tokens: Tokens, place: Place, *, say: Callable[[str], None] = print, notify: str | None = None
) -> None:
    """Serve a study until stopped."""
    try:
        import uvicorn

        from surefoot.console.app import create_app
        from surefoot.console.middleware import LOOPBACK
        from surefoot.console.pages import terminal
    except ImportError as error:
        hint = "in a clone of surefoot, pip install '.[console]'"
        raise StudyError(f"The console needs the `console` extra ({error.name} is missing): {hint}.") from None
    notifier, listening = None if notify is None else Notifier(notify), listener(place)
    host = lan_address() if place.host in EVERYWHERE else place.host
    shown = f"[{host}]" if ":" in host else host
    address = f"{'https' if place.secure else 'http'}://{shown}:{listening.getsockname()[1]}"
    hosts = {*LOOPBACK, host, *place.names}
    app = create_app(study, tokens, hosts=hosts, address=address, secure=place.secure)
    app.state.service.follow(notifier)
    say(f"{study.plan}\n")
    for role, what in LINKS.items():
        say(f"{role:>8}  {address}/join#{tokens.of(role).reveal()}   {what}")
    if host not in LOOPBACK:
        if not place.secure:
            say(f"\n{READABLE}")
        say(f"\nThe operator's phone:\n{terminal(f'{address}/join#{tokens.operator.reveal()}')}")
    say("\nStop with Ctrl+C. Everything recorded is kept.")
    config = uvicorn.Config(
        app,
        http=bounded(),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=2,
        limit_concurrency=1000,
        ssl_certfile=place.certificate,
        ssl_keyfile=place.key,
    )

    class Server(uvicorn.Server):
        """Tells listening pages to go before it waits for them."""

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            app.state.service.closing = True
            super().handle_exit(sig, frame)

    sys.setswitchinterval(0.0005)  # the queue's thread and the network's take turns more often than every 5 ms
    with listening:
        Server(config).run(sockets=[listening])
    if notifier is not None:
        notifier.close()


def listener(place: Place) -> socket.socket:
    """A socket that listens there."""
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((place.host, place.port))
        listening.listen(1024)
    except OSError as error:
        listening.close()
        hint = "Is the study served already? If not, give another --port."
        raise StudyError(f"The server cannot listen at {place.host}:{place.port}: {error.strerror}. {hint}") from None
    return listening


HEAD = 10.0
"""Seconds in which a request's head must have arrived."""
MOST_IDLE = 100
"""Connections that are kept while they ask nothing."""


def bounded() -> type[asyncio.Protocol]:
    """The protocol of one server, which knows its idle connections."""
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

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
