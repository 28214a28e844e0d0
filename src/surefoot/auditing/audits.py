"""Audit of a table: what its data cannot support."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from surefoot.auditing import collection_checks, outcome_checks
from surefoot.core import formatting
from surefoot.core.notes import Note, Noted
from surefoot.core.record import Record
from surefoot.core.sentences import fill
from surefoot.core.words import USUAL, Words, in_its_words
from surefoot.table.crosstab import Coverage, coverage
from surefoot.table.design import MANY, Design
from surefoot.table.findings import Finding
from surefoot.table.rollouts import Collected, Rollouts, a_table

MEANING: dict[Collected, str] = {
    "one": "All {words.rollouts} are of one {words.environment}: the result is about that {words.environment} only.",
    "shared": "The {words.policies} met the same {words.environments}: compare pairs; tests for independent groups do "
    "not hold.",
    "independent": "Each {words.rollout} had {words.an_environment} of its own: tests for independent groups hold.",
    "stratified": "Within each {words.task}, each {words.rollout} had {words.an_environment} of its own: compare "
    "within {words.tasks}.",
}
"""How environments were met, and what follows."""


@dataclass(frozen=True, slots=True)
class Audit(Record):
    """What a reader must know of the data before believing a number.

    Attributes:
        collected: How environments were met: one, shared, independent or stratified.
        why: How that is known.
        findings: What was found, the serious ones first.
        rollouts: The size of the table.
        design: The role of every column.
        source: Where it came from.
        words: What the table calls policies and rollouts.
    """

    collected: Collected
    why: Noted
    findings: tuple[Finding, ...]
    rollouts: int
    source: str = ""
    design: Design = field(default_factory=Design)
    words: Words = USUAL

    @classmethod
    def from_earlier(cls, body: dict[str, Any]) -> dict[str, Any]:
        """Version 0.2.0 wrote what it paired and clustered in place of the role of every column."""
        return {name: value for name, value in body.items() if name != "structure"}

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
            f"{formatting.rollouts(self.rollouts, self.words)}{origin}: {count or 'no'} "
            f"finding{'' if count == 1 else 's'}{serious}.",
            f"{fill(MEANING[self.collected], words=self.words)} {self.why}",
            f"Read as: {self.design.reading()}.",
            *(f"{'!' if finding.serious else '-'} {finding}" for finding in self.findings),
        ]
        return "\n".join(lines)


@in_its_words
def audit(rollouts: Rollouts) -> Audit:
    """What these rollouts cannot support, what each finding threatens, and what to do about it.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> rows = {"policy": ["new"] * 3 + ["old"] * 2, "seed": [1, 2, 3, 1, 2], "success": [1, None, 0, 0, 1]}
        >>> [finding.about for finding in sf.audit(sf.read(pl.DataFrame(rows)).declare(unit="seed")).findings]
        ['missing values', 'incomplete pairs']
    """
    met = coverage(a_table(rollouts))
    collected, why = _collected(rollouts, met)
    found = [
        *rollouts.findings,
        *(finding for check in outcome_checks.CHECKS for finding in check(rollouts)),
        *collection_checks.environments_met(met, rollouts.words),
        *outcome_checks.few_clusters(rollouts),
        *collection_checks.duplicated_rows(rollouts, met),
        *collection_checks.blocks(rollouts),
        *collection_checks.task_mixes(rollouts),
    ]
    ordered = sorted(found, key=lambda finding: not finding.serious)
    return Audit(collected, why, tuple(ordered), len(rollouts), rollouts.source, rollouts.design)


def _collected(rollouts: Rollouts, met: Coverage) -> tuple[Collected, Note]:
    if rollouts.collected is not None:
        return rollouts.collected, Note("collected as declared")
    apart: Collected = "stratified" if len(rollouts.tasks) > 1 else "independent"
    if not met.keys:
        return apart, Note("environments not told")
    why = Note("met by several", {"several": met.several, "environments": met.environments, "by": met.called})
    if met.recurring and rollouts.design.units < MANY:  # few tasks, several rollouts of each
        return apart, why
    return ("shared" if met.several and met.several * 2 >= met.environments else apart), why
