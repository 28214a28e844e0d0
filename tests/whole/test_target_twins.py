"""Do the slow twins of "what is an answer about?" agree with the stored reference values?"""

from __future__ import annotations

import json
import math
from pathlib import Path

import polars as pl
import pytest
from scipy import stats

from tests.oracles import roles, score_tails, strata, targets

STORED = json.loads((Path(__file__).parents[1] / "reference" / "oracle3.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("names", [True, False])
@pytest.mark.parametrize("table", STORED["target.roles"], ids=lambda table: table["name"])
def test_roles_of_the_reference_tables(table, names):
    columns = dict(table["columns"])
    outcome = columns.pop("success")
    found = roles.roles(columns, "policy", outcome, names=names)
    assert {name: "nothing" if role == "watched" else role for name, role in found.items()} == table["roles"]
    assert roles.asked(columns, "policy", outcome) == table["tie"]


def counted(first: str, second: str) -> dict[str, list]:
    """Ten by fifty, both columns counting from 0, for two policies."""
    rows = [(policy, i, j) for policy in "ab" for i in range(10) for j in range(50)]
    return dict(zip(("policy", first, second), map(list, zip(*rows, strict=True)), strict=True))


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        ("task_id", "episode", ("unit", "repeat")),
        ("zz", "episode", ("repeat", "unit")),
        ("run", "seed", ("run", "unit")),
        ("train_seed", "zz", ("run", "repeat")),
        ("zz", "meta.env_seed", ("repeat", "unit")),
    ],
)
def test_a_name_settles_what_several_counters_are(first, second, wanted):
    columns = counted(first, second)
    outcome = [0] * len(columns["policy"])
    assert tuple(roles.roles(columns, "policy", outcome).values()) == wanted
    assert tuple(roles.roles(columns, "policy", outcome, names=False).values()) == ("repeat", "unit")


def test_columns_that_carry_nothing():
    rows = [(policy, unit, trial) for policy in "ab" for unit in range(12) for trial in range(10)]
    columns = {
        "policy": [policy for policy, _, _ in rows],
        "u": [f"u{unit}" for _, unit, _ in rows],
        "again": [f"name of {unit}" for _, unit, _ in rows],
        "constant": ["x"] * len(rows),
        "note": [f"row {place}" for place in range(len(rows))],
        "few": ["x", *[None] * (len(rows) - 1)],
        "size": [{"a": "7B", "b": "70B"}[policy] for policy, _, _ in rows],
        "seconds": [f"{place % 7 + 0.5}" for place in range(len(rows))],
    }
    found = roles.roles(columns, "policy", [place % 3 == 0 for place in range(len(rows))])
    assert {name for name, role in found.items() if role == "unit"} in ({"u"}, {"again"})
    assert sorted(found.values()) == ["nothing"] * 6 + ["unit"]


def cells(case: dict) -> tuple[list[int], list[int], list[int], list[int]]:
    """Successes and rollouts of the first and of the second, unit by unit."""
    sizes = [case.get(f"repeats_{which}") or [case["repeats"]] * case["units"] for which in ("first", "second")]
    return case["successes_first"], sizes[0], case["successes_second"], sizes[1]


@pytest.mark.parametrize("case", [case for case in STORED["target.targets"] if "units" in case])
def test_both_targets_of_the_reference_counts(case):
    unit_gains = targets.gains(*cells(case))
    assert math.fsum(unit_gains) / case["units"] == pytest.approx(case["estimate"], abs=1e-12)
    assert targets.these(*cells(case)) == pytest.approx(case["these_p"], rel=1e-10)
    assert targets.gaffke(unit_gains) == pytest.approx(case["like_p"], rel=1e-10)


@pytest.mark.parametrize("case", [case for case in STORED["target.targets"] if "pairs" in case])
def test_single_rollouts_of_the_reference_counts(case):
    found = targets.exact_pairs(case["pairs"], case["first_only"], case["second_only"])
    assert found == pytest.approx(case["like_p_at_no_gain"], rel=1e-10)


@pytest.mark.parametrize("case", [case for case in STORED["cluster.cases"] if "p_two_0" in case])
def test_the_measured_test_of_the_reference_clusters(case):
    ends = case["low"], case["high"]
    assert targets.counted(case["sizes"]) == pytest.approx(case["counted"], rel=1e-12)
    assert targets.bell_mccaffrey(case["sizes"]) == pytest.approx(case["nu"], rel=1e-10)
    found = targets.cluster_p(case["means"], case["sizes"], ends=ends)
    assert found == pytest.approx(case["p_two_0"], rel=1e-8)
    if case["p_above_0"] is not None:
        found = targets.cluster_p(case["means"], case["sizes"], ends=ends, two_sided=False)
        assert found == pytest.approx(case["p_above_0"], rel=1e-8)


def test_a_walk_over_stages_is_what_partial_fractions_give():
    for given in ([0.3, 0.1, -0.25, -0.5], [0.2, 0.2, 0.2, -0.7, 0.05], [0.5, -0.5], [0.25] * 6 + [-0.5] * 3):
        assert targets.at_most_zero(given) == pytest.approx(float(score_tails.at_most_zero(given)), rel=1e-12)
    assert targets.at_most_zero([-1.0]) == 1
    assert targets.at_most_zero([1.0]) == 0


@pytest.mark.parametrize(("wins", "units"), [(3, 4), (9, 12), (20, 20), (31, 50)])
def test_gains_of_one_or_minus_one_are_coins(wins, units):
    found = targets.gaffke([1.0] * wins + [-1.0] * (units - wins))
    assert found == pytest.approx(min(1, 2 * stats.binom.sf(wins - 1, units, 0.5)), rel=1e-12)


@pytest.mark.parametrize("units", [4, 20])
def test_units_that_do_not_differ_say_what_may_hide(units):
    assert targets.cluster_p([0.2] * units, two_sided=False) == pytest.approx(1.2**-units, rel=1e-12)
    assert targets.cluster_p([0.2] * units) == pytest.approx((1 + 0.2**units) / 1.2**units, rel=1e-12)


def test_four_scenes_as_the_text_prints_them():
    won = [5, 5, 5, 5], [5] * 4, [1, 0, 0, 0], [5] * 4
    assert targets.these(*won) == pytest.approx(2.76e-6, abs=1e-8)
    assert targets.gaffke(targets.gains(*won)) == pytest.approx(0.1389, abs=2e-5)
    low, high = targets.interval(lambda d: targets.these(*won, d), 0.95, within=1e-5)
    assert (low, high) == (pytest.approx(0.713, abs=1e-3), pytest.approx(1))


def test_three_reruns_as_the_text_prints_them():
    unit_gains = [1.0] * 15 + [0.0] * 85
    found = targets.interval(lambda d: targets.gaffke(unit_gains, d), 0.15, within=1e-5)
    assert found == pytest.approx((0.072, 0.235), abs=1e-3)


def test_terminal_bench_as_the_text_prints_it(shared_data):
    table = pl.read_csv(shared_data / "terminalbench" / "trials.csv")
    columns = {name: table[name].to_list() for name in ("agent", "task", "trial")}
    for task in ("task", "item", "zz"):
        given = {task if name == "task" else name: cells for name, cells in columns.items()}
        assert roles.roles(given, "agent", table["success"].to_list()) == {task: "unit", "trial": "repeat"}
    counts = table.group_by("agent", "task").agg(pl.col("success").sum(), pl.len().alias("n"))
    of = [
        counts.filter(agent=agent).sort("task")
        for agent in ("letta-code_claude-opus-4-5_at_anthropic", "terminus-2_gpt-5_2_at_openai")
    ]
    won = tuple(side[name].to_list() for side in of for name in ("success", "n"))
    unit_gains = targets.gains(*won)
    estimate = math.fsum(unit_gains) / 88
    assert estimate == pytest.approx(0.053, abs=1e-3)
    assert targets.gaffke(unit_gains) == pytest.approx(0.379, abs=1e-3)
    ends = targets.interval(lambda d: targets.gaffke(unit_gains, d), estimate, within=1e-4)
    assert ends == pytest.approx((-0.054, 0.156), abs=1e-3)
    assert targets.these(*won) == pytest.approx(0.0226, abs=1e-4)
    rows, weights = list(zip(*won, strict=True)), [1 / 88] * 88
    ends = targets.interval(lambda d: strata.rule_x(rows, weights, d), estimate, within=1e-4)
    assert ends == pytest.approx((0.008, 0.099), abs=1e-3)
    assert targets.cluster_p(unit_gains) == pytest.approx(0.270, abs=1e-3)
    for end, shown in ((-0.043, -0.05), (0.149, 0.16)):  # rounded outward: 5% lies between the two
        assert targets.cluster_p(unit_gains, theta=shown) < 0.05
        assert targets.cluster_p(unit_gains, theta=end) == pytest.approx(0.05, abs=3e-3)
