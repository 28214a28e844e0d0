"""Tests of `surefoot.files.formats.arrays`."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot as sf
from tests.support.formats import tallies


def test_npy(made: Path) -> None:
    rollouts = sf.read(made / "pairs.npy")
    assert tallies(rollouts) == {("policy 0",): (1, 3), ("policy 1",): (2, 3)}
    assert rollouts.pairs("policy 0", "policy 1", on="order").tally() == sf.PairTally(1, 0, 1, 1)
    with pytest.raises(sf.DataError, match="Not paired"):
        rollouts.pairs("policy 0", "policy 1")
