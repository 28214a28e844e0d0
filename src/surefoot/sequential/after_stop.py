"""Confidence interval of the gain after an exact rule has stopped.

An interval that holds at any moment must be wide: it has to be right whatever made you look. Once the rule has stopped
by itself, where it stopped is an observation of known law, and the gains under which it would be unlikely are left out.
The two intervals are never mixed: which one to use is known before a pair is run.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from surefoot.core.assumptions import LIST_IN_RANDOM_ORDER, PAIRS_IN_TURN, STOPPED_BY_RULE, Assumption
from surefoot.core.interval import Interval
from surefoot.core.notes import Note
from surefoot.core.verdict import Verdict
from surefoot.sequential import designs

if TYPE_CHECKING:
    from surefoot.sequential.rules import Rule

IntervalKind = Literal["anytime", "final", "final, not certified", "fixed size"]
"""When an interval holds: at any moment; after a stop as declared, proved; or found on a grid only; or once, after a
number of pairs fixed beforehand."""

AT_ONCE = 300
"""Up to this horizon the final interval is proved in a second or two; for longer ones when it is asked for."""
_ABOVE, _BELOW = math.nextafter(0.0, 1.0), math.nextafter(0.0, -1.0)


def interval_kind(interval: Interval) -> IntervalKind:
    """When the interval of a sequential rule holds.

    Example:
        >>> from surefoot.sequential import ExactBinary, interval_kind, run
        >>> states = run(ExactBinary(50), [(1, 0)] * 50)
        >>> interval_kind(states[0].interval), interval_kind(states[-1].interval)
        ('anytime', 'final')
    """
    for note in interval.notes:
        if isinstance(note, Note) and note.kind == "after_stop":
            return "final" if note.values["certified"] else "final, not certified"
    return "anytime"


def final(
    rule: Rule[Any],
    declared: designs.Declared,
    place: tuple[int, int, int],
    *,
    verdict: Verdict,
    estimate: float,
    certified: bool,
) -> Interval:
    """The interval after the stop at `place`: pairs, and the counts of the first and the second policy."""
    low, high = ends(declared, rule.futility, *place, certified=certified)
    # The table is proved to decide wrongly with no more than the error: 0 is left out exactly when it has decided.
    # Where a large declared futility drives the estimate out of the interval, the interval is stretched to it.
    share = estimate / rule.width
    low = max(min(low, share), _ABOVE) if verdict is Verdict.BETTER else min(low, share, 0.0)
    high = min(max(high, share), _BELOW) if verdict is Verdict.WORSE else max(high, share, 0.0)
    pairs, first, second = place
    notes = [Note("after_stop", {"certified": certified})]
    if rule.claim != "either":
        notes.append(Note("each_end", {"confidence": rule.confidence}))
    if pairs < rule.horizon and (first != second or verdict is not Verdict.UNDECIDED):
        kind = "early_end" if verdict is Verdict.UNDECIDED else "early_verdict"
        observed = rule.width * (first - second) / pairs
        same = {"allowed": False} if math.isclose(observed, estimate, abs_tol=1e-9 * rule.width) else {}
        notes.append(Note(kind, {"observed": observed, "scale": _scale(rule), **same}))
    return Interval(
        low=rule.width * low,
        high=rule.width * max(low, high),
        estimate=estimate,
        confidence=1.0 - 2.0 * rule.error,
        method=f"{rule.title}, final" + ("" if certified else ", not certified"),
        trials=pairs,
        scale=_scale(rule),
        assumptions=(PAIRS_IN_TURN, STOPPED_BY_RULE),
        notes=tuple(notes),
    )


def _scale(rule: Rule[Any]) -> Literal["gain", "score gain"]:
    return "gain" if rule.width == 1.0 else "score gain"


@lru_cache(maxsize=512)
def ends(
    declared: designs.Declared, share: float, pairs: int, first: int, second: int, *, certified: bool
) -> tuple[float, float]:
    """The lowest and the highest gain left, as shares of the range, after a stop in this state.

    Raises:
        ValueError: The rule never ends there.
    """
    from surefoot.numerics.designs import stopped_intervals

    error, every = declared.error, designs.space(declared, share)
    place = every.endings.at(pairs, first, second)
    verdict = int(every.endings.verdict[place])

    def near(ours: int, theirs: int) -> float:
        # The end next to 0 follows the order of the p-value, among all runs: futility need not be obeyed.
        plain = designs.space(declared, 0.0)
        return stopped_intervals.near_end(plain, plain.endings.at(pairs, ours, theirs), error)

    low = (
        near(first, second)
        if verdict > 0
        else -stopped_intervals.far_end(every.swapped(), place, error, certified=certified)
    )
    # By symmetry for the second policy: only a rule in both directions decides for it.
    high = -near(second, first) if verdict < 0 else stopped_intervals.far_end(every, place, error, certified=certified)
    return low, high


def of_list(rule: Rule[Any], declared: designs.Declared, place: tuple[int, int, int], estimate: float) -> Interval:
    """The interval of the gain on the list of environments itself, after the stop at `place`."""
    pairs, first, second = place
    if pairs == rule.horizon:
        low = high = (first - second) / pairs
    else:
        low, high = list_ends(declared, rule.futility, *place)
    share = min(max(estimate / rule.width, low), high)  # what the pairs left to run cannot change is known
    notes = [Note("of_the_list", {"environments": rule.horizon, "run": pairs})]
    if rule.claim != "either":
        notes.append(Note("each_end", {"confidence": rule.confidence}))
    return Interval(
        low=rule.width * low,
        high=rule.width * high,
        estimate=rule.width * share,
        confidence=1.0 - 2.0 * rule.error,
        method=f"{rule.title}, final, of the list",
        trials=pairs,
        scale=_scale(rule),
        assumptions=(Assumption(LIST_IN_RANDOM_ORDER, {"environments": rule.horizon}), STOPPED_BY_RULE),
        notes=tuple(notes),
    )


@lru_cache(maxsize=512)
def list_ends(declared: designs.Declared, share: float, pairs: int, first: int, second: int) -> tuple[float, float]:
    """The lowest and the highest gain of the list left, as shares of the range, after a stop in this state."""
    error, every = declared.error, designs.listed(declared, share)
    place = every.endings.at(pairs, first, second)
    verdict = int(every.endings.verdict[place])
    plain = designs.listed(declared, 0.0)
    low = -every.swapped().far_end(place, error) if verdict <= 0 else 0.0
    high = every.far_end(place, error) if verdict >= 0 else 0.0
    if verdict > 0:
        low = plain.near_end(plain.endings.at(pairs, first, second), error)
    elif verdict < 0:
        high = -plain.near_end(plain.endings.at(pairs, second, first), error)
    left, seen = (declared.horizon - pairs) / declared.horizon, (first - second) / declared.horizon
    low, high = max(low, seen - left), min(high, seen + left)
    return low, max(low, high)
