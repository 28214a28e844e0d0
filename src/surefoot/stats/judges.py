"""Success rate corrected for the errors of a judge."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.assumptions import HUMANS_TRUE, JUDGE_CALIBRATED, JUDGE_NEARLY, JUDGED_DRAWN, SIMULATED, Assumption
from surefoot.core.interval import Interval
from surefoot.core.record import Record
from surefoot.core.tally import WRITE, Tally
from surefoot.numerics.rates import binomial

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from surefoot.numerics.arrays import Floats


OUTSIDE = (
    "No rate explains the judge's pass rate with this calibration: it may err differently on these items. Label some."
)

Counts = tuple[int, int]
USUAL = 0.025
"""The error on each side of a 95% interval."""


@dataclass(frozen=True, slots=True)
class Calibration(Record):
    """Items that both a human and the judge labelled.

    Attributes:
        true_pass: Human success, judge pass.
        false_fail: Human success, judge fail.
        false_pass: Human failure, judge pass.
        true_fail: Human failure, judge fail.
    """

    true_pass: int
    false_fail: int
    false_pass: int
    true_fail: int

    def __post_init__(self) -> None:
        for name in ("true_pass", "false_fail", "false_pass", "true_fail"):
            object.__setattr__(self, name, _check.whole(getattr(self, name), name))
        if self.labels == 0:
            raise _check.wrong("calibration", "hold at least one item; got none.")

    @classmethod
    def of(cls, human: Iterable[bool], judge: Iterable[bool]) -> Calibration:
        """Count the items from two lists in the same order."""
        one, other = [_label(value) for value in human], [_label(value) for value in judge]
        if len(one) != len(other):
            raise _check.wrong("judge", f"label the {len(one):,} items of `human`; got {len(other):,}.", judge)
        pairs = list(zip(one, other, strict=True))
        return cls(*(pairs.count(kind) for kind in ((1, 1), (1, 0), (0, 1), (0, 0))))

    @property
    def labels(self) -> int:
        """All items."""
        return self.true_pass + self.false_fail + self.false_pass + self.true_fail

    @property
    def successes(self) -> int:
        """Items that are successes by the human."""
        return self.true_pass + self.false_fail

    @property
    def failures(self) -> int:
        """Items that are failures by the human."""
        return self.false_pass + self.true_fail

    @property
    def sensitivity(self) -> float | None:
        """Share of true successes that the judge passed; none without a true success."""
        return self.true_pass / self.successes if self.successes else None

    @property
    def specificity(self) -> float | None:
        """Share of true failures that the judge failed; none without a true failure."""
        return self.true_fail / self.failures if self.failures else None

    def __str__(self) -> str:
        agreed = self.true_pass + self.true_fail
        return f"{self.labels:,} items labelled by a human, {agreed:,} of them alike by the judge."


@dataclass(frozen=True, slots=True)
class JudgedRate(Record):
    """A success rate corrected for the judge's errors.

    Attributes:
        interval: Where the true rate lies.
        judged: What the judge said.
        calibration: What is known of the judge.
        raw: The corrected rate before it is kept inside [0, 1]; none where the calibration cannot correct.
        standard_error: Its standard error by the delta method, for reference only.
    """

    interval: Interval
    judged: Tally
    calibration: Calibration
    raw: float | None
    standard_error: float | None

    def __str__(self) -> str:
        said = f"the judge said {formatting.number(self.judged.rate)}, {_items(self.calibration.labels)} labelled"
        return f"{str(self.interval).removesuffix('.')}; {said}."


def judge_corrected_rate(judged: Tally, calibration: Calibration, *, confidence: float = 0.95) -> JudgedRate:
    """Confidence interval of a success rate, corrected for a judge with uncertain errors.

    The estimate is Rogan and Gladen's. The interval melds the exact bounds of the judge's pass rate, of its
    sensitivity and of its specificity. It is [0, 1] when the calibration does not show a judge better than chance.

    Args:
        judged: What the judge said of items without a human label.
        calibration: Items labelled by both, the human's label being the truth.
        confidence: How often such intervals hold the true rate.

    Assumptions:
        The judge errs on the judged items as often as on calibration items of the same truth; the calibration
        items need not have the same share of successes. Independent items.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import Calibration, judge_corrected_rate
        >>> found = judge_corrected_rate(Tally(290, 400), Calibration(95, 5, 10, 90))
        >>> print(found)  # doctest: +NORMALIZE_WHITESPACE
        73.5% [66.3%, 81.7%] n=400 (95% calibrated Rogan-Gladen interval); the judge said 72.5%,
        200 items were labelled.

    Reference:
        Rogan and Gladen (1978), "Estimating prevalence from the results of a screening test"; Fay, Proschan and
        Brittain (2015), "Combining one-sample confidence procedures for inference in the two-sample case".
    """

    each = (1.0 - _check.confidence(confidence)) / 2.0
    raw, error = _corrected(judged, calibration)
    hit, alarm = (calibration.true_pass, calibration.successes), (calibration.false_pass, calibration.failures)
    both = (judged.successes, judged.trials)
    estimate = judged.rate if raw is None else min(1.0, max(0.0, raw))
    low, high = 0.0, 1.0
    notes: tuple[str, ...] = ()
    if float(order_error(hit, alarm, each)) > each:
        notes = ("The calibration does not show a judge better than chance: label more items.",)
    else:
        low, high = _melded(mixture_error, both, hit, alarm, each)
        # the rate nearest to what was judged is 0 or 1 then, and even that one is refused
        if estimate != raw and mixture_error(estimate, both, hit, alarm, above=estimate == 1.0, tail=each) <= each:
            notes = (OUTSIDE,)
    if raw is None:
        lacks = "success" if not calibration.successes else "failure"
        notes += (f"The calibration holds no true {lacks}: the estimate is the judge's own rate.",)
    held = (JUDGE_CALIBRATED, HUMANS_TRUE, SIMULATED)
    interval = _interval(judged, calibration, (low, high), estimate, confidence, "calibrated Rogan-Gladen", held, notes)
    return JudgedRate(interval, judged, calibration, raw, error)


def judge_corrected_rate_lee(judged: Tally, calibration: Calibration, *, confidence: float = 0.95) -> JudgedRate:
    """Confidence interval of a judged success rate, by the smoothed normal interval of Lee et al.

    Args:
        judged: What the judge said of items without a human label.
        calibration: Items labelled by both; at least one true success and one true failure.
        confidence: How often such intervals hold the true rate, nearly.

    Assumptions:
        As for `judge_corrected_rate`; coverage fell to .92 at 95% where true failures were rare.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.reference import judge_corrected_rate_lee
        >>> from surefoot.stats import Calibration
        >>> print(judge_corrected_rate_lee(Tally(290, 400), Calibration(95, 5, 10, 90)).interval)
        73.5% [67.0%, 80.9%] n=400 (95% Lee et al. interval).

    Reference:
        Lee et al. (2025), "How to correctly report LLM-as-a-judge evaluations"; Lang and Reiczigel (2014).
    """
    from surefoot.numerics import normal_quantiles

    z = normal_quantiles.upper_quantile((1.0 - _check.confidence(confidence)) / 2.0)
    raw, error = _corrected(judged, calibration)
    if raw is None:
        raise _check.wrong("calibration", "hold a true success and a true failure; got one kind only.", calibration)
    sizes = judged.trials + z * z, calibration.failures + 2.0, calibration.successes + 2.0
    rate = (judged.successes + z * z / 2.0) / sizes[0]
    spec, sens = (calibration.true_fail + 1.0) / sizes[1], (calibration.true_pass + 1.0) / sizes[2]
    centre, spread = _delta(rate, spec, sens, sizes)
    pull = centre * sens * (1.0 - sens) / sizes[2] - (1.0 - centre) * spec * (1.0 - spec) / sizes[1]
    centre += 2.0 * z * z * pull
    ends = max(0.0, centre - z * spread), min(1.0, centre + z * spread)
    held = (JUDGE_CALIBRATED, HUMANS_TRUE, JUDGE_NEARLY)
    interval = _interval(judged, calibration, ends, min(1.0, max(0.0, raw)), confidence, "Lee et al.", held)
    return JudgedRate(interval, judged, calibration, raw, error)


def prediction_powered_rate(judged: Tally, labelled: Calibration, *, confidence: float = 0.95) -> JudgedRate:
    """Prediction-powered interval of a success rate, from a random sample of labels.

    The judge sorts all items into two strata, and the human labels tell the rate in each. It is right however bad
    the judge is, and narrow when the judge is good; no success or failure need be in the sample.

    Args:
        judged: What the judge said of the items without a human label.
        labelled: The items with a human label, drawn at random.
        confidence: How often such intervals hold the true rate.

    Assumptions:
        The labelled items are a random sample of all judged items. Independent items.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import Calibration, prediction_powered_rate
        >>> print(prediction_powered_rate(Tally(860, 1000), Calibration(44, 1, 1, 4)).interval)
        87.0% [77.4%, 95.0%] n=1,050 (95% calibrated prediction-powered interval).

    Reference:
        Angelopoulos et al. (2023), "Prediction-powered inference"; for a yes-or-no judge its best form is
        post-stratification. Fay, Proschan and Brittain (2015) for the interval.
    """

    each = (1.0 - _check.confidence(confidence)) / 2.0
    _check.instance(judged, "judged", Tally, WRITE)
    _check.instance(labelled, "labelled", Calibration)
    passed = (labelled.true_pass, labelled.true_pass + labelled.false_pass)
    failed = (labelled.false_fail, labelled.false_fail + labelled.true_fail)
    share = (judged.successes + passed[1], judged.trials + labelled.labels)
    low, high = _melded(strata_error, share, passed, failed, each)
    human = labelled.successes / labelled.labels
    inside = passed[0] / passed[1] if passed[1] else human
    outside = failed[0] / failed[1] if failed[1] else human
    part = share[0] / share[1]
    estimate = part * inside + (1.0 - part) * outside
    notes: tuple[str, ...] = ()
    if not passed[1] or not failed[1]:
        notes = (
            f"No labelled item was {'passed' if not passed[1] else 'failed'} by the judge, so nothing is "
            "known about such items.",
        )
    method, held = "calibrated prediction-powered", (JUDGED_DRAWN, HUMANS_TRUE, SIMULATED)
    interval = _interval(judged, labelled, (low, high), estimate, confidence, method, held, notes, trials=share[1])
    return JudgedRate(interval, judged, labelled, estimate, None)


def _corrected(judged: Tally, calibration: Calibration) -> tuple[float | None, float | None]:
    """The corrected rate and its delta-method error; none of them where a kind of item is missing."""
    _check.instance(judged, "judged", Tally, WRITE)
    _check.instance(calibration, "calibration", Calibration)
    sens, spec = calibration.sensitivity, calibration.specificity
    if sens is None or spec is None:
        return None, None
    if sens + spec <= 1.0 + 1e-12:
        raise _check.wrong(
            "calibration",
            f"show sensitivity + specificity above 1; got {sens:.3g} + {spec:.3g}. "
            "A judge no better than chance cannot be corrected: use another judge or human labels.",
            calibration,
        )
    return _delta(judged.rate, spec, sens, (judged.trials, calibration.failures, calibration.successes))


def _melded(error: Callable[..., Any], one: Counts, two: Counts, three: Counts, tail: float) -> tuple[float, float]:
    """Both ends: the candidates farthest out whose error, melded from the three counts, is still above the tail."""

    def end(above: bool) -> float:
        return farthest(lambda t: error(t, one, two, three, above=above, tail=tail), tail, upward=not above)

    return end(True), end(False)


def _delta(rate: float, spec: float, sens: float, sizes: tuple[float, float, float]) -> tuple[float, float]:
    power = sens + spec - 1.0
    theta = (rate + spec - 1.0) / power
    variance = rate * (1.0 - rate) / sizes[0]
    variance += (1.0 - theta) ** 2 * spec * (1.0 - spec) / sizes[1] + theta**2 * sens * (1.0 - sens) / sizes[2]
    return theta, math.sqrt(variance) / power


def _interval(
    judged: Tally,
    calibration: Calibration,
    ends: tuple[float, float],
    estimate: float,
    confidence: float,
    method: str,
    assumptions: tuple[Assumption, ...],
    notes: tuple[str, ...] = (),
    *,
    trials: int | None = None,
) -> Interval:
    return Interval(
        low=min(ends[0], estimate),
        high=max(ends[1], estimate),
        estimate=estimate,
        confidence=float(confidence),
        method=method,
        trials=judged.trials if trials is None else trials,
        assumptions=assumptions,
        notes=notes,
        data=(judged, calibration),
    )


def _items(count: int) -> str:
    return "1 item was" if count == 1 else f"{count:,} items were"


def _label(value: object) -> int:
    if value not in (0, 1):
        raise _check.refused("label", "be True or False", value)
    return int(bool(value))


@cache
def _nodes(tail: float = USUAL) -> tuple[Floats, Floats]:
    """Levels in (0, 1) and their weights: Gauss-Legendre in the log odds, out to levels far rarer than `tail`."""
    reach = np.log(1.0 / tail) + 8.0
    x, w = np.polynomial.legendre.leggauss(4 * int(np.ceil(reach)))
    levels: Floats = special.expit(reach * x)
    weights: Floats = reach * w * levels * (1.0 - levels)
    return levels, weights / weights.sum()


def bound_quantiles(k: ArrayLike, n: ArrayLike, upper: bool, tail: float = USUAL) -> Floats:
    """Lower or upper exact bounds of a rate at the levels of the nodes, in a new last axis; no data, no bound."""
    levels, _ = _nodes(tail)
    k, n = np.asarray(k, float)[..., None], np.asarray(n, float)[..., None]
    a, b = (k + 1.0, n - k) if upper else (k, n - k + 1.0)
    edge = b == 0.0 if upper else a == 0.0
    inner = binomial.lower(np.where(edge, 1.0, a), np.where(edge, 1.0, b), levels)
    return np.where(edge, 1.0 if upper else 0.0, inner)


def bound_cdf(x: Floats, k: ArrayLike, n: ArrayLike, upper: bool) -> Floats:
    """The chance that the variable of lower or upper bounds is at most x; `k` and `n` broadcast against x."""
    k, n = np.asarray(k, float), np.asarray(n, float)
    a, b = (k + 1.0, n - k) if upper else (k, n - k + 1.0)
    edge = b == 0.0 if upper else a == 0.0
    inner = special.betainc(np.where(edge, 1.0, a), np.where(edge, 1.0, b), np.clip(x, 0.0, 1.0))
    inner = np.where(x < 0.0, 0.0, np.where(x >= 1.0, 1.0, inner))
    at_edge = (x >= 1.0) if upper else (x >= 0.0)
    return np.where(edge, at_edge.astype(float), inner)


def _expect(values: Floats, tail: float) -> Floats:
    """Mean over the last two axes, the nodes of two variables."""
    _, weights = _nodes(tail)
    return np.asarray(np.einsum("...ij,i,j->...", values, weights, weights))


def mixture_error(
    rate: ArrayLike,
    judged: tuple[ArrayLike, ArrayLike],
    hit: tuple[ArrayLike, ArrayLike],
    alarm: tuple[ArrayLike, ArrayLike],
    above: bool,
    tail: float = USUAL,
) -> Floats:
    """The error at which `rate` would be the bound, when judged = rate * hit + (1 - rate) * alarm.

    Args:
        rate: Candidates for the true rate.
        judged: Passes and total of the judge.
        hit: Passes and total of the judge on true successes.
        alarm: Passes and total of the judge on true failures.
        above: Whether the rate is tried as a lower bound; else as an upper one.
        tail: The error that the answer will be compared with; errors far below it are not resolved.
    """
    rate = np.asarray(rate, float)
    hits = bound_quantiles(*hit, upper=above, tail=tail)[..., :, None]
    alarms = bound_quantiles(*alarm, upper=above, tail=tail)[..., None, :]
    t = rate[..., None, None]
    k, n = (np.asarray(part, float)[..., None, None] for part in judged)
    below = bound_cdf(t * hits + (1.0 - t) * alarms, k, n, upper=not above)
    return _expect(below if above else 1.0 - below, tail)


def order_error(
    larger: tuple[ArrayLike, ArrayLike], smaller: tuple[ArrayLike, ArrayLike], tail: float = USUAL
) -> Floats:
    """The error at which it could no longer be said that the first rate is above the second."""
    _, weights = _nodes(tail)
    k, n = (np.asarray(part, float)[..., None] for part in larger)
    below = bound_cdf(bound_quantiles(*smaller, upper=True, tail=tail), k, n, upper=False)
    return np.asarray(np.einsum("...i,i->...", below, weights))


def strata_error(
    rate: ArrayLike,
    share: tuple[ArrayLike, ArrayLike],
    inside: tuple[ArrayLike, ArrayLike],
    outside: tuple[ArrayLike, ArrayLike],
    above: bool,
    tail: float = USUAL,
) -> Floats:
    """The error at which `rate` would be the bound, when rate = share * inside + (1 - share) * outside.

    Args:
        rate: Candidates for the true rate.
        share: Items the judge passed, and all items judged.
        inside: True successes and total among labelled items that the judge passed.
        outside: The same among labelled items that the judge failed.
        above: Whether the rate is tried as a lower bound; else as an upper one.
        tail: The error that the answer will be compared with; errors far below it are not resolved.
    """
    rate = np.asarray(rate, float)[..., None, None]
    v = bound_quantiles(*inside, upper=not above, tail=tail)[..., :, None]
    w = bound_quantiles(*outside, upper=not above, tail=tail)[..., None, :]
    k, n = (np.asarray(part, float)[..., None, None] for part in share)
    apart = v - w
    with np.errstate(all="ignore"):
        level = (rate - w) / apart
    # the share is taken from the side that moves the rate the same way as the other two
    rising, falling = bound_cdf(level, k, n, upper=not above), bound_cdf(level, k, n, upper=above)
    below = np.where(apart > 0.0, rising, np.where(apart < 0.0, 1.0 - falling, (w <= rate).astype(float)))
    return _expect(below if above else 1.0 - below, tail)


def farthest(errors: Callable[[Floats], Floats], tail: float, upward: bool) -> float:
    """The candidate in [0, 1] farthest down (or up) whose error is above the tail; the edge when all are refused.

    Scanned from the edge, so that nothing beyond is overlooked; to 1e-12, on the wide side.
    """
    grid = np.linspace(0.0, 1.0, 65)
    kept = errors(grid) > tail
    if kept[-1 if upward else 0] or not kept.any():
        return float(upward)
    place = int(np.flatnonzero(kept)[-1 if upward else 0])
    inner, outer = float(grid[place]), float(grid[place + (1 if upward else -1)])
    while abs(outer - inner) > 1e-12:
        middle = (inner + outer) / 2.0
        if errors(np.array([middle]))[0] > tail:
            inner = middle
        else:
            outer = middle
    return outer
