"""The console as a person meets it: Chromium on a phone and on a desk, by tap and by key, online and off."""

from __future__ import annotations

import random
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

import surefoot as sf
from surefoot.cli.main import run
from surefoot.console.authentication import Tokens
from surefoot.study.conduct import counts_of
from surefoot.study.leases import LeaseClock
from surefoot.study.stores import StoreError
from surefoot.study.stores.sqlite import SQLiteStore
from surefoot.study.studies import Study
from tests.support.browsers import DESK, PHONE, Person
from tests.support.clips import GIF
from tests.support.consoles import Program, study, threaded

pytestmark = pytest.mark.end_to_end


@pytest.fixture
def program(tmp_path, request):
    tokens, made = Tokens.fresh(), study(tmp_path, **getattr(request, "param", {}))
    with threaded(made, tokens) as address:
        yield SimpleNamespace(address=address, tokens=tokens, path=tmp_path / "study.db")


def opened(program):
    return Study.open(SQLiteStore(program.path))


def recorded(program):
    return [event.body for event in opened(program).fold.history if event.kind == "recorded"]


def test_twenty_turns_by_keyboard_only(chromium, program):
    ann = Person(chromium, program)
    codes = []
    for number in range(20):
        codes.append(ann.code())
        ann.by_key("s" if number // 2 % 2 else "f")
    ann.settled()
    assert len(set(codes)) == 20
    fold = opened(program).fold
    assert [fold.turns[body["turn"]].code for body in recorded(program)] == codes
    assert [body["result"] for body in recorded(program)] == [bool(number // 2 % 2) for number in range(20)]
    assert all(body["duration"] is not None and body["duration"] < 60 for body in recorded(program))
    assert {event.author for event in fold.history if event.kind == "recorded"} == {"Ann"}
    ann.close()


def test_twenty_turns_by_tap_only(chromium, program):
    ann = Person(chromium, program, **PHONE)
    for number in range(20):
        ann.by_tap(".good" if number // 2 % 2 else ".bad")
    ann.settled()
    assert [body["result"] for body in recorded(program)] == [bool(number // 2 % 2) for number in range(20)]
    ann.close()


def test_a_double_tap_and_a_held_key_record_once(chromium, program):
    ann = Person(chromium, program, **PHONE)
    first = ann.code()
    ann.page.tap("#start")
    ann.page.dblclick(".good")
    ann.moved(first)
    ann.page.tap(".good", force=True)
    ann.until("() => document.getElementById('said').textContent.startsWith('Press Start first')")
    ann.page.keyboard.down("Enter")
    for _ in range(5):
        ann.page.keyboard.down("s")
        ann.page.keyboard.down("s")
    ann.page.keyboard.up("s")
    ann.settled()
    assert Counter(body["turn"] for body in recorded(program)) == Counter([1, 2])
    ann.close()


def test_reason_note_undo_void_and_checklist_by_keyboard(chromium, program):
    ann = Person(chromium, program)
    page = ann.page
    first = ann.code()
    page.keyboard.press("c")
    page.keyboard.press("1")
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.keyboard.press("r")
    page.keyboard.type("dropped it")
    page.keyboard.press("Enter")
    page.keyboard.press("n")
    page.keyboard.type("slippery")
    page.keyboard.press("Enter")
    page.keyboard.press("f")
    ann.moved(first)
    ann.settled()
    assert (recorded(program)[0]["failure"], recorded(program)[0]["note"]) == ("dropped it", "slippery")

    page.keyboard.press("u")
    page.wait_for_selector("#undo-box[open]")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    page.wait_for_function("code => document.getElementById('code').textContent === code", arg=first)
    assert page.inner_text("#turn-label").lower().startswith("turn 1, to record again: its 0:0")
    assert page.is_hidden("#start")
    page.keyboard.press("s")  # the outcome alone: the rollout took as long as it took
    ann.moved(first)
    ann.settled()
    assert recorded(program)[1]["duration"] == recorded(program)[0]["duration"]
    second = ann.code()
    page.keyboard.press("v")
    page.wait_for_selector("#void-box[open]")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    ann.moved(second)
    ann.settled()
    history = opened(program).fold.history
    events = [event for event in history if event.kind not in ("leased", "started")]
    assert [event.kind for event in events] == ["checked", "recorded", "undone", "recorded", "voided"]
    assert len(events[0].body["items"]) == 2
    assert events[2].body["reason"] == "saw it wrongly"
    voided = {"block": 1, "reason": "hardware fault", "note": "", "seen": True}
    assert {name: events[4].body[name] for name in voided} == voided
    assert page.inner_text("#turn-label").lower() == "turn 3"
    ann.close()


def test_five_turns_offline_are_sent_once_and_in_order(chromium, program):
    ann = Person(chromium, program, **PHONE)
    ann.by_tap(".good")
    ann.settled()
    ann.context.set_offline(True)
    codes = []
    for number in range(5):
        codes.append(ann.code())
        ann.by_tap(".good" if number % 2 else ".bad")
    ann.pill("Offline · 5 waiting")
    ann.page.tap("#pill")
    assert ann.page.locator("#queue li").count() == 5
    ann.page.tap("#queue-box .primary")
    assert len(recorded(program)) == 1
    ann.context.set_offline(False)
    ann.settled()
    fold = opened(program).fold
    assert [fold.turns[body["turn"]].code for body in recorded(program)[1:]] == codes
    assert [body["result"] for body in recorded(program)[1:]] == [False, True, False, True, False]
    ann.close()


def test_undo_and_void_offline_and_a_page_closed_before_it_could_send(chromium, program):
    ann = Person(chromium, program)
    ann.settled()
    ann.context.set_offline(True)
    first = ann.code()
    ann.by_key("s")
    ann.page.keyboard.press("u")
    ann.page.keyboard.press("Enter")
    ann.until("code => document.getElementById('code').textContent === code", arg=first)
    ann.by_key("f")
    ann.pill("Offline · 3 waiting")
    ann.page.close()
    ann.context.set_offline(False)
    ann.page = ann.context.new_page()
    ann.page.goto(f"{program.address}/run")
    ann.settled()
    assert [(body["turn"], body["attempt"], body["result"]) for body in recorded(program)] == [
        (1, 1, True),
        (1, 2, False),
    ]
    ann.close()


def test_a_killed_server_comes_back_to_the_same_page(chromium, tmp_path):
    study(tmp_path)._store.close()
    with Program(tmp_path / "study.db") as program:
        killed_and_started(Person(chromium, program), program)


def killed_and_started(ann, program):
    ann.by_key("s")
    ann.settled()
    program.kill()
    for _ in range(3):
        ann.by_key("f")
    ann.pill("Offline · 3 waiting")
    program.start()
    ann.settled()
    assert [body["turn"] for body in recorded(program)] == [1, 2, 3, 4]
    ann.close()


def kept_by_worker(page):
    """What the worker keeps, by path."""
    return page.evaluate(
        """async () => { const kept = {};
        for (const name of await caches.keys()) {
            const cache = await caches.open(name);
            for (const { url } of await cache.keys())
                kept[new URL(url).pathname] = await (await cache.match(url)).text();
        }
        return kept; }"""
    )


def worked(page):
    """Wait until the worker stands ready for the next loading."""
    page.wait_for_function("() => navigator.serviceWorker.controller !== null")


def test_the_page_is_loaded_and_goes_on_while_the_server_is_away(chromium, tmp_path):
    study(tmp_path).store.close()
    with Program(tmp_path / "study.db") as program:
        ann = Person(chromium, program, **PHONE)
        worked(ann.page)
        for _ in range(2):  # a pair counts, and the page that the worker kept does not know it
            ann.by_tap(".good")
            ann.settled()
        program.kill()
        ann.by_tap(".bad")
        assert ann.page.inner_text("#said").startswith("Turn 3 · ")
        assert ann.page.inner_text("#last").endswith(": a failure, kept here, not yet sent.")
        ann.page.tap("#start")
        code = ann.code()
        assert ann.page.inner_text("#pairs") == "1"
        ann.page.reload()
        assert ann.code() == code
        assert ann.page.inner_text("#pairs") == "1"
        ann.pill("Offline · 1 waiting")
        assert ann.page.inner_text("#start").startswith("Stop")  # the clock runs on
        ann.page.tap(".good")
        ann.moved(code)
        ann.page.close()  # a phone throws pages away
        ann.page = ann.context.new_page()
        ann.page.goto(f"{program.address}/run")
        ann.pill("Offline · 2 waiting")
        ann.by_tap(".good")
        program.start()
        ann.settled()
        assert [(body["turn"], body["result"]) for body in recorded(program)] == [
            *((1, True), (2, True), (3, False), (4, True), (5, True)),
        ]
        ann.close()


def test_a_full_disk_is_said_to_operator_and_server_and_nothing_is_lost(chromium, program, monkeypatch, caplog):
    ann = Person(chromium, program, **PHONE)
    ann.code()  # a turn is held before the disk fills
    ann.settled()
    with monkeypatch.context() as full:

        def refuse(*_, **__):
            raise StoreError("study.db: database or disk is full. Free some space, then try again.")

        full.setattr(SQLiteStore, "append", refuse)
        ann.by_tap(".good")
        ann.pill("Offline · 1 waiting")
        said = (
            "study.db: database or disk is full. Free some space, then try again. What you enter waits in this browser."
        )
        ann.page.wait_for_selector("#alert:visible")
        assert ann.page.inner_text("#alert") == said
        assert [record.getMessage() for record in caplog.records if "disk is full" in record.getMessage()] == [
            "surefoot: study.db: database or disk is full. Free some space, then try again."
        ]
    ann.settled()
    assert not ann.page.is_visible("#alert")
    assert [(body["turn"], body["result"]) for body in recorded(program)] == [(1, True)]
    ann.close()


@pytest.mark.parametrize("program", [{"policies": ("polka", "quince")}], indirect=True)
def test_the_worker_keeps_no_secret_and_no_other_page(chromium, program):
    for role in ("operator", "runner", "owner"):
        person = Person(chromium, program, role)
        person.page.goto(f"{program.address}/run")
        person.code()
        worked(person.page)
        for path in ("/live", "/mirror", "/runner", "/owner", "/run"):
            person.page.goto(f"{program.address}{path}")
        kept = kept_by_worker(person.page)
        names = ("console.css", "mark.svg", "base.js", "clips.js", "console.js", "watching.js")
        assert set(kept) == {"/run", *(f"/static/{name}" for name in names)}
        tokens = [getattr(program.tokens, name).reveal() for name in ("operator", "runner", "owner")]
        page = kept["/run"]
        assert not any(secret in page for secret in [*tokens, "polka", "quince", person.code()])
        person.context.set_offline(True)
        with pytest.raises(Exception, match="ERR_INTERNET_DISCONNECTED"):
            person.page.goto(f"{program.address}/{role if role != 'operator' else 'live'}")
        person.context.close()


def test_a_session_that_ended_leaves_no_page_behind(chromium, tmp_path):
    study(tmp_path).store.close()
    with Program(tmp_path / "study.db") as program:
        ann = Person(chromium, program)
        worked(ann.page)
        assert "/run" in kept_by_worker(ann.page)
        program.kill()
        Path(f"{program.path}.tokens.json").unlink()
        program.start()
        ann.page.goto(f"{program.address}/run")
        ann.page.wait_for_selector("text=Join the study")
        assert "/run" not in kept_by_worker(ann.page)
        ann.close()


def test_entries_are_never_sent_to_another_study(chromium, tmp_path):
    """Another study is served at the same address: what was entered for the first waits for the first."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        study(tmp_path / name).store.close()
    with Program(tmp_path / "one" / "study.db") as one:
        ann = Person(chromium, one)
        ann.by_key("s")
        ann.settled()
        one.kill()
        ann.by_key("f")
        with Program(tmp_path / "two" / "study.db", one.port) as two:
            bob = ann.context.new_page()
            bob.goto(f"{two.address}/join#{two.tokens.operator.reveal()}")
            bob.keyboard.press("Enter")
            bob.wait_for_selector("#turn:visible")
            ann.page.click("#pill")
            ann.page.wait_for_selector("text=Another study is served here now. Entries wait")
            ann.page.keyboard.press("Escape")
            assert recorded(two) == []
        one.start()
        ann.settled()
        assert [(body["turn"], body["result"]) for body in recorded(one)] == [(1, True), (2, False)]
        ann.close()


def test_leaving_is_warned_of_when_the_page_could_not_come_back(chromium, program):
    ann = Person(chromium, program, **DESK, service_workers="block")
    asked = []
    ann.page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    ann.page.reload()
    ann.settled()
    assert asked == []
    ann.context.set_offline(True)
    ann.by_key("s")
    ann.page.close(run_before_unload=True)
    ann.page.wait_for_timeout(300)
    assert asked == ["beforeunload"]
    ann.context.set_offline(False)
    ann.settled()
    assert len(recorded(program)) == 1
    ann.close()


def test_two_devices_cannot_overwrite_each_other(chromium, program):
    ann, bob = Person(chromium, program), Person(chromium, program, name="Bob")
    assert ann.code() != bob.code()
    late = ann.code()
    ann.context.set_offline(True)
    ann.by_key("s")
    Study.open(SQLiteStore(program.path), author="Bob").record(1, False, reason="Ann is away")
    ann.context.set_offline(False)
    ann.pill("1 refused")
    assert "already has a result, from Bob. It was not overwritten" in ann.page.inner_text("#alert")
    ann.page.click("#pill")
    assert late in ann.page.inner_text("#refusals")
    ann.page.click("#refusals button")
    ann.settled()
    assert opened(program).fold.results[1].score == 0.0
    for person in (ann, bob):
        person.close()


def test_a_colleague_at_work_is_not_taken_over(chromium, program):
    ann, bob = Person(chromium, program, **PHONE), Person(chromium, program, name="Bob", **PHONE)
    ann.code()
    ann.page.tap("#start")
    while bob.page.is_hidden("#waits"):
        bob.by_tap(".good")
        bob.settled()
        assert len(recorded(program)) < 20
    assert bob.page.is_hidden("#take-over")
    assert bob.page.inner_text("#take-hint") == "Its turns can be taken over once it has been silent for 10 minutes."
    holder = opened(program).status().waits.holder
    refused = bob.page.evaluate(
        "async (holder) => (await fetch('/api/v1/release', {method: 'POST', body: JSON.stringify({holder}), headers: "
        "{'Content-Type': 'application/json', 'X-Surefoot-Study': document.body.dataset.study}})).status",
        holder,
    )
    assert refused == 403
    ann.page.tap(".good")
    ann.settled()
    assert opened(program).fold.results[1].author == "Ann"
    for person in (ann, bob):
        person.close()


LAB = {
    "tasks": (
        {
            "name": "mug",
            "instruction": "Put the mug on the shelf.",
            "reset": ("Open the gripper", "Mug on the mark"),
            "stages": {"grasped": 0.25, "lifted": 0.5, "placed": 1.0},
            "failure_tags": ("dropped", "missed"),
            "time_limit": 90,
        },
    ),
    "operators": ("Ann", "Bob"),
    "rigs": ("left", "right"),
    "rule": "mixture",
}


@pytest.mark.parametrize("program", [LAB], indirect=True)
def test_stages_and_tags_are_one_tap_each_and_the_task_is_told(chromium, program, tmp_path):
    ann = Person(chromium, program, **PHONE)
    first, page = ann.code(), ann.page
    assert page.inner_text("#instruction q") == "Put the mug on the shelf."
    assert page.inner_text("#reset ul").split("\n") == ["Open the gripper", "Mug on the mark"]
    assert page.inner_text("#limit") == "1:30"
    chips = page.inner_text("#chips").split("\n")
    assert "mug" in chips
    assert set(chips) & {"left", "right"}
    assert not page.evaluate("() => document.documentElement.scrollWidth > document.documentElement.clientWidth")
    page.tap("#start")
    page.wait_for_timeout(400)
    page.tap("#tags >> text=dropped")
    page.screenshot(path=tmp_path / "stages.png")
    page.tap("#outcomes >> text=lifted")
    ann.moved(first)
    ann.settled()
    assert [recorded(program)[0][name] for name in ("stage", "result", "failure")] == ["lifted", 0.5, "dropped"]
    assert "“lifted”" in page.inner_text("#last")
    second = ann.code()
    page.tap("#start")
    page.tap("#undo")
    page.wait_for_selector("#undo-box[open]")
    page.tap("#undo-box button[value=undo]")
    ann.until("code => document.getElementById('code').textContent === code", arg=first)
    page.tap("#outcomes >> text=placed")
    ann.until("code => document.getElementById('code').textContent === code", arg=second)
    assert page.inner_text("#start").startswith("Stop")  # the clock of the turn begun meanwhile went on
    page.tap("#outcomes >> text=none of these")
    ann.settled()
    ann.moved(second)
    ann.settled()
    told = [(body["turn"], body.get("stage", ""), body["result"]) for body in recorded(program)]
    assert told[1:] == [(1, "placed", 1.0), (2, "", 0.0)]
    assert recorded(program)[1]["duration"] == recorded(program)[0]["duration"] >= 0.4
    ann.close()


@pytest.mark.parametrize("program", [{"take_over_minutes": 1e-3}], indirect=True)
def test_a_phone_that_left_is_named_on_every_page_and_taken_over_by_a_tap(chromium, program):
    ann, bob = Person(chromium, program, **PHONE), None
    ann.by_tap(".good")
    ann.settled()
    ann.context.set_offline(True)
    late = ann.code()
    ann.page.tap("#start")
    bob, owner = Person(chromium, program, name="Bob", **PHONE), Person(chromium, program, role="owner", name="Eve")
    while bob.page.is_hidden("#waits"):
        bob.by_tap(".good")
        bob.settled()
        assert len(recorded(program)) < 20
    told = "Pair 1 waits for turn 2, held by Ann for less than a minute"
    assert bob.page.inner_text("#waits-text").startswith(told)
    for path in ("/owner", "/live", "/mirror"):
        owner.page.goto(f"{program.address}{path}")
        assert owner.page.inner_text(".waits.alert").startswith(told)
    bob.page.tap("#take-over")
    bob.page.wait_for_selector("#waits", state="hidden")
    bob.by_tap(".good")  # the turn that he has before him; then come the oldest
    bob.until("code => document.getElementById('code').textContent === code", arg=late)
    ann.page.tap(".bad")  # kept in her browser, sent when she is back, and refused: Bob has that turn now
    assert ann.page.inner_text("#said").endswith(": a failure, kept here, not yet sent.")
    ann.context.set_offline(False)
    ann.pill("1 refused")
    assert "Turn 2 went to Bob meanwhile" in ann.page.inner_text("#alert")
    bob.by_tap(".good")
    bob.settled()
    fold = opened(program).fold
    assert fold.results[2].author == "Bob"
    assert [event.body["turn"] for event in fold.history if event.kind == "refused"] == [2]
    for person in (ann, bob, owner):
        person.close()


@pytest.mark.parametrize("program", [{"measure": "score", "levels": (0.0, 0.25, 0.5, 1.0)}], indirect=True)
def test_rubric_levels_by_key_and_tap(chromium, program):
    ann = Person(chromium, program, **PHONE)
    ann.by_key("3")
    ann.by_tap("[data-result='0.25']")
    ann.settled()
    assert [body["result"] for body in recorded(program)] == [1.0, 0.25]
    ann.close()


@pytest.mark.parametrize("program", [{"measure": "score", "low": -1.0, "high": 3.0}], indirect=True)
def test_a_score_is_typed(chromium, program):
    ann = Person(chromium, program)
    first = ann.code()
    ann.page.keyboard.press("Enter")
    ann.page.keyboard.press("s")
    ann.page.keyboard.type("7")
    ann.page.keyboard.press("Enter")
    ann.until("() => document.getElementById('said').textContent.startsWith('Type a score')")
    ann.page.fill("#score", "2.5")
    ann.page.keyboard.press("Enter")
    ann.moved(first)
    ann.settled()
    assert [body["result"] for body in recorded(program)] == [2.5]
    ann.close()


@pytest.mark.parametrize("look", [PHONE, DESK], ids=["phone", "desk"])
def test_to_the_verdict_unblinded_and_reported(chromium, program, look):
    """One person scores what a runner tells to run, until the rule decides; the owner unblinds and opens the report."""
    ann = Person(chromium, program, **look)
    runner = Person(chromium, program, "runner", "Rob", **DESK)
    owner = Person(chromium, program, "owner", "Olga", **look)
    mirror = ann.context.new_page()
    mirror.goto(f"{program.address}/mirror")
    ann.page.bring_to_front()
    for _ in range(80):
        if ann.page.is_visible("#stop"):
            break
        code = ann.code()
        runner.until("code => document.querySelector('tr.now th')?.textContent === code", arg=code)
        policy = runner.page.inner_text("tr.now strong")
        ann.by_key("s" if policy == "new" else "f")
        ann.settled()
    assert ann.page.inner_text("#stop-title") == "Stop: decided"
    assert "better" not in ann.page.inner_text("body").lower()
    mirror.wait_for_selector(".stop h2")

    owner.until("() => document.getElementById('decision').textContent === 'Stop: decided'")
    owner.page.goto(f"{program.address}/live")
    assert "The study is blinded" in owner.page.inner_text("main")
    owner.page.goto(f"{program.address}/owner")
    owner.page.click("text=Unblind the study")
    owner.page.wait_for_selector("text=The study is not blinded")
    owner.page.click("a:has-text('Live page')")
    assert owner.page.inner_text(".verdict h2") == "new is better than old"
    assert owner.page.locator("svg.curve").count() == 2
    ann.page.goto(f"{program.address}/live")
    assert ann.page.inner_text(".verdict h2") == "new is better than old"
    owner.page.goto(f"{program.address}/live")
    with owner.page.expect_navigation(url="**/report") as report:
        owner.page.click("text=Open the report")
    assert report.value.status == 200
    assert "Mug on the shelf" in owner.page.title()
    for person in (ann, runner, owner):
        person.close()


@pytest.mark.parametrize(("look", "scheme"), [(PHONE, "dark"), (DESK, "light")], ids=["phone-dark", "desk-light"])
def test_axe_finds_no_serious_problem(chromium, program, look, scheme):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    ).Axe()

    def serious(page, where):
        page.wait_for_timeout(100)
        found = axe.run(page).response["violations"]
        return [
            (where, rule["id"], [node["html"][:120] for node in rule["nodes"]][:3])
            for rule in found
            if rule["impact"] in ("serious", "critical")
        ]

    look = {**look, "color_scheme": scheme}
    problems = []
    ann, owner = Person(chromium, program, **look), Person(chromium, program, "owner", "Olga", **look)
    ann.code()
    problems += serious(ann.page, "run")
    ann.page.keyboard.press("Enter")
    problems += serious(ann.page, "started")
    for key, box in (("v", "void-box"), ("c", "check-box"), ("?", "keys-box")):
        ann.page.keyboard.press(key)
        problems += serious(ann.page, box)
        ann.page.keyboard.press("Escape")
    for path in ("/live", "/mirror"):
        ann.page.goto(f"{program.address}{path}")
        problems += serious(ann.page, path)
    owner.page.click("summary")
    problems += serious(owner.page, "owner")
    stranger = chromium.new_context(**look).new_page()
    stranger.goto(f"{program.address}/join")
    problems += serious(stranger, "join")
    stranger.context.close()
    run = opened(program)
    for holder in {run.fold.leases[turn.number].holder for turn in run.held()}:
        run.release(holder=holder)
    while (turn := run.next_turn(holder="x", wait=False)) is not None:
        run.record(turn, turn.policy == "new")
        for held in run.held():
            run.release(holder=run.fold.leases[held.number].holder)
    ann.page.goto(f"{program.address}/run")
    ann.page.wait_for_selector("#stop:visible")
    problems += serious(ann.page, "stop")
    run.unblind(reason="decided")
    ann.page.wait_for_timeout(1100)
    ann.page.goto(f"{program.address}/live")
    ann.page.wait_for_selector(".verdict")
    problems += serious(ann.page, "unblinded")
    assert problems == []
    for person in (ann, owner):
        person.close()


def test_nothing_overflows_a_small_phone(chromium, program):
    small = {**PHONE, "viewport": {"width": 320, "height": 640}}
    ann, owner = Person(chromium, program, **small), Person(chromium, program, "owner", **small)
    mouse = Person(chromium, program, viewport={"width": 390, "height": 844})  # a narrow window shows the keys' names
    begun = opened(program)
    begun.record(begun.next_turn(holder="arm"), True)
    begun.unblind(reason="to see the report")
    owner.page.wait_for_timeout(1100)
    places = ((mouse, "/run"), (ann, "/run"), (ann, "/live"), (ann, "/mirror"), (owner, "/owner"), (owner, "/report"))
    for person, path in places:
        person.page.goto(f"{program.address}{path}")
        person.page.wait_for_timeout(150)
        wide = person.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, path
    for person in (ann, owner, mouse):
        person.close()


def pressed_together(chromium, program, people, rounds):
    """So many browsers press start and then an outcome at the same moment, by a script in each page."""
    crowd = [Person(chromium, program, name=f"Person {number}") for number in range(people)]
    for person in crowd:
        person.code()
    for _ in range(rounds):
        at = "Math.ceil(Date.now() / 400) * 400 + 400"
        script = f"""() => {{ const at = {at}; setTimeout(() => {{
            document.getElementById('start').click();
            document.querySelector('.good').click();
            document.querySelector('.good').click(); }}, at - Date.now()); }}"""
        for person in crowd:
            person.page.evaluate(script)
        crowd[0].page.wait_for_timeout(900)
        for person in crowd:
            person.settled()
    for person in crowd:
        person.close()


@pytest.mark.parametrize("program", [{"horizon": 500}], indirect=True)
def test_browsers_that_press_at_the_same_moment(chromium, program):
    pressed_together(chromium, program, 3, 3)
    turns = Counter(body["turn"] for body in recorded(program))
    assert set(turns.values()) == {1}
    assert sum(turns.values()) == 9


@pytest.mark.slow
@pytest.mark.parametrize("program", [{"horizon": 5000}], indirect=True)
@pytest.mark.parametrize("people", [2, 10])
def test_browsers_that_press_at_the_same_moment_200_times(chromium, program, people):
    pressed_together(chromium, program, people, 200)
    turns = Counter(body["turn"] for body in recorded(program))
    assert set(turns.values()) == {1}
    assert sum(turns.values()) == 200 * people


@pytest.mark.parametrize("program", [{"environments": "shared"}], indirect=True)
def test_the_phone_says_what_was_recorded_and_ends_its_session(chromium, program, tmp_path):
    ann = Person(chromium, program, **PHONE)
    bob = Person(chromium, program, name="Bob", **PHONE)
    first = ann.code()
    assert bob.code() != first
    assert ann.page.is_hidden("#same")
    ann.by_tap(".good")
    ann.settled()
    assert ann.page.inner_text("#last") == f"Turn 1 · {first} is recorded as a success."
    assert ann.page.inner_text("#same") == (
        "Same start as turn 1: set it up in the same way."
    )  # a pair stays with one phone
    second = ann.code()
    ann.by_tap(".bad")
    ann.settled()
    ann.page.tap("#undo")
    assert ann.page.locator("#undo-turn option").all_inner_texts() == [
        f"Turn 2 · {second} · failure",
        f"Turn 1 · {first} · success",
    ]
    ann.page.tap("#undo-box button[value=cancel]")
    log = ann.page.inner_text("#log")
    kept = opened(program).fold
    assert log == f"Log: {kept.version} lines, mark {kept.version}:{kept.head[:16]}"
    held = len(opened(program).held())
    ann.page.tap("#end")
    ann.page.tap("#end-box button[value=end]")
    ann.until("() => document.getElementById('idle-title').textContent === 'The session is ended'")
    ann.settled()
    assert "handed back" in ann.page.inner_text("#last")
    left = opened(program)
    assert {left.fold.leases[turn.number].holder.split(" (")[0] for turn in left.held()} == {"Bob"}
    assert len(left.held()) < held
    ann.page.tap("#again")
    assert ann.code()
    ann.page.screenshot(path=tmp_path / "phone.png")
    for person in (ann, bob):
        person.close()


class Overnight:
    """The machine's clock, which can be put forward."""

    def __init__(self):
        self.ahead = timedelta()

    def __call__(self):
        return datetime.now(UTC) + self.ahead


@pytest.fixture
def planned(tmp_path, monkeypatch):
    """A study that was begun from a plan's file, served by a clock that can be put forward."""
    night = Overnight()
    monkeypatch.setattr("surefoot.study.log.LeaseClock", lambda clock=None: LeaseClock(clock or night))
    file, path = tmp_path / "plan.toml", tmp_path / "study.db"
    words = ["study", "create", str(file)]
    given = ["--policies", "new,old", "--horizon", "30", "--environments", "shared", "--tasks", "place mug,hang mug"]
    assert run([*words, *given, "--check"]) == 0
    written = file.read_text(encoding="utf-8")
    file.write_text(written.replace('title = "Untitled study"', 'title = "Mugs, by night"'), encoding="utf-8")
    assert run([*words, "--store", str(path), "--yes"]) == 0
    tokens = Tokens.fresh()
    with threaded(Study.open(SQLiteStore(path)), tokens) as address:
        yield SimpleNamespace(address=address, tokens=tokens, path=path, night=night)


def test_a_whole_study_on_two_phones_and_a_desk(chromium, planned, tmp_path):
    """From the plan's file to the report: a wrong tap, a void, a crash, a night between, a second operator."""
    program = planned
    ann = Person(chromium, program, **PHONE)
    bob = Person(chromium, program, name="Bob", **PHONE)
    owner = Person(chromium, program, role="owner", name="Olga")

    def good(person):
        code = person.code()
        return next(turn.policy == "new" for turn in opened(program).fold.turns.values() if turn.code == code)

    def tap(person):
        person.by_tap(".good" if good(person) else ".bad")
        person.settled()

    right = good(ann)
    ann.by_tap(".bad" if right else ".good")  # a wrong tap
    ann.settled()
    ann.page.screenshot(path=tmp_path / "wrong.png")
    ann.page.tap("#undo")
    ann.page.screenshot(path=tmp_path / "undo.png")
    ann.page.tap("#undo-box button[value=undo]")
    ann.until("() => document.getElementById('turn-label').textContent.includes('again')")
    tap(ann)
    tap(bob)
    bob.page.tap("#void")
    bob.page.locator("input[name=void-reason]").first.check(force=True)
    bob.page.fill("#void-note", "the gripper lost a finger")
    bob.page.tap("#void-box button[value=void]")
    bob.settled()
    robot = sf.Client(program.address, program.tokens.runner.reveal(), holder="arm 3")
    robot.crash(robot.next_turn(), note="segmentation fault")
    robot.record(robot.next_turn(), robot.next_turn().policy == "new")
    ann.page.fill("#failure", "dropped it")
    tap(ann)
    bob.page.tap("#end")
    bob.page.tap("#end-box button[value=end]")
    bob.page.wait_for_selector("#again:visible")
    bob.settled()  # all his turns are handed back before the night falls
    bob.page.screenshot(path=tmp_path / "ended.png")
    program.night.ahead = timedelta(hours=14)  # Ann's phone sleeps with turns in hand, and nobody runs them
    ann.page.reload()
    ann.code()
    ann.page.screenshot(path=tmp_path / "morning.png")
    for _ in range(60):
        if ann.page.is_visible("#stop"):
            break
        tap(ann)
    ann.page.wait_for_selector("#stop:visible")
    assert "Stop: decided" in ann.page.inner_text("#stop")
    ann.page.screenshot(path=tmp_path / "stop.png")
    owner.page.goto(f"{program.address}/owner")
    owner.page.click("#unblind button")
    owner.page.wait_for_selector("text=The study is not blinded")
    owner.page.goto(f"{program.address}/live")
    owner.page.wait_for_selector(".verdict")
    owner.page.screenshot(path=tmp_path / "live.png", full_page=True)
    owner.page.goto(f"{program.address}/report")
    page = owner.page.inner_text("body")
    for said in (
        "new is better than old",
        "gave no result",
        "undone",
        "the gripper lost a finger",
        "Ann",
        "Bob",
        "arm 3",
        "Mugs, by night",
        "Run in 2 sessions",
        "The longest pause between two sessions was 14.0 hours.",
    ):
        assert said in page, said
    assert "run twice" not in page
    owner.page.screenshot(path=tmp_path / "report.png", full_page=True)
    assert sf.verify(SQLiteStore(program.path)).sound
    for person in (ann, bob, owner):
        person.close()


# --- after the stop: what was found, what may still be true, in words that the glossary knows ---


def robot_of(seed, **rates):
    """Outcomes by block and policy, whichever comes first in its pair."""
    return lambda turn: random.Random(f"{seed} {turn.block} {turn.policy}").random() < rates[turn.policy]


ALIKE, APART = robot_of(3, new=0.6, old=0.6), robot_of(1, new=0.9, old=0.5)
TERMS = """
    policy task rollout score success tally rate estimate condition environment pair round gain margin confidence
    interval bound evidence p-value verdict rule claim horizon plan study turn code operator runner owner log void
    report futility override fingerprint amendment exploratory deviation blinded lead session head mixture power
    certified exact; anytime interval; final interval; observed gain; Wilson interval; exact rule
    alpha null hypothesis significant; credible; martingale; e-value; e-process; supermartingale; type-I error; unbiased
    Rao-Blackwell; Bayes; prior; posterior; bootstrap; quantile; standard error; nuisance; likelihood; curtailed; stake
    wealth; stratum; strata; coverage; sequential; conservative; asymptotic; robust; variance; censored; margin of error
"""


def glossary():
    """Every word that the glossary explains."""
    page = Path(__file__).parents[2] / "docs" / "glossary.md"
    heads = re.findall(r"^(?!:|#)(\S.*)\n: ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    told = {word.strip().lower() for head in heads for word in head.split(",")}
    return told | {word.lower() for word in re.findall(r"\*(\w+)\*", page.read_text(encoding="utf-8"))}


def unexplained(text):
    """Terms on a page that the glossary lacks."""
    terms = [term.strip().lower() for line in TERMS.splitlines() for part in line.split(";") for term in _split(part)]
    found = [term for term in terms if term and re.search(rf"\b{re.escape(term)}s?\b", text.lower())]
    return sorted(set(found) - glossary() - {"exact"})  # a rule's own name


def _split(part):
    """Words one by one; a part of few words is one term."""
    words = part.split()
    return [" ".join(words)] if len(words) <= 3 else words


@pytest.mark.sample(3)
@pytest.mark.parametrize("look", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("program", [{"rule": "exact", "horizon": 50}], indirect=True)
@pytest.mark.parametrize("ending", ["futility", "verdict"])
def test_a_stop_is_told_on_every_page(chromium, program, ending, look, tmp_path):
    robot, runs = sf.Client(program.address, program.tokens.runner.reveal(), holder="arm 1"), []
    while (turn := robot.next_turn()) is not None:
        runs.append(robot.record(turn, (ALIKE if ending == "futility" else APART)(turn)))
    stop = {"futility": "Stop: hardly any chance left to decide", "verdict": "Stop: decided"}[ending]
    assert runs[-1].status.decision == stop.lower()
    ann = Person(chromium, program, **look)
    ann.page.wait_for_selector("#stop:visible")
    assert ann.page.inner_text("#decision") == stop
    told = "hardly any chance is left that the declared rule decides" if ending == "futility" else "has decided after"
    assert told in ann.page.inner_text("#stop-text")
    seen = [ann.page.inner_text("body")]
    ann.page.screenshot(path=tmp_path / f"run-{ending}.png", full_page=True)
    ann.page.goto(f"{program.address}/mirror")
    assert told in ann.page.inner_text(".stop")
    owner = Person(chromium, program, "owner", "Olga", **look)
    assert owner.page.is_visible("#override form") == (ending == "futility")
    seen.append(owner.page.inner_text("body"))
    owner.page.screenshot(path=tmp_path / f"owner-{ending}.png", full_page=True)
    owner.page.click("#unblind button")
    owner.page.wait_for_selector("text=The study is not blinded")
    owner.page.goto(f"{program.address}/live")
    found, possible = owner.page.inner_text(".verdict h2"), owner.page.inner_text(".verdict .possible")
    better = {"futility": "Cannot tell whether new is better than old", "verdict": "new is better than old"}[ending]
    assert found == better
    assert possible.startswith("The true gain may be anything from ")
    assert "a final interval: the run stopped as its rule says" in possible
    assert "holds whenever you look" in owner.page.inner_text(".figures")
    width = owner.page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert width <= 0
    seen.append(owner.page.inner_text("body"))
    owner.page.screenshot(path=tmp_path / f"live-{ending}.png", full_page=True)
    owner.page.goto(f"{program.address}/report")
    text = owner.page.inner_text("body")
    assert text.index(f"{better}.") < text.index(possible) < text.index("Observed in ")
    if ending == "futility":
        assert not re.search(r"no better|not better|equally good", text)
    seen.append(text)
    owner.page.screenshot(path=tmp_path / f"report-{ending}.png", full_page=True)
    assert [unexplained(page) for page in seen] == [[], [], [], []]
    for person in (ann, owner):
        person.close()


@pytest.mark.parametrize("program", [{"rule": "exact", "horizon": 50}], indirect=True)
def test_the_owner_goes_on_after_a_stop_for_futility(chromium, program):
    robot = sf.Client(program.address, program.tokens.runner.reveal(), holder="arm 1")
    while (turn := robot.next_turn()) is not None:
        robot.record(turn, ALIKE(turn))
    owner = Person(chromium, program, "owner", "Olga")
    owner.page.fill("#override input", "the robot is free until Friday")
    owner.page.click("#override button")
    owner.until("() => document.getElementById('decision').textContent === 'Continue'")
    assert owner.page.is_hidden("#override")
    while (turn := robot.next_turn()) is not None:
        robot.record(turn, turn.policy == "new")
    owner.until("() => document.getElementById('decision').textContent === 'Stop: decided'")
    owner.page.click("#unblind button")
    owner.page.wait_for_selector("text=The study is not blinded")
    owner.page.goto(f"{program.address}/report")
    page = owner.page.inner_text("body")
    assert "the study was continued" in page
    assert "the robot is free until Friday" in page
    assert "an anytime interval, which holds whenever you look" in page
    assert "final interval" not in page


RATES = {"pi0": 1.0, "octo": 0.5, "base": 0.0, "scripted": 0.5, "newest": 1.0}


def outcome(turn):
    return RATES[turn.policy] > 0.5 or (RATES[turn.policy] == 0.5 and turn.block % 2 == 1)


@pytest.mark.parametrize(
    "program",
    [{"policies": ("pi0", "octo", "base", "scripted"), "rule": None, "horizon": 16, "title": "Four policies"}],
    indirect=True,
)
def test_four_policies_are_ranked_and_a_fifth_joins_on_the_way(chromium, program, tmp_path):
    """From plan to page: rounds by key, a policy added by the owner, the ranking so far, the report."""
    ann, owner = Person(chromium, program), Person(chromium, program, role="owner", name="Olga")

    def run(turns):
        for _ in range(turns):
            ann.settled()
            fold = opened(program).fold
            code = ann.code()
            (turn,) = [turn for turn in fold.turns.values() if turn.code == code]
            ann.by_key("s" if outcome(turn) else "f")

    assert opened(program).plan.rule == "closed"
    run(12)
    form = owner.page.locator("#join-study form")
    form.locator("input[name=policy]").fill("newest")
    form.locator("input[name=reason]").fill("a new checkpoint")
    form.locator("button").click()
    owner.until("() => document.getElementById('said').textContent === 'Done.'")
    assert opened(program).plan.policies[-1] == "newest"
    form.locator("input[name=policy]").fill("newest")
    form.locator("input[name=reason]").fill("twice")
    form.locator("button").click()
    owner.page.wait_for_selector("#join-study .alert:visible")
    assert "not repeat a name" in owner.page.inner_text("#join-study .alert")
    run(13)
    assert "newest" in {turn.policy for turn in opened(program).fold.turns.values()}
    owner.page.fill("#unblind input[name=reason]", "to watch it settle")
    owner.page.click("#unblind button")
    owner.until("() => document.getElementById('said').textContent === 'Done.'")
    owner.page.goto(f"{program.address}/live")
    owner.page.wait_for_selector("#ranking")
    shown = owner.page.inner_text("#ranking")
    for told in (", so far", "Open pairs", "joined after round", "pi0", "newest"):
        assert told in shown
    assert f"{len(opened(program).fold.results)} rollouts were run of at most" in owner.page.inner_text("#counts")
    owner.page.screenshot(path=tmp_path / "settling.png", full_page=True)
    robot = opened(program)
    while not robot.finished:  # a script goes on, also with what the phone has in reserve
        turn = robot.next_turn(holder="arm", wait=False) or next(iter(robot.fold.waiting.values()))
        robot.record(turn, outcome(turn), holder="arm", reason="the phone is off")
    fold = opened(program).fold
    state, counts = fold.decision.state, counts_of(fold)
    assert (counts.counted, counts.waiting) == (state.rollouts_used, 0)
    owner.until("told => document.querySelector('#counts').textContent === told", arg=str(counts))
    assert state.summary.split(" after ")[0] in owner.page.inner_text("main")
    owner.page.screenshot(path=tmp_path / "settled.png", full_page=True)
    owner.page.goto(f"{program.address}/report")
    page = owner.page.inner_text("body")
    assert "newest was added after" in page
    assert "By how much they differ" in page
    owner.page.screenshot(path=tmp_path / "report.png", full_page=True)
    assert sf.verify(program.path).sound
    owner.errors = [said for said in owner.errors if "sandboxed" not in said]  # a report may run nothing
    ann.close()
    owner.close()


def test_a_clip_follows_its_result_and_never_holds_it_back(chromium, program, tmp_path):
    film, text = tmp_path / "film.gif", tmp_path / "notes.gif"
    film.write_bytes(GIF)
    text.write_text("no film", encoding="utf-8")
    ann = Person(chromium, program, **PHONE)
    away = True
    ann.page.route("**/clip?*", lambda route: route.abort() if away else route.continue_())
    ann.code()
    ann.page.set_input_files("#clip-camera", film)
    assert "film.gif (1 kB) goes with this result." in ann.page.inner_text("#clip-chosen")
    ann.by_tap("[data-result=true]")
    ann.settled()
    ann.page.wait_for_selector("#clips [data-state=later]")
    assert "The server cannot be reached. It will be sent again automatically." in ann.page.inner_text("#clips")
    assert ann.page.is_hidden("#clip-chosen")
    assert [body["turn"] for body in recorded(program)] == [1]
    away = False
    ann.page.wait_for_selector("#clips [data-state=kept]")
    kept = opened(program)
    assert (kept.fold.results[1].clip.name, kept.fold.results[1].clip.kind) == ("film.gif", "gif")
    ann.code()
    ann.page.set_input_files("#clip-file", text)
    ann.by_tap("[data-result=false]")
    ann.page.wait_for_selector("#clips [data-state=refused]")
    assert "The clip was not kept: it is not one of mp4" in ann.page.inner_text("#clips")
    ann.page.click("#clips button:has-text('Leave it out')")
    assert "turn 2" not in ann.page.inner_text("#clips")
    assert [body["turn"] for body in recorded(program)] == [1, 2]
    assert opened(program).fold.results[2].clip is None
    ann.close()
