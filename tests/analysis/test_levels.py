"""Levels that disagree with the headline, columns met unevenly, and how settings weigh."""

from __future__ import annotations

import itertools
import re

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot import Verdict, stats
from surefoot.analysis import levels
from surefoot.analysis.comparison_data import Asked
from surefoot.core.notes import Note
from surefoot.numerics.rates import inversion
from surefoot.reporting.answers import short_answer
from surefoot.stats.rate_gains import exact_p
from surefoot.stats.strata import least_p
from tests.oracles.strata import rule_x
from tests.reference import listed
from tests.support.comparisons import table
from tests.support.designs import counted, crossed


def of_kind(found: sf.Comparison, kind: str) -> list[Note]:
    return [note for note in found.notes if isinstance(note, Note) and note.kind == kind]


def by_dataset(gains: dict[str, tuple[int, int]], *, scenes: int = 6, trials: int = 20) -> sf.Rollouts:
    """Successes of new and old in every scene of each dataset."""
    cells = {}
    for dataset, (x, y) in gains.items():
        for scene in range(scenes):
            cells[("new", f"s{scene}", dataset)] = (x, trials)
            cells[("old", f"s{scene}", dataset)] = (y, trials)
    return counted(cells, "scene", "dataset")


# --- Settings that disagree


def test_opposite_gains_are_named_and_stand_first() -> None:
    found = sf.compare(by_dataset({"real": (16, 8), "sim": (8, 15)}), "new", "old")
    (note,) = of_kind(found, "depends on")
    assert found.notes[0] is note
    assert note.values["column"] == "dataset"
    levels = {level: (gain, low, high, claimed) for level, gain, low, high, claimed in note.values["levels"]}
    assert {level: round(gain, 6) for level, (gain, *_) in levels.items()} == {"real": 0.4, "sim": -0.35}
    assert all(claimed for *_, claimed in levels.values())
    assert levels["real"][1] > 0.0 > levels["sim"][2]
    assert note.values["p"] < 1e-6


def test_gains_that_differ_are_told_and_gains_alike_are_not() -> None:
    found = sf.compare(by_dataset({"real": (19, 6), "sim": (12, 10)}), "new", "old")
    (note,) = of_kind(found, "gain differs")
    assert note.values["p"] < 0.05
    assert found.verdict is Verdict.BETTER
    alike = sf.compare(by_dataset({"real": (14, 10), "sim": (15, 11)}), "new", "old")
    assert not {note.kind for note in alike.notes} & {"depends on", "gain differs", "levels disagree"}


def test_the_gain_of_a_level_is_that_of_rule_x_within_it() -> None:
    found = sf.compare(by_dataset({"real": (16, 8), "sim": (8, 15)}), "new", "old")
    (note,) = of_kind(found, "depends on")
    level, gain, low, _, _ = note.values["levels"][0]
    assert level == "real"
    rows, weights = [(16, 20, 8, 20)] * 6, [1 / 6] * 6
    assert gain == pytest.approx(0.4)
    assert rule_x(rows, weights, low) == pytest.approx(0.05, abs=1e-6)


def test_few_units_that_disagree_are_named() -> None:
    cells = {("new", "easy"): (20, 20), ("old", "easy"): (2, 20), ("new", "hard"): (3, 20), ("old", "hard"): (19, 20)}
    cells |= {(p, "even"): (10, 20) for p in ("new", "old")}
    (note,) = of_kind(sf.compare(counted(cells, "scene"), "new", "old"), "depends on")
    assert note.values["column"] == "scene"
    assert [(level, claimed) for level, *_, claimed in note.values["levels"]] == [
        *(("easy", True), ("even", False), ("hard", True)),
    ]


def test_the_answer_depends_on_a_setting_on_which_it_is_better_here_and_worse_there() -> None:
    found = sf.compare(by_dataset({"real": (18, 6), "sim": (8, 13)}), "new", "old")
    assert found.gain.verdict is Verdict.BETTER  # on average, which answers nothing
    assert (found.depends_on, found.opposite) == ("dataset", ())
    assert found.verdict is Verdict.UNDECIDED
    assert found.outlook is None
    swapped = sf.compare(by_dataset({"real": (18, 6), "sim": (8, 13)}), "old", "new")
    assert (swapped.depends_on, swapped.verdict) == ("dataset", Verdict.UNDECIDED)
    worse = sf.compare(by_dataset({"real": (18, 6), "sim": (8, 13)}), "new", "old", margin=0.45)
    assert worse.depends_on == ""  # -25 points are less than what matters


@pytest.mark.parametrize("paired", [True, False])
def test_levels_of_scores_that_disagree_are_named(paired: bool) -> None:
    rng = np.random.default_rng(8)
    rows = [
        (policy, f"s{scene:03}" if paired else "", light, float(np.round(rng.beta(6 * mean, 6 - 6 * mean), 3)))
        for scene in range(120)
        for light in [("day", "dim")[scene % 2]]
        for policy in ("new", "old")
        for mean in [{"newday": 0.9, "olday": 0.5, "newdim": 0.4, "oldday": 0.5, "olddim": 0.6}[policy + light]]
    ]
    table = sf.read(pl.DataFrame(rows, schema=["policy", "scene", "light", "score"], orient="row"))
    found = sf.compare(table, "new", "old")
    assert (found.verdict, found.depends_on) == (Verdict.UNDECIDED, "light")
    assert "worse on dim -0." in str(found.notes[0])
    assert sf.slices(table, "new", "old").both_ways == ("light",)


def test_of_many_units_those_that_go_against_the_answer_stand_in_it() -> None:
    cells = {
        (who, f"scene {at}"): (18 if (who == "new") == (at > 0) else 6, 20) for who in ("new", "old") for at in range(6)
    }
    found = sf.compare(counted(cells, "scene"), "new", "old")
    assert (found.verdict, found.opposite, found.depends_on) == (Verdict.BETTER, ("scene=scene 0",), "scene")
    assert "new is better, but worse in scene=scene 0" in short_answer(found)


def test_a_level_alone_looks_at_no_levels() -> None:
    for one in sf.compare_by(by_dataset({"real": (16, 8), "sim": (8, 15)}), "new", "old", by="dataset"):
        assert not {note.kind for note in one.notes if isinstance(note, Note)} & {"depends on", "gain differs"}


# --- Columns met in unequal shares


@pytest.mark.parametrize("case", [case for case in listed("slice.cases") if case["what"].startswith("unevenness")])
def test_unevenness_is_that_of_the_reference(case: dict) -> None:
    rows = [
        (policy, f"level {level}", outcome)
        for policy, counts in (("new", case["first"]), ("old", case["second"]))
        for level, count in enumerate(counts)
        for at in range(count)
        for outcome in [at % 2]
    ]
    table = sf.read(pl.DataFrame(rows, schema=["policy", "light", "success"], orient="row"))
    (column,) = [column for column in table.design.columns if column.name == "light"]
    assert levels._distance(Asked(table, "new", "old", "success"), column) == pytest.approx(case["value"], abs=1e-9)


# --- Micro and macro


def held(gains: dict[str, tuple[int, float, float]]) -> sf.Rollouts:
    """Items in benchmarks: how many, and the chances of new and old, outcomes spread evenly."""
    cells = {}
    for benchmark, (items, p, q) in gains.items():
        for item in range(items):
            for policy, rate in (("new", p), ("old", q)):
                cells[(policy, f"{benchmark}{item}", benchmark)] = (int((item * 7 % items + 0.5) / items < rate), 1)
    return counted(cells, "item", "benchmark")


def test_both_ways_to_weigh_are_told_where_they_differ() -> None:
    table = held({"big": (200, 0.9, 0.5), "small": (20, 0.2, 0.8)})
    found = sf.compare(table, "new", "old")
    assert (found.reading.design.unit, found.reading.design.settings) == ("item", ("benchmark",))
    (note,) = of_kind(found, "micro and macro")
    assert note.values["micro"][0] == pytest.approx((200 * 0.4 - 20 * 0.6) / 220)
    assert note.values["macro"][0] == pytest.approx((0.4 - 0.6) / 2)
    assert (note.values["unit"], note.values["setting"], note.values["levels"]) == ("item", "benchmark", 2)
    macro = sf.compare(table, "new", "old", weights="settings")
    assert macro.gain.estimate == pytest.approx(note.values["macro"][0])
    assert not of_kind(macro, "micro and macro")


def test_one_way_is_enough_where_both_say_the_same() -> None:
    assert not of_kind(
        sf.compare(held({"big": (200, 0.9, 0.5), "small": (20, 0.9, 0.5)}), "new", "old"), "micro and macro"
    )


# --- Columns met unevenly


def lit(shares: tuple[float, float], rates: tuple[float, float], size: int = 100) -> sf.Rollouts:
    """No gain on either light, which the two policies met in these shares."""
    cells = {}
    for policy, share in zip(("new", "old"), shares, strict=True):
        for light, rate, part in (("lit", rates[0], share), ("dim", rates[1], 1 - share)):
            cells[(policy, light)] = (round(rate * part * size), round(part * size))
    return counted(cells, "light")


def test_a_verdict_must_hold_within_a_column_that_was_met_unevenly() -> None:
    table = lit((0.7, 0.3), (0.9, 0.3))
    assert table.design.watched == ("light",)
    found = sf.compare(table, "new", "old")
    assert of_kind(found, "met unevenly") == [Note("met unevenly", {"column": "light"})]
    assert found.verdict is Verdict.UNDECIDED
    pooled = sf.compare(table, "new", "old", ignore="light")
    assert pooled.verdict is Verdict.BETTER
    assert not of_kind(pooled, "met unevenly")
    assert sf.compare(table, "new", "old", dealt=True).gain == pooled.gain
    within = sf.compare(table, "new", "old", setting="light")
    assert within.gain.estimate == pytest.approx(0.0, abs=1e-9)
    assert found.interval.low == min(pooled.interval.low, within.interval.low)
    assert found.interval.high == max(pooled.interval.high, within.interval.high)
    assert found.p_value == max(pooled.p_value, within.p_value)


def test_shares_that_are_alike_need_no_check() -> None:
    found = sf.compare(lit((0.5, 0.5), (0.9, 0.3)), "new", "old")
    assert not of_kind(found, "met unevenly")


def test_what_sounds_like_a_result_is_not_held_within() -> None:
    table = sf.read(lit((0.7, 0.3), (0.9, 0.3)).polars().rename({"light": "collision"}))
    assert not of_kind(sf.compare(table, "new", "old"), "met unevenly")


def test_units_met_once_share_all_that_was_set() -> None:
    frame = crossed(scene=60)
    light = np.where((frame["policy"] == "a").to_numpy(), "lit", "dim")
    light[:10], light[-10:] = "dim", "lit"
    found = sf.compare(sf.read(frame.with_columns(light=pl.Series(light))), "a", "b")
    assert not of_kind(found, "met unevenly")


def test_policies_without_a_common_level_are_not_comparable() -> None:
    cells = {("a", "r1"): (18, 20), ("b", "r2"): (4, 20), ("c", "r1"): (10, 20), ("c", "r2"): (10, 20)}
    table = counted(cells, "robot")
    for said in ({}, {"setting": "robot"}, {"unit": "robot"}):
        found = sf.compare(table, "a", "b", **said)
        assert not found.comparable
        assert found.verdict is Verdict.UNDECIDED
        assert sf.compare(table, "a", "c", **said).comparable


# --- What varies more


@pytest.mark.parametrize(("apart", "kind"), [(True, "units vary more"), (False, "tries vary more")])
def test_what_would_tell_more_is_said_where_nothing_is_decided(apart: bool, kind: str) -> None:
    rng = np.random.default_rng(7)
    cells = {}
    for unit in range(40):
        rate = rng.choice([0.05, 0.95]) if apart else 0.5
        for policy in ("new", "old"):
            own = rng.choice([0.05, 0.95]) if apart else rate
            cells[(policy, f"u{unit}")] = (int(rng.binomial(8, own)), 8)
    found = sf.compare(counted(cells, "task").declare(unit="task"), "new", "old")
    assert found.verdict is Verdict.UNDECIDED
    assert {note.kind for note in found.notes if "vary more" in note.kind} == {kind}


LEVELS = st.lists(st.tuples(*[st.integers(0, 12)] * 2), min_size=1, max_size=4)


@settings(max_examples=40, deadline=None)
@given(LEVELS, st.sampled_from([1.0 - 0.95, 1.0 - 0.995]))
def test_the_p_value_of_no_gain_alone_is_at_most_that_of_the_gain(successes, error):
    strata = {str(at): (sf.Tally(x, 12), sf.Tally(y, 12)) for at, (x, y) in enumerate(successes)}
    if len(strata) == 1:
        gain = stats.exact_gain(*strata["0"], confidence=1.0 - error)
        assert exact_p(*strata["0"], error=error) == gain.p_value
    else:
        gain = stats.stratified_rate_gain(strata, weights="tasks", confidence=1.0 - error)
    assert least_p(strata, weights="tasks", error=error) <= gain.p_value


def met(rates: dict[str, tuple[float, float]], tries: int = 20) -> sf.Rollouts:
    rows = [
        (policy, scene, trial, int(trial < round(tries * rates[scene][place])))
        for (place, policy), scene, trial in itertools.product(enumerate("ab"), rates, range(tries))
    ]
    return sf.read(pl.DataFrame(rows, schema=["policy", "scene", "trial", "success"], orient="row"))


def notes(rollouts: sf.Rollouts) -> list:
    return [note for note in sf.compare(rollouts, "a", "b").notes if "levels" in note.values]


def test_levels_that_are_alike_are_not_named():
    assert notes(met({f"scene {at}": (0.5, 0.45) for at in range(8)})) == []


def test_a_level_that_disagrees_is_named_with_its_own_exact_interval():
    rates = {f"scene {at}": (0.5, 0.5) for at in range(8)} | {"scene 8": (1.0, 0.2), "scene 9": (0.2, 1.0)}
    (note,) = notes(met(rates))
    assert note.kind == "depends on"
    shown = {line[0]: line[1:] for line in note.values["levels"]}
    assert set(shown) == {"scene 8", "scene 9"}
    alone = stats.exact_gain(sf.Tally(20, 20), sf.Tally(4, 20))
    assert shown["scene 8"] == (alone.estimate, alone.interval.low, alone.interval.high, True)


def test_six_levels_whose_gains_differ_are_all_shown():
    rates = {f"scene {at}": (0.5, 0.5) for at in range(5)} | {"scene 5": (1.0, 0.0)}
    (note,) = notes(met(rates))
    assert len(note.values["levels"]) == 6
    assert [line[0] for line in note.values["levels"] if line[4]] == ["scene 5"]


def test_units_crossed_with_many_levels_of_another_column_are_measured_in_both_ways():
    rng = np.random.default_rng(3)
    cells = list(itertools.product("ab", range(30), range(20)))
    rows = [(policy, f"scene {s}", f"user {u}", int(rng.random() < 0.6)) for policy, s, u in cells]
    table = sf.read(pl.DataFrame(rows, schema=["policy", "scene", "user", "success"], orient="row"))
    own = [row for row in rows if row[0] == "a"]
    of_pairs = stats.cluster_mean(
        sf.Scores([float(row[3]) for row in own]), [row[2] for row in own], crossed=[row[1] for row in own]
    )
    found = sf.compare(table, "a", "b").of_first
    assert (found.low, found.high) == pytest.approx((of_pairs.interval.low, of_pairs.interval.high), rel=1e-9)


def test_only_the_levels_that_are_shown_are_inverted(monkeypatch):
    asked = []
    lower_ends = inversion.lower_ends
    monkeypatch.setattr(inversion, "lower_ends", lambda *args, **more: asked.append(1) or lower_ends(*args, **more))
    rates = {f"scene {at}": (0.65, 0.35 + 0.01 * at) for at in range(8)} | {"scene 8": (1.0, 0.0)}
    (note,) = notes(met(rates, tries=37))  # all agree with the headline, and yet their gains differ
    assert note.kind == "gain differs"
    assert [line[0] for line in note.values["levels"]] == ["scene 7", "scene 8"]
    assert len(asked) <= 2


def test_more_clusters_not_more_rollouts_would_tell():
    rows = [(name, c, (c + i) % k == 0) for name, k in (("new", 2), ("old", 3)) for c in range(8) for i in range(5)]
    table = sf.read(pl.DataFrame(rows, schema=["policy", "cluster", "success"], orient="row"))
    found = sf.compare(table, "new", "old", cluster="cluster")
    assert found.verdict is Verdict.UNDECIDED
    assert found.outlook.unit == "clusters"
    assert sf.compare(table, "new", "old").outlook.unit == "rollouts"  # of these eight


def test_an_undecided_score_says_what_could_have_been_seen():
    """By simulation of the same evaluation: the rough gain is seen about as often as it says, or more often."""
    rng = np.random.default_rng(3)
    old, noise = rng.uniform(0.2, 0.5, 30), rng.uniform(-0.2, 0.2, 30)
    frame = {"policy": ["new"] * 30 + ["old"] * 30, "seed": [*range(30)] * 2, "score": [*(old + noise), *old]}
    found = sf.compare(table(**frame), "new", "old")
    seen = re.search(r"could have shown a true gain of about \+(0\.\d+) or -0\.\d+ with 80% power", str(found.outlook))
    assert seen is not None
    again = [sf.Scores(rng.uniform(-0.2, 0.2, 30) + float(seen[1]), -1.0, 1.0) for _ in range(200)]
    assert 150 <= sum(sf.reference.betting_mean(gaps).low > 0.0 for gaps in again) <= 200
    assert re.search(r"About \d+,\d+ seeds would be needed to tell, if the", str(found.outlook))


def test_every_task_that_was_not_decided_says_what_would_decide_it():
    rows = [(name, task, i % 3 > 0) for name in ("new", "old") for task in ("cut", "pour") for i in range(12)]
    rollouts = sf.read(pl.DataFrame(rows, schema=["policy", "task", "success"], orient="row"))
    for one in sf.compare_by(rollouts, "new", "old"):
        assert str(one.outlook).startswith("12 rollouts each could ")
