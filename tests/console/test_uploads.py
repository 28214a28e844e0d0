"""Tests of `surefoot.console.uploads`: a clip arrives for its turn, from its holder, and nobody can fetch it."""

from __future__ import annotations

import pytest

from surefoot.console import middleware, uploads
from surefoot.console.operations import OPERATIONS
from surefoot.study.clips import ClipFolder
from tests.support.clips import GIF, HEADS
from tests.support.consoles import Console, ran, study

ADDRESS = "/api/v1/turns/1/clip"


@pytest.fixture
def console(tmp_path):
    return Console(study(tmp_path))


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


def test_no_operation_serves_a_clip_to_anybody(console):
    phone = console.client("runner")
    ran(phone, [True])
    assert phone.post(ADDRESS, content=GIF).status_code == 200
    clip = console.study.fold.results[1].clip
    for role in ("operator", "runner", "owner"):
        client = console.client(role)
        assert client.get(ADDRESS).status_code == 405
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
        patched.setattr(ClipFolder, "_copied", full)
        assert phone.post(ADDRESS, content=GIF).status_code == 503
    assert kept(console) == []
    console.study.clips.path.rmdir()
    console.study.clips.path.write_bytes(b"a file in its place")
    answer = phone.post(ADDRESS, content=GIF)
    assert (answer.status_code, answer.json()["error"]) == (503, "The clip cannot be kept: File exists.")
    assert console.study.fold.results[1].clip is None


def test_too_many_clips_at_one_moment_wait(console, monkeypatch):
    phone = console.client("runner")
    ran(phone, [True])
    monkeypatch.setattr(uploads, "MOST_AT_ONCE", 0)
    answer = phone.post(ADDRESS, content=GIF)
    assert (answer.status_code, "Retry-After" in answer.headers) == (429, True)
