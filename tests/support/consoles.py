"""A study behind a console, for the tests: in this process, in a thread, or as the real program."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import uvicorn
from starlette.testclient import TestClient

from surefoot.console.app import create_app
from surefoot.console.authentication import Tokens
from surefoot.console.serving import bounded
from surefoot.study.plans import Plan
from surefoot.study.stores.sqlite import SQLiteStore
from surefoot.study.studies import Study

HERE = "http://localhost"
OURS = {"Origin": HERE}


def plan(**changes: Any) -> Plan:
    fields: dict[str, Any] = {
        "policies": ("new", "old"),
        "title": "Mug on the shelf",
        "rule": "mixture",
        "horizon": 40,
        "tasks": ("place mug",),
        "conditions": ("handle left", "handle right"),
        "reset": "Put the mug on the blue mark.",
        "time_limit": 90.0,
    }
    return Plan(**{**fields, **changes})


def study(path: Path, **changes: Any) -> Study:
    return Study.create(plan(**changes), SQLiteStore(path / "study.db"))


@dataclass
class Console:
    """A study, its tokens and a client that speaks to it in this process."""

    made: Study
    tokens: Tokens = field(default_factory=Tokens.fresh)

    def __post_init__(self) -> None:
        self.app = create_app(self.made, self.tokens)

    @property
    def study(self) -> Study:
        """The study, with all that was done through the console."""
        self.made.refresh()
        return self.made

    def bearer(self, role: str = "runner", name: str = "") -> dict[str, str]:
        headers = {"Authorization": f"Bearer {getattr(self.tokens, role).reveal()}"}
        return {**headers, "X-Surefoot-Name": name} if name else headers

    def client(self, role: str | None = None, **more: Any) -> TestClient:
        """A client that has shown a role's token; without a role, one that has not."""
        headers = self.bearer(role) if role else {}
        return TestClient(self.app, base_url=HERE, headers=headers, **more)

    def browser(self, role: str, name: str = "Ann") -> TestClient:
        """A client that exchanged its token for a cookie, and says where its requests come from."""
        client = TestClient(self.app, base_url=HERE, headers=OURS)
        answer = client.post(
            "/join", data={"token": getattr(self.tokens, role).reveal(), "name": name}, follow_redirects=False
        )
        assert answer.status_code == 303
        return client


def ran(client: TestClient, results: list[Any]) -> list[dict[str, Any]]:
    """Run so many turns with these results; the turns."""
    turns = []
    for result in results:
        turn = client.post("/api/v1/turns/next").json()["turn"]
        answer = client.post(f"/api/v1/turns/{turn['number']}/record", json={"result": result, "duration": 1.0})
        assert answer.status_code == 200, answer.text
        turns.append(turn)
    return turns


def clock(start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> Any:
    return lambda: start


@contextlib.contextmanager
def threaded(study: Study, tokens: Tokens) -> Iterator[str]:
    """The console on a free port, in a thread; its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    app = create_app(study, tokens)
    app.state.service.follow(None)
    config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=3, http=bounded(), limit_concurrency=1000)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{port}"
    reachable(address)
    try:
        yield address
    finally:
        app.state.service.closing = server.should_exit = True
        thread.join(10)
        listener.close()


def reachable(address: str, seconds: float = 30.0) -> None:
    until = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(f"{address}/api/v1/openapi.json", timeout=5):
                return
        except (OSError, urllib.error.URLError):
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


class Program:
    """`surefoot study serve` as a program of its own, which can be killed and started again."""

    def __init__(self, path: Path, port: int | None = None) -> None:
        self.path = path
        self.tokens = Tokens.kept(Path(f"{path}.tokens.json"))
        self.port = port or free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> Program:
        words = ["-m", "surefoot", "study", "serve", str(self.path), "--port", str(self.port)]
        self.process = subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        reachable(self.address)
        return self

    def kill(self) -> None:
        """End it as a power cut would."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()
        self.process = None

    def __enter__(self) -> Program:
        return self.start()

    def __exit__(self, *_: object) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(15)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
