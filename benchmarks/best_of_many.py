"""Which of many is the best: what do a race, halving, the best few and a gate take beside equal numbers and Holm?

Rows are rollouts of whole studies on the same truths, the best listed at random; the last ones are seconds of CPU.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import surefoot as sf
from benchmarks.common import cpu, dated, seconds, write
from surefoot.numerics.rates.best_of_many import HighestOfMany
from surefoot.sequential import ClosedRanking, Halve, Race, RankingRule, simulate_ranking

SEED = 25
FIVE = (0.9, 0.7, 0.5, 0.3, 0.1)
TEN = tuple(0.95 - 0.1 * place for place in range(10))
ONE = (0.8, *(0.5,) * 19)
CURVE = tuple(np.interp(np.linspace(0, 9, 20), range(10), (0.2, 0.35, 0.5, 0.6, 0.68, 0.74, 0.78, 0.8, 0.8, 0.7)))
EQUAL = (
    ("five, step .2", FIVE, 200, 110, 0.35),
    ("ten, step .1", TEN, 500, 295, 0.2),
    ("one of twenty", ONE, 200, 133, 0.4),
)
"""Truths, the race's horizon, rollouts of each that name the best in about 95%, and the share that a race may take."""
RANKED = (("eight, step .12", 8, 0.12, 1_000, 60), ("ten, step .1", 10, 0.1, 1_500, 40))


def names(count: int) -> tuple[str, ...]:
    return tuple(f"p{place}" for place in range(count))


def races() -> list[tuple[str, str, str, str, bool]]:
    rows = []
    for label, rates, horizon, each, share in EQUAL:
        race = sf.plan_best(Race(names(len(rates)), horizon, binary=True), rates, rng=SEED, runs=2_000)
        equal = sf.plan_best(each, rates, rng=SEED, runs=1_000)
        part = race.expected_rollouts / equal.expected_rollouts
        ours = f"{race.expected_rollouts:,.0f}, named in {race.named or 0.0:.3f}"
        theirs = f"{len(rates)} x {each} = {equal.expected_rollouts:,.0f}, named in {equal.named or 0.0:.3f}"
        rows.append((f"race, {label}", ours, theirs, f"at most {share:.0%} of it: {part:.0%}", part <= share))
    half = sf.plan_best(Halve(names(20), budget=500, binary=True), CURVE, rng=SEED, runs=4_000)
    equal = sf.plan_best(50, CURVE, rng=SEED, runs=2_000)
    told = [f"{one.below:.4f} below the best, bound {one.bound or 0.0:.3f}" for one in (half, equal)]
    fine = half.below <= 0.016 and (half.bound or 0.0) >= 0.72
    rows.append(("halving, curve of 20, 500 v 1,000 rollouts", *told, "within .016, bound .72 or more", fine))
    return rows


def rankings() -> list[tuple[str, str, str, str, bool]]:
    rows = []
    for label, size, step, horizon, studies in RANKED:
        rng = np.random.default_rng([SEED, size])
        rates = rng.permuted(np.tile(0.95 - step * np.arange(size), (studies, 1)), axis=1)
        scores = (rng.random((studies, horizon, size)) < rates[:, None]).astype(float)
        kinds: list[Any] = [kind(names(size), horizon, binary=True) for kind in (ClosedRanking, RankingRule)]
        used = [simulate_ranking(one, scores).rollouts.sum(axis=1) for one in kinds]
        saving = 1.0 - used[0].sum() / used[1].sum()
        error = float(np.std(used[0] - (1.0 - saving) * used[1]) / used[1].mean() / studies**0.5)
        told = [f"{one.mean():,.0f}" for one in used]
        asked = f"22% below Holm, within two standard errors: {saving:.1%} +- {error:.1%}"
        rows.append((f"ranking, {label}", *told, asked, saving + 2.0 * error >= 0.22))
    return rows


def times() -> list[tuple[str, str, str, str, bool]]:
    rows = []
    for count, most in ((20, 0.6), (100, 2.0)):
        successes = np.random.default_rng(SEED).binomial(50, np.linspace(0.2, 0.85, count)).tolist()
        tallies = {name: sf.Tally(x, 50) for name, x in zip(names(count), successes, strict=True)}

        def asked(tallies: dict[str, sf.Tally] = tallies, successes: list[int] = successes) -> None:
            test = HighestOfMany(successes, [50] * len(successes))
            [test.p_value(place) for place in range(len(successes))]
            sf.stats.selection_bias(tallies)

        spent = cpu(asked)
        rows.append((f"shortlist and bias, {count} x 50", seconds(spent), "", f"under {most:g} s", spent < most))
    rule = Race(names(100), 200, binary=True)
    state, rng = rule.start(), np.random.default_rng(SEED)
    for _ in range(20):
        state = rule.step(state, {name: (rng.random(k) < 0.5).tolist() for name, k in state.turns.items()})
    scores = {name: [1.0] * k for name, k in state.turns.items()}
    spent = cpu(lambda: rule.step(state, scores))
    rows.append(("a race's step, 100 policies", seconds(spent), "", "under 5 ms", spent < 0.005))
    return rows


def main() -> int:
    lines = [
        "## The best of many, and many ranked",
        "",
        f"{dated(['surefoot', 'numpy'])}. Seed {SEED}. Equal numbers: as many rollouts of each, and named where the "
        "exact shortlist holds one alone. Command: `python -m benchmarks.best_of_many`.",
        "",
        "| what | surefoot | beside | asked | met |",
        "|---|---|---|---|---|",
    ]
    met = True
    for rows in (races, rankings, times):
        for label, ours, theirs, asked, fine in rows():
            met &= fine
            lines.append(f"| {label} | {ours} | {theirs} | {asked} | {'yes' if fine else '**no**'} |")
            print(lines[-1], file=sys.stderr, flush=True)
    write("best_of_many", lines)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
