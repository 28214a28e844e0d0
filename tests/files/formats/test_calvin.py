"""Tests of `surefoot.files.formats.calvin`; samples by the schema of CALVIN's evaluate_policy.py."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot as sf
from tests.support.formats import written
from tests.support.samples import FIXTURES


def test_lengths_are_rebuilt_from_the_shares_of_chains() -> None:
    rollouts = sf.read(FIXTURES / "calvin" / "results.json")
    assert rollouts.policies == ("0", "1")
    lengths = [round(5 * value) for value in rollouts.where(policy="0").scores().values]
    assert sorted(lengths) == [0, 1, 1, 2, 2, 3, 3, 4, 4, 5]
    assert not rollouts.ordered
    assert not rollouts.findings


def test_listed_sequences_are_paired(tmp_path: Path) -> None:
    run = {"avg_seq_len": 2.0, "chain_sr": {"1": 1.0}}
    path = written(tmp_path, {"a": {**run, "results": [5, 1, 0]}, "b": {**run, "results": [2, 2, 2]}})
    rollouts = sf.read(path)
    assert rollouts.pairs("a", "b").matched == 3
    assert rollouts.where(policy="a").scores().values == (1.0, 0.2, 0.0)


@pytest.mark.parametrize(
    ("run", "why"),
    [
        ({"chain_sr": {"1": 0.5, "2": 0.6, "3": 0.1, "4": 0, "5": 0}}, "falling shares from 1 to 5"),
        ({"chain_sr": {"1": 0.5, "2": 0.4, "3": 0.1, "4": 0, "5": 0}}, "the number of sequences must be known"),
        ({"num_sequences": 7, "chain_sr": dict.fromkeys("12345", 0.5)}, "must be shares of 7 sequences"),
    ],
)
def test_what_cannot_be_rebuilt_is_refused(tmp_path: Path, run: dict[str, object], why: str) -> None:
    with pytest.raises(sf.DataError, match=why):
        sf.read(written(tmp_path, run), policy="a")
