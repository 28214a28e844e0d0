"""Differences of paired scores, and verdicts from their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot import _check
from surefoot.core.assumptions import Assumed
from surefoot.core.gain import Gain, decide
from surefoot.core.interval import Interval
from surefoot.core.notes import Noted
from surefoot.core.scores import Moments, Scores
from surefoot.stats.means import WRITE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from surefoot.numerics.arrays import Floats, Ints


Ranged = Scores | Moments


def check_ranges(
    first: Ranged, second: Ranged, *, names: tuple[str, str] = ("first", "second"), kind: type[Ranged] = Scores
) -> None:
    """Refuse what is no scores (or no moments of them), and scores that were not measured on one scale."""
    for value, name in zip((first, second), names, strict=True):
        _check.instance(value, name, kind, WRITE if kind is Scores else "")
    if (first.low, first.high) != (second.low, second.high):
        must = f"have the range of `{names[0]}`, [{first.low:g}, {first.high:g}]"
        got = f"[{second.low:g}, {second.high:g}]. Scores on two scales have no gain."
        raise _check.wrong(names[1], f"{must}; got {got}", second)


def paired(first: Scores, second: Scores) -> Floats:
    """First minus second, pair by pair; refuses a pair without its partner."""
    import numpy as np

    check_ranges(first, second)
    if len(first) != len(second):
        raise _check.wrong(
            "second",
            f"hold one score for each score of `first`, {len(first):,}; got {len(second):,}. "
            "A score without its partner is no pair: remove it by name, or compare the two unpaired.",
            second,
        )
    gap = np.subtract(first.values, second.values)
    if np.ptp(gap) <= 1e-15 * max(abs(first.low), abs(first.high)):  # only rounding keeps them apart
        gap[:] = gap[0]
    return gap


def labels(clusters: Iterable[object], size: int, name: str = "clusters") -> tuple[Ints, int]:
    """Cluster numbers 0, 1, ... of `size` observations, and how many clusters there are; one alone is refused."""
    import numpy as np

    if isinstance(clusters, np.ndarray) and clusters.dtype.kind in "iu":
        _, first, places = np.unique(clusters, return_index=True, return_inverse=True)
        found, count = np.argsort(np.argsort(first))[places], len(first)  # numbered as they are met
    else:
        numbers: dict[object, int] = {}
        found = np.asarray([numbers.setdefault(label, len(numbers)) for label in clusters])
        count = len(numbers)
        if any(isinstance(label, float) and label != label for label in numbers):
            raise _check.wrong(name, "name the cluster of every observation; got NaN for some.")
    if len(found) != size:
        raise _check.wrong(name, f"name one cluster per observation, {size:,}; got {len(found):,}.")
    if count < 2:
        raise _check.wrong(
            name, "name at least 2 clusters; got 1. One cluster cannot show how clusters differ: there is no interval."
        )
    return found, count


def gain_of(
    data: tuple[Ranged, ...],
    ends: tuple[float, float],
    *,
    estimate: float,
    confidence: float,
    method: str,
    margin: float,
    trials: int,
    p_value: float | None = None,
    assumptions: tuple[Assumed, ...] = (),
    notes: tuple[Noted, ...] = (),
    seed: int | None = None,
) -> Gain:
    """One coherent result from the ends of an interval of the mean gain, kept inside what scores can differ by.

    The data are those of the two policies, task by task if there are several, or the moments of their differences.
    """
    one = data[0]
    most = one.high - one.low if len(data) > 1 else max(-one.low, one.high)
    margin = _check.margin(margin, most)
    low, high = (min(most, max(-most, float(end))) for end in ends)
    low, high = min(low, float(estimate)), max(high, float(estimate))  # a bootstrap's may leave it out
    interval = Interval(
        low=low,
        high=high,
        estimate=float(estimate),
        confidence=float(confidence),
        method=method,
        trials=trials,
        scale="score gain",
        assumptions=assumptions,
        notes=notes,
        data=data,
        seed=seed,
    )
    verdict = decide(low, high, margin)
    p_value = None if p_value is None else min(1.0, float(p_value))
    return Gain(interval, p_value, verdict, margin=margin)
