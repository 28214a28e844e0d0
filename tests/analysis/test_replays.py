"""Replays: on made data, on the published rollouts, and at the command line."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from surefoot import DataError, Verdict, sequential
from surefoot.analysis.replays import CLUSTERED, HINDSIGHT, ORDER, Replay, replay, replay_pairs
from surefoot.cli.main import run as surefoot
from surefoot.core.sentences import fill
from surefoot.files.reading import read
from surefoot.sequential import FiniteHorizonMixture, run
from tests.support.parallel_runs import parallel
from tests.support.replays import table


def test_published_success_stops_where_the_paper_says(shared_data: Path):
    """Snyder et al. 2026, Table II, N-SCORE_2 and theta-SAVI, within 3 rollouts; STEP and WSR are other designs."""
    found = replay(read(shared_data / "lbm1" / "Fig4_AB.csv"), "LBM finetuned", "Single Task", randomised=True)
    stops = {(c.task, stop.name): stop.pairs if stop.decided else None for c in found.comparisons for stop in c.stops}
    expected = {
        "DumpVegetablesFromSmallToLargeContainer": (None, None),
        "PutContainersOnPlate": (None, None),
        "PutFruitInLargeContainerAndCoverWithPlate": (46, 45),
        "SeparateFruitsVegetablesIntoContainers": (98, 98),
        "TurnLargeContainerUpsideDown": (None, None),
        "BikeRotorInstall": (None, None),
        "CutAppleIntoSlices": (None, None),
        "CleanLitterBox": (None, None),
        "ClearKitchenCounter": (25, 30),
        "SetUpBreakfastTable": (19, 19),
    }
    for task, numbers in expected.items():
        for name, number in zip(("N-SCORE", "theta-SAVI"), numbers, strict=True):
            pairs = stops[task, name]
            assert (pairs is None) == (number is None), (task, name)
            assert pairs is None or abs(pairs - number) <= 3, (task, name, pairs)


def test_published_progress_needs_fewer_rollouts_with_the_mixture(shared_data: Path):
    found = replay(read(shared_data / "lbm1" / "Fig5_C.csv"), "LBM Finetuned", "Single Task", horizon=200)
    assert found.total("FHM") <= 0.87 * found.total("N-SCORE")
    stops = [[stop.pairs if stop.decided else None for stop in c.stops[:2]] for c in found.comparisons]
    assert stops == [[41, 65], [145, 185], [15, 16], [18, 19], [None, None]]
    assert (found.total("FHM"), found.undecided("FHM"), found.batch) == (838, 1, 2000)
    assert any("the surplus is left out" in note for note in found.notes)


def test_pooling_tasks_of_unknown_order_is_warned_about(shared_data: Path):
    found = replay(read(shared_data / "lbm1" / "Fig5_C.csv"), "LBM Finetuned", "Single Task", pooled=True)
    assert any("The order across tasks is not recorded" in note for note in found.notes)


def test_a_replay_is_the_run_of_the_rule():
    frame = table()
    found = replay(read(frame), "new", "old")
    first, second = (frame.filter(pl.col("policy") == p)["score"].to_list() for p in ("new", "old"))
    states = run(FiniteHorizonMixture(40, binary=False), zip(first, second, strict=True))
    stop = found.comparisons[0].stops[0]
    assert (stop.name, stop.pairs, stop.verdict) == ("FHM", states[-1].pairs, states[-1].verdict)
    assert stop.evidence == tuple(state.evidence for state in states)
    assert type(found).from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_pairs_follow_the_environment_not_the_row():
    conditions = [i // 2 for i in range(80)]
    found = replay(read(table(condition=[str(c) for c in conditions])), "new", "old")
    mixed = table(condition=[str(c) for c in conditions]).sample(fraction=1.0, shuffle=True, seed=3)
    other = replay(read(mixed), "new", "old")
    assert found.comparisons[0].pairs == other.comparisons[0].pairs == 40
    assert "theta-SAVI" not in found.rules


def test_blocked_order_is_warned_about_and_random_order_is_not():
    blocked = [f"scene {i // 20}" for i in range(80)]
    rng = np.random.default_rng(0)
    mixed = rng.permutation(blocked).tolist()
    for session, warned in ((blocked, True), (mixed, False)):
        found = replay(read(table(session=session)), "new", "old", pooled=True)
        assert any("in blocks of session" in note for note in found.notes) is warned
    tasks = replay(read(table(task=blocked)), "new", "old", pooled=True)
    assert any("in blocks of task" in note for note in tasks.notes)


def test_exact_and_savi_rules_are_shown_only_where_they_hold():
    pairs = [(1.0, 0.0), (1.0, 1.0), (0.0, 0.0)] * 10
    assert replay_pairs(pairs).rules == ("FHM", "N-SCORE", "WSR")
    assert "theta-SAVI" in replay_pairs(pairs, randomised=True, shared=False).rules
    assert "theta-SAVI" not in replay_pairs(pairs, randomised=True, shared=True).rules
    assert "theta-SAVI" not in replay_pairs([(0.5, 0.2)] * 5, randomised=True, shared=False).rules


def test_a_replay_prints_where_each_rule_would_have_stopped():
    found = replay(read(table()), "new", "old")
    lines = str(found).splitlines()
    assert str(found.comparisons[0].stops[0]) in lines[0]
    total = next(line for line in lines if line.startswith("FHM: ") and "rollouts" in line)
    assert f"{found.total('FHM'):,} of 80 rollouts" in total
    assert f"{found.saving('FHM'):.0%} saved." in total
    assert lines[-len(found.notes) :] == list(found.notes)


def test_an_undecided_replay_counts_its_horizon_and_says_so():
    found = replay_pairs([(1.0, 1.0), (0.0, 0.0)] * 10, horizon=50)
    name = found.rules[0]
    assert (found.undecided(name), found.total(name), found.saving(name)) == (1, 100, 0.0)
    assert "(1 undecided, counted at the horizon)" in str(found)


def test_tasks_that_one_policy_never_ran_are_left_out():
    kinds = ["x", "x", "y", "y"] * 20
    frame = table(task=kinds).filter(~((pl.col("task") == "y") & (pl.col("policy") == "old")))
    found = replay(read(frame).declare(unit="task"), "new", "old")
    assert [one.task for one in found.comparisons] == ["x"]
    third = table(task=kinds).with_columns(policy=pl.lit("third"))
    apart = pl.concat([table(task=["x", "y"] * 40), third])  # new runs x only, old y only
    with pytest.raises(DataError, match="'new' and 'old' must share a task; got none"):
        replay(read(apart).declare(unit="task"), "new", "old")


def test_pooled_tasks_numbered_apart_are_warned_about():
    frame = table(task=["x"] * 40 + ["y"] * 40, order=[*range(40), *range(40)])
    assert any("order across tasks" in note for note in replay(read(frame), "new", "old", pooled=True).notes)
    frame = table(task=["x"] * 40 + ["y"] * 40, order=list(range(80)))
    assert not any("order across tasks" in note for note in replay(read(frame), "new", "old", pooled=True).notes)


def test_there_must_be_something_to_replay():
    with pytest.raises(ValueError, match="`pairs` must hold at least one pair; got none"):
        replay_pairs([])
    frame = table().with_columns(score=pl.when(pl.col("policy") == "new").then(pl.col("score")))
    with pytest.raises(DataError, match="both policies must have a score; got none"):
        replay(read(frame), "new", "old", measure="score")


@pytest.mark.parametrize("few_first", [False, True])
def test_a_rule_that_not_every_task_allows_is_left_out_of_all(few_first):
    """Two pairs are too few for an exact table: a total over the other task alone would look like a saving."""
    sizes = {"a": 2, "b": 30} if few_first else {"a": 30, "b": 2}
    rows = [
        (policy, task, policy == "new")
        for task, size in sizes.items()
        for _ in range(size)
        for policy in ("new", "old")
    ]
    found = replay(
        read(pl.DataFrame(rows, schema=["policy", "task", "success"], orient="row")), "new", "old", randomised=True
    )
    assert found.rules == ("FHM", "N-SCORE", "WSR", "theta-SAVI")
    assert all(tuple(stop.name for stop in one.stops) == found.rules for one in found.comparisons)
    assert "Rules that do not suit every task are not shown: Exact, Exact paired." in found.notes
    assert replay(read(table()), "new", "old").notes == (
        fill(ORDER, how="of the rows, assumed to be the order of the starts"),
        fill(HINDSIGHT),
    )


def test_exact_rules_take_the_range_of_the_pairs():
    found = replay_pairs([(5.0, 0.0)] * 30, low=0.0, high=5.0, randomised=True, shared=False)
    unit = replay_pairs([(1.0, 0.0)] * 30, randomised=True, shared=False)
    assert found.rules[:2] == ("Exact", "Exact paired")
    assert [str(stop) for stop in found.comparisons[0].stops] == [str(stop) for stop in unit.comparisons[0].stops]


def test_what_makes_no_sense_is_refused():
    for ask in (lambda **k: replay_pairs([(1.0, 0.0)] * 9, **k), lambda **k: replay(read(table()), "new", "old", **k)):
        with pytest.raises(ValueError, match="`horizon` must be at least 1; got 0"):
            ask(horizon=0)
    with pytest.raises(ValueError, match="`measure` must be one of success, score; got 'reward'"):
        replay(read(table()), "new", "old", measure="reward")
    with pytest.raises(ValueError, match="`policy` must be one of new, old; got 'odd'"):
        replay(read(table()), "new", "odd")


@pytest.mark.parametrize("mixed", [False, True])
def test_clusters_are_warned_about_and_blocks_of_them_too(mixed):
    labels = [str(pair % 8 if mixed else pair // 5) for pair in range(40) for _ in range(2)]
    found = replay(read(table(user=labels)).declare(cluster="user"), "new", "old")
    assert fill(CLUSTERED) in found.notes
    assert any("in blocks of user" in note for note in found.notes) is not mixed
    alone = replay(read(table(user=[str(place) for place in range(80)])), "new", "old")
    assert fill(CLUSTERED) not in alone.notes


def test_each_of_few_units_is_a_stream_of_its_own():
    found = replay(read(table(scene=[f"s{place // 2 % 4}" for place in range(80)])), "new", "old")
    assert [(one.task, one.pairs) for one in found.comparisons] == [(f"s{place}", 10) for place in range(4)]
    assert fill(CLUSTERED) not in found.notes
    once = replay(read(table(scene=[f"s{place // 2}" for place in range(80)])), "new", "old")
    assert [(one.task, one.pairs) for one in once.comparisons] == [(None, 40)]


def test_a_replay_counts_in_pairs_and_plans_what_was_recorded(capsys, tmp_path):
    rows = [f"new,{place / 40:.3f}" for place in range(10, 40)] + [f"old,{place / 80:.3f}" for place in range(22)]
    (tmp_path / "f.csv").write_text("policy,score\n" + "\n".join(rows) + "\n")
    found = replay(read(tmp_path / "f.csv"), "new", "old")
    assert [(one.pairs, one.horizon) for one in found.comparisons] == [(22, 22)]
    assert found.notes[0] == "'old' has 8 rollouts fewer than 'new': the surplus is left out."
    assert "rollouts planned" not in str(found)
    assert surefoot(["replay", str(tmp_path / "f.csv"), "--first", "new", "--second", "old"]) == 0
    out = capsys.readouterr().out
    assert "planned" not in out.split("\nA dash")[0]
    longer = replay(read(tmp_path / "f.csv"), "new", "old", horizon=50)
    assert longer.batch == 100
    assert "of 100 rollouts planned" in str(longer)
    surefoot(["replay", str(tmp_path / "f.csv"), "--first", "new", "--second", "old", "--horizon", "50"])
    out = capsys.readouterr().out
    assert re.search(r"recorded\s+planned", out)
    assert re.search(r"new v old\s+22\s+50", out)
    assert "saved of the planned" in out


def of_a_list(run=60):
    """Successes of two policies on items of a list, in the order drawn."""
    rng = np.random.default_rng(3)
    first, second = (rng.permutation(100)[:run] < 70).astype(int), (rng.permutation(100)[:run] < 40).astype(int)
    rows = {"policy": ["new", "old"] * run, "condition": np.repeat(np.arange(run), 2)}
    return read(pl.DataFrame({**rows, "success": np.stack([first, second], axis=1).ravel()}))


def test_a_replay_of_a_list_says_what_it_is_about():
    found = replay(of_a_list(), "new", "old", population=100, randomised=True, claim="either")
    assert found.rules == ("Exact paired", "FHM")  # the others are not about a list
    rules = {stop.name: stop.rule for stop in found.comparisons[0].stops}
    assert rules["FHM"].population == rules["FHM"].horizon == rules["Exact paired"].horizon == 100
    stop = found.comparisons[0].stops[0]
    assert stop.decided
    said = f"On these 100 items new is better ({stop.pairs} run; error 5% for what a complete run would show)."
    assert f"Exact paired: {said} It says nothing about other items." in found.notes
    assert (
        stop.interval
        == sequential.run(stop.rule, of_a_list().pairs("new", "old").values("success"))[-1].list_interval()
    )
    shorter = replay(of_a_list(), "new", "old", population=100, horizon=60, randomised=True)
    assert shorter.rules == ("FHM",)


def test_a_replay_of_a_list_that_has_not_decided_counts_what_was_run():
    found = replay_pairs([(1, 0), (0, 1)] * 5, population=50, randomised=True, claim="either")
    note = "On these 50 items nothing is decided about first yet (10 run; error 5% for what a complete run would show)."
    assert any(note in said for said in found.notes)


def test_a_list_in_the_order_of_its_file_is_refused():
    with pytest.raises(ValueError, match="in file order 11 to 21% of such verdicts were false"):
        replay(of_a_list(), "new", "old", population=100)
    with pytest.raises(ValueError, match="with an order that was drawn at random"):
        replay_pairs([(1, 0)] * 5, population=5)
    with pytest.raises(ValueError, match="`population` must be at least 60, the pairs recorded; got 50"):
        replay(of_a_list(), "new", "old", population=50, randomised=True)
    tasks = read(pl.DataFrame({"policy": ["new", "old"] * 4, "task": list("aabb") * 2, "success": [1, 0] * 4}))
    with pytest.raises(ValueError, match="`population` must be the length of one list; got 2 tasks"):
        replay(tasks, "new", "old", population=10, randomised=True)


# --- at the stop ---

TWINS = [(1, 0), (0, 1), (1, 1), (0, 0)] * 25


def test_the_gain_at_the_stop_is_the_rules_own():
    pairs = [(1, 0), (1, 1), (1, 0), (0, 1), (1, 0)] * 20
    found = replay_pairs(pairs, claim="either", randomised=True, shared=False)
    for stop in found.comparisons[0].stops:
        state = sequential.run(stop.rule, pairs)[-1]
        assert (stop.interval, stop.ending) == (state.interval, "verdict")
    exact = found.comparisons[0].stops[0]
    assert sequential.interval_kind(exact.interval) == "final"
    assert exact.interval.low > 0
    assert Replay.from_dict(found.to_dict()) == found


def test_a_replay_gives_up_where_its_rule_does():
    plain, given = (
        replay_pairs(TWINS, claim="either", randomised=True, shared=False, futility=share) for share in (0.0, 0.02)
    )
    names = [stop.name for stop in plain.comparisons[0].stops]
    for name, before, after in zip(names, plain.comparisons[0].stops, given.comparisons[0].stops, strict=True):
        if after.rule.gives_up:
            assert (after.ending, after.verdict) == ("futility", Verdict.UNDECIDED)
            assert after.pairs == after.interval.trials < before.pairs == 100
            assert given.saving(name) > 0.2
        else:
            assert (after.pairs, after.rule.futility) == (before.pairs, 0.0)
    assert {stop.rule.gives_up for stop in given.comparisons[0].stops} == {True, False}
    with pytest.raises(ValueError, match=r"`futility` must be between 0 and 0\.2"):
        replay_pairs(TWINS, futility=0.5)


def test_the_command_tells_the_gain_at_the_stop(tmp_path, capsys):
    file = tmp_path / "pairs.csv"
    file.write_text("\n".join(f"{one},{other}" for one, other in TWINS))
    words = ["replay", str(file), "--claim", "either", "--randomised", "--futility", "0.02"]
    assert surefoot(words) == 0
    out = capsys.readouterr().out
    assert "Gain by Exact paired, at its stop: +0.0 points [" in out
    assert "final interval)." in out


def test_a_replay_goes_by_the_starts_and_leaves_out_what_follows_a_gap():
    frame = parallel(2, 8, 40, gain=0.3)
    by_number, by_time = (replay(read(frame), "new", "old", start_order=name) for name in ("episode", "start_time"))
    assert [str(stop) for stop in by_number.comparisons[0].stops] == [str(s) for s in by_time.comparisons[0].stops]
    assert by_number.notes[-2] == "The episodes enter in the order of the starts, by `episode`."
    shuffled = replay(read(frame.sample(fraction=1.0, shuffle=True, seed=1)), "new", "old", start_order="episode")
    assert shuffled == by_number
    gap = replay(read(frame.filter(pl.col("episode") != 41)), "new", "old", start_order="episode")
    assert gap.comparisons[0].pairs == 20
    assert "The file has no start 41: episodes that were started later are left out." in gap.notes
    ends = frame.drop("episode").with_columns(timestamp=pl.col("start_time") + pl.col("duration")).drop("start_time")
    with pytest.raises(DataError, match="`timestamp` shows another order"):
        replay(read(ends), "new", "old")
