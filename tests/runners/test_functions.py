"""A study run by a function or a command: to its end, by several workers, whatever crashes, and resumed."""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter

import pytest

import surefoot as sf
from surefoot.cli.main import run
from surefoot.runners import functions
from surefoot.runners.functions import CameraFolder
from surefoot.runners.outcomes import CrashError
from surefoot.study.studies import Study
from tests.support.clips import GIF, PNG
from tests.support.studies import begun, plan, said_of


def test_a_function_runs_a_study_to_its_end():
    study, told = begun(), []
    status = sf.run_study(study, lambda turn: turn.policy == "new", progress=lambda turn, _: told.append(turn.number))
    assert status.decision == "stop: decided"
    assert told == list(range(1, len(told) + 1)) == sorted(study.fold.results)
    assert all(result.duration is not None for result in study.fold.results.values())


def test_workers_run_at_once_and_the_rule_reads_in_order():
    study, at_work, most = begun(horizon=60), set(), [0]
    lock, rng = threading.Lock(), random.Random(3)

    def rollout(turn):
        with lock:
            at_work.add(turn.number)
            most[0] = max(most[0], len(at_work))
            slow = rng.random() * 0.02
        time.sleep(slow)
        with lock:
            at_work.discard(turn.number)
        return turn.policy == "new" if turn.block % 3 else True

    status = sf.run_study(study, rollout, workers=4)
    assert status.finished
    assert most[0] > 1
    assert sf.verify(study.store).sound
    again = sf.run_study(begun(horizon=60), lambda turn: turn.policy == "new" if turn.block % 3 else True)
    assert (again.blocks, again.decision) == (status.blocks, status.decision)  # whatever order they finished in


def test_it_goes_on_where_it_was():
    study = begun()
    sf.run_study(study, lambda turn: turn.policy == "new", turns=3)
    assert len(study.fold.results) == 3
    again = Study.open(study.store)
    assert sf.run_study(again, lambda turn: turn.policy == "new").finished
    assert Counter(e.body["turn"] for e in again.fold.history if e.kind == "recorded").most_common(1)[0][1] == 1


def crashing(chance, rng, rates):
    def rollout(turn):
        if turn.policy == "new" and rng.random() < chance:
            raise RuntimeError("segmentation fault")
        return rng.random() < rates[turn.policy]

    return rollout


@pytest.mark.sample(5)
@pytest.mark.parametrize("start", range(0, 100, 20))
def test_a_crash_is_a_failure_and_none_is_missing_from_the_report(caplog, start):
    """A hundred studies of a policy that crashes in 30% of its rollouts, beside one that fails there."""
    crashed = 0
    for seed in range(start, start + 20):
        rates = {"new": 0.9, "old": 0.5}
        study = begun(seed=seed + 1, horizon=30)
        sf.run_study(study, crashing(0.3, random.Random(seed), rates))
        twin, rng = begun(seed=seed + 1, horizon=30), random.Random(seed)
        while (turn := twin.next_turn()) is not None:
            fails = turn.policy == "new" and rng.random() < 0.3
            twin.record(turn, False if fails else rng.random() < rates[turn.policy])
        assert study.verdict is twin.verdict
        assert study.status().blocks == twin.status().blocks
        results = [result for result in study.fold.results.values() if result.ended == "crash"]
        crashed += len(results)
        assert all((one.score, one.failure) == (0.0, "crash") for one in results)
        if seed < start + 5 and results:
            study.unblind(reason="done")
            assert any(f"new: {len(results)} crash" in line for line in said_of(study.fold))
    assert crashed > 40


@pytest.mark.parametrize(("on_crash", "counted", "void"), [("failure", 4, 0), ("void", 2, 2), ("retry", 4, 0)])
def test_the_plan_says_what_a_crash_counts_as(on_crash, counted, void):
    study, seen = begun(on_crash=on_crash, rule="fixed", horizon=4 if on_crash != "void" else 2), Counter()

    def rollout(turn):
        seen[turn.number] += 1
        if turn.policy == "new" and turn.block <= 2 and seen[turn.number] == 1:
            raise OSError("no camera")
        return True

    status = sf.run_study(study, rollout)
    assert (status.finished, status.blocks, status.voided) == (True, counted, void)
    study.unblind(reason="done")
    (said,) = [line for line in said_of(study.fold) if "gave no result" in line]
    assert "new: 2 crash" in said
    assert sf.verify(study.store).sound


def test_a_turn_is_retried_three_times_and_then_fails():
    study, tries = begun(on_crash="retry"), Counter()

    def rollout(turn):
        tries[turn.number] += 1
        raise CrashError("crash", "always")

    sf.run_study(study, rollout, turns=4)
    assert (tries[1], study.fold.results[1].score) == (4, 0.0)


def test_a_rollout_that_does_not_come_back_is_given_up():
    study, over = begun(time_limit=0.2), threading.Event()
    sf.run_study(study, lambda _: over.wait(5), turns=2)
    over.set()
    assert [result.ended for result in study.fold.results.values()] == ["time-out", "time-out"]


def test_a_turn_voided_meanwhile_does_not_end_the_run():
    study = begun()

    def rollout(turn):
        if turn.number == 1:
            Study.open(study.store).void(1, reason="safety stop")
        return True

    sf.run_study(study, rollout, turns=3)
    assert sorted(study.fold.results) == [3, 4]


def test_stopping_hands_the_turn_back(monkeypatch):
    study = begun()

    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sf.run_study(study, stop, holder="arm 1")
    assert study.next_turn(holder="arm 2").number == 1


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="`workers` must be at least 1"):
        sf.run_study(begun(), bool, workers=0)
    with pytest.raises(ValueError, match="`turns` must be at least 1"):
        sf.run_study(begun(), bool, turns=0)
    assert functions.PAUSE > 0


def test_two_machines_run_the_turns_of_their_own_rigs(tmp_path):
    plan = sf.Plan(policies=("new", "old"), rigs=("left", "right"), rule="mixture", horizon=40, futility=0.0)
    sf.Study.create(plan, tmp_path / "study.db")
    seen = {"left": [], "right": []}

    def ran(rig):
        study = sf.Study.open(tmp_path / "study.db")
        sf.run_study(study, lambda turn: seen[rig].append(turn.rig) or turn.policy == "new", holder=rig, rig=rig)

    machines = [threading.Thread(target=ran, args=(rig,)) for rig in seen]
    for machine in machines:
        machine.start()
    for machine in machines:
        machine.join(60)
    assert all(set(rigs) == {rig} for rig, rigs in seen.items())
    study = sf.Study.open(tmp_path / "study.db")
    assert study.status().decision == "stop: decided"
    assert all(
        study.fold.results[number].holder == turn.rig
        for number, turn in study.fold.turns.items()
        if number in study.fold.results
    )


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(functions, "SETTLES", 0.001)


def written(path, content, when):
    path.write_bytes(content)
    os.utime(path, ns=(when, when))


def test_the_newest_clip_of_the_turn_is_found(tmp_path):
    folder = CameraFolder(tmp_path)
    written(tmp_path / "old.gif", GIF, 1_000)
    before = folder.seen()
    assert folder.newest(before) is None
    written(tmp_path / "a.gif", GIF, 3_000)
    written(tmp_path / "b.png", PNG, 2_000)
    written(tmp_path / "log.txt", b"newer, and no clip", 4_000)
    (tmp_path / "folder").mkdir()
    assert folder.newest(before) == tmp_path / "a.gif"
    written(tmp_path / "old.gif", PNG, 5_000)
    assert folder.newest(before) == tmp_path / "old.gif"


def test_a_folder_that_went_away_costs_no_result(tmp_path):
    study, camera = begun(), tmp_path / "camera"
    camera.mkdir()
    sf.run_study(study, lambda _: not camera.rmdir(), turns=1, clips_from=camera)
    assert (study.fold.results[1].score, study.fold.results[1].clip) == (1.0, None)


def test_a_study_takes_its_clips_from_a_folder(tmp_path):
    study, filmed = begun(), {1: GIF + b"1", 3: GIF + b"3"}

    def rollout(turn):
        if turn.number in filmed:
            (tmp_path / f"{turn.number}.gif").write_bytes(filmed[turn.number])
        clip = "https://lab.example/3.mp4" if turn.number == 3 else None
        return sf.Outcome(success=True, clip=clip)

    sf.run_study(study, rollout, turns=3, clips_from=tmp_path)
    assert [study.fold.results[turn].clip and study.fold.results[turn].clip.name for turn in (1, 2, 3)] == [
        "1.gif",
        None,
        "",
    ]


def test_one_worker_has_one_camera_and_the_folder_must_exist(tmp_path):
    for more in ({"workers": 2}, {"clips_from": tmp_path / "none"}):
        with pytest.raises(ValueError, match="`clips_from` must"):
            sf.run_study(begun(), lambda _: True, **{"clips_from": tmp_path, **more})


def test_the_command_line_names_the_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "camera").mkdir()
    (tmp_path / "one.gif").write_bytes(GIF)
    Study.create(plan(), "study.db")
    command = "cp one.gif camera/$SUREFOOT_TURN.gif; echo true"
    words = ["study", "run", "study.db", "--command", command, "--turns", "2", "--clips-from", "camera"]
    assert run(words) == 0, capsys.readouterr().err
    assert [one.clip.name for one in Study.open("study.db").fold.results.values()] == ["1.gif", "2.gif"]
