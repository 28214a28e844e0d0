"""How often a slice is named wrongly: twelve designs in which some slices hold no difference."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats as scipy_stats

import surefoot as sf
from surefoot.analysis import slice_tests
from surefoot.stats import slices

pytestmark = pytest.mark.slow

TABLES = 4_000
THROUGH_THE_DOOR = 400
"""Tables that are read, cut and tested as a user's are; the others go to the engine alone."""
DRAWS = 199
"""Fewer shuffles than a user gets: the promise holds for any number of them."""
ERROR = 0.05
LIGHT, CLUTTER, POSE = ("dim", "lamp", "day"), ("none", "some"), ("A", "B", "C", "D")
Drawn = tuple[pl.DataFrame, Callable[[tuple[tuple[str, str], ...], str], bool]]
"""A table, and whether a claim, "worse" or "better", of a slice is wrong."""


def everywhere(where: Any, claim: str) -> bool:
    """Every claim is wrong where nothing differs."""
    return True


def rolled(rng: Any, cells: Any, sizes: Any, rates: Any, names: list[str]) -> pl.DataFrame:
    """Rollouts of two policies or more: cells by policies hold how many and how likely."""
    policies = ("new", "old", "third")[: sizes.shape[1]]
    index = np.repeat(np.arange(sizes.size), sizes.ravel())
    place, policy = np.divmod(index, sizes.shape[1])
    columns = {"policy": np.asarray(policies)[policy]}
    columns |= {name: np.asarray([cell[one] for cell in cells])[place] for one, name in enumerate(names)}
    return pl.DataFrame(columns | {"success": (rng.random(len(index)) < rates.ravel()[index]).astype(int)})


def uneven_sizes(rng: Any) -> Drawn:
    """1 to 24 against 1 to 24 rollouts a cell, rates from .05 to .95, a level of the second alone."""
    cells = list(itertools.product(LIGHT, CLUTTER, POSE))
    sizes, rate = rng.integers(1, 25, (24, 2)), rng.uniform(0.05, 0.95, (24, 1))
    sizes[[cell[2] == "D" for cell in cells], 0] = 0
    return rolled(rng, cells, sizes, np.repeat(rate, 2, 1), ["lighting", "clutter", "pose"]), everywhere


def better_elsewhere(rng: Any) -> Drawn:
    """In daylight the first is better by .3; it is nowhere worse, and elsewhere it is not better."""
    cells = list(itertools.product(LIGHT, CLUTTER, POSE))
    rates = np.array([[0.9 if cell[0] == "day" else 0.6, 0.6] for cell in cells])
    table = rolled(rng, cells, np.full((24, 2), 8), rates, ["lighting", "clutter", "pose"])

    def wrong(where: tuple[tuple[str, str], ...], claim: str) -> bool:
        return claim == "worse" or any(column == "lighting" and level != "day" for column, level in where)

    return table, wrong


def lopsided(rng: Any) -> Drawn:
    """3 against 30 rollouts a cell, rare failures."""
    cells = list(itertools.product(LIGHT, CLUTTER, POSE))
    rates = np.repeat(rng.choice([0.9, 0.97, 0.6], (24, 1)), 2, 1)
    return rolled(rng, cells, np.tile([3, 30], (24, 1)), rates, ["lighting", "clutter", "pose"]), everywhere


def pairs(rng: Any) -> Drawn:
    """160 scenes met once by each, of difficulties of their own."""
    scenes = 160
    hard = rng.beta(0.6, 0.4, scenes)
    set_to = {name: rng.choice(levels, scenes) for name, levels in (("lighting", LIGHT), ("pose", POSE))}
    parts = [
        pl.DataFrame({"policy": policy, "scene": np.arange(scenes) + 1000}).with_columns(
            *(pl.Series(name, values) for name, values in set_to.items()),
            pl.Series("success", (rng.random(scenes) < hard).astype(int)),
        )
        for policy in ("new", "old")
    ]
    return pl.concat(parts), everywhere


def rubric(rng: Any) -> Drawn:
    """Scores in fourths, skewed, 4 to 14 rollouts a cell of each policy."""
    cells = list(itertools.product(LIGHT, CLUTTER, POSE))
    table = rolled(rng, cells, rng.integers(4, 15, (24, 2)), np.ones((24, 2)), ["lighting", "clutter", "pose"])
    shift = {cell: rng.uniform(0.3, 3.0) for cell in cells}
    keys = table.select("lighting", "clutter", "pose").rows()
    score = np.round(4.0 * rng.beta([shift[key] for key in keys], 0.7)) / 4.0
    return table.drop("success").with_columns(pl.Series("score", score)), everywhere


def clusters_in_cells(rng: Any) -> Drawn:
    """Sessions of one policy, each under one light and clutter: 4 to 6 a cell, of 3 to 6 rollouts alike."""
    rows: list[tuple[Any, ...]] = []
    for light, clutter in itertools.product(LIGHT, CLUTTER):
        for policy in ("new", "old"):
            for session in range(int(rng.integers(4, 7))):
                rate = rng.beta(1.2, 0.8)
                name = f"{policy}-{light}-{clutter}-{session}"
                rows += [
                    (policy, light, clutter, name, int(rng.random() < rate)) for _ in range(int(rng.integers(3, 7)))
                ]
    return pl.DataFrame(rows, ["policy", "lighting", "clutter", "session", "success"], orient="row"), everywhere


def clusters_across_cells(rng: Any) -> Drawn:
    """Ten training seeds of each policy, each met under every light and clutter."""
    rows: list[tuple[Any, ...]] = []
    cells = list(itertools.product(LIGHT, CLUTTER))
    for policy in ("new", "old"):
        for seed in range(10):
            rate = rng.beta(2.0, 1.0)
            rows += [(policy, *cell, f"{policy}-{seed}", int(rng.random() < rate)) for cell in cells for _ in range(3)]
    return pl.DataFrame(rows, ["policy", "lighting", "clutter", "checkpoint_seed", "success"], orient="row"), everywhere


def three_policies(rng: Any) -> Drawn:
    """Two policies against a baseline, 3 to 12 rollouts a cell."""
    cells = list(itertools.product(LIGHT, CLUTTER, POSE))
    rates = np.repeat(rng.uniform(0.3, 0.95, (24, 1)), 3, 1)
    return rolled(rng, cells, rng.integers(3, 13, (24, 3)), rates, ["lighting", "clutter", "pose"]), everywhere


def clusters_of_pairs(rng: Any) -> Drawn:
    """60 scenes met 1 to 5 times by both under two lights each, some rollouts lost, that favour one by chance."""
    rows: list[tuple[Any, ...]] = []
    for scene in range(60):
        base, lean, clutter = rng.beta(1.0, 1.0), rng.normal(0.0, 0.25), rng.choice(CLUTTER)
        for light in ("dim", "day"):
            count = int(rng.integers(1, 6))
            for policy, sign in (("new", 1.0), ("old", -1.0)):
                rate = min(1.0, max(0.0, base + sign * lean))
                rows += [
                    (policy, f"s{scene}", clutter, light, int(rng.random() < rate))
                    for _ in range(count)
                    if rng.random() > 0.05
                ]
    return pl.DataFrame(rows, ["policy", "scene", "clutter", "lighting", "success"], orient="row"), everywhere


def sparse(rng: Any) -> Drawn:
    """Three factors of five levels drawn at random, 160 v 160; one matters and was met in other shares."""
    parts = []
    for policy, lean in (("new", [0.3, 0.2, 0.2, 0.2, 0.1]), ("old", [0.1, 0.2, 0.2, 0.2, 0.3])):
        levels = {f"f{one}": rng.integers(0, 5, 160) for one in range(2)} | {"light": rng.choice(5, 160, p=lean)}
        success = (rng.random(160) < 0.85 - 0.12 * levels["light"]).astype(int)
        named = {name: [f"{name}{level}" for level in values] for name, values in levels.items()}
        parts.append(pl.DataFrame({"policy": [policy] * 160, **named, "success": success}))
    return pl.concat(parts), everywhere


def dealt(rng: Any) -> Drawn:
    """Three factors of five levels dealt to rollouts, one of them hard in some levels."""
    parts = []
    for policy in ("new", "old"):
        levels = {f"f{one}": rng.integers(0, 5, 160) for one in range(3)}
        success = (rng.random(160) < 0.9 - 0.15 * levels["f0"]).astype(int)
        named = {name: [f"{name}{level}" for level in values] for name, values in levels.items()}
        parts.append(pl.DataFrame({"policy": [policy] * 160, **named, "success": success}))
    return pl.concat(parts), everywhere


def one_policy(rng: Any) -> Drawn:
    """One policy, that fails alike everywhere."""
    cells = list(itertools.product(LIGHT, CLUTTER, POSE))
    rate = rng.choice([0.5, 0.8, 0.95])
    return rolled(rng, cells, rng.integers(2, 16, (24, 1)), np.full((24, 1), rate), ["light", "clutter", "pose"]), (
        everywhere
    )


DESIGNS: dict[str, tuple[Callable[[Any], Drawn], dict[str, Any]]] = {
    "uneven sizes": (uneven_sizes, {}),
    "better elsewhere": (better_elsewhere, {}),
    "3 v 30": (lopsided, {}),
    "pairs": (pairs, {}),
    "rubric scores": (rubric, {}),
    "clusters in cells": (clusters_in_cells, {}),
    "clusters across cells": (clusters_across_cells, {}),
    "three policies": (three_policies, {}),
    "clusters of pairs": (clusters_of_pairs, {}),
    "sparse": (sparse, {}),
    "dealt": (dealt, {"dealt": True}),
    "one policy": (one_policy, {"only": True}),
}


def found_in(table: pl.DataFrame, *, only: bool = False, **options: Any) -> Iterator[Any]:
    rollouts = sf.read(table)
    if only:
        yield sf.slices(rollouts, "new", **options)
    elif table["policy"].n_unique() > 2:
        yield from sf.slices_against(rollouts, "old", **options)
    else:
        yield sf.slices(rollouts, "new", "old", **options)


@pytest.mark.parametrize("name", DESIGNS)
def test_a_slice_is_named_wrongly_in_at_most_one_table_of_twenty(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slice_tests, "DRAWS", DRAWS)
    draw, options = DESIGNS[name]
    rng, wrong, hows = np.random.default_rng([2026, list(DESIGNS).index(name)]), 0, set()
    for _ in range(THROUGH_THE_DOOR):
        table, is_wrong = draw(rng)
        every = list(found_in(table, **options))
        hows |= {one.how for one in every}
        wrong += any(is_wrong(claim.where, str(claim.verdict)) for one in every for claim in one.claimed)
    print(f"{name}: {wrong} of {THROUGH_THE_DOOR} tables  {sorted(hows)}")
    assert scipy_stats.binom.sf(wrong - 1, THROUGH_THE_DOOR, ERROR) > 1e-3


# --- The engine alone, on ten times as many tables


CELLS = list(itertools.product(LIGHT, CLUTTER, POSE))
LEVELS = [(column, level) for column, levels in enumerate((LIGHT, CLUTTER, POSE)) for level in levels]
SLICES = [(one,) for one in LEVELS] + [pair for pair in itertools.combinations(LEVELS, 2) if pair[0][0] != pair[1][0]]
MEMBERS = np.array([[float(all(cell[at] == level for at, level in parts)) for parts in SLICES] for cell in CELLS])
Engine = tuple[list[slices.Shuffle], Any, Any]
"""What is shuffled, of one pair of policies or two; which slices are nowhere worse, and which nowhere better."""
ALL = np.ones(len(SLICES), dtype=bool)


def of_rates(rng: Any, sizes: Any, rates: Any) -> slices.Shuffle:
    won = rng.binomial(sizes, rates).astype(float)
    n, m = sizes.astype(float).T
    return slices.of_successes(won[:, 0], n, won[:, 1], m, MEMBERS)


def engine_uneven(rng: Any) -> Engine:
    """1 to 24 against 1 to 24 a cell, one level never met by the first, rates from .05 to .95."""
    sizes = rng.integers(1, 25, (24, 2))
    sizes[[cell[2] == "D" for cell in CELLS], 0] = 0
    return [of_rates(rng, sizes, np.repeat(rng.uniform(0.05, 0.95, (24, 1)), 2, 1))], ALL, ALL


def engine_better_elsewhere(rng: Any) -> Engine:
    """Better by .3 in daylight: nowhere worse, and better in no slice without daylight."""
    day = np.array([cell[0] == "day" for cell in CELLS])
    rates = np.stack([np.where(day, 0.9, 0.6), np.full(24, 0.6)], axis=1)
    return [of_rates(rng, np.full((24, 2), 10), rates)], ALL, (MEMBERS * day[:, None]).sum(axis=0) == 0.0


def engine_lopsided(rng: Any) -> Engine:
    """3 against 30 a cell, rare failures."""
    rates = np.repeat(rng.choice([0.9, 0.97, 0.6], (24, 1)), 2, 1)
    return [of_rates(rng, np.tile([3, 30], (24, 1)), rates)], ALL, ALL


def engine_tiny(rng: Any) -> Engine:
    """1 or 2 against 1 or 2 a cell."""
    return [of_rates(rng, rng.integers(1, 3, (24, 2)), np.repeat(rng.uniform(0, 1, (24, 1)), 2, 1))], ALL, ALL


def engine_three(rng: Any) -> Engine:
    """Two policies against one baseline, 4 to 12 a cell of each; half of the error each."""
    sizes, rates = rng.integers(4, 13, (3, 24)), rng.uniform(0.3, 0.95, 24)
    won = rng.binomial(sizes, rates).astype(float)
    pairs = [slices.of_successes(won[at], sizes[at], won[2], sizes[2], MEMBERS) for at in (0, 1)]
    return pairs, ALL, ALL


def engine_pairs(rng: Any) -> Engine:
    """Pairs of 24 cells of difficulties of their own, few of them told apart."""
    unlike = rng.binomial(rng.integers(1, 20, 24), rng.beta(1, 2, 24))
    lost = rng.binomial(unlike, 0.5).astype(float)
    return [slices.of_pairs(lost, unlike - lost, MEMBERS)], ALL, ALL


def engine_rubric(rng: Any) -> Engine:
    """Skewed scores in fourths, 4 to 14 a cell of each policy."""
    sizes = rng.integers(4, 15, (24, 2))
    cell, policy = np.divmod(np.repeat(np.arange(48), sizes.ravel()), 2)
    values = np.round(4.0 * rng.beta(rng.uniform(0.3, 3.0, 24)[cell], 0.7)) / 4.0
    return [slices.of_scores(values, policy == 0, cell, MEMBERS)], ALL, ALL


def engine_sessions(rng: Any) -> Engine:
    """Sessions of one policy in one cell, 3 to 6 of 2 to 7 rollouts: whole ones are shuffled."""
    counts = rng.integers(3, 7, (24, 2))
    cell, policy = np.divmod(np.repeat(np.arange(48), counts.ravel()), 2)
    size = rng.integers(2, 8, len(cell))
    total = rng.binomial(size, rng.beta(1.2, 0.8, len(cell))).astype(float)
    mean = np.bincount(cell, total, 24) / np.bincount(cell, size, 24)
    return [slices.of_scores(total - size * mean[cell], policy == 0, cell, MEMBERS)], ALL, ALL


def engine_units(rng: Any) -> Engine:
    """60 scenes, each under two lights and one clutter and pose, that favour one of the two by chance."""
    gaps = np.zeros((60, len(SLICES)))
    for scene in range(60):
        lean, base = rng.normal(0.0, 0.3), rng.beta(1, 1)
        rest = int(rng.integers(8))
        for light in rng.choice(3, 2, replace=False):
            tries = int(rng.integers(1, 5))
            rates = np.clip([base + lean, base - lean], 0.0, 1.0)
            first, second = rng.binomial(tries, rates)
            gaps[scene] += (second - first) * MEMBERS[light * 8 + rest]
    return [slices.of_units(gaps)], ALL, ALL


def engine_dealt(rng: Any) -> Engine:
    """Levels dealt to rollouts at random, about 3 a cell of each; one of the columns matters."""
    cell = rng.integers(0, 24, (2, 75))
    sizes = np.stack([np.bincount(one, minlength=24) for one in cell]).astype(float)
    hard = np.array([{"dim": 0.4, "lamp": 0.7, "day": 0.95}[one[0]] for one in CELLS])
    won = rng.binomial(sizes.astype(int), hard).astype(float)
    stratum = np.zeros(24, dtype=int)
    return [slices.of_dealt(won[0], sizes[0], won[1], sizes[1], stratum, MEMBERS)], ALL, ALL


ENGINES = {
    made.__name__.removeprefix("engine_"): made
    for made in (
        *(engine_uneven, engine_better_elsewhere, engine_lopsided, engine_tiny, engine_three, engine_pairs),
        *(engine_rubric, engine_sessions, engine_units, engine_dealt),
    )
}


@pytest.mark.parametrize("name", ENGINES)
def test_the_step_down_names_a_slice_wrongly_in_at_most_one_table_of_twenty(name: str) -> None:
    rng, wrong = np.random.default_rng([30, list(ENGINES).index(name)]), 0
    for table in range(TABLES):
        shuffles, not_worse, not_better = ENGINES[name](rng)
        error = ERROR / 2.0 / len(shuffles)
        found = [slices.step_down(one, draws=DRAWS, seed=table) for one in shuffles]
        wrong += any(
            (one.worse[not_worse] <= error + 1e-12).any() or (one.better[not_better] <= error + 1e-12).any()
            for one in found
        )
    print(f"{name}: {wrong}/{TABLES} = {wrong / TABLES:.4f}")
    assert scipy_stats.binom.sf(wrong - 1, TABLES, ERROR) > 1e-3
