"""Methods of version 0.2.0 that misled, to be put back where a check must show that it would notice them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

from scipy.stats import t as student

from surefoot import Gain, Scores, Tally, stats
from surefoot.core.gain import decide
from surefoot.reference import stratified_t_gain
from surefoot.stats import cluster_gain, miettinen_nurminen


def _stratified_t(strata: Mapping[str, tuple[Scores, Scores]], *, weights: Any = "rollouts", **asked: Any) -> Gain:
    """Student's t over tasks, whatever the smallest cell (T24)."""
    return stratified_t_gain(strata, weights=weights, confidence=asked["confidence"], margin=asked["margin"])


def _asymptotic(first: Tally, second: Tally, *, confidence: float, margin: float) -> Gain:
    """Miettinen and Nurminen's interval of two rates, whatever the smaller number of rollouts (T26)."""
    interval = miettinen_nurminen(first, second, confidence=confidence)
    return Gain(interval, None, decide(interval.low, interval.high, margin), margin=margin)


def _cluster_t(first: Scores, second: Scores, clusters: Any, *, confidence: float, margin: float, **_: Any) -> Gain:
    """Student's t with the bias-reduced variance and degrees of freedom of Bell and McCaffrey (T27)."""
    now = cluster_gain(first, second, clusters)
    half = now.error * float(student.isf((1.0 - confidence) / 2.0, now.freedom))
    low, high = max(-1.0, now.estimate - half), min(1.0, now.estimate + half)
    interval = replace(now.interval, low=low, high=high, confidence=confidence)
    return Gain(interval, None, decide(low, high, margin), margin=margin)


class Old(NamedTuple):
    """A method of before.

    Attributes:
        about: What it was.
        name: The function of `surefoot.stats` in whose place it stood.
        method: The method.
        case: The table on which it must be noticed.
    """

    about: str
    name: str
    method: Any
    case: str


OLD = {
    "T24": Old("stratified t for six policies", "stratified_score_gain", _stratified_t,
               "T24 six policies, 100 v 10 over 3 tasks"),
    "T26": Old("Miettinen and Nurminen's interval", "exact_gain", _asymptotic, "own rollouts 1,000 v 5 rare"),
    "T27": Old("bias-reduced cluster t", "cluster_gain", _cluster_t, "T27 20 clusters of 10 to 11, 6% fail whole"),
}  # fmt: skip


@contextmanager
def put_back(finding: str) -> Iterator[None]:
    """Answers by the old method, as long as this lasts."""
    old = OLD[finding]
    now = getattr(stats, old.name)
    setattr(stats, old.name, old.method)
    try:
        yield
    finally:
        setattr(stats, old.name, now)
