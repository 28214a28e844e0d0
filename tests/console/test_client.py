"""A script that drives a study over the network, through dropped connections and beside others."""

from __future__ import annotations

import dataclasses
import io
import random
import socket
import threading
import urllib.error
import urllib.response
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

import surefoot as sf
from surefoot.console import client
from surefoot.console.authentication import Tokens
from surefoot.errors import StudyError
from surefoot.study.clips import Clip
from surefoot.study.events import Line, head_of
from surefoot.study.stores.sqlite import SQLiteStore
from surefoot.study.studies import Study
from tests.support.clips import GIF
from tests.support.consoles import Program, study, threaded


@pytest.fixture
def served(tmp_path):
    tokens, opened = Tokens.fresh(), study(tmp_path, horizon=2000)
    with threaded(opened, tokens) as address:
        yield opened, tokens, address


def recorded(opened):
    opened.refresh()
    return Counter(event.body["turn"] for event in opened.fold.history if event.kind == "recorded")


def test_a_simulated_study_stops_by_itself(tmp_path):
    tokens, opened, rng = Tokens.fresh(), study(tmp_path, horizon=100), random.Random(5)
    with threaded(opened, tokens) as address:
        client = sf.Client(address, tokens.runner.reveal(), holder="arm 1")
        while (turn := client.next_turn()) is not None:
            kept = client.record(turn, rng.random() < {"new": 0.9, "old": 0.6}[turn.policy], duration=0.5)
        assert kept.status.finished
        assert kept.status.decision == "stop: decided"
        assert (client.mark.lines, client.mark.head) == (kept.status.version, kept.status.head)
        assert client.status().blocks <= 100
        owner = sf.Client(address, tokens.owner.reveal())
        assert owner.unblind(reason="decided").status.verdict is sf.Verdict.BETTER
        assert owner.results()["verdict"] == "better"
        assert client.plan.policies == ("new", "old")
        assert owner.export() == Study.open(opened.store).export()
    opened.refresh()
    assert opened.verdict is sf.Verdict.BETTER


def test_undo_void_and_refusals(served):
    _, tokens, address = served
    client = sf.Client(address, tokens.operator.reveal())
    turn = client.next_turn()
    assert turn.policy == ""
    assert turn.code
    client.record(turn, True)
    with pytest.raises(StudyError, match=r"already has a result.*undo it first"):
        client.record(turn, False)
    client.undo(turn, reason="wrong key")
    assert client.next_turn() == turn
    client.record(turn, False)
    client.void(turn, reason="hardware fault")
    assert client.status().voided == 1
    with pytest.raises(StudyError, match="owner"):
        client.unblind(reason="curious")
    with pytest.raises(StudyError, match="token is wrong"):
        sf.Client(address, "not the token at all").status()


def test_addresses_are_checked():
    with pytest.raises(ValueError, match="`url` must be an address"):
        sf.Client("127.0.0.1:8765", "token")


def test_a_wrong_address_is_told_at_once_and_patience_ends_with_a_sentence(caplog):
    client = sf.Client("http://127.0.0.1:9", "token", patience=0.5)
    with pytest.raises(StudyError, match=r"cannot be reached.*safe to try again"):
        client.status()
    (told,) = caplog.messages  # once, however often it is tried
    assert "cannot be reached at http://127.0.0.1:9: " in told
    assert told.endswith("Trying again for up to 0.5 s.")


def test_what_is_handed_back_is_free_at_once(served):
    _, tokens, address = served
    one, other = (sf.Client(address, tokens.runner.reveal(), holder=name) for name in ("arm 1", "arm 2"))
    turn = one.next_turn()
    assert one.release().turns == (turn.number,)
    assert other.next_turn() == turn


class Cutter:
    """A wire that carries every request to the server and cuts off every other answer."""

    def __init__(self, address):
        host, port = address.removeprefix("http://").split(":")
        self.there = (host, int(port))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.cut = self.seen = 0
        threading.Thread(target=self.carry, daemon=True).start()

    def carry(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            with near, socket.create_connection(self.there) as far:
                near.settimeout(0.3)
                asked = b""
                while b"\r\n\r\n" not in asked:
                    asked += near.recv(65536)
                head, _, body = asked.partition(b"\r\n\r\n")
                length = int(
                    next((line.split(b":")[1] for line in head.lower().split(b"\r\n") if b"content-length" in line), 0)
                )
                while len(body) < length:
                    body += near.recv(65536)
                far.sendall(head.replace(b"Connection: keep-alive", b"Connection: close") + b"\r\n\r\n" + body)
                answer = b""
                while chunk := far.recv(65536):
                    answer += chunk
                self.seen += 1
                if self.seen % 2:
                    self.cut += 1
                else:
                    near.sendall(answer)


def test_an_answer_cut_off_is_asked_again_and_recorded_once(tmp_path):
    tokens, opened = Tokens.fresh(), study(tmp_path, horizon=50)
    with threaded(opened, tokens) as address:
        wire = Cutter(address)
        client = sf.Client(wire.address, tokens.runner.reveal(), patience=20)
        for _ in range(10):
            client.record(client.next_turn(), True)
        wire.listener.close()
    assert wire.cut >= 10
    assert recorded(opened) == Counter(range(1, 11))


def race(address, tokens, clients, rounds):
    """Everybody asks at the same moment, then everybody records at the same moment; turns by round."""
    barrier = threading.Barrier(clients)
    taken = [[None] * clients for _ in range(rounds)]

    def run(place):
        client = sf.Client(address, tokens.operator.reveal(), holder=f"device {place}")
        for number in range(rounds):
            barrier.wait()
            turn = client.next_turn()
            taken[number][place] = turn.number
            barrier.wait()
            client.record(turn, number % 2)

    with ThreadPoolExecutor(clients) as pool:
        for done in [pool.submit(run, place) for place in range(clients)]:
            done.result()
    return taken


@pytest.mark.parametrize("clients", [2, 10])
def test_no_turn_is_handed_out_or_recorded_twice(served, clients):
    opened, tokens, address = served
    taken = race(address, tokens, clients, 8)
    assert all(len(set(turns)) == clients for turns in taken)
    assert set(recorded(opened).values()) == {1}


@pytest.mark.slow
@pytest.mark.parametrize("clients", [2, 20])
def test_no_turn_is_handed_out_or_recorded_twice_in_200_rounds(tmp_path, clients):
    tokens, opened = Tokens.fresh(), study(tmp_path, horizon=5000, futility=0.0)
    with threaded(opened, tokens) as address:
        taken = race(address, tokens, clients, 200)
    flat = [turn for turns in taken for turn in turns]
    assert len(set(flat)) == len(flat) == 200 * clients
    assert recorded(opened) == Counter(flat)


def test_ten_devices_on_one_turn_record_one_result(served):
    opened, tokens, address = served
    sf.Client(address, tokens.operator.reveal(), holder="shared").next_turn()
    barrier = threading.Barrier(10)

    def run(place):
        client = sf.Client(address, tokens.operator.reveal(), holder="shared")
        barrier.wait()
        try:
            client.record(1, place % 2)
        except StudyError as error:
            return str(error)
        return "recorded"

    with ThreadPoolExecutor(10) as pool:
        said = Counter(pool.map(run, range(10)))
    assert said["recorded"] == 1
    assert sum(said.values()) == 10
    assert all("already has a result" in text for text in said if text != "recorded")
    assert recorded(opened) == Counter([1])


@pytest.mark.end_to_end
def test_a_killed_server_loses_and_doubles_nothing(tmp_path):
    study(tmp_path, horizon=200)._store.close()
    with Program(tmp_path / "study.db") as program:
        client = sf.Client(program.address, program.tokens.runner.reveal(), holder="arm")
        acknowledged = []

        def run():
            for _ in range(40):
                turn = client.next_turn()
                client.record(turn, True)  # two policies alike: a verdict would end it early
                acknowledged.append(turn.number)

        thread = threading.Thread(target=run)
        thread.start()
        for _ in range(2):
            while thread.is_alive() and len(acknowledged) % 13 < 7:
                thread.join(0.01)
            program.kill()
            program.start()
        thread.join(60)
        assert not thread.is_alive()
    opened = Study.open(SQLiteStore(tmp_path / "study.db"))
    assert recorded(opened) == Counter(range(1, 41)) == Counter(acknowledged)


def test_a_clip_that_cannot_be_sent_costs_no_result(served, tmp_path, monkeypatch, caplog):
    opened, tokens, address = served
    film = tmp_path / "film.gif"
    film.write_bytes(GIF)
    study = sf.Client(address, tokens.runner.reveal(), holder="arm 1")

    def away(*_, **__):
        raise StudyError("The study's server cannot be reached.")

    with monkeypatch.context() as patched:
        patched.setattr(sf.Client, "clip", away)
        assert study.record(study.next_turn(), True, clip=film).turns == (1,)
    assert "The clip of turn 1 was not kept: The study's server cannot be reached." in caplog.text
    monkeypatch.setattr(client, "MOST_BYTES", 8)
    study.record(study.next_turn(), True, clip=film)
    opened.refresh()
    assert (opened.fold.results[1].clip, opened.fold.results[2].clip) == (
        None,
        Clip(name="film.gif", fault="too large"),
    )
    with pytest.raises(TypeError, match="`clip` must be a file's path or a link"):
        study.clip(1, Clip(sha256="a" * 64, kind="gif"))


def test_what_the_server_would_refuse_is_not_sent(tmp_path):
    client = sf.Client("http://127.0.0.1:9", "token", patience=0.1)  # nobody is there
    with pytest.raises(TypeError, match="`items` must be a list of texts"):
        client.check("all")
    with pytest.raises(StudyError, match="`items` must hold texts of at most 200 characters"):
        client.check(["x" * 201])
    with pytest.raises(StudyError, match=r"The clip of turn 1 was not kept: there is no such file \(none\.mp4\)"):
        client.clip(1, tmp_path / "none.mp4")


class Answers:
    """A wire that gives these answers, one after the other."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def open(self, question, timeout):
        status, body, headers = self.answers.pop(0)
        content = io.BytesIO(body)
        if status != 200:
            raise urllib.error.HTTPError(question.full_url, status, "", headers, content)
        return urllib.response.addinfourl(content, headers, question.full_url)


def test_an_answer_that_is_none_of_ours_is_told_by_its_number(monkeypatch, caplog):
    monkeypatch.setattr(client.time, "sleep", lambda _: None)
    study = sf.Client("http://lab.example", "token")
    study._opener = Answers((404, b"<html>", {}))
    with pytest.raises(StudyError, match=r"^The server answered 404\.$"):
        study.status()
    study._opener = Answers((503, b'{"error": "The disk is full."}', {"Retry-After": "2"}), (200, b"log", {}))
    assert study.export() == "log"
    assert caplog.messages == ["surefoot: The disk is full. Trying again for up to 300 s."]


def test_a_log_that_has_become_shorter_is_told(served):
    _, tokens, address = served
    client = sf.Client(address, tokens.runner.reveal())
    client.next_turn()
    client.mark = dataclasses.replace(client.mark, lines=99)
    with pytest.raises(StudyError, match="knows line 99 of the study's log; here it ends at line 2"):
        client.status()


def test_a_clip_is_added_to_a_result_afterwards(served, tmp_path):
    opened, tokens, address = served
    film = tmp_path / "film.gif"
    film.write_bytes(GIF)
    robot = sf.Client(address, tokens.runner.reveal())
    turn = robot.next_turn()
    robot.record(turn, True)
    assert robot.clip(turn, film).turns == (turn.number,)
    opened.refresh()
    assert opened.fold.results[turn.number].clip.kind == "gif"


def forged(path, lines):
    """A log of our own in the place of another, as somebody with the disk could put it there."""
    path.unlink()
    SQLiteStore(path).append(lines, after=head_of(None))


def rewritten(lines, at, **body):
    """The log with another line `at` (counted from 0), every hash right."""
    events = [line.event for line in lines]
    events[at] = replace(events[at], body={**events[at].body, **body})
    made = []
    for event in events:
        made.append(Line.after(made[-1] if made else None, event, private=None if made else lines[0].private))
    return made


@pytest.mark.parametrize("what", ["flipped", "regrown", "cut", "flipped and grown"])
@pytest.mark.parametrize("restarted", [False, True])
def test_a_forged_log_is_noticed_at_the_next_request(tmp_path, what, restarted):
    tokens, opened = Tokens.fresh(), study(tmp_path, horizon=100)
    names = {"holder": "arm 1", "marks": tmp_path / "marks"}
    with threaded(opened, tokens) as address:
        robot = sf.Client(address, tokens.runner.reveal(), **names)
        for _ in range(3):
            robot.record(robot.next_turn(), True)
    lines = opened.store.read()
    kept = f"{robot.mark.lines}:{robot.mark.head[:16]}"
    assert lines[-1].event.kind == "recorded"
    opened.store.close()
    forged(
        tmp_path / "study.db",
        {"flipped": rewritten(lines, -1, result=False), "flipped and grown": rewritten(lines, -1, result=False)}.get(
            what, lines[:-2]
        ),
    )
    grown = Study.open(tmp_path / "study.db")
    for _ in range({"regrown": 3, "flipped and grown": 1}.get(what, 0)):
        grown.record(grown.next_turn(holder="another"), False, holder="another")
    assert not sf.verify(grown.store, heads=[kept]).sound
    before = grown.version
    with threaded(grown, tokens) as address:
        if restarted:
            robot = sf.Client(address, tokens.runner.reveal(), **names)
        else:
            robot._address = address
        with pytest.raises(StudyError, match=r"arm 1 knows line 7 of the study's log|lost lines"):
            robot.next_turn()
        fresh = sf.Client(address, tokens.runner.reveal(), marks=tmp_path / "none")
        assert fresh.status().version == before, "nothing was written"


def test_a_true_log_is_never_doubted(tmp_path):
    """However often robots are started again, side by side, on one disk."""
    tokens, opened = Tokens.fresh(), study(tmp_path, horizon=100)
    with threaded(opened, tokens) as address:
        for number in range(12):
            robot = sf.Client(address, tokens.runner.reveal(), holder=f"arm {number % 3}", marks=tmp_path / "marks")
            turn = robot.next_turn()
            robot.record(turn, True)
            assert opened.refresh()
            assert robot.mark.head == opened.fold.head
    (tmp_path / "marks" / f"{robot.mark.study}.mark").write_text("no mark at all")
    with threaded(opened, tokens) as address:
        assert sf.Client(address, tokens.runner.reveal(), marks=tmp_path / "marks").status().recorded == 12


def test_a_server_that_shows_another_line_is_not_believed(tmp_path):
    """Sixteen characters are sent; the whole hash must come back."""
    tokens, opened = Tokens.fresh(), study(tmp_path)
    with threaded(opened, tokens) as address:
        robot = sf.Client(address, tokens.runner.reveal(), marks=tmp_path / "marks")
        known = robot.status()
        robot.mark = dataclasses.replace(robot.mark, head=known.head[:16] + 48 * "0")
        with pytest.raises(StudyError, match="its line 1 is another now"):
            robot.status()
