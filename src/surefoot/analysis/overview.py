"""What do these data support, all of it together? What a report shows, computed once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from surefoot import _check, stats
from surefoot.analysis.best import Best, best
from surefoot.analysis.comparison_data import Asked, Weights
from surefoot.analysis.comparisons import Comparison, chosen, compare_by
from surefoot.analysis.judge_corrections import Correction
from surefoot.analysis.measurements import Measurement, measure
from surefoot.analysis.rankings import (
    Progress,
    corrections_together,
    highest_bias,
    measure_together,
    ranking_of,
    unworded_pairs,
)
from surefoot.analysis.slices import Slices, every_slices
from surefoot.analysis.targets import rows
from surefoot.auditing.audits import Audit, audit
from surefoot.core import formatting
from surefoot.core.bands import Band
from surefoot.core.notes import Noted
from surefoot.core.record import Record
from surefoot.core.scores import Scores
from surefoot.core.verdict import Verdict
from surefoot.core.words import NOUNS, USUAL, Words, in_its_words
from surefoot.errors import DataError
from surefoot.stats.rankings import Ranking
from surefoot.table.given_letters import GivenLetters
from surefoot.table.rollouts import Measure, Rollouts
from surefoot.table.start_order import declared_order
from surefoot.table.unit_counts import gathered

MOST_PAIRS = 2_000
MOST_SCORES = 5_000
"""Bands are drawn for at most so many scores a policy: beyond, the mean and its interval say it all."""
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
    from surefoot.analysis.replays import replay

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
        policies: Each policy over all tasks, in the order of the ranking, the intervals of all holding together.
        cells: Each policy on each task, by the measure that decides, each by itself; empty without tasks.
        comparisons: Every pair of policies, all holding together; empty for one policy.
        ranking: What those comparisons amount to; None for one policy.
        tasks: The two best policies that share a task, on every task, all holding together.
        bands: The worst-case distribution of each policy's score, when there are scores.
        audit: What the data cannot support.
        notes: What was guessed on reading.
        datasets: The datasets, where the table names them.
        judges: Who or what judged the outcomes, where the table says so.
        previous: Where the previous run came from; empty without one.
        changes: Each policy that is in both runs, now against then, all holding together.
        curves: How the evidence between two policies grew; empty when the order is not known.
        replayed: What a reader must know of those curves.
        disagreements: Where letters that the file carries say otherwise.
        corrections: Each policy's rate corrected for the judge's errors, where humans labelled some of its rollouts.
        words: What the table calls policies, rollouts, tasks and environments.
        split: The column whose levels are shown side by side; empty where there is none.
        best: Which of three policies or more may be the best, and how good the highest is.
        slices: Where one is better than another and where worse; of one policy, where it fails more than elsewhere.
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
    notes: tuple[Noted, ...]
    datasets: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    previous: str = ""
    changes: tuple[Comparison, ...] = ()
    curves: tuple[EvidenceCurve, ...] = ()
    replayed: tuple[str, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    corrections: tuple[Correction, ...] = ()
    words: Words = USUAL
    split: str = ""
    best: Best | None = None
    slices: tuple[Slices, ...] = ()

    def called(self, column: str) -> str:
        """What the user calls a column."""
        if column == "task" and self.split:
            return self.split
        return getattr(self.words, column) if column in NOUNS else column

    def __str__(self) -> str:
        lines = [str(one) for one in self.policies] + [str(one) for one in self.comparisons]
        return "\n".join(lines)


@in_its_words
def overview(
    rollouts: Rollouts,
    *,
    measure_of: Measure | None = None,
    weights: Weights = "units",
    confidence: float = 0.95,
    margin: float = 0.0,
    previous: Rollouts | None = None,
    compared: bool = True,
    progress: Progress | None = None,
) -> Overview:
    """What do these data support? Everything a report shows.

    Args:
        rollouts: The table.
        measure_of: "success" or "score" decides; success where the table has it.
        weights: "units", all alike; "settings", every level of a setting alike; or "rollouts".
        confidence: The confidence of every family of statements.
        margin: A gain that would not matter.
        previous: A previous run, to show what changed since.
        compared: Whether the policies are compared with one another; a study has a verdict of its own.
        progress: Called with pairs done and pairs in all.

    Raises:
        DataError: The previous run shares no policy with this one, or was scored on another range.
    """
    confidence, margin = _check.confidence(confidence), _check.margin(margin)
    what = chosen(rollouts, measure_of)
    found = measure_together(rollouts, weights=weights, confidence=confidence)
    level: dict[str, Any] = {"measure": what, "confidence": confidence, "margin": margin}
    shown = {one.policy: of.estimate for one in found if (of := one.of(what)) is not None}
    every = len(shown) > 1 and compared
    comparisons = unworded_pairs(rollouts, weights=weights, progress=progress, **level) if every else ()
    ranking = ranking_of(comparisons) if comparisons else None
    if ranking is not None:
        ranking = replace(ranking, selection=highest_bias(rollouts, what, ranking.names))
    names = ranking.names if ranking is not None else sorted(shown, key=lambda name: -shown[name])
    places = {name: place for place, name in enumerate(names)}
    listed = sorted(found, key=lambda one: places.get(one.policy, len(places)))
    several = len(rollouts.tasks) > 1
    order = [one.policy for one in listed if one.policy in shown]
    leading = _leading(rollouts, order, what) if compared else []
    tasks = compare_by(rollouts, *leading, **level) if several and len(leading) == 2 else ()
    two = len(shown) == len(found) == 2 and len(leading) == 2
    curves, replayed = evidence_curves(rollouts, *leading, measure=what, confidence=confidence) if two else ((), ())
    return Overview(
        source=rollouts.source,
        fingerprint=rollouts.hash,
        rollouts=len(rollouts),
        measure=what,
        confidence=confidence,
        margin=margin,
        policies=tuple(listed),
        cells=measure(rollouts, by_task=True, only=what, confidence=confidence) if several else (),
        comparisons=comparisons,
        ranking=ranking,
        tasks=tasks,
        bands=_bands(rollouts, listed, confidence),
        audit=audit(rollouts),
        notes=rollouts.notes,
        datasets=rollouts.names("dataset") if "dataset" in rollouts.columns else (),
        judges=rollouts.names("judge") if "judge" in rollouts.columns else (),
        previous=(previous.source or "another table") if previous is not None else "",
        changes=() if previous is None else _changes(rollouts, previous, weights=weights, **level),
        curves=curves,
        replayed=replayed,
        disagreements=(*disagreements(rollouts.letters, comparisons), *disagreements(rollouts.letters, tasks)),
        corrections=corrections_together(rollouts, what, confidence),
        split="" if rollouts.split is None else rollouts.called(rollouts.split),
        best=_best(rollouts, order, what, weights, confidence) if every and len(shown) > 2 else None,
        slices=every_slices(rollouts, order, measure=what, weights=weights, confidence=confidence) if compared else (),
    )


def _changes(rollouts: Rollouts, previous: Rollouts, **asked: Any) -> tuple[Comparison, ...]:
    from surefoot.analysis.changes import change

    return change(rollouts, previous, **asked)


def _best(rollouts: Rollouts, known: list[str], what: Measure, weights: Weights, confidence: float) -> Best | None:
    """Which of the policies with outcomes may be the best; None with human labels, or two that cannot be compared."""
    if rollouts.labels:
        return None
    if len(known) < len(rollouts.policies):
        rollouts = rollouts.where(policy=known)
    try:
        return best(rollouts, measure=what, weights=weights, confidence=confidence)
    except DataError:
        return None


def _leading(rollouts: Rollouts, best: list[str], what: Measure) -> list[str]:
    """The best policy and the next best that shares a task with it: two can be compared task by task."""
    if len(rollouts.tasks) < 2:
        return best[:2]
    ran: dict[str, set[str | None]] = {}
    for group in rollouts.summary(by=("policy", str(rollouts.split))):
        if group.known(what):
            ran.setdefault(str(group.key[0]), set()).add(group.key[1])
    return next(([best[0], name] for name in best[1:] if ran[best[0]] & ran[name] - {None}), [])


def _bands(rollouts: Rollouts, policies: list[Measurement], confidence: float) -> tuple[Band, ...]:
    """One band per policy, at its share of the error; none where there are no scores, or very many."""
    if "score" not in rollouts.columns:
        return ()
    scored = [one for one in policies if one.score is not None]
    if any(one.rollouts > MOST_SCORES for one in scored) or not scored:
        return ()
    share = 1.0 - (1.0 - confidence) / len(scored)
    found = []
    for one in scored:
        asked = Asked(gathered(rollouts), one.policy, "", "score")
        values = rows(asked, one.policy)["value"].to_list()  # sorted: a page does not depend on their order
        found.append(stats.band(Scores(values, rollouts.low, rollouts.high), confidence=share))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Disagreement(Record):
    """Two policies that a file's own letters tell apart and we do not, or the reverse.

    Attributes:
        first: The one policy.
        second: The other.
        task: The task, or None when all are taken together.
        theirs: Whether the file's letters tell them apart.
        verdict: What we say of the first.
        by: Whose test the letters come from.
        family: How many statements ours holds together with.
        p_value: Our p-value of this pair by itself, where there is one.
    """

    first: str
    second: str
    task: str | None
    theirs: bool
    verdict: Verdict
    by: str
    family: int
    p_value: float | None

    def __str__(self) -> str:
        where = f" on {self.task}" if self.task else ""
        pair = f"{self.first} and {self.second}{where}"
        if self.theirs:
            says = f"The file's letters separate {pair}; here no difference between them was shown."
        else:
            says = f"The file's letters do not separate {pair}; here the first of them is {self.verdict.value}."
        alone = f"; this pair by itself has {formatting.p_value(self.p_value)}" if self.p_value is not None else ""
        held = (
            f" Ours must hold together with {formatting.counted(self.family - 1, 'other')}{alone}."
            if self.family > 1
            else ""
        )
        return f"{says} The letters come from another test, {self.by}.{held}"


def disagreements(letters: Iterable[GivenLetters], comparisons: Sequence[Comparison]) -> tuple[Disagreement, ...]:
    """Where the letters that a file carries and these comparisons, which hold together, do not say the same.

    Args:
        letters: What the file says.
        comparisons: One family of comparisons, each of a task or of all tasks together.
    """
    found = []
    for one in comparisons:
        for given in letters:
            theirs = given.apart(one.first, one.second) if given.task == one.task else None
            ours = one.verdict in (Verdict.BETTER, Verdict.WORSE)
            if theirs is None or theirs == ours:
                continue
            size = len(comparisons)
            alone = None if one.p_value is None or one.p_value >= 1.0 else one.p_value / size
            found.append(Disagreement(one.first, one.second, one.task, theirs, one.verdict, given.by, size, alone))
    return tuple(found)
