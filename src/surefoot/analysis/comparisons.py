"""Is one policy better than another? The method follows from how the data were collected, and the result says which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from surefoot import _check, stats
from surefoot.analysis.comparison_data import Asked, Found, Weigh
from surefoot.analysis.gains import found_between
from surefoot.analysis.judged_gains import JudgedGain, judged_gain
from surefoot.analysis.labelled_comparisons import by_labels
from surefoot.analysis.measurements import MEASURED
from surefoot.analysis.outlook import MOST_OUTLOOKS, outlook
from surefoot.core.gain import Gain
from surefoot.core.interval import Bound, Interval
from surefoot.core.notes import Note
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.core.words import Words, in_its_words, spoken
from surefoot.errors import DataError
from surefoot.stats.detectable import Outlook
from surefoot.stats.one_sided_gains import bounds_of
from surefoot.stats.step_down_tests import Sides, Stepped
from surefoot.table.rollouts import Rollouts, a_table
from surefoot.table.structure import Measure, Structure, part


@dataclass(frozen=True, slots=True)
class Comparison(Record):
    """Two policies compared, with the method that was chosen and why.

    Attributes:
        first: The policy that the gain and the verdict are about.
        second: The policy it is compared with.
        measure: Whether success or the score was compared.
        gain: Interval, p-value and verdict, made together.
        of_first: The first policy alone.
        of_second: The second policy alone.
        structure: What was paired, clustered and stratified, and why.
        task: The task, or None when all are taken together.
        weigh: How tasks weigh in the gain: by their share of rollouts, or all alike.
        notes: What a reader must know besides.
        outlook: When nothing was decided, what this size could have seen and how many rollouts would tell.
        policy: The policy, where two of its runs are compared.
        stepped: What the step-down over a family of comparisons says of this one; None for one alone.
        bounds: The two one-sided bounds of a gate, each at its own error; None where no gate asked for them.
        judged: What human labels tell of the gain, where there are any: the gain above is theirs.
        uncorrected: The gain by the judge's outcomes alone, where human labels decide.
        words: What the table calls policies, rollouts, tasks and environments.
    """

    first: str
    second: str
    measure: Measure
    gain: Gain
    of_first: Interval
    of_second: Interval
    structure: Structure
    task: str | None = None
    weigh: Weigh = "rollouts"
    notes: tuple[Note, ...] = ()
    outlook: Outlook | None = None
    policy: str | None = None
    stepped: Stepped | None = None
    bounds: tuple[Bound, Bound] | None = None
    judged: JudgedGain | None = None
    uncorrected: Gain | None = None
    words: Words = field(default_factory=spoken)

    @property
    def refused(self) -> Note | None:
        """Why human labels allow no verdict; then no gate may pass."""
        return None if self.judged is None else self.judged.refused

    @property
    def comparable(self) -> bool:
        """Whether a verdict is possible; otherwise the gain only describes what was seen, and no gate may pass.

        It is not when the two met no common task, and when human labels do not tell their gain.
        """
        return self.refused is None and not any(note.kind == "no common task" for note in self.notes)

    @property
    def why(self) -> str:
        """Which method was used, and the reason."""
        return self._reason()

    @property
    def how(self) -> str:
        """The same without counts, so that comparisons made alike say the same."""
        return self._reason(counts=False)

    @in_its_words
    def _reason(self, *, counts: bool = True) -> str:
        return " ".join(
            sentence
            for sentence in (self.structure.said(counts=counts), self._target(), f"Method: {self.gain.method}.")
            if sentence
        )

    def _target(self) -> str:
        """What the gain is an average over, where there are several tasks."""
        if self.structure.tasks < 2 or not self.comparable or self.task is not None:
            return ""
        words = spoken()
        many = f"{self.structure.tasks} {words.tasks}, compared within {words.tasks}"
        if self.weigh == "tasks":
            return f"{many}; every {words.task} weighs the same."
        return f"{many}; each weighs by its share of {words.rollouts}."

    @property
    def interval(self) -> Interval:
        """Where the gain, first minus second, lies."""
        return self.gain.interval

    @property
    def p_value(self) -> float | None:
        """The two-sided p-value against no gain, adjusted where it is one of a family."""
        return self.gain.p_value if self.stepped is None else self.stepped.p_value

    @property
    def verdict(self) -> Verdict:
        """What is shown about the first policy; nothing when the two met no common task.

        In a family it is the step-down's, which decides at least what the simultaneous intervals decide.
        """
        return self.gain.verdict if self.stepped is None else self.stepped.verdict

    @in_its_words
    def __str__(self) -> str:
        where = f" on {self.task}" if self.task else ""
        why = f"no common {spoken().task}" if self.refused is None else "the human labels do not allow one"
        said = self.gain if self.comparable else f"{str(self.interval).removesuffix('.')}; no verdict: {why}."
        return f"{self.first} against {self.second}{where}: {said}"


@in_its_words
def compare(
    rollouts: Rollouts,
    first: str,
    second: str,
    *,
    measure: Measure | None = None,
    paired: bool | None = None,
    weigh: Weigh = "rollouts",
    confidence: float = 0.95,
    margin: float = 0.0,
    gate: bool = False,
) -> Comparison:
    """Is the first policy better than the second, and by how much?

    Args:
        rollouts: The table.
        first: The policy the gain is about.
        second: The policy it is compared with.
        measure: "success" or "score"; success where the table has it.
        paired: Whether to pair rollouts in the same environment; found out from the table when not said. True where no
            column tells which belong together declares that the n-th of both do, task by task.
        weigh: How several tasks weigh: "rollouts", by their share of rollouts, or "tasks", all alike.
        confidence: The confidence of the interval and the verdict.
        margin: A gain that would not matter.
        gate: Whether to give the two one-sided bounds too, each at the confidence, that a gate judges by.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> ended = [1] * 17 + [0] * 3 + [1] * 8 + [0] * 12
        >>> table = sf.read(pl.DataFrame({"policy": ["new"] * 20 + ["old"] * 20, "success": ended}))
        >>> print(sf.compare(table, "new", "old").verdict)
        better
    """
    asked = Asked(rollouts, first, second, chosen(rollouts, measure), weigh)
    bounds_at = confidence if gate else None
    found = plain_comparison(asked, paired=paired, confidence=confidence, margin=margin, bounds_at=bounds_at)
    return replace(found, outlook=outlook(found, most=rollouts.high - rollouts.low))


def plain_comparison(
    asked: Asked,
    *,
    paired: bool | None = None,
    confidence: float,
    margin: float,
    central: bool = False,
    bounds_at: float | None = None,
) -> Comparison:
    """As `compare`, without working out what it would take when nothing is decided: for families of many."""
    low, high = asked.ends
    margin = _check.margin(margin, high - low)
    _check.choice(asked.weigh, "weigh", dict.fromkeys(("rollouts", "tasks")))
    confidence = _check.confidence(confidence)
    found = found_between(asked, paired=paired)
    gain = found.gain(confidence=confidence, margin=margin, central=central)
    return named_comparison(asked, found, gain, confidence=confidence, bounds_at=bounds_at)


def named_comparison(
    asked: Asked, found: Found, gain: Gain, *, confidence: float, bounds_at: float | None = None
) -> Comparison:
    """A gain with the names of the two, each of them alone, and what must be known besides."""
    rollouts, what = asked.rollouts, asked.measure
    bounds = None
    level = 0.0 if bounds_at is None else round(2.0 * bounds_at - 1.0, 15)
    if bounds_at is not None:  # two one-sided tests, each with all of its error on its own side
        bounds = _bounds(found.gain(confidence=level, margin=gain.margin, central=True))
    if not found.comparable:  # the gain only describes what was seen
        gain = replace(gain, verdict=Verdict.UNDECIDED)
    notes = (*found.notes, *(note for note in gain.notes if isinstance(note, Note)))
    made = Comparison(
        first=asked.first,
        second=asked.second,
        measure=what,
        gain=gain,
        of_first=alone(rollouts, asked.first, what, confidence, asked.weigh),
        of_second=alone(rollouts, asked.second, what, confidence, asked.weigh),
        structure=found.structure,
        task=rollouts.tasks[0] if len(rollouts.tasks) == 1 == len(rollouts.summary(by=("task",))) else None,
        weigh=asked.weigh,
        bounds=bounds,
        notes=notes,
    )
    if not rollouts.labels:
        return made
    made = by_labels(made, rollouts)
    wide = None
    if bounds_at is not None and made.judged is not None:
        wide = judged_gain(rollouts, asked.first, asked.second, measure=what, confidence=level, margin=gain.margin)
    return made if wide is None or wide.gain is None else replace(made, bounds=_bounds(wide.gain))


def alone(rollouts: Rollouts, policy: str, measure: Measure, confidence: float, weigh: Weigh = "rollouts") -> Interval:
    """One policy's rate or mean score; looked up once for a table."""
    return rollouts.once(
        ("alone", policy, measure, repr(confidence), weigh),
        lambda: MEASURED[measure](part(rollouts, (measure,), policy), confidence=confidence, weigh=weigh),
    )


@in_its_words
def compare_tasks(
    rollouts: Rollouts,
    first: str,
    second: str,
    *,
    measure: Measure | None = None,
    confidence: float = 0.95,
    margin: float = 0.0,
    gate: bool = False,
) -> tuple[Comparison, ...]:
    """On which tasks is the first policy better or worse, with no false one among all tasks?

    Every task pays its share of the error, so that all intervals hold together. A task on which one of the two has no
    outcome is left out.
    """
    a_table(rollouts).require("task")
    what = chosen(rollouts, measure)
    known = [
        {group.key[0] for group in rollouts.where(policy=name).summary(by=("task",)) if group.known(what)}
        for name in (first, second)
    ]
    tasks = [task for task in rollouts.tasks if task in known[0] & known[1]]
    if not tasks:
        raise DataError(
            f"{first!r} and {second!r} must share {spoken().a_task}; they share none.", source=rollouts.source
        )
    level = family_level(len(tasks), confidence, gate=gate)
    found = []
    for task in tasks:
        asked = Asked(rollouts.where(task=task), first, second, what)
        one = plain_comparison(asked, margin=margin, **level)
        if len(tasks) <= MOST_OUTLOOKS:
            one = replace(one, outlook=outlook(one, most=rollouts.high - rollouts.low))
        found.append(one)
    return family(found, confidence)


def family_level(size: int, confidence: float, *, gate: bool = False) -> dict[str, Any]:
    """How each of `size` comparisons is made so that all hold together: at its share, and each end by itself."""
    share = 1.0 - (1.0 - _check.confidence(confidence)) / size
    return {"confidence": share, "central": size > 1, "bounds_at": share if gate else None}


def family(comparisons: Sequence[Comparison], confidence: float) -> tuple[Comparison, ...]:
    """Comparisons that hold together at `confidence`.

    Each was made by `family_level`. The intervals hold together, for each paid its share of the error; verdicts and
    p-values are those of Holm's step-down. With a margin, or without p-values, verdicts are read off the intervals.
    """
    size = len(comparisons)
    if size == 1:
        return tuple(comparisons)
    shared = [_sharing(one, size, confidence) for one in comparisons]
    known = [one for one in comparisons if one.comparable]
    if any(one.gain.margin or one.gain.p_value is None for one in known):
        return tuple(shared)
    sides = [Sides.of(one.gain.p_value or 0.0, one.gain.estimate) if one.comparable else UNKNOWN for one in comparisons]
    stepped = stats.step_down(sides, confidence=confidence)
    return tuple(
        replace(one, stepped=said) if one.comparable else one for one, said in zip(shared, stepped, strict=True)
    )


UNKNOWN = Sides(1.0, 1.0, 1.0, 1.0)
"""Of two that met no common task nothing is shown; they are counted all the same."""


def _sharing(comparison: Comparison, size: int, confidence: float) -> Comparison:
    """One of `size` comparisons: its interval paid its share, its p-value too."""
    gain = comparison.gain
    adjusted = None if gain.p_value is None else min(1.0, size * gain.p_value)
    interval = replace(gain.interval, confidence=confidence, method=f"Bonferroni-over-{size:,} {gain.interval.method}")
    return replace(comparison, gain=replace(gain, interval=interval, p_value=adjusted))


def _bounds(gain: Gain) -> tuple[Bound, Bound]:
    """The ends of a central interval as what they are: two bounds, each with half of its error."""
    ends = gain.interval
    return bounds_of(ends, round((1.0 + ends.confidence) / 2.0, 15))


def chosen(rollouts: Rollouts, measure: Measure | None) -> Measure:
    """What is compared: what was asked for, or success where it is known of any rollout, else the score."""
    if measure is None:
        there = a_table(rollouts).columns
        known = "success" in there and ("score" not in there or any(one.outcomes for one in rollouts.summary()))
        return "success" if known else "score"
    _check.choice(measure, "measure", dict.fromkeys(("success", "score")))
    a_table(rollouts).require(measure)
    return measure
