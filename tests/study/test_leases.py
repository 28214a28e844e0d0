"""A device that leaves: everybody is told what the rule waits for, few rollouts are run for nothing, and a late result
is refused."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import timedelta

import pytest

import surefoot as sf
from surefoot.cli.main import run
from surefoot.errors import StudyError
from surefoot.runners import functions
from surefoot.study import leases
from surefoot.study.leases import REACH
from surefoot.study.stores.memory import MemoryStore
from surefoot.study.studies import Study
from tests.support.leases import left_behind
from tests.support.studies import Clock, begun, said_of


def test_the_missing_turn_is_named_and_few_rollouts_are_run_beyond_it():
    study = left_behind()
    wait = study.status().waits
    assert (wait.block, wait.turn, wait.holder, wait.later) == (3, 6, "arm 1", 2 * REACH)
    assert wait.stalled
    assert study.status().recorded == 5 + 4 * REACH
    assert not study.finished
    assert wait.sentence.startswith("Pair 3 waits for turn 6, held by arm 1 for ")
    assert wait.sentence.endswith("4 later pairs are complete and count only after it.")


def test_how_long_it_was_held_is_told_by_the_clock():
    clock = Clock()
    study = begun(clock=clock, horizon=100, rule="mixture")
    first, second = study.next_turn(holder="arm 1"), study.next_turn(holder="arm 2")
    assert (first.block, second.block) == (1, 2)  # a pair stays with one device
    study.record(second, True)
    assert study.status().waits is None
    study.record(study.next_turn(holder="arm 2"), True)
    clock.on(minutes=12, seconds=30)
    told = study.status().waits
    assert told.minutes == 12
    assert not told.stalled
    assert "held by arm 1 for 12 minutes; 1 later pair is complete" in told.sentence
    clock.on(minutes=50)
    told = study.status().waits
    assert (told.holder, told.minutes, told.stalled) == ("", 0, False)
    assert "turn 1, which nobody holds: whoever asks next gets it" in told.sentence
    assert study.next_turn(holder="arm 2") == first


def test_whoever_comes_back_goes_on_and_so_does_everybody():
    study = left_behind()
    assert study.next_turn(holder="arm 1").number == 6
    study.record(6, True)
    assert study.status().waits is None
    assert study.next_turn(holder="arm 2").number == 15


def test_turns_handed_back_are_taken_first_and_a_late_result_is_refused_and_logged():
    study = left_behind()
    returned = Study.open(study.store)
    assert returned.next_turn(holder="arm 1").number == 6
    assert study.release(holder="arm 1").turns == (6,)
    assert study.next_turn(holder="arm 2").number == 6
    for _ in range(2):  # a second try is refused alike, and logged once
        with pytest.raises(
            StudyError, match="Turn 6 went to arm 2 meanwhile, so this result of arm 1 was not recorded"
        ):
            returned.record(6, False)
    assert not returned.release(6).turns
    study.record(6, True)
    with pytest.raises(StudyError, match="Turn 6 went to arm 2 meanwhile"):
        returned.record(6, False, request="another word")
    study.refresh()
    assert study.fold.results[6].score == 1.0
    assert [event.body["holder"] for event in study.fold.history if event.kind == "refused"] == ["arm 1"]
    assert "1 result came after the turn had gone to another holder and was refused (turn 6)." in said_of(study.fold)
    study.unblind(reason="look")
    policy = study.fold.turns[6].policy
    told = f"Turn 6 ({policy}): a failure of arm 1 came after the turn had gone to another holder, and was refused."
    assert told in said_of(study.fold)
    assert sf.verify(study.store).sound
    assert Study.restore(study.export(), MemoryStore()).fold.refused == {(6, "arm 1")}


def test_a_result_of_a_turn_that_nobody_took_is_kept_however_late():
    study = begun()
    turn = study.next_turn(holder="arm 1")
    study.release(holder="arm 1")
    study.record(turn, True)
    assert 1 in study.fold.results


def test_a_reserve_is_not_filled_up_while_a_pair_is_out():
    study = begun(horizon=100, rule="mixture")
    assert len(study.next_turns(6, holder="phone 1")) == 6
    kept = 0
    while turns := study.next_turns(6, holder="phone 2"):
        study.record(turns[0], True)
        kept += 1
    assert kept <= 2 * (2 * REACH) + 6
    assert study.status().waits.stalled


@pytest.mark.parametrize("robots", [2, 7, 50])
def test_robots_of_unlike_speed_do_not_stop_each_other(robots):
    study = begun(horizon=400, rule="mixture")
    held = {}
    for step in range(12 * robots):
        name = f"arm {step % robots}"
        if name == "arm 0" and step % (3 * robots):  # one is three times slower
            continue
        if name in held:
            study.record(held.pop(name), step % 2 == 0)
        if study.finished:
            break
        held[name] = study.next_turn(holder=name, wait=False)
        assert held[name] is not None


def test_rounds_of_three_policies_are_called_rounds():
    study = begun(policies=("a", "b", "c"), horizon=40, rule="mixture")
    study.next_turn(holder="arm 1")
    for _ in range(3):
        study.record(study.next_turn(holder="arm 2"), True)
    assert study.status().waits.sentence.startswith("Round 1 waits for turn 1, held by arm 1")


# --- at the command line ---


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Study.create(sf.Plan(policies=("new", "old"), horizon=40, rule="mixture"), "study.db")
    return tmp_path


def test_a_killed_script_is_named_and_its_turn_taken_over(here, capsys, monkeypatch):
    words = [sys.executable, "-m", "surefoot", "study", "run", "study.db", "--holder", "arm 1"]
    script = subprocess.Popen([*words, "--command", "sleep 60"], start_new_session=True)
    while not Study.open("study.db").fold.leases:
        time.sleep(0.05)
    os.killpg(script.pid, signal.SIGKILL)
    script.wait()

    monkeypatch.setattr(functions, "PAUSE", 0.2)
    codes = []
    arm = threading.Thread(
        target=lambda: codes.append(run(["study", "run", "--holder", "arm 2", "--command", "echo true"]))
    )
    arm.start()
    while not ((waits := Study.open("study.db").status().waits) and waits.stalled):
        time.sleep(0.05)
    assert run(["study", "status"]) == 0
    assert run(["study", "status", "--json"]) == 0
    assert run(["study", "release", "--holder", "arm 3"]) == 65
    assert run(["study", "release"]) == 64
    assert run(["study", "release", "--holder", "arm 1"]) == 0
    arm.join(60)
    assert codes == [0]
    out, err = capsys.readouterr()
    hand_back = "  surefoot study release study.db --holder 'arm 1'\n"
    assert "Pair 1 waits for turn 1, held by arm 1 for less than a minute; 4 later pairs are complete" in out
    assert hand_back in out
    told = json.loads(out[out.index("{") : out.rindex("}") + 1])
    assert (told["waits"]["turn"], told["waits"]["holder"]) == (1, "arm 1")
    assert "Handed back 1 turn: whoever asks next gets it." in out
    assert "'arm 3' holds no turn" in err
    assert err.count("waiting. Pair 1 waits for turn 1, held by arm 1") <= 1
    assert Study.open("study.db").finished


def test_a_script_waits_for_the_last_turns(monkeypatch, capsys, tmp_path):
    study = Study.create(sf.Plan(policies=("new", "old"), horizon=2, rule="mixture"), tmp_path / "study.db")
    held = study.next_turns(4, holder="arm 1")
    assert run(["study", "status", str(tmp_path / "study.db")]) == 0
    assert "Turns are held by arm 1.\n" in capsys.readouterr().out
    assert study.next_turn(holder="arm 2", wait=False) is None
    threading.Timer(
        0.7, lambda: [Study.open(tmp_path / "study.db").record(one, True, holder="arm 1") for one in held]
    ).start()
    assert run(["study", "run", str(tmp_path / "study.db"), "--holder", "arm 2", "--command", "echo true"]) == 0
    assert Study.open(tmp_path / "study.db").finished


# --- on the console ---


def test_an_operator_may_take_over_only_what_holds_the_study_up(tmp_path):
    pytest.importorskip("uvicorn", reason="needs the extra `console`")
    from tests.support.consoles import Console
    from tests.support.consoles import study as served

    console = Console(served(tmp_path, take_over_minutes=1e-6))
    ann, bob = console.browser("operator", "Ann"), console.browser("operator", "Bob")
    kept = ann.post("/api/v1/turns/next", json={"ahead": 5}).json()["turn"]
    assert kept["holder"].startswith("Ann (")
    refused = bob.post("/api/v1/release", json={"holder": kept["holder"]})
    assert (refused.status_code, refused.json()["hint"]) == (403, "The owner can hand them back.")
    while (answer := bob.post("/api/v1/turns/next", json={}).json())["turn"] is not None:
        bob.post(f"/api/v1/turns/{answer['turn']['number']}/record", json={"result": True})
    assert answer["waiting"]
    told = answer["status"]["waits"]["sentence"]
    assert told.startswith("Pair 1 waits for turn 1, held by Ann for less than a minute; ")
    for page in ("/live", "/mirror"):
        assert "Pair 1 waits for turn 1, held by Ann" in bob.get(page).text
    assert len(bob.post("/api/v1/release", json={"holder": kept["holder"]}).json()["turns"]) == 6
    assert bob.post("/api/v1/turns/next", json={}).json()["turn"]["number"] == 1
    late = ann.post("/api/v1/turns/1/record", json={"result": False, "holder": kept["holder"], "attempt": 1})
    assert late.status_code == 409
    assert "Turn 1 went to Bob meanwhile, so this result of Ann was not recorded" in late.json()["error"]
    assert bob.post("/api/v1/turns/1/record", json={"result": True, "attempt": 1}).status_code == 200
    assert console.study.fold.refused == {(1, kept["holder"])}


def test_a_client_says_whom_it_waits_for_and_can_hand_back_for_another(tmp_path, caplog):
    pytest.importorskip("uvicorn", reason="needs the extra `console`")
    from surefoot.console.authentication import Tokens
    from tests.support.consoles import study as served
    from tests.support.consoles import threaded

    tokens = Tokens.fresh()
    with threaded(served(tmp_path, take_over_minutes=1e-6), tokens) as address:
        one, two = (sf.Client(address, tokens.runner.reveal(), holder=f"arm {number}") for number in (1, 2))
        assert one.next_turn().number == 1
        for _ in range(4 * REACH + 1):
            two.record(two.next_turn(), True)
        threading.Timer(0.5, lambda: two.release(holder="arm 1")).start()
        assert two.next_turn().number == 1
        with pytest.raises(StudyError, match="Turn 1 went to arm 2 meanwhile"):
            one.record(1, True)
        assert two.release().turns == (1,)
    assert "waiting. Pair 1 waits for turn 1, held by arm 1" in caplog.text
    assert "surefoot study release" in caplog.text


# --- several robots ---


def test_two_robots_hold_different_turns_and_get_theirs_back():
    study = begun()
    one, two = study.next_turn(holder="arm 1"), study.next_turn(holder="arm 2")
    assert (one.number, two.number) == (1, 3)  # a pair stays with one robot
    assert study.next_turn(holder="arm 1") == one
    study.record(two, True)
    assert study.next_turn(holder="arm 2").number == 4


def test_a_lease_that_has_run_out_frees_the_turn():
    clock = Clock()
    study = begun(clock=clock)
    first = study.next_turn(holder="arm 1", lease=timedelta(minutes=10))
    clock.on(minutes=9)
    assert study.next_turn(holder="arm 2") != first
    clock.on(minutes=2)
    assert study.next_turn(holder="arm 3") == first
    study.record(first, True, holder="arm 3")
    with pytest.raises(StudyError, match=r"already has a result\. It was not overwritten: undo it first"):
        study.record(first, False, holder="arm 3")


def test_a_result_after_the_lease_counts_while_nobody_else_gave_one():
    clock = Clock()
    study = begun(clock=clock)
    turn = study.next_turn(holder="arm 1", lease=timedelta(minutes=10))
    clock.on(hours=2)
    study.record(turn, True)
    assert study.fold.results[turn.number].score == 1.0


def test_a_turn_handed_back_is_free_at_once():
    study = begun()
    turn = study.next_turn(holder="arm 1")
    study.release(turn)
    study.release(turn)
    assert study.next_turn(holder="arm 2") == turn


def test_turns_can_be_held_ahead():
    study = begun()
    ahead = study.next_turns(5, holder="phone")
    assert [turn.number for turn in ahead] == [1, 2, 3, 4, 5]
    assert study.next_turn(holder="other").number == 7  # the fifth's pair stays where it was begun


def test_no_lease_ends_while_the_next_turn_is_taken():
    class Slow(Clock):
        def __call__(self):
            self.on(seconds=1)
            return self.now

    study = begun(clock=Slow())
    assert len(study.next_turns(5, holder="phone", lease=timedelta(minutes=2))) == 5
    assert study.version == 6


def test_two_programs_without_a_name_never_share_a_turn():
    store = MemoryStore()
    one, two = begun(store), Study.open(store)
    assert one.next_turn().number != two.next_turn().number
    assert one.next_turn().number == 1


def test_a_program_without_a_name_that_ended_leaves_its_turn_to_the_next():
    store = MemoryStore()
    study = begun(store)
    first = study.next_turn()
    del study
    gc.collect()
    assert Study.open(store).next_turn() == first


CRASH = """
import os, sys
from surefoot import Study
study = Study.open(sys.argv[1])
print(study.next_turn().number, flush=True)
os._exit(9)
"""


def test_a_crashed_process_leaves_its_turn_to_the_next(tmp_path):
    begun(tmp_path / "study.db")
    words = [sys.executable, "-c", CRASH, tmp_path / "study.db"]
    assert [subprocess.run(words, capture_output=True, check=False).stdout for _ in range(2)] == [b"1\n", b"1\n"]
    assert Study.open(tmp_path / "study.db").next_turn().number == 1


def test_whether_a_holder_is_gone_is_never_guessed():
    living = leases.Unnamed()
    assert not leases.gone(living.name)
    assert not leases.gone("arm 1")
    assert not leases.gone("unnamed@elsewhere/1/1")
    assert not leases.gone("unnamed@")
    assert not leases.gone(living.name.replace(f"/{os.getpid()}/", "/1/"))
    assert not leases.gone(living.name.replace(f"/{os.getpid()}/", f"/{10**30}/"))  # no process has this number
    assert leases.gone(living.name.replace(f"/{os.getpid()}/", "/4194000/"))


def test_a_clock_that_jumps_holds_no_lease_for_ever_and_is_named():
    clock = Clock()
    study = begun(clock=clock)
    turn = study.next_turn(holder="arm 1")
    clock.on(days=400)
    study.check(["homed"])  # one line of a date to come
    clock.on(days=-400)
    study.record(turn, True)
    held = study.next_turn(holder="arm 1")
    clock.on(hours=2)
    again = Study.open(study.store, clock=clock)
    assert again.next_turn(holder="arm 2") == held
    found = sf.verify(study.store)
    assert found.sound
    assert "400 days before line 3: the clock of one of the two writers was wrong" in str(found)


def test_a_lease_is_measured_by_the_clock_that_saw_it_handed_out():
    ahead, here = Clock(), Clock()
    ahead.on(days=900)
    study = begun(clock=here)
    other = Study.open(study.store, clock=ahead)
    first = other.next_turn(holder="arm 1")
    study.refresh()
    assert study.next_turn(holder="arm 2", wait=False) != first
    here.on(minutes=61)  # the same hour as for every lease, whatever the date was said to be
    assert first in study.next_turns(9, holder="arm 3")
