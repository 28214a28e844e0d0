"""Comparison of two policies: what it is about follows from the design of the table, and the result says it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from surefoot import _arguments, _check
from surefoot._arguments import weights_once_weigh
from surefoot.analysis.comparison_data import (
    TARGETS,
    Asked,
    Found,
    Reading,
    Subject,
    Target,
    Weights,
    bounds_by,
    limited,
    reading_of_structure,
)
from surefoot.analysis.levels import (
    MOST_OUTLOOKS,
    disagreeing,
    held_within,
    macro_average,
    opposed,
    outlook,
    spread_of_units,
)
from surefoot.analysis.measurements import MEASURED
from surefoot.analysis.targets import found_between
from surefoot.core.gain import Gain
from surefoot.core.interval import Bound, Interval
from surefoot.core.notes import Note
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.core.words import USUAL, Words, in_its_words
from surefoot.errors import DataError
from surefoot.files.reading import reads_frames
from surefoot.stats.multiplicity import Sides, Stepped
from surefoot.table.rollouts import Measure, Rollouts, a_table
from surefoot.table.unit_counts import gathered

if TYPE_CHECKING:
    from surefoot.analysis.judged_gains import JudgedGain
    from surefoot.stats.detectable import Outlook


@dataclass(frozen=True, slots=True)
class OtherTarget(Record):
    """The answer for the target that the headline is not about.

    Attributes:
        about: What it is about.
        gain: Interval, p-value and verdict.
    """

    about: Subject
    gain: Gain

    def __str__(self) -> str:
        only = " only" if self.about.target == "these" else ""
        return f"For {self.about}{only}: {self.gain}"


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
        reading: What every column was taken for, what the answer is about, and which units were compared.
        level: The column and its level, where only that level is looked at; None when all are taken together.
        weights: How units weigh in the gain.
        other: The answer for the other target; None where the data cannot have one.
        lower_is_better: Whether less is better: then the gain is how much less the first has than the second.
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
    reading: Reading
    level: tuple[str, str] | None = None
    weights: Weights = "units"
    other: OtherTarget | None = None
    lower_is_better: bool = False
    notes: tuple[Note, ...] = ()
    outlook: Outlook | None = None
    policy: str | None = None
    stepped: Stepped | None = None
    bounds: tuple[Bound, Bound] | None = None
    judged: JudgedGain | None = None
    uncorrected: Gain | None = None
    words: Words = USUAL

    @classmethod
    def from_earlier(cls, body: dict[str, Any]) -> dict[str, Any]:
        """Version 0.2.0 wrote what it paired and clustered, a task, and weights by another name."""
        if "structure" not in body:
            return body
        old = {name: body[name] for name in ("structure", "task", "weigh") if name in body}
        rest = {name: value for name, value in body.items() if name not in old}
        level = None if old.get("task") is None else ["task", old["task"]]
        weights = "units" if old.get("weigh") == "tasks" else "rollouts"
        return {**rest, "reading": reading_of_structure(old["structure"]), "level": level, "weights": weights}

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
        return f"{self.reading} {self.how}"

    @property
    def how(self) -> str:
        """The same without counts, so that comparisons made alike say the same."""
        if self.weights == "units" or not self.reading.units:
            return f"Method: {self.gain.method}."
        weighing = "rollout" if self.weights == "rollouts" else "setting"
        return f"Every {weighing} weighs the same. Method: {self.gain.method}."

    @property
    def about(self) -> Subject:
        """What the answer is about."""
        return self.reading.about

    @property
    def target(self) -> Target:
        """Whether it is about units like these, or about these very units."""
        return self.reading.about.target

    @property
    def task(self) -> str | None:
        """The level, where only one is looked at."""
        return None if self.level is None else self.level[1]

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
        """What is shown about the first policy, in a family by the step-down; nothing where it depends on a setting."""
        if self.stepped is not None:
            return self.stepped.verdict
        return Verdict.UNDECIDED if self.depends_on and not self.opposite else self.gain.verdict

    @property
    def depends_on(self) -> str:
        """The column in whose levels the first is shown better here and worse there; empty where there is none."""
        return "" if self.stepped is not None else opposed(self.notes, self.gain.verdict, self.gain.margin).column

    @property
    def opposite(self) -> tuple[str, ...]:
        """The levels that are shown to be the opposite of the verdict, such as ``task=stack``."""
        return opposed(self.notes, self.gain.verdict, self.gain.margin).levels

    def __str__(self) -> str:
        where = f" on {self.task}" if self.task else ""
        why = f"no common {self.words.task}" if self.refused is None else "the human labels do not allow one"
        said = self.gain if self.comparable else f"{str(self.interval).removesuffix('.')}; no verdict: {why}."
        return f"For {self.about}, {self.first} against {self.second}{where}: {said}"


@reads_frames
@weights_once_weigh
@in_its_words
def compare(
    rollouts: Rollouts,
    first: str,
    second: str,
    *,
    measure: Measure | None = None,
    target: Target | None = None,
    unit: str | None = None,
    repeat: str | Sequence[str] = (),
    setting: str | Sequence[str] = (),
    cluster: str | Sequence[str] = (),
    run: str | Sequence[str] = (),
    ignore: str | Sequence[str] = (),
    paired: bool | None = None,
    weights: Weights = "units",
    lower_is_better: bool = False,
    dealt: bool = False,
    confidence: float = 0.95,
    margin: float = 0.0,
    gate: bool = False,
) -> Comparison:
    """Gain of the first policy over the second, with interval, p-value and verdict, and what it is about.

    Args:
        rollouts: The table.
        first: The policy the gain is about.
        second: The policy it is compared with.
        measure: "success" or "score"; success where the table has it.
        target: "like" for units like these, "these" for these very units; from 20 units on "like" when not said.
        unit: The column of what both policies met; found from the shape of the table when not said.
        repeat: Columns that count the tries at a unit.
        setting: Columns to compare within, such as the robot.
        cluster: Columns of what units belong to.
        run: Columns of trained copies of a policy.
        ignore: Columns without a role.
        paired: False to compare rollouts without regard to units. True where no column tells units apart declares that
            the n-th rollouts of both belong together.
        weights: "units", all alike; "settings", every level of a setting alike; or "rollouts".
        lower_is_better: Whether less is better, as for cost and time: then a negative gain is better.
        dealt: Whether the levels of other columns were dealt to rollouts at random; then they need no check.
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
    said = {"unit": unit, "repeat": repeat, "setting": setting, "cluster": cluster, "run": run, "ignore": ignore}
    table = gathered(a_table(rollouts).declare(**said))
    if target is not None:
        _check.choice(target, "target", dict.fromkeys(TARGETS))
    what = chosen(table, measure, lower_is_better)
    table = limited(table, what, lower_is_better)
    asked = Asked(table, first, second, what, weights, lower_is_better)
    bounds_at = (confidence, confidence) if gate else None
    found = plain_comparison(
        asked, paired=paired, target=target, confidence=confidence, margin=margin, bounds_at=bounds_at, dealt=dealt
    )
    return replace(found, outlook=outlook(found, most=table.high - table.low))


def plain_comparison(
    asked: Asked,
    *,
    paired: bool | None = None,
    target: Target | None = None,
    confidence: float,
    margin: float,
    central: bool = False,
    bounds_at: tuple[float, float] | None = None,
    dealt: bool = False,
) -> Comparison:
    """As `compare`, without working out what it would take when nothing is decided."""
    low, high = asked.ends
    margin = _check.margin(margin, high - low)
    confidence = _check.confidence(confidence)
    computed = asked.compared
    found = found_between(computed, paired=paired, target=target)
    if not dealt:
        found = held_within(computed, found, paired=paired, target=target)
    gain = found.gain(confidence=confidence, margin=margin, central=central)
    made = named_comparison(asked, found, gain, confidence=confidence, bounds_at=bounds_at)
    return in_context(made, asked, found, confidence=confidence, margin=margin)


def in_context(made: Comparison, asked: Asked, found: Found, *, confidence: float, margin: float) -> Comparison:
    """A comparison with the answer for the other target, and notes of levels that disagree with it."""
    if found.other is not None and made.judged is None:  # labels correct the headline, and not the other
        way = found.other()
        made = replace(made, other=OtherTarget(way.reading.about, way.make(confidence=confidence, margin=margin)))
    if not made.comparable or made.judged is not None or asked.level is not None:
        return made
    computed = asked.compared
    last = (*macro_average(computed, found, made.gain), *spread_of_units(computed, found, made.verdict))
    first = disagreeing(computed, made.gain, confidence=confidence)
    return replace(made, notes=(*first, *made.notes, *last))


def named_comparison(
    asked: Asked, found: Found, gain: Gain, *, confidence: float, bounds_at: tuple[float, float] | None = None
) -> Comparison:
    """A gain with the names of the two, each of them alone, and what must be known besides."""
    rollouts, what = asked.rollouts, asked.measure
    bounds = None
    if bounds_at is not None:  # two one-sided tests, each with all of its error on its own side
        bounds = bounds_by(lambda level: found.gain(confidence=level, margin=gain.margin, central=True), bounds_at)
    if not found.comparable:  # the gain only describes what was seen
        gain = replace(gain, verdict=Verdict.UNDECIDED)
    notes = (*found.notes, *(note for note in gain.notes if isinstance(note, Note)), *rollouts.design.said)
    made = Comparison(
        first=asked.first,
        second=asked.second,
        measure=what,
        gain=gain,
        of_first=alone(rollouts, asked.first, what, confidence, asked.weights),
        of_second=alone(rollouts, asked.second, what, confidence, asked.weights),
        reading=found.reading,
        level=asked.level,
        weights=asked.weights,
        lower_is_better=asked.lower_is_better,
        bounds=bounds,
        notes=notes,
    )
    if not rollouts.labels:
        return made
    from surefoot.analysis.judge_corrections import by_labels

    return by_labels(made, rollouts, bounds_at)


def alone(rollouts: Rollouts, policy: str, measure: Measure, confidence: float, weights: Weights = "units") -> Interval:
    """One policy's rate or mean score; looked up once for a table."""
    return rollouts.once(
        ("alone", policy, measure, repr(confidence), weights),
        lambda: MEASURED[measure](rollouts.where(policy=policy), confidence=confidence, weights=weights),
    )


@reads_frames
@in_its_words
def compare_by(
    rollouts: Rollouts,
    first: str,
    second: str,
    *,
    by: str | Sequence[str] = (),
    measure: Measure | None = None,
    target: Target | None = None,
    weights: Weights = "units",
    lower_is_better: bool = False,
    confidence: float = 0.95,
    margin: float = 0.0,
    gate: bool = False,
) -> tuple[Comparison, ...]:
    """Comparisons of two policies within every level of some columns, all holding together.

    Every level pays its share of the error. A level that one of the two has no outcome in is left out.

    Args:
        rollouts: The table.
        first: The policy the gains are about.
        second: The policy it is compared with.
        by: The columns, as the file calls them; the few units, or a setting, when not said.
        measure: "success" or "score"; success where the table has it.
        target: "like" or "these", as for `compare`.
        weights: How units weigh, as for `compare`.
        lower_is_better: Whether less is better.
        confidence: The confidence of all intervals and verdicts together.
        margin: A gain that would not matter.
        gate: Whether to give one-sided bounds too.
    """
    what = chosen(rollouts := gathered(a_table(rollouts)), measure, lower_is_better)
    rollouts = limited(rollouts, what, lower_is_better)
    keys = columns_of(rollouts, by)
    met: dict[tuple[str | None, ...], set[str | None]] = {}
    for group in rollouts.summary(by=("policy", *keys)):
        if group.known(what) and None not in group.key:
            met.setdefault(group.key[1:], set()).add(group.key[0])
    levels = [level for level, who in met.items() if {first, second} <= who]
    if not levels:
        shared = " and ".join(rollouts.called(key) for key in keys)
        raise DataError(f"{first!r} and {second!r} must share some {shared}; they share none.", source=rollouts.source)
    shares = family_level(len(levels), confidence, gate=gate)
    found = []
    for level in levels:
        part = rollouts.where(**dict(zip(keys, level, strict=True)))  # type: ignore[arg-type]
        part = replace(part, declared={**rollouts.design_roles(), **dict.fromkeys(keys, "ignore")})
        named = (", ".join(rollouts.called(key) for key in keys), ", ".join(map(str, level)))
        asked = Asked(part, first, second, what, weights, lower_is_better, named)
        one = plain_comparison(asked, margin=margin, target=target, dealt=True, **shares)
        if len(levels) <= MOST_OUTLOOKS:
            one = replace(one, outlook=outlook(one, most=rollouts.high - rollouts.low))
        found.append(one)
    return family(found, confidence)


def columns_of(rollouts: Rollouts, by: str | Sequence[str]) -> tuple[str, ...]:
    """The table's columns that were asked for by name; by default the one whose levels are shown side by side."""
    words = (by,) if isinstance(by, str) else tuple(by)
    if not words:
        if rollouts.split is None:
            raise DataError(
                "some column must have few levels that both policies met; none has.", source=rollouts.source
            )
        return (rollouts.split,)
    keys = tuple(rollouts.key(word) for word in words)
    for word, key in zip(words, keys, strict=True):
        if key in ("policy", "success", "score"):
            what = "policy" if key == "policy" else "outcome"
            raise DataError(
                f"`{_arguments.named('by')}` must name a column of labels; {word!r} is the {what}.",
                source=rollouts.source,
            )
        if key not in rollouts.columns:
            raise DataError(
                f"there must be a column {word!r}; these are there:\n{rollouts.design}", source=rollouts.source
            )
    return keys


def family_level(size: int, confidence: float, *, gate: bool = False) -> dict[str, Any]:
    """How each of `size` comparisons is made so that all hold together: at its share, and each end by itself."""
    share = 1.0 - (1.0 - _check.confidence(confidence)) / size
    # all must pass: an intersection, which charges none for the others; that one fails is a union, which does
    return {"confidence": share, "central": size > 1, "bounds_at": (float(confidence), share) if gate else None}


def family(comparisons: Sequence[Comparison], confidence: float) -> tuple[Comparison, ...]:
    """Comparisons that hold together at `confidence`.

    Each was made by `family_level`. The intervals hold together, for each paid its share of the error; verdicts and
    p-values are those of Holm's step-down. With a margin, or without p-values, verdicts are read off the intervals.
    """
    from surefoot.stats.multiplicity import step_down

    size = len(comparisons)
    if size == 1:
        return tuple(comparisons)
    shared = [_sharing(one, size, confidence) for one in comparisons]
    known = [one for one in comparisons if one.comparable]
    if any(one.gain.margin or one.gain.p_value is None for one in known):
        return tuple(shared)
    sides = [_sides(one.gain) if one.comparable else UNKNOWN for one in comparisons]
    stepped = step_down(sides, confidence=confidence)
    return tuple(
        replace(one, stepped=said) if one.comparable else one for one, said in zip(shared, stepped, strict=True)
    )


def _sides(gain: Gain) -> Sides:
    """The one-sided p-values of a gain that was made with half of its error on each side."""
    own: Sides | None = getattr(gain, "sides", None)
    return Sides.of(gain.p_value or 0.0, gain.estimate) if own is None else own


UNKNOWN = Sides(1.0, 1.0, 1.0, 1.0)
"""Of two that met no common task nothing is shown; they are counted all the same."""


def _sharing(comparison: Comparison, size: int, confidence: float) -> Comparison:
    """One of `size` comparisons: its intervals paid their share, its p-values too."""
    other = comparison.other
    if other is not None:
        other = replace(other, gain=_shared(other.gain, size, confidence))
    return replace(comparison, gain=_shared(comparison.gain, size, confidence), other=other)


def _shared(gain: Gain, size: int, confidence: float) -> Gain:
    adjusted = None if gain.p_value is None else min(1.0, size * gain.p_value)
    interval = replace(gain.interval, confidence=confidence, method=f"Bonferroni-over-{size:,} {gain.interval.method}")
    return replace(gain, interval=interval, p_value=adjusted)


def chosen(rollouts: Rollouts, measure: Measure | None, lower_is_better: bool = False) -> Measure:
    """What is compared: what was asked for, or success where it is known of any rollout, else the score."""
    if measure is None:
        there = a_table(rollouts).columns
        known = "success" in there and ("score" not in there or any(one.outcomes for one in rollouts.summary()))
        if known and lower_is_better and "score" in there:  # a time beside success: fewer successes are no gain
            name = shlex.quote(rollouts.called("score"))
            say = _arguments.in_python(
                'measure="score", or measure="success"', f"--score {name}, or --column score= for success"
            )
            raise DataError(f"Of which is less better: success, or {rollouts.called('score')!r}? Say {say}.")
        return "success" if known else "score"
    _check.choice(measure, "measure", dict.fromkeys(("success", "score")))
    a_table(rollouts).require(measure)
    return measure
