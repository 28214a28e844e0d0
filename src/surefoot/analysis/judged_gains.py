"""Comparison of two policies by a judge's outcomes and some human labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from surefoot import _check, stats
from surefoot.core.formatting import Scale
from surefoot.core.gain import Gain
from surefoot.core.interval import Interval
from surefoot.core.notes import Note
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.core.words import in_its_words
from surefoot.stats.judge_corrected_gains import CorrectedGain, judge_corrected_rates
from surefoot.stats.labelling import DECIDES, LabelsNeeded, draw_gap
from surefoot.table.label_draws import item_columns
from surefoot.table.labelling import LabelsMethod
from surefoot.table.normalising import small
from surefoot.table.rollouts import Measure, Rollouts, a_table

APART = 2.81
"""Standard errors beyond which labelled items do not look drawn from all: by chance once in 100 for two checks."""

MOST_KINDS = 20
"""Kappa is for categories: labels of more different values are scores."""

Key = tuple[object, ...]


class Item(NamedTuple):
    """One policy on one item, over its epochs."""

    judge: float
    human: float | None
    rollouts: int
    labels: int
    alike: int
    clusters: frozenset[object]


class Items(NamedTuple):
    """Every policy on every item, by which columns an item is known, and whether labels are of another scale."""

    on: tuple[str, ...]
    of: Mapping[str, Mapping[Key, Item]]
    other_scale: bool = False


@dataclass(frozen=True, slots=True)
class JudgedGain(Record):
    """The gain of one policy over another by human labels, or why there is none.

    Attributes:
        first: The policy that the gain is about.
        second: The policy it is compared with.
        measure: Whether success or the score was labelled.
        found: The corrected gain and what it was made of; None where the labels do not tell it.
        refused: Why there is no verdict; None when the labels allow one.
        drawn: Whether surefoot drew the labelled items; otherwise they are declared to be drawn at random.
        labels: Rollouts of the two with a human label.
        alike: How many of those the judge ended alike; None for scores.
        needed: How many labelled items would decide a gain as large as this one; None when it is decided.
        notes: What a reader must know besides.
        rates: Both policies' rates or mean scores by the same labels, whose difference is the gain.
    """

    first: str
    second: str
    measure: Measure
    found: CorrectedGain | None
    refused: Note | None
    drawn: bool
    labels: int
    alike: int | None = None
    needed: LabelsNeeded | None = None
    notes: tuple[Note, ...] = ()
    rates: tuple[Interval, ...] = ()

    @property
    def gain(self) -> Gain | None:
        """The corrected gain; without a verdict where that is refused."""
        if self.found is None:
            return None
        return self.found.gain if self.refused is None else replace(self.found.gain, verdict=Verdict.UNDECIDED)

    def __str__(self) -> str:
        said = [f"{self.first} against {self.second}, by human labels: {self.gain or 'no gain.'}"]
        return " ".join([*said, *([f"No verdict: {self.refused}"] if self.refused else ()), *map(str, self.notes)])


@in_its_words
def judged_gain(
    rollouts: Rollouts,
    first: str,
    second: str,
    *,
    measure: Measure = "success",
    method: LabelsMethod | None = None,
    confidence: float = 0.95,
    margin: float = 0.0,
) -> JudgedGain | None:
    """Is the first policy better than the second by human labels? None where neither carries any.

    Items are paired; the epochs of an item are averaged; a `cluster` column makes documents of items. Labels that do
    not tell the gain (of one policy only, of different items), and labels that differ from the rest in what the judge
    said of them, give no verdict.

    Args:
        rollouts: The table, with a `human` column beside the judge's success or score.
        first: The policy the gain is about.
        second: The policy it is compared with.
        measure: "success" or "score".
        method: "judge", or "labels" to leave the judge out; as the table's labels were joined when not said.
        confidence: The confidence of the interval and the verdict.
        margin: A gain that would not matter.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> frame = pl.DataFrame({
        ...     "policy": ["new"] * 300 + ["old"] * 300, "item": [*range(300)] * 2,
        ...     "success": [1, 1, 1, 0, 1] * 60 + [1, 0, 1, 0, 1] * 60,
        ...     "human": [1, 1, 1, 0, 0] * 12 + [None] * 240 + [1, 0, 1, 0, 0] * 12 + [None] * 240,
        ... })
        >>> print(sf.judged_gain(sf.read(frame), "new", "old").gain)
        +20.0 points [+15.3, +24.7] n=60 (95% judge-corrected interval), p < 0.0001: the first is better.
    """
    items = items_of(rollouts, measure)
    confidence = _check.confidence(confidence)
    sides = [items.of.get(name, {}) for name in (first, second)]
    labels = [sum(one.labels for one in side.values()) for side in sides]
    if not any(labels):
        return None
    low, high = rollouts.ends(measure)
    margin = _check.margin(margin, span := high - low)
    alike = None if measure == "score" else sum(one.alike for side in sides for one in side.values())
    how = rollouts.labelling
    drawn = how is not None and how.random
    chosen: LabelsMethod = method or ("judge" if how is None else how.using)

    def refuse(kind: str, **values: Any) -> JudgedGain:
        return JudgedGain(first, second, measure, None, Note(kind, values), drawn, sum(labels), alike)

    if not items.on:
        return refuse("labels without items")
    if items.other_scale:
        return refuse("labels on another scale", low=rollouts.low, high=rollouts.high)
    if not all(labels):
        have, lack = (0, 1) if labels[0] else (1, 0)
        return refuse("labels of one policy", **_tipping(rollouts, (first, second), have, lack, measure, confidence))
    shared = sorted((key for key in sides[0] if key in sides[1]), key=repr)
    both = [all(side[key].human is not None for side in sides) for key in shared]
    if sum(both) < 2:
        return refuse("labels of different items", first=first, second=second, both=sum(both))
    documents = documents_of(shared, sides)
    if documents is not None and len({of for of, there in zip(documents, both, strict=True) if there}) < 2:
        return refuse("labels of one cluster", called=next(iter(rollouts.design.cluster), "cluster"))
    ours, theirs = ([side[key].judge for key in shared] for side in sides)
    judge = [one - other for one, other in zip(ours, theirs, strict=True)]
    human = [_gap(sides, key) if there else None for key, there in zip(shared, both, strict=True)]
    found = stats.judge_corrected_gain(
        judge, human, documents, span=span, scale="gain" if measure == "success" else "score gain",
        method=chosen, confidence=confidence, margin=margin,
    )  # fmt: skip
    both_human = [
        [side[key].human if there else None for key, there in zip(shared, both, strict=True)] for side in sides
    ]
    of_each = judge_corrected_rates(
        (ours, theirs), (both_human[0], both_human[1]), documents, low=low, high=high,
        scale="rate" if measure == "success" else "score", method=chosen, confidence=confidence,
    )  # fmt: skip
    level = [(one + other) / 2.0 for one, other in zip(ours, theirs, strict=True)]
    refused = None if drawn else _unlike_the_rest({"gain": judge, "level": level}, both, documents)
    needed = None if refused is not None else _needed(found, confidence, margin, span)
    notes = _notes(rollouts, sides, both, found, (sum(labels), alike))
    rates = tuple(one.interval for one in of_each)
    return JudgedGain(first, second, measure, found, refused, drawn, sum(labels), alike, needed, notes, rates)


def _unlike_the_rest(
    judged: Mapping[str, list[float]], both: Sequence[bool], documents: list[object] | None
) -> Note | None:
    """Why labels that were not drawn tell nothing of the rest: the judge rates the labelled items otherwise."""
    apart = {name: draw_gap(values, both, documents) for name, values in judged.items()}
    about, z = max(apart.items(), key=lambda one: abs(one[1]))
    return Note("labels unlike the rest", {"about": about, "z": z}) if abs(z) > APART else None


def items_of(rollouts: Rollouts, measure: Measure) -> Items:
    """Every policy's items with their labels, found once for all pairs; none carry labels that are not of `measure`."""
    a_table(rollouts).require(measure)
    return rollouts.once(("human", measure), lambda: _gathered(rollouts, measure) if rollouts.labels else Items((), {}))


def judge_gains(rollouts: Rollouts) -> list[float]:
    """The judge's gain in success on every item that both policies of a table have, before anything is labelled."""
    sides = list(_gathered(rollouts, "success").of.values())
    if len(sides) != 2:
        return []
    return [sides[0][key].judge - sides[1][key].judge for key in sorted(sides[0], key=repr) if key in sides[1]]


def _gathered(rollouts: Rollouts, measure: Measure) -> Items:
    import narwhals as nw

    on = item_columns(rollouts)
    clusters = rollouts.design.keys("cluster")[:1]
    more = (*(("human",) if "human" in rollouts.columns else ()), *clusters)
    names = ("policy", measure, *on, *more)
    home = small(rollouts.counted().select(*names).filter(~nw.col(measure).is_null()))
    rows: dict[str, dict[Key, list[tuple[float, float | None, object]]]] = {}
    ends, said_of, labels = rollouts.ends(measure), set[float](), set[float]()
    keys = zip(*(home[name] for name in on), strict=True) if on else ((place,) for place in range(len(home["policy"])))
    nothing = [None] * len(home["policy"])
    beside = (home.get(name, nothing) for name in ("human", *(clusters or ("",))))
    for policy, said, item, label, group in zip(home["policy"], home[measure], keys, *beside, strict=True):
        if item[-1] is None:
            continue
        inside = label is not None and ends[0] <= label <= ends[1]  # scores by humans say nothing of success
        row = (float(said), float(label) if inside else None, group)
        if label is not None:  # also one below a scale from 1 to 5: failures are of the other scale too
            said_of.add(float(said))
            labels.add(float(label))
        rows.setdefault(policy, {}).setdefault(tuple(item), []).append(row)
    passed = {0.0, 1.0}  # pass or fail, where the judge gives a score: 1 would be taken for one of its ten points
    other = ends != (0.0, 1.0) and labels == passed and not said_of <= passed
    return Items(on, {policy: {key: _item(of) for key, of in each.items()} for policy, each in rows.items()}, other)


def _item(rows: list[tuple[float, float | None, object]]) -> Item:
    rows = sorted(rows, key=lambda row: (row[0], -1.0 if row[1] is None else row[1]))  # sums free of the rows' order
    labels = [(said, label) for said, label, _ in rows if label is not None]
    human = sum(label for _, label in labels) / len(labels) if labels else None
    alike = sum(abs(said - label) < 0.5 for said, label in labels)
    groups = frozenset(group for _, _, group in rows if group is not None)
    return Item(sum(said for said, _, _ in rows) / len(rows), human, len(rows), len(labels), alike, groups)


def _gap(sides: list[Mapping[Key, Item]], key: Key) -> float:
    one, other = (side[key].human for side in sides)
    return (one or 0.0) - (other or 0.0)


def documents_of(shared: Sequence[Key], sides: Sequence[Mapping[Key, Item]]) -> list[object] | None:
    """The document of each item; sharing a cluster in any epoch joins items. None where all stand alone."""
    above: dict[object, object] = {}

    def root(one: object) -> object:
        while above.setdefault(one, one) != one:
            one = above[one]
        return one

    for key in shared:
        for group in frozenset().union(*(side[key].clusters for side in sides)):
            one, other = sorted((root(("cluster", group)), root(("item", key))), key=repr)
            above[other] = one
    found = [root(("item", key)) for key in shared]
    return found if len(set(found)) < len(found) else None


def _tipping(
    rollouts: Rollouts, names: tuple[str, str], have: int, lack: int, measure: Measure, confidence: float
) -> dict[str, Any]:
    """What labels of one policy tell: its rate, and how far off the judge must be on the other for the two to tie."""
    from surefoot.analysis.judge_corrections import corrections_of

    known = corrections_of(rollouts, measure, confidence).get(names[have])
    one: Interval | None = None if known is None else known.interval
    scale: Scale = "rate" if measure == "success" else "score"
    items = items_of(rollouts, measure).of.get(names[lack], {}).values()
    said = sum(item.judge for item in items) / len(items) if items else None
    ends = {} if one is None else {"estimate": one.estimate, "low": one.low, "high": one.high}
    off = None if one is None or said is None else said - one.estimate
    return {"policy": names[have], "other": names[lack], "scale": scale, "said": said, "off": off, **ends}


def _needed(found: CorrectedGain, confidence: float, margin: float, span: float) -> LabelsNeeded | None:
    """What would decide a gain as large as the one seen; nothing when it is decided, or when no gain was seen."""
    away = abs(abs(found.gain.estimate) - margin)
    if found.gain.verdict is not Verdict.UNDECIDED or away <= 0.0:
        return None
    return stats.labels_needed(found, DECIDES * away, confidence=confidence, span=span)


def _kappa(shared: Sequence[tuple[float, float]]) -> float | None:
    """How far two people agree beyond chance; none where they gave one label only, or scores."""
    kinds = {value for pair in shared for value in pair}
    if len(shared) < 2 or not 1 < len(kinds) <= MOST_KINDS:
        return None
    return stats.cohen_kappa([one for one, _ in shared], [other for _, other in shared]).estimate


def _notes(
    rollouts: Rollouts,
    sides: list[Mapping[Key, Item]],
    both: list[bool],
    found: CorrectedGain,
    outcomes: tuple[int, int | None],
) -> tuple[Note, ...]:
    how = rollouts.labelling
    used = {"labels": found.labels, "items": found.items, "of": outcomes[0], "alike": outcomes[1]}
    notes = [Note("labels used", used)]
    if found.left_out is None:
        notes.append(Note("judge used", {"share": found.bought, "trust": found.trust}))
    else:
        guaranteed = found.documents == found.labels
        notes.append(Note("judge left out", {"why": found.left_out.value, "guaranteed": guaranteed}))
    single = sum(one.human is not None for side in sides for one in side.values()) - 2 * sum(both)
    if single:
        notes.append(Note("labels not used", {"count": single}))
    if how is None or how.drawn is None:
        notes.append(Note("labels declared random"))
    elif how.missing:
        notes.append(Note("labels missing", {"missing": how.missing, "drawn": how.drawn}))
    else:
        notes.append(Note("labels drawn", {"drawn": how.drawn, "seed": how.seed}))
    if how is not None and how.twice:
        raters = {"raters": how.raters, "twice": how.twice, "alike": how.alike, "kappa": _kappa(how.shared)}
        notes.append(Note("several raters", raters))
    return tuple(notes)
