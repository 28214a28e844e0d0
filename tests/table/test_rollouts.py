"""The one table: narrowing, tallies, scores, pairs, thinning, rubrics and stages."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import surefoot as sf
from tests.support.rollouts import ROWS


@pytest.fixture
def table() -> sf.Rollouts:
    return sf.read(pl.DataFrame(ROWS))


def test_it_says_what_it_holds(table: sf.Rollouts) -> None:
    assert str(table) == "6 rollouts of 2 policies on 2 tasks, with success and score in [0, 1]."
    assert table.policies == ("new", "old")
    assert table.tasks == ("cut", "pour")
    assert len(table) == 6


def test_where_narrows(table: sf.Rollouts) -> None:
    assert table.where(policy="new").tally() == sf.Tally(2, 3)
    assert table.where(policy="new", task="cut").tally() == sf.Tally(2, 2)
    assert len(table.where(task=["cut", "pour"], seed=1)) == 4
    assert len(table) == 6


def test_where_on_outcomes(table: sf.Rollouts) -> None:
    assert len(table.where(success=True)) == 3
    assert len(table.where(score=[0.5, 1.0])) == 4


def test_where_refuses_what_is_not_there(table: sf.Rollouts) -> None:
    with pytest.raises(sf.DataError, match=r"`policy` must be one of 'new', 'old'; got 'neu'."):
        table.where(policy="neu")
    with pytest.raises(sf.DataError, match=r"there must be a `robot` column"):
        table.where(robot="x")
    with pytest.raises(sf.DataError, match=r"there must be a column 'colour'; got 'policy', 'task', 'seed'"):
        table.where(colour="red")
    with pytest.raises(TypeError, match=r"`score` must be a number or a list of numbers; got 'half'"):
        table.where(score="half")


def test_one_policy_at_a_time(table: sf.Rollouts) -> None:
    with pytest.raises(ValueError, match=r"the table must hold one policy here; got new, old"):
        table.tally()
    with pytest.raises(ValueError, match="one policy"):
        table.scores()


def test_scores_keep_the_order_they_were_run() -> None:
    shuffled = sf.read(pl.DataFrame({"policy": ["a"] * 3, "order": [3, 1, 2], "score": [0.3, 0.1, 0.2]}))
    assert shuffled.scores().values == (0.1, 0.2, 0.3)
    rows = sf.read(pl.DataFrame({"policy": ["a"] * 3, "score": [0.3, 0.1, 0.2]}))
    assert rows.scores().values == (0.3, 0.1, 0.2)


def test_a_score_outside_the_stated_range() -> None:
    table = sf.read(pl.DataFrame({"policy": ["a", "a"], "score": [0.5, 57.0]}))
    with pytest.raises(sf.DataError, match=r"`score` must lie in the stated range \[0, 1\]; score 2 is 57"):
        table.scores()
    wide = sf.read(pl.DataFrame({"policy": ["a", "a"], "score": [0.5, 57.0]}), low=0, high=100)
    assert wide.scores().high == 100.0
    with pytest.raises(ValueError, match="`low` must be below `high`"):
        sf.read(pl.DataFrame({"policy": ["a"], "score": [0.5]}), low=1, high=0)


def test_more_policies_than_are_looked_up_at_once() -> None:
    names = [f"p{number:02d}" for number in range(12)]
    rows = [
        {"policy": name, "seed": seed, "success": (seed + place) % 3 == 0}
        for place, name in enumerate(names)
        for seed in range(9)
    ]
    table = sf.read(pl.DataFrame(rows))
    assert table.pairs("p00", "p03").tally() == sf.PairTally(3, 0, 0, 6)
    assert table.pairs("p00", "p01").tally() == sf.PairTally(0, 3, 3, 3)


def test_missing_outcomes_count_for_nothing() -> None:
    rows = {"policy": ["a", "a", "a", "b", "b"], "seed": [1, 2, 3, 1, 2], "success": [1, None, 0, 1, 1]}
    table = sf.read(pl.DataFrame(rows)).declare(unit="seed")
    assert table.where(policy="a").tally() == sf.Tally(1, 2)
    assert table.pairs("a", "b").tally() == sf.PairTally(1, 0, 0, 0)
    assert table.notes[0].startswith("1 of 5 rollouts has neither success nor score")


def test_void_rollouts_count_for_nothing() -> None:
    rows = {"policy": ["a", "a", "b"], "seed": [1, 2, 1], "success": [1, 1, 0], "valid": [True, False, None]}
    table = sf.read(pl.DataFrame(rows))
    assert table.where(policy="a").tally() == sf.Tally(1, 1)
    assert [(group.rollouts, group.void) for group in table.summary()] == [(1, 1), (1, 0)]


def test_a_file_that_voids_nothing_counts_beside_one_that_does(tmp_path: Path) -> None:
    (tmp_path / "new.csv").write_text("policy,seed,score,valid\nnew,1,0.5,1\nnew,2,0.5,0\n")
    (tmp_path / "old.csv").write_text("policy,seed,score\nold,1,0.25\nold,2,0.75\n")
    rollouts = sf.read([tmp_path / "new.csv", tmp_path / "old.csv"])
    assert rollouts.where(policy="old").scores().values == (0.25, 0.75)
    assert rollouts.declare(unit="seed").pairs("new", "old").values("score") == ((0.5, 0.25),)


def test_thin_keeps_one_policy_per_environment(table: sf.Rollouts) -> None:
    thinned = table.thin(7)
    assert len(thinned) == 3
    assert len({(row["task"], row["seed"]) for row in thinned.polars().to_dicts()}) == 3
    assert thinned.hash == table.thin(7).hash
    assert len({table.thin(seed).hash for seed in range(20)}) > 1
    assert "Thinned to one random policy per environment (seed 7)." in thinned.notes
    with pytest.raises(TypeError, match="`rng` must be"):
        table.thin(None)  # type: ignore[arg-type]
    with pytest.raises(sf.DataError, match="must tell which rollouts share an environment"):
        sf.read(pl.DataFrame({"policy": ["a"], "success": [1]})).thin(1)


def test_thinning_keeps_no_void_rollout_where_another_counts() -> None:
    shared = pl.DataFrame({"policy": ["a", "b"] * 40, "seed": [place // 2 for place in range(80)], "success": [1] * 80})
    rollouts = sf.read(shared.with_columns(valid=pl.col("policy") == "a")).declare(unit="seed")
    assert [(group.key, group.rollouts) for group in rollouts.thin(3).summary()] == [(("a",), 40)]


def test_thinning_is_fair() -> None:
    seeds = range(400)
    rows = [{"policy": name, "seed": seed, "success": 1} for seed in seeds for name in ("a", "b")]
    kept = sf.read(pl.DataFrame(rows)).thin(3).summary()
    assert sum(group.rollouts for group in kept) == 400
    assert 150 < kept[0].rollouts < 250  # binomial(400, 1/2) leaves this with chance below 1e-6


def test_not_a_table() -> None:
    with pytest.raises(TypeError, match="`data` must be a path, a list of paths, or a frame"):
        sf.read(3)
    with pytest.raises(TypeError, match="got a list with int"):
        sf.read([3])
    with pytest.raises(ValueError, match="at least one file"):
        sf.read([])


def test_nothing_moves(table: sf.Rollouts) -> None:
    with pytest.raises(AttributeError):
        table.low = 3.0  # type: ignore[misc]
