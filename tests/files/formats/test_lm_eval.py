"""Tests of `surefoot.files.formats.lm_eval`; `lm_eval_0_4_13` was written by lm_eval 0.4.13 with its dummy model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import surefoot as sf
from tests.support.formats import tallies
from tests.support.samples import FIXTURES, put


def line(place: int, **more: Any) -> dict[str, Any]:
    return {"doc_id": place, "resps": [], "filtered_resps": [], "filter": "none", **more}


def test_lm_eval_documents_that_are_twice_in_the_data_set(tmp_path: Path) -> None:
    def of(values: list[float]) -> bytes:
        lines = [line(i, doc_hash="same" if i < 2 else "other", metrics=["acc"], acc=v) for i, v in enumerate(values)]
        return "\n".join(map(json.dumps, lines)).encode()

    new, old = put(tmp_path, "new.jsonl", of([1.0, 0.0, 1.0])), put(tmp_path, "old.jsonl", of([0.0, 0.0, 1.0]))
    rollouts = sf.read([new, old])
    assert rollouts.where(policy="new").column("condition") == ("same", "same#2", "other")
    assert rollouts.pairs("new", "old").matched == 3
    twice = json.dumps(line(0, metrics=["acc"], acc=1.0)).encode()
    with pytest.raises(sf.DataError, match="a document's id within one filter must not repeat"):
        sf.read(put(tmp_path, "twice.jsonl", twice + b"\n" + twice))


def test_lm_eval_takes_the_first_metric_that_is_one_number(tmp_path: Path) -> None:
    lines = [line(i, metrics=["inst", "prompt"], inst=[True, False], prompt=i == 0) for i in range(2)]
    rollouts = sf.read(put(tmp_path, "a.jsonl", "\n".join(map(json.dumps, lines)).encode()))
    assert tallies(rollouts) == {("a",): (1, 2)}
    assert "success is the metric 'prompt'." in rollouts.notes


def test_lm_eval_samples() -> None:
    path = next((FIXTURES / "lm_eval").glob("samples_*"))
    rollouts = sf.read(path)
    assert rollouts.names("task") == ("gsm8k",)
    assert rollouts.policies == ("lm_eval",)
    assert str(rollouts.tally()) == "1 of 2 succeeded."
    assert rollouts.column("condition") == ("h0", "h1")
    assert any("'flexible-extract' are left out" in note for note in rollouts.notes)


REAL = FIXTURES / "lm_eval_0_4_13"


def own(task: str, metric: str) -> float:
    """What the harness itself says."""
    results = json.loads(next(REAL.glob("results_*.json")).read_text())["results"]
    return float(results[task][metric])


@pytest.mark.parametrize("name", ["strict-match", "flexible-extract"])
def test_totals_of_a_filter_are_the_harness_own(name: str) -> None:
    tally = sf.read(next(REAL.glob("samples_toy_gen_*")), where={"filter": name}).tally()
    assert tally.successes / tally.trials == own("toy_gen", f"exact_match,{name}")


@pytest.mark.parametrize("metric", ["acc", "acc_norm"])
def test_totals_of_a_metric_are_the_harness_own(metric: str) -> None:
    tally = sf.read(next(REAL.glob("samples_toy_mc_*")), columns={"success": metric}).tally()
    assert tally.successes / tally.trials == own("toy_mc", f"{metric},none")


def test_a_folder_with_a_task_of_perplexities() -> None:
    rollouts = sf.read(REAL)
    assert rollouts.names("task") == ("toy_gen", "toy_mc")
    notes = " ".join(map(str, rollouts.notes))
    assert "the task toy_ppl has word_perplexity, bits_per_byte only. It is left out." in notes
    assert "only totals, so left out; the rollouts themselves are here" in notes
    chosen = sf.read(REAL, where={"filter": ["flexible-extract", "none"]})
    assert tallies(chosen, "task") == {("toy_gen",): (2, 4), ("toy_mc",): (2, 4)}
    with pytest.raises(sf.DataError, match="the task toy_ppl has word_perplexity"):
        sf.read(next(REAL.glob("samples_toy_ppl_*")))


def test_a_field_of_the_document_is_reached_by_path() -> None:
    rollouts = sf.read(next(REAL.glob("samples_toy_mc_*")), columns={"cluster": "doc.passage"})
    assert rollouts.names("cluster") == ("p1", "p2")
