"""One need tested on a table: the p-value that it holds not, that it is broken, and what was seen."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from surefoot import stats
from surefoot.analysis.comparison_data import Asked, Combined, Found, Make, Target, Weights, called
from surefoot.analysis.judge_corrections import human_corrections
from surefoot.analysis.judged_gains import judged_gain
from surefoot.analysis.levels import Opposed, disagreeing, held_within, opposed
from surefoot.analysis.measurements import measured
from surefoot.analysis.needs import GAINS, MEANS, RATES, RATIO, Need
from surefoot.analysis.targets import found_between
from surefoot.core.formatting import Scale
from surefoot.core.interval import Interval
from surefoot.core.notes import Note
from surefoot.errors import DataError
from surefoot.numerics import normal_quantiles
from surefoot.stats.gates import paired_ratio_test, ratio_test, refuted
from surefoot.stats.multiplicity import Sides
from surefoot.stats.one_sided_gains import asked as one_sided
from surefoot.stats.score_gains import paired_score_test, score_test
from surefoot.stats.score_strata import stratified_score_test
from surefoot.table.measures import column_of, is_yes_or_no, measuring
from surefoot.table.rollouts import Measure, Rollouts

POWER = 0.8
FINEST = 1e-7
"""No p-value is worked out below this."""
NEAR = 0.01
MOST = 10**6
"""More than so many are not told in figures."""

Both = tuple[float, float]
"""The p-values of "at most the edge" and of "at least the edge"."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the data say about a number: its estimate, two bounds, and the p-values of any edge.

    Attributes:
        sides: The two one-sided p-values of an edge.
        estimate: The observed number.
        ends: The two one-sided bounds, each with the gate's error.
        scale: What the number is.
        count: How many are independent: rollouts of each policy, pairs, units.
        unit: What they are called.
        about: What the answer is about.
        method: The test.
        tally: Yes among all, where that is all there is.
        counted: Yes among all in words, of one policy's yes-or-no measure.
        against: What levels of columns show against a gain.
    """

    sides: Callable[[float], Both]
    estimate: float
    ends: Both
    scale: Scale
    count: int
    unit: str
    about: str
    method: str
    tally: Any = None
    counted: str = ""
    against: Callable[[], Opposed] = Opposed


class NotComparableError(Exception):
    """A need that the data cannot answer, neither way."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Who is compared with whom, and how sure.

    Attributes:
        first: The policy that the needs are about.
        second: The policy it is compared with; None where there is none.
        error: The error of every need.
        target: What answers are about.
        weights: How units weigh.
        bounds: Whether the ends of a ratio are wanted too; they take many tests.
    """

    first: str
    second: str | None
    error: float
    target: Target | None = None
    weights: Weights = "units"
    bounds: bool = True

    def policies(self, need: Need) -> tuple[str, ...]:
        """Whose rollouts a need is about."""
        if not need.compares:
            return (self.first,)
        if self.second is None:
            raise DataError(f"the need {str(need)!r} compares two policies; there is only {self.first!r}.",
                            cure="Name the other: --second, or --previous FILE.")  # fmt: skip
        return (self.first, self.second)


def kind_of(rollouts: Rollouts, need: Need) -> Measure:
    """Whether a need is about yes or no, or about numbers."""
    key = column_of(rollouts, need.measure)
    if key == "success" and need.claim in MEANS:
        raise DataError(f"a success has a rate: say {need.claim.replace('mean', 'rate')}.", source=rollouts.source)
    if need.claim in RATES or (key == "success" and need.claim in GAINS):
        return "success"
    if key == "score" or need.limit is not None or need.claim in (RATIO, *MEANS):
        return "score"
    if not is_yes_or_no(rollouts, key):
        raise DataError(f"`limit` must say the most that {need.measure!r} can be, known beforehand: a bound on a mean "
                        "needs it.", source=rollouts.source)  # fmt: skip
    return "success"


def table_of(rollouts: Rollouts, need: Need, who: Asker) -> tuple[Rollouts, Measure]:
    """The table whose outcome is what a need measures."""
    kind = kind_of(rollouts, need)
    limit = need.limit
    if need.claim == RATIO and limit is None and column_of(rollouts, need.measure) == "success":
        limit = 1.0
    return measuring(rollouts, need.measure, kind, who.policies(need), limit=limit), kind


def seen(part: Rollouts, need: Need, kind: Measure, who: Asker, level: str | None) -> Seen:
    """What the rollouts of one level, or of all, say about what a need claims."""
    if not need.compares:
        return _alone(part, kind, who)
    at = None if level is None else (str(need.by), level)
    asked = Asked(part, who.first, str(who.second), kind, who.weights, need.lower_is_better, at)
    if part.labels and not need.lower_is_better:
        return _judged(asked, who)
    found = _found(asked, who, level)
    return _ratio(asked, found, need, who, level) if need.claim == RATIO else _gain(asked, found, need, who)


def _found(asked: Asked, who: Asker, level: str | None) -> Found:
    found = found_between(asked.compared, target=who.target, strict=False)
    if level is None:
        found = held_within(asked.compared, found, paired=None, target=who.target)
    if not found.comparable:
        raise NotComparableError("the two share no task or setting: run both on the same")
    return found


def _counted(asked: Asked, found: Found) -> tuple[int, str]:
    """What is independent of one another: how many there are, and what they are called."""
    made = found.reading
    if made.groups > 1 or (made.paired and made.about.target == "like"):
        return made.groups or made.units, made.about.plural if made.about.column else "pairs"
    return min(group.known(asked.measure) for group in asked.groups), f"{asked.rollouts.words.rollouts} of each"


def _gain(asked: Asked, found: Found, need: Need, who: Asker) -> Seen:
    gain = found.gain(confidence=_two_sided(who.error), margin=0.0, central=True)
    ends, scale = gain.interval, gain.interval.scale
    sides = partial(sides_at, found.make, error=who.error)
    count, unit = _counted(asked, found)

    def against() -> Opposed:
        return opposed(disagreeing(asked.compared, gain, confidence=1.0 - who.error), gain.verdict, need.value)

    about, both = str(found.reading.about), (ends.low, ends.high)
    return Seen(sides, ends.estimate, both, scale, count, unit, about, gain.method, against=against)


def _judged(asked: Asked, who: Asker) -> Seen:
    """By human labels, with the judge's help."""

    def gain(error: float) -> Any:
        confidence = _two_sided(error)
        return judged_gain(asked.rollouts, asked.first, asked.second, measure=asked.measure, confidence=confidence)

    made = gain(who.error)
    if made is None or made.gain is None or made.refused is not None:
        why = "neither has any" if made is None else str(made.refused)
        raise NotComparableError(f"the human labels allow no verdict. {why}".removesuffix("."))
    ends = made.gain.interval
    sides = partial(by_ends, lambda error: _ends(gain(error).gain.interval), error=who.error)
    return Seen(sides, ends.estimate, _ends(ends), ends.scale, ends.trials, "labelled items", "items like these",
                ends.method)  # fmt: skip


def _alone(part: Rollouts, kind: Measure, who: Asker) -> Seen:
    """One policy's rate or mean."""
    own = part.where(policy=who.first)
    words = own.words.rollouts
    if part.labels:
        if not human_corrections(own, measure=kind):
            raise NotComparableError(f"{who.first!r} has no human labels to be corrected by")

        def corrected(error: float) -> Interval:
            (found,) = human_corrections(own, measure=kind, confidence=_two_sided(error))
            return found.interval

        return _measured(corrected, who.error, "labelled rollouts")
    plain = measured(own, kind, _two_sided(who.error), who.weights, who.target, central=True)
    if kind == "score" or plain.data != (own.tally(),):  # what is one count of all rollouts has an exact test
        ways = partial(measured, own, kind, weights=who.weights, target=who.target, central=True)
        found = _measured(lambda error: ways(confidence=_two_sided(error)), who.error, words)
        return found if kind == "score" else replace(found, counted=_fraction(own.tally()))
    tally = own.tally()
    ends = stats.clopper_pearson(tally, confidence=_two_sided(who.error))
    sides = partial(_binomial, tally)
    like = f"{words} like these"
    counted = _fraction(tally)
    return Seen(sides, tally.rate, _ends(ends), "rate", tally.trials, words, like, ends.method, tally, counted)


def _fraction(tally: Any) -> str:
    return f"{tally.successes:,}/{tally.trials:,}"


def _measured(interval: Callable[[float], Interval], error: float, unit: str) -> Seen:
    ends = interval(error)
    told = [note.values["subject"] for note in ends.notes if isinstance(note, Note) and note.kind == "about"]
    about = str(told[0]) if told else f"{unit} like these"
    sides = partial(by_ends, lambda level: _ends(interval(level)), error=error)
    return Seen(sides, ends.estimate, _ends(ends), ends.scale, ends.trials, unit, about, ends.method)


def _binomial(tally: Any, edge: float) -> Both:
    """The exact tails of a count: p-values that agree with Clopper and Pearson's ends."""
    from scipy import special

    k, n = tally.successes, tally.trials
    return (float(special.bdtrc(k - 1, n, edge)) if k else 1.0), float(special.bdtr(k, n, edge))


# Ratios


def _ratio(asked: Asked, found: Found, need: Need, who: Asker, level: str | None) -> Seen:
    """The mean of the first per mean of the second: of pairs, of two groups, or as any other design asks."""
    test: Callable[[float], Any] | None = None
    make: Any = found.make
    function = make.func if isinstance(make, partial) else None
    if function is stats.paired_score_gain:
        several = make.keywords.get("several_tasks", False)
        test = partial(paired_ratio_test, make.args[1], make.args[0], several_tasks=several)
    elif function is stats.score_gain:
        test = partial(ratio_test, make.args[1], make.args[0])
    name = ("stratified or clustered ratio" if test is None else test(need.value).method).replace(" (Gaffke)", "")

    def sides(ratio: float) -> Both:
        if test is not None:
            made = test(ratio)
            return made.above, made.below
        scaled = _found(_scaled(asked, ratio), who, level)
        less, more = sides_at(scaled.make, 0.0, who.error)  # of "the second times the ratio, less the first"
        return more, less

    first, second = (alone_mean(asked, name) for name in (asked.first, asked.second))
    if second <= 0.0:
        raise NotComparableError(f"the mean of {asked.second!r} is 0: there is no ratio")
    ratio = low = high = first / second
    count, unit = _counted(asked, found)
    if not who.bounds:
        return Seen(sides, ratio, (low, high), "score", count, unit, str(found.reading.about), name)
    low = refuted(lambda r: sides(r)[0], who.error, ratio, ratio * 1e-3, 1e-3)
    high = refuted(lambda r: sides(r)[1], who.error, ratio, max(4.0 * ratio, 4.0 * need.value), 1e-3)
    return Seen(sides, ratio, (low, high), "score", count, unit, str(found.reading.about), name)


def alone_mean(asked: Asked, policy: str) -> float:
    """The observed mean of a policy, its units weighing as in the gain."""
    return float(measured(asked.rollouts.where(policy=policy), asked.measure, 0.5, asked.weights).estimate)


def _scaled(asked: Asked, ratio: float) -> Asked:
    """The table in which the second policy's values are multiplied, so that the ratio is a gain of 0."""
    import narwhals as nw

    table = asked.rollouts
    own = nw.col("policy") == asked.second
    value = nw.when(own).then(nw.col("score") * ratio).otherwise(nw.col("score"))
    scaled = replace(
        table,
        frame=table.frame.with_columns(value.alias("score")),
        high=max(1.0, ratio) * table.high,
        declared=table.design_roles(),
    )
    return replace(asked, rollouts=scaled)


# The p-values of an edge


SCORE_TESTS: dict[Any, Callable[..., Any]] = {
    stats.score_gain: score_test,
    stats.paired_score_gain: paired_score_test,
    stats.stratified_score_gain: stratified_score_test,
}


def sides_at(make: Make, edge: float, error: float) -> Both:
    """The p-values of "the gain is at most the edge" and "at least the edge", by a method with its data.

    They agree with the ends of its interval whose error is `error` on each side.
    """
    if isinstance(make, Combined):
        every = [sides_at(way, edge, error) for way in make.ways]
        return max(above for above, _ in every), max(below for _, below in every)
    function = make.func if isinstance(make, partial) else None
    if function in (stats.exact_gain, stats.exact_paired_gain):
        return _at(one_sided(*make.args).sides(abs(edge), error), edge)  # type: ignore[attr-defined]
    if function in SCORE_TESTS:
        made = SCORE_TESTS[function](*make.args, **make.keywords, gain=edge)  # type: ignore[attr-defined]
        return made.above, made.below
    if function in (stats.cluster_gain, stats.two_sample_cluster_gain):
        found: Any = called(make, confidence=_two_sided(error), margin=abs(edge), central=True)
        return _at(found.sides, edge)
    return by_ends(
        lambda level: _ends(called(make, confidence=_two_sided(level), margin=0.0, central=True).interval), edge, error
    )


def _at(sides: Sides, edge: float) -> Both:
    return (sides.not_worse, sides.worse) if edge <= 0.0 else (sides.better, sides.not_better)


def by_ends(ends: Callable[[float], Both], edge: float, error: float = 0.05) -> Both:
    """The p-values of an edge from bounds at any error: the smallest error whose bound leaves the edge out.

    The error itself is looked at first, so that a p-value is at most the error exactly where that bound says so.
    """

    def smallest(beyond: Callable[[float], bool]) -> float:
        if not beyond(0.4999):
            return 1.0  # the estimate is on the other side
        low, high, middle = math.log(FINEST), math.log(0.4999), math.log(error)
        while high - low > NEAR:
            low, high = (low, middle) if beyond(math.exp(middle)) else (middle, high)
            middle = 0.5 * (low + high)
        return min(math.exp(high), error) if high <= math.log(error) else math.exp(high)

    return smallest(lambda level: ends(level)[0] > edge), smallest(lambda level: ends(level)[1] < edge)


def _ends(interval: Interval) -> Both:
    return interval.low, interval.high


def _two_sided(error: float) -> float:
    """The confidence of an interval whose ends have this error each."""
    return round(1.0 - 2.0 * error, 15)


# How many more


def lacking(found: Seen, edge: float, error: float, beyond: float) -> int | None:
    """About how many more would tell, if what was observed is true: that the need holds, or that it is broken.

    Args:
        found: What was seen.
        edge: What the need claims.
        error: The error of the ends that were seen.
        beyond: The error with which the edge is to be left out.
    """
    low, high = found.ends
    up = found.estimate > edge
    gap, half = abs(found.estimate - edge), (found.estimate - low if up else high - found.estimate)
    if gap <= 1e-12:
        return None
    if found.tally is not None:
        return _more_rollouts(found.tally, edge, beyond)
    z = normal_quantiles.upper_quantile
    times = (z(beyond) + z(1.0 - POWER)) * half / (z(error) * gap)
    more = math.ceil(found.count * (times**2 - 1.0))
    return None if more > MOST else max(1, more)


def _more_rollouts(tally: Any, edge: float, error: float) -> int | None:
    """The fewest rollouts more whose exact test tells, at the observed rate, with the power."""
    import numpy as np
    from scipy import special

    rate, count, size = tally.rate, tally.trials, tally.trials
    while size < MOST:
        size = math.ceil(1.03 * size) + 1
        k = np.arange(size + 1)
        if rate < edge:
            most = int((special.bdtr(k, size, edge) <= error).sum()) - 1
            chance = float(special.bdtr(most, size, rate)) if most >= 0 else 0.0
        else:
            least = int((special.bdtrc(k - 1.0, size, edge) > error).sum())
            chance = float(special.bdtrc(least - 1, size, rate)) if least else 1.0
        if chance >= POWER:
            return int(size - count)
    return None
