"""The report as JSON: its schema is published, is up to date, and holds."""

from __future__ import annotations

import json
import re
from typing import Any

import polars as pl
import pytest
from tools.report_schema import PLACE, schema, text

import surefoot as sf
from surefoot.cli.demo import example_rollouts

KINDS: dict[str, Any] = {"object": dict, "array": list, "string": str, "null": type(None), "boolean": bool}


def problems(value: Any, rule: dict[str, Any], root: dict[str, Any], path: str = "$") -> list[str]:
    """Where a value departs from a schema; the few keywords that ours uses."""
    if "$ref" in rule:
        return problems(value, root["$defs"][rule["$ref"].rsplit("/", 1)[1]], root, path)
    if "anyOf" in rule:
        found = [problems(value, each, root, path) for each in rule["anyOf"]]
        return [] if not all(found) else min(found, key=len)
    if "const" in rule and value != rule["const"]:
        return [f"{path}: {value!r} is not {rule['const']!r}"]
    if "enum" in rule and value not in rule["enum"]:
        return [f"{path}: {value!r} is none of {rule['enum']}"]
    kind = rule.get("type")
    if kind in ("number", "integer"):
        right = isinstance(value, int if kind == "integer" else (int, float)) and not isinstance(value, bool)
    else:
        right = kind is None or isinstance(value, KINDS[kind])
    if not right:
        return [f"{path}: {value!r} is no {kind}"]
    found = []
    if isinstance(value, dict):
        found += [f"{path}: {name} is missing" for name in rule.get("required", ()) if name not in value]
        for name, item in value.items():
            if name in rule.get("properties", {}):
                found += problems(item, rule["properties"][name], root, f"{path}.{name}")
            elif rule.get("additionalProperties") is False:
                found.append(f"{path}: {name} is not known")
    if isinstance(value, list):
        inner = rule.get("prefixItems") or [rule.get("items", {})] * len(value)
        if len(value) != len(inner):
            found.append(f"{path}: {len(value)} items, not {len(inner)}")
        for place, (item, each) in enumerate(zip(value, inner, strict=False)):
            found += problems(item, each, root, f"{path}[{place}]")
    return found


def test_the_published_schema_is_up_to_date():
    assert PLACE.read_text(encoding="utf-8") == text(), "run python tools/report_schema.py"


def test_every_reference_leads_somewhere():
    whole = schema()
    assert {name.rsplit("/", 1)[1] for name in re.findall(r'"\$ref": "([^"]+)"', text())} == set(whole["$defs"])


def test_the_demo_with_everything_holds(tmp_path):
    made = sf.report(example_rollouts(), previous=example_rollouts())
    made.save(tmp_path / "report.json")
    data = json.loads((tmp_path / "report.json").read_text())
    assert problems(data, schema(), schema()) == []
    assert data["overview"]["curves"]
    assert data["overview"]["changes"]


@pytest.mark.slow
def test_a_table_of_many_scores_holds():
    frame = pl.DataFrame({"policy": ["a", "b", "c"] * 700, "score": [0.1, 0.5, 0.9] * 700, "task": ["x"] * 2100})
    many = sf.report(sf.read(frame.with_columns(score=pl.col("score") + pl.int_range(pl.len()) / 1e5))).data()
    assert problems(many, schema(), schema()) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: data.pop("title"), "$: title is missing"),
        (lambda data: data.update(extra=1), "$: extra is not known"),
        (lambda data: data["overview"].update(measure="luck"), "is none of ['success', 'score']"),
        (lambda data: data["overview"].update(rollouts="many"), "is no integer"),
        (lambda data: data["overview"]["comparisons"][0]["gain"].update(schema=9), "9 is not 3"),
    ],
)
def test_a_departure_is_found(change, said):
    data = sf.report(sf.read(pl.DataFrame({"policy": ["a", "b"] * 9, "success": [1, 0] * 9}))).data()
    data = json.loads(json.dumps(data))
    change(data)
    assert said in "; ".join(problems(data, schema()["$defs"]["Report"], schema()))
