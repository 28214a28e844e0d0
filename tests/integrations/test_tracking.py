"""The numbers of an answer in the real trackers, offline, read back; each is skipped where its package is missing."""

from __future__ import annotations

import math
import types

import polars as pl
import pytest

import surefoot as sf
from surefoot.integrations.tracking import SUMMARY, numbers


@pytest.fixture(scope="module")
def compared():
    won = {"new": 27, "old": 15}
    rows = [(policy, int(at < k)) for policy, k in won.items() for at in range(30)]
    return sf.compare(sf.read(pl.DataFrame(rows, schema=["policy", "success"], orient="row")), "new", "old")


@pytest.fixture(scope="module")
def ranked():
    return sf.rank(sf.read(pl.DataFrame({"policy": ["a", "b"] * 20, "success": [1, 0, 1, 1] * 10})))


def held(flat: dict, compared: sf.Comparison) -> None:
    """Whether a dictionary holds the numbers of the comparison."""
    ends = compared.interval
    assert flat["estimate"] == pytest.approx(ends.estimate, rel=1e-6)
    assert (flat["low"], flat["high"]) == pytest.approx((ends.low, ends.high), rel=1e-6)
    assert flat["n"] == ends.trials


def test_one_flat_dictionary(compared, ranked):
    flat = numbers(compared)
    held(flat, compared)
    assert flat["verdict"] == "better"
    assert all(isinstance(value, (int, float, str)) for value in flat.values())
    several = numbers(ranked)
    assert several["a/estimate"] == 1.0
    assert several["b/low"] == ranked.intervals[1].low
    assert numbers(sf.stats.clopper_pearson_lower(sf.Tally(9, 10)))["bound"] < 0.9
    measured = sf.measure(sf.read(pl.DataFrame({"policy": ["a"] * 4, "success": [1, 1, 1, 0]})))[0]
    assert (numbers(measured)["estimate"], numbers(measured)["n"]) == (0.75, 4)
    with pytest.raises(ValueError, match="`result` must hold an estimate or a"):
        numbers(sf.design(sf.read(pl.DataFrame({"policy": ["a"] * 4, "success": [1, 1, 1, 0]}))))


def test_a_writer_by_its_shape(compared):
    calls = []
    shape = {"add_scalar": lambda _, *given: calls.append(given)}
    returned = sf.log(compared, to=type("Writer", (), shape)(), name="eval", step=7)
    assert {tag: value for tag, value, step in calls if step == 7} == {
        name: float(value) for name, value in returned.items() if not isinstance(value, str)
    }
    assert returned["eval/verdict"] == "better"


def test_what_is_no_tracker_is_refused(compared):
    for to in (3, object(), types.ModuleType("nothing")):
        with pytest.raises(ValueError, match="`to` must be a run of W&B or MLflow, a"):
            sf.log(compared, to=to)


def test_a_summary_of_githubs_checks(compared, ranked, tmp_path, monkeypatch):
    monkeypatch.delenv(SUMMARY, raising=False)
    with pytest.raises(sf.DataError, match=f"must set {SUMMARY}"):
        sf.log(compared, to="github")
    monkeypatch.setenv(SUMMARY, str(tmp_path / "summary.md"))
    sf.log(compared, to="github")
    sf.log(ranked, to=tmp_path / "summary.md")
    said = (tmp_path / "summary.md").read_text()
    assert said.startswith("For rollouts like these, new against old: +40.0 points \\[")
    assert "| `new` | `old` | `success` | 0.9 | 0.5 | 0.4 |" in said
    assert "| `a` | 1 |" in said


def test_wandb_offline_holds_the_numbers(compared, tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    run = wandb.init(dir=tmp_path, project="p")
    sf.log(compared, to=run, step=3)
    back = {name.removeprefix("surefoot/"): value for name, value in dict(run.summary).items()}
    run.finish()
    held(back, compared)
    assert back["verdict"] == "better"
    assert list(tmp_path.rglob("*.png"))  # the figure


def test_mlflow_in_files_holds_the_numbers(compared, ranked, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    with mlflow.start_run() as run:
        sf.log(compared, to=run)
        sf.log(ranked, to=mlflow, name="rank (all)")
    back = mlflow.get_run(run.info.run_id).data
    held({name.removeprefix("surefoot/"): value for name, value in back.metrics.items()}, compared)
    assert back.tags["surefoot/verdict"] == "better"
    assert back.metrics["rank _all_/a/estimate"] == 1.0
    files = mlflow.tracking.MlflowClient().list_artifacts(run.info.run_id)
    assert {"surefoot.svg", "rank (all).svg"} == {file.path for file in files}


def test_tensorboard_holds_the_numbers(compared, tmp_path):
    writers = pytest.importorskip("tensorboardX")
    reading = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    with writers.SummaryWriter(str(tmp_path)) as writer:
        sf.log(compared, to=writer, step=12)
    back = reading.EventAccumulator(str(tmp_path))
    back.Reload()
    found = {name: back.Scalars(f"surefoot/{name}")[0] for name in ("estimate", "low", "high", "n")}
    held({name: one.value for name, one in found.items()}, compared)
    assert {one.step for one in found.values()} == {12}
    assert back.Tags()["images"] == ["surefoot/figure"]


def test_opentelemetry_holds_the_numbers(compared):
    trace = pytest.importorskip("opentelemetry.sdk.trace")
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    kept, provider = InMemorySpanExporter(), trace.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    with provider.get_tracer("test").start_as_current_span("eval") as span:
        sf.log(compared, to=span, step=2)
    (done,) = kept.get_finished_spans()
    held({name.removeprefix("surefoot."): value for name, value in done.attributes.items()}, compared)
    event = done.events[0].attributes
    assert event["gen_ai.evaluation.score.label"] == "better"
    assert math.isclose(event["gen_ai.evaluation.score.value"], compared.interval.estimate)


def test_rows_of_one_answer_do_not_overwrite_each_other(tmp_path):
    """Needs of a gate and slices have names of their own in the keys; several answers are rows too."""
    rows = [
        (who, task, at, int(at % 10 < level))
        for who, level in (("new", 8), ("old", 6))
        for task in "ab"
        for at in range(30)
    ]
    table = sf.read(pl.DataFrame(rows, schema=["policy", "task", "pose", "success"], orient="row"))
    sliced = sf.slices(table, "new", "old")
    flat = numbers(sliced)
    for one in sliced.slices:
        assert flat[f"{one.name}/estimate"] == one.estimate
        assert flat[f"{one.name}/verdict"] == one.verdict.value
        assert flat[f"{one.name}/p_value"] == min(1.0, 2.0 * one.p_value)
    needs = [{"measure": "success", "not_worse_by": 0.3}, {"measure": "success", "rate_at_least": 0.99}]
    gated = numbers(sf.gate(table, needs, first="new", second="old"))
    assert {key.rpartition("/")[0] for key in gated} == {"success not worse by 30 points", "success rate at least 99%"}
    assert {value for key, value in gated.items() if key.endswith("/verdict")} <= {"pass", "open", "fail"}
    by = sf.compare_by(table, "new", "old", by="task")
    found = sf.log(by, to=tmp_path / "summary.md")
    assert found["surefoot/a/new/old/success/estimate"] == by[0].interval.estimate
    assert found["surefoot/b/new/old/success/low"] == by[1].interval.low
