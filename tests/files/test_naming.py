"""Tests of `surefoot.files.naming`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.files import naming
from tests.support.formats import tallies
from tests.support.samples import FIXTURES, put


def test_many_files_that_are_called_alike_are_not_one_policy() -> None:
    paths = [Path(f"/runs/{run}/model{number}.csv") for run in ("one", "two") for number in range(600)]
    assert len(set(naming.from_paths(paths))) == 1200


def test_files_that_differ_in_their_first_folder_only() -> None:
    paths = [Path(f"/{run}/x/model.csv") for run in ("one", "two")]
    assert naming.from_paths(paths) == ("one/x/model", "two/x/model")


# Names


def test_the_user_names_the_policies_of_files_that_name_none(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.npy"
    np.save(pairs, np.array([[1.0, 0.0], [1.0, 1.0]]))
    assert tallies(sf.read(pairs, policy=["new", "old"])) == {("new",): (2, 2), ("old",): (1, 2)}
    with pytest.raises(ValueError, match="one policy per file; got 3 names for 1 files"):
        sf.read(pairs, policy=["a", "b", "c"])
    steps = tmp_path / "evaluations.npz"
    np.savez(steps, timesteps=np.array([10, 20]), results=np.ones((2, 1)), successes=np.array([[True], [False]]))
    assert sf.read(steps, policy="ppo").policies == ("ppo @ 10", "ppo @ 20")


def test_policy_names_come_from_the_file_the_path_or_the_user(tmp_path: Path) -> None:
    nameless = put(
        tmp_path,
        "outputs/eval/2026-01-02/03-04-05_pusht_act/eval_info.json",
        (FIXTURES / "lerobot" / "eval_info.json").read_bytes(),
    )
    assert sf.read(nameless).policies == ("pusht_act",)
    assert "The policy is called 'pusht_act', after the path." in sf.read(nameless).notes
    assert sf.read(nameless, policy="mine").policies == ("mine",)
    named = FIXTURES / "inspect" / "log.json"
    renamed = sf.read(named, policy="small")
    assert renamed.policies == ("small",)
    assert "The model is called 'small' as you say; the file calls it 'acme/small'." in renamed.notes
    with pytest.raises(ValueError, match="must be left out when the data name several policies; they name new, old"):
        sf.read(FIXTURES / "rollouts.csv", policy="mine")
