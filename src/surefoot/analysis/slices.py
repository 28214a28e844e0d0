"""Slices: where is a policy better, where worse, and where does it fail; one error for all of them (methods, 21b)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from surefoot import _check
from surefoot.analysis.comparison_data import Asked, Weights
from surefoot.analysis.comparisons import chosen
from surefoot.analysis.slice_tables import SMALLEST, Looked, Where, slice_table
from surefoot.analysis.slice_tests import looked_at
from surefoot.core import formatting
from surefoot.core.interval import Interval
from surefoot.core.notes import Note
from surefoot.core.record import Record
from surefoot.core.verdict import CLAIMS, Claim, Verdict
from surefoot.core.words import USUAL, Words, in_its_words
from surefoot.errors import DataError
from surefoot.files.reading import reads_frames
from surefoot.stats.slices import DRAWS, SliceTests
from surefoot.table.pairs import two_policies
from surefoot.table.rollouts import Measure, Rollouts, a_table
from surefoot.table.unit_counts import gathered

MOST_POLICIES = 6
"""Of more policies no slices are shown unless two are named."""
THREE = 3
FLOOR = 2.0 / (DRAWS + 1.0)
"""The least p-value of both sides that shuffles can tell."""
SOMEWHERE = "{way} in some of its cells, not on average"
AGAIN = "The worst of many slices tends to look worse than it is: run it again before you act on its size."


@dataclass(frozen=True, slots=True)
class Slice(Record):
    """One slice: the rows with one level of a column, or of two.

    Attributes:
        where: The columns and their levels.
        rollouts: Rollouts of the first and of the second in it; for one policy, in the slice and elsewhere.
        sums: Their successes, or the sums of their scores.
        estimate: The gain in the slice, within strata.
        worse: The p-value of "nowhere in the slice is the first worse", after all slices.
        better: The p-value of "nowhere in it is the first better", after all slices.
        verdict: What is claimed.
        interval: The average gain over the slice, all intervals holding together; None where nothing is claimed.
        contains: The claimed slices inside this one, by their names.
        under: The claimed slice that is shown above this one, which contains it; empty where it is shown by itself.
    """

    where: tuple[tuple[str, str], ...]
    rollouts: tuple[int, int]
    sums: tuple[float, float]
    estimate: float
    worse: float
    better: float
    verdict: Verdict = Verdict.UNDECIDED
    interval: Interval | None = None
    contains: tuple[str, ...] = ()
    under: str = ""

    @property
    def name(self) -> str:
        """The slice in a word: ``lighting=dim & clutter=some``."""
        return str(Where(self.where))

    @property
    def p_value(self) -> float:
        """The p-value of what is claimed, or the smaller one."""
        by = {Verdict.WORSE: self.worse, Verdict.BETTER: self.better}
        return by.get(self.verdict, min(self.worse, self.better))

    @property
    def somewhere(self) -> bool:
        """Whether its average lies on the other side: what is claimed holds in some of its cells only."""
        return self.estimate * {Verdict.WORSE: -1.0, Verdict.BETTER: 1.0}.get(self.verdict, 0.0) < 0.0

    def shown(self, measure: Measure) -> str:
        """What was seen in it: ``8/40 v 31/40``, or two means."""
        pairs = tuple(zip(self.sums, self.rollouts, strict=True))
        if measure == "success":
            return " v ".join(f"{total:,.0f}/{count:,}" for total, count in pairs)
        return " v ".join(f"mean {total / count:.3f} of {count:,}" for total, count in pairs)


@dataclass(frozen=True, slots=True)
class Slices(Record):
    """Where a policy is better and where worse, or where it fails; one error for all slices.

    Attributes:
        first: The policy that the claims are about.
        second: The policy it is compared with; empty where the rest of its own rollouts is.
        slices: All slices that were looked at, in the order of their columns.
        columns: The columns whose levels were looked at.
        measure: What was compared.
        rollouts: Rollouts of the first and of the second.
        tests: How often a slice is named wrongly, and how it was tested.
        how: What was shuffled, or which p-values were adjusted.
        noticed: Drops that would have been found in 8 of 10 tables: rollouts of each, and the drop or None.
        notes: What a reader must know besides.
        words: What the table calls policies and rollouts.
    """

    first: str
    second: str
    slices: tuple[Slice, ...]
    columns: tuple[str, ...]
    measure: Measure
    rollouts: tuple[int, int]
    tests: SliceTests
    how: str
    noticed: tuple[tuple[int, int, float | None], ...] = ()
    notes: tuple[Note, ...] = ()
    words: Words = USUAL

    @property
    def claimed(self) -> tuple[Slice, ...]:
        """The slices of which something is claimed, the surest first."""
        named = [one for one in self.slices if one.verdict is not Verdict.UNDECIDED]
        return tuple(sorted(named, key=lambda one: (one.verdict is Verdict.BETTER, one.p_value, -abs(one.estimate))))

    def of(self, verdict: Verdict) -> tuple[Slice, ...]:
        """The claimed slices of one verdict."""
        return tuple(one for one in self.claimed if one.verdict is verdict)

    @property
    def both_ways(self) -> tuple[str, ...]:
        """Columns in whose levels the first is claimed better here and worse there."""
        levels = [one for one in self.claimed if len(one.where) == 1]
        found = {way: {one.where[0][0] for one in levels if one.verdict is way} for way in Verdict}
        return tuple(one for one in self.columns if one in found[Verdict.BETTER] & found[Verdict.WORSE])

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The answer, a line for each thing it says; nothing is named where nothing is shown."""
        lines = [self.head]
        width = max((len(one.name) for one in self.claimed), default=0)
        for one in self.claimed:
            if not one.under:
                lines.append(f"{self.way(one):<10}{one.name:<{width}}  {self._numbers(one)}")
                lines += [
                    f"{'':<10}contains it: {other.name}  {self._numbers(other)}"
                    for other in self.claimed
                    if other.under == one.name
                ]
        return [*lines, *self.beside]

    @property
    def beside(self) -> list[str]:
        """What is said besides the claims: that there are none, what could have been seen, and what to do."""
        lines = [f"The difference depends on {name}: better here, worse there." for name in self.both_ways]
        if not self.claimed:
            lines = [f"No slice is shown to be {'one where it fails more' if not self.second else 'different'}."]
        seen = self._noticed()
        lines += [seen] if seen else []
        return [*lines, *([AGAIN] if self.of(Verdict.WORSE) else []), *map(str, self.notes)]

    @property
    def head(self) -> str:
        """Who was compared, in how many slices of what, and how."""
        level, columns = formatting.percent(self.tests.confidence), ", ".join(self.columns)
        who, sizes = f"{self.first} v {self.second}", f"{self.rollouts[0]:,} v {self.rollouts[1]:,} "
        if not self.second:
            who, sizes = f"Where {self.first} fails more than elsewhere", f"{self.rollouts[0]:,} "
        looked = f"{formatting.counted(len(self.slices), 'slice')} of {columns} looked at"
        return f"{who}, {sizes}{self.words.rollouts}, {looked}; {level} that no slice is named wrongly. {self.how}"

    def way(self, one: Slice) -> str:
        """Whether a claimed slice is better or worse."""
        return "Worse in" if one.verdict is Verdict.WORSE else "Better in"

    def _numbers(self, one: Slice) -> str:
        ends = one.interval
        gain = "" if ends is None else formatting.estimate(ends.estimate, ends.low, ends.high, ends.scale)
        beside = "" if self.second else " elsewhere"
        beside += f", {SOMEWHERE.format(way=one.verdict)}" if one.somewhere else ""
        return f"{gain}  {one.shown(self.measure)}{beside}  {self.said_p(one)} after all {len(self.slices):,}"

    def p_of(self, one: Slice) -> float:
        """The p-value of a claim, of both sides where both are looked for: at most 0.05 at a confidence of 95%."""
        return min(1.0, one.p_value * (2.0 if self.tests.claim == "both" else 1.0))

    def said_p(self, one: Slice) -> str:
        """That p-value in words; where none of 19,999 shuffles showed as much it is below 0.0001."""
        p = self.p_of(one)
        return formatting.p_value(p if p > FLOOR else 0.0)

    def _noticed(self) -> str:
        told = []
        for ours, theirs, drop in self.noticed:
            where = f"in a slice of {ours:,} v {theirs:,}"
            if drop is None:
                told.append(f"not even a drop to 0 {where} would have been found in 8 of 10 tables")
            elif self.measure == "success":
                told.append(f"a drop of {100 * drop:.0f} points {where} would have been found in 8 of 10 tables")
            else:
                told.append(f"a drop of {drop:.2g} {where} would have been found in 8 of 10 tables")
        said = "; ".join(told)
        return f"{said[:1].upper()}{said[1:]}." if said else ""


@reads_frames
@in_its_words
def slices(
    rollouts: Rollouts,
    first: str,
    second: str | None = None,
    *,
    by: str | Sequence[str] = (),
    ignore: str | Sequence[str] = (),
    ways: int = 2,
    claim: Claim = "both",
    measure: Measure | None = None,
    weights: Weights = "units",
    dealt: bool = False,
    smallest: int = SMALLEST,
    confidence: float = 0.95,
) -> Slices:
    """Slices of a table in which the first policy is better or worse than the second, with one error for all.

    Every level of every setting, of units with few levels and of watched columns is looked at, and every pair of levels
    of two. Labels are shuffled inside cells; a slice is named only if hardly any shuffle shows as much in any slice.

    Args:
        rollouts: The table.
        first: The policy that the claims are about.
        second: The policy it is compared with; left out, where the first fails more than elsewhere.
        by: Columns to look at; found when not said.
        ignore: Columns not to look at.
        ways: 1 for levels only, 2 for pairs of levels too.
        claim: "both"; or "worse" or "better", with all of the error.
        measure: "success" or "score"; success where the table has it.
        weights: How units weigh in a slice's gain, as for `compare`.
        dealt: Whether the levels of columns were dealt to rollouts at random.
        smallest: The fewest rollouts of each policy in a slice.
        confidence: One minus the chance that any slice is named wrongly.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> won = {("new", "dim"): 4, ("new", "bright"): 27, ("old", "dim"): 22, ("old", "bright"): 25}
        >>> rows = [(p, light, i < k) for (p, light), k in won.items() for i in range(30)]
        >>> table = sf.read(pl.DataFrame(rows, schema=["policy", "lighting", "success"], orient="row"))
        >>> [(one.name, str(one.verdict)) for one in sf.slices(table, "new", "old").claimed]
        [('lighting=dim', 'worse')]
    """
    if isinstance(ways, bool) or ways not in (1, 2):
        raise _check.wrong("ways", f"be 1 or 2; got {ways!r}.", ways)
    _check.choice(claim, "claim", dict.fromkeys(CLAIMS))
    smallest, confidence = _check.whole(smallest, "smallest", least=1), _check.confidence(confidence)
    table = gathered(a_table(rollouts).declare(ignore=ignore))
    if second is None:
        table.where(policy=first)  # refuses a name that is not there
        claim = "worse"
    else:
        two_policies(table, first, second)
    asked = Asked(table, first, second or "", chosen(table, measure), weights)
    asked.require_in_range()
    words = (by,) if isinstance(by, str) else tuple(by)
    cut = slice_table(asked, words, dealt=dealt)
    found = looked_at(cut, ways=ways, smallest=smallest, confidence=confidence, claim=claim, dealt=dealt)
    if len(found.names) < (2 if second else 1):
        who = "both" if second else "it, inside and outside"
        raise DataError(f"no slice has {smallest} {rollouts.words.rollouts} of {who}.", source=rollouts.source)
    ours = int(cut.first.sum())
    return made_of(
        (asked.first, asked.second),
        asked.measure,
        tuple(cut.called(key) for key in cut.factors),
        (ours, int(len(cut.first) - ours)),
        found,
        notes=cut.notes,
    )


@in_its_words
def slices_against(
    rollouts: Rollouts,
    baseline: str,
    *,
    by: str | Sequence[str] = (),
    ignore: str | Sequence[str] = (),
    ways: int = 2,
    claim: Claim = "both",
    measure: Measure | None = None,
    weights: Weights = "units",
    dealt: bool = False,
    smallest: int = SMALLEST,
    confidence: float = 0.95,
) -> tuple[Slices, ...]:
    """Slices of every policy against one baseline that was named beforehand, the error shared among policies.

    Args:
        rollouts: The table.
        baseline: The policy that all others are compared with.
        by: Columns to look at; found when not said.
        ignore: Columns not to look at.
        ways: As for `slices`.
        claim: As for `slices`.
        measure: "success" or "score".
        weights: As for `slices`.
        dealt: As for `slices`.
        smallest: As for `slices`.
        confidence: One minus the chance that any slice of any policy is named wrongly.
    """
    a_table(rollouts).where(policy=baseline)  # refuses a name that is not there
    others = [name for name in rollouts.policies if name != baseline]
    if not others:
        raise _check.wrong("rollouts", f"hold another policy than {baseline!r}; there is none.")
    share = 1.0 - (1.0 - _check.confidence(confidence)) / len(others)
    return tuple(
        slices(
            rollouts, name, baseline, by=by, ignore=ignore, ways=ways, claim=claim, measure=measure, weights=weights,
            dealt=dealt, smallest=smallest, confidence=share,
        )
        for name in others
    )  # fmt: skip


def every_slices(
    rollouts: Rollouts, names: Sequence[str], *, measure: Measure, weights: Weights = "units", confidence: float = 0.95
) -> tuple[Slices, ...]:
    """The slices of all that a table holds, at one error: of one policy, of two, of the best of more against each.

    Args:
        rollouts: The table.
        names: The policies, the best first.
        measure: What decides.
        weights: How units weigh.
        confidence: One minus the chance that any slice of any two is named wrongly.

    Returns:
        The slices of every two that are compared; none where no column has levels to look at, or policies are many.
    """
    if not 1 <= len(names) <= MOST_POLICIES or rollouts.labels:
        return ()
    pairs: list[tuple[str, str | None]] = [(names[0], other) for other in names[1:]] or [(names[0], None)]
    pairs += [(names[1], names[2])] if len(names) == THREE else []
    all_pairs = max(1, len(names) * (len(names) - 1) // 2)  # which is the best was seen in the same table
    found = []
    for first, second in pairs:
        try:
            found.append(
                slices(
                    rollouts, first, second, measure=measure, weights=weights,
                    confidence=1.0 - (1.0 - confidence) / all_pairs,
                )
            )  # fmt: skip
        except DataError:
            continue
    return tuple(found)


def made_of(
    policies: tuple[str, str],
    measure: Measure,
    columns: tuple[str, ...],
    rollouts: tuple[int, int],
    found: Looked,
    *,
    notes: tuple[Note, ...] = (),
) -> Slices:
    """Slices with their claims, intervals and folds, from their tests."""
    tests = found.tests
    made = [
        Slice(name.parts, sizes, sums, estimate, worse, better, verdict, contains=())
        for name, sizes, sums, estimate, worse, better, verdict in zip(
            found.names, found.sizes, found.sums, found.estimates, tests.worse, tests.better, tests.verdicts,
            strict=True,
        )
    ]  # fmt: skip
    return Slices(
        first=policies[0],
        second=policies[1],
        slices=tuple(_folded(made, found)),
        columns=columns,
        measure=measure,
        rollouts=rollouts,
        tests=tests,
        how=found.how,
        noticed=found.noticed,
        notes=(*notes, *found.notes),
    )


def _folded(made: list[Slice], found: Looked) -> list[Slice]:
    """Claims with their intervals; a claimed slice that contains one that is shown is shown under it."""
    order = [place for place in found.order if made[place].verdict is not Verdict.UNDECIDED]
    shown: list[int] = []
    for place in order:
        verdict = made[place].verdict
        inside = [one for one in shown if made[one].verdict is verdict and found.within(one, place)]
        interval = _cut_at_zero(found.interval(place), verdict)
        under = made[inside[0]].name if inside else ""
        contains = tuple(made[one].name for one in inside)
        made[place] = replace(
            made[place], interval=interval, estimate=interval.estimate, under=under, contains=contains
        )
        if not inside:
            shown.append(place)
    return made


def _cut_at_zero(interval: Interval, verdict: Verdict) -> Interval:
    """The interval of a claimed slice: the step-down may claim what the interval alone does not.

    An average that lies on the other side is left as it is: the claim is of some cell of the slice.
    """
    if interval.estimate * (-1.0 if verdict is Verdict.WORSE else 1.0) < 0.0:
        return interval
    if verdict is Verdict.WORSE:
        return replace(interval, high=min(interval.high, 0.0), low=min(interval.low, 0.0))
    return replace(interval, low=max(interval.low, 0.0), high=max(interval.high, 0.0))
