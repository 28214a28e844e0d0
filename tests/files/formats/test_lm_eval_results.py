"""Tests of `surefoot.files.formats.lm_eval_results`."""

from __future__ import annotations

import surefoot as sf
from tests.support.formats import tallies
from tests.support.samples import FIXTURES


def test_lm_eval_results_are_counts() -> None:
    rollouts = sf.read(next((FIXTURES / "lm_eval").glob("results_*")))
    assert rollouts.policies == ("acme/small",)
    assert tallies(rollouts, "task") == {("gsm8k",): (5, 8), ("hellaswag",): (2, 7)}
    assert not rollouts.ordered
    assert [finding.about for finding in rollouts.findings] == ["a rate that n cannot give"]
    assert any("wikitext" in note for note in rollouts.notes)
