"""Tests of `surefoot.integrations.inspect_robots`, with the real package where it is installed."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

import surefoot as sf
from surefoot.integrations.inspect_robots import SceneComparison


@dataclass(frozen=True)
class Scene:
    id: str
    target: Any = None
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Scorer:
    name: str = "success"

    def __call__(self, record: Any, target: Any) -> Any:
        return SimpleNamespace(value=record.success)


@dataclass(frozen=True)
class Task:
    scenes: Any
    scorers: tuple[Any, ...] = (Scorer(),)
    epochs: int = 1

    @property
    def epoch_spec(self) -> Any:
        return SimpleNamespace(count=self.epochs)


SCENES = tuple(Scene(f"s{place}") for place in range(60))


def log(path, chance, epochs: int = 1, names=("success",)) -> str:
    samples = [
        {"scene_id": one.id, "epochs": [{name: chance(place) for name in names}] * epochs}
        for place, one in enumerate(SCENES)
    ]
    path.write_text(json.dumps({"eval": {"policy": "old"}, "samples": samples}))
    return str(path)


def evaluated(comparison: SceneComparison, task: Any, success: Any) -> list[str]:
    """What inspect-robots does: every scene, every epoch, one after the other."""
    task, met = comparison.task(task), []
    comparison.on_eval_start(None)
    for scene in task.scenes:
        met.append(scene.id)
        for epoch in range(task.epochs):
            comparison.on_trial_start(scene.id, epoch)
            value = success(scene.id, epoch)
            status = "error" if value is None else "success"
            comparison.on_trial_end(SimpleNamespace(scene_id=scene.id, epoch=epoch, status=status, success=value))
    comparison.on_eval_end(None)
    return met


def test_it_ends_once_the_rule_has_decided(tmp_path):
    made = SceneComparison(log(tmp_path / "old.json", lambda _: 0.0))
    met = evaluated(made, Task(SCENES), lambda *_: True)
    state = sf.sequential.run(sf.sequential.FiniteHorizonMixture(60, claim="either"), [(1.0, 0.0)] * 60)[-1]
    assert len(met) == made.state.pairs == state.pairs < 20
    assert (made.state.verdict, made.state.p_value) == (state.verdict, state.p_value)
    assert str(made).startswith(f"For scenes like these: better than the baseline, after {state.pairs} of 60 scenes")
    assert met == evaluated(made, Task(SCENES), lambda *_: True)  # the same seed, begun anew
    assert met != evaluated(replace_seed(made, 3), Task(SCENES), lambda *_: True)


def replace_seed(made: SceneComparison, seed: int) -> SceneComparison:
    return SceneComparison(made.baseline, seed=seed)


def test_equal_policies_run_every_scene_and_a_scene_is_the_mean_of_its_epochs(tmp_path):
    made = SceneComparison(log(tmp_path / "old.json", lambda _: 0.5))
    met = evaluated(made, Task(SCENES, epochs=2), lambda _, epoch: bool(epoch))
    assert sorted(met) == sorted(one.id for one in SCENES)
    assert made.state.pairs == 60
    assert made.state.observed == 0.0
    assert "cannot tell, after 60 of 60 scenes" in str(made)


def test_a_trial_that_ends_with_an_error_has_failed(tmp_path):
    made = SceneComparison(log(tmp_path / "old.json", lambda _: 1.0))
    evaluated(made, Task(SCENES), lambda *_: None)
    assert made.state.verdict is sf.Verdict.WORSE


def test_what_cannot_be_compared_is_refused_before_a_robot_moves(tmp_path):
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(sf.DataError):
        SceneComparison(tmp_path / "other.json")
    with pytest.raises(sf.DataError):
        SceneComparison(log(tmp_path / "two.json", lambda _: 1.0, names=("a", "b")))
    with pytest.raises(sf.DataError):
        SceneComparison(log(tmp_path / "far.json", lambda _: 7.0))
    with pytest.raises(ValueError) as caught:
        SceneComparison(log(tmp_path / "old.json", lambda _: 1.0), confidence=95)
    assert caught.value.argument == "confidence"
    made = SceneComparison(tmp_path / "old.json")
    for task in (Task((*SCENES, Scene("new"))), Task(SCENES, (Scorer("other"),))):
        with pytest.raises(sf.DataError):
            made.task(task)
    with pytest.raises(ValueError):
        made.task(Task(()))
    assert str(made) == "Not compared with the baseline: no scene was run."


@pytest.mark.parametrize(("wrong", "value"), [("margin", -1.0), ("claim", "better"), ("low", 2.0)])
def test_every_argument_reaches_the_rule(tmp_path, wrong, value):
    path = log(tmp_path / "old.json", lambda _: 0.5)
    with pytest.raises(ValueError) as caught:
        SceneComparison(path, **{wrong: value})
    assert caught.value.argument == wrong


def test_a_real_eval_is_ended_and_its_log_says_so(tmp_path):
    robots = pytest.importorskip("inspect_robots", reason="inspect-robots is not installed")
    from inspect_robots.logging.json_log import JsonLogSink
    from inspect_robots.mock.cubepick import CubePickEmbodiment
    from inspect_robots.mock.policies import NoopPolicy, ScriptedPolicy

    scenes = [robots.Scene(id=f"s{place}", instruction="pick", init_seed=place) for place in range(40)]
    task = robots.Task("pick", scenes, "success_at_end", max_steps=30)
    robots.eval(task, NoopPolicy(), CubePickEmbodiment(), log_dir=str(tmp_path / "old"), store_actions=False)
    made = SceneComparison(next((tmp_path / "old").glob("*.json")))
    new = tmp_path / "new"
    sinks = [JsonLogSink(str(new)), made]
    (found,) = robots.eval(
        made.task(task), ScriptedPolicy(), CubePickEmbodiment(), log_dir=str(new), sinks=sinks, store_actions=False
    )
    assert found.status == "success"
    assert len(found.samples) == made.state.pairs < 40
    assert made.state.verdict is sf.Verdict.BETTER
    table = sf.read(next(new.glob("*.json")))
    assert [one.about for one in table.findings] == ["stopped early"]
    assert table.findings[0].values["not_run"] == 40 - made.state.pairs
