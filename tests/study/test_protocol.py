"""One suite for whatever a study is asked through: the study itself, and a client of its server; on both stores."""

from __future__ import annotations

import html
import inspect
import re
from datetime import timedelta

import pytest

import surefoot as sf
from surefoot.console.operations import OPERATIONS
from surefoot.study.clips import Clip, clip_of
from surefoot.study.protocol import StudyOperations
from surefoot.study.recording import RefusedError
from surefoot.study.status import Receipt, Status
from surefoot.study.studies import Study
from tests.support.clips import GIF, PNG
from tests.support.studies import plan

NAMES = [name for name in vars(StudyOperations) if not name.startswith("_")]


@pytest.fixture(params=["sqlite", "postgres"])
def address(request, tmp_path):
    return str(tmp_path / "study.db") if request.param == "sqlite" else request.getfixturevalue("postgres").address()


@pytest.fixture(params=["study", "client"])
def opened(request, address):
    """Makes a study and opens it, as itself or through a server, as often as asked; the owner's powers by default."""
    uvicorn = request.param == "client" and pytest.importorskip("uvicorn", reason="needs the extra `console`")
    begun = Study.create(
        plan(horizon=30, time_limit=60.0, environments="shared", conditions=("left", "right")), address
    )
    if not uvicorn:
        yield lambda role="owner", holder="": Study.open(address, author=holder)
        return
    from surefoot.console.authentication import Tokens
    from tests.support.consoles import threaded

    tokens = Tokens.fresh()
    with threaded(begun, tokens) as url:
        yield lambda role="owner", holder="": sf.Client(url, tokens.of(role).reveal(), holder=holder)


def log(address):
    return [line.event for line in Study.open(address).store.read()]


@pytest.mark.parametrize("name", NAMES)
def test_study_and_client_take_the_same_arguments(name):
    if isinstance(vars(StudyOperations)[name], property):
        assert all(isinstance(inspect.getattr_static(kind, name), property) for kind in (Study, sf.Client))
        return
    asked = inspect.signature(getattr(StudyOperations, name))
    for kind in (Study, sf.Client):
        found = inspect.signature(getattr(kind, name))
        assert list(found.parameters.values()) == list(asked.parameters.values()), (kind, name)


def test_every_operation_that_writes_is_in_the_table():
    api = {"next_turn": "next", "next_turns": "next"}
    asked = set(NAMES) - {"together"}  # it asks for nothing: it says when the others are kept
    assert {api.get(name, name) for name in asked} <= set(OPERATIONS)
    for operation in OPERATIONS.values():
        assert re.fullmatch(r"(/[a-z]+(\.json)?|/\{number\})+", operation.path)
    record = inspect.signature(StudyOperations.record).parameters
    assert {field.name for field in OPERATIONS["record"].fields} == set(record) - {"self", "turn"}


def test_a_study_is_run_to_its_end(opened, address):
    study = opened("owner", "arm 1")
    assert study.plan == Study.open(address).plan
    while (turn := study.next_turn()) is not None:
        policy = Study.open(address).fold.turns[turn.number].policy
        receipt = study.record(turn, policy == "new", duration=1.5, steps=7, note="fine", request=f"word {turn.number}")
        assert isinstance(receipt, Receipt)
        assert (receipt.turns, receipt.repeated) == ((turn.number,), False)
    status = study.status()
    assert isinstance(status, Status)
    assert (status.finished, status.decision, status.verdict) == (True, "stop: decided", None)
    with pytest.raises(RefusedError, match="blinded"):
        study.export()
    assert study.unblind(reason="decided").status.verdict is sf.Verdict.BETTER
    assert study.unblind(reason="decided").repeated
    kept = Study.open(address)
    assert study.export() == kept.export()
    assert (study.status().version, study.status().head) == (kept.version, kept.fold.head)
    assert kept.fold.results[1].steps == 7


def test_asking_again_gives_the_same_turn_and_a_pair_stays_together(opened):
    one, two = opened("owner", "arm 1"), opened("owner", "arm 2")
    first = one.next_turn()
    assert one.next_turn() == first
    other = two.next_turn()
    assert (first.block, other.block) == (1, 2)
    one.record(first, True)
    assert one.next_turn().block == 1
    assert [turn.number for turn in one.next_turns(3)] == [2, 5, 6]
    assert {turn.condition for turn in one.next_turns(3) if turn.block == 1} == {first.condition}


def test_the_same_word_records_once_and_stands_for_one_result(opened):
    study = opened()
    turn = study.next_turn()
    assert not study.record(turn, True, request="word").repeated
    assert study.record(turn, True, request="word").repeated
    with pytest.raises(RefusedError, match="another result") as refused:
        study.record(turn, False, request="word")
    assert refused.value.why == "request"


def test_refusals_have_reasons(opened):
    study = opened()
    turn = study.next_turn()
    told = {
        "unknown": lambda: study.record(99, True),
        "invalid": lambda: study.record(turn, 0.5),
        "stale": lambda: study.undo(turn, reason="slip"),
        "held": lambda: study.record(turn.number + 1, True),
    }
    for why, ask in told.items():
        with pytest.raises(RefusedError) as refused:
            ask()
        assert refused.value.why == why
    study.record(turn, True)
    with pytest.raises(RefusedError, match="undo it first") as refused:
        study.record(turn, False)
    assert refused.value.why == "recorded"
    with pytest.raises(RefusedError, match="reason"):
        study.undo(turn, reason=" ")
    with pytest.raises(RefusedError, match="one that the plan names"):
        study.void(turn, reason="did badly")


def test_a_clip_goes_with_its_result_or_follows_it(opened, address, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where the clips of a database are kept
    film, other = tmp_path / "7 é.gif", tmp_path / "8.png"
    film.write_bytes(GIF)
    other.write_bytes(PNG)
    study = opened("runner", "arm 1")
    first, second = study.next_turns(2)
    assert not study.record(first, True, clip=film, request="word").repeated
    assert study.record(first, True, clip=film, request="word").repeated
    with pytest.raises(RefusedError) as refused:
        study.clip(second, other)
    assert refused.value.why == "stale"
    study.record(second, False, clip=tmp_path / "lost.mp4")
    kept = Study.open(address)
    assert kept.fold.results[first.number].clip.said() == {**clip_of(film).said(), "name": film.name}
    assert kept.fold.results[second.number].clip == Clip(name="lost.mp4", fault="missing")
    assert study.clip(second, other).turns == (second.number,)
    assert study.clip(second, other).repeated
    with pytest.raises(RefusedError, match="already has a clip") as refused:
        study.clip(second, film)
    assert refused.value.why == "recorded"
    with pytest.raises(RefusedError, match="there is no such file") as refused:
        study.clip(first, tmp_path / "no.mp4")
    assert refused.value.why == "invalid"
    third = study.next_turn()
    study.record(third, True)
    study.clip(third, "https://lab.example/9.mp4")
    kept = Study.open(address)
    assert kept.fold.results[third.number].clip == Clip(link="https://lab.example/9.mp4")
    assert {one.name for one in kept.clips.path.iterdir()} == {clip_of(one).file for one in (film, other)}


def test_undo_void_release_check_and_amend(opened, address):
    study = opened("owner", "arm 1")
    turn = study.next_turn()
    study.record(turn, True)
    assert study.undo(turn, reason="slip").turns == (turn.number,)
    assert study.next_turn() == turn
    study.record(turn, False)
    assert study.void(turn, reason="hardware fault", note="gripper").status.voided == 1
    assert study.void(turn, reason="hardware fault").repeated
    held = study.next_turns(3)
    assert study.release(held[0]).turns == (held[0].number,)
    assert study.release().turns == tuple(turn.number for turn in held[1:])
    assert study.release().turns == ()
    study.check(["homed"], note="again")
    version = study.status().version
    study.amend({"title": "Mugs"}, reason="a better name", version=version)
    with pytest.raises(RefusedError, match="has changed since"):
        study.amend({"title": "Cups"}, reason="a better name", version=version)
    assert study.plan.title == "Mugs"
    assert sf.verify(address).sound


def test_a_stop_for_futility_is_overridden_by_the_owner(opened, address):
    study = opened("owner", "arm 1")
    study.amend({"futility": 0.2}, reason="less time than we thought")
    while (turn := study.next_turn()) is not None:
        study.record(turn, turn.block % 2 == 0)
    assert study.status().decision == "stop: hardly any chance left to decide"
    with pytest.raises(RefusedError, match="has changed since"):
        study.override(reason="the robot is free", version=study.status().version - 1)
    assert study.override(reason="the robot is free").status.decision == "continue"
    assert study.next_turn() is not None
    with pytest.raises(RefusedError, match="there is no stop to override"):
        study.override(reason="again")
    assert sf.verify(address).sound


def test_a_turn_belongs_to_its_holder_or_to_the_owner_with_a_reason(opened, address):
    one, owner = opened("owner", "arm 1"), opened("owner", "Olga")
    turn = one.next_turn()
    with pytest.raises(RefusedError, match=r"held by arm 1, not by you\. Give a reason"):
        owner.record(turn.number, True)
    owner.record(turn.number, True, reason="the arm's network is down")
    (event,) = [event for event in log(address) if event.kind == "recorded"]
    assert (event.author, event.body["reason"]) == ("Olga", "the arm's network is down")
    assert event.role in ("owner", "local")


def test_a_result_that_comes_after_another_took_the_turn_is_refused_and_logged(opened, address):
    one, two = opened("owner", "arm 1"), opened("owner", "arm 2")
    turn = one.next_turn(lease=timedelta(seconds=1000))
    assert two.release(holder="arm 1").turns == (turn.number,)
    assert two.next_turn() == turn
    for _ in range(2):
        with pytest.raises(RefusedError, match="went to arm 2 meanwhile") as refused:
            one.record(turn, True)
        assert refused.value.why == "late"
    two.record(turn, False)
    assert [event.kind for event in log(address)].count("refused") == 1


def test_a_crash_is_a_failure_by_default(opened, address):
    study = opened()
    turn = study.next_turn()
    assert not study.crash(turn, ended="time-out", note="not done after 60 s", request="word").repeated
    assert study.crash(turn, ended="time-out", note="not done after 60 s", request="word").repeated
    result = Study.open(address).fold.results[turn.number]
    assert (result.score, result.ended, result.failure) == (0.0, "time-out", "time-out")


def test_without_waiting_none_is_the_answer_while_others_hold_what_is_left(opened):
    one, two = opened("owner", "arm 1"), opened("owner", "arm 2")
    one.amend({"horizon": 1}, reason="a short one")
    assert len(one.next_turns(5)) == 2
    assert two.next_turn(wait=False) is None
    assert two.next_turns(2) == []
    assert not two.status().finished


def test_every_event_names_its_role(opened, address):
    study = opened("owner", "Olga")
    study.record(study.next_turn(), True)
    assert {event.role for event in log(address)} <= {"owner", "local"}


# --- by role, on a server ---


@pytest.fixture
def console(tmp_path):
    pytest.importorskip("uvicorn", reason="needs the extra `console`")
    from tests.support.consoles import Console
    from tests.support.consoles import study as served

    return Console(served(tmp_path))


def test_nobody_can_claim_another_role_or_another_devices_turns(console):
    from tests.support.consoles import OURS

    said = {"token": console.tokens.operator.reveal(), "name": "owner"}
    refused = console.client().post("/join", data=said, headers=OURS, follow_redirects=False)
    assert refused.status_code == 403
    assert "The name 'owner' is taken: it is a role." in html.unescape(refused.text)
    assert not refused.cookies
    ann, script, owner = console.browser("operator"), console.client("operator"), console.client("owner")
    turn = ann.post("/api/v1/turns/next", json={"ahead": 1}).json()["turn"]
    assert console.study.fold.history[-1].role == "operator"
    posing = script.post("/api/v1/turns/1/record", json={"result": True, "holder": "owner"})
    assert (posing.status_code, "is taken" in posing.json()["error"]) == (403, True)
    for body in ({}, {"reason": "I would like to"}):
        answer = script.post("/api/v1/turns/1/record", json={"result": True, **body})
        assert (answer.status_code, answer.json()["why"]) == (409, "held")
    assert script.post("/api/v1/turns/1/record", json={"result": True, "holder": turn["holder"]}).status_code == 422
    assert script.post("/api/v1/release", json={"holder": turn["holder"]}).status_code == 403
    runner = console.client("runner")
    runner.post("/api/v1/turns/next", json={"holder": "arm 1"})
    answer = script.post("/api/v1/turns/3/record", json={"result": True, "holder": "arm 1"})
    assert answer.status_code == 409  # the same name in another role is somebody else
    never = runner.post("/api/v1/turns/4/record", json={"result": True, "holder": "arm 1"})
    assert (never.status_code, "not handed out yet" in never.json()["error"]) == (409, True)
    assert owner.post("/api/v1/turns/1/record", json={"result": True, "reason": "phone lost"}).status_code == 200
    assert owner.post("/api/v1/release", json={"holder": "arm 1"}).json()["turns"] == [3]


def test_undo_and_void_after_the_stop_are_the_owners_and_tell_nothing(tmp_path):
    """Whether a corrected result sets the study going again would tell which code leads."""
    pytest.importorskip("uvicorn", reason="needs the extra `console`")
    from tests.support.consoles import Console
    from tests.support.consoles import study as served

    console = Console(served(tmp_path))
    runner, operator, owner = (console.client(role) for role in ("runner", "operator", "owner"))
    while (turn := runner.post("/api/v1/turns/next").json()["turn"]) is not None:
        runner.post(f"/api/v1/turns/{turn['number']}/record", json={"result": turn["policy"] == "new"})
    before = runner.get("/api/v1/status").json()
    assert before["decision"] == "stop: decided"
    for number in range(1, before["recorded"] + 1):
        for path, body in (("undo", {"reason": "wrong key"}), ("void", {"reason": "safety stop"})):
            answer = operator.post(f"/api/v1/turns/{number}/{path}", json=body)
            assert (answer.status_code, answer.json()["why"]) == (409, "decided")
    seen = set()
    for number in range(1, before["recorded"] + 1):
        told = owner.post(f"/api/v1/turns/{number}/undo", json={"reason": "saw it wrongly"}).json()["status"]
        seen.add((told["decision"], told["finished"], told["blocks"]))
        assert runner.post("/api/v1/turns/next").json()["turn"] is None
    assert seen == {(before["decision"], True, before["blocks"])}
    told = owner.post("/api/v1/unblind", json={"reason": "done"}).json()["status"]
    assert told["decision"] == "continue"  # known now, and the corrected results are what counts


def test_numbers_that_no_turn_has_are_refused(console):
    client = console.client("owner")
    for word in ("9" * 5000, "0", "-1", "1.5", "x", "٣", "1" * 10):
        assert client.get(f"/api/v1/turns/{word}").status_code == 404
