"""Tests of `surefoot.console.pages`."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

import surefoot.console
from surefoot.console import pages
from surefoot.console.authentication import ROLES
from surefoot.study.stores.sqlite import SQLiteStore
from surefoot.study.studies import Study
from tests.support.consoles import Console, ran, study
from tests.support.studies import plan

FILES = Path(surefoot.console.__file__).parent
PAGES = ["/run", "/mirror", "/runner", "/live", "/owner", "/report"]


@pytest.fixture
def console(tmp_path):
    return Console(study(tmp_path))


def test_pages_need_no_inline_script_or_style_and_no_other_site(console):
    client = console.browser("owner")
    for page in [client.get(path).text for path in ("/run", "/live", "/owner", "/mirror", "/join")]:
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|javascript:", page)
    for file in [*FILES.glob("templates/*"), *FILES.glob("static/*")]:
        text = file.read_text().replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|(?:src|href)=\"//", text), file.name
        assert not re.search(r"innerHTML\s*=|insertAdjacentHTML|eval\(|document\.write", text), file.name


def test_pages_show_no_token_but_the_operators_to_the_owner(console):
    for role in ROLES:
        browser = console.browser(role)
        for path in PAGES:
            text = browser.get(path).text
            assert console.tokens.runner.reveal() not in text
            assert console.tokens.owner.reveal() not in text
            assert (console.tokens.operator.reveal() in text) == (role == "owner" and path == "/owner")


# --- people's words ---

NASTY = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


def test_every_text_is_escaped(tmp_path):
    nasty = {
        "title": NASTY,
        "reset": NASTY,
        "policies": (NASTY, "old"),
        "tasks": (NASTY,),
        "conditions": (f"{NASTY} left",),
        "void_reasons": (NASTY,),
    }
    console = Console(study(tmp_path, **nasty))
    owner, runner = console.browser("owner", NASTY[:60]), console.browser("runner", NASTY[:60])
    ran(owner, [True, False])
    owner.post("/api/v1/turns/next")
    pages = [owner.get(path).text for path in ("/run", "/mirror", "/owner", "/live")] + [runner.get("/runner").text]
    owner.post("/api/v1/unblind", json={"reason": NASTY})
    pages += [owner.get(path).text for path in ("/live", "/owner")]
    for page in pages:
        assert "alert(1)" in page
        assert "<script>alert" not in page
        assert "<img src=x" not in page


def test_a_study_of_a_list_says_on_its_pages_what_it_is_about(tmp_path):
    items = tuple(f"issue {number}" for number in range(60))
    declared = {"rule": "mixture", "environments": "shared", "conditions": (), "tasks": (), "items": items}
    console = Console(study(tmp_path, **declared, horizon=60, void_reasons=()))
    runner, owner = console.client("runner"), console.client("owner")
    while (turn := runner.post("/api/v1/turns/next").json()["turn"]) is not None:
        assert turn["condition"] in items
        runner.post(f"/api/v1/turns/{turn['number']}/record", json={"result": turn["policy"] == "new"})
    assert owner.get("/api/v1/status").json()["claim"] == ""
    owner.post("/api/v1/unblind", json={"reason": "decided"})
    claim = owner.get("/api/v1/status").json()["claim"]
    assert claim.startswith("On these 60 items new is better (")
    live = console.browser("owner").get("/live").text
    assert f"<h2>{claim}</h2>" in live
    assert "the first policy is better" not in live
    assert "60 values" in console.browser("owner").get("/owner").text
    refused = owner.post("/api/v1/turns/1/void", json={"reason": "hardware fault"})
    assert "no item of a declared list is left out" in refused.text


def test_halving_says_on_its_page_that_no_best_is_claimed(tmp_path):
    of_four = {"policies": tuple("abcd"), "question": "best", "rule": "halve", "budget": 40, "horizon": None}
    console = Console(study(tmp_path, **of_four, blinded=False))
    runner, owner = console.client("runner"), console.browser("owner")
    live = owner.get("/live").text
    assert "<h2>Stage 1 of 2" in live
    assert "<h2>Halving, so far</h2>" in live
    while (turn := runner.post("/api/v1/turns/next").json()["turn"]) is not None:
        runner.post(f"/api/v1/turns/{turn['number']}/record", json={"result": turn["policy"] == "b"})
    live = owner.get("/live").text
    assert "<h2>b is picked of 4." in live
    assert "may be the best" not in live.lower()
    assert "That it is the best is not claimed" in live


def test_another_checkpoint_is_shown_to_runner_and_owner_only(tmp_path):
    file = tmp_path / "new.pt"
    file.write_bytes(b"weights 1")
    details = ({"name": "new", "checkpoint": str(file)}, {"name": "old", "checkpoint": "https://models.lab/old"})
    made = Study.create(plan(policies=details).hashed(), SQLiteStore(tmp_path / "study.db"))
    console = Console(made)
    service = console.app.state.service
    file.write_bytes(b"other weights")
    service.follow(None)
    said, until = "The checkpoint of new is not the one that the plan names", time.monotonic() + 10
    while not service._others and time.monotonic() < until:
        time.sleep(0.02)
    service.closing = True
    for role, page in (("runner", "/runner"), ("owner", "/owner")):
        assert said in console.browser(role, "Eve").get(page).text
    for role in ("operator", "runner", "owner"):
        for page in ("/run", "/mirror", "/live"):
            assert "checkpoint" not in console.browser(role, "Eve").get(page).text
    operator = console.browser("operator", "Ann")
    for path in ("/api/v1/status", "/api/v1/turns"):
        assert said not in operator.get(path).text


def test_a_pose_that_is_a_number_says_what_it_counts(tmp_path):
    console = Console(study(tmp_path, conditions=("1", "2"), reset="box shut; arm home"))
    console.client("runner").post("/api/v1/turns/next")
    mirror, runner = (console.browser("runner").get(path).text for path in ("/mirror", "/runner"))
    assert re.search(r"<li>condition [12]</li>", mirror)
    assert "<li>box shut</li><li>arm home</li>" in mirror
    assert re.search(r" · condition [12]<", runner)


def test_a_code_is_one_picture_without_style_or_script():
    picture = str(pages.svg("http://192.0.2.7:8765/join#token"))
    assert picture.startswith("<svg")
    assert "style" not in picture
    assert "script" not in picture
