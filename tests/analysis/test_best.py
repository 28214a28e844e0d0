"""The best of several policies from finished rollouts."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot import Tally, reference, stats
from surefoot.analysis.best import Best


def counted(counts: dict[str, int], trials: int = 50) -> sf.Rollouts:
    rows = [(name, int(at < hits)) for name, hits in counts.items() for at in range(trials)]
    return sf.read(pl.DataFrame(rows, schema=["policy", "success"], orient="row"))


def shared(rates: dict[str, float], units: int, rng: np.random.Generator) -> sf.Rollouts:
    hard = rng.random(units)
    rows = [(name, f"u{at}", int(hard[at] < rate)) for name, rate in rates.items() for at in range(units)]
    return sf.read(pl.DataFrame(rows, schema=["policy", "item", "success"], orient="row"))


def test_independent_successes_go_by_the_exact_shortlist():
    counts = {"a": 40, "b": 46, "c": 21}
    found = sf.best(counted(counts))
    tallies = {name: Tally(hits, 50) for name, hits in counts.items()}
    assert found.pick == "b"
    assert found.shortlist == stats.shortlist(tallies).names
    assert found.lower.value == reference.simultaneous_lower_bounds(tallies)["b"].value
    assert found.regret is not None
    assert found.regret.value == stats.regret_bound(tallies, "b").value
    assert found.selection == stats.selection_bias(tallies)
    assert found.estimate == pytest.approx(46 / 50 - found.selection.bias)


def test_shared_conditions_are_compared_pair_by_pair():
    table = shared({"a": 0.9, "b": 0.6, "c": 0.85}, 120, np.random.default_rng(3))
    found = sf.best(table)
    assert found.pick == "a"
    assert "b" not in found.shortlist
    assert found.about.column == "item"
    assert found.selection is None  # only known for independent successes
    pairs = {name: sf.compare(table, "a", name).gain for name in ("b", "c")}
    assert pairs["b"].p_value < 0.01


def test_one_that_is_shown_to_be_the_best_has_no_regret():
    found = sf.best(counted({"a": 50, "b": 10, "c": 12}))
    assert found.shortlist == ("a",)
    assert found.regret is None
    assert found.is_within is None
    assert sf.best(counted({"a": 50, "b": 10, "c": 12}), within=0.01).is_within


def test_within_is_claimed_when_the_regret_allows_it():
    table = counted({"a": 900, "b": 880, "c": 500}, 1000)
    wide, narrow = sf.best(table, within=0.1), sf.best(table, within=0.001)
    assert wide.is_within
    assert not narrow.is_within


def test_a_tie_has_no_winner():
    assert "tied for the highest" in str(sf.best(counted({"a": 30, "b": 30, "c": 10})))


def test_less_is_better_where_it_is_said():
    rows = [(name, 10.0 * at + 1.0 + step) for at, name in enumerate(("fast", "mid", "slow")) for step in range(9)]
    table = sf.read(pl.DataFrame(rows, schema=["policy", "score"], orient="row"), high=60.0)
    assert sf.best(table, lower_is_better=True).pick == "fast"
    assert sf.best(table).pick == "slow"


def test_unequal_sizes_are_said():
    rows = [("a", 1)] * 30 + [("a", 0)] * 10 + [("b", 1)] * 10 + [("b", 0)] * 10
    found = sf.best(sf.read(pl.DataFrame(rows, schema=["policy", "success"], orient="row")))
    assert [note.kind for note in found.notes] == ["sizes differ"]


def test_the_answer_reads_back_from_its_dictionary():
    found = sf.best(counted({"a": 40, "b": 46, "c": 21}), within=0.05)
    again = Best.from_dict(found.to_dict())
    assert again == found
    assert str(again) == str(found)


@pytest.mark.parametrize("within", [0.0, 1.0, -0.1])
def test_a_distance_outside_0_and_1_is_refused(within):
    with pytest.raises(ValueError, match="within"):
        sf.best(counted({"a": 40, "b": 46}), within=within)


def test_one_policy_is_refused():
    with pytest.raises(ValueError, match="2 to 1,000"):
        sf.best(counted({"a": 40}))


@pytest.mark.slow
def test_a_best_one_is_seldom_left_out_on_shared_conditions():
    rng, left = np.random.default_rng(8), 0
    for _ in range(60):
        units = rng.random((40, 1)) < 0.5
        values = np.where(rng.random((40, 4)) < 0.6, units, rng.random((40, 4)) < 0.5)
        rows = [(f"p{at}", f"u{unit}", int(values[unit, at])) for at in range(4) for unit in range(40)]
        found = sf.best(sf.read(pl.DataFrame(rows, schema=["policy", "item", "success"], orient="row")))
        left += "p0" not in found.shortlist
    assert left <= 9  # the .999 point of 60 at .05


def test_checkpoints_that_only_a_column_tells_apart_are_read_by_it():
    rows = [("pi0", step, int(at < hits)) for step, hits in ((1, 9), (2, 30), (3, 40)) for at in range(50)]
    frame = pl.DataFrame(rows, schema=["policy", "step", "success"], orient="row")
    with pytest.raises(ValueError, match=r"got 1\. If 'step' tells them apart, say columns="):
        sf.best(sf.read(frame))
    found = sf.best(sf.read(frame, columns={"policy": "step"}))
    assert (found.names, found.steps) == (("3", "2", "1"), (3.0, 2.0, 1.0))


def test_a_long_shortlist_is_printed_whole_or_says_how_many_are_left():
    many = {f"p{place:02}": 40 for place in range(20)}
    assert "20 of 20 may be the best (95%): p00" in str(sf.best(counted(many)))
    assert all(name in str(sf.best(counted(many))) for name in many)
    assert ", p18 and 2 more." in str(sf.best(counted({**many, "p20": 40})))


def test_steps_are_read_from_names_or_from_a_column():
    assert sf.best(counted({"ckpt-2000": 9, "ckpt-10k": 40, "ckpt-4000": 20})).steps == (10_000.0, 4_000.0, 2_000.0)
    assert sf.best(counted({"a1": 9, "b2": 40, "a3": 20})).steps == ()  # they differ in more than a number
    assert sf.best(counted({"v1": 9, "v2": 40})).steps == ()  # two points are no curve
    assert sf.best(counted({"policy1": 9, "policy2": 40, "policy3": 20})).steps == ()  # a number that is only a name
    assert sf.best(counted({"1000": 9, "2000": 40, "3000": 20})).steps == (2000.0, 3000.0, 1000.0)
    rows = [(name, step, int(at < hits)) for name, step, hits in (("a", 5, 9), ("b", 1, 30)) for at in range(50)]
    table = sf.read(pl.DataFrame(rows, schema=["policy", "step", "success"], orient="row"))
    assert sf.best(table).steps == (1.0, 5.0)


def test_it_says_what_to_run_next_and_what_it_costs():
    counts = {f"ckpt-{at}": 40 - at // 3 for at in range(13)}
    found = sf.best(counted(counts))
    assert len(found.shortlist) == 13
    assert "`surefoot plan halve --policies 13 --budget 400` for a fresh number in 400 rollouts" in found.next
    assert sf.best(counted({"a": 50, "b": 10, "c": 12})).next == ""


def test_rollouts_of_a_study_are_said_to_be_chosen_by_looking():
    study = sf.Study.create(sf.Plan(policies=("a", "b", "c"), blinded=False, horizon=30), ":memory:")
    rates = {"a": 1.0, "b": 0.0, "c": 0.0}
    sf.run_study(study, lambda turn: sf.Outcome(success=bool(rates[turn.policy])))
    found = sf.best(study.rollouts())
    assert [note.kind for note in found.notes] == ["could stop by looking"]
    head, doubt, after = found.lines()
    assert "a has the highest rate" in head
    assert "do not hold" in doubt
    assert after.startswith("Next: a race")  # and no statement for sizes fixed beforehand


def test_a_pick_that_is_shown_as_good_as_all_is_not_called_zero_points_below():
    counts = {"a": (174, 191), "b": (142, 175), "c": (75, 107), "d": (40, 62), "e": (2, 11)}
    rows = [(name, i < k) for name, (k, n) in counts.items() for i in range(n)]
    found = sf.best(sf.read(pl.DataFrame(rows, schema=["policy", "success"], orient="row")))
    said = str(found)
    assert "at most 0.0 points" not in said
    if found.regret is not None and found.regret.value <= 0.0:
        assert "a is at least as good as each of the others (95%)." in said


def test_of_a_study_that_looked_it_is_said_first_that_the_statements_do_not_hold():
    study = sf.Study.create(sf.Plan(policies=("a", "b"), question="best", horizon=60, blinded=False), ":memory:")
    while (turn := study.next_turn()) is not None:
        study.record(turn, turn.policy == "a" or turn.number % 3 == 0)
    lines = str(sf.best(study.rollouts())).splitlines()
    assert "Statements for sizes fixed beforehand do not hold" in lines[1]
    assert sum("fixed beforehand" in line for line in lines) == 1
    assert "`surefoot plan race" in lines[-1]


def test_a_policy_without_an_outcome_is_refused_and_missing_outcomes_are_said():
    rows = [(name, None if name == "c" else at % 2) for name in "abc" for at in range(20)]
    table = sf.read(pl.DataFrame(rows, schema=["policy", "success"], orient="row"))
    with pytest.raises(ValueError, match="hold a known success of every policy; 'c' has none"):
        sf.best(table)
    rows = [(name, None if name == "c" and at < 5 else at % 2) for name in "abc" for at in range(20)]
    found = sf.best(sf.read(pl.DataFrame(rows, schema=["policy", "success"], orient="row")))
    assert [note.kind for note in found.notes] == ["outcomes missing"]  # all were run equally often
    assert "do not hold" in str(found).splitlines()[1]
    assert "5 rollouts have no known success and were left out" in str(found)


def test_where_less_is_better_the_lowest_is_picked_and_bounded_from_above():
    counts = {"a": 5, "b": 20, "c": 24}
    found = sf.best(counted(counts), lower_is_better=True)
    turned = sf.best(counted({name: 50 - hits for name, hits in counts.items()}))  # as often as each does not
    assert (found.names, found.shortlist) == (("a", "b", "c"), ("a",))
    assert (found.lower.side, turned.lower.side) == ("upper", "lower")
    assert found.lower.value == pytest.approx(1.0 - turned.lower.value, abs=1e-9)
    assert "a has the lowest rate, 5 of 50 (10.0%)" in str(found)
    assert f"a succeeds in at most {100.0 * found.lower.value:.1f}"[:-2] in str(found)
    close = sf.best(counted({"a": 20, "b": 21, "c": 24}), lower_is_better=True)
    assert "points above the best of the 3 (95%)" in str(close)
