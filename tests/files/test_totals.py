"""Tests of `surefoot.files.totals`."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot as sf
from tests.support.formats import tallies, written
from tests.support.samples import put


def test_an_object_that_says_which_rollout_it_is_is_one(tmp_path: Path) -> None:
    for content in ('{"policy": "a", "success": true}', '{"policy": "a", "episode": 7, "score": 0.5}'):
        assert len(sf.read(put(tmp_path, "one.json", content))) == 1
    counts = '{"policy": "new", "successes": 38, "trials": 50}'
    assert sf.read(put(tmp_path, "counts.json", counts)).tally() == sf.Tally(38, 50)


def test_a_total_beside_rollouts_in_a_folder_is_left_out(tmp_path: Path) -> None:
    put(tmp_path, "rollouts.jsonl", '{"policy": "a", "score": 0.5}\n{"policy": "a", "score": 1.0}\n')
    put(tmp_path, "summary.json", '{"policy": "a", "score": 0.75}')
    rollouts = sf.read(tmp_path)
    assert len(rollouts) == 2
    assert any("summary.json: no rollouts found, so left out." in str(note) for note in rollouts.notes)


@pytest.mark.parametrize(
    "content",
    [
        b"policy,task,result\nnew,x,38/50\nold,x, 20 / 50\n",
        b"Method;Success Rate (%);Num Rollouts\nnew;76,0;50\nold;40,0;50\n",
        b"policy,k,n\nnew,38,50\nold,20,50\n",
        b'[{"policy": "new", "success_rate": 0.76, "n": 50}, {"n": 50, "policy": "old", "success_rate": 0.4}]',
        b'{"policy": "new", "successes": 38, "trials": 50}\n{"policy": "old", "successes": 20, "trials": 50}\n',
        b'{"arm": "new", "pc_success": 76.0, "n_episodes": 50}\n{"arm": "old", "pc_success": 40, "n_episodes": 50}\n',
    ],
)
def test_counts_however_they_are_written(tmp_path: Path, content: bytes) -> None:
    rollouts = sf.read(put(tmp_path, "a", content))
    assert tallies(rollouts) == {("new",): (38, 50), ("old",): (20, 50)}
    assert not rollouts.ordered
    assert rollouts.findings == ()


def test_a_rollout_per_object_is_no_table_of_rates(tmp_path: Path) -> None:
    lines = b'{"policy": "a", "success": true, "n": 7}\n{"policy": "a", "success": false, "n": 9}\n'
    assert tallies(sf.read(put(tmp_path, "a", lines))) == {("a",): (1, 2)}


def test_a_count_that_is_no_fraction_is_refused(tmp_path: Path) -> None:
    with pytest.raises(sf.DataError, match=r"row 2: `result` must look like 38/50; got '0.4'"):
        sf.read(put(tmp_path, "a.csv", b"policy,result\nnew,38/50\nold,0.4\n"))
    with pytest.raises(sf.DataError, match=r"row 1: `successes` must be at most the rollouts, 50; got 60"):
        sf.read(put(tmp_path, "b.csv", b"policy,result\nnew,60/50\n"))


@pytest.mark.parametrize(("says", "found"), [(66.67, 0), (66.66666666666667, 0), (66.7, 1), (67.0, 1), (66.68, 1)])
def test_a_total_may_be_rounded_but_not_wrong(tmp_path: Path, says: float, found: int) -> None:
    task = {"task_group": "pusht", "task_id": 0, "metrics": {"successes": [True, True, False]}}
    rollouts = sf.read(written(tmp_path, {"per_task": [task], "overall": {"pc_success": says}}))
    assert len(rollouts.findings) == found
