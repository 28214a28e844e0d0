"""The early-stopping manager for Inspect: against the real package, sample by sample and in real evals."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.errors import DataError
from surefoot.integrations.inspect import BaselineComparison
from surefoot.sequential import FiniteHorizonMixture

pytest.importorskip("inspect_ai")

from inspect_ai.dataset import Sample
from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, read_eval_log
from inspect_ai.scorer import SampleScore, Score


def spec(**config: Any) -> EvalSpec:
    shuffled = config.pop("shuffled", True)
    return EvalSpec(
        created="2026-11-15T00:00:00Z",
        task="quiz",
        dataset=EvalDataset(shuffled=shuffled),
        model="mockllm/new",
        config=EvalConfig(**config),
    )


def baseline(scores: dict[Any, Any], *, scorer: str = "match", epochs: int = 1) -> EvalLog:
    """A log of a baseline; a score of None is a sample that was not scored."""
    samples = [
        EvalSample(
            id=name,
            epoch=epoch,
            input=f"question {name}",
            target="a",
            scores=None if value is None else {scorer: Score(value=value)},
        )
        for name, value in scores.items()
        for epoch in range(1, epochs + 1)
    ]
    return EvalLog(eval=spec().model_copy(update={"model": "mockllm/old"}), samples=samples, location="old.eval")


def samples(names: Any) -> list[Sample]:
    return [Sample(id=name, input=f"question {name}", target="a") for name in names]


def scored(value: Any, scorer: str = "match") -> dict[str, SampleScore]:
    return {scorer: SampleScore(score=Score(value=value))}


def play(
    manager: BaselineComparison,
    values: dict[Any, Any],
    *,
    at_once: int = 1,
    seed: int = 0,
    task: EvalSpec | None = None,
) -> tuple[dict[str, Any], list[Any]]:
    """What Inspect does: start samples in order, some at once, and report each as it finishes."""

    async def run() -> tuple[dict[str, Any], list[Any]]:
        assert await manager.start_task(task or spec(), samples(values), 1) == "surefoot"
        waiting, running, stops = list(values), [], []
        rng = random.Random(seed)
        while waiting or running:
            while waiting and len(running) < at_once:
                name = waiting.pop(0)
                stop = await manager.schedule_sample(name, 1)
                if stop is None:
                    running.append(name)
                else:
                    stops.append(stop)
            if running:
                name = running.pop(rng.randrange(len(running)))
                value = values[name]
                if value != "crash":
                    await manager.complete_sample(name, 1, {} if value is None else scored(value))
        return await manager.complete_task(), stops

    return asyncio.run(run())


NAMES = [f"q{number}" for number in range(60)]
OLD = dict.fromkeys(NAMES, "I")
NEW = {name: "C" if number % 3 else "I" for number, name in enumerate(NAMES)}


def test_it_stops_once_the_rule_has_decided():
    found, stops = play(BaselineComparison(baseline(OLD)), NEW)
    rule = FiniteHorizonMixture(60, claim="either")
    pairs = [(float(NEW[name] == "C"), 0.0) for name in NAMES]
    state = sf.sequential.run(rule, pairs)[-1]
    assert found["verdict"] == state.verdict.value == "better"
    assert found["pairs"] == found["samples_run"] == state.pairs < 60
    assert (found["low"], found["high"], found["gain"]) == (state.interval.low, state.interval.high, state.observed)
    assert found["p_value"] == state.p_value
    assert len(stops) == 60 - state.pairs
    assert (stops[0].id, stops[0].epoch) == (NAMES[state.pairs], 1)
    assert stops[0].reason == f"surefoot: Better than the baseline after {state.pairs} pairs"
    assert sf.sequential.FiniteHorizonMixture.from_dict(found["rule"]) == rule
    assert json.loads(json.dumps(found)) == found


@settings(max_examples=20)
@given(
    news=st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=30, max_size=30),
    at_once=st.integers(2, 30),
    seed=st.integers(0, 9),
    about=st.sampled_from(["these items", "items like these"]),
)
def test_many_at_once_give_the_verdict_of_one_at_a_time(news, at_once, seed, about):
    olds = dict(zip(NAMES[:30], [0.0, 1.0, 0.0] * 10, strict=True))
    values = dict(zip(NAMES[:30], news, strict=True))
    alone, _ = play(BaselineComparison(baseline(olds), about=about), values)
    together, _ = play(BaselineComparison(baseline(olds), about=about), values, at_once=at_once, seed=seed)
    for name in ("verdict", "ending", "pairs", "gain", "low", "high", "p_value", "order_sha256"):
        assert together[name] == alone[name]
    assert together["samples_run"] >= alone["samples_run"]


def test_these_items_are_a_list_run_without_replacement():
    olds = {name: float(number % 2) for number, name in enumerate(NAMES)}
    news = {name: 1.0 if number % 4 == 0 else old for number, (name, old) in enumerate(olds.items())}
    found, _ = play(BaselineComparison(baseline(olds), about="these items"), news)
    like, _ = play(BaselineComparison(baseline(olds)), news)
    assert found["rule"]["population"] == found["rule"]["horizon"] == 60
    assert like["rule"]["population"] is None
    assert found["verdict"] == "better"
    assert found["pairs"] < like["pairs"]
    assert found["sentence"].startswith("On these 60 items better than the baseline after ")
    assert found["sentence"].endswith("It says nothing about other items.")


def test_the_baseline_may_have_epochs_and_other_grades():
    olds = {"q0": "P", "q1": "N", "q2": True, "q3": 0.25, "q4": "0.75"}
    found, _ = play(BaselineComparison(baseline(olds, epochs=3)), dict.fromkeys(olds, 1))
    assert found["gain"] == pytest.approx(1.0 - (0.5 + 0.0 + 1.0 + 0.25 + 0.75) / 5)
    assert found["baseline_model"] == "mockllm/old"


def test_a_crash_is_the_lowest_score_on_either_side():
    olds = {**OLD, "q1": None}
    news = {**NEW, "q0": None, "q4": "crash"}
    found, stops = play(BaselineComparison(baseline(olds)), news)
    assert found["unscored_as_lowest"] == ["q0", "q4"]
    assert found["baseline_unscored_as_lowest"] == 1
    assert stops == []  # nobody tells the manager of a crash, so that it waits until the end
    assert found["verdict"] == "better"
    assert found["pairs"] < 60


def test_a_score_that_cannot_be_compared_leaves_the_eval_alone():
    for value, said in (
        (3.0, r"sample q2: `first` must be in the range [0, 1]; got 3.0"),
        ("great", "sample q2: the score must be C, I, P, N or a number; got 'great'"),
        ({"a": 1}, "sample q2: the score must be C, I, P, N or a number"),
        (float("nan"), "sample q2: the score must be C, I, P, N or a number"),
    ):
        found, stops = play(BaselineComparison(baseline(OLD)), {**NEW, "q2": value})
        assert (found["verdict"], found["ending"], stops) == (None, "refused", [])
        assert found["refused"].startswith(said)
        assert found["sentence"] == f"Not compared with the baseline: {found['refused']}"


def test_a_result_stays_what_it_was():
    manager = BaselineComparison(baseline(OLD))

    async def run() -> dict[str, Any]:
        await manager.start_task(spec(), samples(NAMES), 1)
        await manager.complete_sample("q0", 1, scored("C"))
        await manager.complete_sample("q0", 1, scored("I"))
        return await manager.complete_task()

    found = asyncio.run(run())
    assert (found["pairs"], found["gain"]) == (1, 1.0)


def test_one_of_several_scorers_and_one_of_several_values():
    log = baseline(OLD)
    for sample in log.samples:
        sample.scores["model_graded"] = Score(value={"tone": 0.5, "truth": 0.0})
    with pytest.raises(DataError, match="must have one scorer, or `scorer` name one; it has match, model_graded"):
        play(BaselineComparison(log), NEW)
    found, _ = play(BaselineComparison(log, scorer="match"), NEW)
    assert found["scorer"] == "match"

    async def run() -> dict[str, Any]:
        manager = BaselineComparison(log, scorer="model_graded.tone")
        await manager.start_task(spec(), samples(NAMES), 1)
        await manager.complete_sample("q0", 1, scored({"tone": 0.75, "truth": 1.0}, "model_graded"))
        return await manager.complete_task()

    assert asyncio.run(run())["gain"] == 0.25
    with pytest.raises(
        DataError, match=r"old.eval: sample q0: the scorer 'no' must have scored it; got match, model_g"
    ):
        play(BaselineComparison(log, scorer="no"), NEW)


@pytest.mark.parametrize(
    ("task", "epochs", "said"),
    [
        ({}, 3, "`epochs` must be 1 to stop early; got 3"),
        ({"shuffled": False}, 1, "the samples must be in random order; .* Run it with --sample-shuffle 7"),
        ({"fail_on_error": False}, 1, "an error must end the eval or be scored; .* Add --score-on-error"),
        ({"fail_on_error": 0.1}, 1, "an error must end the eval or be scored"),
        ({"continue_on_fail": True}, 1, "an error must end the eval or be scored"),
    ],
)
def test_an_eval_that_cannot_be_compared_is_refused_before_its_first_sample(task, epochs, said):
    manager = BaselineComparison(baseline(OLD))
    with pytest.raises(ValueError, match=said):
        asyncio.run(manager.start_task(spec(**task), samples(NAMES), epochs))


def test_what_makes_such_an_eval_fine():
    for task, more in (
        ({"shuffled": False}, {"randomised": True}),
        ({"fail_on_error": False, "score_on_error": True}, {}),
    ):
        found, _ = play(BaselineComparison(baseline(OLD), **more), NEW, task=spec(**task))
        assert found["verdict"] == "better"


def test_other_items_are_refused():
    with pytest.raises(DataError, match=r"old.eval: the baseline must hold every sample of the eval; it lacks 2: x, y"):
        play(BaselineComparison(baseline(OLD)), {**NEW, "x": "C", "y": "C"})
    log = baseline(OLD)
    log.samples[3].target = "b"
    with pytest.raises(
        DataError, match="a sample must be the same item in the baseline; q3 has another input or target"
    ):
        play(BaselineComparison(log), NEW)
    with pytest.raises(DataError, match="the baseline must hold samples; it has none"):
        play(BaselineComparison(baseline({})), NEW)


def test_one_manager_serves_one_eval_at_a_time():
    manager = BaselineComparison(baseline(OLD))
    asyncio.run(manager.start_task(spec(), samples(NAMES), 1))
    with pytest.raises(ValueError, match="must serve one eval at a time"):
        asyncio.run(manager.start_task(spec(), samples(NAMES), 1))
    asyncio.run(manager.complete_task())
    found, _ = play(manager, NEW)
    assert found["verdict"] == "better"
    with pytest.raises(RuntimeError, match="start_task must be called first"):
        asyncio.run(BaselineComparison(baseline(OLD)).complete_task())


def test_wrong_arguments_are_refused_when_it_is_made():
    with pytest.raises(ValueError, match="`about` must be one of items like these, these items; got 'all'"):
        BaselineComparison("old.eval", about="all")
    with pytest.raises(ValueError, match="`confidence` must be strictly between 0 and 1; got 95"):
        BaselineComparison("old.eval", confidence=95)
    with pytest.raises(ValueError, match="`margin` must be above 0 for the claim 'first not worse'"):
        BaselineComparison("old.eval", claim="first not worse")


def test_every_argument_of_the_rule_reaches_it():
    made = BaselineComparison("old.eval", confidence=0.9, claim="first not worse", margin=0.5, low=-1.0, high=3.0).rule(
        40
    )
    assert made == FiniteHorizonMixture(40, confidence=0.9, claim="first not worse", margin=0.5, low=-1.0, high=3.0)
    found, _ = play(BaselineComparison(baseline(OLD), claim="first not worse", margin=0.1), NEW)
    assert "ot worse than the baseline by the margin" in found["sentence"]


@pytest.fixture(scope="module")
def evals(tmp_path_factory) -> dict[str, tuple[str, str, str | None]]:
    """Real evals: where each log is, its status, and its error."""
    program = Path(__file__).with_name("quiz.py")
    folder = str(tmp_path_factory.mktemp("logs"))
    done = subprocess.run([sys.executable, str(program), folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, tuple[str, str, str | None]] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.end_to_end
def test_a_real_eval_stops_early_and_its_log_tells_why(evals):
    found = []
    for name in ("at once 1", "at once 12"):
        location, status, _ = evals[name]
        assert status == "success"
        back = read_eval_log(location)
        summary = back.results.early_stopping
        assert summary.manager == "surefoot"
        assert len(summary.early_stops) == 80 - summary.metadata["samples_run"] > 20
        assert len(back.samples) == summary.metadata["samples_run"]
        assert sf.read(location).tally().trials == summary.metadata["samples_run"]
        found.append(summary.metadata)
    alone, together = found
    assert alone["verdict"] == together["verdict"] == "better"
    assert alone["pairs"] == together["pairs"] == alone["samples_run"] < together["samples_run"]
    assert alone["gain"] == together["gain"]
    assert alone["order_sha256"] == together["order_sha256"]


def test_the_verdict_can_be_checked_from_the_log_alone(evals):
    log = read_eval_log(evals["at once 12"][0])
    found = log.results.early_stopping.metadata
    old = {sample.id: sample.scores["match"].value for sample in read_eval_log(found["baseline"]).samples}
    new = {sample.id: sample.scores["match"].value for sample in log.samples}
    order = [f"q{number}" for number in range(80)]
    random.Random(found["sample_shuffle"]).shuffle(order)
    pairs = [(float(new[name] == "C"), float(old[name] == "C")) for name in order[: found["pairs"]]]
    state = sf.sequential.run(FiniteHorizonMixture.from_dict(found["rule"]), pairs)[-1]
    assert state.pairs == found["pairs"]
    assert (state.verdict.value, state.p_value) == (found["verdict"], found["p_value"])


@pytest.mark.end_to_end
def test_a_real_eval_in_the_order_of_the_dataset_is_refused(evals):
    location, status, said = evals["in order"]
    assert status == "error"
    assert "the samples must be in random order" in said
    assert not read_eval_log(location).samples


@pytest.mark.end_to_end
def test_a_real_eval_whose_samples_crash_counts_them(evals):
    location, status, _ = evals["crashing"]
    log = read_eval_log(location)
    assert status == "success"
    crashed = [sample.id for sample in log.samples if sample.error is not None]
    found = log.results.early_stopping.metadata
    assert crashed
    assert found["samples_run"] == len(log.samples)
    assert found["verdict"] == "better"
