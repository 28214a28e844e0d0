"""Tables without a gain on which version 0.2.0 gave a verdict, by the numbers of the findings.

Every test here uses calls that 0.2.0 has too, and was seen to fail on it.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot.cli.main import run
from tests.support.layouts import NAMED
from tests.support.parallel_runs import parallel

DECIDED = (sf.Verdict.BETTER, sf.Verdict.WORSE)
MISLED = {
    "T24 six policies, 100 v 10": (0, 4, 6, 7),  # 59% of such rankings held a false verdict
    "T25 3 tasks 10 v 400": (7, 10, 14, 15, 20),
    "T25 11 tasks 3 v 10": (35,),
    "T25 12 tasks of 5": (10, 28, 31, 33),
    "T25 20,000 v 20": (0, 1, 4, 14),
    "T27 20 clusters of 10 to 11, 6%": (7, 8, 14, 15, 21),
}
"""Draws of a case that misled 0.2.0."""


def read(frame: pl.DataFrame) -> sf.Rollouts:
    return sf.read(pl.read_csv(io.BytesIO(frame.write_csv().encode())))


def table(start: str, place: int) -> sf.Rollouts:
    """One draw of the named case."""
    case = next(one for one in NAMED if one.name.startswith(start))
    frame = case.frame(case.draw(np.random.default_rng([1, place])))
    alone = frame["group"].n_unique() == 1
    return read(
        frame.drop("group") if alone else frame.rename({"group": "task" if case.kind == "tasks" else "cluster"})
    )


@pytest.mark.parametrize(
    ("start", "place"),
    [
        pytest.param(start, place, marks=[pytest.mark.slow] * (place != places[0]))  # the first of each case at once
        for start, places in MISLED.items()
        for place in places
    ],
)
def test_policies_that_are_alike_are_not_told_apart(start: str, place: int) -> None:
    rollouts = table(start, place)
    if start.startswith("T24"):
        assert not any(member.verdict in DECIDED for member in sf.rank(rollouts).members)
    else:
        assert sf.compare(rollouts, "a", "b").verdict not in DECIDED


def counts(first: tuple[int, int], second: tuple[int, int]) -> sf.Rollouts:
    rows = [(name, i < k) for name, (k, n) in (("a", first), ("b", second)) for i in range(n)]
    return read(pl.DataFrame(rows, schema=["policy", "success"], orient="row"))


def test_one_rollout_more_is_no_other_method() -> None:
    """T26: 25/995 v 1/5 had p = .086 and 25/1000 v 1/5 p = .014."""
    one, more = (sf.compare(counts((25, n), (1, 5)), "a", "b") for n in (995, 1_000))
    assert one.p_value is not None
    assert more.p_value == pytest.approx(one.p_value, abs=2e-3)


def test_no_p_value_comes_from_rates_that_no_such_data_have() -> None:
    """T40: p = 1.000 for 112/200 v 106/200."""
    found = sf.compare(counts((112, 200), (106, 200)), "a", "b")
    assert found.p_value == pytest.approx(0.5744, abs=1e-3)


def test_a_sixth_policy_changes_no_other_pair() -> None:
    """T24: with it another method was taken for all pairs."""
    rng = np.random.default_rng(5)
    rows = [
        (f"p{policy}", f"task {task}", round(float(rng.beta(3 + policy, 2)), 1))
        for policy in range(6)
        for task in range(2)
        for _ in range(12 if policy == 0 else 6)
    ]
    frame = pl.DataFrame(rows, schema=["policy", "task", "score"], orient="row")
    five, six = (sf.rank(read(frame.filter(pl.col("policy") < last))) for last in ("p5", "p6"))
    for pair in five.pairs:
        ours, theirs = (found.gain(*pair).p_value for found in (five, six))
        assert ours is not None
        assert theirs == pytest.approx(min(1.0, 1.5 * ours), rel=1e-6)  # 15 pairs for 10


def test_ranks_of_equal_policies_hold_together() -> None:
    """T28: each rank by itself, so that some rank left 1 out in 97% of draws."""
    found = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        rows = [
            (f"p{one}", f"p{two}", float(rng.integers(2)))
            for one in range(8)
            for two in range(one + 1, 8)
            for _ in range(10)
        ]
        games = pl.DataFrame(rows, schema=["A", "B", "preference"], orient="row")
        found += any(ranks[0] > 1 for ranks in sf.rank_preferences(sf.read_preferences(games), rng=seed).ranks)
    assert found <= 1


def judged_file(folder: Path, seed: int) -> Path:
    """300 items of three epochs, a judge right in 88%, and people's labels of 80 items."""
    rng = np.random.default_rng(seed)
    rows = []
    labelled = set(rng.permutation(300)[:80].tolist())
    for policy, rate in (("a", 0.63), ("b", 0.61)):
        for item, level in enumerate(np.random.default_rng(seed + 1).normal(0.0, 0.15, 300)):
            for epoch in range(3):
                truth = bool(rng.random() < np.clip(rate + level, 0, 1))
                said = truth if rng.random() < 0.88 else not truth
                rows.append((policy, f"item {item}", epoch, int(said), int(truth) if item in labelled else None))
    path = folder / f"judged {seed}.csv"
    pl.DataFrame(rows, schema=["policy", "item", "epoch", "success", "human"], orient="row").write_csv(path)
    return path


def test_a_judge_never_costs_width_and_the_rates_subtract_to_the_gain(tmp_path: Path) -> None:
    """T29: 18.0 points with the judge, 15.6 without; rates of 62.9% and 61.0% beside a gain of 1.2."""
    for seed in (1, 2):
        rollouts = sf.read(judged_file(tmp_path, seed))
        found, judged = sf.compare(rollouts, "a", "b"), sf.judged_gain(rollouts, "a", "b").found
        assert judged.gain.interval.width < judged.without
        assert found.of_first.estimate - found.of_second.estimate == pytest.approx(found.gain.estimate, abs=1e-9)


def test_a_file_without_a_start_order_is_not_watched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """T33: pairs entered as they ended; with 32 simulators 99% of verdicts were false."""
    path = tmp_path / "growing.csv"
    parallel(1, 32, 60).select("policy", "success").write_csv(path)
    assert run(["watch", str(path), "--first", "new", "--second", "old", "--horizon", "60", "--once"]) != 0
    assert "in which order" in capsys.readouterr().err
