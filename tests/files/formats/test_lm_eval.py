"""Tests of `surefoot.files.formats.lm_eval`."""

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
    assert rollouts.tasks == ("gsm8k",)
    assert rollouts.policies == ("lm_eval",)
    assert str(rollouts.tally()) == "1 of 2 rollouts succeeded."
    assert rollouts.column("condition") == ("h0", "h1")
    assert any("'flexible-extract' are left out" in note for note in rollouts.notes)
