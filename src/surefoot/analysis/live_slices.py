"""Slices of a study that could stop by looking: each keeps a rule of its own, valid at every moment (21b)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from surefoot.analysis.slice_tables import MOST, SMALLEST, Looked, Where
from surefoot.analysis.slices import Slices, made_of
from surefoot.stats.slices import by_holm

if TYPE_CHECKING:
    from surefoot.core.interval import Interval
    from surefoot.table.rollouts import Measure

HOW = "Each slice keeps a mixture of bets on its own pairs; Holm on p-values that hold whenever the study stops."
Levels = Mapping[str, str]
"""Under which levels of its columns a pair was met."""


def slices_of_pairs(
    policies: tuple[str, str],
    planned: Sequence[Levels],
    met: Sequence[tuple[Levels, float, float]],
    *,
    measure: Measure,
    low: float = 0.0,
    high: float = 1.0,
    confidence: float = 0.95,
) -> Slices | None:
    """Anytime-valid tests of slices of pairs, adjusted by Holm: valid whatever made a study stop.

    Which slices there are follows from the schedule, so that it looks at no outcome; each has the pairs of its own as
    horizon, and its share of the error.

    Args:
        policies: The first and the second.
        planned: The levels of every pair in the schedule.
        met: The levels of every pair that counts, in order, with the outcomes of the first and of the second.
        measure: What the outcomes are.
        low: The least that an outcome can be.
        high: The most that it can be.
        confidence: One minus the chance that any slice is named wrongly.

    Returns:
        The slices; None where the schedule has none of enough pairs.
    """
    import numpy as np

    from surefoot.sequential.finite_horizon_mixture import FiniteHorizonMixture

    names, members = _cut(planned)
    if not names:
        return None
    sizes = members.sum(axis=0).tolist()
    share = (1.0 - confidence) / len(names)
    binary = True if measure == "success" else None
    inside = [[(x, y) for levels, x, y in met if _in(levels, name)] for name in names]

    def played(place: int, *, claim: str, error: float, swapped: bool = False) -> Any:
        options: dict[str, Any] = {"confidence": 1.0 - error, "claim": claim, "low": low, "high": high}
        rule = FiniteHorizonMixture(horizon=sizes[place], binary=binary, **options)
        state = rule.start()
        for x, y in inside[place]:
            if state.finished:
                break
            state = rule.step(state, (y, x) if swapped else (x, y))
        return state

    def interval(place: int) -> Interval:
        found: Interval = played(place, claim="either", error=share).interval
        return found

    worse, better = (
        [played(at, claim="first better", error=share / 2.0, swapped=way).p_value for at in range(len(names))]
        for way in (True, False)
    )
    sums = [(sum(x for x, _ in pairs), sum(y for _, y in pairs)) for pairs in inside]
    gains = [(x - y) / max(1, len(pairs)) for (x, y), pairs in zip(sums, inside, strict=True)]
    looked = Looked(
        names=names,
        sizes=[(len(pairs), len(pairs)) for pairs in inside],
        sums=sums,
        estimates=gains,
        tests=by_holm(worse, better, confidence=confidence, claim="both"),
        members=np.asarray(members),
        how=HOW,
        interval=interval,
    )
    columns = tuple(dict.fromkeys(column for name in names for column, _ in name.parts))
    return made_of(policies, measure, columns, (len(met), len(met)), looked)


def _in(levels: Levels, name: Where) -> bool:
    return all(levels.get(column) == level for column, level in name.parts)


def _cut(planned: Sequence[Levels]) -> tuple[list[Where], Any]:
    """The slices of enough scheduled pairs, the largest where they are too many: names, and pairs by slices."""
    import numpy as np

    known: dict[str, list[str]] = {}
    for levels in planned:
        for column, level in levels.items():
            if level not in known.setdefault(column, []):
                known[column].append(level)
    single = [(column, level) for column in known for level in sorted(known[column])]
    parts = [(one,) for one in single] + [pair for pair in combinations(single, 2) if pair[0][0] != pair[1][0]]
    met, found = set[bytes](), []
    for part in parts:
        name = Where(part)
        inside = np.array([_in(levels, name) for levels in planned], dtype=bool)
        if inside.sum() < SMALLEST or inside.all() or inside.tobytes() in met:
            continue
        met.add(inside.tobytes())
        found.append((name, inside))
    kept = sorted(found, key=lambda one: -int(one[1].sum()))[:MOST]
    kept = [one for one in found if any(one is other for other in kept)] if len(found) > MOST else found
    return [name for name, _ in kept], np.stack([inside for _, inside in kept], axis=1) if kept else np.zeros((0, 0))
