"""Tests of `surefoot.files.formats.py_irt`; a sample by the schema of py-irt 0.7."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot as sf
from tests.support.formats import tallies, written
from tests.support.samples import FIXTURES


def test_a_line_per_subject() -> None:
    rollouts = sf.read(FIXTURES / "py_irt" / "responses.jsonl")
    assert tallies(rollouts) == {("a",): (3, 4), ("b",): (2, 4)}
    assert rollouts.pairs("a", "b").matched == 4


def test_a_second_line_of_a_subject_repeats_its_items(tmp_path: Path) -> None:
    lines = (FIXTURES / "py_irt" / "responses.jsonl").read_text()
    (tmp_path / "r.jsonl").write_text(lines + lines)
    rollouts = sf.read(tmp_path / "r.jsonl")
    assert tallies(rollouts) == {("a",): (6, 8), ("b",): (4, 8)}
    assert rollouts.design.keys("repeat") == ("repeat",)


def test_items_without_a_response_were_not_run_and_words_are_refused(tmp_path: Path) -> None:
    rollouts = sf.read(written(tmp_path, {"subject_id": "a", "responses": {"q0": 1, "q1": None}}))
    assert tallies(rollouts) == {("a",): (1, 1)}
    with pytest.raises(sf.DataError, match=r"`line 1.responses.q0` must be a number; got 'right'"):
        sf.read(written(tmp_path, {"subject_id": "a", "responses": {"q0": "right"}}))


REAL = Path(__file__).parents[4] / "shared" / "data" / "matrices" / "terminalbench_pyirt.jsonl"


@pytest.mark.skipif(not REAL.exists(), reason="needs the shared data")
def test_twenty_agents_on_terminal_bench() -> None:
    rollouts = sf.read(REAL)
    assert (len(rollouts.policies), len(rollouts.names("condition"))) == (20, 89)
