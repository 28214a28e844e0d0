"""The two targets of a gain: the slow twins, the reference values, the laws of names and order, and refusals."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot import Verdict
from surefoot.analysis.comparison_data import Asked, cells_of
from surefoot.analysis.targets import hull
from tests.oracles import targets as twin
from tests.support.designs import counted, crossed, outcome
from tests.support.shapes import SHAPES, renamed, shape

STORED = json.loads((Path(__file__).parents[1] / "reference" / "oracle3.json").read_text(encoding="utf-8"))
TARGETS = [case for case in STORED["target.targets"] if "units" in case]


def units(first: list[int], sizes: list[int], second: list[int], others: list[int]) -> sf.Rollouts:
    """A table of units met several times."""
    cells = {}
    for place, (x, n, y, m) in enumerate(zip(first, sizes, second, others, strict=True)):
        cells |= {("new", f"u{place:03}"): (x, n), ("old", f"u{place:03}"): (y, m)}
    return counted(cells, "scene").declare(unit="scene")


def stored(case: dict) -> tuple[list[int], list[int], list[int], list[int]]:
    sizes = [case.get(f"repeats_{which}") or [case["repeats"]] * case["units"] for which in ("first", "second")]
    return case["successes_first"], sizes[0], case["successes_second"], sizes[1]


# --- Twins and reference values


@pytest.mark.parametrize("case", TARGETS, ids=lambda case: f"{case['units']} units")
def test_both_targets_of_the_reference_counts(case: dict) -> None:
    given = stored(case)
    table = units(*given)
    like, these = (sf.compare(table, "new", "old", target=target) for target in ("like", "these"))
    assert like.gain.estimate == pytest.approx(case["estimate"], abs=1e-9)
    assert these.gain.estimate == pytest.approx(case["estimate"], abs=1e-9)
    assert these.p_value == pytest.approx(case["these_p"], rel=1e-6, abs=1e-12)
    assert like.p_value == pytest.approx(twin.cluster_p(twin.gains(*given)), rel=1e-4, abs=1e-9)
    assert sf.compare(table, "new", "old").about.target == case["headline"]


@pytest.mark.parametrize("case", [case for case in STORED["target.targets"] if "pairs" in case])
def test_units_met_once_of_the_reference_counts(case: dict) -> None:
    pairs, won, lost = case["pairs"], case["first_only"], case["second_only"]
    first = [1] * won + [0] * lost + [1] * (pairs - won - lost)
    second = [0] * won + [1] * lost + [1] * (pairs - won - lost)
    found = sf.compare(units(first, [1] * pairs, second, [1] * pairs), "new", "old")
    assert found.about.target == "like"
    assert found.gain == sf.stats.exact_paired_gain(sf.PairTally(pairs - won - lost, won, lost, 0))


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_both_targets_are_those_of_the_twins(data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 12))
    alike = data.draw(st.booleans())
    size = st.integers(2, 8)
    same = data.draw(size)
    sizes = [[same] * count if alike else data.draw(st.lists(size, min_size=count, max_size=count)) for _ in range(2)]
    wins = [[data.draw(st.integers(0, n)) for n in side] for side in sizes]
    given_ = (wins[0], sizes[0], wins[1], sizes[1])
    table = units(*given_)
    gains = twin.gains(*given_)
    these, like = (sf.compare(table, "new", "old", target=target, dealt=True) for target in ("these", "like"))
    assert these.gain.estimate == pytest.approx(math.fsum(gains) / count, abs=1e-9)
    assert these.p_value == pytest.approx(twin.these(*given_), rel=1e-5, abs=1e-9)
    assert like.gain.estimate == pytest.approx(math.fsum(gains) / count, abs=1e-9)
    if abs(math.fsum(gains)) > 1e-9:
        assert like.p_value == pytest.approx(twin.cluster_p(gains), rel=1e-3, abs=1e-8)
    for found in (these, like):
        assert found.interval.low <= found.gain.estimate <= found.interval.high
        assert (found.verdict is Verdict.UNDECIDED) == (found.interval.low <= 0.0 <= found.interval.high)


def test_four_scenes_as_the_text_has_them() -> None:
    table = units([5] * 4, [5] * 4, [1, 0, 0, 0], [5] * 4)
    found = sf.compare(table, "new", "old")
    assert str(found.about) == "these 4 scenes"
    assert found.verdict is Verdict.BETTER
    assert found.p_value == pytest.approx(2.76e-6, abs=1e-8)
    assert found.interval.low == pytest.approx(0.713, abs=1e-3)
    assert found.other is not None
    assert str(found.other.about) == "scenes like these 4"
    assert found.other.gain.p_value == pytest.approx(twin.cluster_p([0.8, 1.0, 1.0, 1.0]), rel=1e-4)


def test_terminal_bench_under_any_name(shared_data: Path) -> None:
    frame = pl.read_csv(shared_data / "terminalbench" / "trials.csv")
    both = "letta-code_claude-opus-4-5_at_anthropic", "terminus-2_gpt-5_2_at_openai"
    for task in ("task", "item", "zz"):
        found = sf.compare(sf.read(frame.rename({"task": task}), columns={"policy": "agent"}), *both)
        assert (found.reading.design.unit, found.reading.units, found.about.target) == (task, 88, "like")
        assert found.gain.estimate == pytest.approx(0.053, abs=1e-3)
        assert found.p_value == pytest.approx(0.270, abs=1e-3)
        assert (found.interval.low, found.interval.high) == pytest.approx((-0.043, 0.149), abs=1e-3)
        assert found.other is not None
        assert found.other.gain.p_value == pytest.approx(0.0226, abs=1e-3)
        ends = found.other.gain.interval
        assert (ends.low, ends.high) == pytest.approx((0.008, 0.099), abs=1e-3)


def test_three_identical_reruns_say_no_more_than_one() -> None:
    won = {"new": 67, "old": 52}
    cells = {(p, f"i{i:03}", f"r{r}"): (int(i < k), 1) for p, k in won.items() for i in range(100) for r in range(3)}
    table = counted(cells, "item", "rerun")
    first = sf.read(table.polars().filter(pl.col("rerun") == "r0"))
    for policy, k in won.items():
        alone = sf.success_rate(table.where(policy=policy))
        exact = sf.stats.clopper_pearson(sf.Tally(k, 100))
        assert alone.estimate == pytest.approx(k / 100)
        assert alone.width <= 1.05 * exact.width
        assert alone.width >= 0.99 * exact.width
    found = sf.compare(table, "new", "old")
    assert found.gain.estimate == pytest.approx(0.15)
    assert found.interval.width >= 0.9 * sf.compare(first, "new", "old").interval.width


# --- Names, rows and columns change nothing

LAW = [name for name, layout in SHAPES.items() if layout.units <= 40 and "policies" not in name]
COUNTED = {"counter of 50 shared", "task_id 10 x episode 50", "model_seed 3 x 40", "task 15 x seed 30"}
BY_NAME = COUNTED | {"12x10 with collision"}
"""Shapes in which a name decides what a counter is, or that a column sounds like a result; both are said."""


def answers(frame: pl.DataFrame, said: dict[str, str]) -> list[tuple]:
    """What is answered: verdicts, targets, ends and p-values of a comparison, rates and a ranking."""
    table = sf.read(frame).declare(**said)
    what = outcome(frame)
    found = sf.compare(table, "a", "b")
    rows = [(found.verdict, found.about.target, found.gain.estimate, *ends(found.interval), found.p_value)]
    if found.other is not None:
        rows.append((found.other.gain.verdict, *ends(found.other.gain.interval), found.other.gain.p_value))
    make = sf.success_rate if what == "success" else sf.mean_score
    for policy in "ab":
        one = make(table.where(policy=policy))
        rows.append((policy, one.estimate, *ends(one)))
    ranking = sf.rank(table)
    rows += [(ranking.names, ranking.ranks), tuple(value for one in ranking.intervals for value in ends(one))]
    return rows


def ends(interval: sf.Interval) -> tuple[float, float]:
    return interval.low, interval.high


def assert_same(one: list[tuple], other: list[tuple]) -> None:
    assert len(one) == len(other)
    for row, twin_row in zip(one, other, strict=True):
        for value, also in zip(row, twin_row, strict=True):
            if isinstance(value, float):
                assert also == pytest.approx(value, rel=1e-7, abs=1e-9)
            else:
                assert also == value


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", [name for name in LAW if name not in BY_NAME])
def test_renaming_permuting_and_adding_columns_change_no_answer(name: str) -> None:
    frame, said = shape(name, np.random.default_rng(31))
    wanted = answers(frame, said)
    for seed in range(2):
        other, names = renamed(frame, np.random.default_rng(seed))
        assert_same(wanted, answers(other, {role: names[column] for role, column in said.items()}))


def test_a_name_that_sounds_like_a_result_is_said_and_the_only_one_that_matters() -> None:
    frame, _ = shape("12x10 with collision", np.random.default_rng(31))
    table, other = sf.read(frame), sf.read(frame.rename({"collision": "zz"}))
    assert "sound like results" in {note.kind for note in sf.compare(table, "a", "b").notes}
    assert sf.compare(table, "a", "b").gain == sf.compare(other, "a", "b", ignore="zz").gain


@settings(max_examples=12, deadline=None)
@given(
    scenes=st.integers(3, 6), trials=st.integers(1, 4), robots=st.integers(1, 2), draw=st.integers(0, 999),
    seed=st.integers(0, 999),
)  # fmt: skip
def test_crossed_tables_are_answered_alike_under_any_name(
    scenes: int, trials: int, robots: int, draw: int, seed: int
) -> None:
    frame = crossed(scene=scenes, robot=robots, trial=range(trials), draw=draw)
    other, _ = renamed(frame, np.random.default_rng(seed))
    assert_same(answers(frame, {}), answers(other, {}))


@pytest.mark.parametrize("measure", ["success", "score"])
def test_the_policies_exchanged_give_the_mirror_image(measure: str) -> None:
    frame, _ = shape("20x5" if measure == "success" else "scores 4x20", np.random.default_rng(3))
    table = sf.read(frame)
    one, other = sf.compare(table, "a", "b"), sf.compare(table, "b", "a")
    assert other.gain.estimate == pytest.approx(-one.gain.estimate, abs=1e-12)
    assert ends(other.interval) == pytest.approx((-one.interval.high, -one.interval.low), abs=1e-9)
    assert other.p_value == pytest.approx(one.p_value, rel=1e-9)


WORTH = 4.0
"""An end of the interval moves by at most so many times what one row weighs (2.7 in 240 tables at random)."""


@settings(max_examples=4, deadline=None)
@given(data=st.data(), target=st.sampled_from(["like", "these"]), measure=st.sampled_from(["success", "score"]))
def test_one_row_more_moves_no_end_by_more_than_a_few_rows_are_worth(
    data: st.DataObject, target: str, measure: str
) -> None:
    count, tries = data.draw(st.integers(4, 24)), data.draw(st.integers(5, 8))
    rng = np.random.default_rng(data.draw(st.integers(0, 9999)))
    rows = [(p, f"u{u:02}", int(rng.random() < chance)) for p in ("new", "old") for u, chance in
            enumerate(rng.beta(2, 1, count)) for _ in range(tries)]  # fmt: skip
    more = [*rows, (data.draw(st.sampled_from(["new", "old"])), "u00", data.draw(st.integers(0, 1)))]
    before, after = (
        sf.read(pl.DataFrame(one, schema=["policy", "scene", measure], orient="row")).declare(unit="scene")
        for one in (rows, more)
    )
    one, other = (sf.compare(table, "new", "old", target=target, dealt=True).interval for table in (before, after))
    worth = 1.0 / (count * (tries + 1))
    assert ends(other) == pytest.approx(ends(one), abs=WORTH * worth)


@settings(max_examples=15, deadline=None)
@given(data=st.data(), name=st.sampled_from(["20x5", "scores 4x20", "88x1", "60x2 in 6 suites", "2 robots x 10 x 5"]))
def test_a_policy_more_changes_no_other_pair(data: st.DataObject, name: str) -> None:
    """Whatever part of the table the third policy met, and whatever came of it."""
    frame, _ = shape(name, np.random.default_rng(data.draw(st.integers(0, 99))))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    third = frame.filter(pl.col("policy") == "a").with_columns(policy=pl.lit("c"))
    third = third.filter(pl.Series(rng.random(third.height) < data.draw(st.sampled_from([0.5, 0.9, 1.0]))))
    third = third.with_columns(pl.Series(outcome(frame), rng.permutation(third[outcome(frame)].to_numpy())))
    one, other = (sf.compare(sf.read(table), "a", "b") for table in (frame, pl.concat([frame, third])))
    assert (other.gain, other.target) == (one.gain, one.target)
    if one.other is not None and other.other is not None:
        assert other.other.gain == one.other.gain


# --- Which target is the headline


@pytest.mark.parametrize(
    ("columns", "target", "about"),
    [
        ({"scene": 20, "trial": range(3)}, "like", "scenes like these 20"),
        ({"scene": 19, "trial": range(3)}, "these", "these 19 scenes"),
        ({"scene": 19}, "like", "scenes like these 19"),
        ({"scene": 2, "trial": range(9)}, "these", "these 2 settings (scene)"),
        ({}, "like", "rollouts like these"),
    ],
)
def test_the_headline_is_about_units_like_these_from_twenty_on(columns: dict, target: str, about: str) -> None:
    frame = crossed(**columns) if columns else pl.concat([crossed(trial=4).drop("trial")] * 5)
    found = sf.compare(sf.read(frame), "a", "b")
    assert (found.about.target, str(found.about)) == (target, about)


def test_clusters_and_runs_are_what_the_headline_is_about() -> None:
    frame = crossed(item=range(100, 180)).with_columns(page="p" + (pl.col("item") // 4).cast(pl.String))
    assert str(sf.compare(sf.read(frame), "a", "b").about) == "pages like these 20"
    many, _ = shape("own items 30x5", np.random.default_rng(1))
    assert str(sf.compare(sf.read(many), "a", "b").about) == "items like these 30"


# --- Refusals


def test_targets_that_the_data_cannot_have_are_refused() -> None:
    once = sf.read(crossed(scene=30))
    with pytest.raises(sf.DataError, match="some scene must be met again; each policy met each once") as refused:
        sf.compare(once, "a", "b", target="these")
    assert "Run some again" in refused.value.cure
    assert sf.compare(once, "a", "b").other is None
    one = sf.read(crossed(scene=1, trial=range(9))).declare(unit="scene")
    with pytest.raises(sf.DataError, match="for units like these there must be at least 2; scene has 1"):
        sf.compare(one, "a", "b", target="like")
    assert sf.compare(one, "a", "b").about.target == "these"
    bare = sf.read(pl.DataFrame({"policy": ["a", "b"] * 4, "success": [1, 0] * 4}))
    with pytest.raises(sf.DataError, match="some column must tell units apart; none does"):
        sf.compare(bare, "a", "b", target="these")
    with pytest.raises(ValueError, match="`target` must be one of like, these; got 'all'"):
        sf.compare(once, "a", "b", target="all")


@pytest.mark.parametrize("columns", [{"scene": 30, "trial": range(2)}, {}], ids=["units", "no unit"])
def test_weights_of_settings_are_refused_where_there_is_no_setting(columns) -> None:
    bare = sf.read(pl.DataFrame({"policy": ["a", "b"] * 4, "success": [1, 0] * 4}))
    table = sf.read(crossed(**columns)) if columns else bare
    for asked in (
        lambda: sf.compare(table, "a", "b", weights="settings"),
        lambda: sf.rank(table, weights="settings"),
        lambda: sf.measure(table, weights="settings"),
    ):
        with pytest.raises(sf.DataError, match="--weights settings must come with a setting that holds several units"):
            asked()


def test_a_cell_met_once_is_refused_with_the_column_that_makes_it_so() -> None:
    takes = sf.read(crossed(scene=30, take=("one", "two", "three")))
    with pytest.raises(sf.DataError, match="each policy met each once in each take, and") as refused:
        sf.compare(takes, "a", "b", target="these")
    assert "If 'take' tells tries apart, say --repeat take." in refused.value.cure
    assert sf.compare(takes.declare(repeat="take"), "a", "b", target="these").about.target == "these"


def test_a_note_in_a_table_of_counts_changes_no_answer(tmp_path: Path) -> None:
    """A policy counted in one row had one level of its own: one run, of which the answer then spoke."""
    counts = pl.DataFrame({"policy": ["a", "b", "b"], "successes": [9, 2, 3], "trials": [12, 8, 9]})
    for note in (["x", "x", "x"], ["x", "y", "z"]):
        counts.with_columns(note=pl.Series(note)).write_csv(tmp_path / "counts.csv")
        table = sf.read(tmp_path / "counts.csv")
        assert sf.compare(table, "a", "b").gain == sf.stats.exact_gain(sf.Tally(9, 12), sf.Tally(5, 17))
        with pytest.raises(sf.DataError, match="some column must tell units apart; none does"):
            sf.compare(table, "a", "b", target="these")


@pytest.mark.parametrize("measure", ["success", "score"])
def test_units_of_its_own_for_each_policy_are_pooled_for_these_very_ones(measure: str) -> None:
    frame, _ = shape("own items 30x5", np.random.default_rng(2))
    table = sf.read(frame.rename({"success": measure}))
    like = sf.compare(table, "a", "b")
    these = sf.compare(table, "a", "b", target="these")
    of = [part["success"] for part in frame.partition_by("policy", maintain_order=True)]
    exact = sf.stats.exact_gain(*(sf.Tally(int(one.sum()), 150) for one in of))
    pooled = exact if measure == "success" else sf.stats.score_gain(*(sf.Scores(sorted(map(float, one))) for one in of))
    assert these.gain == pooled
    assert (str(like.about), str(these.about)) == ("items like these 30", "these 30 items")
    assert (like.other.about, like.other.gain) == (these.about, these.gain)  # type: ignore[union-attr]


def test_declared_runs_are_named_beside_the_units() -> None:
    frame, declared = shape("runs 5x30 declared", np.random.default_rng(1))
    found = sf.compare(sf.read(frame), "a", "b", **declared)
    assert str(found.about) == "items like these 30 and these 5 runs of each"
    assert str(found.other.about) == "these 30 items and these 5 runs of each"  # type: ignore[union-attr]
    assert str(sf.compare(sf.read(frame), "a", "b").about) == "items like these 30"


def test_a_pair_that_shares_one_unit_is_answered() -> None:
    cells = {("a", "x"): (1, 1), ("a", "y"): (1, 1), ("b", "x"): (0, 1), ("b", "z"): (1, 1)}
    cells |= {("c", unit): (1, 1) for unit in "xyz"}
    found = sf.compare(counted(cells, "task").declare(unit="task"), "a", "b")
    assert found.gain == sf.stats.exact_paired_gain(sf.PairTally(0, 1, 0, 0))
    assert [note.values["count"] for note in found.notes if note.kind == "no partner"] == [2]


# --- Without units


def test_a_declared_cluster_that_all_share_is_said() -> None:
    rows = [(policy, "only", f"i{item}", item % 4 > missed) for missed, policy in enumerate("ab") for item in range(40)]
    table = pl.DataFrame(rows, schema=["policy", "document", "item", "success"], orient="row")
    found = sf.compare(sf.read(table).declare(cluster="document"), "a", "b")
    assert [note.values["called"] for note in found.notes if note.kind == "of one cluster"] == ["document"]
    assert "All are of one document: nothing tells how such groups differ" in " ".join(map(str, found.notes))


@pytest.mark.parametrize("said", [{"cluster": "user"}, {"setting": "user"}, {"unit": "user"}])
def test_declared_columns_are_heard_where_no_column_tells_units(said: dict[str, str]) -> None:
    first, second = [5, 4, 5, 3, 2, 5, 4, 5], [1, 2, 2, 0, 1, 3, 1, 2]
    cells = {}
    for place in range(8):
        cells |= {("new", f"u{place}"): (first[place], 5), ("old", f"u{place}"): (second[place], 5)}
    found = sf.compare(counted(cells, "user"), "new", "old", **said)
    given_ = first, [5] * 8, second, [5] * 8
    target = "like" if "cluster" in said else "these"
    wanted = twin.cluster_p(twin.gains(*given_)) if target == "like" else twin.these(*given_)
    assert found.about.target == target
    assert found.p_value == pytest.approx(wanted, rel=1e-3)
    assert found.gain.estimate == pytest.approx(math.fsum(twin.gains(*given_)) / 8)


def test_declared_as_drawn_is_not_paired() -> None:
    frame = crossed(scene=30)
    free = sf.compare(sf.read(frame, collected="independent"), "a", "b")
    of = [sf.Tally(int(part["success"].sum()), 30) for part in frame.partition_by("policy", maintain_order=True)]
    assert free.gain == sf.stats.exact_gain(*of)
    assert free.reading.why == "as asked"


# --- Cells and several readings


def test_cells_by_hand() -> None:
    cells = {("a", "x", "r"): (3, 4), ("b", "x", "r"): (1, 2), ("a", "x", "s"): (1, 2), ("b", "x", "s"): (1, 2)}
    cells |= {("a", "y", "r"): (2, 2), ("b", "y", "r"): (0, 2), ("a", "z", "r"): (1, 3)}
    table = counted(cells, "scene", "robot").declare(unit="scene", setting="robot")
    found = cells_of(Asked(table, "a", "b", "success"))
    assert (found.units, found.frame.height, found.spare, found.nameless) == (2, 3, 3, 0)
    assert [side.tolist() for side in found.means] == [[0.75, 0.5, 1.0], [0.5, 0.5, 0.0]]
    assert [side.tolist() for side in found.unit_means] == [[0.625, 1.0], [0.5, 0.0]]
    assert found.weights.tolist() == pytest.approx([0.25, 0.25, 0.5])  # units alike, in a unit its cells
    assert found.crossing("robot")
    assert not found.once
    by_rollouts = cells_of(Asked(table, "a", "b", "success", "rollouts"))
    assert by_rollouts.weights.tolist() == pytest.approx([6 / 14, 4 / 14, 4 / 14])  # every rollout alike


def test_several_readings_must_all_speak() -> None:
    one, two = (sf.stats.exact_gain(sf.Tally(k, 20), sf.Tally(4, 20)) for k in (18, 12))
    both = hull([one, two])
    assert (both.interval.low, both.interval.high) == (two.interval.low, one.interval.high)
    assert both.p_value == max(one.p_value, two.p_value)
    against = sf.stats.exact_gain(sf.Tally(4, 20), sf.Tally(18, 20))
    assert (hull([one, against]).p_value, hull([one, against]).verdict) == (1.0, Verdict.UNDECIDED)
