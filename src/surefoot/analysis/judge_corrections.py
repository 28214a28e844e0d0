"""Success rates of a judge, corrected by human labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from surefoot import _check, stats
from surefoot.analysis.comparison_data import bounds_by
from surefoot.analysis.judged_gains import documents_of, items_of, judged_gain
from surefoot.analysis.measurements import MEASURED, mean_score, success_rate
from surefoot.core.interval import Interval
from surefoot.core.notes import Note
from surefoot.core.record import Record
from surefoot.core.tally import Tally
from surefoot.core.verdict import Verdict
from surefoot.core.words import in_its_words
from surefoot.stats.judges import Calibration
from surefoot.table.normalising import small
from surefoot.table.rollouts import Measure, Rollouts, a_table, scores_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from surefoot.analysis.comparisons import Comparison
    from surefoot.analysis.judged_gains import JudgedGain


@dataclass(frozen=True, slots=True)
class Correction(Record):
    """One policy's rate or mean score by the judge, and corrected by the rollouts that a human labelled too.

    Attributes:
        policy: The policy.
        measure: Whether success or the score was corrected.
        judged: What the judge's own outcomes give, not corrected.
        interval: What human labels would give; with its method and what must hold.
        labels: Rollouts of this policy with a human label beside the judge's.
        agreed: How many of them the judge ended alike; None for scores.
    """

    policy: str
    measure: Measure
    judged: Interval
    interval: Interval
    labels: int
    agreed: int | None = None

    def __str__(self) -> str:
        return f"{self.policy}: corrected by {self.labels:,} human labels {self.interval}"


@in_its_words
def human_corrections(
    rollouts: Rollouts, *, measure: Measure = "success", confidence: float = 0.95
) -> tuple[Correction, ...]:
    """Success rates corrected by human labels, for each policy that carries some.

    The labelled rollouts, taken to be drawn at random from the policy's own, tell how far the judge is off on all of
    them (prediction-powered): however bad the judge is, this is right. Epochs of one item count as one, and items of
    one cluster belong together. What labels make of a comparison: `judged_gain`.

    Args:
        rollouts: The table, with a `human` column beside the judge's success or score.
        measure: "success" or "score".
        confidence: The confidence of each interval.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> said, truth = [1] * 6 + [0] * 4, [1] * 5 + [0] * 5
        >>> frame = pl.DataFrame({"policy": ["new"] * 200, "success": said * 20, "human": truth * 10 + [None] * 100})
        >>> for found in sf.human_corrections(sf.read(frame)):
        ...     print(found.judged.estimate, found.interval)
        0.6 50.0% [40.8%, 59.3%] n=200 (95% calibrated prediction-powered interval).
    """
    _check.confidence(confidence)
    a_table(rollouts).require(measure)
    # labels of 0 and 1 beside scores of 0 to 10 would be read as 0 and 1 point of ten
    if not rollouts.labels or items_of(rollouts, measure).other_scale:
        return ()
    grouped = _by_items(rollouts, measure, confidence)
    alone = (_rates if measure == "success" else _means)(rollouts, confidence, set(grouped))
    return tuple(sorted((*grouped.values(), *alone), key=lambda one: one.policy))


def corrections_of(rollouts: Rollouts, measure: Measure, confidence: float) -> Mapping[str, Correction]:
    """The corrections of all policies by name, found once for all comparisons of a table."""
    made = rollouts.once(
        ("corrections", measure, repr(confidence)),
        lambda: human_corrections(rollouts, measure=measure, confidence=confidence),
    )
    return {one.policy: one for one in made}


def _by_items(rollouts: Rollouts, measure: Measure, confidence: float) -> dict[str, Correction]:
    """The policies whose rollouts do not stand alone (epochs, clusters), or whose raters' labels were averaged."""
    found = {}
    low, high = rollouts.ends(measure)
    for policy, items in items_of(rollouts, measure).of.items():
        keys = sorted(items, key=repr)
        documents = documents_of(keys, [items])
        halves = rollouts.labelling is not None and rollouts.labelling.twice > 0
        labelled = [place for place, key in enumerate(keys) if items[key].human is not None]
        apart = labelled if documents is None else {documents[place] for place in labelled}
        if len(apart) < 2 or (documents is None and not halves and all(one.rollouts == 1 for one in items.values())):
            continue
        made = stats.judge_corrected_mean(
            [items[key].judge for key in keys],
            [items[key].human for key in keys],
            documents,
            low=low,
            high=high,
            scale="rate" if measure == "success" else "score",
            method="labels" if _alone(rollouts) else "judge",
            confidence=confidence,
        )
        own = MEASURED[measure](rollouts.where(policy=policy), confidence=confidence)
        labels = sum(one.labels for one in items.values())
        agreed = sum(one.alike for one in items.values()) if measure == "success" else None
        found[policy] = Correction(policy, measure, own, made.interval, labels, agreed)
    return found


def _rates(rollouts: Rollouts, confidence: float, done: set[str]) -> tuple[Correction, ...]:
    import narwhals as nw

    known = rollouts.counted().filter(~nw.col("success").is_null())
    home = small(known.group_by("policy", "success", "human").agg(nw.len().alias("count")))
    counts: dict[str, dict[tuple[int, float | None], int]] = {}
    rows = (home[name] for name in ("policy", "success", "human", "count"))
    for policy, success, human, count in zip(*rows, strict=True):
        counts.setdefault(policy, {})[int(success), human] = int(count)
    found = []
    for policy in sorted(set(counts) - done):
        of = counts[policy]
        labels = {human for _, human in of if human is not None}
        if not labels or not labels <= {0.0, 1.0}:  # scores by humans say nothing of success
            continue
        both = [of.get((said, truth), 0) for truth, said in ((1.0, 1), (1.0, 0), (0.0, 1), (0.0, 0))]
        passed, failed = of.get((1, None), 0), of.get((0, None), 0)
        calibration = Calibration(*both)
        interval = _rate(passed, 0 if _alone(rollouts) else passed + failed, calibration, confidence)
        part = rollouts.where(policy=policy)
        own = success_rate(part, confidence=confidence)
        agreed = calibration.true_pass + calibration.true_fail
        found.append(Correction(policy, "success", own, interval, calibration.labels, agreed))
    return tuple(found)


def _rate(passed: int, judged: int, calibration: Calibration, confidence: float) -> Interval:
    """The corrected rate; that of the labels alone when nothing else was judged."""
    if judged:
        return stats.prediction_powered_rate(Tally(passed, judged), calibration, confidence=confidence).interval
    alone = stats.wilson(Tally(calibration.successes, calibration.labels), confidence=confidence)
    return replace(alone, method=f"{alone.method}, human labels alone")


def _means(rollouts: Rollouts, confidence: float, done: set[str]) -> tuple[Correction, ...]:
    found = []
    for policy in sorted(set(rollouts.policies) - done):
        part = rollouts.where(policy=policy)
        rows = small(part.in_order("score", "human"))
        known = [(s, h) for s, h in zip(rows["score"], rows["human"], strict=True) if s is not None]
        both = [(score, human) for score, human in known if human is not None]
        if len(both) < 2 or not all(part.low <= human <= part.high for _, human in both):  # not labels of scores
            continue
        ends = part.low, part.high, part.source
        judge, human = (scores_in([pair[side] for pair in both], *ends) for side in (0, 1))
        rest = [score for score, label in known if label is None]
        if len(rest) >= 2 and not _alone(rollouts):
            only = scores_in(rest, *ends)
            interval = stats.prediction_powered_mean(human, judge, only, confidence=confidence).interval
        else:
            interval = stats.score_mean(human, confidence=confidence)
        own = mean_score(part, confidence=confidence)
        found.append(Correction(policy, "score", own, interval, len(both)))
    return tuple(found)


def _alone(rollouts: Rollouts) -> bool:
    """Whether the labels are to decide without the judge."""
    return rollouts.labelling is not None and rollouts.labelling.using == "labels"


HOW = ("labels drawn", "labels declared random", "labels missing", "several raters")
"""Notes about all labels of a table, said once for a family."""


def by_labels(made: Comparison, rollouts: Rollouts, bounds_at: tuple[float, float] | None = None) -> Comparison:
    """The comparison corrected by human labels: they decide, and the judge's own gain stands below.

    Where labels exist but do not tell the gain there is no verdict. A pair without any labels stays the judge's, and
    says so.
    """

    def at(level: float) -> JudgedGain | None:
        margin = made.gain.margin
        return judged_gain(rollouts, made.first, made.second, measure=made.measure, confidence=level, margin=margin)

    judged = at(made.gain.confidence)
    if judged is None:
        return replace(made, notes=(*made.notes, Note("not corrected")))
    if made.weights == "settings" and judged.refused is None:
        judged = replace(judged, found=None, refused=Note("labels weigh items"), needed=None, notes=())
    alone = made.gain
    gain = judged.gain or replace(alone, verdict=Verdict.UNDECIDED)
    rates = corrections_of(rollouts, made.measure, made.of_first.confidence)
    own = {made.first: made.of_first, made.second: made.of_second}
    own |= {name: rates[name].interval for name in own if name in rates}
    if judged.rates:  # they subtract to the gain
        own |= dict(zip((made.first, made.second), judged.rates, strict=True))
    below = {"estimate": alone.estimate, "low": alone.interval.low, "high": alone.interval.high, "p": alone.p_value}
    needed = judged.needed
    enough = {} if needed is None else {"low": needed.low, "high": needed.high, "items": needed.items}
    bounds = None
    if bounds_at is not None and judged.gain is not None:
        bounds = bounds_by(lambda level: None if (wide := at(level)) is None else wide.gain, bounds_at)
    return replace(
        made,
        gain=gain,
        of_first=own[made.first],
        of_second=own[made.second],
        judged=judged,
        uncorrected=alone,
        bounds=bounds or (made.bounds if judged.refused is None else None),
        notes=(
            *([judged.refused] if judged.refused is not None else ()),
            *judged.notes,
            *([Note("labels needed", enough)] if enough else ()),
            Note("by the judge", {**below, "scale": alone.interval.scale}),
            *made.notes,
        ),
    )


def corrected_alone(rollouts: Rollouts, measure: Measure, own: Mapping[str, Interval]) -> dict[str, Interval]:
    """Each policy alone: by human labels where it carries some, otherwise by its own outcomes."""
    if not rollouts.labels or not own:
        return dict(own)
    known = corrections_of(rollouts, measure, next(iter(own.values())).confidence)
    return {name: known[name].interval if name in known else one for name, one in own.items()}


def label_lines(found: Sequence[Comparison]) -> list[str]:
    """What human labels did to a family of comparisons: how many they decide, and where and why they cannot."""
    judged = [one for one in found if one.judged is not None]
    if not judged:
        return []
    told = [one for one in judged if one.refused is None]
    many = f"{len(told):,} of the {len(found):,} pairs are" if len(found) > 1 else "The gain is"
    lines = [f"{many} corrected by human labels: verdicts, ranks and letters follow that."] if told else []
    for note in dict.fromkeys(note for one in told for note in one.notes if note.kind in HOW):
        lines.append(str(note))
    if any(one.judged is not None and one.judged.found is not None and not one.judged.found.guaranteed for one in told):
        lines.append("Approximate; measured coverage at least 93.5% at a confidence of 95%.")
    for one in told:
        needed = next((note for note in one.notes if note.kind == "labels needed"), None)
        if needed is not None and one.verdict is Verdict.UNDECIDED:  # the best two not told apart suffice
            lines.append(f"To tell {one.first} from {one.second}: {needed}")
            break
    return [*lines, *(f"{one.first} against {one.second}, no verdict: {one.refused}" for one in judged if one.refused)]
