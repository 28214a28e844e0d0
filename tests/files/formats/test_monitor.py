"""Tests of `surefoot.files.formats.monitor`."""

from __future__ import annotations

from pathlib import Path

import surefoot as sf
from tests.support.samples import FIXTURES, put


def test_monitors_of_one_folder_are_one_policy(tmp_path: Path) -> None:
    text = '#{"t_start": 1.0, "env_id": "Fetch-v1"}\nr,l,t,is_success\n1.0,10,0.5,1.0\n'
    for place in range(2):
        put(tmp_path / "ppo", f"{place}.monitor.csv", text.encode())
    assert sf.read(tmp_path).policies == ("ppo",)
    put(tmp_path / "sac", "0.monitor.csv", text.encode())
    assert sf.read(tmp_path).policies == ("ppo", "sac")


def test_monitor() -> None:
    rollouts = sf.read(FIXTURES / "sb3" / "0.monitor.csv")
    assert rollouts.policies == ("sb3",)
    assert rollouts.names("task") == ("PandaReach-v3",)
    assert str(rollouts.tally()) == "2 of 3 succeeded."
    assert rollouts.column("reward") == (-12.5, -3.0, -1.0)


def test_a_monitor_without_the_environments_name_has_no_task(tmp_path: Path) -> None:
    rollouts = sf.read(put(tmp_path, "ppo.monitor.csv", '#{"t_start": 1.0}\nr,l,t,is_success\n1.0,10,0.5,1.0\n'))
    assert "task" not in rollouts.columns
    assert str(rollouts.tally()) == "1 of 1 succeeded."
