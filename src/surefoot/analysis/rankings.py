"""Which of many policies are better than which, from a table?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations

from surefoot import _check, stats
from surefoot.analysis.comparisons import Comparison, alone, chosen, family_member, plain_comparison
from surefoot.analysis.measures import Measure
from surefoot.analysis.outlooks import outlook
from surefoot.core.verdict import Verdict
from surefoot.rollouts.table import Rollouts
from surefoot.stats.families import FamilyGain
from surefoot.stats.rankings import Ranking

Progress = Callable[[int, int], None]
Pairs = Sequence[tuple[str, str]]


def rank(
    rollouts: Rollouts,
    *,
    measure: Measure | None = None,
    confidence: float = 0.95,
    margin: float = 0.0,
    progress: Progress | None = None,
) -> Ranking:
    """Which policies are better than which, with no false verdict among all pairs?

    Each pair is compared by the method that its data call for, at its share of the error (Bonferroni), so that the
    intervals shown agree with the verdicts and all hold together.

    Args:
        rollouts: The table.
        measure: "success" or "score"; success where the table has it.
        confidence: The confidence of all intervals and verdicts together.
        margin: A gain that would not matter.
        progress: Called with pairs done and pairs in all, for a progress bar.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> counts = {"new": 19, "mid": 10, "old": 4}
        >>> rows = [(name, i < k) for name, k in counts.items() for i in range(20)]
        >>> print(sf.rank(sf.read(pl.DataFrame(rows, schema=["policy", "success"], orient="row"))))
        new  95.0% [76.3%, 99.2%] n=20  rank 1  a
        mid  50.0% [29.9%, 70.1%] n=20  rank 2 to 3  b
        old  20.0% [8.0%, 41.7%] n=20  rank 2 to 3  b
    """
    what = chosen(rollouts, measure)
    found = ranking_of(all_pairs(rollouts, measure=what, confidence=confidence, margin=margin, progress=progress))
    return replace(found, alone=tuple(alone(rollouts, name, what, confidence) for name in found.names))


def all_pairs(
    rollouts: Rollouts,
    *,
    measure: Measure | None = None,
    confidence: float = 0.95,
    margin: float = 0.0,
    progress: Progress | None = None,
) -> tuple[Comparison, ...]:
    """Every pair of policies compared, higher estimate first and best pairs first, all holding together.

    A policy without any outcome is left out: nothing is known of it.
    """
    confidence, what = _check.confidence(confidence), chosen(rollouts, measure)
    known = {group.key[0] for group in rollouts.summary() if group.known(what)}
    names = [name for name in rollouts.policies if name in known]
    if len(names) < 2:
        raise ValueError(
            f"the table must hold at least two policies with a {what} to rank; got {', '.join(names) or 'none'}."
        )
    level = {name: alone(rollouts, name, what, confidence).estimate for name in names}
    pairs = list(combinations(sorted(names, key=lambda name: (-level[name], name)), 2))
    share = 1.0 - (1.0 - confidence) / len(pairs)
    found: list[Comparison] = []
    for done, (first, second) in enumerate(pairs, 1):
        one = plain_comparison(rollouts, first, second, measure=what, confidence=share, margin=margin)
        if not any(before.outlook for before in found):  # it is a plan for each: the best two not told apart suffice
            one = replace(one, outlook=outlook(one))
        found.append(family_member(one, len(pairs), confidence))
        if progress is not None:
            progress(done, len(pairs))
    return tuple(found)


def leading_outlook(comparisons: Sequence[Comparison]) -> str:
    """What it would take to tell the best two apart that were not; empty when all were."""
    one = next((one for one in comparisons if one.outlook), None)
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
    names = _best_first(levels, pairs, verdicts)
    apart = [(one.first, one.second) for one in comparisons if one.verdict in (Verdict.BETTER, Verdict.WORSE)]
    return Ranking(
        names=names,
        estimates=tuple(levels[name] for name in names),
        pairs=pairs,
        members=tuple(FamilyGain(one.gain, one.verdict, one.gain.p_value, one.gain.not_worse) for one in comparisons),
        ranks=_ranks(names, pairs, verdicts, all(one.comparable for one in comparisons)),
        letters=stats.compact_letters(names, apart),
        confidence=comparisons[0].gain.confidence,
        policies=(),
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
