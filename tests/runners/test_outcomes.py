"""Tests of `surefoot.runners.outcomes`."""

from __future__ import annotations

import pytest

import surefoot as sf
from tests.support.studies import begun


def test_outcomes_are_kept_whole():
    study = begun(measure="score", levels=(0.0, 0.5, 1.0))
    outcome = sf.Outcome(score=0.5, failure="dropped it", duration=12.5, steps=212, notes="lid left")
    sf.run_study(study, lambda _: outcome, turns=1)
    kept = study.fold.results[1]
    assert (kept.score, kept.failure, kept.duration, kept.steps, kept.note) == (
        0.5,
        "dropped it",
        12.5,
        212,
        "lid left",
    )
    with pytest.raises(ValueError, match="a `success` or a `score`"):
        sf.Outcome()


@pytest.mark.parametrize("answer", [None, "yes", 0.5, [1]])
def test_an_answer_that_cannot_be_read_is_an_outcome(answer):
    study = begun()
    sf.run_study(study, lambda _: answer, turns=1)
    assert (study.fold.results[1].ended, study.fold.results[1].score) == ("unreadable", 0.0)
