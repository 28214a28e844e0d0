"""Tests of `surefoot.files.formats.lm_eval_results`."""

from __future__ import annotations

from pathlib import Path

import surefoot as sf
from tests.support.formats import tallies, written
from tests.support.samples import FIXTURES


def test_lm_eval_results_are_counts() -> None:
    rollouts = sf.read(next((FIXTURES / "lm_eval").glob("results_*")))
    assert rollouts.policies == ("acme/small",)
    assert tallies(rollouts, "task") == {("gsm8k",): (5, 8), ("hellaswag",): (2, 7)}
    assert not rollouts.ordered
    assert [finding.about for finding in rollouts.findings] == ["a rate that n cannot give"]
    assert any("wikitext" in note for note in rollouts.notes)


def test_nothing_is_said_to_be_left_out_where_nothing_is(tmp_path: Path) -> None:
    document = {"n-samples": {"t": {"effective": 8}}, "results": {"t": {"acc,none": 0.75}}}
    rollouts = sf.read(written(tmp_path, document))
    assert (rollouts.tally().successes, rollouts.tally().trials) == (6, 8)
    assert not any("Left out" in note for note in rollouts.notes)
