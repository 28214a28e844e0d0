"""A server killed at any moment: every acknowledged result is there exactly once, and the verdict is the replay's."""

from __future__ import annotations

import hashlib
import json
import os
import random
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import surefoot as sf
from surefoot._secret import Secret
from surefoot.console.authentication import Tokens
from surefoot.study.schedules import Turn
from surefoot.study.stores import open_store
from surefoot.study.studies import Study
from tests.support.clips import GIF
from tests.support.consoles import free_port
from tests.support.studies import plan

pytestmark = pytest.mark.end_to_end

RESULTS = 500
POSTERS = 4


class Server:
    """`surefoot study serve` as a process of its own, killed by a thread at random moments while it works."""

    def __init__(self, address: str, folder: Path, begin: Callable[[list[str], Path], Any]) -> None:
        self.tokens_file, self.said = folder / f"{secrets.token_hex(4)}.json", folder / "server.log"
        self.tokens, self.port = Tokens.kept(self.tokens_file), free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.words = ["study", "serve", address, "--port", str(self.port), "--tokens", str(self.tokens_file)]
        self.begin, self.kills = begin, 0
        self.process = begin(self.words, self.said)

    def listening(self) -> None:
        """Wait until it answers at its port."""
        until = time.monotonic() + 90.0
        while time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=5).close()
            except OSError:
                time.sleep(0.05)
            else:
                return
        raise TimeoutError(f"the server did not start again after {self.kills} kills")

    def kill(self) -> None:
        self.close()
        self.kills += 1
        self.process = self.begin(self.words, self.said)

    def close(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        (self.process.wait if isinstance(self.process, subprocess.Popen) else self.process.join)()


def started(words: list[str], said: Path) -> subprocess.Popen[bytes]:
    """The program as a person starts it."""
    with said.open("ab") as errors:
        return subprocess.Popen([sys.executable, "-m", "surefoot", *words], stdout=subprocess.DEVNULL, stderr=errors)


def outcome(turn: Turn, results: int) -> bool:
    """Neither policy is ahead until so many turns were run, so that the study goes on; then the new one always is."""
    kind = turn.block % 4 if turn.number <= results else 2
    return kind == 0 or (kind >= 2 and (turn.policy == "new") == (kind == 2))


def post(server: Server, results: int, kept: dict[int, bool], arm: int) -> None:
    """One arm of several: post until the study needs no more; what was acknowledged goes to `kept`, by turn."""
    client = sf.Client(server.url, server.tokens.runner.reveal(), holder=f"arm-{arm}", patience=120)
    while (turn := client.next_turn()) is not None:
        result = outcome(turn, results)
        client.record(turn, result)
        assert turn.number not in kept
        kept[turn.number] = result


def killed(address: str, folder: Path, *, results: int, kills: int, seed: int, begin: Any = started) -> None:
    """One study, so many results, so many kills at moments that the seed draws."""
    Study.create(plan(horizon=2 * results, rule="mixture"), address)
    server, rng = Server(address, folder, begin), random.Random(seed)
    done = threading.Event()
    kept: dict[int, bool] = {}

    def assassin() -> None:
        for _ in range(kills):
            server.listening()
            before, share = len(kept), rng.uniform(0.0, 0.8) * results / kills
            while len(kept) < before + share:  # a moment counted in results: a fast machine must not outrun it
                if done.wait(rng.uniform(0.0, 0.005)):
                    return
            server.kill()

    with ThreadPoolExecutor(1 + POSTERS) as threads:
        death = threads.submit(assassin)
        arms = [threads.submit(post, server, results, kept, arm) for arm in range(POSTERS)]
        try:
            for arm in arms:
                arm.result()
        finally:
            done.set()
            death.result(90)
            server.close()
    assert server.kills > 0, "nothing was killed: the machine was too fast"
    assert len(kept) >= results
    try:
        study = Study.open(address)
        recorded = Counter(event.body["turn"] for event in study.fold.history if event.kind == "recorded")
        assert set(recorded.values()) == {1}
        assert {turn: bool(result.score) for turn, result in study.fold.results.items()} == kept
        assert study.verdict is sf.Verdict.BETTER
        found = sf.verify(address)
        assert found.sound, found.faults
    except BaseException:  # leave what is needed to find out why, wherever the log is kept
        (folder / "kept.json").write_text(json.dumps(kept))
        lines = [line.to_dict() for line in open_store(address).read()]
        (folder / "log.json").write_text(json.dumps(lines))
        raise


@pytest.fixture(params=["sqlite", "postgres"])
def address(request, tmp_path):
    return str(tmp_path / "study.db") if request.param == "sqlite" else request.getfixturevalue("postgres").address()


@pytest.mark.sample(2)
def test_a_killed_server_loses_and_doubles_nothing(address, tmp_path):
    killed(address, tmp_path, results=60, kills=2, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("repetition", range(200))
def test_a_server_killed_while_500_results_are_posted(address, tmp_path, repetition):
    from tests.support.programs import forked  # a thousand starts: forked from one that has imported everything

    killed(address, tmp_path, results=RESULTS, kills=4, seed=repetition, begin=forked)


WORKER = """
import random, sys
from surefoot import Study
study, rng = Study.open(sys.argv[1]), random.Random(int(sys.argv[2]))
while (turn := study.next_turn()) is not None:
    outcome = rng.random() < 0.5
    study.record(turn, outcome)
    print(turn.number, int(outcome), flush=True)
"""


def test_a_killed_script_loses_and_doubles_nothing(address):
    """Without a server: the script itself dies, and the next one takes over at once."""
    Study.create(plan(horizon=400, rule="mixture"), address)
    rng, kept = random.Random(7), {}
    for life in range(4):
        words = [sys.executable, "-c", WORKER, address, str(life)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            until = None
            for line in process.stdout:
                until = until or time.monotonic() + rng.uniform(0.05, 0.4)
                number, outcome = map(int, line.split())
                assert number not in kept
                kept[number] = bool(outcome)
                if time.monotonic() > until:
                    process.send_signal(signal.SIGKILL)
                    break
            kept.update(
                (int(n), o == "1") for n, o in (line.split() for line in process.stdout if line.count(" ") == 1)
            )
    study = Study.open(address)
    results = {turn: bool(result.score) for turn, result in study.fold.results.items()}
    assert kept.items() <= results.items()
    assert len(results) - len(kept) <= 4  # kept by the store, killed before it could say so: at most one a life
    assert sorted(results) == list(range(1, len(results) + 1))
    assert sf.verify(address).sound


def upload(server: Server, folder: Path, results: int, kept: dict[int, str], arm: int) -> None:
    """One of three robots: each result has a clip of its own; the hash of what was acknowledged goes to `kept`."""
    client = sf.Client(server.url, server.tokens.runner.reveal(), holder=f"arm-{arm}", patience=120, marks=folder)
    while (turn := client.next_turn()) is not None:
        client.record(turn, outcome(turn, results))
        clip = folder / f"{turn.number}.gif"
        clip.write_bytes(GIF + random.Random(turn.number).randbytes(200_000))
        client.clip(turn, clip)
        kept[turn.number] = hashlib.sha256(clip.read_bytes()).hexdigest()


def killed_uploading(folder: Path, *, results: int, kills: int, seed: int, begin: Any = started) -> None:
    """Three robots that record and upload while the server is killed at moments that the seed draws."""
    address = str(folder / "study.db")
    Study.create(plan(horizon=2 * results, rule="mixture"), address)
    server, rng, done = Server(address, folder, begin), random.Random(seed), threading.Event()
    kept: dict[int, str] = {}

    def assassin() -> None:
        for _ in range(kills):
            server.listening()
            before, share = len(kept), rng.uniform(0.0, 0.8) * results / kills
            while len(kept) < before + share:  # a moment counted in clips, as above
                if done.wait(rng.uniform(0.0, 0.02)):
                    return
            server.kill()

    with ThreadPoolExecutor(4) as threads:
        death = threads.submit(assassin)
        arms = [threads.submit(upload, server, folder, results, kept, arm) for arm in range(3)]
        try:
            for arm in arms:
                arm.result()
        finally:
            done.set()
            death.result(90)
            server.close()
    assert server.kills > 0, "nothing was killed: the machine was too fast"
    study = Study.open(address)
    events = study.fold.history
    assert set(Counter(event.body["turn"] for event in events if event.kind == "recorded").values()) == {1}
    assert set(Counter(event.body["turn"] for event in events if event.kind == "attached").values()) == {1}
    found = {turn: one.clip for turn, one in study.fold.results.items() if one.clip is not None}
    assert {turn: clip.sha256 for turn, clip in found.items()} == kept
    study.clips.sweep(list(found.values()))
    assert sorted(path.name for path in study.clips.path.iterdir()) == sorted(clip.file for clip in found.values())
    assert all(study.clips.fault(clip) is None for clip in found.values())
    assert sf.verify(address).sound
    print(f"{server.kills} kills, {len(kept)} clips acknowledged, none lost")


def test_no_clip_is_lost_or_left_behind(tmp_path: Path) -> None:
    killed_uploading(tmp_path, results=40, kills=4, seed=5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_no_clip_is_lost_or_left_behind_in_two_hundred_kills(tmp_path: Path, seed: int) -> None:
    from tests.support.programs import forked

    killed_uploading(tmp_path, results=100, kills=20, seed=seed, begin=forked)


COMMANDS = {
    "report": ["study", "report", "open.db", "-o", "out.html"],
    "backup": ["study", "backup", "study.db", "-o", "out.backup", "--key", "study.key"],
    "restore": ["study", "restore", "log.jsonl", "out.db"],
    "create": ["study", "create", "plan.toml", "--store", "out.db", "--yes"],
    "unblind": ["study", "unblind", "out.db", "--reason", "the day is over"],
}


def ended_at(words: list[str], said: Path, seconds: float | None) -> float:
    """Run a command, killed after so many seconds unless it is done by then; how long it ran."""
    from tests.support.programs import forked

    began, process = time.monotonic(), forked(words, said)
    process.join(seconds)
    if process.exitcode is None:
        os.kill(process.pid, signal.SIGKILL)
        process.join()
    else:
        assert process.exitcode == 0, said.read_text()
    return time.monotonic() - began


def lines_of(path: str) -> list[str]:
    return [line.hash for line in open_store(path).read()] if Path(path).exists() else []


def killed_command(name: str, kills: int) -> None:
    """One command, killed at random moments: what it writes is whole or not there, and again it does all."""
    study, rng, said = Study.open("study.db"), random.Random(name), Path("said.log")
    before, whole = lines_of("study.db"), 0
    took = 0.0
    for time_of_all in (True, True, *[False] * kills):  # twice to see how long it takes once all is imported
        for left in Path().glob("out.*"):
            left.unlink()
        if name == "unblind":
            shutil.copy("study.db", "out.db")
        if time_of_all:
            took = ended_at(COMMANDS[name], said, None)
            continue
        ended_at(COMMANDS[name], said, rng.uniform(0.0, 1.1) * took)
        assert lines_of("study.db") == before
        found = lines_of("out.db")
        if name in ("restore", "unblind"):
            assert found[: len(before)] == (before if found else [])
            assert len(found) in ({0, len(before)} if name == "restore" else {len(before), len(before) + 1})
        if found:
            assert sf.verify("out.db").sound
        for page in Path().glob("out.html"):
            assert page.read_text(encoding="utf-8").rstrip().endswith("</html>")
        if Path("out.backup").exists():
            again = Study.restore(
                Path("out.backup").read_text(), ":memory:", key=Secret(Path("study.key").read_text().strip())
            )
            assert again.fold.head == study.fold.head
        done = bool(found) if name in ("restore", "create") else len(found) > len(before)
        whole += done or any(Path().glob("out.[hb]*"))
        if not done:
            ended_at(COMMANDS[name], said, None)  # and the same again does all of it
    print(f"{name}: {kills} kills within {took:.2f} s, {whole} after it was done")


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_a_killed_command_leaves_all_or_nothing(name, kills, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("plan.toml").write_text(plan().to_toml())
    study = Study.create(plan(horizon=100, rule="mixture"), "study.db")
    for _ in range(40):
        turn = study.next_turn()
        study.record(turn, outcome(turn, 100))
    shutil.copy("study.db", "open.db")
    seen = Study.open("open.db")
    seen.unblind(reason="to export it")
    Path("log.jsonl").write_text(seen.export())
    if name == "restore":
        shutil.copy("open.db", "study.db")
    killed_command(name, kills)
