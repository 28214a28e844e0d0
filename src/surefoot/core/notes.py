"""What must a reader know besides a number? A value, from which a sentence is made.

Every kind of note and its sentence stand in this file, so that a note read back from JSON is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

from surefoot import _check
from surefoot.core import formatting, sentences
from surefoot.core.sentences import fill
from surefoot.core.verdict import Verdict
from surefoot.core.words import Worded, Words, plural

SENTENCES: dict[str, Callable[..., str]] = {}
"""The sentence of every kind of note; filled below."""
WORDED: set[str] = set()
"""The kinds whose sentence takes the nouns of the table too, as `words`."""


def says(kind: str, *, worded: bool = False) -> Callable[[Callable[..., str]], Callable[..., str]]:
    """Register how notes of a kind are said: a function of the note's values.

    Example:
        >>> from surefoot.core.notes import Note, says
        >>> @says("example")
        ... def _example(count: int) -> str:
        ...     return f"{count} of them."
        >>> print(Note("example", {"count": 3}))
        3 of them.
    """

    def register(sentence: Callable[..., str]) -> Callable[..., str]:
        SENTENCES[kind] = sentence
        WORDED.update({kind} if worded else ())
        return sentence

    return register


@dataclass(frozen=True, slots=True)
class Note(Worded):
    """One thing to know besides a number.

    Code asks for its kind and values; only people read the sentence.

    Attributes:
        kind: What it is about, a word.
        values: The numbers and names in it.
    """

    _made: ClassVar[str] = "says"
    kind: str
    values: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_earlier(cls, body: dict[str, Any]) -> dict[str, Any]:
        """A kind that an earlier version had is kept by its name and its sentence."""
        if body.get("kind") in SENTENCES or "says" not in body:
            return body
        return {"kind": "as told", "values": {"kind": body.get("kind"), "said": body["says"]}}

    def __post_init__(self) -> None:
        if self.kind not in SENTENCES:
            raise _check.refused("kind", f"be one of {', '.join(sorted(SENTENCES))}", self.kind)

    def __hash__(self) -> int:
        return hash((self.kind, tuple(sorted((key, repr(value)) for key, value in self.values.items()))))

    def __str__(self) -> str:
        files = self.values.get("files", ()) if self.tells_files else ()
        values = {name: value for name, value in self.values.items() if name != "files" or not self.tells_files}
        said = SENTENCES[self.kind](**values, **({"words": self.words} if self.kind in WORDED else {}))
        return f"{formatting.some_names(files)}: {said}" if files else said

    @property
    def tells_files(self) -> bool:
        """Whether it can name the files it is about, as its value `files`."""
        return self.kind in TELL_FILES

    def to_dict(self) -> dict[str, Any]:
        """The note as JSON-ready data, with its sentence for whoever has no surefoot to make it."""
        return {**Worded.to_dict(self), "says": str(self)}


Noted = str | Note
"""What the notes of a result hold; only notes whose kind no code asks for may be bare sentences."""

TELL_FILES = frozenset(("unused columns",))

PLAIN = {
    "environments not told": "Nothing in the table tells {words.environments} apart, so this is assumed: declare it "
    "with `collected`.",
    "labels weigh items": "Human labels correct the gain in which items weigh alike, not the one in which settings do: "
    "leave out `weights`.",
    "labels without items": "Human labels correct a gain item by item, and no column tells the items apart: say which "
    "is the `condition` (item, question, scene).",
    "labels on another scale": "The labels are 0 or 1, the scores {low:g} to {high:g}: label on the scale of the "
    "scores, or use success.",
    "labels of one cluster": "All labelled items are of one {called}: nothing tells how such groups differ. Label "
    "items of others too.",
    "of one cluster": "All are of one {called}: nothing tells how such groups differ, and this answer is for this one.",
    "labels not used": "{count:labels} of items that only one of the two has labels for: not used.",
    "labels missing": "Surefoot drew {drawn:items}, of which {missing:,} lack labels: declared to be left out at "
    "random.",
    "labels drawn": "Surefoot drew the {drawn:items} at random (seed {seed}).",
    "labels declared random": "The labelled items are declared to be drawn at random; surefoot did not draw them.",
    "no common task": "The two share no {words.task}: this gain is one between {words.tasks} as much as between "
    "{words.policies}.",
    "no partner": "{count:rollouts} had no partner and {count:was} left out.",
    "no outcome": "{count:rollouts} {count:has} no known {measure} and {count:was} left out.",
    "without a task": "Left out, because they name no {words.task}: {count:rollouts}.",
    "few rollouts a task": "Some {words.task} has only {count:rollouts} of {words.a_policy}. The interval holds, but "
    "it is wide; 10 or more on every {words.task} make it much narrower.",
    "declared pairs": "Nothing in the table tells which {words.rollouts} share {words.an_environment}: the n-th of "
    "both on each {words.task} are paired as you say, which is right only if both met the same starts in the same "
    "order.",
    "as told": "{said}",
    "about": "For {subject}.",
    "two ways": "{unit!r} and {cluster!r} are crossed, and {count:,} of one way count: for others like both, hardly "
    "any gain can be shown. If only one of them is a sample, say --setting for the other.",
    "sizes differ": "The {words.policies} were run unequally often. If how often was decided by looking at results, "
    "these statements do not hold: run a race (`surefoot plan race`).",
    "outcomes missing": "{count:rollouts} {count:has} no known {measure} and {count:was} left out. If that hangs on "
    "how they went, these statements do not hold.",
    "could stop by looking": "These {words.rollouts} are of a study that decided by looking who runs on and when to "
    "stop. Statements for sizes fixed beforehand do not hold for them; the study's own verdict does.",
    "capped": "Scores above {limit:g} count as {limit:g}.",
    "met unevenly": "{column!r} was met in unequal shares: the verdict must hold pooled and within it. Say "
    "--setting {column} or --ignore {column}.",
    "cluster dominates": "One cluster holds {share:.0%} of the {words.rollouts}.",
    "clusters not met decide": "Clusters that fail whole and were not met decide the width: more clusters, not more "
    "tries, would narrow it.",
    "not corrected": "Outcomes here are the judge's own: neither this gain nor its verdict is corrected for the "
    "judge's errors by the human labels.",
    "raw_verdict": "A verdict that comes early tends to overstate the observed gain.",
    "pooled the other way": "Pooled over {words.tasks} the gain is {gain:gain} points, the other way: {words.tasks} "
    "were run in unequal shares (Simpson).",
    "pooled verdict": "Pooled over {words.tasks} the gain is {gain:gain} points and the verdict '{pooled}', not "
    "'{within}': trust the {words.tasks}.",
    "scores drift": "Made in recorded order, the interval did not contain the observed mean: the scores drift, or "
    "the confidence is low. It was widened to contain it.",
    "gains drift": "Made in the order of the pairs, the interval did not contain the observed gain: the gains drift. "
    "It was widened to contain it.",
    "follows from others": "The verdict follows from others; the gain observed between these two, {observed}, "
    "is on the other side of 0.",
    "barely excludes zero": "The end at 0 is not in the interval: the verdict excludes 0.",
    "interval_family": "The intervals of all {pairs:,} pairs hold together at {confidence:percent}, apart from the "
    "claims of the ranking, which have an error of their own.",
    "each_end": "Each end alone holds at {confidence:percent}.",
    "gain by stakes": "The estimate weighs pairs as the rule does; without weights the gain is "
    "{observed:score gain}, which points the other way.",
    "ranking rule": "Verdict: {rule}, read after every round, {rounds:rounds} at most.",
    "ranking promise": "The chance of any wrong statement about who is better, over all looks, is at most "
    "{error:percent up}.",
    "halving promise": "The number of the one picked is from fresh {words.rollouts}: its bound holds with "
    "{confidence:percent}. That it is the best is not claimed.",
    "race promise": "With {confidence:percent}, at all moments together: no best {words.policy} is put out{near}.",
    "items not looked at": "The first {run:,} items decided it: {more:,} more are recorded, and were not looked at.",
    "collected as declared": "Declared.",
    "met by several": "{several:,} of {environments:,} {words.environments} ({by}) were met by several "
    "{words.policies}.",
    "files pooled": "{policy!r} is in {files:,} files on the same {words.tasks}: they are taken as one run.",
    "blank rows": "Left out, blank: {lines:lines}.",
    "header again": "Left out, the header once more: {lines:lines}.",
    "unit row": "Left out, units and no {words.rollout}: {lines:lines} ({units:quoted}).",
    "total rows": "Left out, totals and no {words.rollouts}: {lines:lines} ({names:quoted}).",
    "stray marks": "Read without a stray {mark!r}: {lines:lines}.",
    "apostrophes": "An apostrophe before a number, as spreadsheets mark text, is left out: {columns:quoted}.",
    "hidden rows": "Hidden in the sheet, and read like the others: {lines:lines}.",
    "merged cells": "A merged cell's value is read in every row that it spans: {lines:lines}.",
    "models by items": "Each row is {words.a_policy}, named in {column!r}, and {items:,} columns are items; the cells "
    "are {kind}, and {empty:,} empty ones were not run.",
    "unused columns": "Not used: {columns:quoted}.",
    "sound like results": "By name a result of the {words.rollout}, without a part in the answer: {columns:quoted}. If "
    "one was set beforehand, say --setting.",
    "results not sliced": "Not looked at, by name a result of the {words.rollout}: {columns:quoted}. If one was set "
    "beforehand, name the columns: --by.",
    "partners differ": "Not looked at, for partners differ in it and what was set beforehand cannot: {columns:quoted}.",
    "slices left out": "{count:,} pairs of levels with the fewest {words.rollouts} are left out: at most 300 slices "
    "are looked at.",
    "uneven partners": "Some {unit} was met more often by one of the two: for the test as many of its {words.rollouts} "
    "as the other has are drawn, with a fixed seed.",
    "result is unit": "{column!r} sounds like a result of the {words.rollout}; by the shape of the table it is the "
    "unit. If the {words.rollout} caused it, say --ignore {column}.",
    "met unequally": "{column!r} has no part in the answer: it was met in unequal shares. If each {words.policy} was "
    "to meet it, say --unit {column}; if not, --ignore {column}.",
    "parts by name": "By its name {column!r}, of one level in each file, is what was met: parts of one run. If they "
    "are two runs, say --ignore {column}.",
    "runs unless met": "{column!r} has one level in each file. If it is what was met, say --unit {column}: parts of "
    "one run.",
    "counted runs": "{column!r} counts, and its name says trainings: what a whole training shares counts. If it counts "
    "tries, say --repeat {column}.",
    "counter meets": "{column!r} counts; by its name, its number 7 is the same start for every {words.policy}. If it "
    "is not, say --repeat {column}.",
    "not paired by counter": "Not paired: {column!r} counts. If its number 7 is the same start for every "
    "{words.policy}, say --unit {column}.",
}
"""The notes whose sentence only has places for values."""


SENTENCES.update({kind: partial(fill, sentence) for kind, sentence in PLAIN.items()})
WORDED.update(PLAIN)


@says("labels of one policy")
def _labels_one_policy(
    policy: str,
    other: str,
    scale: formatting.Scale,
    said: float | None = None,
    off: float | None = None,
    estimate: float | None = None,
    low: float | None = None,
    high: float | None = None,
) -> str:
    tells = f"Only {policy} carries human labels: its gain over {other} is not known."
    if estimate is None or low is None or high is None:
        return tells
    tells += f" By the labels {policy} is at {formatting.estimate(estimate, low, high, scale)}."
    if said is None or off is None:
        return tells
    gap: formatting.Scale = "gain" if scale == "rate" else "score gain"
    return (
        f"{tells} The judge puts {other} at {formatting.number(said, scale)}; the two are equal if that is "
        f"{formatting.number(abs(off), gap).lstrip('+')}{formatting.unit(gap)} too {'high' if off > 0 else 'low'}. "
        f"Label the same items of {other}."
    )


@says("labels of different items")
def _labels_unpaired(first: str, second: str, both: int) -> str:
    items = "no item" if not both else "only one item"
    return f"{items.capitalize()} carries labels of both {first} and {second}: label both on the same items."


@says("labels unlike the rest")
def _labels_differ(about: str, z: float) -> str:
    what = "its gain" if about == "gain" else "its scores"
    return (
        f"The labelled items differ from the rest in what the judge said of them ({what}, {abs(z):.1f} standard errors "
        "apart): they do not look drawn at random. Let surefoot labels draw choose them."
    )


@says("labels used")
def _labels_used(labels: int, items: int, of: int, alike: int | None = None) -> str:
    agrees = "" if alike is None or not of else f"; the judge agrees on {100 * alike / of:.0f}% of the {of:,} labels"
    return f"{labels:,} of {formatting.counted(items, 'item')} labelled by people for both{agrees}."


@says("judge used")
def _judge_bought(share: float, trust: float) -> str:
    narrower = f"{100 * share:.0f}% narrower" if share >= 0.005 else "no narrower"
    return (
        "Approximate; measured coverage at least 93.5% at a confidence of 95%. The judge makes the interval "
        f"{narrower} than the same labels without it (trusted {trust:.2f})."
    )


@says("judge left out")
def _judge_left_out(why: str, guaranteed: bool) -> str:
    reasons = {
        "asked": "as asked",
        "few labels": "below 30 labels the judge does not help",
        "all labelled": "everything is labelled",
        "no better than chance": "these labels do not show that the judge helps",
        "large gain": "beyond half the range the judge's correction was not measured",
    }
    return f"Labels alone ({'guaranteed' if guaranteed else 'approximate, by documents'}): {reasons[why]}."


@says("several raters", worded=True)
def _raters(raters: int, twice: int, alike: int, words: Words, kappa: float | None = None) -> str:
    beyond = "" if kappa is None else f" (kappa {kappa:.2f})"
    return (
        f"{raters:,} people labelled, {formatting.rollouts(twice, words)} by more than one of them, "
        f"{100 * alike / twice:.0f}% of those alike{beyond}; labels of one {words.rollout} are averaged."
    )


# What comparisons of tables say


def _level(one: Sequence[Any], scale: formatting.Scale) -> str:
    level, gain, low, high = one[:4]
    return f"{level} {formatting.estimate(gain, low, high, scale)}"


@says("depends on")
def _depends_on(column: str, levels: Sequence[Sequence[Any]], scale: formatting.Scale = "gain", **_: Any) -> str:
    ways = {
        word: [_level(one, scale) for one in levels if one[4] and (one[1] > 0.0) is better]
        for word, better in (("worse", False), ("better", True))
    }
    rest = [_level(one, scale) for one in levels if not one[4]]
    said = [f"{word} on {', '.join(named)}" for word, named in ways.items() if named]
    said += [f"not shown on {', '.join(rest)}"] if rest else []
    return f"The difference depends on {column}: {'; '.join(said)}."


@says("gain differs")
def _gain_differs(
    column: str, levels: Sequence[Sequence[Any]], p: float, scale: formatting.Scale = "gain", **_: Any
) -> str:
    shown = ", ".join(_level(one, scale) for one in levels)
    return f"The gain differs between levels of {column} ({formatting.p_value(min(1.0, p))}): {shown}."


@says("levels disagree")
def _levels_disagree(column: str, levels: Sequence[Sequence[Any]], scale: formatting.Scale = "gain", **_: Any) -> str:
    shown = ", ".join(f"{'better' if one[1] > 0.0 else 'worse'} on {_level(one, scale)}" for one in levels if one[4])
    return f"By {column}: {shown}."


@says("micro and macro")
def _micro_and_macro(
    unit: str,
    setting: str,
    levels: int,
    micro: Sequence[float],
    macro: Sequence[float],
    scale: formatting.Scale,
) -> str:
    one, other = (formatting.estimate(value, low, high, scale) for value, low, high in (micro, macro))
    return f"Every {unit} weighs the same: {one}; every one of the {levels:,} levels of {setting} does: {other}."


@says("units vary more")
def _units_vary_more(units: str, tries: str) -> str:
    again = _tries(tries)
    return f"{units.capitalize()} vary more than {again}: more {units} would help, more {again} would not."


def _tries(column: str) -> str:
    """What tries are called after the column that counts them: ``trials``, or tries where it is no word for them."""
    word = column.lower().replace("_", " ")
    return plural(word) if word.isalpha() and len(word) > 2 and word not in ("order", "index") else "tries"


@says("tries vary more")
def _tries_vary_more(units: str, tries: str) -> str:
    again = _tries(tries)
    return f"{again.capitalize()} vary more than {units}: more {units} or more {again} would help."


@says("several counters")
def _several_counters(unit: str, units: int, repeats: Sequence[str], named: bool) -> str:
    why = "by its name" if named else "it has the most levels"
    also = " and ".join(repeats)
    return (
        f"{unit!r} ({units:,}) and {also} count: {unit!r} is the unit ({why}), the others count tries. Or say --unit."
    )


@says("of files")
def _of_files(files: Sequence[str], said: Sequence[str]) -> str:
    return f"{formatting.some_names(files, most=2)}: {' '.join(said)}"


def _clusters_named(clusters: Sequence[int]) -> str:
    return f"{' and '.join(f'{count:,}' for count in clusters)} clusters"


@says("clusters counted")
def _clusters_counted(clusters: Sequence[int], counted: float, crossed: int = 0) -> str:
    also = f" crossed with {crossed:,}" if crossed else ""
    fewer = ", the fewer" if len(clusters) > 1 else ","
    return f"{_clusters_named(clusters)}{also}{fewer} counted as {formatting.rounded(counted, 1, 'down'):.1f}."


@says("too few clusters")
def _too_few_clusters(clusters: Sequence[int]) -> str:
    return f"{_clusters_named(clusters)} cannot decide any gain at this level."


@says("after_stop")
def _after_stop(*, certified: bool) -> str:
    proof = "" if certified else " Not yet certified: its ends were found on a grid."
    return f"The interval holds for a run that stopped where its rule says, as this one did.{proof}"


def _early(tends: str, too: str, observed: float, scale: formatting.Scale, allowed: bool = True) -> str:
    raw = formatting.number(observed, scale) + formatting.unit(scale)
    so = "allows for that" if allowed else f"is the same, and may be too {too}"
    return f"{tends} the gain: {raw} observed. The estimate {so}."


SENTENCES["early_verdict"] = partial(_early, "A verdict that comes early tends to overstate", "large")
SENTENCES["early_end"] = partial(_early, "A stop without a verdict tends to understate", "small")


@says("by the judge")
def _by_the_judge(estimate: float, low: float, high: float, scale: formatting.Scale, p: float | None = None) -> str:
    sure = "" if p is None else f", {formatting.p_value(p)}"
    return f"By the judge alone, not corrected: {formatting.estimate(estimate, low, high, scale)}{sure}."


@says("labels needed")
def _labels_needed(items: int, low: int | None = None, high: int | None = None) -> str:
    if low is None or high is None:
        return (
            f"More labels of these {items:,} items would hardly decide a gain like the one seen: more items are needed."
        )
    return (
        f"About {low:,} to {high:,} labelled items of {items:,} would decide a gain like the one seen, in most cases."
    )


@says("of_the_list", worded=True)
def _of_the_list(environments: int, run: int, words: Words) -> str:
    if run == environments:
        return f"All {formatting.environments(environments, words)} of the list were run: the gain on them is known."
    return (
        f"It is about the {formatting.environments(environments, words)} of the list itself, of which {run:,} were run."
    )


# What is said of a list that was declared beforehand


@says("of these items")
def _of_these_items(items: int, run: int) -> str:
    if run == items:
        return f"All {items:,} items were run: this is what the list shows. It says nothing about other items."
    return f"About these {items:,} items, of which {run:,} were run. It says nothing about other items."


@says("verdict on these items")
def _verdict_on_these_items(
    first: str, verdict: str, claim: str, items: int, run: int, confidence: float, margin: float = 0.0
) -> str:
    if verdict != Verdict.UNDECIDED:
        found = sentences.shown(Verdict(verdict), claim, margin, first)
    elif run < items:
        found = f"nothing is decided about {first} yet"
    else:
        by = f" by more than {margin:g}" if margin else ""
        found = f"{first} is neither better nor worse{by}" if claim == "either" else f"nothing is shown about {first}"
    error = formatting.percent(1.0 - confidence, "up")
    how = "all run" if run == items else f"{run:,} run; error {error} for what a complete run would show"
    return f"On these {items:,} items {found} ({how}). It says nothing about other items."


@says("verdict on items like these")
def _verdict_on_items_like_these(first: str, verdict: str, claim: str, confidence: float, margin: float = 0.0) -> str:
    where = "On items like these, if the list is a random draw of them,"
    if verdict == Verdict.UNDECIDED:
        return f"{where} nothing is decided yet."
    found = sentences.shown(Verdict(verdict), claim, margin, first)
    return f"{where} {found} too (error {formatting.percent(1.0 - confidence, 'up')})."


@says("declared list")
def _declared_list(items: int, digest: str, order: str, predictions: str = "") -> str:
    listed, drawn = f"The list of {items:,} items (SHA-256 {digest[:16]})", f"random order (SHA-256 {order[:16]})"
    helped = f", and predictions of all of them (SHA-256 {predictions[:16]})" if predictions else ""
    return f"{listed} and its {drawn}{helped} were fixed before the first outcome."


# What the rule of a study is, and what it promises


@says("pairs rule")
def _pairs_rule(rule: str, pairs: int, once: bool) -> str:
    many = formatting.counted(pairs, "pair")
    return (
        f"Verdict: the {rule} rule, {f'read once, after {many}' if once else f'read after every pair, {many} at most'}."
    )


@says("promise either way")
def _promise_either_way(error: float, once: bool) -> str:
    looks = "" if once else ", over all looks together,"
    wrong, half = formatting.percent(error, "up"), formatting.percent(error / 2.0, "up")
    return f"The chance of a wrong verdict{looks} is at most {wrong}: {half} in each direction."


@says("promise of a claim")
def _promise_of_a_claim(first: str, second: str, margin: float, error: float, once: bool) -> str:
    looks = "" if once else ", over all looks together,"
    beyond = f" by more than the margin of {margin:g}" if margin else ""
    chance = formatting.percent(error, "up")
    return (
        f"If {first} is not better than {second}{beyond}, the chance that it is called so{looks} is at most {chance}."
    )


@says("predictions")
def _predictions(explained: float, saved: int) -> str:
    if saved < 1:
        return "The predictions do not explain the scores: they cost a little and change no guarantee."
    items = formatting.counted(saved, "item")
    return f"The predictions explain {100.0 * explained:.0f}% of the scores' variance and save about {items}."
