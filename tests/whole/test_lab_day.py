"""A lab's day: in a simulator, killed twice; and on two arms with two phones, with every accident there is."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import surefoot as sf
from surefoot.cli.main import run
from surefoot.console.authentication import Tokens
from surefoot.study.conduct import conduct_of, counts_of
from surefoot.study.ranking import ranking_of
from tests.support.browsers import DESK, PHONE, Person
from tests.support.consoles import threaded

pytestmark = pytest.mark.end_to_end

pytest.importorskip("gymnasium")
pytest.importorskip("pygame")

LAB = """
def steady(state):
    return int(state[2] + state[3] > 0)

def hasty(state):
    return int(state[2] > 0)

def balanced(end):
    return end.steps == 60
"""
WORDS = ["study", "run", "pole.db", "--gym", "CartPole-v1", "--policy", "steady=my_lab_day:steady"]
WORDS += [
    "--policy",
    "hasty=my_lab_day:hasty",
    "--success",
    "my_lab_day:balanced",
    "--max-steps",
    "60",
    "--video",
    "clips",
]

TURN_OR_NONE = """() => document.querySelector('#turn').offsetParent !== null
    || document.querySelector('#idle').innerText.includes('No turn at left arm now')"""
"""A turn has come, or it is said that none is left: no longer asking."""


def killed_after(turns, folder):
    """Run the command as a lab does, and end it without warning once so many turns are done, amid the next."""
    words = [sys.executable, "-u", "-m", "surefoot", *WORDS]
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        done = [process.stdout.readline() for _ in range(turns)]
        os.kill(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert all(line.startswith("turn ") for line in done)


@pytest.mark.skipif(os.name != "posix", reason="kills a process")
def test_a_study_with_clips_is_killed_twice_resumed_and_reported(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "my_lab_day.py").write_text(LAB)
    create = ["study", "create", "pole.toml", "--store", "pole.db", "--policies", "steady,hasty", "--yes"]
    assert run([*create, "--environments", "shared", "--horizon", "30"]) == 0
    killed_after(2, tmp_path)
    killed_after(3, tmp_path)
    assert run(WORDS) == 0
    assert capsys.readouterr().out.endswith("stop: decided\n")

    study = sf.Study.open("pole.db")
    assert study.fold.results.keys() >= set(range(1, 2 * study.status().blocks + 1))
    for number, result in study.fold.results.items():  # every number has its clip, and it is the one that was recorded
        assert result.clip.name.startswith(f"turn-{number}")
        assert study.clips.fault(result.clip) is None
    recorded = [event.body["turn"] for event in study.fold.history if event.kind == "recorded"]
    assert len(recorded) == len(set(recorded))
    assert not [path.name for path in (tmp_path / "clips").iterdir() if path.name.startswith(".")]

    assert run(["study", "unblind", "pole.db", "--reason", "decided"]) == 0
    assert run(["study", "report", "pole.db", "-o", "pole.html"]) == 0
    page = (tmp_path / "pole.html").read_text(encoding="utf-8")
    assert all(f"pole.clips/{result.clip.file}" in page for result in study.fold.results.values())
    for policy in ("steady", "hasty"):  # the successes and the rollouts of each lead to theirs
        assert f'href="#rollouts?policy={policy}&amp;outcome=success"' in page
        assert f'href="#rollouts?policy={policy}&amp;outcome=counted"' in page
    checked = sf.verify("pole.db")
    assert checked.sound
    study = sf.Study.open("pole.db")
    assert study.verdict is sf.Verdict.BETTER

    # the same rollouts again, each from its note's seed: the study that was never killed
    runner = sf.GymnasiumRunner(
        "CartPole-v1",
        {"steady": _named("steady"), "hasty": _named("hasty")},
        success=lambda end: end.steps == 60,
        max_steps=60,
        seed=lambda turn: int(study.fold.results[turn.number].note.removeprefix("seed ")),
    )
    for turns in study.fold.blocks.values():
        for turn in turns:
            if turn.number in study.fold.results:
                assert float(runner(turn).success) == study.fold.results[turn.number].score


def _named(name):
    import importlib

    return getattr(importlib.import_module("my_lab_day"), name)


STUDY = """
title = "Three policies on two arms"
rigs = ["left arm", "right arm"]
operators = ["Ana", "Ben"]
stages = {reached = 0.25, grasped = 0.5, lifted = 0.75, placed = 1}
failure_tags = ["missed grasp", "dropped"]
time_limit = 90
take_over_minutes = 0.001

[time_budget]
rollout_minutes = 1.5
reset_minutes = 0.5
hours_a_day = 6

[[policies]]
name = "pi0"
checkpoint = "pi0.safetensors"
[[policies]]
name = "act"
checkpoint = "0123abcd"
[[policies]]
name = "diffusion"

[[tasks]]
name = "mug"
conditions = {pose = 5}
instruction = "Put the mug on the shelf."
reset = ["mug on the mark", "arm home"]
[[tasks]]
name = "towel"
conditions = {pose = 5}
instruction = "Fold the towel."
[[tasks]]
name = "drawer"
conditions = {pose = 5}
[[tasks]]
name = "cube"
conditions = {pose = 5}
"""
"""Three policies, four tasks with twenty poses, two arms, two people, a rubric of five levels and six hours."""
SKILL = {"pi0": 0.75, "act": 0.6, "diffusion": 0.4, "octo": 0.5}
OTHER = "The checkpoint of pi0 is not the one that the plan names"
RIGS = ("left arm", "right arm")
LEVELS = ("", "reached", "grasped", "lifted", "placed")


def stage_of(policy, turn):
    """How far a rollout got, drawn by its turn."""
    rng = random.Random(f"{policy} {turn}")
    return LEVELS[sum(rng.random() < SKILL[policy] for _ in range(4))]


class Lab:
    """The study served, its two phones, the owner's desk, and a look at every page on the way."""

    def __init__(self, chromium, folder, pictures):
        self.path, self.pictures, self.tokens = folder / "lab.db", pictures, Tokens.fresh()
        self.chromium = chromium
        self.study = sf.Study.open(self.path)
        self.seen = 0

    def person(self, role, name, look):
        return Person(self.chromium, self, role, name, **look)

    def look(self, person, name):
        self.seen += 1
        assert not person.page.evaluate(
            "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"
        ), name
        if self.pictures is not None:
            person.page.screenshot(path=self.pictures / f"{self.seen:02d}-{name}.png", full_page=True)

    def tapped(self, person):
        """One turn as its operator runs it."""
        page, code = person.page, person.code()
        turn = next(one for one in self.turns() if one.code == code)
        page.tap("#start")
        stage = stage_of(turn.policy, turn.number)
        if stage in ("", "reached"):
            page.tap("#tags >> text=missed grasp")
        page.tap(f"#outcomes >> text={stage or 'none of these'}")
        person.moved(code)
        return turn

    def turns(self):
        self.study.refresh()
        return self.study.fold.turns.values()

    def by_robots(self, address, rounds=None):
        """The turns of both arms by scripts, until the study needs no more, or so many rounds count."""
        token, marks = self.tokens.operator.reveal(), self.path.parent
        arms = [(rig, sf.Client(address, token, holder=f"script at the {rig}", marks=marks)) for rig in RIGS]
        while True:
            done = 0
            for rig, client in arms:
                turn = client.next_turn(rig=rig, wait=False)
                if turn is None:
                    continue
                assert turn.rig == rig
                policy = next(one for one in self.turns() if one.number == turn.number).policy
                stage = stage_of(policy, turn.number)
                tag = "dropped" if stage == "grasped" else "missed grasp" if stage in ("", "reached") else ""
                told = {"stage": stage} if stage else {"result": 0.0}
                client.record(turn, **told, duration=60.0 + turn.number % 7, failure=tag)
                done += 1
            status = arms[0][1].status()
            if status.finished or not done or (rounds is not None and status.blocks >= rounds):
                return status


def numbers_of(text):
    """What a page says of how many rollouts were run, as numbers by what became of them."""
    told = re.search(r"([\d,]+) rollouts were run of at most ([\d,]+): ([^.]*)\.", text)
    parts = dict(reversed(one.split(" ")[:2]) for one in re.sub(r" \([^)]*\)", "", told[3]).split(", "))
    found = {word: int(number.replace(",", "")) for word, number in parts.items()}
    return {"run": int(told[1].replace(",", "")), "planned": int(told[2].replace(",", "")), **found}


def test_a_lab_of_two_arms_and_two_phones_from_its_file_to_its_pdf(chromium, tmp_path, monkeypatch, capsys):
    pictures = Path(os.environ["SUREFOOT_PICTURES"]) if "SUREFOOT_PICTURES" in os.environ else None
    monkeypatch.chdir(tmp_path)
    Path("lab.toml").write_text(STUDY)
    Path("pi0.safetensors").write_bytes(b"first")
    with monkeypatch.context() as drawn:  # the same order of turns each time
        drawn.setattr("secrets.token_hex", lambda size: "5a" * size)
        assert run(["study", "create", "lab.toml", "--store", "lab.db", "--yes"]) == 0
    lab = Lab(chromium, tmp_path, pictures)
    with threaded(lab.study, lab.tokens) as lab.address:
        ana, ben = (lab.person("operator", name, PHONE) for name in ("Ana", "Ben"))
        eve, rae = lab.person("owner", "Eve", DESK), lab.person("runner", "Rae", DESK)
        for person, rig in ((ana, "left arm"), (ben, "right arm")):
            person.page.select_option("#rig", rig)
            person.until("rig => document.querySelector('#chips').textContent.includes(rig)", arg=rig)
        lab.look(ana, "phone-turn")
        lab.look(rae, "runner")
        ran = [lab.tapped(person) for _ in range(3) for person in (ana, ben)]
        assert [turn.rig for turn in ran] == ["left arm", "right arm"] * 3

        # a wrong tap is undone, and only its outcome is asked for
        wrong = lab.tapped(ana)
        ana.settled()
        ana.page.tap("#undo")
        lab.look(ana, "phone-undo")
        ana.page.tap("#undo-box button[value=undo]")
        ana.until("code => document.getElementById('code').textContent === code", arg=wrong.code)
        lab.look(ana, "phone-again")
        ana.page.tap(f"#outcomes >> text={stage_of(wrong.policy, wrong.number) or 'none of these'}")
        ana.moved(wrong.code)
        ana.settled()

        # the right arm breaks down: its round is void, its phone goes, and the left arm waits for it in the end
        ben.code()
        ben.page.tap("#void")
        ben.page.tap("#void-box >> text=hardware fault")
        lab.look(ben, "phone-void")
        ben.page.tap("#void-box button[value=void]")
        ben.settled()
        ben.page.tap("#end")
        ben.page.tap("#end-box button[value=end]")
        ben.page.wait_for_selector("#again")
        lab.look(ben, "phone-ended")
        for _ in range(40):
            ana.settled()
            ana.until(TURN_OR_NONE)
            if ana.page.is_hidden("#turn"):
                break
            lab.tapped(ana)
        ana.page.wait_for_selector("#idle:visible")
        assert "No turn at left arm now" in ana.page.inner_text("#idle")
        assert "whoever asks next at right arm gets it" in ana.page.inner_text("#idle")
        lab.look(ana, "phone-waits")
        ben.page.tap("#again")
        ben.until("() => document.querySelector('#chips').textContent.includes('right arm')")

        # the network goes: what is entered waits on the phone, and is sent once it is back
        lab.study.refresh()
        before = lab.study.status().recorded
        ben.context.set_offline(True)
        for _ in range(2):
            lab.tapped(ben)
        ben.pill("Offline · 2 waiting")
        lab.look(ben, "phone-offline")
        ben.context.set_offline(False)
        ben.settled()
        lab.study.refresh()
        assert lab.study.status().recorded == before + 2
        for person in (ana, ben):  # they go home, and what they held is handed back to scripts
            person.page.tap("#end")
            person.page.tap("#end-box button[value=end]")
            person.page.wait_for_selector("#again:visible")
            person.settled()
        assert lab.by_robots(lab.address, rounds=8).blocks >= 8

        # another checkpoint is served: the runner and the owner are told, and it is another policy from then on
        Path("pi0.safetensors").write_bytes(b"second")
        for person, path in ((eve, "/owner"), (rae, "/runner")):
            for _ in range(200):
                person.page.goto(f"{lab.address}{path}")
                if OTHER in person.page.inner_text("main"):
                    break
                person.page.wait_for_timeout(100)
            assert OTHER in person.page.inner_text("main")
        ana.page.reload()
        assert "checkpoint" not in ana.page.inner_text("main")
        lab.look(eve, "owner-banner")
        eve.page.select_option("#replace select", "pi0")
        eve.page.fill("#replace input[name=checkpoint]", "pi0.safetensors")
        eve.page.fill("#replace input[name=reason]", "the server was updated")
        eve.page.click("#replace button")
        eve.until("() => document.getElementById('said').textContent === 'Done.'")
        eve.page.goto(f"{lab.address}/owner")
        assert OTHER not in eve.page.inner_text("main")
        assert lab.by_robots(lab.address, rounds=11).blocks >= 11

        # a fourth policy joins
        eve.page.goto(f"{lab.address}/owner")
        eve.page.fill("#join-study input[name=policy]", "octo")
        eve.page.fill("#join-study input[name=reason]", "it has just been trained")
        eve.page.click("#join-study button")
        eve.until("() => document.getElementById('said').textContent === 'Done.'")
        lab.look(eve, "owner-joined")
        eve.page.goto(f"{lab.address}/live")
        lab.look(eve, "live-blinded")
        assert lab.by_robots(lab.address).finished
        ana.page.wait_for_selector("#stop:visible")
        lab.look(ana, "phone-stop")

        eve.page.goto(f"{lab.address}/owner")
        eve.page.click("#unblind button")
        eve.page.wait_for_selector("text=The study is not blinded")
        lab.look(eve, "owner-end")
        eve.page.goto(f"{lab.address}/live")
        live = eve.page.inner_text("main")
        lab.look(eve, "live")
        ana.page.goto(f"{lab.address}/live")
        lab.look(ana, "phone-live")
        eve.page.goto(f"{lab.address}/report", timeout=120_000)
        served = eve.page.inner_text("body")
        lab.look(eve, "report")
        for person in (ana, ben, eve, rae):
            person.close()

    capsys.readouterr()
    assert run(["study", "report", "lab.db", "-o", "lab.html"]) == 0
    assert run(["study", "export", "lab.db", "--rollouts", "lab.csv"]) == 0
    assert run(["study", "verify", "lab.db"]) == 0
    desk, phone = chromium.new_context(**DESK).new_page(), chromium.new_context(**PHONE).new_page()
    for page, name in ((desk, "desk"), (phone, "phone")):
        page.goto((tmp_path / "lab.html").as_uri())
        assert not page.evaluate("() => document.documentElement.scrollWidth > document.documentElement.clientWidth")
        if pictures is not None:
            page.screenshot(path=pictures / f"report-{name}.png", full_page=True)
    text = desk.inner_text("body")
    pdf = desk.pdf(path=(pictures or tmp_path) / "lab.pdf", format="A4", print_background=True)
    for page in (desk, phone):
        page.context.close()

    # every page tells the same numbers, and they add up
    study = sf.Study.open("lab.db")
    known, found = counts_of(study.fold), conduct_of(study.fold)
    parts = {"counted": known.counted, "void": known.void, "surplus": known.surplus}
    told = {"run": known.run, "planned": known.planned, **{name: count for name, count in parts.items() if count}}
    assert known.run == known.counted + known.waiting + known.void + known.surplus == len(study.fold.results)
    for page in (live, served, text):
        assert numbers_of(page) == told
    table = pl.read_csv("lab.csv")
    assert (table.height, table["valid"].sum()) == (known.run, known.counted)
    assert table.columns.count("robot") == 1
    for parts in (found.stages, found.conditions):
        assert sum(one.rollouts for one in parts) == known.counted
    for kind in ("rig ", "by "):
        assert sum(one.rollouts for one in found.places if one.part.startswith(kind)) == known.counted
    for shares in (found.scorers, found.robots, found.sessions):
        assert sum(one.recorded for one in shares) == known.run
    for stage in LEVELS[1:]:
        assert sum(one.rollouts for one in found.funnel if one.stage == stage) == known.counted
        of_csv = table.filter(table["valid"])["stage"].is_in(LEVELS[LEVELS.index(stage) :]).sum()
        assert sum(one.reached for one in found.funnel if one.stage == stage) == of_csv
    assert sum(one.count for one in found.modes) == table.filter(table["valid"])["failure"].is_not_null().sum()
    ranked = ranking_of(study.fold)
    assert sum(one.rollouts for one in ranked.policies) == known.counted
    assert set(table["policy"]) == {"pi0", "pi0, checkpoint 2", "act", "diffusion", "octo"} == set(study.fold.policies)
    for name in study.fold.policies:
        assert table.filter(table["valid"] & (table["policy"] == name)).height == sum(
            one.rollouts for one in found.stages if one.policy == name
        )
    assert "4 tasks" in text
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 6
