"""The early-stopping manager for Inspect: against the real package, sample by sample and in real evals."""

from __future__ import annotations

import asyncio
import json
import math
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import surefoot as sf
from surefoot.errors import DataError
from surefoot.integrations.inspect import COURSES, BaselineComparison
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
    with pytest.raises(DataError, match="must have one scorer, or `scorer` name"):
        play(BaselineComparison(log), NEW)
    found, _ = play(BaselineComparison(log, scorer="match"), NEW)
    assert found["scorer"] == "match"

    async def run() -> dict[str, Any]:
        manager = BaselineComparison(log, scorer="model_graded.tone")
        await manager.start_task(spec(), samples(NAMES), 1)
        await manager.complete_sample("q0", 1, scored({"tone": 0.75, "truth": 1.0}, "model_graded"))
        return await manager.complete_task()

    assert asyncio.run(run())["gain"] == 0.25
    with pytest.raises(DataError, match=r"old.eval: sample q0: the scorer 'no'"):
        play(BaselineComparison(log, scorer="no"), NEW)


def test_an_eval_in_the_order_of_the_dataset_is_refused_before_its_first_sample():
    manager = BaselineComparison(baseline(OLD))
    with pytest.raises(ValueError, match=r"the samples must be in random order;"):
        asyncio.run(manager.start_task(spec(shuffled=False), samples(NAMES), 1))


def at_once(
    manager: BaselineComparison,
    values: dict[Any, Any],
    number: int,
    *,
    seed: int = 0,
    epochs: int = 1,
    retries: bool = False,
    **config: Any,
) -> tuple[dict[str, Any], int]:
    """What Inspect does with so many samples at once: samples wait for a place, and those that crash go to the back.

    Given back: what the manager says at the end, and how many samples and epochs were run.
    """

    async def run() -> tuple[dict[str, Any], int]:
        task = spec(**config, retry_on_error=2 if retries else None).model_copy(update={"eval_id": f"eval {seed}"})
        await manager.start_task(task, samples(values), epochs)
        places, rng, ran = asyncio.Semaphore(number), random.Random(seed), set()
        lasts = {(name, epoch): rng.choice([1, 1, 2, 3, 8]) for epoch in range(1, epochs + 1) for name in values}

        async def sample(name: Any, epoch: int) -> None:
            crashes = values[name] == "crash"
            for attempt in range(2 if crashes and retries else 1):
                async with places:
                    if await manager.schedule_sample(name, epoch) is not None:
                        return
                    ran.add((name, epoch))
                    for _ in range(lasts[name, epoch]):
                        await asyncio.sleep(0)
                    if not crashes or attempt:
                        await manager.complete_sample(name, epoch, scored("C" if crashes else values[name]))
                if crashes and not attempt:
                    COURSES[task.eval_id].crashed(str(name), epoch)  # what the hook does

        await asyncio.gather(*(sample(*each) for each in lasts))
        return await manager.complete_task(), len(ran)

    return asyncio.run(run())


@settings(max_examples=30)
@given(number=st.integers(2, 60), seed=st.integers(0, 99), about=st.sampled_from(["these items", "items like these"]))
def test_at_most_a_tenth_more_samples_are_run_than_one_at_a_time(number, seed, about):
    rng = random.Random(seed)
    news = {name: "C" if rng.random() < 0.8 else "I" for name in NAMES}
    olds = {name: "C" if rng.random() < 0.3 else "I" for name in NAMES}
    alone, least = at_once(BaselineComparison(baseline(olds), about=about), news, 1)
    found, ran = at_once(BaselineComparison(baseline(olds), about=about), news, number, seed=seed)
    assert alone["pairs"] == alone["samples_run"] == least
    assert found["entered"] == NAMES[: found["pairs"]]  # places are given in order, whatever ends first
    assert (found["verdict"], found["pairs"]) == (alone["verdict"], alone["pairs"])
    assert ran == found["samples_run"] <= math.ceil(1.1 * least)


@pytest.mark.parametrize("number", [1, 10, 50])
@pytest.mark.parametrize("retries", [False, True])
def test_crashes_are_decided_on_when_they_happen(number, retries):
    news = {name: "crash" if place % 10 == 3 else NEW[name] for place, name in enumerate(NAMES)}
    found, ran = at_once(BaselineComparison(baseline(OLD)), news, number, retries=retries)
    assert found["verdict"] == "better"
    assert ran < 60  # the saving is not undone
    assert found["crashes"] == ("exclude" if retries else "failure")
    crashed = [name for name in NAMES if news[name] == "crash"]
    told = found["excluded" if retries else "unscored_as_lowest"]
    assert told == crashed[: len(told)]
    assert told
    assert (set(crashed) & set(found["entered"]) == set()) is retries
    assert ("crashed at first and left out" in found["sentence"]) is retries


def test_of_a_list_what_is_left_out_is_a_tie():
    news = {name: "crash" if place % 10 == 3 else NEW[name] for place, name in enumerate(NAMES)}
    found, _ = at_once(BaselineComparison(baseline(OLD), about="these items"), news, 1, retries=True)
    ties = {name: "I" if value == "crash" else value for name, value in news.items()}  # OLD has I everywhere
    same, _ = at_once(BaselineComparison(baseline(OLD), about="these items"), ties, 1)
    assert found["excluded"]
    assert (found["pairs"], found["gain"], found["p_value"]) == (same["pairs"], same["gain"], same["p_value"])
    assert "count as ties" in found["sentence"]
    margin = {"about": "these items", "claim": "first not worse", "margin": 0.1}
    with pytest.raises(ValueError, match="`crashes` must be 'failure' for these"):
        BaselineComparison("old.eval", crashes="exclude", **margin)
    found, _ = at_once(BaselineComparison(baseline(OLD), **margin), news, 1, retries=True)
    assert found["crashes"] == "failure"


def test_every_sample_counts_once_whatever_the_epochs():
    found, ran = at_once(BaselineComparison(baseline(OLD)), NEW, 10, epochs=3)
    alone, least = at_once(BaselineComparison(baseline(OLD)), NEW, 1)
    assert (found["verdict"], found["pairs"], found["entered"]) == ("better", alone["pairs"], alone["entered"])
    assert ran <= math.ceil(1.1 * least)
    same, ran = at_once(BaselineComparison(baseline(OLD)), dict.fromkeys(NAMES, "I"), 10, epochs=3)
    assert (same["verdict"], same["pairs"], ran) == ("undecided", 60, 180)  # nothing was decided: the eval is whole


def test_one_that_never_says_that_it_has_ended_does_not_hold_the_eval_up(monkeypatch):
    monkeypatch.setattr("surefoot.integrations.inspect.FIRST_WAIT", 0.02)
    monkeypatch.setattr("surefoot.integrations.inspect.LEAST_WAIT", 0.02)
    manager = BaselineComparison(baseline(OLD))

    async def run() -> tuple[dict[str, Any], int]:
        await manager.start_task(spec(), samples(NAMES), 1)
        places, ran = asyncio.Semaphore(10), []

        async def sample(name: str) -> None:
            async with places:
                if await manager.schedule_sample(name, 1) is None:
                    ran.append(name)
                    await asyncio.sleep(0)
                    if name != "q2":
                        await manager.complete_sample(name, 1, scored("C"))

        await asyncio.gather(*map(sample, NAMES))
        return await manager.complete_task(), len(ran)

    found, ran = asyncio.run(run())
    assert (found["verdict"], ran) == ("better", 60)
    assert found["unscored_as_lowest"] == ["q2"]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "crashes"), [(1, 0.0), (10, 0.0), (50, 0.0), (10, 0.05)])
@pytest.mark.parametrize("about", ["these items", "items like these"])
def test_equal_models_are_called_different_in_at_most_five_percent(number, crashes, about):
    wrong, evals = 0, 250
    for seed in range(evals):
        rng = random.Random(seed)
        both = [["C", "I"], ["I", "C"], ["C", "C"], ["I", "I"]]
        drawn = {name: rng.choice(both) for name in NAMES[:40]}
        if about == "these items":  # a list on which both are equal
            drawn = {name: both[place % 4] for place, name in enumerate(rng.sample(NAMES[:40], 40))}
        listed = about == "these items"  # what is left out is a tie: on the list that is left both are equal too
        hit = {name: rng.random() < crashes and (not listed or len({*pair}) == 1) for name, pair in drawn.items()}
        news = {name: "crash" if hit[name] else pair[0] for name, pair in drawn.items()}
        olds = {name: pair[1] for name, pair in drawn.items()}
        manager = BaselineComparison(baseline(olds), about=about)
        found, _ = at_once(manager, news, number, seed=seed, retries=bool(crashes))
        wrong += found["verdict"] != "undecided"
    assert binom.sf(wrong - 1, evals, 0.05) > 1e-4


def test_what_makes_such_an_eval_fine():
    for task, more in (
        ({"shuffled": False}, {"randomised": True}),
        ({"fail_on_error": False, "score_on_error": True}, {}),
    ):
        found, _ = play(BaselineComparison(baseline(OLD), **more), NEW, task=spec(**task))
        assert found["verdict"] == "better"


def test_other_items_are_refused():
    with pytest.raises(DataError, match=r"old.eval: the baseline must hold every"):
        play(BaselineComparison(baseline(OLD)), {**NEW, "x": "C", "y": "C"})
    log = baseline(OLD)
    log.samples[3].target = "b"
    with pytest.raises(DataError, match="a sample must be the same item in the"):
        play(BaselineComparison(log), NEW)
    with pytest.raises(DataError, match="the baseline must hold samples; it has"):
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
    with pytest.raises(ValueError, match="`about` must be one of items like"):
        BaselineComparison("old.eval", about="all")
    with pytest.raises(ValueError, match="`confidence` must be strictly between"):
        BaselineComparison("old.eval", confidence=95)
    with pytest.raises(ValueError, match="`margin` must be above 0 for the claim"):
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
    assert alone["pairs"] == alone["samples_run"]
    assert together["samples_run"] <= math.ceil(1.1 * together["pairs"]) + 1
    assert alone["order_sha256"] == together["order_sha256"]


@pytest.mark.end_to_end
def test_the_verdict_can_be_checked_from_the_log_alone(evals):
    log = read_eval_log(evals["at once 12"][0])
    found = log.results.early_stopping.metadata
    old = {sample.id: sample.scores["match"].value for sample in read_eval_log(found["baseline"]).samples}
    new = {sample.id: sample.scores["match"].value for sample in log.samples}
    pairs = [(float(new[name] == "C"), float(old[name] == "C")) for name in found["entered"]]
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
@pytest.mark.parametrize(
    ("name", "crashes"), [("crashing", "failure"), ("retrying", "exclude"), ("skipping", "failure")]
)
def test_a_real_eval_whose_samples_crash_stops_early_too(evals, name, crashes):
    location, status, _ = evals[name]
    assert status == "success"
    log = read_eval_log(location)
    found = log.results.early_stopping.metadata
    assert (found["verdict"], found["crashes"]) == ("better", crashes)
    assert found["samples_run"] < 40
    told = found["excluded" if crashes == "exclude" else "unscored_as_lowest"]
    if name != "crashing":  # there the errors were scored
        assert told
        assert all(sample.endswith("3") for sample in told)


@pytest.mark.end_to_end
def test_a_real_eval_of_several_epochs_stops_early(evals):
    location, status, _ = evals["epochs"]
    found = read_eval_log(location).results.early_stopping.metadata
    assert (status, found["verdict"], found["epochs"]) == ("success", "better", 3)
    assert found["samples_run"] < 80
