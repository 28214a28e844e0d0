"""What several tests of judge corrected gains share."""

import numpy as np
from scipy.special import ndtri

RAGGED = (1, 1, 2, 3, 5, 8, 4, 1, 12, 2)
"""Documents of unequal size, again and again."""


def documents(kind, items):
    """The document of each item."""
    if kind == "none":
        return np.arange(items)
    if kind == "four":
        return np.arange(items) // 4
    sizes = [RAGGED[place % len(RAGGED)] for place in range(items)]
    return np.repeat(np.arange(items), sizes)[:items]


def run_of(rng, rates, judge, *, items=1000, epochs=1, kind="none"):
    """True gains and judged gains of an evaluation; `judge` is sensitivity, specificity, leniency on the second."""
    of = documents(kind, items)
    shared, item = rng.normal(size=of.max() + 1)[of], rng.normal(size=items)
    sides = []
    for rate, lean in zip(rates, (0.0, judge[2]), strict=True):
        own = rng.normal(size=of.max() + 1)[of], rng.normal(size=items), rng.normal(size=(epochs, items))
        z = np.sqrt(0.15) * (shared + own[0] + own[1]) + np.sqrt(0.25) * item + np.sqrt(0.3) * own[2]
        true = z < ndtri(rate)
        passes = np.where(true, min(judge[0] + lean, 0.999), 1 - max(judge[1] - lean, 0.0))
        sides.append((true.mean(axis=0), (rng.random((epochs, items)) < passes).mean(axis=0)))
    return sides[0][0] - sides[1][0], sides[0][1] - sides[1][1], of


def some_labelled(rng, true, labels):
    """The gains of a few items drawn at random, None for the rest."""
    there = np.zeros(true.size, dtype=bool)
    there[rng.choice(true.size, labels, replace=False)] = True
    return [float(value) if label else None for value, label in zip(true, there, strict=True)]


def example(seed=3, labels=60, **more):
    rng = np.random.default_rng(seed)
    true, judged, of = run_of(rng, (0.7, 0.6), (0.9, 0.9, 0.05), items=300, **more)
    return judged.tolist(), some_labelled(rng, true, labels), of.tolist()
