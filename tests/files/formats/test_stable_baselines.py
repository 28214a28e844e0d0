"""Tests of `surefoot.files.formats.stable_baselines`."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot as sf
from tests.support import samples
from tests.support.formats import tallies
from tests.support.samples import put


def test_stable_baselines_checkpoints_are_policies(made: Path) -> None:
    rollouts = sf.read(made / "evaluations.npz")
    name = made.name
    assert tallies(rollouts) == {(f"{name} @ 100",): (1, 2), (f"{name} @ 200",): (2, 2)}
    assert rollouts.where(policy=f"{name} @ 200").column("steps") == (7, 8)


def test_returns_alone_need_a_range(tmp_path: Path) -> None:
    import numpy as np

    content = samples.npz(timesteps=np.array([100]), results=np.array([[-10.0, -5.0]]))
    path = put(tmp_path, "ppo/evaluations.npz", content)
    with pytest.raises(sf.DataError, match=r'columns=\{"score": ...\} with low= and high='):
        sf.read(path)
    rollouts = sf.read(path, columns={"score": "reward"}, low=-20, high=0)
    assert rollouts.scores() == sf.Scores([-10.0, -5.0], -20, 0)
    assert rollouts.policies == ("ppo @ 100",)
