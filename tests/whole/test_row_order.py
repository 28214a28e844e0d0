"""Is every answer of a fixed size a function of the rows, whatever their order?"""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import surefoot as sf

ORDERS = 20


def table(kind: str, policies: tuple[str, ...] = ("new", "mid", "old")) -> pl.DataFrame:
    """Rollouts of some policies: two tasks, unequal numbers, scores with ties."""
    rng = np.random.default_rng(5)
    rows = []
    for place, policy in enumerate(policies):
        for task, base in (("cut", 0.7), ("pour", 0.35)):
            for number in range(24 + 3 * place):
                level = base - 0.12 * place + 0.2 * (number % 5) / 5
                for again in range(1 + number % 3 if kind == "repeats" else 1):
                    score = round(float(np.clip(rng.normal(level, 0.2), 0, 1)), 2)
                    rows.append((policy, task, f"start {number}", again, score, int(score > 0.5), f"doc {number % 7}"))
    names = ["policy", "task", "scene", "again", "progress", "success", "cluster"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    dropped = {
        "tasks": ["scene", "again", "cluster"],
        "pairs": ["again", "cluster"],
        "repeats": ["again", "cluster"],
        "clusters": ["again", "scene"],
        "plain": ["task", "scene", "again", "cluster"],
    }
    return frame.drop(dropped[kind])


def orders(frame: pl.DataFrame) -> list[pl.DataFrame]:
    """Sorted, reversed, blocked and shuffled."""
    made = [frame, frame.reverse(), frame.sort("progress"), frame.sort("progress", descending=True)]
    made += [frame.sort("task", maintain_order=True)] if "task" in frame.columns else []
    return made + [frame.sample(fraction=1.0, shuffle=True, seed=seed) for seed in range(ORDERS - len(made))]


def answers(frame: pl.DataFrame) -> str:
    rollouts = sf.read(frame)
    said = [one.to_dict() for what in ("success", "score") for one in sf.measure(rollouts, only=what)]  # type: ignore[arg-type]
    for what in ("success", "score"):
        said.append(sf.compare(rollouts, "new", "old", measure=what).to_dict())  # type: ignore[arg-type]
        said.append(sf.compare(rollouts, "new", "old", measure=what, weights="rollouts").to_dict())  # type: ignore[arg-type]
        said.append(sf.rank(rollouts, measure=what).to_dict())  # type: ignore[arg-type]
    said.append(sf.audit(rollouts).to_dict())
    return json.dumps(said)


@pytest.mark.parametrize(
    "kind",
    ["plain", "pairs", "repeats", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("tasks", "clusters"))],
)
def test_an_answer_does_not_depend_on_the_order_of_the_rows(kind: str) -> None:
    # scores that are not paired take seconds, for every two policies
    few, policies = (2, ("new", "old")) if kind in ("tasks", "plain") else (5, ("new", "mid", "old"))
    assert len({answers(frame) for frame in orders(table(kind, policies))[:few]}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plain", "tasks", "pairs", "repeats", "clusters"])
def test_an_answer_does_not_depend_on_any_of_twenty_orders(kind: str) -> None:
    assert len({answers(frame) for frame in orders(table(kind))}) == 1


@pytest.mark.parametrize("kind", ["tasks", "pairs"])
def test_a_page_does_not_depend_on_the_order_of_the_rows(kind: str) -> None:
    pages = set()
    for frame in orders(table(kind, ("new", "old")))[:2]:
        found = sf.report(sf.read(frame), measure="score").overview.to_dict()
        found.pop("fingerprint")
        pages.add(json.dumps(found))
    assert len(pages) == 1


def test_a_file_by_difficulty_says_the_same_both_ways() -> None:
    """Version 0.1.0 said better in one order and worse in the other, with the estimate outside its own interval."""
    rng = np.random.default_rng(0)
    level = np.linspace(0.2, 0.9, 500)
    new, old = (np.clip(level + rng.normal(shift, 0.05, 500), 0, 1).round(3) for shift in (0.0, -0.005))
    frame = pl.DataFrame(
        {
            "policy": ["new"] * 500 + ["old"] * 500,
            "item": [f"{number:03}" for number in range(500)] * 2,
            "score": [*new, *old],
        }
    )
    ways = [sf.compare(sf.read(way), "new", "old") for way in (frame, frame.reverse())]
    assert ways[0].to_dict() == ways[1].to_dict()
    assert ways[0].interval.low <= ways[0].interval.estimate <= ways[0].interval.high
