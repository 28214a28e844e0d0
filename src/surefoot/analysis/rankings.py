"""Ranking of the policies of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from surefoot import _check, stats
from surefoot._arguments import weights_once_weigh
from surefoot.analysis.comparison_data import Asked, Found, Target, Weights, limited
from surefoot.analysis.comparisons import (
    Comparison,
    alone,
    chosen,
    family,
    family_level,
    in_context,
    named_comparison,
)
from surefoot.analysis.judge_corrections import Correction, corrected_alone, human_corrections
from surefoot.analysis.levels import MOST_OUTLOOKS, held_within, outlook
from surefoot.analysis.measurements import MEASURED, Measurement, measure
from surefoot.analysis.targets import found_between
from surefoot.core.gain import Gain
from surefoot.core.interval import Interval
from surefoot.core.tally import Tally
from surefoot.core.verdict import Verdict
from surefoot.core.words import in_its_words
from surefoot.files.preferences import Preferences
from surefoot.files.reading import reads_frames
from surefoot.stats.one_sided_gains import central_gains
from surefoot.stats.preferences import Strengths
from surefoot.stats.rankings import Ranking
from surefoot.stats.selection import SelectionBias, held_together, selection_bias, simultaneous_confidence
from surefoot.stats.simultaneous_gains import FamilyGain
from surefoot.table.crosstab import coverage
from surefoot.table.design import MANY
from surefoot.table.rollouts import Measure, Rollouts, a_table
from surefoot.table.unit_counts import gathered

if TYPE_CHECKING:
    import numpy as np


Progress = Callable[[int, int], None]
Pairs = Sequence[tuple[str, str]]


@reads_frames
@weights_once_weigh
@in_its_words
def rank(
    rollouts: Rollouts,
    *,
    measure: Measure | None = None,
    target: Target | None = None,
    weights: Weights = "units",
    lower_is_better: bool = False,
    confidence: float = 0.95,
    margin: float = 0.0,
    own_intervals: bool = False,
    progress: Progress | None = None,
) -> Ranking:
    """All pairwise comparisons of the policies of a table with one error, their ranks and letters.

    Each pair is compared by the method that its data call for, at its share of the error (Bonferroni), so that the
    intervals shown agree with the verdicts and all hold together.

    Args:
        rollouts: The table.
        measure: "success" or "score"; success where the table has it.
        target: "like" for units like these, "these" for these very units, one for all pairs; found when not said.
        weights: "units", all alike; "settings", every level of a setting alike; or "rollouts".
        lower_is_better: Whether less is better.
        confidence: The confidence of all intervals and verdicts together.
        margin: A gain that would not matter.
        own_intervals: Whether every policy's interval is its own, not one that holds together with all others.
        progress: Called with pairs done and pairs in all, for a progress bar.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> counts = {"new": 19, "mid": 10, "old": 4}
        >>> rows = [(name, i < k) for name, k in counts.items() for i in range(20)]
        >>> print(sf.rank(sf.read(pl.DataFrame(rows, schema=["policy", "success"], orient="row"))))
        new  95.0% [70.4%, 99.96%] n=20  rank 1  a
        mid  50.0% [23.3%, 76.7%] n=20  rank 2 to 3  b
        old  20.0% [4.1%, 48.6%] n=20  rank 2 to 3  b
        Intervals: 95% for all rows together.
    """
    rollouts = gathered(a_table(rollouts))
    what = chosen(rollouts, measure, lower_is_better)
    rollouts = limited(rollouts, what, lower_is_better)
    told: dict[str, Any] = {"lower_is_better": lower_is_better, "confidence": confidence, "margin": margin}
    told |= {"measure": what, "target": target, "progress": progress}
    return ranked(rollouts, weights=weights, own=own_intervals, **told)[0]


def ranked(
    rollouts: Rollouts, *, weights: Weights = "units", own: bool = False, **asked: Any
) -> tuple[Ranking, tuple[Comparison, ...]]:
    """A ranking, and the comparisons that it rests on. Who calls it puts both into the table's words."""
    rollouts = gathered(rollouts)
    pairs = unworded_pairs(rollouts, weights=weights, **asked)
    return with_rows(ranking_of(pairs), rollouts, weights=weights, own=own), pairs


def unworded_pairs(
    rollouts: Rollouts,
    *,
    measure: Measure | None = None,
    target: Target | None = None,
    weights: Weights = "units",
    lower_is_better: bool = False,
    confidence: float = 0.95,
    margin: float = 0.0,
    progress: Progress | None = None,
) -> tuple[Comparison, ...]:
    """Every pair of policies compared, higher estimate first and best pairs first, all holding together.

    A policy without any outcome is left out: nothing is known of it. Who calls it puts it into the table's words.
    """
    rollouts = gathered(rollouts)
    confidence, what = _check.confidence(confidence), chosen(rollouts, measure, lower_is_better)
    known = {group.key[0] for group in rollouts.summary() if group.known(what)}
    names = [name for name in rollouts.policies if name in known]
    if len(names) < 2:
        raise ValueError(
            f"the table must hold at least two {rollouts.words.policies} with a {what} to rank; got "
            f"{', '.join(names) or 'none'}."
        )
    level = family_level(len(names) * (len(names) - 1) // 2, confidence)
    share = level["confidence"]  # at which each policy is shown beside its gains too
    heights = {name: alone(rollouts, name, what, share, weights).estimate for name in names}
    sign = 1.0 if lower_is_better else -1.0
    pairs = list(combinations(sorted(names, key=lambda name: (sign * heights[name], name)), 2))
    asked = [Asked(rollouts, *pair, what, weights, lower_is_better) for pair in pairs]
    how: list[Found] = []
    for done, pair in enumerate(asked, 1):
        how.append(found_between(pair.compared, target=target))
        if progress is not None:
            progress(done, 2 * len(pairs))
    if target is None and (common := _common_target(how)) is not None:
        how = [found_between(pair.compared, target=common, strict=False) for pair in asked]
    how = [
        held_within(pair.compared, one, paired=None, target=one.reading.about.target)
        for pair, one in zip(asked, how, strict=True)
    ]
    gains = _gains(how, share, margin, central=level["central"])
    found: list[Comparison] = []
    told = False  # what it would take is a plan for each: the best two not told apart suffice
    for done, (pair, one, gain) in enumerate(zip(asked, how, gains, strict=True), 1):
        named = named_comparison(pair, one, gain, confidence=share)
        if len(pairs) <= MOST_OUTLOOKS:
            named = in_context(named, pair, one, confidence=share, margin=named.gain.margin)
        if not told:
            named = replace(named, outlook=outlook(named, most=rollouts.high - rollouts.low))
            told = named.outlook is not None
        found.append(named)
        if progress is not None:
            progress(len(pairs) + done, 2 * len(pairs))
    return family(found, confidence)


all_pairs = in_its_words(unworded_pairs)


def _common_target(how: Sequence[Found]) -> Target | None:
    """The target that all pairs can have where theirs differ; None where they do not, or no target fits all."""
    known = [one for one in how if one.reading.units]
    if len({one.reading.about.target for one in known}) < 2:
        return None
    ways: tuple[Target, ...] = ("these", "like")
    able = (way for way in ways if all(one.reading.about.target == way or one.other is not None for one in known))
    return next(able, None)


def _gains(how: Sequence[Found], confidence: float, margin: float, *, central: bool) -> list[Gain]:
    """The gains of all pairs; those of successes that stand alone are made together."""
    if not central:
        return [one.gain(confidence=confidence, margin=margin) for one in how]
    places = [place for place, one in enumerate(how) if one.tallies is not None]
    tallies = [one.tallies for one in how if one.tallies is not None]
    made = central_gains(tallies, confidence=confidence, margin=margin) if tallies else ()
    together = {place: gain for place, (gain, _) in zip(places, made, strict=True)}
    return [
        together[place] if place in together else one.gain(confidence=confidence, margin=margin, central=True)
        for place, one in enumerate(how)
    ]


def leading_outlook(comparisons: Sequence[Comparison]) -> str:
    """What it would take to tell the best two apart that were not; empty when all were."""
    one = next((one for one in comparisons if one.outlook is not None), None)
    return "" if one is None else f"To tell {one.first} from {one.second}: {one.outlook}"


def ranking_of(comparisons: tuple[Comparison, ...]) -> Ranking:
    """The ranking that comparisons of all pairs amount to.

    The highest rate or mean score is first, unless a verdict says otherwise: policies that met different mixes of tasks
    can be in another order than their rates.
    """
    levels = {one.first: one.of_first.estimate for one in comparisons}
    levels |= {one.second: one.of_second.estimate for one in comparisons}
    pairs = tuple((one.first, one.second) for one in comparisons)
    verdicts = _without_circles(pairs, [one.verdict for one in comparisons])
    lower = comparisons[0].lower_is_better
    names = _best_first({name: -level if lower else level for name, level in levels.items()}, pairs, verdicts)
    apart = [(one.first, one.second) for one in comparisons if one.verdict in (Verdict.BETTER, Verdict.WORSE)]
    return Ranking(
        names=names,
        estimates=tuple(levels[name] for name in names),
        pairs=pairs,
        members=tuple(FamilyGain(one.gain, one.verdict, one.p_value, one.gain.not_worse) for one in comparisons),
        ranks=_ranks(names, pairs, verdicts, all(one.comparable for one in comparisons)),
        letters=stats.compact_letters(names, apart),
        confidence=comparisons[0].gain.confidence,
        policies=(),
        measure=comparisons[0].measure,
    )


def _ranks(
    names: Sequence[str], pairs: Pairs, verdicts: Sequence[Verdict], closed: bool
) -> tuple[tuple[int, int], ...]:
    """Each policy's best and worst rank; where some share no task, nothing follows from two verdicts for a third."""
    if closed:
        return stats.rank_intervals(names, pairs, verdicts)
    beats = _beats(pairs, verdicts)
    over, under = Counter(loser for _, loser in beats), Counter(winner for winner, _ in beats)
    return tuple((1 + over[name], len(names) - under[name]) for name in names)


def _without_circles(pairs: Pairs, verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts that order policies: in a circle, each pair on tasks of its own, none of them does."""
    beats = _beats(pairs, verdicts)
    for through in {name for pair in pairs for name in pair}:
        before, after = ([pair[side] for pair in beats if pair[1 - side] == through] for side in (0, 1))
        beats |= {(one, other) for one in before for other in after}
    circles = {(one, other) for one, other in beats if (other, one) in beats}
    return [Verdict.UNDECIDED if pair in circles else verdict for pair, verdict in zip(pairs, verdicts, strict=True)]


def _best_first(levels: dict[str, float], pairs: Pairs, verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """Highest level first, but none before one that is better by verdict."""
    left, found = sorted(levels, key=lambda name: (-levels[name], name)), list[str]()
    beats = _beats(pairs, verdicts)
    while left:
        beaten = {loser for winner, loser in beats if winner in left}
        found.append(next(name for name in left if name not in beaten))
        left.remove(found[-1])
    return tuple(found)


def _beats(pairs: Pairs, verdicts: Sequence[Verdict]) -> set[tuple[str, str]]:
    """Winner and loser of every pair that was decided."""
    decided = zip(pairs, verdicts, strict=True)
    ways = {Verdict.BETTER: 1, Verdict.WORSE: -1}
    return {(one, other)[:: ways[verdict]] for (one, other), verdict in decided if verdict in ways}  # type: ignore[misc]


def rank_preferences(
    preferences: Preferences,
    *,
    rng: np.random.Generator | int,
    prior: float = 0.0,
    confidence: float = 0.95,
) -> Strengths:
    """Bradley-Terry strengths and Elo of policies from people's preferences, with intervals and ranks.

    Sessions that hold several preferences are the independent units. Intervals are Student's t over them below 30, and
    a bootstrap from 30 on; rank intervals hold together.

    Args:
        preferences: The table.
        rng: A seed, kept with the result, or a Generator.
        prior: Ties added between every two policies that met, for data in which a policy never lost.
        confidence: How often such intervals hold a strength, nearly.

    Raises:
        ValueError: Some policy never met the others, or never lost, so that no strength is determined.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> games = {"A": ["x", "y", "x", "z", "y", "z"] * 9, "B": ["y", "x", "z", "x", "z", "y"] * 9}
        >>> table = pl.DataFrame({**games, "preference": ["A", "B", "A", "tie", "A", "A"] * 9})
        >>> print(sf.rank_preferences(sf.read_preferences(table), rng=7).names)
        ('x', 'z', 'y')
    """
    rows = preferences.frame
    several = rows["session"].n_unique() < rows.height
    return stats.bradley_terry(
        rows.select("first", "second", "outcome").iter_rows(),
        rng=rng,
        sessions=rows["session"].to_list() if several else None,
        prior=prior,
        confidence=confidence,
    )


MOST_COMPARED = 200
"""The bias of the highest is computed for so many policies at most; it takes a second."""


def independent(rollouts: Rollouts) -> bool:
    """Whether nothing in the table is shared between policies but few units, met again by each on its own."""
    design = rollouts.design
    return design.units < MANY and not design.cluster and not (design.unit is not None and coverage(rollouts).once)


def with_rows(ranking: Ranking, rollouts: Rollouts, *, weights: Weights = "units", own: bool = False) -> Ranking:
    """A ranking with an interval for every policy, all holding together or each by itself, and the highest's bias."""
    what: Measure = "score" if ranking.measure == "score" else "success"
    apart, count = independent(rollouts), len(ranking.names)
    each = ranking.confidence if own else simultaneous_confidence(count, ranking.confidence, independent=apart)
    found = {name: alone(rollouts, name, what, each, weights) for name in ranking.names}
    if not own:
        found = {name: guaranteed(one) for name, one in found.items()}
    found = corrected_alone(rollouts, what, found)
    if not own:
        found = _together(found, ranking.confidence, apart)
    bias = highest_bias(rollouts, what, ranking.names)
    return replace(ranking, intervals=tuple(found.values()), own_intervals=own, selection=bias)


def measure_together(
    rollouts: Rollouts, *, weights: Weights = "units", confidence: float = 0.95
) -> tuple[Measurement, ...]:
    """Each policy's success rate and mean score, the intervals of all policies holding together, for each of the two.

    With one policy these are its own intervals.
    """
    apart, made = independent(rollouts), dict[str, Measurement]()
    for what in MEASURED:
        known = sum(group.known(what) > 0 for group in rollouts.summary())
        each = simultaneous_confidence(known, confidence, independent=apart)
        found = measure(rollouts, only=what, weights=weights, confidence=each)
        shown = {one.policy: of for one in found if (of := one.of(what)) is not None}
        if known > 1:
            shown = _together({name: guaranteed(of) for name, of in shown.items()}, confidence, apart)
        for one in found:
            ends: dict[str, Any] = {what: shown.get(one.policy)}
            made[one.policy] = replace(made.get(one.policy, one), **ends)
    return tuple(made.values())


def corrections_together(rollouts: Rollouts, what: Measure, confidence: float) -> tuple[Correction, ...]:
    """Each policy's rate corrected for the judge's errors, all intervals holding together."""
    apart = independent(rollouts)
    count = len(human_corrections(rollouts, measure=what, confidence=confidence)) if rollouts.labels else 0
    each = simultaneous_confidence(count, confidence, independent=apart)
    found = human_corrections(rollouts, measure=what, confidence=each)
    return tuple(
        replace(
            one,
            judged=held_together(
                guaranteed(one.judged) if count > 1 else one.judged, count, confidence, independent=apart
            ),
            interval=held_together(one.interval, count, confidence, independent=apart),
        )
        for one in found
    )


def highest_bias(rollouts: Rollouts, what: Measure, names: Sequence[str]) -> SelectionBias | None:
    """By how much the highest rate is too high on average; None but for independent successes of one task."""
    if what != "success" or not independent(rollouts) or rollouts.labels or len(rollouts.tasks) > 1:
        return None
    known = {str(group.key[0]): group.tally for group in rollouts.summary() if group.known(what)}
    tallies = {name: known[name] for name in names}
    return selection_bias(tallies) if 2 <= len(tallies) <= MOST_COMPARED else None


def _together(found: Mapping[str, Interval], confidence: float, apart: bool) -> dict[str, Interval]:
    return {name: held_together(one, len(found), confidence, independent=apart) for name, one in found.items()}


def guaranteed(found: Interval) -> Interval:
    """Clopper-Pearson's interval where one tally made it, in place of one whose coverage is only nearly promised."""
    if len(found.data) != 1 or not isinstance(found.data[0], Tally):
        return found
    return replace(stats.clopper_pearson(found.data[0], confidence=found.confidence), notes=found.notes)
