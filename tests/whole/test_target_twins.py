"""Do the slow twins of "what is an answer about?" agree with the stored reference values?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.oracles import roles

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
