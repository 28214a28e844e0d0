"""A study in a real Gymnasium environment: seeds, success, clips, crashes, workers, and what is refused."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

import surefoot as sf
from surefoot.runners import gymnasium as module
from surefoot.runners.outcomes import CrashError
from surefoot.study.schedules import Turn
from tests.support.studies import begun

gymnasium = pytest.importorskip("gymnasium")


def good(state):
    return int(state[2] + state[3] > 0)


def worse(state):
    return int(state[2] > 0)


POLICIES = {"new": good, "old": worse}


def turn(number=1, **changes):
    return Turn(
        **{"number": number, "block": 1, "policy": "new", "code": "AB12", "task": "", "condition": ""} | changes
    )


def truncated(end):
    return end.truncated


class Told(gymnasium.Env):
    """Three steps; its info tells what it was made to tell, step by step."""

    observation_space = gymnasium.spaces.Discrete(4)
    action_space = gymnasium.spaces.Discrete(2)
    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012

    def __init__(self, infos=({}, {}, {"is_success": True}), render_mode=None, ends=True):
        self.infos, self.render_mode, self.ends, self.closed = infos, render_mode, ends, 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return 0, {}

    def step(self, action):
        self.steps += 1
        over = self.steps == len(self.infos)
        return self.steps, 1.0, over and self.ends, over and not self.ends, self.infos[self.steps - 1]

    def close(self):
        self.closed += 1


def ran(infos, *, ends=True, **more):
    return sf.GymnasiumRunner(lambda _: Told(infos, ends=ends), {"new": lambda _: 0}, **more)(turn())


# --- a study ---


def test_a_study_of_two_policies_is_run_to_its_end():
    study = begun()
    runner = sf.GymnasiumRunner("CartPole-v1", POLICIES, success=truncated, max_steps=100)
    assert sf.run_study(study, runner).decision == "stop: decided"
    study.unblind(reason="decided")
    assert study.verdict.value == "better"
    results = study.fold.results.values()
    assert {result.failure for result in results} == {""}  # a pole that fell did not run out of steps
    assert {result.score for result in results if result.steps == 100} == {1.0}
    assert {result.score for result in results if result.steps < 100} == {0.0}


def test_several_workers_come_to_the_same_with_an_environment_each():
    verdicts = []
    for workers, limit in ((1, None), (3, None), (3, 60.0)):
        study = begun(environments="shared", conditions=tuple("123456789"), seed=5)
        runner = sf.GymnasiumRunner("CartPole-v1", POLICIES, success=truncated, max_steps=60)
        sf.run_study(study, runner, workers=workers, time_limit=limit)
        taken = study.status().blocks
        scores = {
            (turn.block, turn.policy): study.fold.results[turn.number].score
            for block, turns in study.fold.blocks.items()
            if block <= taken
            for turn in turns
        }
        verdicts.append((study.verdict, taken, scores))
    assert verdicts[0] == verdicts[1] == verdicts[2]


def test_it_goes_on_where_it_was():
    study = begun()
    runner = sf.GymnasiumRunner("CartPole-v1", POLICIES, success=truncated, max_steps=60)
    sf.run_study(study, runner, turns=3)
    sf.run_study(study, runner, turns=2)
    assert sorted(study.fold.results) == [1, 2, 3, 4, 5]


# --- seeds ---


def seeds_of(study, **more):
    seen = {}

    def seen_of(end):
        seen[len(seen) + 1] = end.seed
        return True

    sf.run_study(study, sf.GymnasiumRunner("CartPole-v1", POLICIES, success=seen_of, max_steps=2, **more), turns=6)
    return [(turn, seen[turn.number]) for block in study.fold.blocks.values() for turn in block if turn.number in seen]


def test_a_condition_that_is_a_number_is_the_seed():
    found = seeds_of(begun(environments="shared", conditions=("7", "41", "300")))
    assert all(seed == int(turn.condition) for turn, seed in found)
    assert all(seed == int(turn.condition) for turn, seed in seeds_of(begun(conditions=("7", "41", "300"))))


def test_both_policies_of_a_pair_begin_alike_where_they_share_the_environment():
    by_block = {}
    for turn, seed in seeds_of(begun(environments="shared", conditions=("lid left", "lid right"))):
        by_block.setdefault(turn.block, set()).add(seed)
    assert [len(seeds) for seeds in by_block.values()] == [1, 1, 1]
    assert len(set.union(*by_block.values())) == 3


@pytest.mark.parametrize("environments", ["independent", "stratified"])
def test_otherwise_each_rollout_is_drawn_afresh(environments):
    found = seeds_of(begun(environments=environments, conditions=("lid left", "lid right")))
    assert len({seed for _, seed in found}) == 6
    assert all(0 <= seed < 2**31 for _, seed in found)


def test_a_kind_of_environment_is_no_seed():
    assert len({seed for _, seed in seeds_of(begun(environments="stratified", conditions=("1", "2")))}) == 6


def test_another_study_of_the_same_plan_has_other_seeds_and_the_same_study_the_same():
    first, again, other = (
        [seed for _, seed in seeds_of(begun(seed=seed, environments="shared", conditions=("a", "b")))]
        for seed in (1, 1, 2)
    )
    assert first == again
    assert not set(first) & set(other)


def test_an_item_of_a_list_is_the_same_wherever_it_is_met():
    items = tuple(f"start {number}" for number in range(9))
    first, other = (
        {turn.item: seed for turn, seed in seeds_of(begun(seed=seed, items=items, horizon=9, rule=None))}
        for seed in (1, 2)
    )
    assert set(first) & set(other)
    assert all(first[item] == other[item] for item in set(first) & set(other))


@pytest.mark.parametrize(
    ("changes", "warned"),
    [
        ({"environments": "shared", "conditions": ("1", "2", "3")}, True),
        ({"environments": "shared", "conditions": ("1", "2", "3"), "horizon": 3}, False),
        ({"environments": "shared", "conditions": ("lid left", "2", "3")}, False),  # a fresh seed for each pair
        ({"environments": "shared"}, False),
        ({"conditions": ("1", "2", "3")}, False),  # drawn by chance, again and again
        ({"items": ("1", "2", "3"), "horizon": 3, "rule": None}, False),
    ],
)
def test_seeds_that_come_again_are_told(caplog, changes, warned):
    runner = sf.GymnasiumRunner("CartPole-v1", POLICIES, success=truncated, max_steps=2)
    sf.run_study(begun(**changes), runner, turns=1)
    assert ("40 pairs share 3 environments, so some repeat" in caplog.text) is warned
    caplog.clear()
    own = sf.GymnasiumRunner("CartPole-v1", POLICIES, success=truncated, max_steps=2, seed=lambda turn: turn.block)
    sf.run_study(begun(**changes), own, turns=1)
    assert caplog.text == ""


def test_a_seed_of_ones_own():
    study = begun()
    assert {seed for _, seed in seeds_of(study, seed=lambda turn: 10 * turn.block)} == {10, 20, 30}
    assert {result.note for result in study.fold.results.values()} == {"seed 10", "seed 20", "seed 30"}
    with pytest.raises(sf.StudyError, match=r"`seed` cannot be used: .*whole"):
        seeds_of(begun(), seed=lambda _: 0.5)


def test_the_seed_begins_the_episode_and_is_told_to_a_policy_that_asks():
    told = []

    class Asking:
        def reset(self, seed):
            told.append(seed)

        def act(self, state):
            return good(state)

    ends = []
    runner = sf.GymnasiumRunner(
        "CartPole-v1", {"new": Asking()}, success=lambda end: not ends.append(end.observation), max_steps=20
    )
    assert [runner(turn(condition=seed)).notes for seed in "337"] == ["", "", ""]  # the condition tells it
    assert told == [3, 3, 7]
    assert (ends[0] == ends[1]).all()
    assert (ends[0] != ends[2]).any()


# --- success and score ---


@pytest.mark.parametrize("name", ["is_success", "success"])
@pytest.mark.parametrize("said", [True, 1, 1.0])
def test_success_is_what_the_last_step_tells(name, said):
    assert ran([{name: not said}, {name: said}]).success is True
    late = ran([{name: said}, {name: 0}])
    assert (late.success, late.steps, late.failure) == (False, 2, "")


def test_arrays_of_one_are_read():
    import numpy as np

    assert ran([{"is_success": np.bool_(True)}]).success is True
    assert ran([{"is_success": np.array([0.0], np.float32)}]).success is False


def test_success_that_was_reached_on_the_way():
    assert ran([{"success": True}, {"success": False}], success=lambda end: end.reached).success is True
    assert ran([{"success": False}, {}], success=lambda end: end.reached).success is False


def test_a_failure_without_an_end_is_a_time_limit():
    outcome = ran([{}, {"success": False}], ends=False)
    assert (outcome.success, outcome.failure) == (False, "time limit")
    assert ran([{}, {"success": True}], ends=False).failure == ""
    short = ran([{"success": False}] * 5, max_steps=3)
    assert (short.steps, short.failure) == (3, "time limit")
    assert ran([{"success": False}] * 3, max_steps=3).failure == ""  # it ended by itself on its last step


def test_more_steps_than_the_environment_has_by_itself():
    runner = sf.GymnasiumRunner("CartPole-v1", {"new": good}, success=truncated, max_steps=510)
    assert runner(turn(condition="3")).steps == 510


def test_a_rollout_lasts_as_long_as_the_environment_says():
    runner = sf.GymnasiumRunner("CartPole-v1", {"new": good}, success=truncated, max_steps=20)
    assert runner(turn(condition="3")).duration == 0.4  # 50 steps a second

    def slow(_):
        time.sleep(0.05)
        return 0

    timed = sf.GymnasiumRunner(lambda _: Told(), {"new": slow})(turn())
    assert 0.15 <= timed.duration < 30  # it says nothing: by the clock


def test_an_environment_that_tells_nothing_is_refused_and_nothing_is_recorded():
    study = begun()
    with pytest.raises(
        sf.StudyError, match=r"must report success in `info` as is_success or success; got nothing\. Give"
    ):
        sf.run_study(study, sf.GymnasiumRunner("CartPole-v1", POLICIES, max_steps=5))
    assert study.fold.results == {}
    assert study.next_turn(holder="another").number == 1  # it was handed back
    with pytest.raises(sf.StudyError, match="got prob, wind"):
        ran([{"wind": 1, "prob": 0.3}])


def test_a_success_function_that_fails_is_no_failure_of_the_policy():
    with pytest.raises(sf.StudyError, match=r"`success` cannot be used: KeyError: 'goal'\. Nothing was recorded"):
        ran([{}], success=lambda end: end.info["goal"])
    with pytest.raises(sf.StudyError, match="`success` must give true or false"):
        ran([{}], success=lambda end: 0.5)


def test_scores_are_the_reward_or_what_is_made_of_an_episode():
    for score, expected in ((None, {20.0}), (lambda end: end.steps / 2, {10.0})):
        study = begun(measure="score", low=0.0, high=20.0)
        sf.run_study(
            study, sf.GymnasiumRunner("CartPole-v1", {"new": good, "old": good}, max_steps=20, score=score), turns=2
        )
        assert {result.score for result in study.fold.results.values()} == expected
    with pytest.raises(sf.StudyError, match=r"`score` cannot be used: .* be a score in \[0, 20\]; got 30"):
        sf.run_study(study, sf.GymnasiumRunner("CartPole-v1", POLICIES, max_steps=30, score=lambda end: 30), turns=1)


# --- policies ---


def test_policies_of_every_kind():
    class Predicts:
        """As Stable-Baselines3 has it: an action and a state, which comes back."""

        def predict(self, observation, state=None):
            states.append(state)
            return good(observation), (0 if state is None else state + 1)

    class Selects:
        def reset(self):
            states.append("reset")

        def select_action(self, observation):
            return good(observation)

    states = []
    for policy in (good, Predicts(), Selects(), Selects, Predicts):
        runner = sf.GymnasiumRunner("CartPole-v1", {"new": policy}, success=truncated, max_steps=4)
        assert runner(turn(condition="3")).success is True
    assert states == [None, 0, 1, 2, "reset", "reset", None, 0, 1, 2]


def test_a_checkpoint_is_loaded_once_by_each_worker_when_it_is_needed():
    loaded, both = [], threading.Barrier(2, timeout=10)

    def load(path):
        loaded.append((path, threading.get_ident()))

        def act(state):
            both.wait()  # neither goes on without the other
            return good(state)

        return act

    runner = sf.GymnasiumRunner(
        "CartPole-v1", {"new": "new.pt", "old": "old.pt"}, load=load, success=truncated, max_steps=3
    )
    assert loaded == []
    sf.run_study(begun(), runner, workers=2, turns=8)
    assert sorted({path for path, _ in loaded}) == ["new.pt", "old.pt"]
    assert len(loaded) == len(set(loaded)) <= 4


def test_a_checkpoint_that_does_not_load_ends_the_run():
    study, runner = begun(), sf.GymnasiumRunner("CartPole-v1", {"new": "no.pt", "old": "no.pt"}, load=open)
    for limit in (None, 30.0):
        with pytest.raises(
            sf.StudyError, match=r"Policy '(new|old)' cannot be loaded: FileNotFoundError: .*Nothing was"
        ):
            sf.run_study(study, runner, time_limit=limit)
    assert study.fold.results == {}


def test_a_policy_with_a_state_is_not_shared_by_two_rollouts_at_once():
    inside, go_on = threading.Event(), threading.Event()

    class Recurrent:
        def reset(self):
            """Forget."""

        def act(self, state):
            inside.set()
            go_on.wait(10)
            return good(state)

    runner = sf.GymnasiumRunner("CartPole-v1", {"new": Recurrent()}, success=truncated, max_steps=2)
    other = threading.Thread(target=runner, args=(turn(),))
    other.start()
    inside.wait(10)
    with pytest.raises(sf.StudyError, match=r"'new' has a `reset`, and two rollouts .* share it. Give its class"):
        runner(turn(2))
    go_on.set()
    other.join()
    assert runner(turn(2)).steps == 2  # one after the other is well


def test_a_policy_that_crashes_has_crashed_and_the_next_rollout_has_a_new_environment(caplog):
    made = []

    def make(_):
        made.append(Told())
        return made[-1]

    def breaks(_):
        raise RuntimeError("CUDA out of memory")

    study = begun()
    sf.run_study(study, sf.GymnasiumRunner(make, {"new": breaks, "old": lambda _: 0}), turns=4)
    ended = {turn.policy: study.fold.results[turn.number] for turn in study.fold.blocks[1]}
    assert (ended["new"].ended, ended["new"].score, ended["old"].score) == ("crash", 0.0, 1.0)
    assert "CUDA out of memory" in ended["new"].note
    assert [env.closed for env in made] == [1, 1, 1, 1]


def test_an_environment_is_kept_until_it_crashes_and_closed_at_the_end(monkeypatch, caplog):
    made, breaks = [], [False]

    def make(name, **settings):
        made.append((Told(), settings))
        return made[-1][0]

    monkeypatch.setattr(gymnasium, "make", make)

    def act(_):
        if breaks[0]:
            raise OSError("no camera")
        return 0

    runner = sf.GymnasiumRunner("Told-v0", {"new": act}, max_steps=9, settings={"ends": True})
    for broken in (False, False, True, False, False):
        breaks[0] = broken
        if broken:
            with pytest.raises(CrashError, match="no camera"):
                runner(turn())
        else:
            runner(turn())
    assert [(env.closed, settings) for env, settings in made] == [
        (1, {"max_episode_steps": 9, "ends": True}),
        (0, {"max_episode_steps": 9, "ends": True}),
    ]
    sf.run_study(begun(policies=("new", "other")), sf.GymnasiumRunner("Told-v0", {"new": act, "other": act}), turns=3)
    assert len(made) == 3
    assert made[2][0].closed == 1


# --- tasks ---


def test_a_task_has_its_own_environment():
    study = begun(tasks=("slippery", "dry"), environments="shared", horizon=4)
    seen = {}

    def success(end):
        seen.setdefault(end.info["prob"], 0)
        return end.reward > 0

    runner = sf.GymnasiumRunner(
        "FrozenLake-v1",
        {"new": lambda _: 1, "old": lambda _: 2},
        success=success,
        settings={"map_name": "4x4"},
        tasks={"slippery": {"is_slippery": True}, "dry": {"is_slippery": False}},
    )
    sf.run_study(study, runner, turns=8)
    assert sorted(map(float, seen)) == [pytest.approx(1 / 3), 1.0]
    other = sf.GymnasiumRunner(
        "FrozenLake-v1", {"new": lambda _: 1, "old": lambda _: 2}, tasks={"dry": "CliffWalking-v1"}
    )
    with pytest.raises(
        sf.StudyError, match="`tasks` must name an environment for each task of the study; it lacks 'slip"
    ):
        sf.run_study(study, other)
    assert other._made_of("dry") == ("CliffWalking-v1", {})


# --- time ---


def test_a_rollout_that_takes_too_long_is_given_up_between_steps():
    study = begun()

    def slow(_):
        time.sleep(0.02)
        return 0

    sf.run_study(
        study,
        sf.GymnasiumRunner(lambda _: Told([{}] * 1000), {"new": slow, "old": slow}),
        turns=2,
        time_limit=0.1,
    )
    assert [result.ended for result in study.fold.results.values()] == ["time-out", "time-out"]
    assert not [one for one in threading.enumerate() if one.name == "surefoot-gymnasium" and one.join(2.0)]


def test_one_that_never_comes_back_is_left_behind(monkeypatch):
    monkeypatch.setattr(module, "GRACE", 0.05)
    over, study = threading.Event(), begun()
    stuck = {"new": lambda _: over.wait(20), "old": lambda _: 0}
    sf.run_study(study, sf.GymnasiumRunner(lambda _: Told(), stuck), turns=4, time_limit=0.1)
    over.set()
    ended = {
        (turn.policy, study.fold.results[turn.number].ended) for block in (1, 2) for turn in study.fold.blocks[block]
    }
    assert ended == {("new", "time-out"), ("old", "finished")}


def test_loading_takes_no_time_of_the_rollout(monkeypatch):
    monkeypatch.setattr(module, "GRACE", 0.0)

    def load(_):
        time.sleep(0.3)
        return lambda _: 0

    study = begun()
    sf.run_study(
        study, sf.GymnasiumRunner(lambda _: Told(), {"new": "a", "old": "b"}, load=load), turns=2, time_limit=0.2
    )
    assert {result.ended for result in study.fold.results.values()} == {"finished"}


# --- clips ---


def test_a_clip_of_every_rollout(tmp_path):
    pytest.importorskip("pygame")
    study, folder = begun(), tmp_path / "videos" / "today"
    runner = sf.GymnasiumRunner("CartPole-v1", POLICIES, success=truncated, max_steps=8, video=folder)
    sf.run_study(study, runner, turns=2)
    assert {path.stem for path in folder.iterdir()} == {"turn-1", "turn-2"}
    for number, result in study.fold.results.items():
        (path,) = folder.glob(f"turn-{number}.*")
        assert (result.clip.name, result.clip.kind) == (path.name, path.suffix[1:])
        assert study.clips.where(result.clip).read_bytes() == path.read_bytes()
    assert sf.verify(study.store).sound


def test_a_clip_that_cannot_be_written_costs_no_result(tmp_path, monkeypatch, caplog):
    pytest.importorskip("pygame")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.Film, "write", full)
    runner = sf.GymnasiumRunner("CartPole-v1", POLICIES, success=truncated, max_steps=3, video=tmp_path)
    outcome = runner(turn())
    assert (outcome.success, outcome.clip) == (True, None)
    assert "turn 1 has no clip: [Errno 28] No space left" in caplog.text


def test_what_cannot_be_filmed_ends_the_run(tmp_path):
    runner = sf.GymnasiumRunner(lambda _: Told(), {"new": lambda _: 0, "old": lambda _: 0}, video=tmp_path)
    refused = "^The rollout cannot be filmed: NotImplementedError. Nothing was recorded.$"  # as Gymnasium's own render
    with pytest.raises(sf.StudyError, match=refused):
        sf.run_study(begun(), runner)
    (tmp_path / "file").write_text("")
    runner = sf.GymnasiumRunner("CartPole-v1", POLICIES, video=tmp_path / "file")
    with pytest.raises(sf.StudyError, match="`video` must be a folder that can be written to"):
        sf.run_study(begun(), runner)


# --- refusals ---


def test_what_cannot_be_run_is_refused_at_once():
    with pytest.raises(TypeError, match="`env` must be an environment's id or a function"):
        sf.GymnasiumRunner(Told(), POLICIES)
    with pytest.raises(TypeError, match="`policies` must name the policies"):
        sf.GymnasiumRunner("CartPole-v1", {})
    with pytest.raises(TypeError, match=r"a policy for 'new'; got 'new.pt'. Give `load=`"):
        sf.GymnasiumRunner("CartPole-v1", {"new": "new.pt"})
    with pytest.raises(ValueError, match="`tasks` must be left out with a function"):
        sf.GymnasiumRunner(Told, POLICIES, tasks={"lift": "Lift-v0"})
    with pytest.raises(ValueError, match="`settings` must be left out with a function"):
        sf.GymnasiumRunner(Told, POLICIES, settings={"x": 1})
    with pytest.raises(ValueError, match="`max_steps` must be at least 1"):
        sf.GymnasiumRunner("CartPole-v1", POLICIES, max_steps=0)


def test_a_policy_or_an_environment_that_is_not_there_records_nothing():
    study = begun()
    with pytest.raises(sf.StudyError, match="`policies` must have every policy of the study; 'old' is not among them"):
        sf.run_study(study, sf.GymnasiumRunner("CartPole-v1", {"new": good}))
    with pytest.raises(sf.StudyError, match=r"The environment cannot be made: .*NoSuchWorld"):
        sf.run_study(study, sf.GymnasiumRunner("NoSuchWorld-v0", POLICIES))
    assert study.fold.results == {}


def test_without_gymnasium_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(sf.StudyError, match=r"needs the `gymnasium` extra: .* pip install '\.\[gymnasium\]'"):
        sf.run_study(begun(), sf.GymnasiumRunner("CartPole-v1", POLICIES))


def test_nothing_else_loads_gymnasium():
    program = (
        "import sys, surefoot as sf, surefoot.cli.main\n"
        "sf.GymnasiumRunner('CartPole-v1', {'new': print}), sf.run_study\n"
        "print({'gymnasium', 'PIL', 'imageio_ffmpeg', 'pygame'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
