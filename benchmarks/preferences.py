"""Are strengths from preferences the same as evalica's, sooner, with intervals that hold the truth as often?"""

from __future__ import annotations

import sys
import warnings

import numpy as np

from benchmarks.common import Row, interleaved, seconds, section
from surefoot.stats import bradley_terry

SEED, DRAWS, RESAMPLES = 22, 100, 300
TRUTH = {"a": 1.2, "b": 0.6, "c": 0.0, "d": -0.6, "e": -1.2}
"""Logarithms of the strengths."""
Games = list[tuple[str, str, float]]


def drawn(rng: np.random.Generator, count: int) -> Games:
    """Games between policies drawn at random."""
    names = list(TRUTH)
    pairs = [rng.choice(len(names), 2, replace=False) for _ in range(count)]
    chances = [1.0 / (1.0 + np.exp(TRUTH[names[b]] - TRUTH[names[a]])) for a, b in pairs]
    return [(names[a], names[b], float(rng.random() < chance)) for (a, b), chance in zip(pairs, chances, strict=True)]


def columns(games: Games) -> tuple[list[str], list[str], list[object]]:
    from evalica import Winner

    return (
        [a for a, _, _ in games],
        [b for _, b, _ in games],
        [Winner.X if won else Winner.Y for *_, won in games],
    )


def apart(games: Games) -> float:
    """The greatest difference between the two tools' log-strengths."""
    import evalica

    theirs = evalica.bradley_terry(*columns(games), tolerance=1e-12, limit=100_000).scores
    ours = bradley_terry(games, rng=1, resamples=100)
    logs = np.array([float(np.log(theirs[name])) for name in ours.names])
    return float(np.abs(np.array(ours.log_strengths) - (logs - logs.mean())).max())


def held(games: Games, seed: int) -> tuple[float, float]:
    """The share of the intervals that hold the true log-strength: ours, evalica's at its default."""
    import evalica

    ours = bradley_terry(games, rng=seed, resamples=RESAMPLES)
    mine = [one.low <= TRUTH[name] <= one.high for name, one in zip(ours.names, ours.intervals, strict=True)]
    found = evalica.bootstrap(evalica.bradley_terry, *columns(games), n_resamples=RESAMPLES, random_state=seed)
    theirs = [np.log(found.low[name]) <= TRUTH[name] <= np.log(found.high[name]) for name in TRUTH]
    return float(np.mean(mine)), float(np.mean(theirs))


def main() -> int:
    import evalica

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(SEED)
    many, some = drawn(rng, 2_000), [drawn(rng, 100) for _ in range(DRAWS)]
    off = max(apart(games) for games in (many, *some[:10]))
    words = columns(many)
    mine, other = interleaved(
        lambda: bradley_terry(many, rng=1, resamples=1_000),
        lambda: evalica.bootstrap(evalica.bradley_terry, *words, n_resamples=1_000, random_state=1),
        repeats=2,
    )
    both = np.array([held(games, seed) for seed, games in enumerate(some)]).mean(axis=0)
    rows = [
        Row("greatest difference of log-strengths, 11 tables", f"{off:.1g}", "", "", "at most 1e-6", off <= 1e-6),
        Row(
            "five policies, 2,000 preferences, 1,000 resamples",
            *(seconds(mine), seconds(other), f"{mine / other:.4f}x"),
            "at most 1x",
            mine <= other,
        ),
        Row(
            f"intervals that hold the truth, 100 preferences, {DRAWS} draws, {RESAMPLES} resamples",
            *(f"{both[0]:.3f}", f"{both[1]:.3f}", ""),
            "none: both are approximate",
            True,
        ),
    ]
    note = f"Seed {SEED}; no ties. The peer is evalica's Bradley-Terry, with its bootstrap at the default (BCa)."
    met = section("preferences", "Strengths from preferences, beside evalica", rows, peers=["evalica"], note=note)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
