"""Tests of `surefoot.files.formats.maniskill`; a sample by the schema of ManiSkill 3."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot as sf
from tests.support.formats import tallies, written
from tests.support.samples import FIXTURES


def test_episodes_with_their_seeds_and_steps() -> None:
    rollouts = sf.read(FIXTURES / "maniskill" / "trajectory.json", policy="ppo")
    assert tallies(rollouts) == {("ppo",): (3, 5)}
    assert (rollouts.design.keys("unit"), rollouts.names("task")) == (("seed",), ("PickCube-v1",))
    assert rollouts.column("steps") == (50, 49, 48, 47, 46)


def test_without_seeds_no_column_has_a_role_and_without_success_nothing_is_read(tmp_path: Path) -> None:
    episodes = [{"episode_id": at, "elapsed_steps": 3, "success": True, "reset_kwargs": {}} for at in range(2)]
    document = {"env_info": {"env_id": "x"}, "episodes": episodes}
    assert sf.read(written(tmp_path, document), policy="a").design.keys("unit") == ()
    for episode in episodes:
        del episode["success"]
    with pytest.raises(sf.DataError, match="episodes must say whether they succeeded; none does"):
        sf.read(written(tmp_path, document), policy="a")
