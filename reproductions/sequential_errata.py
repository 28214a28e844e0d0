"""Where must the text of Snyder et al. not be followed to the letter? Each point with a number that shows it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reproductions.pages import SEED, Check, claim, table
from surefoot.core.verdict import Verdict
from surefoot.sequential import ExactBinary, FiniteHorizonMixture, NScore, Savi, Wsr, simulate

RUNS, BATCHES, HORIZON = 20_000, 5, 200
NULLS = ("independent", "correlation +.8", "correlation −.8")


def formulas() -> list[Check]:
    """Errata of formulas, shown by plugging in numbers."""
    stake, gap, part = 0.5, 0.4, 0.3
    eighteen = ((1 + stake * gap) * part, 1 + stake * gap * part)
    twenty = ((1 - stake**2 * gap**2) * part, 1 - stake**2 * gap**2 * part)
    pairs, variance = 100, 0.25
    printed = math.sqrt(2 * math.log(2 / 0.05) * (pairs * math.log(pairs + 1) * variance))
    right = math.sqrt(2 * math.log(2 / 0.05) / (pairs * math.log(pairs + 1) * variance))
    tenths = [math.floor(10 * (j / 10)) for j in range(11)]
    wrong = [j for j in range(101) if math.floor(100 * (j / 100)) != j]
    return [
        claim(
            "Theorem 1, Eq. 6",
            "P[the null is true, given that it is rejected] ≤ α",
            "when both policies are always alike, it is 1",
            False,
            erratum="printed backwards; proved is that a true null is rejected with chance at most α",
        ),
        claim(
            "Eq. 18 is an equation",
            "equal",
            f"{eighteen[0]:.3f} on the left, {eighteen[1]:.3f} on the right",
            False,
            erratum=f"at stake {stake}, difference {gap}, asymmetry {part}; the product was not multiplied out",
        ),
        claim(
            "Eq. 20, last step",
            "equal",
            f"{twenty[0]:.3f} and {twenty[1]:.3f}",
            False,
            erratum="at the same numbers; the weight moved inside",
        ),
        claim(
            "Algorithm 2, line 11: the bet of WSR",
            f"{printed:.1f} after 100 pairs of variance .25",
            f"{right:.3f}",
            False,
            erratum="a division is missing in our copy of the text: it is sqrt(2 log(2/α) / (t log(t+1) σ²))",
        ),
        claim(
            "Algorithm 2, line 21: the interval is cut to [0, 1]",
            "[0, 1]",
            "[−1, 1]",
            False,
            erratum="differences of scores lie in [−1, 1]; cut to [0, 1] a worse policy could never be seen",
        ),
        claim(
            "Eqs. 11 and 12: eleven bins by ⌊10 r⌋",
            "0, 1, ..., 10",
            "0, 1, ..., 10 for r = 0, 0.1, ..., 1",
            tenths == list(range(11)),
            note=f"with 101 bins floating point puts {', '.join(f'.{j}' for j in wrong)} one bin too low; harmless "
            "for the error",
        ),
    ]


def literal(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """Algorithm 1 to the letter on successes: the share that rejects at 5%, and that has lost all it had."""
    runs, pairs = first.shape
    wealth, best, stake = np.ones(runs), np.ones(runs), np.zeros(runs)
    ones, others = np.cumsum(first, axis=1), np.cumsum(second, axis=1)
    for n in range(pairs):
        wealth = wealth * (1 + stake * (first[:, n] - second[:, n]))
        best = np.maximum(best, wealth)
        p1, p0 = ones[:, n] / (n + 1), others[:, n] / (n + 1)
        up, down = (1 - p0) * p1, p0 * (1 - p1)
        total = np.where(up + down > 0, up + down, 1.0)
        stake = np.maximum(0.0, (up - down) / total)
    return float((best >= 20).mean()), float((wealth == 0).mean())


def simulated() -> tuple[list[Check], list[str]]:
    """What the letter of Algorithm 1 costs, and what pairing on one environment does to each rule."""
    rng = np.random.default_rng([SEED, 3])
    first, second = ((rng.random((RUNS, HORIZON)) < rate).astype(float) for rate in (0.8, 0.5))
    power, ruined = literal(first, second)
    ours = _rejects(NScore(HORIZON, bins=2), first, second)
    rules: dict[str, Any] = {
        "N-SCORE": NScore(HORIZON, bins=2),
        "WSR": Wsr(HORIZON, claim="either"),
        "finite-horizon mixture": FiniteHorizonMixture(HORIZON, binary=True),
        "theta-SAVI": Savi(HORIZON),
        "exact design": ExactBinary(HORIZON),
    }
    errors = {name: np.zeros(len(NULLS)) for name in rules}
    for _ in range(BATCHES):  # one batch of draws in memory at a time
        nulls = _nulls(rng)
        for name, rule in rules.items():
            errors[name] += np.array([_rejects(rule, *pair) for pair in nulls]) / BATCHES
    print("  errors under dependence", flush=True)
    runs = RUNS * BATCHES
    spare = 3 * math.sqrt(0.05 * 0.95 / runs)
    betting = max(max(errors[name]) for name in ("N-SCORE", "WSR", "finite-horizon mixture"))
    likelihood = max(errors["theta-SAVI"])
    checks = [
        claim(
            "Algorithm 1 as printed, .8 v .5, 200 pairs: power",
            "“reaches a decision”",
            f"{power:.2f}; {ruined:.0%} of runs have lost everything, for good",
            abs(power - ours) < 0.01,
            erratum=f"a stake of 1 loses all on the next loss; with a little mass on every bin the power is {ours:.3f}",
        ),
        claim(
            "Theorem 1: a true null is rejected with chance at most 5%",
            "at most 0.05",
            f"N-SCORE {errors['N-SCORE'][0]:.4f} on equal rates of .5, 200 pairs",
            errors["N-SCORE"][0] <= 0.05 + spare,
        ),
        claim(
            "Appendix C: rollouts that share an environment violate the error, thin to N/K",
            "violated",
            f"at most {betting:.4f} for N-SCORE, WSR and the mixture, whatever the dependence",
            betting > 0.05 + spare,
            erratum=f"betting on pairs needs no independence within a pair; theta-SAVI does ({likelihood:.3f})",
        ),
        claim(
            "Appendix C, footnote 14: dependence inflates the variance",
            "inflates",
            "0.10 of the difference with a correlation of +.8, 0.50 with none, 0.90 with −.8, at rates of .5",
            False,
            erratum="only when negative; a shared environment makes it positive as a rule, which saves rollouts",
        ),
    ]
    words = [
        "## Error under dependence",
        "",
        f"Equal rates of .5, {HORIZON} pairs, {runs:,} runs (± {math.sqrt(0.05 * 0.95 / runs):.4f}), one-sided 5% "
        "(WSR: two sides of 2.5%, of which one is counted). Pairs in one environment are dependent; the betting rules "
        f"do not mind: figures up to {0.05 + spare:.4f} are within chance of 5%.",
        "",
        *table(["rule", *NULLS], [[name, *(f"{value:.4f}" for value in values)] for name, values in errors.items()]),
    ]
    return checks, words


def _nulls(rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Equal policies: independent, and with successes that go together or against each other."""
    shape = (RUNS, HORIZON)
    first = (rng.random(shape) < 0.5).astype(float)
    copied = rng.random(shape) < 0.8
    fresh = (rng.random(shape) < 0.5).astype(float)
    return [(first, fresh), (first, np.where(copied, first, fresh)), (first, np.where(copied, 1 - first, fresh))]


def _rejects(rule: Any, first: np.ndarray, second: np.ndarray) -> float:
    return float((simulate(rule, first, second).verdicts == Verdict.BETTER).mean())
