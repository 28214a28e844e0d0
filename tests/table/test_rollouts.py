"""The one table: narrowing, tallies, scores, pairs, thinning, rubrics and stages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.files import naming
from tests.samples import FIXTURES, put

ROWS = {
    "policy": ["new", "old", "new", "old", "new", "old"],
    "task": ["cut", "cut", "cut", "cut", "pour", "pour"],
    "seed": [1, 1, 2, 2, 1, 1],
    "success": [1, 0, 1, 1, 0, 0],
    "score": [1.0, 0.5, 1.0, 1.0, 0.25, 0.0],
}


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
    with pytest.raises(ValueError, match=r"`colour` must be a column of a rollout: policy, task"):
        table.where(colour="red")
    with pytest.raises(TypeError, match=r"`score` must be a number or a list of numbers; got '0.5'"):
        table.where(score="0.5")


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


def test_summary_is_sufficient(table: sf.Rollouts) -> None:
    new, old = table.summary()
    assert (new.key, new.rollouts, new.successes, new.scored) == (("new",), 3, 2, 3)
    assert (new.total, new.squares, new.least, new.most) == (2.25, 2.0625, 0.25, 1.0)
    assert old.tally == sf.Tally(1, 3)
    assert old.mean == 0.5
    assert [group.key for group in table.summary(by=("task", "policy"))] == [
        ("cut", "new"),
        ("cut", "old"),
        ("pour", "new"),
        ("pour", "old"),
    ]
    (everything,) = table.summary(by=())
    assert (everything.successes, everything.outcomes) == (3, 6)
    assert type(new).from_dict(new.to_dict()) == new


def test_pairs(table: sf.Rollouts) -> None:
    pairs = table.pairs("new", "old")
    assert pairs.on == ("task", "seed")
    assert pairs.tally() == sf.PairTally(both=1, first_only=1, second_only=0, neither=1)
    assert [scores.values for scores in pairs.scores()] == [(1.0, 1.0, 0.25), (0.5, 1.0, 0.0)]
    assert str(pairs) == "3 pairs of 'new' and 'old' on task, seed."
    assert pairs.labels(pairs.on) == [("cut", "1"), ("cut", "2"), ("pour", "1")]


def test_what_has_no_partner_is_said() -> None:
    rows = {"policy": ["a", "a", "a", "b", "b"], "seed": [1, 2, 3, 2, 9], "success": [1, 0, 1, 1, 1]}
    pairs = sf.read(pl.DataFrame(rows)).pairs("a", "b")
    assert (pairs.matched, pairs.first_alone, pairs.second_alone) == (1, 2, 1)
    assert str(pairs) == "1 pair of 'a' and 'b' on seed; without a partner: 2 of 'a' and 1 of 'b'."


def test_pairs_that_cannot_be_told(table: sf.Rollouts) -> None:
    bare = sf.read(pl.DataFrame({"policy": ["a", "b"], "success": [1, 0]}))
    assert not bare.pairing("a", "b")
    with pytest.raises(sf.DataError, match="neither a condition nor a seed"):
        bare.pairs("a", "b")
    twice = sf.read(pl.DataFrame({"policy": ["a", "a", "b"], "seed": [1, 1, 1], "success": [1, 0, 0]}))
    with pytest.raises(sf.DataError, match=r"'a' has 2 rollouts with seed '1'; a repeat would tell them apart"):
        twice.pairs("a", "b")
    apart = sf.read(pl.DataFrame({"policy": ["a", "b"], "seed": [1, 2], "success": [1, 0]}))
    with pytest.raises(sf.DataError, match="'a' and 'b' share no seed"):
        apart.pairs("a", "b")
    holes = sf.read(pl.DataFrame({"policy": ["a", "a", "b"], "seed": [1, None, 1], "success": [1, 0, 0]}))
    with pytest.raises(sf.DataError, match="some rollouts have no condition and no seed"):
        holes.pairs("a", "b")
    with pytest.raises(ValueError, match="must be different policies; got 'new' twice"):
        table.pairs("new", "new")
    with pytest.raises(sf.DataError, match=r"`policy` must be .*; got 'nobody'"):
        table.pairs("new", "nobody")
    with pytest.raises(ValueError, match="`on` must name columns of a rollout; got 'sead'"):
        table.pairs("new", "old", on=["sead"])


def test_declared_pairs(table: sf.Rollouts) -> None:
    rows = {"policy": ["a", "a", "b", "b"], "order": [1, 2, 1, 2], "success": [1, 0, 0, 0]}
    streams = sf.read(pl.DataFrame(rows))
    pairs = streams.pairs("a", "b", on=["order"])
    assert pairs.declared
    assert pairs.tally() == sf.PairTally(0, 1, 0, 1)
    with pytest.raises(sf.DataError, match="each policy must have one rollout per task"):
        table.pairs("new", "old", on=["task"])


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
    table = sf.read(pl.DataFrame(rows))
    assert table.where(policy="a").tally() == sf.Tally(1, 2)
    assert table.pairs("a", "b").tally() == sf.PairTally(1, 0, 0, 0)
    assert table.notes[0].startswith("1 of 5 rollouts has neither success nor score")


def test_void_rollouts_count_for_nothing() -> None:
    rows = {"policy": ["a", "a", "b"], "seed": [1, 2, 1], "success": [1, 1, 0], "valid": [True, False, None]}
    table = sf.read(pl.DataFrame(rows))
    assert table.where(policy="a").tally() == sf.Tally(1, 1)
    assert [(group.rollouts, group.void) for group in table.summary()] == [(1, 1), (1, 0)]


def test_a_policy_whose_every_rollout_is_void_has_no_pairs() -> None:
    rows = {"policy": ["a", "a", "b"], "seed": [1, 2, 1], "success": [1, 0, 1], "valid": [1, 1, 0]}
    table = sf.read(pl.DataFrame(rows))
    assert str(table.pairing("a", "b")) == "Not paired: 'a' and 'b' share no seed."
    with pytest.raises(sf.DataError, match="must share some seed; they share none"):
        table.pairs("a", "b", on="seed")
    with pytest.raises(sf.DataError, match="at least one rollout must have a known success; got none"):
        sf.compare(table, "a", "b")


def test_a_file_that_voids_nothing_counts_beside_one_that_does(tmp_path: Path) -> None:
    (tmp_path / "new.csv").write_text("policy,seed,score,valid\nnew,1,0.5,1\nnew,2,0.5,0\n")
    (tmp_path / "old.csv").write_text("policy,seed,score\nold,1,0.25\nold,2,0.75\n")
    rollouts = sf.read([tmp_path / "new.csv", tmp_path / "old.csv"])
    assert rollouts.where(policy="old").scores().values == (0.25, 0.75)
    assert rollouts.pairs("new", "old").values("score") == ((0.5, 0.25),)


def test_many_files_that_are_called_alike_are_not_one_policy() -> None:
    paths = [Path(f"/runs/{run}/model{number}.csv") for run in ("one", "two") for number in range(600)]
    assert len(set(naming.from_paths(paths))) == 1200


def test_thin_keeps_one_policy_per_environment(table: sf.Rollouts) -> None:
    thinned = table.thin(7)
    assert len(thinned) == 3
    assert len({(row["task"], row["seed"]) for row in thinned.polars().to_dicts()}) == 3
    assert thinned.hash == table.thin(7).hash
    assert len({table.thin(seed).hash for seed in range(20)}) > 1
    assert "Thinned to one random policy per environment (seed 7)." in thinned.notes
    with pytest.raises(TypeError, match="`rng` must be"):
        table.thin(None)  # type: ignore[arg-type]
    with pytest.raises(sf.DataError, match="to know shared environments"):
        sf.read(pl.DataFrame({"policy": ["a"], "success": [1]})).thin(1)


@pytest.mark.parametrize("scale", [{"rubric": 5}, {"stages": ("none", "lifted")}])
def test_shares_have_no_other_range(scale) -> None:
    frame = pl.DataFrame({"policy": ["a", "a"], "score": [3, 5], "stage": ["none", "lifted"]})
    with pytest.raises(ValueError, match="`low` and `high` must be left out with a rubric or stages; got 0 and 5"):
        sf.read(frame, low=0, high=5, **scale)
    assert sf.read(frame, low=0.0, high=1.0, **scale).high == 1.0


def test_thinning_keeps_no_void_rollout_where_another_counts() -> None:
    shared = pl.DataFrame({"policy": ["a", "b"] * 40, "seed": [place // 2 for place in range(80)], "success": [1] * 80})
    rollouts = sf.read(shared.with_columns(valid=pl.col("policy") == "a"))
    assert [(group.key, group.rollouts) for group in rollouts.thin(3).summary()] == [(("a",), 40)]


def test_thinning_is_fair() -> None:
    seeds = range(400)
    rows = [{"policy": name, "seed": seed, "success": 1} for seed in seeds for name in ("a", "b")]
    kept = sf.read(pl.DataFrame(rows)).thin(3).summary()
    assert sum(group.rollouts for group in kept) == 400
    assert 150 < kept[0].rollouts < 250  # binomial(400, 1/2) leaves this with chance below 1e-6


def test_rubric_and_stages() -> None:
    counted = sf.read(pl.DataFrame({"policy": ["a", "a"], "score": [3, 4]}), rubric=4)
    assert counted.scores().values == (0.75, 1.0)
    passed = {"policy": ["a", "a"], "grasped": ["yes", "no"], "lifted": ["1", "0"], "placed": ["no", "0"]}
    assert sf.read(pl.DataFrame(passed), rubric=("grasped", "lifted", "placed")).scores().values == (2 / 3, 0.0)
    staged = pl.DataFrame({"policy": ["a", "a", "a"], "stage": ["none", "place", "grasp"]})
    assert sf.read(staged, stages=("none", "grasp", "place")).scores().values == (0.0, 1.0, 0.5)


def test_rubric_and_stages_refuse(tmp_path: Path) -> None:
    with pytest.raises(sf.DataError, match="row 2: `score` must be a whole number of sub-tasks passed, 0 to 4; got 5"):
        sf.read(pl.DataFrame({"policy": ["a", "a"], "score": [3, 5]}), rubric=4)
    path = put(tmp_path, "s.csv", "policy,stage\na,grasp\na,grsp\n")
    with pytest.raises(
        sf.DataError, match=r"s.csv, row 2: `score` \(column 'stage'\) must be one of none, grasp; got 'grsp'"
    ):
        sf.read(path, stages=["none", "grasp"])
    other = pytest.importorskip("pandas").DataFrame(
        {"policy": ["a", "b"], "stage": ["grasp", "grsp"], "up": ["1", "?"]}
    )
    with pytest.raises(sf.DataError, match=r"`score` \(column 'stage'\) must be one of none, grasp; got 'grsp'"):
        sf.read(other, stages=["none", "grasp"])
    with pytest.raises(sf.DataError, match=r"`score` \(column 'up'\) must be one of .*; got '\?'"):
        sf.read(other, rubric=["up"])
    with pytest.raises(ValueError, match="must not both be given"):
        sf.read(path, stages=["a", "b"], rubric=2)
    with pytest.raises(ValueError, match="name at least two different stages"):
        sf.read(path, stages=["a", "a"])
    with pytest.raises(TypeError, match="must list names"):
        sf.read(path, stages="ab")
    with pytest.raises(sf.DataError, match=r"`rubric` \(column 'lifted'\) must be a column"):
        sf.read(path, rubric=("lifted",))


def test_columns_are_checked() -> None:
    frame = pl.DataFrame({"policy": ["a"], "x": [1]})
    with pytest.raises(sf.DataError, match=r"`success` \(column 'y'\) must be a column; there are 'policy', 'x'"):
        sf.read(frame, columns={"success": "y"})
    with pytest.raises(ValueError, match="`columns` must name columns among policy"):
        sf.read(frame, columns={"sucess": "x"})
    assert sf.read(frame, columns={"success": "x"}).tally() == sf.Tally(1, 1)


def test_declared_collection() -> None:
    frame = pl.DataFrame({"policy": ["a"], "success": [1]})
    assert sf.audit(sf.read(frame, collected="one")).collected == "one"
    with pytest.raises(ValueError, match="`collected` must be one of one, shared, independent, stratified"):
        sf.read(frame, collected="some")  # type: ignore[arg-type]


def test_score_counts(table: sf.Rollouts) -> None:
    assert table.score_counts() == ((0.0, 1), (0.25, 1), (0.5, 1), (1.0, 3))


@pytest.mark.parametrize("name", ["rollouts.csv", "rollouts.tsv"])
def test_a_file_too_long_for_memory_is_read_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from surefoot.files.formats import delimited

    held = sf.read(FIXTURES / name)
    monkeypatch.setattr(delimited, "HELD_IN_MEMORY", 0)
    again = sf.read(FIXTURES / name)
    assert again.polars().equals(held.polars())
    assert again.summary() == held.summary()
    assert again.notes == held.notes


def test_a_bad_row_is_found_in_a_file_too_long_for_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from surefoot.files.formats import delimited, parquet

    monkeypatch.setattr(delimited, "HELD_IN_MEMORY", 0)
    monkeypatch.setattr(parquet, "HELD_IN_MEMORY", 0)
    path = put(tmp_path, "x.csv", "policy,success\na,1\na,0\na,x\n")
    with pytest.raises(sf.DataError, match=r"x.csv, row 3: `success` .* got 'x'"):
        sf.read(path)
    pl.DataFrame({"policy": ["a", "a"], "score": [1.0, float("nan")]}).write_parquet(tmp_path / "x.parquet")
    with pytest.raises(sf.DataError, match=r"x.parquet, row 2: `score` must be a finite number; got nan"):
        sf.read(tmp_path / "x.parquet")
    pl.DataFrame({"policy": ["a", "a"], "score": [1.0, None]}).write_parquet(tmp_path / "y.parquet")
    assert sf.read(tmp_path / "y.parquet").scores().values == (1.0,)


def test_a_named_outcome_decides_how_a_table_is_read(tmp_path: Path) -> None:
    path = put(tmp_path, "x.csv", "octo,pi0\n1,0\n0,1\n")
    assert sf.read(path).policies == ("octo", "pi0")
    assert sf.read(path, columns={"success": "pi0"}, policy="pi0").tally() == sf.Tally(1, 2)


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


def test_preferences() -> None:
    preferences = sf.read_preferences(FIXTURES / "preferences.csv")
    assert str(preferences) == "3 preferences between 3 policies, from preferences.csv."
    assert preferences.counts() == {("act", "pi0"): (1, 0, 0), ("octo", "pi0"): (1, 0, 1)}
    assert any("0 is taken as the first policy preferred" in note for note in preferences.notes)
    pytest.importorskip("yaml", reason="needs the extra `yaml`")
    sessions = sf.read_preferences(FIXTURES / "roboarena")
    assert sessions.counts() == {("pi0_droid", "pi0_fast_droid"): (1, 0, 1)}
    by_name = sf.read_preferences(pl.DataFrame({"model_a": ["x"], "model_b": ["y"], "winner": ["y"]}))
    assert by_name.counts() == {("x", "y"): (0, 1, 0)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A,B,preference\nx,y,2\n", r"p.csv, row 1: `outcome` must be one of .*; got '2'"),
        ("A,B,preference\nx,x,1\n", r"row 1: `first` and `second` must be different policies; got 'x' twice"),
        ("A,B,preference\nx,,1\n", r"row 1: `second` must name a policy in every row"),
        ("A,B\nx,y\n", r"there must be a `outcome` column; got 'A', 'B'"),
        ("A,B,preference\n", r"at least one row"),
    ],
)
def test_preferences_refuse(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(sf.DataError, match=message):
        sf.read_preferences(put(tmp_path, "p.csv", text))


def test_preferences_are_not_rollouts() -> None:
    with pytest.raises(sf.DataError, match=r"it holds preferences. Read it with read_preferences"):
        sf.read(FIXTURES / "preferences.csv")


NAMES = st.text(st.characters(exclude_categories=("C", "Z"), codec="utf-8"), min_size=1, max_size=12)
OUTCOMES = st.lists(st.tuples(NAMES, st.one_of(st.none(), st.booleans())), min_size=1, max_size=30)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rows=OUTCOMES)
def test_a_csv_says_what_its_rows_say(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, Any]]) -> None:
    """Any names in any script; what comes back is what was written."""
    path = tmp_path_factory.mktemp("csv") / "rows.csv"
    pl.DataFrame(rows, schema={"policy": pl.String, "success": pl.Boolean}, orient="row").write_csv(path)
    if all(success is None for _, success in rows):
        with pytest.raises(sf.DataError, match="at least one rollout must have an outcome"):
            sf.read(path)
        return
    table = sf.read(path)
    assert set(table.policies) == {name for name, _ in rows}
    for group in table.summary():
        mine = [success for name, success in rows if name == group.key[0]]
        assert (group.rollouts, group.outcomes) == (len(mine), len(mine) - mine.count(None))
        assert group.successes == mine.count(True)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    seeds=st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(0, 12), st.booleans()),
        min_size=2,
        max_size=40,
        unique_by=lambda row: row[:2],
    )
)
def test_swapping_the_policies_mirrors_the_pairs(seeds: list[tuple[str, int, bool]]) -> None:
    table = sf.read(pl.DataFrame(seeds, schema=["policy", "seed", "success"], orient="row"))
    if not {"a", "b"} <= set(table.policies) or not table.pairing("a", "b"):
        return
    one, two = table.pairs("a", "b").tally(), table.pairs("b", "a").tally()
    assert (one.both, one.first_only, one.second_only, one.neither) == (
        two.both,
        two.second_only,
        two.first_only,
        two.neither,
    )
    outcome = {(name, seed): success for name, seed, success in seeds}
    shared = [seed for seed in range(13) if ("a", seed) in outcome and ("b", seed) in outcome]
    assert one.pairs == len(shared)
    assert one.first_only == sum(outcome["a", seed] and not outcome["b", seed] for seed in shared)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from("abc"),
            st.sampled_from(["cut", "pour", None]),
            st.one_of(st.none(), st.booleans()),
            st.one_of(st.none(), st.integers(0, 8).map(lambda eighths: eighths / 8)),
            st.one_of(st.none(), st.booleans()),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_what_is_remembered_is_what_would_be_counted(rows: list[tuple[Any, ...]]) -> None:
    """Summaries added up from finer or wider ones equal those made from the rows."""
    schema = {"policy": pl.String, "task": pl.String, "success": pl.Boolean, "score": pl.Float64, "valid": pl.Boolean}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    if frame.filter(pl.col("success").is_not_null() | pl.col("score").is_not_null()).is_empty():
        return
    table = sf.read(frame)
    assert len(table) == frame.height
    for policy in table.policies:
        narrowed = table.where(policy=policy)
        rest = frame.filter(policy=policy)
        counts = rest.filter(pl.col("valid").fill_null(value=True))
        (group,) = narrowed.summary()
        assert (group.rollouts, group.void) == (counts.height, rest.height - counts.height)
        assert (group.outcomes, group.successes) == (counts["success"].count(), counts["success"].sum())
        assert (group.scored, group.total) == (counts["score"].count(), counts["score"].sum())
        assert (group.least, group.most) == (counts["score"].min(), counts["score"].max())
        assert len(narrowed) == rest.height


@pytest.mark.parametrize(("ends", "first"), [({}, 0.85), ({"low": 0, "high": 1}, 0.85), ({"high": 100}, 85.0)])
def test_percents_are_scores(tmp_path: Path, ends: dict[str, float], first: float) -> None:
    (tmp_path / "f.csv").write_text("policy,score\nnew,85%\nnew, 35 % \n")
    assert sf.read(tmp_path / "f.csv", **ends).scores().values == (first, pytest.approx(first * 35 / 85))


def test_percents_on_another_range_are_refused(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("policy,score\nnew,85%\n")
    with pytest.raises(sf.DataError, match="Percents are read where scores run from 0 to 1 or from 0 to 100"):
        sf.read(tmp_path / "f.csv", high=5)


def test_a_guessed_column_that_cannot_be_read_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("policy,Worked?,Completion,Trial\nnew,yes,most,1a\nnew,no,half,2\n")
    found = sf.read(tmp_path / "f.csv", columns={"success": "Worked?"})
    assert found.columns == ("policy", "success")
    refused = "f.csv, row 1: `score` (column 'Completion') must be a finite number; got 'most'."
    assert f"'Completion' is left out: {refused}" in found.notes
    assert any(note.startswith("'Trial' is left out: ") for note in found.notes)
    asked = {"success": "Worked?", "score": "Completion"}
    with pytest.raises(sf.DataError, match=r"`score` \(column 'Completion'\) must be a finite number; got 'most'"):
        sf.read(tmp_path / "f.csv", columns=asked)
    with pytest.raises(sf.DataError, match=r"`score` .* must be a finite number"):  # the only outcome there is
        sf.read(tmp_path / "f.csv")
    assert sf.read(tmp_path / "f.csv", columns={"success": "Worked?", "score": "", "order": ""}).notes == ()


def test_a_column_called_name_is_the_policy_when_its_values_come_back(tmp_path: Path) -> None:
    (tmp_path / "counts.csv").write_text("name;k;n\npi0;31;36\nact;22;36\n")
    assert sf.read(tmp_path / "counts.csv").policies == ("act", "pi0")
    (tmp_path / "rows.csv").write_text("name,success\nnew,1\nnew,0\nold,1\nold,1\n")
    found = sf.read(tmp_path / "rows.csv")
    assert (found.policies, found.notes) == (("new", "old"), ("policy is guessed to be the column 'name'.",))
    assert sf.read(tmp_path / "rows.csv", policy="mine").policies == ("mine",)
    (tmp_path / "mine.csv").write_text("name,success\nq1,1\nq2,0\nq3,1\n")
    assert sf.read(tmp_path / "mine.csv").policies == ("mine",)
    both = [tmp_path / "new.csv", tmp_path / "old.csv"]
    for path in both:  # of several files, each is a policy's, whatever is called by a name in it
        path.write_text("name,success\npick,1\nstack,0\npick,1\nstack,1\n")
    assert sf.read(both).policies == ("new", "old")


def test_one_policy_by_default_is_a_finding_where_a_column_might_name_several(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("lamp,success\n" + "on,1\noff,0\n" * 4)
    (finding,) = sf.audit(sf.read(tmp_path / "mine.csv")).serious
    assert finding.says.endswith("count as one, 'mine'; the column 'lamp' has 2 different values.")
    assert """columns={"policy": 'lamp'}""" in finding.remedy
    assert sf.audit(sf.read(tmp_path / "mine.csv", policy="mine")).serious == ()
    assert sf.read(tmp_path / "mine.csv", columns={"policy": "lamp"}).policies == ("off", "on")


def test_rows_that_differ_in_a_column_not_read_are_no_copies(tmp_path: Path) -> None:
    rows = [f"new,{place % 6},1,thing {place}" for place in range(12)]
    (tmp_path / "f.csv").write_text("policy,seed,success,object\n" + "\n".join(rows) + "\n")
    assert "duplicated rows" not in {found.about for found in sf.audit(sf.read(tmp_path / "f.csv")).findings}
    (tmp_path / "g.csv").write_text("policy,seed,success,object\n" + "\n".join(rows * 2) + "\n")
    assert "duplicated rows" in {found.about for found in sf.audit(sf.read(tmp_path / "g.csv")).findings}
