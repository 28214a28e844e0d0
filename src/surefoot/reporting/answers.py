"""What is the answer, in a sentence or two? Every verdict is worded by `core.sentences`."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from surefoot.core import formatting, sentences
from surefoot.core.notes import Note
from surefoot.core.verdict import Verdict
from surefoot.core.words import USUAL, Words, plural
from surefoot.reporting.tables import FIRST
from surefoot.table.design import noun

if TYPE_CHECKING:
    from surefoot.analysis.comparisons import Comparison
    from surefoot.analysis.measurements import Measurement
    from surefoot.analysis.overview import Overview
    from surefoot.core.gain import Gain

MOST_CORRECTED = 4
FEW = 10
"""Fewer units than these say little about others like them, and it is said."""
NUMBERS = ("None", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")


def in_front(one: Comparison) -> list[str]:
    """What must be read before the answer: levels that disagree with it."""
    return [str(note) for note in one.notes if note.kind in FIRST]


def behind(one: Comparison) -> list[str]:
    """What a reader must know besides, but for clusters that count as many as there are."""
    return [
        str(note)
        for note in one.notes
        if note.kind not in FIRST
        and (note.kind != "clusters counted" or note.values["counted"] < min(note.values["clusters"]) - 0.1)
    ]


def short_answer(one: Comparison) -> str:
    """What the answer is about, and the verdict in a few words."""
    where = f" on {one.task}" if one.task else ""
    if not one.comparable:
        return f"For {one.about}{where}: {sentences.GATE_WORDS[3]}"
    if one.depends_on and not one.opposite:
        return f"For {one.about}{where}: {verdict_word(one)}"
    if one.verdict is Verdict.UNDECIDED and one.gain.margin and one.gain.not_worse:
        return f"For {one.about}{where}: {sentences.NO_WORSE.format(first=one.first, margin=_margin(one.gain))}"
    return f"For {one.about}{where}: {_verdict(one, one.verdict)}{but_opposite(one)}"


def verdict_word(one: Comparison) -> str:
    """The verdict in a word, where the policies are named beside it."""
    if one.depends_on and not one.opposite:
        return sentences.DEPENDS.format(column=one.depends_on)
    return f"{sentences.CELL[one.verdict]}{but_opposite(one)}"


def but_opposite(one: Comparison) -> str:
    """The levels that show the opposite of the verdict; empty where none does."""
    if not one.opposite:
        return ""
    other = Verdict.WORSE if one.verdict is Verdict.BETTER else Verdict.BETTER
    return f", but {sentences.CELL[other]} in {formatting.some_names(list(one.opposite), 4)}"


def other_answer(one: Comparison) -> str:
    """The answer for the other target: in full where its verdict differs, else half a sentence; empty without one."""
    other = one.other
    if other is None or not one.comparable:
        return ""
    about = f"For {other.about}{' only' if other.about.target == 'these' else ''}"
    if other.gain.verdict is one.gain.verdict:
        return f"{about}: the same verdict."
    ends = other.gain.interval
    p = f", {formatting.p_value(other.gain.p_value)}" if other.gain.p_value is not None else ""
    few = other.about.target == "like" and other.about.count < FEW
    little = f" {NUMBERS[other.about.count]} say little." if few else ""
    gain = formatting.estimate(ends.estimate, ends.low, ends.high, ends.scale)
    return f"{about}: {_verdict(one, other.gain.verdict)}, {gain}{p}.{little}"


def differing_answer(one: Comparison) -> list[str]:
    """The answer for the other target, where its verdict differs."""
    differs = one.other is not None and one.other.gain.verdict is not one.gain.verdict
    return [other_answer(one)] if differs and one.comparable else []


def _verdict(one: Comparison, verdict: Verdict) -> str:
    edge = _margin(one.gain) if one.gain.margin else ""
    return sentences.answer(verdict, one.first, one.second, margin=edge)


def comparison_answer(one: Comparison) -> tuple[str, ...]:
    """The verdict and what it is about, what stands behind it, and the other target's."""
    scale = one.interval.scale
    shown = "" if one.p_value is None else f", {formatting.p_value(one.p_value)}"
    gain = formatting.number(one.interval.estimate, scale) + formatting.unit(scale)
    stands = (
        f"Gain {gain} {formatting.span(one.interval.low, one.interval.high, scale)} at "
        f"{formatting.percent(one.interval.confidence)} confidence{shown}. {one.why}"
    )
    takes = (str(one.outlook),) if one.outlook is not None else ()
    if one.verdict is Verdict.UNDECIDED and one.gain.margin and one.gain.not_worse:
        ends = one.interval.low, one.interval.high
        takes = (sentences.sentence(one.verdict, *ends, margin=one.gain.margin, scale=scale), *takes)
    edge = _margin(one.gain) if one.gain.margin else ""
    answer = sentences.headline(one.verdict, one.first, one.second, margin=edge, about=str(one.about))
    if one.depends_on and not one.opposite:
        said = sentences.NAMED_DEPENDS.format(first=one.first, second=one.second, column=one.depends_on)
        answer = sentences.about_units(str(one.about), said)
    answer = f"{answer.removesuffix('.')}{but_opposite(one)}."
    return answer, stands, *filter(None, (other_answer(one),)), *takes, *behind(one)


def about(found: Overview) -> str:
    """What the answers are about; empty where nothing is known of a policy that is alone."""
    if found.comparisons:
        return about_of(found.comparisons)
    shown = found.policies[0].of(found.measure)
    notes = () if shown is None else shown.notes
    return next((str(note.values["subject"]) for note in notes if isinstance(note, Note) and note.kind == "about"), "")


def about_of(comparisons: Sequence[Comparison]) -> str:
    """What several comparisons are about; without a number where each two share others."""
    told = {str(one.about): one.about for one in comparisons if one.comparable} or {"": comparisons[0].about}
    first = next(iter(told.values()))
    if not first.column or (len(told) == 1 and (first.count > 1 or len(comparisons) == 1)):
        return str(first)
    units = plural(noun(first.column).replace("_", " "))
    return f"{units} like those that each two share" if first.target == "like" else f"the {units} that each two share"


def _of_pairs(count: int, pairs: int) -> str:
    return f"all {pairs:,} pairs" if count == pairs else f"{count:,} of the {pairs:,} pairs"


def overview_front(found: Overview) -> list[str]:
    """What must be read before the answer: levels of columns that disagree with it, for each pair."""
    return levels_disagree(found.comparisons)


def levels_disagree(comparisons: Sequence[Comparison]) -> list[str]:
    """The columns whose levels disagree with an answer; of several pairs, of how many."""
    if len(comparisons) == 1:
        return in_front(comparisons[0])
    pairs = Counter(
        str(name)
        for one in comparisons
        for name in dict.fromkeys(note.values["column"] for note in one.notes if note.kind in FIRST)
    )
    return [
        f"The difference depends on {name} for {_of_pairs(count, len(comparisons))}: surefoot compare --by "
        f"{shlex.quote(name)} shows it."
        for name, count in pairs.items()
    ]


def reading(found: Overview) -> str:
    """How verdicts are read off drawn intervals."""
    if not found.margin:
        return "An interval that contains zero decides nothing."
    edge = _margin(found.comparisons[0].gain)
    return f"An interval decides if it lies wholly beyond the margin of {edge}, or wholly within it."


def overview_answer(found: Overview) -> tuple[str, ...]:
    """What the whole table says: about one policy, about two, or about many."""
    from surefoot.analysis.judge_corrections import label_lines
    from surefoot.analysis.rankings import leading_outlook

    best = found.policies[0]
    if not found.comparisons:
        return _alone(found), *_corrected(found)
    if len(found.comparisons) == 1:
        return *comparison_answer(found.comparisons[0]), *_corrected(found)
    known = [p for p in found.policies if p.of(found.measure) is not None]
    top = max(_level(p, found) for p in known)
    highest = [p.policy for p in known if _level(p, found) == top] if _level(best, found) == top else []
    first = standing(found.comparisons, about(found), [p.policy for p in known], highest)
    takes = leading_outlook(found.comparisons)
    labels = (*label_lines(found.comparisons), *_corrected(found))
    return *first, _family(found), *((takes,) if takes else ()), *_shared_notes(found), *labels


def standing(
    comparisons: Sequence[Comparison], about: str, names: Sequence[str], highest: Sequence[str], words: Words = USUAL
) -> tuple[str, ...]:
    """What is known of the policy that stands first, and of which units.

    Args:
        comparisons: Every pair.
        about: The units.
        names: The policies; the first is the one.
        highest: Those with the highest estimate, where that is to be said.
        words: What policies are called.
    """
    best = names[0]
    over = [_other(one, best) for one in comparisons if _wins(one, best)]
    under = [_other(one, best) for one in comparisons if _loses(one, best)]
    rest = [name for name in names[1:] if name not in (*over, *under)]
    first = sentences.standing(best, over, rest, under=under, highest=highest, words=words)
    return sentences.about_units(about, first[0]), *first[1:]


def chip(found: Overview) -> dict[str, str] | None:
    """The verdict in a word, and its kind; none where several are compared."""
    if len(found.comparisons) != 1:
        return None
    one = found.comparisons[0]
    return {"kind": one.verdict.value, "text": verdict_word(one)}


def _alone(found: Overview) -> str:
    only = found.policies[0].of(found.measure)
    name = found.policies[0].policy
    if only is None:
        return f"Nothing is known about {name}."
    what = "succeeds in" if found.measure == "success" else "scores"
    after = f" of {found.words.rollouts}" if found.measure == "success" else " on average"
    shown = f"{formatting.number(only.estimate, only.scale)} {formatting.span(only.low, only.high, only.scale)}"
    said = f"{name} {what} {shown}{after} (n={only.trials:,}, {formatting.percent(only.confidence)} confidence)."
    return sentences.about_units(about(found), said)


def _corrected(found: Overview) -> list[str]:
    """What human labels make of the judge's rates, beside the uncorrected ones."""
    if not found.corrections:
        return []
    shown = [
        f"{one.policy} {formatting.number(one.interval.estimate, one.interval.scale)} "
        f"{formatting.span(one.interval.low, one.interval.high, one.interval.scale)}"
        for one in found.corrections[:MOST_CORRECTED]
    ]
    more = "; ..." if len(found.corrections) > MOST_CORRECTED else ""
    return [f"Corrected for the judge's errors by human labels: {'; '.join(shown)}{more}."]


def _shared_notes(found: Overview) -> list[str]:
    """What must be known of several comparisons, said once with how many it touches."""
    told = ("no common task", "not corrected")
    counts = Counter(note for one in found.comparisons for note in one.notes if note.kind in told)
    return [f"{count:,} of the {len(found.comparisons):,} pairs: {note}" for note, count in counts.items()]


def _wins(one: Comparison, name: str) -> bool:
    return (one.first == name and one.verdict is Verdict.BETTER) or (
        one.second == name and one.verdict is Verdict.WORSE
    )


def _loses(one: Comparison, name: str) -> bool:
    return name in (one.first, one.second) and _wins(one, _other(one, name))


def _level(one: Measurement, found: Overview) -> float:
    level = one.of(found.measure)
    return -math.inf if level is None else level.estimate


def _other(one: Comparison, name: str) -> str:
    return one.second if one.first == name else one.first


def _margin(gain: Gain) -> str:
    return formatting.margin(gain.margin, gain.interval.scale)


def _family(found: Overview) -> str:
    within = f"Gains within {_margin(found.comparisons[0].gain)} do not matter. " if found.margin else ""
    return within + (
        f"All {len(found.comparisons):,} pairs were compared with one error for all of them: "
        f"{formatting.percent(found.confidence)} that all verdicts and intervals of gains hold."
    )
