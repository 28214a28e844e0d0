"""What can these data not support?"""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.auditing import collection_checks, outcome_checks
from surefoot.core import formatting
from surefoot.core.notes import Note, Noted
from surefoot.core.record import Record
from surefoot.table.findings import Finding
from surefoot.table.rollouts import Collected, Rollouts, a_table
from surefoot.table.structure import Structure, structure

MEANING: dict[str, str] = {
    "one": "one environment for all rollouts: the result speaks for that environment only",
    "shared": "the same environments for every policy: compare by pairs; tests for independent streams do not hold",
    "independent": "an environment of its own for each rollout: tests for independent streams are valid",
    "stratified": "an environment of its own for each rollout within every task: compare task by task or stratified",
}


@dataclass(frozen=True, slots=True)
class Audit(Record):
    """What a reader must know of the data before believing a number.

    Attributes:
        collected: How environments were met: one, shared, independent or stratified.
        why: How that is known.
        findings: What was found, the serious ones first.
        rollouts: The size of the table.
        structure: What is paired and clustered in it.
        source: Where it came from.
    """

    collected: Collected
    why: Noted
    findings: tuple[Finding, ...]
    rollouts: int
    source: str = ""
    structure: Structure | None = None

    @property
    def serious(self) -> tuple[Finding, ...]:
        """The findings that can make a conclusion wrong, not only weaker."""
        return tuple(finding for finding in self.findings if finding.serious)

    def about(self, what: str) -> tuple[Finding, ...]:
        """The findings of one kind."""
        return tuple(finding for finding in self.findings if finding.about == what)

    def __str__(self) -> str:
        count = len(self.findings)
        origin = f" from {self.source}" if self.source else ""
        serious = f", {len(self.serious) or 'none'} serious" if count else ""
        lines = [
            f"{formatting.rollouts(self.rollouts)}{origin}: {count or 'no'} "
            f"finding{'' if count == 1 else 's'}{serious}.",
            f"Collected as {MEANING[self.collected]}. {self.why}",
            *([str(self.structure)] if self.structure is not None and self.structure.clusters else []),
            *(f"{'!' if finding.serious else '-'} {finding}" for finding in self.findings),
        ]
        return "\n".join(lines)


def audit(rollouts: Rollouts) -> Audit:
    """What these rollouts cannot support, what each finding threatens, and what to do about it.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> rows = {"policy": ["new"] * 3 + ["old"] * 2, "seed": [1, 2, 3, 1, 2], "success": [1, None, 0, 0, 1]}
        >>> [finding.about for finding in sf.audit(sf.read(pl.DataFrame(rows))).findings]
        ['missing values', 'incomplete pairs']
    """
    met = structure(a_table(rollouts), "success" if "success" in rollouts.columns else "score")
    collected, why = _collected(rollouts, met)
    found = [
        *rollouts.findings,
        *(finding for check in outcome_checks.CHECKS for finding in check(rollouts)),
        *collection_checks.environments_met(met),
        *outcome_checks.few_clusters(rollouts, met),
        *collection_checks.duplicated_rows(rollouts, met),
        *collection_checks.blocks(rollouts),
        *collection_checks.task_mixes(rollouts),
    ]
    ordered = sorted(found, key=lambda finding: not finding.serious)
    return Audit(collected, why, tuple(ordered), len(rollouts), rollouts.source, met)


def _collected(rollouts: Rollouts, met: Structure) -> tuple[Collected, Note]:
    if rollouts.collected is not None:
        return rollouts.collected, Note("collected as declared")
    apart: Collected = "stratified" if len(rollouts.tasks) > 1 else "independent"
    if met.unpaired == "one environment" and len(rollouts) > 1:
        return "one", Note("one environment for all")
    if not met.environment:
        return apart, Note("environments not told")
    counts = {"several": met.several, "environments": met.environments}
    why = Note("met by several", {**counts, "by": met.called(met.environment)})
    return ("shared" if met.several and met.several * 2 >= met.environments else apart), why
