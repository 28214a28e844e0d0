"""A PostgreSQL server for the tests: made new, on a free port of this machine, thrown away afterwards."""

from __future__ import annotations

import contextlib
import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), reverse=True)


def missing() -> str:
    """Why there can be no server here; empty when there can."""
    if find_spec("psycopg") is None:
        return "needs psycopg, of the extra `postgres`"
    if not PROGRAMS and shutil.which("initdb") is None:
        return "PostgreSQL's server programs are not installed (apt-get install postgresql)"
    if os.geteuid() == 0:
        try:
            pwd.getpwnam("postgres")
        except KeyError:
            return "PostgreSQL does not run as root and there is no user postgres to run it as"
    return ""


class Cluster:
    """A server of its own, which can be killed and started again."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="surefoot-pg-"))
        self.names = itertools.count(1)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.port = int(listener.getsockname()[1])
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres")
        self._run("initdb", "-D", self.data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync")
        self.start()

    @property
    def data(self) -> str:
        return str(self.folder / "data")

    def address(self, study: str | None = None) -> str:
        """Where a study is kept; a new one when none is named."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres?study={study or f'study-{next(self.names)}'}"

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -k {self.folder} -c max_connections=120"
        self._run("pg_ctl", "-D", self.data, "-w", "-t", "60", "-o", options, "-l", f"{self.folder}/log", "start")

    def kill(self) -> None:
        """End the server as a power cut of the machine's programs would: no good-bye, recovery at the next start."""
        first = Path(self.data, "postmaster.pid").read_text().split()[0]
        os.kill(int(first), signal.SIGKILL)
        for _ in range(200):  # its children notice and end
            if not _children(int(first)) and not Path(f"/proc/{first}").exists():
                break
            time.sleep(0.05)
        Path(self.data, "postmaster.pid").unlink(missing_ok=True)

    def stop(self) -> None:
        self._run("pg_ctl", "-D", self.data, "-m", "immediate", "-w", "stop", check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *words: str, check: bool = True) -> None:
        path = str(PROGRAMS[0] / program) if PROGRAMS else program
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        owner: dict[str, Any] = (
            {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
        )
        subprocess.run([path, *words], cwd=self.folder, check=check, **quiet, **owner)


def _children(parent: int) -> list[int]:
    path = Path(f"/proc/{parent}/task/{parent}/children")
    return [int(word) for word in path.read_text().split()] if path.exists() else []


class Line:
    """A wire to a database, on a port of its own, that carries so many bytes a second each way."""

    def __init__(self, cluster: Cluster, rate: float) -> None:
        self.cluster, self.rate = cluster, rate
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.wires = [self.listener]
        threading.Thread(target=self._take, daemon=True).start()

    def address(self) -> str:
        return self.cluster.address().replace(f":{self.cluster.port}/", f":{self.listener.getsockname()[1]}/")

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: object) -> None:
        for wire in self.wires:
            with contextlib.suppress(OSError):
                wire.shutdown(socket.SHUT_RDWR)
            wire.close()

    def _take(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near = self.listener.accept()[0]
                self.wires.append(near)
                self._joined(near)

    def _joined(self, near: socket.socket) -> None:
        far = socket.create_connection(("127.0.0.1", self.cluster.port))
        self.wires.append(far)
        for one, other in ((near, far), (far, near)):
            threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    def _carry(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while block := one.recv(4096):
                time.sleep(len(block) / self.rate)
                other.sendall(block)
        other.close()


class Pooler(Line):
    """As PgBouncer in transaction mode: after each transaction a client may be given another's connection."""

    def __init__(self, cluster: Cluster) -> None:
        self.free: list[socket.socket] = []
        super().__init__(cluster, rate=1e12)

    def _joined(self, near: socket.socket) -> None:
        threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def _far(self) -> socket.socket:
        """A connection that has just ended a transaction of anybody's: never the one used last, where there are two."""
        if len(self.free) >= 2:
            return self.free.pop(0)
        far = socket.create_connection(("127.0.0.1", self.cluster.port))
        self.wires.append(far)
        body = b"\0\3\0\0user\0postgres\0database\0postgres\0\0"
        far.sendall((len(body) + 4).to_bytes(4) + body)
        self.hello = _until_ready(far)
        return far

    def _serve(self, near: socket.socket) -> None:
        with contextlib.suppress(OSError, EOFError):
            while _exactly(near, _exactly(near, 4, whole=True) - 4)[:4] in (b"\4\xd2\x16\x2f", b"\4\xd2\x16\x30"):
                near.sendall(b"N")  # neither TLS nor GSS
            self.free.append(self._far())
            near.sendall(self.hello)
            while True:
                ended, far, asked = b"E", None, b""
                while ended != b"I":  # a transaction
                    while True:
                        kind = _exactly(near, 1)
                        size = _exactly(near, 4)
                        asked += kind + size + _exactly(near, int.from_bytes(size) - 4)
                        if kind in b"QSX":
                            break
                    if kind == b"X":
                        near.close()
                        return
                    far = far or self._far()
                    far.sendall(asked)
                    answer, asked = _until_ready(far), b""
                    near.sendall(answer)
                    ended = answer[-1:]
                self.free.append(far)


def _exactly(wire: socket.socket, size: int, *, whole: bool = False) -> Any:
    found = b""
    while len(found) < size:
        block = wire.recv(size - len(found))
        if not block:
            raise EOFError
        found += block
    return int.from_bytes(found) if whole else found


def _until_ready(wire: socket.socket) -> bytes:
    """All that the database says until it is ready for the next question."""
    found = b""
    while True:
        head = _exactly(wire, 5)
        found += head + _exactly(wire, int.from_bytes(head[1:]) - 4)
        if head[:1] == b"Z":
            return found
