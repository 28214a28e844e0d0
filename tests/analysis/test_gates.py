"""A joint gate on a table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot import DataError, Tally, stats
from surefoot.analysis.gates import Gated
from surefoot.reporting.reviews import gate_markdown

TWO = {"first": "new", "second": "old"}


def table(
    new: float = 0.85, old: float = 0.85, *, size: int = 200, seed: int = 1, collisions: int = 0, slow: float = 1.0
):
    """Rollouts that stand alone, with durations and collisions."""
    rng, size = np.random.default_rng(1), 200
    rows = []
    for policy, rate in (("new", new), ("old", old)):
        hits = round(rate * size)
        times = np.minimum(120.0, rng.gamma(9, 5, size) * (slow if policy == "new" else 1.0))
        for at in range(size):
            bumped = int(policy == "new" and at < collisions)
            rows.append((policy, int(at < hits), float(np.round(times[at], 2)), bumped, int(1000 * slow)))
    names = ["policy", "success", "duration", "collision", "tokens"]
    return sf.read(pl.DataFrame(rows, schema=names, orient="row"))


def suites(drop: str | None = None, size: int = 300, suites: int = 4):
    """Benchmarks of independent rollouts; on one of them the new policy fell."""
    rows = [
        (policy, f"b{at}", int(n < size * (0.5 if policy == "new" and f"b{at}" == drop else 0.8)))
        for policy in ("new", "old")
        for at in range(suites)
        for n in range(size)
    ]
    return sf.read(pl.DataFrame(rows, schema=["policy", "benchmark", "success"], orient="row"))


NEEDS = [
    {"measure": "success", "not_worse_by": 0.1},
    {"measure": "duration", "at_most_times": 1.2, "limit": 120},
    {"measure": "collision", "rate_at_most": 0.05},
]


def test_all_pass_and_the_code_is_0():
    found = sf.gate(table(), NEEDS, **TWO)
    assert found.code == 0
    assert found.passed
    assert found.p_value == max(one.p_value for one in found.found)
    assert str(found).startswith("pass: ")


def test_the_culprit_comes_first_then_open_needs_with_what_they_lack_then_passes():
    needs = [*NEEDS, {"measure": "success", "not_worse_by": 0.01}]
    with pytest.raises(ValueError, match="one need with not_worse_by"):
        sf.gate(table(), needs, **TWO)
    needs = [*NEEDS, {"measure": "success", "rate_at_least": 0.84}]
    found = sf.gate(table(collisions=30), needs, **TWO)
    assert found.code == 1
    assert [one.ends for one in found.found] == ["fail", "open", "pass", "pass"]
    first, second, third, *_ = str(found).splitlines()
    assert first.startswith("FAIL: collision rate at most 5%: 30/200, 15.0% [")
    assert second.startswith("open: success rate at least 84%: ")
    assert "more rollouts would tell." in second
    assert third == "pass: success not worse by 10 points; duration at most 1.2 times."
    assert "collision rate at most 5%" in found.says


def test_bounds_are_clopper_and_pearsons():
    found = sf.gate(table(collisions=4), [{"measure": "collision", "rate_at_most": 0.05}], **TWO).found[0]
    assert found.high == pytest.approx(stats.clopper_pearson_upper(Tally(4, 200), confidence=0.95).value)
    assert found.low == pytest.approx(stats.clopper_pearson_lower(Tally(4, 200), confidence=0.95).value)
    for edge in (found.high * 1.0001, found.high * 0.9999):
        again = sf.gate(table(collisions=4), [{"measure": "collision", "rate_at_most": edge}], **TWO)
        assert again.passed == (edge > found.high)


@pytest.mark.parametrize("margin", [0.02, 0.1])
def test_one_need_agrees_with_compare_gate(margin):
    for new in (0.7, 0.8, 0.85, 0.9):
        rows = table(new, 0.85)
        lower, upper = sf.compare(rows, "new", "old", margin=margin, gate=True).bounds
        found = sf.gate(rows, [{"measure": "success", "not_worse_by": margin}], **TWO)
        assert found.code == (0 if lower.value > -margin else 1 if upper.value < -margin else 2)
        assert (found.found[0].low, found.found[0].high) == (lower.value, upper.value)


def test_every_level_is_a_need_and_the_one_that_fell_is_named():
    need = {"measure": "success", "by": "benchmark", "not_worse_by": 0.1}
    assert sf.gate(suites(), [need], **TWO).passing == "pass: success on 4 of 4 benchmarks not worse by 10 points."
    found = sf.gate(suites("b2"), [need], **TWO)
    assert found.code == 1
    assert [one.level for one in found.of("fail")] == ["b2"]
    assert len(found.of("pass")) == 3
    assert sf.gate(suites("b2"), [need], rule="at least 3", **TWO).code == 0


def test_levels_are_not_charged_for_each_other():
    """Each passes by itself at 95%; together they pass as well, and Bonferroni would leave all open."""
    need = {"measure": "success", "by": "benchmark", "not_worse_by": 0.06}
    found = sf.gate(suites(size=420), [need], **TWO)
    assert found.code == 0
    assert max(one.p_value for one in found.found) > 0.05 / 4


def test_a_level_that_one_never_met_is_not_comparable():
    rows = suites()
    left = pl.concat([rows.polars().filter((pl.col("policy") == "old") | (pl.col("task") != "b1"))])
    found = sf.gate(sf.read(left), [{"by": "task", "not_worse_by": 0.1}], **TWO)
    assert found.code == 3
    assert found.of("not comparable")[0].level == "b1"


def test_one_better_none_worse():
    needs = [{"measure": "success", "not_worse_by": 0.1}, {"measure": "duration", "at_most_times": 1.2, "limit": 120}]
    found = sf.gate(table(slow=0.6), needs, rule="one better, none worse", **TWO)
    assert found.code == 0
    assert found.better == ("duration at most 1.2 times",)
    same = sf.gate(table(), needs, rule="one better, none worse", **TWO)
    assert same.code == 2
    assert same.better == ()


def test_lower_is_better_where_it_is_said():
    need = {"measure": "duration", "better": "lower", "limit": 120}
    assert sf.gate(table(slow=0.6), [{**need, "better_by": 1.0}], **TWO).code == 0
    assert sf.gate(table(slow=1.8), [{**need, "not_worse_by": 5.0}], **TWO).code == 1


def test_a_policy_against_itself_in_the_run_before():
    now, before = (table(collisions=at).where(policy="new") for at in (30, 0))
    found = sf.gate(now, NEEDS, previous=before)
    assert found.code == 1
    assert found.found[0].need.measure == "collision"
    assert found.second == "new (previous run)"


def test_a_policy_that_is_not_of_both_runs_is_named():
    now, before = (table(collisions=at).where(policy="new") for at in (30, 0))
    with pytest.raises(sf.DataError, match=r"`first` must be of both runs, 'new'; got 'now\.csv'"):
        sf.gate(now, NEEDS, previous=before, first="now.csv")


def test_units_of_levels_are_not_counted_where_their_column_is_told():
    rows = [
        (m, c, f"{c}-{n}", n % 3) for m in ("new", "old") for c, size in (("a", 30), ("b", 60)) for n in range(size)
    ]
    frame = pl.DataFrame(rows, schema=["model", "category", "id", "correct"], orient="row")
    by = sf.gate(
        sf.read(frame.with_columns(pl.col("correct") > 0)),
        [{"measure": "success", "not_worse_by": 0.1, "by": "category"}],
        **TWO,
    )
    assert by.how.startswith("new against old, for units like these (id): 2 needs")


def test_policies_against_themselves_are_not_told_by_the_first_of_them():
    found = sf.gate(table(), NEEDS, previous=table())
    assert "every policy (now) against itself (previous run), for" in found.how


def test_pairs_and_clusters_are_taken_from_the_design():
    rng = np.random.default_rng(3)
    rows = []
    for scene in range(40):
        base, time = rng.random() < 0.8, rng.gamma(9, 5)
        for policy in ("new", "old"):
            for trial in range(3):
                took = float(np.clip(time * rng.uniform(0.9, 1.1), 0, 120))
                rows.append((policy, f"s{scene}", trial, int(base), round(took, 2)))
    rollouts = sf.read(pl.DataFrame(rows, schema=["policy", "scene", "trial", "success", "duration"], orient="row"))
    found = sf.gate(rollouts, [NEEDS[0], {**NEEDS[1], "at_most_times": 1.3}, {"rate_at_least": 0.5}], **TWO)
    assert {one.about for one in found.found} == {"scenes like these 40"}
    assert found.code == 0
    ratio = next(one for one in found.found if one.need.measure == "duration")
    assert ratio.low < ratio.estimate < ratio.high < 1.3


def test_human_labels_correct_a_need():
    rng = np.random.default_rng(8)
    rows = []
    for item in range(400):
        labelled = item < 150
        for policy in ("new", "old"):
            truth = int(rng.random() < 0.8)
            judge = truth if rng.random() < 0.9 else 1
            rows.append((policy, item, judge, truth if labelled else None))
    rollouts = sf.read(pl.DataFrame(rows, schema=["policy", "item", "success", "human"], orient="row"))
    found = sf.gate(rollouts, [{"not_worse_by": 0.2}, {"rate_at_least": 0.5}], **TWO)
    assert found.code == 0
    gained = next(one for one in found.found if one.need.claim == "not_worse_by")
    assert "judge" in gained.method
    by_hand = sf.judged_gain(rollouts, "new", "old", confidence=0.9).gain.interval
    assert (gained.low, gained.high) == (by_hand.low, by_hand.high)


def test_the_result_reads_back():
    found = sf.gate(table(collisions=30), NEEDS, **TWO)
    assert Gated.from_dict(found.to_dict()) == found


def test_what_is_broken_by_itself_but_not_after_all_needs_is_said():
    """The bound leaves the claim out, and the need is open all the same: the others are why."""
    one = {"measure": "collision", "rate_at_most": 0.05}
    assert sf.gate(table(collisions=17), [one], **TWO).code == 1
    others = [{"measure": "success", "rate_at_least": 0.7}, NEEDS[0], NEEDS[1]]
    found = sf.gate(table(collisions=17), [one, *others], **TWO)
    assert found.code == 2
    assert "(broken by itself, p = 0.0" in str(found)


# What is refused


def test_rows_that_lack_a_measure_are_counted_and_named():
    frame = (
        table()
        .polars()
        .with_columns(duration=pl.when(pl.int_range(pl.len()).is_in([4, 9])).then(None).otherwise(pl.col("duration")))
    )
    with pytest.raises(DataError, match=r"`duration`; 2 rollouts lack it: row 5, 10"):
        sf.gate(sf.read(frame), [NEEDS[1]], **TWO)


def test_a_duration_above_its_limit_is_refused_with_its_row():
    with pytest.raises(DataError, match=r"between 0 and 30, the limit.*timeout counts the limit"):
        sf.gate(table(), [{**NEEDS[1], "limit": 30}], **TWO)


def test_other_refusals():
    with pytest.raises(DataError, match="'speed' is none"):
        sf.gate(table(), [{"measure": "speed", "rate_at_most": 0.1}], **TWO)
    with pytest.raises(DataError, match="yes or no"):
        sf.gate(table(), [{"measure": "duration", "rate_at_most": 0.1}], **TWO)
    with pytest.raises(DataError, match="is a result"):
        sf.gate(table(), [{"by": "collision", "not_worse_by": 0.1}], **TWO)
    with pytest.raises(DataError, match="got 'older'"):
        sf.gate(table(), NEEDS, first="new", second="older")
    with pytest.raises(DataError, match="compares two policies"):
        sf.gate(table().where(policy="new"), NEEDS)
    with pytest.raises(ValueError, match="1 to 3 needs"):
        sf.gate(table(), NEEDS, rule="at least 4", **TWO)
    with pytest.raises(DataError, match="rate_at_least"):
        sf.gate(table(), [{"mean_at_least": 0.3}], **TWO)


def by_task(rates: dict[str, tuple[int, int]], size: int = 40) -> sf.Rollouts:
    """Successes of new and old in every task."""
    rows = [
        (policy, task, int(at < won))
        for task, pair in rates.items()
        for policy, won in zip(("new", "old"), pair, strict=True)
        for at in range(size)
    ]
    return sf.read(pl.DataFrame(rows, schema=["policy", "task", "success"], orient="row"))


def test_an_average_that_depends_on_a_column_passes_no_gate() -> None:
    """Four tasks rise from 16 to 37 of 40, two fall: the mean holds, and would have passed unmentioned."""
    mixed = by_task({f"t{at}": (37, 16) if at < 4 else (12, 32) for at in range(6)})
    found = sf.gate(mixed, [{"not_worse_by": 0.1}], **TWO)
    assert (found.code, found.found[0].depends_on, found.found[0].worse) == (2, "task", ("task=t4", "task=t5"))
    assert "but worse in task=t4, task=t5: depends on task" in str(found)
    assert found.found[0].lacks is None
    assert "depends on task" in gate_markdown(found)
    allowed = sf.gate(mixed, [{"not_worse_by": 0.1}, {"by": "task", "not_worse_by": 0.8}], **TWO)
    assert allowed.code == 0  # the gate says what each level needs


def test_a_level_that_falls_is_told_where_the_average_holds() -> None:
    found = sf.gate(
        by_task({"a": (30, 30), "b": (31, 30), "c": (14, 30), "d": (32, 30)}, 40), [{"not_worse_by": 0.25}], **TWO
    )
    assert found.code == 0
    assert "success not worse by 25 points, but worse in task=c" in str(found)


@pytest.mark.parametrize(
    "body",
    [
        '[gate]\nrule = "no slice worse"\n[[gate.need]]\nnot_worse_by = 0.1\n',
        "[gate]\nslices = true\n[[gate.need]]\nnot_worse_by = 0.1\n",
        '[gate]\n[[gate.need]]\nmeasure = "no slice worse"\nnot_worse_by = 0.1\n',
        "[gate]\n[[gate.need]]\nno_slice_worse = true\n",
    ],
)
def test_no_slice_worse_is_refused_with_the_reason(tmp_path: Path, body: str) -> None:
    (tmp_path / "release.toml").write_text(body)
    with pytest.raises(DataError, match="no evidence that none is worse"):
        sf.read_gate(tmp_path / "release.toml")


def test_tokens_have_no_fractions():
    """Means of thousands with ends hundreds apart: whole numbers, rounded outwards."""
    rng = np.random.default_rng(5)
    rows = [("new", at % 2, int(one)) for at, one in enumerate(rng.permutation(np.arange(2000, 8000, 30)))]
    data = sf.read(pl.DataFrame(rows, schema=["policy", "success", "tokens"], orient="row"))
    (found,) = sf.gate(data, [{"measure": "tokens", "mean_at_most": 3000, "limit": 10_000}]).found
    ends = f"{round(found.estimate):,} [{int(found.low):,}, {int(found.high) + 1:,}]"
    assert str(found) == f"FAIL: mean tokens at most 3,000: {ends}."


def test_where_nothing_can_be_compared_nothing_is_said_of_it():
    rows = [("new", "a", 1), ("old", "b", 1)] * 20
    data = sf.read(
        pl.DataFrame(
            [(*row, at) for at, row in enumerate(rows)], schema=["policy", "bench", "success", "n"], orient="row"
        )
    )
    found = sf.gate(data, [{"not_worse_by": 0.1, "by": "bench"}], **TWO)
    assert (found.code, found.how.startswith("new against old: ")) == (3, True)
