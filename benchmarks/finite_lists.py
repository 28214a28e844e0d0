"""How many items of a declared list tell what a complete run would show, alone and helped by predictions?

The SWE-bench results are used where they lie beside the project; without them those rows are left out.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from benchmarks.common import dated, write
from surefoot.core.verdict import Verdict
from surefoot.sequential import FiniteHorizonMixture, ListMean, simulate, simulate_list

Floats = NDArray[np.float64]

SEED = 19
DATA = Path(__file__).parents[2] / "shared" / "data" / "swebench" / "verified.csv"
LISTS = ((500, 0.05, 270.0), (500, 0.02, None), (1319, 0.02, 930.0), (5000, 0.01, 3650.0), (14_042, 0.10, 0.0))


class Row(NamedTuple):
    """What was asked of what, and what was seen."""

    what: str
    items: str
    beside: str
    asked: str
    met: bool


def gains(items: int, differ: int, gain: int) -> Floats:
    """The gains of a list on which so many items differ."""
    better = (differ + gain) // 2
    return np.repeat([1.0, -1.0, 0.0], [better, differ - better, items - differ])


def orders(listed: Floats, runs: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Successes of both systems in many random orders of a list."""
    rows = rng.permuted(np.tile(listed, (runs, 1)), axis=1)
    return (rows > 0).astype(float), (rows < 0).astype(float)


def pairs(runs: int, seed: int) -> Iterator[Row]:
    """Two systems on a list: the mixture with the list and without it."""
    for items, gain, most in LISTS:
        rng = np.random.default_rng(seed)
        count = max(50, min(runs, runs * 2_000 // items)) if runs < 2_000 else runs
        rows = orders(gains(items, round(0.2 * items), round(gain * items)), count, rng)
        found, plain = (
            simulate(FiniteHorizonMixture(items, claim="either", binary=True, population=length), *rows)
            for length in (items, None)
        )
        limit = plain.mean_pairs if most == 0.0 else most
        decided = 1.0 - found.share(Verdict.UNDECIDED)
        asked = "" if limit is None else "no more than without" if most == 0.0 else f"at most {limit:,.0f}, all decided"
        error = np.std(found.stopping_times) / np.sqrt(count)
        yield Row(
            f"{items:,} items, 20% differ, gain {100 * gain:g} points",
            f"{found.mean_pairs:,.1f} ± {error:.1f} ({decided:.0%} decided)",
            f"{plain.mean_pairs:,.1f} ({1 - plain.share(Verdict.UNDECIDED):.0%} decided) without the list",
            asked,
            limit is None or (found.mean_pairs <= limit and decided == 1.0),
        )


def ties(runs: int, seed: int) -> Iterator[Row]:
    """The error where both systems win as many items."""
    for items in (100, 200, 500):
        worst, rule = (0.0, 0), FiniteHorizonMixture(items, claim="either", binary=True, population=items)
        kept = True
        for differ in range(items // 10, items + 1, items // 10):
            done = simulate(rule, *orders(gains(items, differ, 0), runs, np.random.default_rng([seed, differ])))
            wrong = int(np.sum(done.verdicts != Verdict.UNDECIDED))
            worst = max(worst, (wrong / runs, differ))
            kept &= wrong == 0 or bool(betainc(wrong, runs - wrong + 1, 0.05) > 1e-4)
        what = f"{items} items, error where as many items are won by each ({items // 10}, {items // 5}, ... differ)"
        yield Row(
            what, f"at most {worst[0]:.4f}, with {worst[1]} that differ", "", "within its binomial limit of .05", kept
        )


def conditions(correlation: float, items: int = 200) -> tuple[Floats, Floats]:
    """Outcomes with a rate of one half, and predictions with exactly this correlation."""
    half, right = items // 2, round(items * (1 + correlation) / 4)
    ones = [np.repeat([1.0, 0.0], [right, half - right]), np.repeat([1.0, 0.0], [half - right, right])]
    return np.repeat([1.0, 0.0], half), np.concatenate(ones)


def robots(runs: int, seed: int) -> Iterator[Row]:
    """200 simulated conditions, run on the robot until the rate is known to within 10 points."""
    alone = simulate_list(ListMean(200, within=0.1), conditions(0.0)[0], rng=seed, orders=runs)
    yield Row("200 conditions, rate .5, ±10 points, no simulator", f"{alone.mean_items:.1f}", "141 in 0.1.0", "", True)
    for correlation, most in ((0.6, None), (0.8, 60), (0.95, None), (0.0, 88)):
        outcomes, predictions = conditions(correlation)
        done = simulate_list(ListMean(200, within=0.1, helped_by=predictions), outcomes, rng=seed, orders=runs)
        yield Row(
            f"the same, a simulator with correlation {correlation:g}",
            f"{done.mean_items:.1f} (missed {done.missed.mean():.3f})",
            f"{done.mean_items / alone.mean_items:.2f} of none",
            f"at most {most}" if most else "",
            most is None or done.mean_items <= most,
        )


def results() -> Floats:
    """67 systems, in the order they came, on 500 items."""
    import polars as pl

    return pl.read_csv(DATA).drop("item").to_numpy().astype(float)


def benchmark(runs: int, seed: int, step: int) -> Iterator[Row]:
    """Each later system's rate to within 3 points, from earlier systems only."""
    table = results()
    found: dict[str, list[float]] = {}
    missed: list[float] = []
    for system in range(20, table.shape[1], step):
        earlier = table[:, system - 20 : system].mean(axis=1)
        shuffled = np.random.default_rng([seed, system]).permutation(earlier)
        columns = {"none": None, "mean of the last 20": earlier, "shuffled": shuffled, "turned round": 1.0 - earlier}
        for name, column in columns.items():
            rule = ListMean(500, within=0.03, helped_by=None if column is None else tuple(column))
            done = simulate_list(rule, table[:, system].tolist(), rng=seed + system, orders=runs)
            found.setdefault(name, []).append(done.mean_items)
            missed.append(float(done.missed.mean()))
    means = {name: float(np.mean(items)) for name, items in found.items()}
    limits = {"mean of the last 20": 300.0, "shuffled": 1.04 * means["none"]}
    for name, items in means.items():
        limit = limits.get(name)
        asked = "" if limit is None else f"at most {limit:.0f}"
        yield Row(
            f"SWE-bench Verified, ±3 points, predictions: {name}",
            f"{items:.1f}",
            f"{items / means['none']:.3f} of none",
            asked,
            limit is None or items <= limit,
        )
    yield Row(
        "the same: the list's rate ever missed", f"{np.mean(missed):.3f}", "", "at most .05", np.mean(missed) <= 0.05
    )


def incumbents(runs: int, seed: int, step: int) -> Iterator[Row]:
    """A new system against one that was run in full: only the new one runs."""
    table = results()
    means = table.mean(axis=0)
    for low, high, most in ((0.01, 0.02, None), (0.02, 0.05, 275.0), (0.05, 0.10, None)):
        items, decided, wrong, plain, plainly = [], [], [], [], []
        chosen = [
            (new, old)
            for new in range(20, table.shape[1])
            for old in range(new - 20, new)
            if low <= abs(means[new] - means[old]) <= high
        ]
        for new, old in chosen[::step]:
            earlier = table[:, new - 20 : new].mean(axis=1)
            rule = ListMean(500, incumbent=tuple(table[:, old]), helped_by=tuple(earlier))
            done = simulate_list(rule, table[:, new].tolist(), rng=seed + new, orders=runs)
            right = Verdict.BETTER if means[new] > means[old] else Verdict.WORSE
            items.append(done.mean_items)
            decided.append(1.0 - done.share(Verdict.UNDECIDED))
            wrong.append(1.0 - done.share(right))
            order = np.argsort(np.random.default_rng([seed, new, old]).random((runs, 500)), axis=1)
            today = simulate(
                FiniteHorizonMixture(500, claim="either", binary=True), *(table[order, s] for s in (new, old))
            )
            plain.append(today.mean_pairs)
            plainly.append(1.0 - today.share(Verdict.UNDECIDED))
        limit = "" if most is None else f"at most {most:.0f}, all decided"
        yield Row(
            f"SWE-bench Verified, an incumbent run in full, gains {100 * low:g} to {100 * high:g} points "
            f"({len(chosen[::step])} pairs of systems)",
            f"{np.mean(items):.1f} ({np.mean(decided):.0%} decided, {np.mean(wrong):.3f} wrong)",
            f"{np.mean(plain):.1f} ({np.mean(plainly):.0%} decided) by pairs without the list",
            limit,
            most is None or (float(np.mean(items)) <= most and min(decided) == 1.0),
        )
    yield null(runs, seed)


def null(runs: int, seed: int) -> Row:
    """An incumbent with exactly the same mean."""
    table, wrong, count = results(), 0, 0
    for new in range(20, table.shape[1], 4):
        rng = np.random.default_rng([seed, new])
        scores, old = table[:, new], table[:, new - 1].copy()
        gap = int(scores.sum() - old.sum())
        turned = np.flatnonzero(old == (0.0 if gap > 0 else 1.0))
        old[rng.choice(turned, abs(gap), replace=False)] = 1.0 if gap > 0 else 0.0
        rule = ListMean(500, incumbent=tuple(old), helped_by=tuple(table[:, new - 20 : new].mean(axis=1)))
        done = simulate_list(rule, scores.tolist(), rng=seed + new, orders=4 * runs)
        wrong, count = wrong + int(np.sum(done.verdicts != Verdict.UNDECIDED)), count + len(done.verdicts)
    kept = wrong == 0 or bool(betainc(wrong, count - wrong + 1, 0.05) > 1e-4)
    what = "the same, the incumbent changed to have exactly the same mean: verdicts, all wrong"
    return Row(what, f"{wrong / count:.3f} of {count:,} orders", "", "within its binomial limit of .05", kept)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few orders: a look, not a measurement; writes nothing")
    parser.add_argument("--orders", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    began, runs = time.process_time(), 100 if options.quick else options.orders
    rows = [*pairs(runs, options.seed), *ties(10 * runs, options.seed), *robots(runs, options.seed)]
    if DATA.exists():
        few, step = (8, 6) if options.quick else (max(8, runs // 47), 1)
        rows += [*benchmark(few, options.seed, step), *incumbents(few, options.seed, step)]
    lines = [
        "## Items of a list: what part of it tells of the whole",
        "",
        f"{dated(['surefoot', 'numpy'])}. Mean items of a list to a verdict or an interval, at 95%, two-sided, an "
        f"undecided run counted with the whole list; {runs:,} random orders of made lists, {10 * runs:,} for errors, "
        f"seed {options.seed}, {time.process_time() - began:.0f} s of CPU. "
        "Command: `python -m benchmarks.finite_lists`.",
        "",
        "| what | items | beside | asked | met |",
        "|---|---|---|---|---|",
        *(f"| {r.what} | {r.items} | {r.beside} | {r.asked} | {'yes' if r.met else '**no**'} |" for r in rows),
    ]
    print("\n".join(lines))
    if not options.quick:
        write("finite_lists", lines)
    return 0 if options.quick or all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
