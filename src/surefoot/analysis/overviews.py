"""What do these data support, all of it together? What a report shows, computed once."""

from __future__ import annotations

from dataclasses import dataclass

from surefoot import _check, stats
from surefoot.analysis.comparisons import Comparison, chosen, compare_tasks
from surefoot.analysis.measures import Measure, Measurement, measure
from surefoot.analysis.rankings import Progress, all_pairs, ranking_of
from surefoot.core.bands import Band
from surefoot.core.record import Record
from surefoot.rollouts.audits import Audit, audit
from surefoot.rollouts.table import Rollouts
from surefoot.stats.rankings import Ranking

MOST_SCORES = 5_000
"""Bands are drawn for at most so many scores a policy: beyond, the mean and its interval say it all."""


@dataclass(frozen=True, slots=True)
class Overview(Record):
    """Everything one table supports.

    Attributes:
        source: Where the rollouts came from.
        fingerprint: The hash of the data.
        rollouts: How many rollouts.
        measure: Whether success or the score decides.
        confidence: The confidence of every family of statements.
        margin: A gain that would not matter.
        policies: Each policy over all tasks, best first.
        cells: Each policy on each task; empty without tasks.
        comparisons: Every pair of policies, all holding together; empty for one policy.
        ranking: What those comparisons amount to; None for one policy.
        tasks: The two best policies (or first and second) on every task, all holding together.
        bands: The worst-case distribution of each policy's score, when there are scores.
        audit: What the data cannot support.
        notes: What was guessed on reading.
    """

    source: str
    fingerprint: str
    rollouts: int
    measure: Measure
    confidence: float
    margin: float
    policies: tuple[Measurement, ...]
    cells: tuple[Measurement, ...]
    comparisons: tuple[Comparison, ...]
    ranking: Ranking | None
    tasks: tuple[Comparison, ...]
    bands: tuple[Band, ...]
    audit: Audit
    notes: tuple[str, ...]

    def __str__(self) -> str:
        lines = [str(one) for one in self.policies] + [str(one) for one in self.comparisons]
        return "\n".join(lines)


def overview(
    rollouts: Rollouts,
    *,
    measure_of: Measure | None = None,
    confidence: float = 0.95,
    margin: float = 0.0,
    first: str | None = None,
    second: str | None = None,
    progress: Progress | None = None,
) -> Overview:
    """What do these data support? Everything a report shows.

    Args:
        rollouts: The table.
        measure_of: "success" or "score" decides; success where the table has it.
        confidence: The confidence of every family of statements.
        margin: A gain that would not matter.
        first: The policy that the comparison by task is about; the best one when not said.
        second: The policy it is compared with; the next best when not said.
        progress: Called with pairs done and pairs in all.
    """
    confidence, margin = _check.confidence(confidence), _check.margin(margin)
    what = chosen(rollouts, measure_of)
    found = measure(rollouts, confidence=confidence)
    best = sorted(found, key=lambda one: -_level(one, what))
    comparisons: tuple[Comparison, ...] = ()
    if len(found) > 1:
        comparisons = all_pairs(rollouts, measure=what, confidence=confidence, margin=margin, progress=progress)
    several = len(rollouts.tasks) > 1
    leading = [name for name in (first, second) if name] or [one.policy for one in best[:2]]
    return Overview(
        source=rollouts.source,
        fingerprint=rollouts.hash,
        rollouts=len(rollouts),
        measure=what,
        confidence=confidence,
        margin=margin,
        policies=tuple(best),
        cells=measure(rollouts, by_task=True, confidence=confidence) if several else (),
        comparisons=comparisons,
        ranking=ranking_of(comparisons) if comparisons else None,
        tasks=compare_tasks(rollouts, *leading, measure=what, confidence=confidence, margin=margin)
        if several and len(leading) == 2
        else (),
        bands=_bands(rollouts, best, confidence),
        audit=audit(rollouts),
        notes=rollouts.notes,
    )


def _level(one: Measurement, what: Measure) -> float:
    found = one.of(what)
    return found.estimate if found is not None else -1.0


def _bands(rollouts: Rollouts, policies: list[Measurement], confidence: float) -> tuple[Band, ...]:
    """One band per policy, at its share of the error; none where there are no scores, or very many."""
    if "score" not in rollouts.columns:
        return ()
    scored = [one for one in policies if one.score is not None]
    if any(one.rollouts > MOST_SCORES for one in scored) or not scored:
        return ()
    share = 1.0 - (1.0 - confidence) / len(scored)
    return tuple(stats.band(rollouts.where(policy=one.policy).scores(), confidence=share) for one in scored)
