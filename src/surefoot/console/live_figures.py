"""What does the live page draw once a study is not blinded? Numbers on the study's side, places on the page's."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from surefoot.core import formatting, sentences
from surefoot.core.interval import Interval
from surefoot.reporting.study_pages import gain_lines
from surefoot.study.decision import PairDecision
from surefoot.study.ranking import StudyRanking, means_of_policies, ranking_of
from surefoot.study.state import Fold
from surefoot.study.status import finding_of, thinned

POINTS = 150
"""Most points of a curve: more cannot be seen, and each interval costs time."""
WIDTH, HEIGHT = 560, 270
LEFT, RIGHT, TOP, BOTTOM = 76, 12, 22, 54


@dataclass(frozen=True, slots=True)
class Bar:
    """One policy: its estimate and interval as shown, and as shares of the axis."""

    policy: str
    shown: str
    count: str
    estimate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Curve:
    """One drawing: a line, perhaps a region around it, ticks, and a line to reach."""

    title: str
    summary: str
    line: str
    marks: tuple[tuple[float, str], ...]
    steps: tuple[tuple[float, str], ...]
    region: str = ""
    target: float | None = None
    target_label: str = ""


@dataclass(frozen=True, slots=True)
class Live:
    """All that the live page shows, and the same as data."""

    verdict: str
    sentence: str
    lines: tuple[str, ...]
    bars: tuple[Bar, ...]
    curves: tuple[Curve, ...]
    data: dict[str, Any]
    ranking: StudyRanking | None = None


def live_of(fold: Fold) -> Live:
    """Evidence, confidence sequence and tallies of a study that is not blinded."""
    decision = fold.decision
    intervals = list(means_of_policies(fold).items())
    bars = tuple(_bar(policy, interval, fold) for policy, interval in intervals)
    # A ranking has no one gain to draw.
    states = thinned(fold.states, POINTS) if isinstance(decision, PairDecision) else []
    gains = _gains(fold)
    rows = [
        {"pairs": state.pairs, **_evidence(state), "low": i.low, "estimate": gains[state.pairs - 1], "high": i.high}
        for state in states
        if state.pairs and (i := state.anytime_interval)
    ]
    data: dict[str, Any] = {
        "verdict": decision.verdict.value,
        "policies": [{"policy": policy, **interval.to_dict()} for policy, interval in intervals],
        "sequence": rows,
    }
    lines: tuple[str, ...] = ()
    if isinstance(decision, PairDecision):
        found = finding_of(fold, certified=False, steps=0)
        lines = tuple(gain_lines(fold.plan, found))
        data["gain"] = None if found.interval is None else {"kind": found.kind, **found.interval.to_dict()}
        data["observed"] = found.observed
    curves: tuple[Curve, ...] = ()
    if rows:
        if "evidence" in rows[-1]:
            data["threshold"] = states[-1].rule.threshold
            curves = (_evidence_curve(rows, data["threshold"]),)
        elif "lead" in rows[-1]:
            curves = (_lead_curve(rows, fold),)
        curves = (*curves, _gain_curve(rows, fold))
    ranking = ranking_of(fold)
    said = str(decision.state)
    if fold.plan.items and isinstance(decision, PairDecision) and decision.finished:  # the headline says of what
        said = f"After {formatting.counted(decision.taken, 'pair')}: {formatting.p_value(decision.state.p_value)}."
    if ranking is not None:
        said, order = " ".join(ranking.said), [one.policy for one in ranking.policies]
        bars = tuple(sorted(bars, key=lambda bar: order.index(bar.policy) if bar.policy in order else len(order)))
        data["ranking"] = ranking.to_dict()
    return Live(decision.verdict.value, said, lines, bars, curves, data, ranking)


def _gains(fold: Fold) -> list[float]:
    """The observed gain of the first policy over the second, after each pair that counted."""
    total, gains = 0.0, list[float]()
    for number in fold.counted if fold.plan.in_pairs else ():
        scores = {turn.policy: fold.results[turn.number].score for turn in fold.blocks[number]}
        total += scores[fold.plan.policies[0]] - scores[fold.plan.policies[1]]
        gains.append(total / (len(gains) + 1))
    return gains


def _bar(policy: str, interval: Interval, fold: Fold) -> Bar:
    low, width = fold.plan.low, fold.plan.high - fold.plan.low
    scale: formatting.Scale = "rate" if fold.plan.measure == "success" else "score"
    trials = interval.trials or 0
    count = f"{round(interval.estimate * trials)}/{trials}" if scale == "rate" else formatting.rollouts(trials)
    return Bar(
        policy,
        formatting.estimate(interval.estimate, interval.low, interval.high, scale),
        count,
        round(100 * (interval.estimate - low) / width, 2),
        round(100 * (interval.low - low) / width, 2),
        round(100 * (interval.high - low) / width, 2),
    )


def _evidence(state: Any) -> dict[str, float]:
    """The rule's evidence; of an exact rule, which has none, the lead and how far it may go undecided."""
    if state.evidence is not None:
        return {"evidence": float(state.evidence)}
    at = state.standing
    if at is None:
        return {}
    most = at.pairs if at.better_above is None else at.better_above
    least = at.pairs if at.worse_above is None else at.worse_above
    return {"lead": at.first - at.second, "better_beyond": most - at.second, "worse_beyond": at.first - least}


def _evidence_curve(rows: list[dict[str, Any]], threshold: float) -> Curve:
    logs = [math.log10(max(row["evidence"], 1e-9)) for row in rows]
    low = min(-1.0, math.floor(min(logs)))
    high = max(math.ceil(math.log10(threshold)), math.ceil(max(logs)))
    place = _Axes(rows[-1]["pairs"], low, high)
    every = max(1, math.ceil((high - low) / 5))
    marks = tuple((place.y(power), _power(power)) for power in range(int(low), int(high) + 1, every))
    last = _short_of(rows[-1]["evidence"], threshold)
    return Curve(
        "Evidence, pair by pair",
        f"Evidence is {last} after {formatting.counted(rows[-1]['pairs'], 'pair')}; the rule "
        f"decides at {threshold:.3g}.",
        place.line(zip((row["pairs"] for row in rows), logs, strict=True)),
        marks,
        place.steps,
        target=place.y(math.log10(threshold)),
        target_label=f"decides at {threshold:.3g}",
    )


def _short_of(evidence: float, threshold: float) -> str:
    """Evidence to three digits; rounded down until it decides, so that none is shown to reach the line that has not."""
    if evidence >= threshold * (1.0 - 1e-9) or evidence <= 0.0:
        return f"{evidence:.3g}"
    return f"{formatting.rounded(evidence, 2 - math.floor(math.log10(evidence)), 'down'):.3g}"


def _lead_curve(rows: list[dict[str, Any]], fold: Fold) -> Curve:
    """An exact rule decides by counts: the lead, within the region in which the rule goes on."""
    edges = [row[name] for row in rows for name in ("better_beyond", "worse_beyond", "lead")]
    top = max(2, *map(abs, edges)) + 1
    place = _Axes(rows[-1]["pairs"], -top, top)
    step = max(1, round(top / 3))
    marks = tuple(
        (place.y(lead), f"{lead:+d}" if lead else "0") for lead in range(-(top // step) * step, top + 1, step)
    )
    first, lead = fold.plan.policies[0], rows[-1]["lead"]
    ahead = f"{abs(lead)} success{'' if abs(lead) == 1 else 'es'} {'ahead' if lead >= 0 else 'behind'}"
    return Curve(
        "The lead, pair by pair",
        f"{first} is {ahead} after {formatting.counted(rows[-1]['pairs'], 'pair')}. The rule goes on while the line is "
        "in the shaded region.",
        place.line((row["pairs"], row["lead"]) for row in rows),
        marks,
        place.steps,
        place.region(rows, "better_beyond", "worse_beyond"),
    )


def _gain_curve(rows: list[dict[str, Any]], fold: Fold) -> Curve:
    width = fold.plan.high - fold.plan.low
    place = _Axes(rows[-1]["pairs"], -width, width)
    scale: formatting.Scale = "gain" if fold.plan.measure == "success" else "score gain"
    unit = 100.0 if scale == "gain" else 1.0
    marks = tuple((place.y(part * width), f"{part * width * unit:+g}") for part in (-1.0, -0.5, 0.5, 1.0))
    names = fold.plan.policies
    gain = f"{formatting.number(rows[-1]['estimate'], scale)}{formatting.unit(scale)}"
    within = formatting.span(rows[-1]["low"], rows[-1]["high"], scale)
    shaded = sentences.HOLDS["fixed size" if fold.plan.rule == "fixed" else "anytime"]
    told = (
        f"The observed gain is {gain} after {formatting.counted(rows[-1]['pairs'], 'pair')}. Shaded: {within} now, "
        f"{shaded}."
    )
    return Curve(
        f"Gain of {names[0]} over {names[1]}, at {formatting.percent(fold.plan.confidence)} confidence over all looks",
        told,
        place.line((row["pairs"], row["estimate"]) for row in rows),
        marks,
        place.steps,
        place.region(rows, "high", "low"),
        place.y(0.0),
        "no gain",
    )


class _Axes:
    """Where a number of pairs and a value lie on the drawing."""

    def __init__(self, pairs: int, low: float, high: float) -> None:
        self.pairs, self.low, self.high = max(pairs, 2), low, high

    def x(self, pairs: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (pairs - 1) / (self.pairs - 1), 1)

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * min(1.0, max(0.0, share)), 1)

    def line(self, points: Any) -> str:
        return " ".join(f"{self.x(pairs)},{self.y(value)}" for pairs, value in points)

    def region(self, rows: list[dict[str, Any]], upper: str, lower: str) -> str:
        """There along the upper edge, and back along the lower."""
        there = [(row["pairs"], row[upper]) for row in rows]
        return self.line([*there, *((row["pairs"], row[lower]) for row in reversed(rows))])

    @property
    def steps(self) -> tuple[tuple[float, str], ...]:
        """A few round numbers of pairs."""
        raw = self.pairs / 5
        size = 10 ** math.floor(math.log10(max(raw, 1)))
        step = next(size * times for times in (1, 2, 5, 10) if size * times >= raw)
        return tuple((self.x(pairs), f"{pairs:,}") for pairs in range(step, self.pairs + 1, step))


def _power(power: int) -> str:
    return f"{10.0**power:g}" if -3 <= power <= 3 else f"1e{power}"
