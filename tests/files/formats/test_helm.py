"""Tests of `surefoot.files.formats.helm`; samples by the schema of HELM 0.5."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot as sf
from tests.support.formats import tallies, written
from tests.support.samples import FIXTURES

STATS = FIXTURES / "helm" / "per_instance_stats.json"


def run(folder: Path, model: str) -> Path:
    path = folder / f"anatomy:method=joint,model={model}" / STATS.name
    path.parent.mkdir()
    path.write_bytes(STATS.read_bytes())
    return path


def test_a_usual_metric_is_the_outcome_and_perturbed_copies_are_left_out(tmp_path: Path) -> None:
    rollouts = sf.read(run(tmp_path, "acme_small"))
    assert tallies(rollouts) == {("acme_small",): (2, 4)}
    assert rollouts.names("task") == ("anatomy:method=joint",)
    assert "4 perturbed copies of instances are left out." in rollouts.notes


def test_the_run_s_own_words_name_the_model(tmp_path: Path) -> None:
    path = run(tmp_path, "acme_small")
    written(path.parent, {"name": "anatomy:model=x", "adapter_spec": {"model": "acme/small"}}, "run_spec.json")
    written(path.parent, [{"id": "id0", "input": {"text": "q"}}], "instances.json")
    rollouts = sf.read(path.parent)
    assert (rollouts.policies, rollouts.names("task")) == (("acme/small",), ("anatomy",))
    assert any("instances.json" in str(note) and "no rollouts found" in str(note) for note in rollouts.notes)


def test_a_metric_that_is_named(tmp_path: Path) -> None:
    rollouts = sf.read(STATS, where={"metric": "f1_score"}, policy="small")
    assert rollouts.scores().values == (0.0, 0.125, 0.25, 0.375)
    with pytest.raises(sf.DataError, match="the metric must be one of num_references, exact_match, f1_score; got 'x'"):
        sf.read(STATS, where={"metric": "x"})


def test_no_usual_metric_is_refused(tmp_path: Path) -> None:
    stats = [{"name": {"name": "num_references"}, "mean": 4}]
    with pytest.raises(sf.DataError, match="a metric must be the outcome; none of the usual ones is here"):
        sf.read(written(tmp_path, [{"instance_id": "a", "stats": stats}]))
