"""The best of several policies from finished rollouts: who may be it, how good the pick is, what it may lose."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from surefoot import _check, stats
from surefoot._arguments import write
from surefoot.analysis.comparison_data import Asked, Subject, Target, Weights, limited
from surefoot.analysis.comparisons import alone, chosen
from surefoot.analysis.rankings import guaranteed, independent
from surefoot.analysis.targets import found_between, rows
from surefoot.core import formatting
from surefoot.core.interval import Bound, Interval, Side
from surefoot.core.notes import Note
from surefoot.core.record import Record
from surefoot.core.scores import Scores
from surefoot.core.tally import Tally
from surefoot.core.words import USUAL, Words, in_its_words
from surefoot.files.reading import reads_frames
from surefoot.stats.multiplicity import Sides
from surefoot.stats.selection import (
    SelectionBias,
    Shortlist,
    held_together,
    simultaneous_confidence,
    simultaneous_lower_bounds,
)
from surefoot.table.rollouts import Measure, Rollouts, a_table
from surefoot.table.summaries import Group
from surefoot.table.unit_counts import gathered

HIGHEST = 3
"""Policies whose p-values against the others are taken: fewer only enlarge the shortlist."""
MOST = 1_000
"""The most policies there may be."""
EACH, FRESH = 30, 100
"""Rollouts that a fresh number is offered for: so many for each that may be the best, and at least so many."""
LOOKED = "could stop by looking"
"""The note of a table whose sizes were decided by looking at results."""
UNEQUAL = "sizes differ"
"""The note of a table whose sizes may have been."""
MISSING = "outcomes missing"
"""The note of a table that lacks outcomes."""
DOUBTS = (LOOKED, UNEQUAL, MISSING)
"""Notes on which the statements hang: they are said before them."""
LISTED = 20
"""So many names of a shortlist are printed."""
STEP_COLUMNS = ("step", "steps", "global_step", "training_step", "train_step", "iteration", "iterations", "epoch")
"""Columns that hold how long a policy was trained."""
NUMBERED = re.compile(r"^(?P<before>.*?)(?P<number>\d+(?:\.\d+)?)(?P<times>[kKmM]?)(?P<after>\D*)$")
TRAINED = ("step", "epoch", "iter", "ckpt", "checkpoint", "train", "update", "frame", "sample")
"""Words of names whose number is how long a policy was trained; the number of "model-3" is only a name."""
TIMES = {"": 1.0, "k": 1e3, "m": 1e6}


@dataclass(frozen=True, slots=True)
class Best(Record):
    """The best of several policies.

    Attributes:
        names: The policies, the best estimate first.
        shortlisted: The policies that may be the best, with the error of leaving a best one out.
        intervals: Every policy's rate or mean score, all holding together, in the order of `names`.
        lower: The pick's lower bound, which allows for the choice; the upper one where less is better.
        regret: How far the pick is below the best at most; None where it is shown to be the best.
        selection: The corrected estimate of the pick; None where nothing is known of it.
        measure: What was compared.
        about: What the answer is about.
        within: The distance from the best that was asked about; None when none was.
        confidence: The confidence of each statement.
        notes: What a reader must know besides.
        words: What the table calls policies and rollouts.
        steps: How long each was trained, in the order of `names`, where names or a column say so: a learning curve.
    """

    names: tuple[str, ...]
    shortlisted: Shortlist
    intervals: tuple[Interval, ...]
    lower: Bound
    regret: Bound | None
    selection: SelectionBias | None
    measure: Measure
    about: Subject
    within: float | None = None
    confidence: float = 0.95
    notes: tuple[Note, ...] = ()
    words: Words = USUAL
    steps: tuple[float, ...] = ()

    @property
    def pick(self) -> str:
        """The policy with the best estimate; of several that are tied, the first by name."""
        return self.names[0]

    @property
    def shortlist(self) -> tuple[str, ...]:
        """The policies that may be the best."""
        return self.shortlisted.names

    @property
    def estimate(self) -> float:
        """The pick's rate or mean score, corrected for the choice where it can be."""
        return self.intervals[0].estimate if self.selection is None else self.selection.corrected

    @property
    def is_within(self) -> bool | None:
        """Whether the pick is shown to lie within the distance asked about; None when none was."""
        if self.within is None:
            return None
        return self.regret is None or self.regret.value <= self.within

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The answer, a line for each thing it says."""
        level, count = formatting.percent(self.confidence), f"{len(self.names):,}"
        least = self.lower.side == "lower"
        bound = formatting.number(self.lower.value, self.lower.scale, "down" if least else "up")
        verb = f"{'succeeds in' if self.measure == 'success' else 'scores'} {'at least' if least else 'at most'}"
        doubts = [str(note) for note in self.notes if note.kind in DOUBTS]
        others = [str(note) for note in self.notes if note.kind not in DOUBTS]
        if self._looked:
            return [self._head(), *doubts, *others, self.next]
        lines = [self._head(), *doubts, f"{self.pick} {verb} {bound} ({level}, allowing for the choice among {count})."]
        if self.selection is not None and self.selection.matters:
            lines.append(f"Its {self.selection.excess}, because it was picked as the highest.")
        if len(self.shortlist) == 1:
            lines.append(f"{self.pick} is the best of the {count} ({level}).")
        else:
            listed = formatting.some_names(self.shortlist, LISTED)
            lines.append(f"{len(self.shortlist):,} of {count} may be the best ({level}): {listed}.")
        if self.regret is not None and self.regret.value <= 0.0:
            lines.append(f"{self.pick} is at least as good as each of the others ({level}).")
        elif self.regret is not None:
            far = formatting.number(self.regret.value, self.regret.scale, "up").lstrip("+")
            unit = formatting.unit(self.regret.scale)
            way = "below" if least else "above"
            lines.append(f"{self.pick} is at most {far}{unit} {way} the best of the {count} ({level}).")
        if self.within is not None:
            said = "is" if self.is_within else "is not shown to be"
            lines.append(f"{self.pick} {said} within {self.within:g} of the best.")
        return [*lines, *others, *filter(None, [self.next])]

    def _head(self) -> str:
        """What the answer is about, and who has the highest estimate."""
        shown, what = self.intervals[0], "rate" if self.measure == "success" else "mean score"
        what = f"{'highest' if self.lower.side == 'lower' else 'lowest'} {what}"
        tied = [name for name, one in zip(self.names, self.intervals, strict=True) if one.estimate == shown.estimate]
        number = formatting.number(shown.estimate, shown.scale)
        if len(tied) > 1:
            return f"For {self.about}: {', '.join(tied)} are tied for the {what}, {number}."
        tallies = [tally for one in shown.samples for tally in one.tallies]
        counted = len(tallies) == 1 and tallies[0].rate == shown.estimate
        many = f"{tallies[0].successes:,} of {tallies[0].trials:,} ({number})" if counted else f"{number}"
        size = "" if counted else f" (n={shown.trials:,})"
        return f"For {self.about}: {self.pick} has the {what}, {many}{size}."

    @property
    def _looked(self) -> bool:
        """Whether sizes were decided by looking: then nothing said for fixed ones holds, and it is not printed."""
        return any(note.kind == LOOKED for note in self.notes)

    @property
    def next(self) -> str:
        """What to run to know more, and what it costs; empty where the best one is known."""
        many = len(self.shortlist)
        if self._looked:
            return f"Next: a race may be looked at while it runs: `surefoot plan race --policies {len(self.names)}`."
        if many == 1:
            return ""
        budget = max(FRESH, 50 * -(-EACH * many // 50))
        return (
            f"Next: `surefoot plan halve --policies {many} --budget {budget}` for a fresh number in {budget:,} "
            f"{self.words.rollouts}; `surefoot plan race --policies {many}` to name the best."
        )


@reads_frames
@in_its_words
def best(
    rollouts: Rollouts,
    *,
    within: float | None = None,
    measure: Measure | None = None,
    target: Target | None = None,
    weights: Weights = "units",
    lower_is_better: bool = False,
    confidence: float = 0.95,
) -> Best:
    """Confidence set for the best policy, with a bound for the pick that allows for the choice, and its regret.

    Args:
        rollouts: The table; how often each policy was run must have been fixed beforehand.
        within: A distance from the best to ask about: 0.05 for 5 points.
        measure: "success" or "score"; success where the table has it.
        target: "like" for units like these, "these" for these very units; found when not said.
        weights: How units weigh, as for `compare`.
        lower_is_better: Whether less is better.
        confidence: The confidence of each statement.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> counts = {"10k": 31, "20k": 43, "30k": 40}
        >>> rows = [(name, i < k) for name, k in counts.items() for i in range(50)]
        >>> found = sf.best(sf.read(pl.DataFrame(rows, schema=["checkpoint", "success"], orient="row")))
        >>> found.pick, found.shortlist
        ('20k', ('20k', '30k'))
    """
    rollouts = gathered(a_table(rollouts))
    what, confidence = chosen(rollouts, measure, lower_is_better), _check.confidence(confidence)
    rollouts = limited(rollouts, what, lower_is_better)
    if within is not None:
        within = _check.fraction(within, "within")
    known = _known(rollouts, what)
    sign = 1.0 if lower_is_better else -1.0
    heights = {name: alone(rollouts, name, what, confidence, weights).estimate for name in known}
    names = tuple(sorted(known, key=lambda name: (sign * heights[name], name)))
    apart = independent(rollouts)
    plain = rollouts.design.unit is None and not rollouts.design.settings and not lower_is_better
    each = simultaneous_confidence(len(names), confidence, independent=apart)
    own = {name: guaranteed(alone(rollouts, name, what, each, weights)) for name in names}
    intervals = tuple(held_together(own[name], len(names), confidence, independent=apart) for name in names)
    if plain:
        data = _samples(rollouts, names, what)
        listed = stats.shortlist(data, confidence=confidence)
        lower = simultaneous_lower_bounds(data, independent=apart, confidence=confidence)[names[0]]
        regret = stats.regret_bound(data, names[0], confidence=confidence)
        about = Subject("like", "", 0, rollouts.words.rollouts)
    else:
        pairs = _Pairs(rollouts, names, what, weights, target, lower_is_better)
        listed = _listed(names, pairs, confidence)
        side: Side = "upper" if lower_is_better else "lower"
        lower = _bound(rollouts, names[0], what, weights, len(names), confidence, apart, side)
        regret = _regret(pairs, names, confidence)
        about = pairs.about
    tallies = {name: known[name].tally for name in names} if what == "success" else {}
    selection = stats.selection_bias(tallies) if plain and what == "success" and apart else None
    alone_best = listed.names == names[:1]
    return Best(
        names,
        listed,
        intervals,
        lower,
        None if alone_best else regret,
        selection,
        what,
        about,
        within,
        confidence,
        _doubts(rollouts, known, what),
        steps=steps_of(rollouts, names),
    )


def _doubts(rollouts: Rollouts, known: Mapping[str, Group], what: Measure) -> tuple[Note, ...]:
    """On what the statements hang: sizes chosen by looking, unequal ones, outcomes that are missing."""
    notes = tuple(Note(one.kind, {}) for one in rollouts.notes if isinstance(one, Note) and one.kind == LOOKED)
    if not notes and len({group.rollouts for group in known.values()}) > 1:
        notes = (Note(UNEQUAL, {}),)
    missing = sum(group.rollouts - group.known(what) for group in known.values())
    return (*notes, *([Note(MISSING, {"count": missing, "measure": what})] if missing else []))


def steps_of(rollouts: Rollouts, names: Sequence[str]) -> tuple[float, ...]:
    """How long each policy was trained: by a column that holds it, else by names that differ in a number alone."""
    for column in rollouts.columns:
        if rollouts.called(column).lower() in STEP_COLUMNS and column != rollouts.design.unit:
            groups = rollouts.summary(by=("policy", column))
            found = {
                str(policy): number
                for policy, value in (one.key for one in groups)
                if (number := _number(value)) is not None
            }
            if len(groups) == len(found) == len(set(found.values())) and set(names) <= set(found):
                return tuple(found[name] for name in names)
    parts = [NUMBERED.match(name) for name in names]
    if len(names) < 3 or not all(parts) or len({(one["before"], one["after"]) for one in parts if one}) > 1:
        return ()
    stem, numbers, scaled = "", [], False
    for one in filter(None, parts):
        stem, scaled = f"{one['before']}{one['after']}".lower(), scaled or bool(one["times"])
        numbers.append(float(one["number"]) * TIMES[one["times"].lower()])
    told = rollouts.words.policy == "checkpoint" or scaled or not stem or any(word in stem for word in TRAINED)
    return tuple(numbers) if told and len(set(numbers)) == len(names) else ()


def _known(rollouts: Rollouts, what: Measure) -> dict[str, Group]:
    """The counts of each policy; refuses one without outcomes, and too few or too many policies."""
    known = {str(group.key[0]): group for group in rollouts.summary()}
    for name, group in known.items():
        if not group.known(what):
            raise _check.wrong("rollouts", f"hold a known {what} of every {rollouts.words.policy}; {name!r} has none.")
    if not 2 <= len(known) <= MOST:
        must = f"hold 2 to {MOST:,} {rollouts.words.policies} to find the best of; got {len(known):,}."
        step = next((name for name in map(rollouts.called, rollouts.columns) if name.lower() in STEP_COLUMNS), "")
        told = repr(step) if step else "a column"
        cure = f"If {told} tells them apart, say {write('columns', {'policy': step or 'YOURS'})}."
        raise _check.wrong("rollouts", must, cure=cure if len(known) == 1 else "")
    return known


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _samples(rollouts: Rollouts, names: Sequence[str], what: Measure) -> dict[str, Any]:
    """The tally or the scores of every policy."""
    if what == "success":
        return {name: Tally(*_counts(rollouts, name)) for name in names}
    found = {}
    for name in names:
        values = rows(Asked(rollouts, name, "", "score"), name)["value"].to_list()
        found[name] = Scores(values, rollouts.low, rollouts.high)
    return found


def _counts(rollouts: Rollouts, name: str) -> tuple[int, int]:
    tally = rollouts.where(policy=name).tally()
    return tally.successes, tally.trials


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Comparisons of pairs of policies by the method that their cells call for."""

    rollouts: Rollouts
    names: tuple[str, ...]
    measure: Measure
    weights: Weights
    target: Target | None
    lower_is_better: bool

    def gain(self, first: str, second: str, confidence: float) -> Any:
        asked = Asked(self.rollouts, first, second, self.measure, self.weights, self.lower_is_better).compared
        found = found_between(asked, target=self.target, strict=False)
        return found.gain(confidence=confidence, margin=0.0, central=True)

    @property
    def about(self) -> Subject:
        first, second = self.names[:2]
        asked = Asked(self.rollouts, first, second, self.measure, self.weights, self.lower_is_better).compared
        return found_between(asked, target=self.target, strict=False).reading.about


def _listed(names: tuple[str, ...], pairs: _Pairs, confidence: float) -> Shortlist:
    """The shortlist from one-sided p-values of the highest against every other (any dependence)."""
    p_values: dict[tuple[str, str], float] = {}
    for high in names[:HIGHEST]:
        for name in names:
            if name != high:
                gain = pairs.gain(high, name, confidence)
                sides = getattr(gain, "sides", None) or Sides.of(gain.p_value or 0.0, gain.estimate)
                p_values[high, name] = sides.better
    worst = {
        name: min(1.0, (len(names) - 1) * min((p_values[pair] for pair in p_values if pair[1] == name), default=1.0))
        for name in names
    }
    kept = tuple(name for name in names if worst[name] > 1.0 - confidence or name == names[0])
    out = tuple(name for name in names if name not in kept)
    ordered = tuple(worst[name] for name in (*kept, *out))
    return Shortlist(kept, out, ordered, confidence, f"the smallest of {len(names) - 1:,} p-values, adjusted")


def _bound(
    rollouts: Rollouts,
    pick: str,
    what: Measure,
    weights: Weights,
    count: int,
    confidence: float,
    apart: bool,
    side: Side,
) -> Bound:
    """The pick's bound: one end of an interval whose error is twice its share."""
    share = 1.0 - simultaneous_confidence(count, confidence, independent=apart)
    found = guaranteed(alone(rollouts, pick, what, 1.0 - 2.0 * share, weights))
    return Bound(
        side=side, value=found.low if side == "lower" else found.high, estimate=found.estimate, confidence=confidence,
        method=found.method, trials=found.trials, scale=found.scale,
    )  # fmt: skip


def _regret(pairs: _Pairs, names: tuple[str, ...], confidence: float) -> Bound:
    """How far the pick is below the best at most: the largest upper bound of another's gain over it."""
    level = 1.0 - 2.0 * (1.0 - confidence) / (len(names) - 1)
    gains = [pairs.gain(name, names[0], level).interval for name in names[1:]]
    widest = max(gains, key=lambda one: one.high)
    return Bound(
        side="upper", value=max(0.0, widest.high), estimate=max(0.0, widest.estimate), confidence=confidence,
        method=widest.method, trials=widest.trials, scale=widest.scale,
    )  # fmt: skip
