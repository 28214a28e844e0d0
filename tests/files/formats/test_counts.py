"""Tests of `surefoot.files.formats.counts`."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot as sf
from tests.support.formats import tallies
from tests.support.samples import FIXTURES, put


def test_counts() -> None:
    rollouts = sf.read(FIXTURES / "counts.csv")
    assert tallies(rollouts, "policy", "task") == {("new", "cut"): (6, 8), ("old", "cut"): (3, 8)}
    assert not rollouts.ordered
    assert sf.audit(rollouts).about("order unknown")


def test_counts_beyond_the_trials_are_refused(tmp_path: Path) -> None:
    path = put(tmp_path, "c.csv", "policy,successes,trials\nnew,12,10\n")
    with pytest.raises(sf.DataError, match=r"c.csv, row 1: `successes` must be at most the rollouts, 10; got 12"):
        sf.read(path)


def test_rate_and_n() -> None:
    rollouts = sf.read(FIXTURES / "rates.csv")
    assert tallies(rollouts, "policy", "task") == {
        ("new", "cut"): (6, 8),
        ("old", "cut"): (8, 24),
        ("old", "pour"): (13, 24),
    }
    (found,) = rollouts.findings
    assert found.about == "a rate that n cannot give"
    assert "row 3" in found.says
    assert "20" in found.says  # 11 of 20 is 55.0%; nothing of 24 is
    assert found in sf.audit(rollouts).findings


@pytest.mark.parametrize("rate", ["abc", "101", "-1", "", "nan"])
def test_a_rate_that_is_none(tmp_path: Path, rate: str) -> None:
    path = put(tmp_path, "r.csv", f"policy,rate,n\nnew,50.0,8\nold,{rate},8\n")
    with pytest.raises(sf.DataError, match=r"r.csv, row 2: `rate` must be a rate between 0 and 100%"):
        sf.read(path)


def test_mean_and_deviation_are_pooled_to_counts() -> None:
    rollouts = sf.read(FIXTURES / "spread.csv")
    assert tallies(rollouts) == {("new",): (114, 150), ("old",): (78, 150)}
    assert [finding.about for finding in rollouts.findings] == ["mean ± standard deviation over repeats"]


def test_counts_win_over_a_rate_that_disagrees(tmp_path: Path) -> None:
    rollouts = sf.read(put(tmp_path, "c.csv", "policy,successes,rate,n\nnew,6,0.75,8\nold,3,0.5,8\n"))
    assert tallies(rollouts) == {("new",): (6, 8), ("old",): (3, 8)}
    assert [finding.says for finding in rollouts.findings] == [
        "c.csv, row 2: 3 of 8 is 37.5%, not 50%. The counts are used."
    ]


def test_acc_and_n_are_a_rate(tmp_path: Path) -> None:
    """`acc` was taken for the outcome of one sample, and the refusal led to a mean of one."""
    path = tmp_path / "leaderboard.csv"
    path.write_text("model,acc,n\nnew,0.612,1000\nold,0.595,1000\n")
    assert sf.read(path).where(policy="new").tally() == sf.Tally(612, 1000)


@pytest.mark.parametrize(
    ("rows", "held"),
    [
        ("A,8,10\nB,3,10", [(8, 10), (3, 10)]),  # nothing of 10 is 8%
        ("A,120,200\nB,7,200", [(120, 200), (7, 200)]),  # nothing is 120%
        ("A,80,100\nB,0,100", [(80, 100), (0, 100)]),  # either way
        ("A,76,50\nB,54,50", [(38, 50), (27, 50)]),  # more than n: percentages
        ("A,0.8,10\nB,1,10", [(8, 10), (10, 10)]),
        ("A,.8,10\nB,.3,10", [(8, 10), (3, 10)]),
    ],
)
def test_success_beside_n_is_a_count_where_it_can_be_no_rate(tmp_path: Path, rows: str, held: list) -> None:
    rollouts = sf.read(put(tmp_path, "c.csv", f"model,success,total\n{rows}\n"))
    assert tallies(rollouts) == dict(zip([("A",), ("B",)], held, strict=True))
    assert not rollouts.findings


@pytest.mark.parametrize(("row", "says"), [("A,40,50", "40 of 50, or 40% of 50"), ("A,1,10", "1 of 10, or 100% of 10")])
def test_success_that_may_be_a_count_or_a_rate_is_refused(tmp_path: Path, row: str, says: str) -> None:
    path = put(tmp_path, "c.csv", f"model,success,n\n{row}\n")
    with pytest.raises(sf.DataError, match=rf"{says}\? Call the column successes or success_rate"):
        sf.read(path)


def test_the_total_of_each_policy_is_no_task(tmp_path: Path) -> None:
    rows = "A,x,5,10\nA,y,7,10\nA,TOTAL,12,20\nB,x,3,10\nB,y,2,10\nB,TOTAL,5,20\n"
    rollouts = sf.read(put(tmp_path, "c.csv", f"policy,task,successes,n\n{rows}"))
    assert tallies(rollouts) == {("A",): (12, 20), ("B",): (5, 20)}
    assert "Left out, totals: rows 3, 6 ('TOTAL')." in map(str, rollouts.notes)
    alone = sf.read(put(tmp_path, "d.csv", "policy,task,successes,n\nA,overall,5,10\nB,overall,7,10\n"))
    assert tallies(alone) == {("A",): (5, 10), ("B",): (7, 10)}  # it adds nothing up
