"""Tests of `surefoot.files.formats.fieldtrial`."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot as sf
from tests.support.formats import tallies
from tests.support.samples import FIXTURES, put

# Peers' tables


def test_fieldtrial_trials_that_are_invalid_do_not_count() -> None:
    rollouts = sf.read(FIXTURES / "fieldtrial" / "trials.csv")
    assert tallies(rollouts) == {("new",): (2, 2), ("old",): (0, 2)}
    assert [group.void for group in rollouts.summary()] == [1, 0]
    assert "Invalid, as `status` says, and not counted: 1 of 5 trials." in rollouts.notes


def test_an_unknown_status_is_refused(tmp_path: Path) -> None:
    text = (FIXTURES / "fieldtrial" / "trials.csv").read_text().replace("invalid,camera", "paused,camera")
    with pytest.raises(sf.DataError, match=r"row 3: `status` must be completed or invalid; got 'paused'"):
        sf.read(put(tmp_path, "a.csv", text.encode()))
