"""Tests of `surefoot.console.responses`."""

from __future__ import annotations

import pytest

from surefoot.study.stores import StoreError
from tests.support.consoles import Console, study
from tests.support.operations import kinds

TURN = "/api/v1/turns/1"


@pytest.fixture
def console(tmp_path):
    return Console(study(tmp_path))


def test_a_store_that_fails_records_nothing_and_says_so(console, monkeypatch, caplog):
    client = console.client("operator")
    client.post("/api/v1/turns/next")
    append = console.study._store.append

    def full(lines, *, after):
        raise StoreError("study.db: database or disk is full. Free some space and record again.")

    monkeypatch.setattr(console.study._store, "append", full)
    entry = {"result": True, "request": "word"}
    answer = client.post(f"{TURN}/record", json=entry)
    assert answer.status_code == 503
    assert "disk is full" in answer.json()["error"]
    assert answer.headers["retry-after"]
    assert client.post(f"{TURN}/record", json=entry).status_code == 503
    assert [line for line in caplog.messages if "disk is full" in line] == caplog.messages[:1]  # told once in a minute
    monkeypatch.setattr(console.study._store, "append", append)
    assert client.post(f"{TURN}/record", json=entry).json()["repeated"] is False
    assert kinds(console.study).count("recorded") == 1
