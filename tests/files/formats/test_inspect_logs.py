"""Tests of `surefoot.files.formats.inspect_logs`.

Inspect logs: those in `inspect_0_3_285` were written by inspect_ai 0.3.285 with a mock model.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import surefoot as sf
from surefoot.analysis.changes import change
from surefoot.files.archives import Archive
from tests.support import samples
from tests.support.formats import tallies, written
from tests.support.samples import FIXTURES, deflated, put


def sample(place: int, **scores: Any) -> dict[str, Any]:
    return {"id": place, "epoch": 1, "scores": {name: {"value": value} for name, value in scores.items()}}


def test_inspect_scorers_that_give_words_do_not_stop_the_one_that_decides(tmp_path: Path) -> None:
    header = {"status": "success", "eval": {"task": "t", "model": "m"}}
    samples = [sample(1, subject="maths", match="C"), sample(2, subject="art", match="I"), sample(3, subject=None)]
    members = {"header.json": json.dumps(header).encode(), "summaries.json": json.dumps(samples).encode()}
    rollouts = sf.read(put(tmp_path, "a.eval", deflated(members)))
    assert tallies(rollouts) == {("m",): (1, 2)}
    assert any("scorer 'match'" in note for note in rollouts.notes)
    chosen = {"results": {"scores": [{"name": "subject", "scorer": "subject"}]}, "samples": samples[1:]}
    path = written(tmp_path, {**header, **chosen})
    with pytest.raises(sf.DataError, match="must be C, I, P, N or a number; got 'art'"):
        sf.read(path)


def test_inspect_runs_that_did_not_end_well_say_so(tmp_path: Path) -> None:
    log = {"status": "error", "eval": {"task": "t", "model": "m"}}
    rollouts = sf.read(written(tmp_path, {**log, "samples": [sample(1, match="C")]}))
    assert "The run's status is 'error': samples may be missing." in rollouts.notes
    with pytest.raises(sf.DataError, match=r"one sample must be scored; none is\. The run's status is 'error'"):
        sf.read(written(tmp_path, {**log, "samples": [sample(1)]}))


def test_inspect_lists_of_scores_and_a_judge(tmp_path: Path) -> None:
    samples = [sample(1, model_graded_qa="C", parts=[1, 0]), sample(2, model_graded_qa="I", parts=[0, 1])]
    path = written(tmp_path, {"eval": {"task": "t", "model": "m"}, "samples": samples})
    assert sf.read(path).column("judge") == ("model_graded_qa", "model_graded_qa")
    assert sf.read(path, columns={"score": "score:parts.1"}).column("score") == (0.0, 1.0)


def test_inspect_headline_inside_a_dictionary_of_scores(tmp_path: Path) -> None:
    results = {"scores": [{"name": "b", "scorer": "both"}, {"name": "a", "scorer": "both"}]}
    log = {"eval": {"task": "t", "model": "m"}, "results": results}
    samples = [sample(1, both={"a": "C", "b": 0.5}), sample(2, both={"a": "I", "b": 1})]
    rollouts = sf.read(written(tmp_path, {**log, "samples": samples}))
    assert rollouts.scores().values == (0.5, 1.0)


@pytest.mark.parametrize("name", ["inspect/log.json", "deflate.eval", "zstd.eval", "frames.eval"])
def test_inspect(made: Path, name: str) -> None:
    rollouts = sf.read(made / name)
    assert rollouts.policies == ("acme/small",)
    assert rollouts.names("task") == ("arithmetic",)
    assert rollouts.design.keys("unit") == ("condition",)
    assert tallies(rollouts) == {("acme/small",): (3, 5)}
    assert tallies(rollouts, "condition") == {("1",): (1, 2), ("3",): (0, 1), ("two",): (2, 2)}
    assert "timeout" in rollouts.column("failure")
    other = sf.read(made / name, columns={"score": "score:style", "cluster": "metadata:user"})
    assert other.scores().values == (0.75, 0.5)
    assert other.names("cluster") == ("ann", "bob", "cle")


def test_an_unfinished_inspect_log_has_only_its_journal(tmp_path: Path) -> None:
    members = {name: body for name, body in samples.inspect_members().items() if name.startswith("_journal")}
    rollouts = sf.read(put(tmp_path, "log.eval", samples.deflated(members)))
    assert tallies(rollouts) == {("acme/small",): (3, 4)}
    assert any("did not finish" in note for note in rollouts.notes)


def test_inspect_samples_without_summaries(tmp_path: Path) -> None:
    members = {name: body for name, body in samples.inspect_members().items() if name != "summaries.json"}
    assert tallies(sf.read(put(tmp_path, "log.eval", samples.deflated(members)))) == {("acme/small",): (3, 5)}


def test_inspect_duplicate_ids_are_refused(tmp_path: Path) -> None:
    text = (FIXTURES / "inspect" / "log.json").read_text().replace('"id": 1, "epoch": 2', '"id": 1, "epoch": 1')
    with pytest.raises(sf.DataError, match=r"log.json, row 2: sample id and epoch must not repeat; got 1, 1 twice"):
        sf.read(put(tmp_path, "log.json", text))


def test_inspect_partial_and_odd_grades(tmp_path: Path) -> None:
    text = (FIXTURES / "inspect" / "log.json").read_text().replace('{"value": "I", "answer": "3"}', '{"value": "P"}')
    rollouts = sf.read(put(tmp_path, "log.json", text))
    assert rollouts.scores().values == (1.0, 0.5, 1.0, 1.0, 0.0)
    with pytest.raises(sf.DataError, match=r"must be C, I, P, N or a number; got 'Q'"):
        sf.read(put(tmp_path, "log.json", text.replace('"value": "P"', '"value": "Q"')))


def test_what_reads_a_current_inspect_log_comes_with_the_plain_install() -> None:
    import tomllib

    project = tomllib.loads((FIXTURES.parents[1] / "pyproject.toml").read_text())["project"]
    assert any(one.startswith("zstandard") for one in project["dependencies"])


FOLDER = FIXTURES / "inspect_0_3_285"


def members(name: str) -> dict[str, bytes]:
    with Archive(FOLDER / name, name) as archive:
        return {one: archive.read(one) for one in archive.names}


def headed(folder: Path, name: str, **results: Any) -> sf.Rollouts:
    """A log whose results say something else."""
    parts = members(name)
    header = json.loads(parts["header.json"])
    header["results"] |= results
    return sf.read(put(folder, "log.eval", deflated({**parts, "header.json": json.dumps(header).encode()})))


def own_accuracy(name: str) -> float:
    results = json.loads(members(name)["header.json"])["results"]
    return float(results["scores"][0]["metrics"]["accuracy"]["value"])


def test_the_declared_cluster_is_obeyed() -> None:
    rollouts = sf.read(FOLDER / "clustered.eval")
    assert rollouts.column("cluster") == ("d0", "d0", "d1", "d1")
    tally = rollouts.tally()
    assert tally.successes / tally.trials == own_accuracy("clustered.eval")
    assert rollouts.findings == ()
    assert any("cluster is the metadata field 'doc'" in str(note) for note in rollouts.notes)


def test_the_declared_reducer_is_obeyed() -> None:
    rollouts = sf.read(FOLDER / "reduced.eval")
    assert len(rollouts) == 4
    assert rollouts.names("repeat") == ("1",)
    tally = rollouts.tally()
    assert tally.successes / tally.trials == own_accuracy("reduced.eval")
    assert rollouts.findings == ()
    assert any("by 'max', as the log declares" in str(note) for note in rollouts.notes)


def test_without_reductions_epochs_stay_repeats(tmp_path: Path) -> None:
    parts = {name: body for name, body in members("reduced.eval").items() if name != "reductions.json"}
    own = {**parts, "header.json": parts["header.json"].replace(b'"max"', b'"mine"')}
    rollouts = sf.read(put(tmp_path, "log.eval", deflated(own)))
    assert rollouts.names("repeat") == ("1", "2")
    assert rollouts.column("cluster")[0] == "d0"
    assert any("declares the reducer 'mine' but holds no reduced values" in str(note) for note in rollouts.notes)
    header = json.loads(parts["header.json"])
    del header["results"]  # a run that did not finish
    unfinished = sf.read(put(tmp_path, "cut.eval", deflated({**parts, "header.json": json.dumps(header).encode()})))
    assert any("declares the reducer 'max'" in str(note) for note in unfinished.notes)


def test_tokens_are_measured_and_no_cluster(tmp_path: Path) -> None:
    """Samples of one model that used as many tokens as each other have nothing in common."""
    used = [{**sample(place, match="CI"[place % 2]), "model_usage": {"m": {"total_tokens": 80 + place % 60}}}
            for place in range(300)]  # fmt: skip
    rollouts = sf.read(written(tmp_path, {"eval": {"task": "t", "model": "m"}, "samples": used}))
    assert rollouts.design.keys("cluster") == ()
    assert rollouts.column("tokens")[:2] == ("80", "81")


REDUCED = [("max", 1.0), ("median", 0.5), ("mode", 0.0), ("at_least_2", 1.0), ("at_least_3", 0.0), ("pass_at_2", 5 / 6)]


@pytest.mark.parametrize(("reducer", "value"), REDUCED)
def test_logs_without_reductions_are_reduced_by_inspects_own_reducers(tmp_path: Path, reducer: str, value: float):
    """As inspect_ai 0.3.30 writes them: a reducer is declared, its values are not in the log."""
    samples = [{**sample(1, match=grade), "epoch": epoch} for epoch, grade in enumerate("IICC", 1)]
    results = {"scores": [{"name": "match", "scorer": "match", "reducer": reducer, "metrics": {"accuracy": {
        "name": "accuracy", "value": value}}}]}  # fmt: skip
    log = {"status": "success", "eval": {"task": "t", "model": "m"}, "results": results, "samples": samples}
    rollouts = sf.read(written(tmp_path, log))
    assert len(rollouts) == 1
    assert rollouts.findings == ()
    assert any(f"by {reducer!r}, as the log declares" in str(note) for note in rollouts.notes)


def test_reductions_by_another_reducer_are_not_used(tmp_path: Path) -> None:
    parts = members("reduced.eval")
    others = [{**one, "reducer": "mode"} for one in json.loads(parts["reductions.json"])]
    path = put(tmp_path, "log.eval", deflated({**parts, "reductions.json": json.dumps(others).encode()}))
    assert sf.read(path).names("repeat") == ("1", "2")


def test_another_reducer_is_chosen(tmp_path: Path) -> None:
    parts = members("reduced.eval")
    header, reductions = json.loads(parts["header.json"]), json.loads(parts["reductions.json"])
    score = header["results"]["scores"][0]
    header["results"]["scores"].append({**score, "reducer": "mode", "metrics": {}})
    reductions.append({**reductions[0], "reducer": "mode", "samples": [{"sample_id": "q0", "value": "I"}]})
    changed = {"header.json": json.dumps(header).encode(), "reductions.json": json.dumps(reductions).encode()}
    path = put(tmp_path, "log.eval", deflated({**parts, **changed}))
    assert len(sf.read(path)) == 4
    rollouts = sf.read(path, where={"reducer": "mode"})
    assert (rollouts.tally().successes, rollouts.tally().trials) == (0, 1)
    with pytest.raises(sf.DataError, match="'reducer' is 'max', not 'median'"):
        sf.read(path, where={"reducer": "median"})


def test_a_cluster_that_samples_lack_is_not_used(tmp_path: Path) -> None:
    parts = members("clustered.eval")
    samples = json.loads(parts["summaries.json"])
    del samples[1]["metadata"]["doc"]
    rollouts = sf.read(put(tmp_path, "a.eval", deflated({**parts, "summaries.json": json.dumps(samples).encode()})))
    assert "cluster" not in rollouts.columns
    assert any("but some samples lack it, so it is not used" in str(note) for note in rollouts.notes)


def test_a_run_without_results_still_says_its_cluster(tmp_path: Path) -> None:
    parts = members("clustered.eval")
    header = json.loads(parts["header.json"])
    del header["results"]
    rollouts = sf.read(put(tmp_path, "a.eval", deflated({**parts, "header.json": json.dumps(header).encode()})))
    assert rollouts.column("cluster") == ("d0", "d0", "d1", "d1")


def test_a_total_that_disagrees_is_found(tmp_path: Path) -> None:
    scores = json.loads(members("clustered.eval")["header.json"])["results"]["scores"]
    scores[0]["metrics"]["accuracy"]["value"] = 0.9
    found = headed(tmp_path, "clustered.eval", scores=scores).findings
    assert [finding.about for finding in found] == ["own totals disagree"]


def log(model: str, run: str, *marks: str, **header: Any) -> dict[str, Any]:
    """A log of the items 0, 1, 2, ... with these marks."""
    samples = [sample(place, match=mark) for place, mark in enumerate(marks)]
    evaluation = {"task": "t", "model": model, "run_id": run, "eval_id": run}
    return {"status": "success", "eval": evaluation, "samples": samples, **header}


def test_a_folder_reads_whole_runs_once_and_says_what_it_left_out(tmp_path: Path) -> None:
    kinds = {
        "a1": log("a", "1", "C", "I", "C"),
        "a2": log("a", "2", "C", "C", "C"),
        "a2_copy": log("a", "2", "C", "C", "C"),
        "b1": log("b", "3", "I", "I", "C"),
        "b2": log("b", "4", "I", status="error"),
        "b3": log("b", "5", "I", "C", status="cancelled"),
        "b4": log("b", "6"),
        "b5": log("b", "7", "C", results={"early_stopping": {"manager": "lazy", "early_stops": [{"id": "9"}]}}),
    }
    for name, each in kinds.items():
        put(tmp_path, f"logs/{name}.json", json.dumps(each))
    put(tmp_path, "logs/b6.json", json.dumps(log("b", "8", "C"))[:40])
    rollouts = sf.read(tmp_path / "logs")
    assert tallies(rollouts) == {("a",): (5, 6), ("b",): (1, 3)}
    (note,) = [str(note) for note in rollouts.notes if "left out" in str(note)]
    assert note.startswith("6 of 9 files are left out: logs/a2_copy.json (the run in logs/a2.json once more); ")
    for said in ("b2.json (the run's status is 'error')", "b3.json (the run's status is 'cancelled')", "b4.json (",
                 "b5.json (1 samples were not run: 'lazy' stopped early)", "b6.json ("):  # fmt: skip
        assert f"logs/{said}" in note
    with pytest.raises(sf.DataError) as refused:
        sf.read(tmp_path / "logs", strict=True)
    assert refused.value.source == "logs/a2_copy.json"
    for name in ("a1", "a2", "b1"):
        (tmp_path / "logs" / f"{name}.json").unlink()
    (tmp_path / "logs" / "a2_copy.json").unlink()
    with pytest.raises(sf.DataError, match="at least one log must be of a whole run"):
        sf.read(tmp_path / "logs")


def test_a_run_stopped_early_is_compared_by_its_own_rule_only(tmp_path: Path) -> None:
    own = "better than the baseline after 3 pairs"
    early = {"manager": "surefoot", "early_stops": [{"id": "q9", "epoch": 1}], "metadata": {"sentence": own}}
    put(tmp_path, "new.json", json.dumps(log("a", "1", "C", "C", "C", results={"early_stopping": early})))
    put(tmp_path, "old.json", json.dumps(log("b", "2", "I", "I", "I")))
    rollouts = sf.read([tmp_path / "new.json", tmp_path / "old.json"])
    assert any("1 samples were not run: 'surefoot' stopped early." in str(note) for note in rollouts.notes)
    assert [finding.about for finding in rollouts.findings] == ["stopped early"]
    for asked in (lambda: sf.compare(rollouts, "a", "b"), lambda: sf.rank(rollouts)):
        with pytest.raises(sf.DataError, match=own):
            asked()
    whole = {"manager": "surefoot", "early_stops": [], "metadata": {}}
    put(tmp_path, "new.json", json.dumps(log("a", "1", "C", "C", "C", results={"early_stopping": whole})))
    sf.compare(sf.read([tmp_path / "new.json", tmp_path / "old.json"]), "a", "b")


def test_metadata_is_reached_by_name_and_by_path() -> None:
    for name in ("metadata:doc", "doc", "metadata.doc"):
        assert sf.read(FOLDER / "clustered.eval", columns={"task": name}).tasks == ("d0", "d1")


@pytest.mark.parametrize("finished", [True, False])
def test_a_scorer_with_metrics_comes_before_one_without(tmp_path: Path, finished: bool) -> None:
    """A by-product such as a format check, always 1, is not the outcome only because it stands first."""
    samples = [
        {"id": at, "epoch": 1, "scores": {"format_ok": {"value": 1.0}, "match": {"value": "I"}}} for at in range(4)
    ]
    accuracy = {"accuracy": {"name": "accuracy", "value": 0.0}}
    scores = [
        {"name": "format_ok", "scorer": "format_ok", "metrics": {}},
        {"name": "match", "scorer": "match", "metrics": accuracy},
    ]
    planned = [{"name": "format_ok", "metrics": []}, {"name": "inspect_ai/match", "metrics": [{"name": "accuracy"}]}]
    log = {
        "version": 2,
        "status": "success" if finished else "cancelled",
        "eval": {"task": "t", "model": "m", "scorers": planned},
        "samples": samples,
        **({"results": {"scores": scores}} if finished else {}),
    }
    rollouts = sf.read(put(tmp_path, "log.json", json.dumps(log).encode()))
    assert rollouts.tally() == sf.Tally(0, 4)
    assert rollouts.findings == ()
    assert "'match' gave" in str(rollouts.notes[0])


def test_inspect_tokens_are_those_of_all_models_that_a_sample_used(tmp_path: Path) -> None:
    used = {"new": {"total_tokens": 70}, "judge": {"total_tokens": 5}}
    body = {
        "status": "success",
        "eval": {"model": "new", "task": "quiz"},
        "samples": [{**sample(place, match={"value": "C"}), "model_usage": used} for place in range(3)],
    }
    path = tmp_path / "log.json"
    path.write_text(json.dumps(body))
    assert sf.read(path).polars()["tokens"].cast(int).to_list() == [75, 75, 75]


@pytest.mark.parametrize("version", [2, 3])
def test_inspect_logs_of_a_version_not_yet_known_say_so(tmp_path: Path, version: int) -> None:
    body = {"version": version, "status": "success", "eval": {"model": "new", "task": "quiz"}}
    samples = [sample(place, match={"value": "C"}) for place in range(3)]
    notes = " ".join(map(str, sf.read(put(tmp_path, "log.json", json.dumps({**body, "samples": samples}))).notes))
    assert ("version 3, newer than those known, up to 2" in notes) is (version == 3)


def evaluation(tmp_path: Path, model: str, tasks: dict[str, tuple[int, int]], folder: str = "logs") -> Path:
    """Logs of a model, one for each task with so many right of so many samples, numbered from 1 in every task."""
    where = tmp_path / folder
    where.mkdir(exist_ok=True)
    for task, (right, size) in tasks.items():
        samples = [sample(place, match="C" if place <= right else "I") for place in range(1, size + 1)]
        log = {"status": "success", "eval": {"task": task, "model": model}, "samples": samples}
        (where / f"{task}_{model}.json").write_text(json.dumps(log), encoding="utf-8")
    return where


def test_samples_that_every_task_numbers_anew_are_items_of_their_own(tmp_path: Path) -> None:
    evaluation(tmp_path, "new", {"small": (30, 30), "large": (100, 270)})
    rollouts = sf.read(evaluation(tmp_path, "old", {"small": (0, 30), "large": (100, 270)}))
    assert (rollouts.design.unit, rollouts.design.units) == ("sample", 300)
    found = sf.compare(rollouts, "new", "old")
    assert found.gain.estimate == pytest.approx(30 / 300)
    assert str(found.about) == "samples like these 300"
    everything = sf.compare(rollouts, "new", "old", weights="settings")
    assert everything.gain.estimate == pytest.approx((1.0 + 0.0) / 2)
    assert sf.read(evaluation(tmp_path, "lone", {"small": (30, 30)}, "one")).names("condition")[:2] == ("1", "10")


def test_a_run_of_one_task_meets_the_samples_of_a_previous_run_of_several(tmp_path: Path) -> None:
    before = sf.read(evaluation(tmp_path, "m", {"small": (10, 30), "large": (100, 270)}, "before"))
    now = sf.read(evaluation(tmp_path, "m", {"small": (22, 30)}, "now"))
    for one, other, gain in ((now, before, 0.4), (before, now, -0.4)):
        (found,) = change(one, other)
        assert found.gain.estimate == pytest.approx(gain)
        assert str(found.about) == "samples like these 30"


def test_labels_name_a_sample_of_several_tasks_by_its_number_or_as_it_is_shown(tmp_path: Path) -> None:
    rollouts = sf.read(evaluation(tmp_path, "m", {"small": (10, 30), "large": (100, 270)}))
    for name in ("7", "small 7"):
        labels = put(tmp_path, "labels.csv", f"task,sample,human\nsmall,{name},0\n".encode())
        table = sf.label(rollouts, labels).polars().filter(pl.col("human").is_not_null())
        assert table.select("task", "condition").rows() == [("small", "small 7")]


def test_an_item_is_called_by_its_own_name_where_that_will_do(tmp_path: Path) -> None:
    evaluation(tmp_path, "a", {"small": (10, 30), "large": (100, 170)})
    found = sf.items(sf.read(evaluation(tmp_path, "b", {"small": (0, 30), "large": (90, 170)})))
    assert (found.unit, len(found.items)) == ("sample", 200)
    assert {one.name.split()[0] for one in found.items} == {"small", "large"}
    assert not any("/" in one.name for one in found.items)
