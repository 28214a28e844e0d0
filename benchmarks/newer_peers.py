"""Means, pairs, the best of many, labels beside a judge, drift: evalstats and agentrial on the same draws.

Every row says how often an answer was wrong where the truth is known, and how wide it was. A claim is met where
surefoot's errors are no proof of more than the promised one in twenty.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import cpu, dated, importable, kept, seconds, write
from surefoot import PairTally, Scores, Tally
from surefoot.stats import exact_paired_gain, judge_corrected_mean, score_mean, shortlist

Floats = NDArray[np.float64]
Ends = tuple[float, float]

SEED, ERROR = 34, 0.05
PEERS = ("evalstats", "agentrial")


class Counted(NamedTuple):
    """What one tool said over all draws: wrong answers, the median width where there is one, CPU seconds an answer."""

    wrong: int
    draws: int
    width: float | None
    cost: float

    def __str__(self) -> str:
        width = "" if self.width is None else f", width {self.width:.3f}"
        return f"wrong in {self.wrong / self.draws:.3f}{width}, {seconds(self.cost)}"


def intervals(answer: Callable[[Floats, int], Ends], samples: list[Floats], truth: float) -> Counted:
    """How often an interval misses the truth."""
    found: list[Ends] = []
    cost = cpu(lambda: found.extend(answer(sample, number) for number, sample in enumerate(samples)))
    wrong = sum(not low - 1e-12 <= truth <= high + 1e-12 for low, high in found)
    return Counted(wrong, len(samples), float(np.median([high - low for low, high in found])), cost / len(samples))


LAWS: dict[str, tuple[Callable[[np.random.Generator], Floats], float]] = {
    "20 skewed scores, beta(.2, 2)": (lambda rng: rng.beta(0.2, 2.0, 20), 0.2 / 2.2),
    "20 scores near 1, one in ten fails": (
        lambda rng: np.where(rng.random(20) < 0.1, 0.0, rng.uniform(0.9, 1.0, 20)),
        0.855,
    ),
    "20 scores of a rubric 0, .5, 1 (.05, .15, .8)": (
        lambda rng: rng.choice([0.0, 0.5, 1.0], 20, p=[0.05, 0.15, 0.8]),
        0.875,
    ),
    "50 scores, uniform": (lambda rng: rng.random(50), 0.5),
}


def of_means() -> list[tuple[str, Counted, str]]:
    """Coverage of the interval of one mean."""
    import evalstats

    def peer(sample: Floats, number: int) -> Ends:
        found = evalstats.mean_ci(sample, score_range=(0.0, 1.0), rng=number)
        return float(found.ci_low), float(found.ci_high)

    def ours(sample: Floats, _: int) -> Ends:
        found = score_mean(Scores(sample))
        return found.low, found.high

    rows = []
    for name, (law, truth) in LAWS.items():
        rng = np.random.default_rng(SEED)
        samples = [law(rng) for _ in range(1_000)]
        rows.append((f"mean: {name}", intervals(ours, samples, truth), str(intervals(peer, samples, truth))))
    return rows


def of_pairs() -> list[tuple[str, Counted, str]]:
    """False differences between two equal systems on the same items."""
    import evalstats

    rows = []
    for items, rate in ((20, 0.9), (50, 0.95), (200, 0.7)):
        rng = np.random.default_rng(SEED)
        tables = [(rng.random((2, items)) < rate).astype(float) for _ in range(500)]

        def ours(table: Floats, _: int) -> Ends:
            both, first = int((table[0] * table[1]).sum()), int(table[0].sum())
            second = int(table[1].sum())
            gain = exact_paired_gain(
                PairTally(both, first - both, second - both, table.shape[1] - first - second + both)
            )
            return gain.interval.low, gain.interval.high

        def peer(table: Floats, number: int) -> Ends:
            found = evalstats.pairwise_differences(table, 0, 1, rng=np.random.default_rng(number))
            return float(found.ci_low), float(found.ci_high)

        name = f"pairs: {items} items, both succeed in {rate:.0%}"
        rows.append((name, intervals(ours, tables, 0.0), str(intervals(peer, tables, 0.0))))
    return rows


def of_the_best() -> list[tuple[str, Counted, str]]:
    """How often the best of twenty is left out of surefoot's shortlist, and of the peer's likeliest 95%."""
    import evalstats

    names, draws = [f"policy {one}" for one in range(20)], 400

    def ours(table: Floats, _: int) -> tuple[str, ...]:
        tallies = {name: Tally(int(row.sum()), 50) for name, row in zip(names, table, strict=True)}
        return shortlist(tallies).names

    def peer(table: Floats, number: int) -> tuple[str, ...]:
        found = evalstats.bootstrap_ranks(table, names, n_bootstrap=1_000, rng=np.random.default_rng(number))
        order = np.argsort(-found.p_best)
        size = int(np.searchsorted(np.cumsum(found.p_best[order]), 0.95)) + 1
        return tuple(names[one] for one in order[:size])

    rows = []
    for name, rates in (
        ("one of .72, nineteen of .70", np.array([0.72] + [0.70] * 19)),
        ("rates from .60 to .79", np.arange(60, 80) / 100),
    ):
        rng = np.random.default_rng(SEED)
        tables = [(rng.random((20, 50)) < rates[:, None]).astype(float) for _ in range(draws)]
        told = [_lists(answer, tables, names[int(np.argmax(rates))]) for answer in (ours, peer)]
        sizes = f"{told[0][1]:.1f} kept by surefoot, {told[1][1]:.1f} by the peer"
        rows.append((f"best of 20 x 50 left out: {name} ({sizes})", told[0][0], str(told[1][0])))
    return rows


def _lists(answer: Callable[[Floats, int], tuple[str, ...]], tables: list[Floats], best: str) -> tuple[Counted, float]:
    """How often a list leaves the best one out, and how many it keeps."""
    found: list[tuple[str, ...]] = []
    cost = cpu(lambda: found.extend(answer(table, number) for number, table in enumerate(tables)))
    wrong = sum(best not in listed for listed in found)
    return Counted(wrong, len(tables), None, cost / len(tables)), float(np.mean([len(listed) for listed in found]))


def of_judges() -> list[tuple[str, Counted, str]]:
    """Coverage of a rate by human labels on a random part of 1,000 items that a judge saw."""
    import evalstats

    rows = []
    for rate, labels in ((0.7, 80), (0.95, 80), (0.95, 40)):
        rng = np.random.default_rng(SEED)
        tables = []
        for _ in range(600):
            human = rng.random(1_000) < rate
            judge = np.where(human, rng.random(1_000) < 0.92, rng.random(1_000) < 0.15)
            tables.append(np.stack([judge.astype(float), np.where(np.arange(1_000) < labels, human, np.nan)]))

        def ours(table: Floats, _: int) -> Ends:
            said = [None if np.isnan(one) else float(one) for one in table[1]]
            found = judge_corrected_mean(table[0].tolist(), said)
            return found.interval.low, found.interval.high

        def peer(table: Floats, number: int) -> Ends:
            found = evalstats.judge_debias_mean_ci(table[0], table[1], rng=number)
            return float(found.ci_low), float(found.ci_high)

        name = f"judge: {labels} of 1,000 labelled, true rate {rate:.0%}"
        rows.append((name, intervals(ours, tables, rate), str(intervals(peer, tables, rate))))
    return rows


def of_drift() -> list[str]:
    """Alarms of a monitor of production in runs where nothing changed; surefoot has none, so nothing is claimed."""
    from agentrial import monitor

    lines = []
    for baseline in (0.85, 0.7):
        rng, alarms = np.random.default_rng(SEED), 0
        for _ in range(500):
            detector = monitor.DriftDetector(baseline_pass_rate=baseline)
            passed = rng.random(300) < baseline
            alarms += any(detector.observe(monitor.Observation(passed=bool(one))) for one in passed)
        told = f"drift: 300 quiet rollouts at the baseline's {baseline:.0%}"
        lines.append(f"| {told} | no such monitor | agentrial: alarm in {alarms / 500:.3f} | |")
    return lines


def main() -> int:
    absent = [name for name in PEERS if not importable(name)]
    if absent:
        print(f"Not run: {', '.join(absent)} cannot be imported here.", file=sys.stderr)
        return 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the peers' own, about their guesses
        rows = [*of_means(), *of_pairs(), *of_the_best(), *of_judges()]
        quiet = of_drift()
    held = [kept(ours.wrong, ours.draws, error=ERROR) for _, ours, _ in rows]
    lines = [
        "## Means, pairs, the best of many, judges and drift beside evalstats and agentrial",
        "",
        f"{dated(['surefoot', 'numpy', 'scipy', *PEERS])}. The same draws for both; one wrong answer in twenty is "
        "promised. CPU seconds for an answer. Command: `python -m benchmarks.newer_peers`. Judges: our method is "
        "approximate and says so.",
        "",
        "| what | surefoot | peer | surefoot keeps one in twenty |",
        "|---|---|---|---|",
        *(
            f"| {name} | {ours} | evalstats: {peer} | {'yes' if well else '**no**'} |"
            for (name, ours, peer), well in zip(rows, held, strict=True)
        ),
        *quiet,
    ]
    print("\n".join(lines), end="\n\n")
    write("newer_peers", lines)
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
