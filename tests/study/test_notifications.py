"""Messages on what becomes of a study: each once, as JSON, tried again, and never in a result's way."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

import surefoot as sf
from surefoot.errors import StudyError
from surefoot.runners import functions
from surefoot.study import notifications
from surefoot.study.notifications import Notifier, checkpoint_stamp, other_checkpoints
from tests.support.studies import begun, driven, outcomes


@pytest.fixture
def heard(tmp_path):
    """A command that keeps what it is told."""
    path = tmp_path / "told.jsonl"

    def told():
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    return f"(cat; echo) >> {path}", told


@pytest.fixture
def server(monkeypatch):
    """A URL that fails as often as told, then keeps what it is told."""
    monkeypatch.setattr(notifications, "PAUSE", 0.02)
    told, fails = [], []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            code = fails.pop() if fails else 200
            if code == 200:
                told.append((self.headers["Content-Type"], json.loads(body)))
            self.send_response(code)
            self.end_headers()

        def log_message(self, *_):
            pass

    found = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=found.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{found.server_port}/hook", told, fails
    found.shutdown()
    found.server_close()


def test_a_decision_is_told_once_and_gives_no_policy_away(heard):
    command, told = heard
    study = begun()
    status = sf.run_study(study, lambda turn: turn.policy == "new", notify=command)
    (body,) = told()
    assert (body["event"], body["message"], body["decision"]) == ("decided", "stop: decided", "stop: decided")
    assert (body["recorded"], body["head"]) == (status.recorded, status.head)
    assert (body["blinded"], body["verdict"]) == (True, None)
    assert "new" not in json.dumps(body)
    sf.run_study(study, lambda turn: True, notify=command)  # it had ended before: nothing is new
    assert len(told()) == 1


@pytest.mark.parametrize(("futility", "event"), [(0.2, "futile"), (0.0, "undecided")])
def test_a_stop_without_a_verdict_is_told(heard, futility, event):
    command, told = heard
    study = begun(horizon=20, futility=futility)
    sf.run_study(study, lambda turn: True, notify=command, batch=1)
    assert [body["event"] for body in told()] == [event if study.fold.decision.ending != "out of reach" else "futile"]


def test_an_error_is_told_and_raised(heard):
    command, told = heard

    def broken(turn):
        raise StudyError("the simulator is gone")

    with pytest.raises(StudyError, match="simulator is gone"):
        sf.run_study(begun(), broken, notify=command)
    (body,) = told()
    assert (body["event"], body["message"]) == ("error", "StudyError: the simulator is gone")


def test_a_study_that_waits_for_a_device_is_told_as_paused(heard, monkeypatch):
    command, told = heard
    monkeypatch.setattr(functions, "PAUSE", 0.05)
    study = begun()
    held = study.next_turn(holder="arm 1")
    threading.Timer(1.5, lambda: study.record(held, True, holder="arm 1")).start()
    sf.run_study(study, lambda turn: turn.policy == "new", notify=command, holder="arm 2")
    events = [body["event"] for body in told()]
    assert events[0] == "paused"
    assert "held by arm 1" in told()[0]["message"]


def test_a_url_is_told_again_until_it_takes_it(server):
    address, told, fails = server
    fails += [503, 500]
    sf.run_study(begun(), lambda turn: turn.policy == "new", notify=address)
    ((kind, body),) = told
    assert kind == "application/json"
    assert body["event"] == "decided"


@pytest.mark.parametrize("target", ["sleep 60", "http://127.0.0.1:9/none"])
def test_a_target_that_hangs_or_is_away_holds_no_result_up(target, monkeypatch, caplog):
    monkeypatch.setattr(notifications, "LAST", 0.3)
    monkeypatch.setattr(notifications, "PATIENCE", 0.5)
    monkeypatch.setattr(Notifier.close, "__defaults__", (0.3,))
    study, began = begun(), time.monotonic()
    status = sf.run_study(study, lambda turn: turn.policy == "new", notify=target)
    assert status.decision == "stop: decided"
    assert time.monotonic() - began < 15
    assert "told" in caplog.text


def test_a_command_that_hangs_is_ended_with_all_that_it_started(tmp_path, monkeypatch):
    """Its child held the terminal's pipe: `surefoot study run ... | tee log` did not end before it."""
    monkeypatch.setattr(notifications, "PATIENCE", 0.3)
    notifier, late = Notifier(f"(sleep 0.8; touch {tmp_path / 'late'}); true"), tmp_path / "late"
    notifier.tell("error", "stopped")
    notifier.close(0.1)
    time.sleep(1.2)
    assert not late.exists()


@pytest.mark.parametrize("target", ["", "  ", "ftp://lab/hook", "http://"])
def test_what_cannot_be_told_is_refused(target):
    with pytest.raises(ValueError, match="`notify` must be a command, or an address such as"):
        Notifier(target)


def test_another_checkpoint_is_told_and_said(heard, tmp_path, caplog):
    command, told = heard
    file = tmp_path / "new.pt"
    file.write_bytes(b"weights 1")
    plan = sf.Plan(policies=({"name": "new", "checkpoint": str(file)}, "old"), rule="mixture", horizon=20).hashed()
    study = sf.Study.create(plan, ":memory:")
    assert other_checkpoints(plan) == []
    before = checkpoint_stamp(plan)
    file.write_bytes(b"other weights")
    assert checkpoint_stamp(plan) != before
    sf.run_study(study, lambda turn: turn.policy == "new", notify=command)
    assert [body["event"] for body in told()] == ["checkpoint mismatch", "decided"]
    assert "The checkpoint of new is not the one that the plan names" in caplog.text


def test_nobody_is_told_by_default(monkeypatch):
    monkeypatch.setattr(notifications.Notifier, "__init__", lambda *_: pytest.fail("a notifier was made"))
    assert driven(begun(), outcomes(1, new=0.9, old=0.1)).finished
    assert sf.run_study(begun(), lambda turn: turn.policy == "new").finished
