"""Tests of `surefoot.files.formats.inspect_logs`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import surefoot as sf
from tests import samples
from tests.samples import FIXTURES, deflated, put
from tests.support.formats import tallies, written


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
    assert rollouts.tasks == ("arithmetic",)
    assert tallies(rollouts) == {("acme/small",): (3, 5)}
    assert tallies(rollouts, "cluster") == {("1",): (1, 2), ("3",): (0, 1), ("two",): (2, 2)}
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
