"""A race of twelve policies as a study: run by one command, watched in a browser, and the page against the log."""

from __future__ import annotations

import random
import threading
from collections import Counter

import pytest

import surefoot as sf
from surefoot.cli.main import run
from surefoot.console.authentication import Tokens
from surefoot.study.stores.sqlite import SQLiteStore
from surefoot.study.studies import Study
from tests.support.consoles import threaded

pytestmark = pytest.mark.end_to_end

NAMES = tuple(f"ckpt-{place:02d}" for place in range(12))
LAB = """
import random
_of = {}  # a stream for each policy: the order of a round's turns is drawn afresh and changes no result
def rollout(turn):
    rng = _of.setdefault(turn.policy, random.Random(turn.policy))
    return rng.random() < 0.95 - 0.08 * int(turn.policy[-2:])
"""
ROWS = """() => [...document.querySelectorAll('#ranking tbody tr')].map(
    row => [...row.children].map(cell => cell.innerText.trim()))"""


def rows_of(page):
    """Each policy's rollouts and where it stands, as the live page shows them."""
    return {name: (int(used), standing) for name, used, standing in page.evaluate(ROWS)}


def states_of(study):
    """The race after every round that counted, by the rule alone and the results in the log."""
    rule = sf.sequential.Race(NAMES, study.plan.horizon, binary=True)
    states = [rule.start()]
    for number in study.fold.counted:
        states.append(rule.after_block(states[-1], study.fold.rows(number)))
    return states


def as_shown(state):
    words = dict(zip(state.present, state.standings, strict=True)) | ({state.named: "named"} if state.named else {})
    return {name: (used, words[name]) for name, used in zip(NAMES, state.rollouts, strict=True)}


def test_twelve_policies_are_dropped_one_by_one_and_the_page_agrees_with_the_log(chromium, tmp_path, monkeypatch):
    (tmp_path / "race_lab.py").write_text(LAB)
    monkeypatch.syspath_prepend(tmp_path)
    plan = sf.Plan(title="Which checkpoint", policies=NAMES, question="best", horizon=200, blinded=False)
    made, tokens = Study.create(plan, SQLiteStore(tmp_path / "study.db")), Tokens.fresh()
    monkeypatch.setenv("SUREFOOT_TOKEN", tokens.runner.reveal())
    shown, ended, errors = [], [], []
    with threaded(made, tokens) as address:
        page = chromium.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{address}/join#{tokens.owner.reveal()}")
        page.fill("input[name=name]", "Ann")
        page.keyboard.press("Enter")
        page.wait_for_url("**/owner")
        command = ("study", "run", address, "--runner", "race_lab:rollout")
        robot = threading.Thread(target=lambda: ended.append(run(command)))
        robot.start()
        while robot.is_alive():
            page.goto(f"{address}/live")
            shown.append(rows_of(page))
            robot.join(0.2)
        page.goto(f"{address}/live")
        shown.append(rows_of(page))
        head = page.inner_text(".verdict h2")
        page.goto(f"{address}/report")
        report = page.inner_text("body")
    assert (ended, errors) == ([0], [])
    study = Study.open(SQLiteStore(tmp_path / "study.db"))
    states = states_of(study)
    last = states[-1]
    assert study.finished
    assert last == study.fold.decision.state
    assert shown[-1] == as_shown(last)
    known = [as_shown(state) for state in states]
    places = [known.index(one) for one in shown]  # every page that was seen is the race after some round
    assert places == sorted(places)
    assert len(set(places)) > 3
    left = [len(state.running) for state in states[:-1]]
    assert left == sorted(left, reverse=True)
    assert len(set(left)) > 6  # one by one, or nearly
    ran = Counter(
        study.fold.turns[event.body["turn"]].policy for event in study.fold.history if event.kind == "recorded"
    )
    counted = sum(used for used, _ in shown[-1].values())
    assert counted == last.rollouts_used <= sum(ran.values())
    assert all(used <= ran[name] for name, (used, _) in shown[-1].items())
    assert last.named is not None
    assert head == last.claim == study.status().claim
    assert last.claim in report
    assert sf.verify(study.store).sound


def test_the_best_three_of_nine_are_found_as_a_study():
    plan = sf.Plan(policies=NAMES[:9], question="top 3", horizon=150, blinded=False)
    assert plan.rule == "closed"
    assert sf.Plan.from_toml(plan.to_toml()) == plan
    study, rng = Study.create(plan, ":memory:"), random.Random(2)
    while (turn := study.next_turn()) is not None:
        study.record(turn, rng.random() < (0.9 if turn.policy < NAMES[3] else 0.4))
    state = study.fold.decision.state
    assert state.best == NAMES[:3]
    assert study.status().claim == "ckpt-00, ckpt-01, ckpt-02 are the best 3, perhaps tied (95%)."
    assert study.status().ending == "verdict"
    text = sf.report(study).html()
    assert "ckpt-00, ckpt-01, ckpt-02 are the best 3, perhaps tied after" in text
    assert ">of the best<" in text
    assert sf.verify(study.store).sound


def test_nine_policies_are_ranked_and_hopeless_pairs_paused_as_a_study():
    plan = sf.Plan(policies=NAMES[:9], horizon=120, futility=0.05, blinded=False)
    assert plan.rule == "closed"
    study, of = Study.create(plan, ":memory:"), {name: random.Random(name) for name in NAMES}
    while (turn := study.next_turn()) is not None:  # the order of a round's turns is drawn afresh and changes no result
        study.record(turn, of[turn.policy].random() < (0.95, 0.5, 0.05)[int(turn.policy[-2:]) // 3])
    state = study.fold.decision.state
    assert all(state.verdict(a, b).value == "better" for a in NAMES[:3] for b in NAMES[3:9])
    assert study.status().ending == "futility"
    assert state.rollouts_used < 0.75 * 9 * 120
    again = Study.open(study.store)
    assert again.fold.decision.state == state
    assert sf.verify(study.store).sound
    with pytest.raises(sf.errors.StudyError, match="None can join so that 10 policies run by closed ranking"):
        study.amend({"policies": [*NAMES[:9], "more"]}, reason="one more")
