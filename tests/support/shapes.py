"""Tables of many shapes under the null of one target: what was met, by whom, how often, and what the columns say.

`shape(name, rng, null=...)` draws labels first and chances after: "like" draws the chances of all policies in a unit (a
cluster, a run) from one law, so that the mean gain over the population is 0 while units differ in their gain; "these"
lets the gains of the very units that both policies met cancel exactly. `renamed` takes away names and order.
"""

from __future__ import annotations

import itertools
import string
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import polars as pl

Null = Literal["like", "these"]
POLICIES = ("a", "b")
MANY = 20
"""From so many levels on, what units lie in or cross is a sample as well."""


@dataclass(frozen=True)
class Layout:
    """What was met how often, what it is called, and the law of its chances."""

    units: int = 1
    repeats: int | tuple[int, int] = 1
    unit: str | None = "task"
    repeat: str | None = "trial"
    labels: Literal["text", "count", "hex", "own"] = "text"
    takes: Literal["count", "text"] = "count"
    settings: dict[str, int] = field(default_factory=dict)  # crossed with the units
    unequal: tuple[int, ...] = ()  # rollouts in the levels of the one setting
    held: tuple[str, int] | None = None  # a column in whose levels the units lie
    uneven: bool = False  # levels of `held` hold unequal numbers of units
    runs: int = 1
    run: str = ""
    run_labels: Literal["own", "count"] = "own"
    fixed_runs: bool = False
    missing: float = 0.0  # share of the cells (policy x unit) that were not met
    lost: float = 0.0  # share of the rollouts that were lost
    policies: tuple[str, ...] = POLICIES
    more: tuple[int, ...] = ()  # rollouts of each policy where there is no unit
    law: Literal["plain", "sparse", "rare", "sure"] = "plain"
    outcome: Literal["success", "score", "rubric"] = "success"
    measured: tuple[str, ...] = ()
    declared: dict[str, str] = field(default_factory=dict)
    anonymous: bool = False

    @property
    def targets(self) -> tuple[Null, ...]:
        """The targets that the shape can be asked about: nothing tells a unit met once from its noise."""
        once = (self.repeats == 1 or self.takes == "text") and self.runs == 1 and not self.unequal
        return ("like",) if once or self.unit is None else ("like", "these")

    @property
    def headline(self) -> Null:
        """The target that is answered when none is asked for: a unit counts where both policies met it."""
        held = self.held is not None and self.held[1] >= MANY
        many = self.units * (1.0 - self.missing) ** 2 >= MANY or self.runs >= MANY or held
        return "like" if many or self.declared or "these" not in self.targets else "these"


def _plain() -> dict[str, Layout]:
    """Units by repeats."""
    sizes = [
        (88, 5),
        (88, 1),
        (20, 3),
        (20, 5),
        (10, 3),
        (10, 5),
        (10, 20),
        (4, 3),
        (4, 5),
        (4, 20),
        (88, 20),
        (500, 3),
    ]
    listed = {f"{units}x{repeats}": Layout(units, repeats) for units, repeats in sizes}
    return listed | {"24x10": Layout(24, 10), "16x20": Layout(16, 20, unit="scene")}


LISTED: dict[str, Layout] = _plain() | {
    "88x1..5": Layout(88, (1, 5)),
    "20x1..5": Layout(20, (1, 5)),
    "20x5 missing": Layout(20, 5, missing=0.2),
    "88x1 missing": Layout(88, 1, missing=0.2),
    "scores 20x5": Layout(20, 5, outcome="score"),
    "scores 4x20": Layout(4, 20, outcome="score"),
    "text 97x1": Layout(97, 1, unit="instruction"),
    "text 12x1": Layout(12, 1, unit="instruction"),
    "2 robots x 10 x 5": Layout(10, 5, settings={"robot": 2}),
    "6 x (10 real, 50 sim)": Layout(6, 1, settings={"dataset": 2}, unequal=(10, 50), repeat=None),
    "400x1 in 40 documents": Layout(400, 1, unit="question", held=("document", 40)),
    "400x3 in 40 documents": Layout(400, 3, unit="question", held=("document", 40)),
    "360 in 12 benchmarks": Layout(360, 1, unit="question", held=("benchmark", 12)),
    "3 reruns x 100": Layout(100, 3, unit="item", repeat="rerun", law="sure"),
    "runs 5x30 declared": Layout(30, 1, unit="item", runs=5, run="training", declared={"run": "training"}),
    "runs 12x20": Layout(20, 1, unit="item", runs=12, run="training", fixed_runs=True),
    "counter of 50 shared": Layout(50, 1, unit="seed", labels="count"),
    "counter of 50": Layout(unit=None, repeat="episode", more=(50, 50)),
    "task_id 10 x episode 50": Layout(10, 50, unit="task_id", repeat="episode", labels="count"),
    "12x10 with collision": Layout(12, 10, unit="scene", measured=("collision",)),
    "own items 30x5": Layout(30, 5, unit="item", labels="own"),
}
"""The shapes that section 20 lists."""

MORE: dict[str, Layout] = {
    "60x2 in 6 suites": Layout(60, 2, held=("suite", 6)),
    "30x4 on 3 robots": Layout(30, 4, settings={"robot": 3}),
    "8 x 3 stations x 2 lights x 4": Layout(8, 4, settings={"station": 3, "light": 2}, anonymous=True),
    "three policies 40x3": Layout(40, 3, policies=("a", "b", "c")),
    "five policies 25x2 lost": Layout(25, 2, policies=("a", "b", "c", "d", "e"), lost=0.15),
    "200x1 in 25 uneven documents": Layout(200, 1, unit="question", held=("document", 25), uneven=True),
    "30 scenes x 20 users": Layout(30, 1, unit="scene", settings={"user": 20}, repeat=None),
    "runs 20x10": Layout(unit=None, repeat=None, runs=20, run="training", more=(10, 10)),
    "model_seed 3 x 40": Layout(40, 1, unit="item", runs=3, run="model_seed", run_labels="count"),
    "88x5 sparse": Layout(88, 5, law="sparse"),
    "20x20 sparse": Layout(20, 20, law="sparse"),
    "scores 88x5": Layout(88, 5, outcome="score"),
    "scores 30x1": Layout(30, 1, outcome="score", labels="hex", anonymous=True),
    "rubric 12x6": Layout(12, 6, outcome="rubric", unit="scene"),
    "50x3 takes in words": Layout(50, 3, takes="text", repeat="take"),
    "30x8 with measured columns": Layout(30, 8, measured=("steps", "failure", "light"), anonymous=True),
    "task 15 x seed 30": Layout(30, 15, unit="seed", repeat="task", labels="count"),
    "20x5 lost": Layout(20, 5, lost=0.2),
    "40x5 in 20 groups": Layout(40, 5, held=("group", 20)),
    "500x1 hex": Layout(500, 1, unit="uid", labels="hex", anonymous=True),
    "20x5 rare": Layout(20, 5, law="rare"),
    "own rollouts 60 v 40": Layout(unit=None, repeat=None, more=(60, 40)),
    "own rollouts 1,000 v 5 rare": Layout(unit=None, repeat=None, more=(1_000, 5), law="rare"),
    "own rollouts 10,000 v 20 rare": Layout(unit=None, repeat=None, more=(10_000, 20), law="rare"),
    "own scores 3,000 v 30": Layout(unit=None, repeat=None, more=(3_000, 30), outcome="score"),
    "2,000x1 rare": Layout(2_000, 1, law="rare"),
}
"""Others: units x repeats x settings x clusters x runs x policies, with gaps, scores and odd names."""

SHAPES = LISTED | MORE


def shape(name: str, rng: np.random.Generator, null: Null = "like") -> tuple[pl.DataFrame, dict[str, str]]:
    """A table of a shape under the null of a target, and the roles to declare (column names by role)."""
    layout = SHAPES[name]
    rows, chances = drawn(name, rng, null)
    frame = _columns(layout, rows, rng).with_columns(_outcomes(layout, [chances.of(row) for row in rows], rng))
    frame = frame.with_columns(_measured(layout, frame.to_series(-1).to_numpy(), rng))
    if not layout.anonymous:
        return frame, dict(layout.declared)
    names = _nonsense(frame, rng)
    return frame.rename(names), {role: names.get(column, column) for role, column in layout.declared.items()}


def drawn(name: str, rng: np.random.Generator, null: Null) -> tuple[list[Row], Chances]:
    """The rollouts of a table, and the chance of each."""
    rows = _met(SHAPES[name], rng)
    return rows, Chances(SHAPES[name], rng, null, rows)


def renamed(frame: pl.DataFrame, rng: np.random.Generator) -> tuple[pl.DataFrame, dict[str, str]]:
    """The table with other names, rows and columns in another order, a constant and a note; and the new names."""
    names = _nonsense(frame, rng)
    constant, note = (_word(rng) for _ in range(2))
    notes = [f"{_word(rng)} {place}" for place in range(frame.height)]
    more = frame.rename(names).with_columns(pl.lit("same").alias(constant), pl.Series(note, notes))
    columns = [more.columns[place] for place in rng.permutation(more.width)]
    return more[rng.permutation(frame.height).tolist()].select(columns), names


def _nonsense(frame: pl.DataFrame, rng: np.random.Generator) -> dict[str, str]:
    return {name: _word(rng) for name in frame.columns if name not in ("policy", "success", "score")}


def _word(rng: np.random.Generator) -> str:
    """A word that means nothing: it begins and ends as no name does."""
    return "zq" + "".join(rng.choice(list(string.ascii_lowercase), 6)) + "b"


# --- Who met what


@dataclass(frozen=True)
class Row:
    """One rollout: the policy, the unit, the levels of the settings, the run, and the number of the try."""

    policy: str
    unit: int
    levels: tuple[int, ...]
    run: int
    take: int


def _met(layout: Layout, rng: np.random.Generator) -> list[Row]:
    rows = [row for policy in layout.policies for row in _of_policy(layout, policy, rng)]
    gone = {cell for cell in {(row.policy, row.unit): 0 for row in rows} if rng.random() < layout.missing}
    return [row for row in rows if (row.policy, row.unit) not in gone and rng.random() >= layout.lost]


def _of_policy(layout: Layout, policy: str, rng: np.random.Generator) -> Iterator[Row]:
    if layout.more:
        size = layout.more[layout.policies.index(policy)]
        yield from (Row(policy, 0, (), run, take) for run in range(layout.runs) for take in range(size))
        return
    crossed = list(itertools.product(*(range(count) for count in layout.settings.values())))
    for unit in range(layout.units):
        for levels, run in itertools.product(crossed, range(layout.runs)):
            if layout.unequal:
                size = layout.unequal[levels[0]]
            elif isinstance(layout.repeats, tuple):
                size = int(rng.integers(layout.repeats[0], layout.repeats[1] + 1))
            else:
                size = layout.repeats
            yield from (Row(policy, unit, levels, run, take) for take in range(size))


def _columns(layout: Layout, rows: list[Row], rng: np.random.Generator) -> pl.DataFrame:
    columns: dict[str, list[Any]] = {"policy": [row.policy for row in rows]}
    if layout.unit:
        columns[layout.unit] = _unit_labels(layout, rows, rng)
    if layout.held:
        home = _homes(layout)
        columns[layout.held[0]] = [f"{layout.held[0]} {home[row.unit]}" for row in rows]
    for place, name in enumerate(layout.settings):
        columns[name] = [f"{name} {row.levels[place]}" for row in rows]
    if layout.run:
        own = layout.run_labels == "own"
        columns[layout.run] = [f"{row.policy}-{row.run}" if own else row.run for row in rows]
    if layout.repeat and (layout.repeats != 1 or layout.more):
        words = layout.takes == "text"
        columns[layout.repeat] = [f"take {string.ascii_uppercase[row.take]}" if words else row.take for row in rows]
    return pl.DataFrame(columns)


def _unit_labels(layout: Layout, rows: list[Row], rng: np.random.Generator) -> list[Any]:
    if layout.labels == "count":
        return [row.unit for row in rows]
    if layout.labels == "own":
        return [f"{row.policy}{row.unit}" for row in rows]
    if layout.labels == "hex":
        known = [rng.bytes(6).hex() for _ in range(layout.units)]
        return [f"u{known[row.unit]}" for row in rows]
    return [f"{layout.unit} {row.unit}" for row in rows]


def _homes(layout: Layout) -> list[int]:
    """The level of `held` in which every unit lies."""
    count = layout.held[1] if layout.held else 1
    if not layout.uneven:
        return [unit * count // layout.units for unit in range(layout.units)]
    edges = (layout.units * (np.arange(count + 1) / count) ** 2).astype(int) + np.arange(count + 1)
    return [min(count - 1, int(np.searchsorted(edges, unit, side="right")) - 1) for unit in range(layout.units)]


# --- What they could expect


Cell = tuple[int, ...]


class Chances:
    """The chance (or the mean score) of every policy in every cell, under the null of a target."""

    def __init__(self, layout: Layout, rng: np.random.Generator, null: Null, rows: list[Row]) -> None:
        self.layout, self.rng, self.homes = layout, rng, _homes(layout)
        self.cells = list(itertools.product(range(layout.units), *(range(n) for n in layout.settings.values())))
        met = [{(row.unit, *row.levels) for row in rows if row.policy == policy} for policy in POLICIES]
        alone = layout.labels == "own" or layout.unit is None
        self.both = [cell for cell in self.cells if alone or all(cell in own for own in met)]
        self.chance = self._sparse(null) if layout.law == "sparse" else self._drawn()
        if null == "these" and layout.law != "sparse":
            self.chance[1] = self._cancelling(*self.chance[:2])
        self.by_run = self._of_runs(null)
        self.by_level = self._of_levels()

    def of(self, row: Row) -> float:
        """The chance of one rollout."""
        place = self.layout.policies.index(row.policy)
        return self._chance(place, (row.unit, *row.levels), row.run)

    def gain(self) -> float:
        """What the first policy gains on the second, every unit (and inside it every cell) weighing the same."""
        runs = range(self.layout.runs)
        differences = [self._chance(0, cell, run) - self._chance(1, cell, run) for cell in self.both for run in runs]
        return float(np.mean(differences))

    def _chance(self, place: int, cell: Cell, run: int) -> float:
        chance = self.chance[place][cell]
        if self.by_run is None and self.by_level is None:
            return chance
        level = cell[1] if self.layout.settings else self.homes[cell[0]]
        side = {0: 0.5, 1: -0.5}.get(place, 0.0)
        shift = 0.0 if self.by_level is None else side * self.by_level[level]
        return 0.2 + 0.6 * chance + shift + (0.0 if self.by_run is None else self.by_run[place, run])

    def _about(self, mean: float, strength: float) -> float:
        """A chance around a mean."""
        inner = 0.02 + 0.96 * mean
        return float(self.rng.beta(strength * inner, strength * (1 - inner)))

    def _drawn(self) -> list[dict[Cell, float]]:
        """One law for all policies: given how hard a unit (a cluster) is, each draws its own chance around it."""
        layout = self.layout
        if layout.unit is None:
            low, span = (0.018, 0.008) if layout.law == "rare" else (0.2, 0.6)
            return [dict.fromkeys(self.cells, low + span * self.rng.random())] * len(layout.policies)
        clusters = layout.held is not None and layout.held[1] >= MANY
        crossed = next((count for count in layout.settings.values() if count >= MANY), 0)
        hard = {"rare": (0.4, 8.0), "sure": (0.3, 0.3)}.get(layout.law, (1.2, 0.9))
        of_group = self.rng.beta(*hard, max(max(self.homes) + 1, crossed))
        of_unit = self.rng.beta(*hard, layout.units)
        drawn = []
        for _ in layout.policies:
            groups = [self._about(mean, 5.0) for mean in of_group]
            hardness = self.rng.beta(*hard, layout.units) if layout.labels == "own" else of_unit
            units = [self._about(mean, 5.0) for mean in hardness]
            if layout.law == "sure":
                units = [0.97 if self.rng.random() < mean else 0.03 for mean in units]
            chances = {}
            for cell in self.cells:
                group = self.homes[cell[0]] if clusters else cell[-1] if crossed else None
                mean = units[cell[0]] if group is None else (units[cell[0]] + groups[group]) / 2
                chances[cell] = self._about(mean, 12.0) if layout.settings else mean
            drawn.append(chances)
        return drawn

    def _sparse(self, null: Null) -> list[dict[Cell, float]]:
        """A few units far up and all the others a little down."""
        count, share = len(self.both), 0.05
        up = int(self.rng.binomial(count, share))
        up = min(max(up, 1), count - 1) if null == "these" else up
        down = 0.9 * up / (count - up) if null == "these" else 0.9 * share / (1 - share)
        first = dict.fromkeys(self.cells, 0.5)
        second = dict(first)
        chosen = {self.both[place] for place in self.rng.permutation(count)[:up]}
        for cell in self.both:
            second[cell] = 0.05 if cell in chosen else float(self.rng.uniform(down, 1))
            first[cell] = second[cell] + (0.9 if cell in chosen else -down)
        return [first, second]

    def _cancelling(self, first: dict[Cell, float], second: dict[Cell, float]) -> dict[Cell, float]:
        """The chances of the first in another order of the cells both met: like with like exchanged, or all dealt."""
        order = sorted(self.both, key=lambda cell: first[cell])
        dealt = [order[place] for place in self.rng.permutation(len(order))]
        if self.rng.random() < 0.5:
            dealt = list(order)
            apart = max(1, len(order) // 8)
            for at in range(len(order) - apart):
                if at // apart % 2 == 0:
                    dealt[at], dealt[at + apart] = dealt[at + apart], dealt[at]
        return second | {cell: first[other] for cell, other in zip(order, dealt, strict=True)}

    def _of_runs(self, null: Null) -> np.ndarray | None:
        """What a whole run has in common: drawn for each, or the same ones for both policies in another order."""
        if self.layout.runs == 1:
            return None
        shifts = self.rng.uniform(-0.1, 0.1, (len(self.layout.policies), self.layout.runs))
        if self.layout.fixed_runs or null == "these":
            return np.array([self.rng.permutation(shifts[0]) for _ in self.layout.policies])
        return shifts

    def _of_levels(self) -> np.ndarray | None:
        """Gains in the levels of a setting, which is fixed: they cancel."""
        held = self.layout.held[1] if self.layout.held else 0
        count = next(iter(self.layout.settings.values()), held)
        if not 1 < count < MANY:
            return None
        gains = self.rng.normal(size=count)
        gains -= gains.mean()
        return 0.2 * gains / np.abs(gains).max()


# --- What came out


def _outcomes(layout: Layout, chances: list[float], rng: np.random.Generator) -> pl.Series:
    means = np.clip(chances, 0, 1)
    if layout.outcome == "success":
        return pl.Series("success", (rng.random(len(means)) < means).astype(int))
    if layout.outcome == "rubric":
        return pl.Series("score", rng.binomial(4, means) / 4)
    inner = np.clip(means, 1e-3, 1 - 1e-3)
    return pl.Series("score", np.where(means == inner, rng.beta(3 * inner, 3 * (1 - inner)), means))


def _measured(layout: Layout, outcome: np.ndarray, rng: np.random.Generator) -> list[pl.Series]:
    """Columns written down after the rollout; the light alone has nothing to do with what came out."""
    size, won = len(outcome), outcome > 0.5
    reasons = rng.choice(["slipped", "missed", "timeout"], size)
    values = {
        "collision": (rng.random(size) < np.where(won, 0.1, 0.5)).astype(int),
        "steps": np.where(won, rng.integers(20, 200, size), 200),
        "failure": np.where(won, "none", reasons),
        "light": rng.choice(["dim", "normal", "bright"], size),
    }
    return [pl.Series(name, values[name]) for name in layout.measured]
