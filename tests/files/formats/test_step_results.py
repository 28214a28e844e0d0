"""Tests of `surefoot.files.formats.step_results`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import surefoot as sf
from tests.support.formats import tallies
from tests.support.samples import put


def result(folder: Path, **changes: Any) -> Path:
    return put(folder, "result.json", json.dumps({"p0_hat": 0.25, "p1_hat": 0.8, "N": 20, **changes}).encode())


def test_two_rates_become_counts(tmp_path: Path) -> None:
    rollouts = sf.read(result(tmp_path))
    assert tallies(rollouts) == {("policy 0",): (5, 20), ("policy 1",): (16, 20)}
    assert not rollouts.ordered


def test_the_user_says_who_they_are(tmp_path: Path) -> None:
    assert tallies(sf.read(result(tmp_path), policy=["old", "new"])) == {("new",): (16, 20), ("old",): (5, 20)}


@pytest.mark.parametrize("changes", [{"N": 0}, {"N": 2**60}, {"N": "20"}, {"p0_hat": 1.5}, {"p0_hat": "half"}])
def test_refusals(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(sf.DataError, match=r"result\.json"):
        sf.read(result(tmp_path, **changes))
