"""Plans from a pilot: what it taught is named, and the number is that of the test or of the formula."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot.cli.main import run

Z = 1.959963984540054 + 0.8416212335729143


def pilot(
    first: list[float], second: list[float], *, items: list[str] | None = None, score: bool = False
) -> sf.Rollouts:
    names = items or [""] * len(first)
    rows = [("new", item, value) for item, value in zip(names, first, strict=True)]
    rows += [("old", item, value) for item, value in zip(names, second, strict=True)]
    frame = pl.DataFrame(rows, schema=["policy", "item", "score" if score else "success"], orient="row")
    return sf.read(frame if items else frame.drop("item"))


def test_independent_successes_get_the_plan_of_their_rates() -> None:
    found = sf.plan_from_pilot(pilot([1] * 18 + [0] * 2, [1] * 12 + [0] * 8), "new", "old")
    assert found.needed == sf.plan_comparison(0.9, 0.6).rollouts
    assert (found.exact, found.unit, found.units) == (True, "rollout of each policy", 20)


def test_pairs_of_successes_get_the_plan_of_their_discordance() -> None:
    first, second = [1] * 14 + [1] * 5 + [0], [1] * 14 + [0] * 5 + [1]
    found = sf.plan_from_pilot(pilot(first, second, items=[f"i{n}" for n in range(20)]), "new", "old", gain=0.2)
    assert found.needed == sf.plan_paired_comparison(0.25, 0.05).rollouts
    assert found.correlation == pytest.approx(np.corrcoef(first, second)[0, 1])
    assert "outcomes correlate +0.00" in str(replace(found, correlation=-0.001))
    assert found.told_by == "item"


def test_scores_in_pairs_go_by_the_spread_of_their_differences() -> None:
    rng = np.random.default_rng(3)
    first = rng.random(40)
    second = np.clip(first - 0.1 + 0.1 * rng.standard_normal(40), 0, 1)
    table = pilot(list(first), list(second), items=[f"i{n}" for n in range(40)], score=True)
    found = sf.plan_from_pilot(table, "new", "old", gain=0.05)
    assert found.needed == math.ceil(Z**2 * np.var(first - second, ddof=1) / 0.05**2)
    apart = sf.plan_from_pilot(pilot(list(first), list(second), score=True), "new", "old", gain=0.05)
    spread = np.var(first, ddof=1) + np.var(second, ddof=1)
    assert apart.needed == math.ceil(Z**2 * spread / 0.05**2)
    assert apart.needed > found.needed


def test_epochs_buy_what_the_components_say() -> None:
    rng = np.random.default_rng(5)
    items, times = 30, 4
    level = rng.random(items)
    first = rng.binomial(1, np.clip(level + 0.1, 0, 1), (times, items))
    second = rng.binomial(1, level, (times, items))
    names = [f"i{n}" for _ in range(times) for n in range(items)]
    found = sf.plan_from_pilot(pilot(list(first.ravel()), list(second.ravel()), items=names), "new", "old", gain=0.1)
    gains = first.mean(0) - second.mean(0)
    noise = (first.var(0, ddof=1) / times + second.var(0, ddof=1) / times).mean()
    between = max(0.0, gains.var(ddof=1) - noise)
    for one in found.epochs:
        assert one.environments == math.ceil(Z**2 * (between + times * noise / one.epochs) / 0.1**2)
        assert one.rollouts == 2 * one.epochs * one.environments
    assert found.unit == "environment"


def test_what_cannot_be_planned_is_said() -> None:
    even = pilot([1, 0] * 10, [1, 0] * 10)
    with pytest.raises(ValueError, match="`gain` must not be 0"):
        sf.plan_from_pilot(even, "new", "old")
    few = pilot([1, 0, 1, 1], [0, 0, 1, 0], items=list("abcd"))
    with pytest.raises(sf.DataError, match="5 environments or more; got 4"):
        sf.plan_from_pilot(few, "new", "old", gain=0.2)


def test_at_the_command_line(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pilot.csv"
    rows = [f"{p},i{n},{k},{int((n + k) % 5 < level)}" for p, level in (("new", 4), ("old", 2)) for n in range(10)
            for k in range(3)]  # fmt: skip
    path.write_text("policy,item,epoch,success\n" + "\n".join(rows))
    assert run(["plan", "compare", "--from", str(path), "--first", "new", "--second", "old", "--gain", "0.1"]) == 0
    said = capsys.readouterr().out
    assert "10 environments (item)" in said
    assert "With more epochs" in said
    assert run(["plan", "compare", "--first", "new", "--second", "0.5"]) == 64
    assert "a policy's name with `--from` only" in capsys.readouterr().err
    assert run(["plan", "compare", "--first", "0.6", "--second", "0.5", "--gain", "0.1"]) == 64


def test_a_gain_beyond_the_scale_is_refused() -> None:
    with pytest.raises(ValueError, match=r"`gain` must lie between -0\.6 and 0\.4, which 'old'"):
        sf.plan_from_pilot(pilot([1] * 18 + [0] * 2, [1] * 12 + [0] * 8), "new", "old", gain=0.6)


def test_a_pilot_that_does_not_vary_or_is_tiny_is_refused() -> None:
    with pytest.raises(sf.DataError, match="must vary"):
        sf.plan_from_pilot(pilot([0.5] * 10, [0.5] * 10, items=list("abcdefghij"), score=True), "new", "old", gain=0.1)
    with pytest.raises(sf.DataError, match="5 rollouts of each policy or more; got 1"):
        sf.plan_from_pilot(pilot([0.9], [0.1], score=True), "new", "old")


def test_environments_met_unequally_often_plan_as_if_met_alike() -> None:
    rng = np.random.default_rng(7)
    names = [f"i{n}" for n in range(1500)] + [f"i{n}" for n in range(150)] * 2
    first, second = (rng.integers(0, 2, len(names)).astype(float) for _ in range(2))
    found = sf.plan_from_pilot(pilot(list(first), list(second), items=names), "new", "old", gain=0.1)
    once = found.epochs[0].environments
    assert once == pytest.approx(Z**2 * 0.5 / 0.01, rel=0.15)
    assert found.epochs[-1].environments < 0.3 * once


def test_other_options_beside_a_pilot_are_refused(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["plan", "compare", "--from", "pilot.csv", "--claim", "better"]
    assert run(words) == 64
    assert "`--claim` must be left out with `--from`" in capsys.readouterr().err
