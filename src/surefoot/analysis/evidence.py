"""Evidence between two policies while the rollouts were run."""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.analysis.replays import replay
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.errors import DataError
from surefoot.table.rollouts import Measure, Rollouts
from surefoot.table.run_order import declared_order

MOST_PAIRS = 2_000
MOST_TASKS = 10


@dataclass(frozen=True, slots=True)
class EvidenceCurve(Record):
    """The evidence of the default sequential rule after each pair of rollouts, in recorded order.

    Attributes:
        task: The task, or None when there is only one.
        horizon: The most pairs that the rule was given.
        threshold: The evidence at which it decides.
        evidence: The evidence after each pair; it ends where the rule would have stopped.
        verdict: What the rule would have said of the first policy.
        rule: The rule's short name.
    """

    task: str | None
    horizon: int
    threshold: float
    evidence: tuple[float, ...]
    verdict: Verdict
    rule: str

    def __str__(self) -> str:
        where = f"{self.task}: " if self.task else ""
        if self.verdict is Verdict.UNDECIDED:
            return f"{where}{self.rule} would not have decided in {len(self.evidence):,} pairs."
        return f"{where}{self.rule} would have decided after {len(self.evidence):,} of {self.horizon:,} pairs."


def evidence_curves(
    rollouts: Rollouts, first: str, second: str, *, measure: Measure | None = None, confidence: float = 0.95
) -> tuple[tuple[EvidenceCurve, ...], tuple[str, ...]]:
    """Evidence between two policies after each pair, task by task.

    Empty when the order of the rollouts is not recorded, no pair has both outcomes, or there are too many to draw.

    Args:
        rollouts: The table.
        first: The policy the claim is about.
        second: The policy it is compared with.
        measure: "success" or "score"; success where the table has it.
        confidence: Over all looks, for each task by itself.
    """
    two = rollouts.where(policy=[first, second])
    if len(two.tasks) > MOST_TASKS or len(two) > 2 * MOST_PAIRS or not declared_order(two):
        return (), ()
    try:
        found = replay(two, first, second, measure=measure, confidence=confidence, claim="either")
    except DataError:  # nothing to follow, and no reason for a report to stop
        return (), ()
    curves = []
    for one in found.comparisons:
        stop = next((stop for stop in one.stops if stop.evidence), None)
        if stop is not None:
            curves.append(EvidenceCurve(one.task, one.horizon, stop.threshold, stop.evidence, stop.verdict, stop.name))
    return tuple(curves), found.notes
