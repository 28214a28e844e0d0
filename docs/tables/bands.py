"""Writes bands.inc and bands.svg, the tables and the figure of docs/bands.md: `python docs/tables/bands.py`.

About ten minutes on one core. Fixed seeds, so a second run writes the same file.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from surefoot import Scores, reference, stats

TARGET = Path(__file__).with_name("bands.inc")
FIGURE = TARGET.with_suffix(".svg")
SEED = 20260
SIZES = {20: 10_000, 40: 10_000, 120: 10_000, 500: 4_000}
FEWER = 2_000  # draws of the slower intervals, and of the band bounds
CONFIDENCE = 0.95


def uniform(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.random(n)


def beta_5_1(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.beta(5.0, 1.0, n)


def success_90(rng: np.random.Generator, n: int) -> np.ndarray:
    """1 with chance .9; otherwise Beta(1/2, 3/2), piled up near 0."""
    return np.where(rng.random(n) < 0.9, 1.0, rng.beta(0.5, 1.5, n))


LAWS: dict[str, tuple[Callable[[np.random.Generator, int], np.ndarray], float]] = {
    "uniform": (uniform, 0.5),
    "beta(5,1)": (beta_5_1, 5 / 6),
    "90% success, fat tail": (success_90, 0.9 + 0.1 * 0.25),
}
MEANS = {
    "order-free (default)": stats.score_mean,
    "betting": reference.betting_mean,
    "hedged WSR": reference.wsr_mean,
    "anytime": lambda scores, confidence: stats.betting_sequence(scores, confidence=confidence).latest,
    "emp. Bernstein": reference.empirical_bernstein,
    "Hoeffding": reference.hoeffding,
    "BCa bootstrap": lambda scores, confidence: reference.bootstrap_mean(
        scores, rng=1, confidence=confidence, resamples=999
    ),
    "Student t": reference.student_t,
}
SLOW = {"order-free (default)", "BCa bootstrap", "anytime"}
READ = {
    "5% quantile": lambda band: band.quantile_bound(0.05),
    "10% quantile": lambda band: band.quantile_bound(0.1),
    "25% quantile": lambda band: band.quantile_bound(0.25),
    "CVaR 25%": lambda band: band.cvar_bound(0.25),
}


def figure() -> None:
    """Forty rollouts of the third law's kind, with its worst case."""
    from surefoot.reporting.curve_figures import band_figure
    from surefoot.reporting.style import save

    rng = np.random.default_rng(SEED)
    values = np.where(rng.random(40) < 0.9, rng.beta(8.0, 1.2, 40), 0.5 * rng.random(40))
    scores = Scores(values.round(3))
    save(band_figure(stats.band(scores), stats.band(scores, using=reference.tail_tight)), FIGURE)


def main() -> None:
    figure()
    bounds, widths = [], []
    for number, (law, (draw, mean)) in enumerate(LAWS.items()):
        large = np.sort(draw(np.random.default_rng([SEED, number]), 4_000_000))
        truth = [large[math.ceil(tau * large.size) - 1] for tau in (0.05, 0.1, 0.25)] + [
            large[: large.size // 4].mean()
        ]
        bounds.append([law, "truth", "", *(f"{value:.3f}" for value in truth)])
        for n, draws in SIZES.items():
            samples = [Scores(draw(np.random.default_rng([SEED, number, n, i]), n)) for i in range(draws)]
            bounds += band_rows(law, n, samples[:FEWER])
            widths.append([law, str(n), *(cell(name, samples, mean) for name in MEANS)])
            print(widths[-1], flush=True)
    head = [
        f"Seed {SEED}; {CONFIDENCE:.0%} confidence. Mean intervals: "
        + ", ".join(f"{draws:,} draws at n = {n}" for n, draws in SIZES.items())
        + f" ({FEWER:,} for the order-free interval, the bootstrap, with 999 resamples, and the anytime interval); "
        f"bounds from a band: {FEWER:,} draws. The third law scores 1 with chance .9 and otherwise Beta(1/2, 3/2).",
        "",
    ]
    band_head = ["scores", "n", "band", *READ]
    mean_head = ["scores", "n", *MEANS]
    text = [
        *head,
        "**Average guaranteed bound from one band** (larger is better; all bounds of a row hold together):",
        "",
        *table(band_head, bounds),
        "",
        "**Average width of the interval of the mean (simulated coverage)**:",
        "",
        *table(mean_head, widths),
        "",
    ]
    TARGET.write_text("\n".join(text), encoding="utf-8")


def band_rows(law: str, n: int, samples: list[Scores]) -> list[list[str]]:
    rows = []
    for using in (reference.ks, reference.tail_tight):
        found = [stats.band(sample, confidence=CONFIDENCE, using=using) for sample in samples]
        means = [np.mean([read(band) for band in found]) for read in READ.values()]
        rows.append([law, str(n), found[0].method, *(f"{value:.3f}" for value in means)])
    return rows


def cell(name: str, samples: list[Scores], mean: float) -> str:
    used = samples[:FEWER] if name in SLOW else samples
    found = []
    for sample in used:
        try:
            found.append(MEANS[name](sample, confidence=CONFIDENCE))
        except ValueError:  # equal scores: the method refuses
            continue
    width = np.mean([interval.width for interval in found])
    held = sum(mean in interval for interval in found) / len(used)
    return f"{width:.4f} ({held:.3f})"


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(head)} |", "|" + "---|" * len(head), *(f"| {' | '.join(row)} |" for row in rows)]


if __name__ == "__main__":
    main()
