"""Tests of `surefoot.console.app`."""

from __future__ import annotations

import asyncio
import os
import socket
import time

import pytest

from surefoot.console import app, middleware
from surefoot.console.authentication import Door, Tokens
from surefoot.console.client import Client
from surefoot.console.operations import OPERATIONS
from surefoot.study.clips import ClipFolder, Quota
from tests.support.clips import GIF, HEADS, PNG
from tests.support.consoles import Console, ran, study


@pytest.fixture
def console(tmp_path):
    return Console(study(tmp_path))


def test_other_methods_and_paths_are_refused_as_json(console):
    client = console.client("owner")
    for method, path, status in [
        ("DELETE", "status", 405),
        ("PUT", "turns/next", 405),
        ("GET", "turns/next", 405),
        ("GET", "nothing", 404),
    ]:
        answer = client.request(method, f"/api/v1/{path}")
        assert answer.status_code == status
        assert answer.json()["error"]


def test_a_listener_too_many_is_told_to_wait(console, monkeypatch):
    monkeypatch.setattr(app, "MOST_LISTENERS", 0)
    answer = console.client("owner").get("/api/v1/events")
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "6")
    assert answer.json()["error"] == "Too many pages follow this study."


def test_events_tell_the_status_once_and_then_a_sign_of_life(console, monkeypatch):
    monkeypatch.setattr(app, "LOOK_EVERY", 0.0)
    monkeypatch.setattr(app, "SIGN_OF_LIFE", 0.0)
    service = console.app.state.service
    left = iter([False, False, False, True])

    class Page:
        async def is_disconnected(self):
            return next(left)

    async def heard():
        return [part async for part in app.Api(service, Door(console.tokens, service.id))._news(Page())]

    begin, status, *signs = asyncio.run(heard())
    assert begin == "retry: 2000\n\n"
    assert status.startswith("id: 1\nevent: status\ndata: {")
    assert signs == [": still here\n\n"] * 2
    service.closing = True
    assert asyncio.run(heard()) == ["retry: 2000\n\n"]  # a server that stops lets its pages go


ADDRESS = "/api/v1/turns/1/clip"


def kept(console):
    return sorted(one.name for one in console.study.clips.path.iterdir())


def test_a_clip_is_added_once_to_the_result_of_its_holder(console):
    phone = console.browser("operator")
    ran(phone, [True])
    answer = phone.post(f"{ADDRESS}?name=a%20b.gif&attempt=1", content=GIF)
    assert (answer.status_code, answer.json()["repeated"]) == (200, False)
    assert phone.post(ADDRESS, content=GIF).json()["repeated"]
    clip = console.study.fold.results[1].clip
    assert (clip.name, clip.kind, clip.bytes) == ("a b.gif", "gif", len(GIF))
    assert kept(console) == [clip.file]
    assert [line.event.kind for line in console.study.store.read()].count("attached") == 1


def test_another_device_or_role_cannot_add_it_and_nothing_is_kept(console):
    ran(console.browser("operator"), [True])
    for other in (console.browser("operator", "Bob"), console.client("runner")):
        answer = other.post(ADDRESS, content=GIF)
        assert (answer.status_code, answer.json()["why"]) == (409, "held")
    assert console.client().post(ADDRESS, content=GIF).status_code == 401
    assert not console.study.clips.path.exists()
    assert console.client("owner").post(ADDRESS, content=GIF).status_code == 200


@pytest.mark.parametrize(
    ("address", "body", "status", "said"),
    [
        (ADDRESS, b"<script>alert(1)</script>" * 9, 422, "it is not one of mp4"),
        (ADDRESS, b"", 422, "it is not one of mp4"),
        (ADDRESS, HEADS["jpg"][:2], 422, "it is not one of mp4"),
        ("/api/v1/turns/99/clip", GIF, 404, "never handed out"),
        ("/api/v1/turns/x/clip", GIF, 404, "no such turn"),
        (f"{ADDRESS}?attempt=2", GIF, 409, "no such result"),
        (f"{ADDRESS}?attempt=x", GIF, 422, "`attempt` must be a whole number"),
        (f"{ADDRESS}?more=1", GIF, 422, "known fields only"),
        (f"{ADDRESS}?link=javascript:alert(1)", b"", 422, "must begin with http"),
    ],
)
def test_what_is_refused_says_why_and_leaves_no_file(console, address, body, status, said):
    phone = console.client("runner")
    ran(phone, [True])
    answer = phone.post(address, content=body)
    assert answer.status_code == status
    assert said in answer.json()["error"]
    assert console.study.fold.results[1].clip is None
    assert not console.study.clips.path.exists() or kept(console) == []


def test_a_clip_that_is_too_large_is_refused_by_its_length_and_by_its_bytes(console, monkeypatch):
    phone = console.client("runner")
    ran(phone, [True])
    monkeypatch.setattr(middleware, "MOST_CLIP", len(GIF))
    assert phone.post(ADDRESS, content=GIF + b"0").status_code == 413
    answer = phone.post(ADDRESS, content=iter([GIF, b"0"]))
    assert (answer.status_code, kept(console)) == (413, [])
    assert phone.post(ADDRESS, content=GIF).status_code == 200


def test_a_link_needs_no_file(console):
    phone = console.client("runner")
    ran(phone, [True, False])
    assert phone.post(f"{ADDRESS}?link=https://lab.example/1.mp4").status_code == 200
    assert console.study.fold.results[1].clip.link == "https://lab.example/1.mp4"


def test_a_result_over_the_api_names_no_file_of_the_server(console):
    phone = console.client("runner")
    turn = phone.post("/api/v1/turns/next").json()["turn"]["number"]
    for clip in ("/etc/passwd", {"sha256": "a" * 64, "kind": "gif"}, {"link": "file:///etc/passwd"}, {}):
        answer = phone.post(f"/api/v1/turns/{turn}/record", json={"result": True, "clip": clip})
        assert (answer.status_code, "`clip` must be a link" in answer.json()["error"]) == (422, True)
    told = {"result": True, "clip": {"name": "7.mp4", "fault": "missing"}}
    assert phone.post(f"/api/v1/turns/{turn}/record", json=told).status_code == 200
    assert console.study.fold.results[turn].clip.fault == "missing"


def test_no_operation_serves_a_clip_to_anybody_while_the_study_is_blinded(console):
    phone = console.client("runner")
    ran(phone, [True])
    assert phone.post(ADDRESS, content=GIF).status_code == 200
    clip = console.study.fold.results[1].clip
    for role in ("operator", "runner", "owner"):
        client = console.client(role)
        assert client.get(ADDRESS).status_code == 403
        for path in (f"/clips/{clip.file}", f"/study.clips/{clip.file}", f"/static/../study.clips/{clip.file}"):
            assert client.get(path).status_code == 404
        read = [one for one in OPERATIONS.values() if one.method == "GET" and one.name != "events"]
        for operation in read:
            answer = client.get(operation.at(1))
            assert clip.sha256 not in answer.text
            assert GIF not in answer.content


def test_a_folder_that_cannot_be_written_is_said_and_may_be_tried_again(console, monkeypatch):
    phone = console.client("runner")
    ran(phone, [True])

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(ClipFolder, "arriving", full)
        assert phone.post(ADDRESS, content=GIF).status_code == 503
    console.study.clips.path.write_bytes(b"a file in its place")
    answer = phone.post(ADDRESS, content=GIF)
    assert (answer.status_code, answer.json()["error"]) == (503, "The clip cannot be kept: File exists.")
    assert console.study.fold.results[1].clip is None


def test_too_many_clips_at_one_moment_wait(console, monkeypatch):
    phone = console.client("runner")
    ran(phone, [True])
    monkeypatch.setattr(app, "MOST_AT_ONCE", 0)
    answer = phone.post(ADDRESS, content=GIF)
    assert (answer.status_code, "Retry-After" in answer.headers) == (429, True)


# --- the log names a clip before it takes its place (R22) ---


def test_a_clip_that_is_refused_meanwhile_is_not_kept(console, monkeypatch):
    phone = console.client("runner")
    ran(phone, [True])
    assert phone.post(ADDRESS, content=GIF).status_code == 200
    before, service = kept(console), console.app.state.service
    asked = service._clip
    monkeypatch.setattr(service, "_clip", lambda *a, clip, **b: {} if clip is None else asked(*a, clip=clip, **b))
    for _ in range(3):  # another clip of the turn was faster than the question whether it may be sent
        assert phone.post(ADDRESS, content=HEADS["jpg"] + b"0" * 3_000_000).status_code == 409
    assert kept(console) == before


def test_a_server_killed_between_the_log_and_the_folder_finishes_what_it_began(console, monkeypatch):
    phone = console.client("runner")
    ran(phone, [True])
    folder = console.study.clips

    def killed(*_):
        raise OSError(5, "killed")

    with monkeypatch.context() as patched:
        patched.setattr(ClipFolder, "put", killed)
        patched.setattr("pathlib.Path.unlink", lambda *_, **__: None)
        assert phone.post(ADDRESS, content=GIF).status_code == 503
    (folder.path / ".arriving-2.part").write_bytes(b"half of a clip")
    (left,) = (one for one in folder.path.iterdir() if one.name != ".arriving-2.part")
    assert left.name.endswith(".part")
    clip = console.study.fold.results[1].clip
    said = folder.sweep([clip])
    assert kept(console) == [clip.file]
    assert "1 clip that had arrived took its place." in said
    assert "1 file of no clip removed, 0.0 MB." in said
    assert folder.fault(clip) is None


def test_sweeping_leaves_what_arrives_now_what_is_named_and_what_is_not_ours(console):
    phone = console.client("runner")
    ran(phone, [True])
    phone.post(ADDRESS, content=GIF)
    folder, clip = console.study.clips, console.study.fold.results[1].clip
    (folder.path / "notes.txt").write_text("mine", encoding="utf-8")
    orphan = folder.path / f"{'ab' * 32}.gif"
    orphan.write_bytes(GIF)
    with folder.arriving() as file:
        file.write(b"half")
        assert folder.sweep([clip]) == []  # a script may be about to name the new copy
        os.utime(orphan, (1, 1))
        assert folder.sweep([clip]) == ["1 file of no clip removed, 0.0 MB."]
        assert len(kept(console)) == 3
    assert kept(console) == sorted([clip.file, "notes.txt"])


def test_a_server_that_starts_sweeps(console, tmp_path):
    folder = console.study.clips.path
    folder.mkdir()
    (folder / ".arriving-old.part").write_bytes(b"half of a clip")
    with console.client("runner") as client:
        client.get("/api/v1/status")
        until = time.monotonic() + 10
        while kept(console) and time.monotonic() < until:
            time.sleep(0.05)
    assert kept(console) == []


@pytest.mark.parametrize(("quota", "said"), [(Quota(60, 1000), "of a study"), (Quota(1000, 60), "of one person")])
def test_a_study_and_a_person_have_a_quota(console, quota, said):
    console.app.state.service.quota = quota
    phone = console.client("runner")
    ran(phone, [True, False])
    assert phone.post(ADDRESS, content=GIF).status_code == 200
    answer = phone.post("/api/v1/turns/2/clip", content=PNG)
    assert answer.status_code == 413
    assert said in answer.json()["error"]
    assert len(kept(console)) == 1
    assert phone.post(ADDRESS, content=GIF).status_code == 200  # the same again takes no room
    assert phone.post("/api/v1/turns/2/clip?link=https://lab.example/2.mp4").status_code == 200


def test_a_clip_is_served_as_what_it_is_and_to_be_kept(console):
    phone = console.client("runner")
    ran(phone, [True, False])
    assert phone.post(f"{ADDRESS}?name=x.html", content=GIF).status_code == 200
    console.client("owner").post("/api/v1/unblind", json={"reason": "done"})
    answer = phone.get(ADDRESS)
    assert (answer.status_code, answer.content) == (200, GIF)
    assert answer.headers["content-type"] == "image/gif"
    assert answer.headers["content-disposition"] == 'attachment; filename="turn-1.gif"'
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert phone.get("/api/v1/turns/2/clip").status_code == 404
    assert console.client().get(ADDRESS).status_code == 401
    console.study.clips.where(console.study.fold.results[1].clip).write_bytes(PNG)
    assert phone.get(ADDRESS).status_code == 404


def test_slow_clips_give_way_to_one_that_waits(tmp_path):
    from tests.support.consoles import threaded

    made, tokens = study(tmp_path), Tokens.fresh()
    with threaded(made, tokens) as address, pytest.MonkeyPatch.context() as patched:
        patched.setattr(app, "PATIENCE", 0.3)
        robot = Client(address, tokens.runner.reveal(), holder="arm", marks=tmp_path / "m")
        turns = [robot.next_turn() for _ in range(1)]
        robot.record(turns[0], result=True)
        drips = []
        for place in range(app.MOST_AT_ONCE):
            one = socket.create_connection(address.removeprefix("http://").split(":"))
            head = f"POST {ADDRESS}?holder=arm HTTP/1.1\r\nHost: localhost\r\nX-Surefoot-Name: d{place}\r\n"
            token = f"Authorization: Bearer {tokens.runner.reveal()}\r\nContent-Length: 5000\r\n\r\n"
            one.sendall(f"{head}{token}".encode() + GIF[:10])
            drips.append(one)
        time.sleep(1.0)
        (tmp_path / "a.gif").write_bytes(GIF)
        started = time.monotonic()
        robot.clip(turns[0], tmp_path / "a.gif")
        took = time.monotonic() - started
        for one in drips:
            one.close()
    made.refresh()
    assert made.fold.results[1].clip is not None
    assert took < 5
