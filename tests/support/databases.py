"""A PostgreSQL server for the tests: made new, on a free port of this machine, thrown away afterwards."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
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
