"""Layouts of tasks and of clusters drawn at random, each with a law under which neither of two policies is better.

`tasks(seed, place)` and `clusters(seed, place)` draw sizes and a law; `draw(rng)` of what they return draws outcomes,
`frame` writes them as a table, and `p_value` is the answer that the table should get. The truth: over the tasks met the
weighted gain is 0; over clusters like those met the mean gain is 0. `NAMED` holds cases that misled version 0.2.0.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from surefoot import Scores
from surefoot.stats import clusters as of_clusters
from surefoot.stats import score_gains, score_strata

Floats = np.ndarray
Cells = dict[str, list[Floats]]
"""The scores of every policy: one array a task or cluster."""

LOW, HIGH = (0.01, 0.1), (0.9, 0.99)


@dataclass(frozen=True)
class Case:
    """One layout under one null.

    Attributes:
        name: What it is.
        draw: Draws the outcomes of a table.
        kind: "tasks"; or clusters as "pairs", as "repeats" of a task, or as a policy's "own".
        weights: How tasks weigh.
    """

    name: str
    draw: Callable[[np.random.Generator], Cells]
    kind: str
    weights: str = "units"

    @property
    def null(self) -> str:
        """The target whose null holds."""
        return "these" if self.kind == "tasks" else "like"

    @property
    def asked(self) -> dict[str, Any]:
        """What is declared and asked of a table."""
        if self.kind == "tasks":
            return {"unit": "group", "target": "these", "weights": self.weights}
        return {{"pairs": "cluster", "repeats": "unit", "own": "run"}[self.kind]: "group", "target": "like"}

    def frame(self, drawn: Cells) -> pl.DataFrame:
        """The table: policy, group, item where items are paired, and the outcome."""
        rows = [
            (policy, f"{policy if self.kind == 'own' else ''}g{at}", f"g{at} item {item}", float(value))
            for policy, cells in drawn.items()
            for at, values in enumerate(cells)
            for item, value in enumerate(values)
        ]
        frame = pl.DataFrame(rows, schema=["policy", "group", "item", "score"], orient="row")
        return frame if self.kind == "pairs" else frame.drop("item")

    def p_value(self, drawn: Cells) -> float:
        """The p-value, 1 where it is above .06; of more than two policies the smallest, times the number of pairs."""
        pairs = list(itertools.combinations(drawn.values(), 2))
        return min(1.0, len(pairs) * min(self._p(first, second) for first, second in pairs))

    def _p(self, first: list[Floats], second: list[Floats]) -> float:
        if abs(self._plain(first, second)) < (1.5 if self.kind == "tasks" else 1.88):
            return 1.0
        if self.kind == "tasks":
            scores = [(Scores(one), Scores(two)) for one, two in zip(first, second, strict=True)]
            if len(scores) == 1:
                return score_gains.score_test(*scores[0]).p_value
            strata = {str(at): pair for at, pair in enumerate(scores)}
            weights = "tasks" if self.weights == "units" else "rollouts"
            return score_strata.stratified_score_test(strata, weights=weights).p_value  # type: ignore[arg-type]
        values, owners = self._values(first, second)
        ends = (0.0, 1.0) if len(values) == 2 else (-1.0, 1.0)
        return of_clusters.gathered(values, owners, ends).evidence.p_value(0.0)

    def _plain(self, first: list[Floats], second: list[Floats]) -> float:
        """The gain in plain standard errors.

        The p-value of clusters is never below that of so many normal ones; over tasks 1.92 was the least that was seen
        with a p-value up to .06.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.kind == "tasks":
                share = [
                    len(one) + len(two) if self.weights == "rollouts" else 1
                    for one, two in zip(first, second, strict=True)
                ]
                weights = np.array(share) / sum(share)
                gaps = [one.mean() - two.mean() for one, two in zip(first, second, strict=True)]
                squares = [one.var() / one.size + two.var() / two.size for one, two in zip(first, second, strict=True)]
                found = weights @ gaps / np.sqrt(weights**2 @ squares)
            else:
                gain, square = 0.0, 0.0
                for sign, values, owners in zip((1.0, -1.0), *self._values(first, second), strict=False):
                    sizes = np.bincount(owners - owners[0])
                    gain += sign * values.mean()
                    apart = np.bincount(owners - owners[0], values - values.mean())
                    square += float((apart**2 / (1.0 - sizes / len(values))).sum()) / len(values) ** 2
                found = gain / np.sqrt(square)
        return float(np.nan_to_num(found, nan=np.inf, posinf=np.inf))

    def _values(self, first: list[Floats], second: list[Floats]) -> tuple[list[Floats], list[Floats]]:
        """What comes in clusters, gains or the outcomes of either policy, and whose each is."""
        if self.kind == "own":
            owners = np.repeat(np.arange(len(first) + len(second)), [len(one) for one in [*first, *second]])
            ours = sum(map(len, first))
            return [np.concatenate(first), np.concatenate(second)], [owners[:ours], owners[ours:]]
        sizes = [len(one) for one in first]
        owners = np.repeat(np.arange(len(first)), sizes)
        gaps = np.concatenate(first) - np.concatenate(second)
        if self.kind == "repeats":
            return [np.bincount(owners, gaps) / sizes], [np.arange(len(first))]
        return [gaps], [owners]


# --- Scores over tasks: laws with a mean of their own


def _rare_zeros(rng: np.random.Generator, mean: float, size: int) -> Floats:
    zero = 1.0 - mean / (1.0 - 0.4 * (1.0 - mean))
    return np.where(rng.random(size) < zero, 0.0, mean / (1.0 - zero) + (1 - mean) * rng.uniform(-0.3, 0.3, size))


def _mixed(rng: np.random.Generator, mean: float, size: int) -> Floats:
    """Half of the scores spread, the others 0 or 1."""
    flat = mean + min(mean, 1.0 - mean) * rng.uniform(-1.0, 1.0, size)
    return np.where(rng.random(size) < 0.5, flat, rng.random(size) < mean)


LAWS: dict[str, Callable[[np.random.Generator, float, int], Floats]] = {
    "coin": lambda rng, mean, size: (rng.random(size) < mean).astype(float),
    "rare zeros": _rare_zeros,
    "rare ones": lambda rng, mean, size: 1.0 - _rare_zeros(rng, 1.0 - mean, size),
    "steady": lambda rng, mean, size: mean + min(mean, 1.0 - mean, 0.02) * rng.uniform(-1.0, 1.0, size),
    "rubric": lambda rng, mean, size: rng.binomial(4, mean, size) / 4,
    "beta": lambda rng, mean, size: rng.beta(3 * mean, 3 * (1 - mean), size),
    "ends": lambda rng, mean, size: rng.beta(0.15 * mean, 0.15 * (1 - mean), size),
    "mixed": _mixed,
}


def tasks(seed: int, place: int) -> Case:
    """A layout of 2 to 60 tasks with cells of 1 to 2,000 scores, about 4,000 a policy at most."""
    rng = np.random.default_rng([seed, place, 1])
    count = int(rng.choice([2, 3, 5, 8, 12, 20, 35, 60]))
    low, high = sorted(np.exp(rng.uniform(0.0, np.log(min(2_000, 4_000 // count)), 2)))
    kind = str(rng.choice(["alike", "sides", "any"]))
    sizes = {
        "alike": np.full((count, 2), round(high)),
        "sides": np.tile([round(low), round(high)], (count, 1)),
        "any": np.exp(rng.uniform(np.log(low), np.log(high), (count, 2))).round().astype(int),
    }[kind]
    sizes = sizes + (sizes.max() < 2)  # nothing tells a task met once from its noise
    laws = [str(rng.choice(list(LAWS))) for _ in "ab"]
    laws[1] = laws[0] if rng.random() < 0.3 else laws[1]
    span = [HIGH, LOW, (0.3, 0.7), (0.02, 0.98)][int(rng.integers(4))]
    means = np.repeat(rng.uniform(*span, (count, 1)), 2, axis=1)
    weights = "rollouts" if rng.random() < 0.3 else "units"
    cancel = bool(rng.random() < 0.4)
    if cancel:  # tasks differ in their gain, which is 0 over all
        share = sizes.sum(axis=1) if weights == "rollouts" else np.ones(count)
        gains = rng.normal(size=count)
        gains -= (share * gains).sum() / share.sum()
        gains *= rng.uniform(0.3, 1.0) * min(means.min() - 0.005, 0.995 - means.max()) / np.abs(gains).max()
        means = means + gains[:, None] * [0.5, -0.5]

    def draw(rng: np.random.Generator) -> Cells:
        return {
            policy: [np.clip(LAWS[laws[side]](rng, means[at, side], sizes[at, side]), 0, 1) for at in range(count)]
            for side, policy in enumerate("ab")
        }

    name = f"{count} tasks, {sizes.min()} to {sizes.max()} {kind}, {laws[0]} v {laws[1]} in {span}, {weights}"
    return Case(name + (", gains cancel" if cancel else ""), draw, "tasks", weights)


# --- Clusters: laws of the chances of both policies, of one mean


def _whole(rng: np.random.Generator, count: int, share: float, rate: float) -> tuple[Floats, Floats]:
    """The first fails whole clusters, the second single rollouts."""
    return np.where(rng.random(count) < share, 0.0, rate), np.full(count, rate * (1.0 - share))


def _both_whole(rng: np.random.Generator, count: int, share: float, rate: float) -> tuple[Floats, Floats]:
    one, two = (np.where(rng.random(count) < share, 0.0, rate) for _ in "ab")
    return one, two


def _hard(rng: np.random.Generator, count: int, share: float, rate: float) -> tuple[Floats, Floats]:
    """Both depend on the cluster, the first more than the second."""
    one, two = (np.array([rate, 1.0 - rate]) * (1.0 / icc - 1.0) for icc in (0.02 + 2.5 * share, 0.02 + share))
    return rng.beta(*one, count), rng.beta(*two, count)


def _sparse(rng: np.random.Generator, count: int, share: float, rate: float) -> tuple[Floats, Floats]:
    """A few clusters far up, all the others a little down."""
    down = 0.8 * share / (1.0 - share)
    up = rng.random(count) < share
    second = np.where(up, 0.1, down + (1.0 - down) * rng.random(count))
    return second + np.where(up, 0.8, -down), second


def _sure(rng: np.random.Generator, count: int, share: float, rate: float) -> tuple[Floats, Floats]:
    """The first wins or loses clusters whole, the second single rollouts."""
    return np.where(rng.random(count) < share, 0.0, 1.0), np.full(count, 1.0 - share)


CLUSTER_LAWS = {"whole": _whole, "both whole": _both_whole, "hard": _hard, "sparse": _sparse, "sure": _sure}


def clusters(seed: int, place: int) -> Case:
    """A layout of 4 to 200 clusters: pairs in them, tasks met again, or of each policy's own; equal to very unequal."""
    rng = np.random.default_rng([seed, place, 2])
    count = int(np.exp(rng.uniform(np.log(4), np.log(201))))
    spread, mean = float(rng.choice([0.0, 0.0, 0.5, 1.0, 1.5])), np.exp(rng.uniform(np.log(1.5), np.log(20)))
    kind = str(rng.choice(["pairs", "pairs", "repeats", "own"]))

    def sized() -> Floats:
        drawn = np.exp(spread * rng.normal(size=count) - spread**2 / 2) * mean
        return np.clip(drawn.round().astype(int), 1, 1_500 // count + 10)

    sizes = [sized(), sized()] if kind == "own" else [sized()] * 2
    if rng.random() < 0.15:
        sizes[0][0] = sizes[0].sum() // 2 + 1  # one giant
    if sizes[0].max() == 1 and kind == "repeats":
        sizes[0][:] = 2
    law, share, rate = str(rng.choice(list(CLUSTER_LAWS))), rng.uniform(0.02, 0.25), rng.uniform(0.4, 0.98)
    scores, swap = bool(rng.random() < 0.3), bool(rng.random() < 0.5)

    def draw(rng: np.random.Generator) -> Cells:
        chances = CLUSTER_LAWS[law](rng, count, share, rate)
        if kind == "own":  # the second policy's clusters are others
            chances = chances[0], CLUSTER_LAWS[law](rng, count, share, rate)[1]
        return outcomes(rng, chances[::-1] if swap else chances, sizes, scores=scores)

    detail = f"{'scores' if scores else 'success'}, {law} {share:.2f} of {rate:.2f}{', swapped' if swap else ''}"
    return Case(f"{count} {kind} of {sizes[0].min()} to {sizes[0].max()}, {detail}", draw, kind)


def outcomes(
    rng: np.random.Generator, chances: tuple[Floats, Floats], sizes: list[Floats], *, scores: bool = False
) -> Cells:
    """Outcomes of both policies at the chances of each cluster; scores are half way to the chance."""
    drawn = {}
    for policy, chance, held in zip("ab", chances, sizes, strict=True):
        values = (rng.random(held.sum()) < np.repeat(chance, held)).astype(float)
        values = 0.5 * (values + np.repeat(chance, held)) if scores else values
        drawn[policy] = np.split(values, np.cumsum(held)[:-1])
    return drawn


# --- Cases that misled version 0.2.0 (T24, T25, T27)


def _zeros(rng: np.random.Generator, size: int) -> Floats:
    """Nearly always high, rarely 0."""
    return np.where(rng.random(size) < 0.05, 0.0, rng.uniform(0.9, 1.0, size))


def _alike(name: str, sizes: tuple[int, ...], count: int) -> Case:
    """Policies of one law."""
    policies = "abcdef"[: len(sizes)]
    return Case(
        name,
        lambda rng: {one: [_zeros(rng, n) for _ in range(count)] for one, n in zip(policies, sizes, strict=True)},
        "tasks",
    )


def _against_steady(rng: np.random.Generator) -> Cells:
    return {"a": [_zeros(rng, 5) for _ in range(12)], "b": [rng.uniform(0.8825, 0.9225, 5) for _ in range(12)]}


def _fails_whole(sizes: tuple[int, ...], share: float) -> Case:
    name = f"T27 {len(sizes)} clusters of {min(sizes)} to {max(sizes)}, {share:.0%} fail whole"
    held = [np.array(sizes)] * 2
    return Case(name, lambda rng: outcomes(rng, _whole(rng, len(sizes), share, 1.0), held), "pairs")


NAMED = [
    *(_alike(f"T24 six policies, 100 v {other} over 3 tasks", (100, *[other] * 5), 3) for other in (10, 20)),
    _alike("T25 3 tasks 10 v 400", (10, 400), 3),
    _alike("T25 11 tasks 3 v 10", (3, 10), 11),
    Case("T25 12 tasks of 5 against steady", _against_steady, "tasks"),
    _alike("T25 20,000 v 20", (20_000, 20), 1),
    *(
        _fails_whole(sizes, share)
        for sizes in ((10,) * 19 + (11,), (60, 40, 30, 20, 10, 8, 6, 5, 4, 3, 2, 1), (10,) * 40)
        for share in (0.03, 0.06, 0.12)
    ),
]
