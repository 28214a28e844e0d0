"""How long does recording take while 50 operators use one study over PostgreSQL, and 10 over SQLite?

Every operator is a device of its own with a connection of its own: it asks for a turn, thinks for a moment, records the
result, and goes on. Latency is what the operator waits for a result to be durable and acknowledged.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import random
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.common import Row, section
from surefoot.console.authentication import Tokens
from surefoot.study.plans import Plan
from surefoot.study.stores import open_store
from surefoot.study.studies import Study

THINK = (0.3, 1.1)
"""Seconds between a turn and its result: many times busier than people at robots."""
RECORDED, ASKED = 0.06, 0.1
"""The most seconds that 99 of 100 requests may take, on an idle machine."""


def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@contextlib.contextmanager
def postgres() -> Iterator[str]:
    """A throw-away PostgreSQL on loopback; its address. As root it runs as the user postgres."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    found = str(programs[-1].parent) if programs else str(Path(shutil.which("initdb") or "initdb").parent)
    folder = Path(tempfile.mkdtemp(prefix="surefoot-pg-"))
    owner: dict[str, Any] = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
    if owner:
        shutil.chown(folder, "postgres", "postgres")
    data, at = str(folder / "data"), port()

    def quiet(*words: str) -> None:
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, cwd="/", **owner)

    quiet(f"{found}/initdb", "-D", data, "-U", "postgres", "-A", "trust")
    options = f"-p {at} -h 127.0.0.1 -k {folder}"
    quiet(f"{found}/pg_ctl", "-D", data, "-w", "-o", options, "-l", f"{folder}/log", "start")
    try:
        yield f"postgresql://postgres@127.0.0.1:{at}/postgres"
    finally:
        quiet(f"{found}/pg_ctl", "-D", data, "-m", "fast", "stop")
        shutil.rmtree(folder)


@contextlib.contextmanager
def server(store: str, folder: Path) -> Iterator[tuple[int, Tokens]]:
    """`surefoot study serve` as a program of its own."""
    kept, at = folder / "tokens.json", port()
    tokens = Tokens.kept(kept)
    words = ["-m", "surefoot", "study", "serve", store, "--port", str(at), "--tokens", str(kept)]
    process = subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{at}/api/v1/openapi.json").close()
                break
            time.sleep(0.1)
        yield at, tokens
    finally:
        process.terminate()
        process.wait(20)


class Operator(threading.Thread):
    """One device."""

    def __init__(self, number: int, at: int, token: str, until: float) -> None:
        super().__init__(daemon=True)
        self.link = http.client.HTTPConnection("127.0.0.1", at, timeout=30)
        self.headers = {"Authorization": f"Bearer {token}", "X-Surefoot-Name": f"operator {number}"}
        self.until, self.rng = until, random.Random(number)
        self.asking: list[float] = []
        self.recording: list[float] = []
        self.turns: list[int] = []
        self.wrong: list[str] = []

    def post(self, path: str, body: dict[str, object]) -> tuple[float, dict[str, object]]:
        began = time.perf_counter()
        self.link.request("POST", f"/api/v1{path}", json.dumps(body), self.headers)
        answer = self.link.getresponse()
        content = json.loads(answer.read())
        if answer.status != 200:
            self.wrong.append(f"{answer.status} {content}")
        return time.perf_counter() - began, content

    def run(self) -> None:
        time.sleep(self.rng.uniform(0, THINK[1]))
        while time.monotonic() < self.until:
            spent, content = self.post("/turns/next", {})
            self.asking.append(spent)
            turn = content["turn"]
            time.sleep(self.rng.uniform(*THINK))
            if turn is None:  # turns that others hold must come in first
                continue
            result = self.rng.random() < 0.5
            spent, _ = self.post(f"/turns/{turn['number']}/record", {"result": result, "request": secrets.token_hex(8)})
            self.recording.append(spent)
            self.turns.append(turn["number"])


def measure(store: str, folder: Path, operators: int, duration: float) -> dict[str, float]:
    """Latencies in seconds and counts, after checking that nothing was lost or doubled."""
    plan = Plan(policies=("new", "old"), rule="mixture", horizon=20_000, confidence=0.9999)
    Study.create(plan, open_store(store))
    with server(store, folder) as (at, tokens):
        until = time.monotonic() + duration
        crowd = [Operator(number, at, tokens.operator.reveal(), until) for number in range(operators)]
        for operator in crowd:
            operator.start()
        for operator in crowd:
            operator.join()
    study = Study.open(open_store(store))
    kept = Counter(event.body["turn"] for event in study.fold.history if event.kind == "recorded")
    acknowledged = Counter(turn for operator in crowd for turn in operator.turns)
    wrong = [text for operator in crowd for text in operator.wrong]
    if kept != acknowledged or set(kept.values()) != {1} or wrong:
        raise SystemExit(f"Lost or doubled: {kept - acknowledged}, {acknowledged - kept}, {wrong[:3]}")
    recording = sorted(spent for operator in crowd for spent in operator.recording)
    asking = sorted(spent for operator in crowd for spent in operator.asking)
    share = lambda values, part: values[min(len(values) - 1, int(part * len(values)))]  # noqa: E731
    return {
        "results": len(recording),
        "rate": len(recording) / duration,
        "median": share(recording, 0.5),
        "p99": share(recording, 0.99),
        "worst": recording[-1],
        "asking p99": share(asking, 0.99),
        "asking median": share(asking, 0.5),
        "asking worst": asking[-1],
    }


def rows_of(what: str, seen: dict[str, float]) -> list[Row]:
    """What asking and recording took."""
    counted = f"{seen['results']:.0f} results, {seen['rate']:.0f}/s, none lost or doubled"
    shown = {
        f"{what}, recording: {counted}": ("", RECORDED),
        f"{what}, asking for a turn": ("asking ", ASKED),
    }
    return [
        Row(
            named,
            ", ".join(f"{part} {1000 * seen[kind + part]:.0f} ms" for part in ("p99", "median", "worst")),
            "-",
            "-",
            f"p99 at most {1000 * most:.0f} ms",
            seen[f"{kind}p99"] <= most,
        )
        for named, (kind, most) in shown.items()
    ]


def main(duration: float = 60.0) -> bool:
    """Both stores, one after the other."""
    rows = []
    os.sync()  # what other scripts left to be written is not to be waited for here
    with tempfile.TemporaryDirectory() as folder:
        seen = measure(str(Path(folder) / "study.db"), Path(folder), 10, duration)
        rows += rows_of("10 operators, SQLite", seen)
    with tempfile.TemporaryDirectory() as folder, postgres() as address:
        seen = measure(f"{address}?study=load", Path(folder), 50, duration)
        rows += rows_of("50 operators, PostgreSQL", seen)
    load = os.getloadavg()[0]
    cores = f"{os.cpu_count()} cores for server, database and operators together"
    note = f"Wall-clock, {duration:g} s each, {cores}; load average at the end {load:.1f}."
    return section("console_load", "The console under load", rows, peers=("starlette", "uvicorn", "psycopg"), note=note)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    sys.exit(0 if main(parser.parse_args().seconds) else 1)
