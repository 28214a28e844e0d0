"""Exact designs: their figures and lower bounds, computed exactly, and the CPU that a design takes beside STEP's.

STEP (sequentialized_barnard_tests, CC BY-NC) is run only through its documented synthesis script, and only when it is
installed beside the peers: `pip install sequentialized_barnard_tests==0.0.9` in .bench-venv. Otherwise the figure
measured before is shown.
"""

from __future__ import annotations

import importlib.metadata
import resource
import sys
import time

import numpy as np

from benchmarks.common import Row, command_cpu, cpu, seconds, section, times
from surefoot.numerics import exact_designs, priors
from surefoot.numerics.characteristics import Characteristics, characteristics
from surefoot.sequential import ExactBinary, ExactPairedBinary, designs

STEP_BEFORE = 23.0  # seconds at horizon 200, measured on a loaded two-core machine
STEP_FIGURES = {50: "29.45 / .7292", 200: "62.89 / .9213", 500: "88.59 / .9869"}


def mean(found: Characteristics) -> tuple[float, float]:
    """(mean pairs, mean power)."""
    return float(found.pairs.mean()), float(found.first.sum(axis=1).mean())


def binary_figures(horizon: int, most: float, least: float, within: float) -> list[Row]:
    """Mean pairs and power over the 35 alternatives, each direction at .05, and what no rule can go below."""
    rule = ExactBinary(horizon, confidence=0.90, claim="either")
    walk, limits, points = rule.design.walk(), rule.design.limits, priors.thirty_five()
    pairs, power = mean(characteristics(walk, limits, points.second, points.first))
    sooner, _ = mean(characteristics(walk, limits, points.second, points.first, futility=True))
    bound = exact_designs.binary_bound(horizon, 0.05, power, mirrored=True)
    return [
        Row(
            f"ExactBinary, N = {horizon}: mean pairs / power over 35 alternatives ({sooner:.2f} pairs when "
            f"stopping for certain futility; error proved at most {rule.certificate.high:.6f})",
            f"{pairs:.2f} / {power:.4f}",
            f"STEP {STEP_FIGURES[horizon]}",
            times(pairs / float(STEP_FIGURES[horizon].split()[0])),
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
    points = priors.twelve()
    pairs, power = mean(characteristics(rule.design.walk(), rule.design.limits, points.second, points.first))
    bound = exact_designs.paired_bound(horizon, 0.025, power, mirrored=True)
    return Row(
        f"ExactPairedBinary, N = {horizon}: mean pairs / power over twelve settings (largest error "
        f"{rule.certificate.high:.6f})",
        f"{pairs:.2f} / {power:.4f}",
        f"bound {bound:.2f}",
        f"{pairs / bound:.4f}x",
        f"at most {most} with at least {least}",
        pairs <= most and power >= least and rule.certificate.high <= 0.025,
    )


def published_settings() -> list[Row]:
    """At most 100 pairs, both directions, 95% overall: fieldtrial's own settings and figures."""
    rule = ExactBinary(100, claim="either")
    rows = []
    for first, theirs, most, least in ((0.75, "86 / .30", 81.0, 0.55), (0.90, "40 / .99", 34.0, 0.98)):
        stopping, shares = rule.operating(first, 0.60)
        pairs = float(np.dot(stopping, np.arange(1, 101)))
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


def synthesis() -> list[Row]:
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
            theirs, how = step()
            asked = "at least 3x less CPU"
            row = Row(
                f"the same beside STEP ({how})", seconds(spent), seconds(theirs), times(theirs / spent), asked, True
            )
            rows.append(row._replace(met=theirs >= 3.0 * spent))
    path, declared = designs.SHIPPED / "binary.zip", designs.Declared("binary", 500, 0.025, True)
    loading = cpu(lambda: designs.read(path, declared), repeats=5)
    rows.append(Row("loading a shipped design, N = 500", seconds(loading), "", "", "under 0.05 s", loading < 0.05))
    return rows


def step() -> tuple[float, str]:
    """CPU seconds of STEP's documented synthesis script at horizon 200, and how they are known."""
    try:
        files = importlib.metadata.files("sequentialized_barnard_tests") or []
    except importlib.metadata.PackageNotFoundError:
        return STEP_BEFORE, "not installed: measured before"
    scripts = [file.locate() for file in files if file.name == "synthesize_general_step_policy.py"]
    if not scripts:
        return STEP_BEFORE, "its script is not in this release: measured before"
    return command_cpu([sys.executable, str(scripts[0]), "-n", "200", "-a", "0.05"], repeats=1), "its script, this run"


def main() -> int:
    rows = [
        *binary_figures(50, 29.10, 0.729, 1.01),
        *binary_figures(200, 62.05, 0.921, 1.015),
        *binary_figures(500, 85.0, 0.9865, 1.02),
        paired_figures(50, 36.6, 0.55),
        paired_figures(100, 59.0, 0.735),
        paired_figures(200, 85.5, 0.89),
        *published_settings(),
        *synthesis(),
    ]
    note = (
        "All of surefoot's figures but the seconds are computed exactly; an undecided run counts the whole horizon. "
        "STEP's pairs and power and the other tool's figures are those measured or published before; STEP's seconds "
        "are this run's."
    )
    return 0 if section("exact_designs", "Exact designs", rows, peers=[], note=note) else 1


if __name__ == "__main__":
    sys.exit(main())
