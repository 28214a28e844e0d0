"""Exact designs: their figures and lower bounds, computed exactly, and the CPU that a design takes beside STEP's.

STEP (sequentialized_barnard_tests, CC BY-NC) is run only through its documented synthesis script and its public names,
as installed in .bench-venv. Peers are played on random draws; our own figures are computed exactly.
"""

from __future__ import annotations

import importlib.metadata
import resource
import sys
import time
from collections.abc import Iterable, Iterator

import numpy as np

from benchmarks import design_bounds
from benchmarks.common import Row, command_cpu, cpu, seconds, section, times
from surefoot.numerics.designs import design_search, exact_designs
from surefoot.numerics.designs.operating import Characteristics, characteristics
from surefoot.sequential import ExactBinary, ExactPairedBinary, designs

STEP_BEFORE = "88.59 / .9869"  # N = 500, measured before: its design takes minutes, and playing it more
DRAWS = {50: 2000, 200: 1000}
SEED = 20260


def mean(found: Characteristics) -> tuple[float, float]:
    """(mean pairs, mean power)."""
    return float(found.pairs.mean()), float(found.first.sum(axis=1).mean())


def binary_figures(horizon: int, most: float, least: float, within: float, theirs: str) -> list[Row]:
    """Mean pairs and power over the 35 alternatives, each direction at .05, and what no rule can go below."""
    rule = ExactBinary(horizon, confidence=0.90, claim="either")
    walk, limits, points = rule.design.walk(), rule.design.limits, exact_designs.thirty_five()
    pairs, power = mean(characteristics(walk, limits, points.second, points.first))
    quits = design_search.unreachable(limits, mirrored=True)
    sooner, _ = mean(characteristics(walk, limits, points.second, points.first, quits=quits))
    bound = design_bounds.binary_bound(horizon, 0.05, power, mirrored=True)
    return [
        Row(
            f"ExactBinary, N = {horizon}: mean pairs / power over 35 alternatives ({sooner:.2f} pairs when "
            f"stopping for certain futility; error proved at most {rule.certificate.high:.6f})",
            f"{pairs:.2f} / {power:.4f}",
            f"STEP {theirs}",
            times(pairs / float(theirs.split()[0])),
            f"at most {most} with at least {least}",
            pairs <= most and power >= least and rule.certificate.high <= 0.05,
        ),
        Row(
            f"ExactBinary, N = {horizon}: above what no rule of that power can go below",
            f"{pairs:.2f}",
            f"bound {bound:.2f}",
            f"{pairs / bound:.4f}x",
            f"at most {within}x",
            pairs <= within * bound,
        ),
    ]


def paired_figures(horizon: int, most: float, least: float) -> Row:
    """Mean pairs and power over the twelve settings, each direction at .025."""
    rule = ExactPairedBinary(horizon, claim="either")
    points = exact_designs.twelve()
    pairs, power = mean(characteristics(rule.design.walk(), rule.design.limits, points.second, points.first))
    bound = design_bounds.paired_bound(horizon, 0.025, power, mirrored=True)
    return Row(
        f"ExactPairedBinary, N = {horizon}: mean pairs / power over twelve settings (largest error "
        f"{rule.certificate.high:.6f})",
        f"{pairs:.2f} / {power:.4f}",
        f"bound {bound:.2f}",
        f"{pairs / bound:.4f}x",
        f"at most {most} with at least {least}",
        pairs <= most and power >= least and rule.certificate.high <= 0.025,
    )


def beside_fieldtrial() -> list[Row]:
    """At most 100 pairs, both directions, 95% overall: the settings that fieldtrial publishes, its own rule played."""
    rule = ExactBinary(100, claim="either")
    rows = []
    for first, most, least in ((0.75, 81.0, 0.55), (0.90, 34.0, 0.98)):
        chances, shares = rule.operating(first, 0.60)
        pairs, theirs = float(np.dot(chances, np.arange(1, 101))), fieldtrial_played(first, 0.60)
        rows.append(
            Row(
                f"ExactBinary, N = 100, .60 v {first:.2f}: pairs / power",
                f"{pairs:.1f} / {shares['better']:.3f}",
                f"fieldtrial {theirs}",
                times(pairs / float(theirs.split()[0])),
                f"at most {most:g} with at least {least}",
                pairs <= most and shares["better"] >= least,
            )
        )
    return rows


def fieldtrial_played(first: float, second: float) -> str:
    """Mean pairs / power of fieldtrial's anytime test of pairs, at most 100 of them."""
    from fieldtrial.stats.confseq import paired_anytime_test

    rng = np.random.default_rng(SEED)
    draws = ((rng.random(100) < first) * 1.0 - (rng.random(100) < second) for _ in range(DRAWS[50]))
    stops = [paired_anytime_test(differences).rejected_at for differences in draws]
    return played([stop or 100 for stop in stops], [stop is not None for stop in stops], 1)


def played(pairs: list[int], shown: list[bool], digits: int) -> str:
    """``29.46 / 0.7283 (± 0.06 / 0.0017)``: means, and their standard errors."""
    wide = digits + 2
    errors = [float(np.std(values)) / len(values) ** 0.5 for values in (pairs, shown)]
    means = f"{np.mean(pairs):.{digits}f} / {np.mean(shown):.{wide}f}"
    return f"{means} (± {errors[0]:.{digits}f} / {errors[1]:.{wide}f})"


def synthesis(step: float) -> list[Row]:
    """CPU seconds of designs from nothing, and of loading a shipped one."""
    rows = []
    for horizon, most in ((200, 10.0), (500, 120.0)):
        declared = designs.Declared("binary", horizon, 0.05, True)
        began = time.process_time()
        designs.compute(declared)
        spent = time.process_time() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        asked = f"under {most:g} s and 1.5 GB"
        rows.append(
            Row(f"ExactBinary design, N = {horizon} (peak {peak:.2f} GB)", seconds(spent), "", "", asked, spent < most)
        )
        if horizon == 200:
            what, asked = "the same beside STEP's script", "at least 3x less CPU"
            rows.append(Row(what, seconds(spent), seconds(step), times(step / spent), asked, step >= 3.0 * spent))
    path, declared = designs.SHIPPED / "binary.zip", designs.Declared("binary", 500, 0.025, True)
    loading = cpu(lambda: designs.read(path, declared), repeats=5)
    rows.append(Row("loading a shipped design, N = 500", seconds(loading), "", "", "under 0.05 s", loading < 0.05))
    return rows


def step_made(horizon: int) -> float:
    """CPU seconds in which STEP's documented script makes its policy; it leaves it where the package finds it."""
    files = importlib.metadata.files("sequentialized_barnard_tests") or []
    script = next(file.locate() for file in files if file.name == "synthesize_general_step_policy.py")
    return command_cpu([sys.executable, str(script), "-n", str(horizon), "-a", "0.05"], repeats=1)


def stopping(decisions: Iterable[str]) -> Iterator[str]:
    """The decisions up to the first that is one."""
    for decision in decisions:
        yield decision
        if decision != "FailToDecide":
            return


def step_played(horizon: int) -> str:
    """Mean pairs / power of STEP over the 35 alternatives, on as many draws of each as `DRAWS` says."""
    from sequentialized_barnard_tests import Hypothesis, MirroredStepTest

    rule = MirroredStepTest(alternative=Hypothesis.P0LessThanP1, n_max=horizon, alpha=0.05)
    rng, points = np.random.default_rng(SEED), exact_designs.thirty_five()
    pairs, shown = [], []
    for rates in zip(points.second, points.first, strict=True):
        for _ in range(DRAWS[horizon]):
            rule.random_seed = int(rng.integers(1 << 31))  # it decides by chance near its boundary
            rule.reset()
            tried = zip(*((rng.random(horizon) < rate).tolist() for rate in rates), strict=True)
            said = list(stopping(rule.step(*pair).decision.name for pair in tried))
            pairs.append(len(said))
            shown.append(said[-1] == "AcceptAlternative")
    return played(pairs, shown, 2)


def main() -> int:
    step_made(50)
    spent = step_made(200)
    rows = [
        *binary_figures(50, 29.10, 0.729, 1.01, step_played(50)),
        *binary_figures(200, 62.05, 0.921, 1.015, step_played(200)),
        *binary_figures(500, 85.0, 0.9865, 1.02, STEP_BEFORE),
        paired_figures(50, 36.6, 0.55),
        paired_figures(100, 59.0, 0.735),
        paired_figures(200, 85.5, 0.89),
        *beside_fieldtrial(),
        *synthesis(spent),
    ]
    note = (
        "All of surefoot's figures but the seconds are computed exactly; an undecided run counts the whole horizon. "
        f"STEP and fieldtrial are played in this run, seed {SEED}: {DRAWS[50]:,} draws of each alternative, "
        f"{DRAWS[200]:,} at N = 200. STEP at N = 500 was measured before."
    )
    peers = ["sequentialized_barnard_tests", "fieldtrial"]
    return 0 if section("exact_designs", "Exact designs", rows, peers=peers, note=note) else 1


if __name__ == "__main__":
    sys.exit(main())
