"""Tests of `surefoot.study.result_table`."""

from __future__ import annotations

from tests.support.studies import begun, driven


def test_voided_rollouts_are_marked_in_the_table():
    study = begun(blinded=False)
    driven(study, lambda turn: True, 4)
    study.void(1, reason="operator error")
    rollouts = study.rollouts()
    assert len(rollouts) == 4
    assert sum(rollouts.where(policy=name).tally().trials for name in ("new", "old")) == 2
