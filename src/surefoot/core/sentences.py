"""Sentences about verdicts.

Every sentence about a verdict is made here, from one template per verdict. Only the template of BETTER says that the
first is better, and only that of WORSE that it is worse; a test reads the templates to make sure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from string import Formatter
from typing import TYPE_CHECKING, Any

from surefoot.core import formatting
from surefoot.core.verdict import Verdict
from surefoot.core.words import USUAL, Words

if TYPE_CHECKING:
    from surefoot.core.interval import Interval

SHORT = {
    Verdict.BETTER: "the first is better",
    Verdict.WORSE: "the first is worse",
    Verdict.SAME: "the two are the same",
    Verdict.UNDECIDED: "cannot tell",
}
"""The verdict in a few words, after an interval."""

CELL = {
    Verdict.BETTER: "better",
    Verdict.WORSE: "worse",
    Verdict.SAME: "the same, within the margin",
    Verdict.UNDECIDED: "cannot tell",
}
"""The verdict in a table, where the row names the policies."""

NAMED = {
    Verdict.BETTER: "{first} is better than {second}{beyond}.",
    Verdict.WORSE: "{first} is worse than {second}{beyond}.",
    Verdict.SAME: "{first} and {second} are the same, within {margin}.",
    Verdict.UNDECIDED: "Cannot tell whether {first} is better than {second}.",
}
"""The verdict as a headline, without the interval."""

OF_ALL = {
    Verdict.BETTER: "{first} is better than each of the others.",
    Verdict.WORSE: "{first} is worse than at least one of the others.",
    Verdict.SAME: "{first} is the same as the others, within the margin.",
    Verdict.UNDECIDED: "Cannot tell whether {first} is the best.",
}
"""The verdict on one policy among several."""

DECIDED = {
    Verdict.BETTER: "{first} is better than {second}{beyond}: by at least {least}, at most {most}.",
    Verdict.WORSE: "{first} is worse than {second}{beyond}: by at least {least}, at most {most}.",
    Verdict.SAME: "{first} and {second} are the same, within {margin}.",
    Verdict.UNDECIDED: "Cannot tell: the gain may be anything from {low} to {high}{shown}.",
}
"""The verdict as a sentence; `beyond` and `margin` name the margin where there is one."""

ANSWER = {
    Verdict.BETTER: "{first} is better{beyond}",
    Verdict.WORSE: "{first} is worse{beyond}",
    Verdict.SAME: "{first} and {second} are the same, within {margin}",
    Verdict.UNDECIDED: "cannot tell",
}
"""The verdict after what it is about: ``For these 4 scenes: ...``."""

DEPENDS = "depends on {column}"
"""The verdict where the first is shown better on some levels of a column and worse on others."""

NAMED_DEPENDS = "whether {first} is better than {second} depends on {column}."
"""The same as a headline."""

LOWER_IS_BETTER = "lower is better"
"""Beside a gain that counts how much less the first has."""

NO_WORSE = "{first} is not worse by as much as {margin}"
"""The same where only that was shown."""

GATE_WORDS = {0: "passed", 1: "failed", 2: "cannot tell", 3: "not comparable"}
"""How a gate ends, in a word, by its exit code."""

GATE = {
    0: "Gate: passed, better or not worse than the margin (exit code 0).",
    1: "Gate: failed, worse (exit code 1).",
    2: "Gate: cannot tell (exit code 2).",
}
"""The same as a sentence, of what can be compared."""

BEHIND = "Significantly worse, possibly by less than the margin."
"""Added to a gate that cannot tell where the first was shown to fall behind."""

NOT_WORSE = "; it was shown not to fall behind by as much as {margin}"
"""Added to "cannot tell" where the first was shown not to fall below the second by as much as the margin."""


HOLDS = {
    "anytime": "an anytime interval, which holds whenever you look",
    "final": "a final interval: the run stopped as its rule says",
    "final, not certified": "a final interval, not yet certified",
    "fixed size": "after a number of pairs fixed beforehand",
}
"""When an interval of the gain holds, by its kind."""


def still_possible(
    low: float, high: float, *, width: float = 1.0, scale: formatting.Scale, confidence: float, kind: str
) -> str:
    """What may still be true: the gains that are left; `width` is the largest gain there can be.

    Example:
        >>> from surefoot.core.sentences import still_possible
        >>> still_possible(-0.2, 0.25, scale="gain", confidence=0.95, kind="final").split("; ")[0]
        'The true gain may be anything from -20.0 to +25.0 points'
    """
    unit = formatting.unit(scale)
    least, most = formatting.number(low, scale, "down"), formatting.number(high, scale, "up")
    if low <= -width and high >= width:
        return f"No gain is ruled out yet ({HOLDS[kind]})."
    if high >= width:
        left, others = f"{least}{unit} or more", "smaller ones"
    elif low <= -width:
        left, others = f"{most}{unit} or less", "larger ones"
    else:
        left, others = f"anything from {least} to {most}{unit}", "all others"
    held = f"at {formatting.percent(confidence)} confidence ({HOLDS[kind]})"
    return f"The true gain may be {left}; {others} are ruled out {held}."


def sentence(
    verdict: Verdict,
    low: float,
    high: float,
    *,
    margin: float = 0.0,
    scale: formatting.Scale = "gain",
    first: str = "",
    second: str = "the second",
) -> str:
    """The verdict as one sentence, with the ends of the interval it rests on."""
    unit = formatting.unit(scale)
    edge = formatting.margin(margin, scale)
    near, far = sorted((abs(low), abs(high)))
    return DECIDED[verdict].format(
        first=first or "The first policy",
        second=second,
        beyond=f" by more than {edge}" if margin else "",
        margin=edge,
        least=formatting.number(near, scale, "down").lstrip("+") + unit,
        most=formatting.number(far, scale, "up").lstrip("+") + unit,
        low=formatting.number(low, scale, "down"),
        high=formatting.number(high, scale, "up") + unit,
        shown=NOT_WORSE.format(margin=edge) if margin and low > -margin else "",
    )


def headline(verdict: Verdict, first: str, second: str, *, margin: str = "", about: str = "") -> str:
    """The verdict on two named policies; `margin` as it is shown, where there is one, after what it is `about`."""
    return about_units(about, _named(NAMED, verdict, first, second, margin))


def about_units(about: str, sentence: str) -> str:
    """A verdict as a sentence after what it is about.

    Example:
        >>> from surefoot.core.sentences import about_units
        >>> about_units("these 4 scenes", "Cannot tell whether new is better than old.")
        'For these 4 scenes: cannot tell whether new is better than old.'
    """
    if not about:
        return sentence
    lower = sentence.startswith(("Cannot tell", "No "))  # other sentences begin with a name
    return f"For {about}: {sentence[0].lower() if lower else sentence[0]}{sentence[1:]}"


def answer(verdict: Verdict, first: str, second: str, *, margin: str = "") -> str:
    """The same as part of a sentence that says before what it is about.

    Example:
        >>> from surefoot.core.sentences import answer
        >>> from surefoot import Verdict
        >>> answer(Verdict.SAME, "new", "old", margin="5.0 points")
        'new and old are the same, within 5.0 points'
    """
    return _named(ANSWER, verdict, first, second, margin)


def first_line(verdict: str, difference: str, gain: Interval, p: float | None) -> str:
    """The first line of a comparison: what it is about with the verdict, then the gain, its interval and p-value.

    Args:
        verdict: As `answer` gives it, after what it is about.
        difference: What is subtracted from what.
        gain: The gain with its interval.
        p: Its p-value.
    """
    size, _, ends = formatting.estimate(gain.estimate, gain.low, gain.high, gain.scale).rpartition(" [")
    beside = f", {formatting.p_value(p)}" if p is not None else ""
    return f"{verdict}. {difference} = {size}, {formatting.percent(gain.confidence)} interval [{ends}{beside}."


def _named(templates: Mapping[Verdict, str], verdict: Verdict, first: str, second: str, margin: str) -> str:
    beyond = f" by more than {margin}" if margin else ""
    return templates[verdict].format(first=first, second=second, beyond=beyond, margin=margin or "the margin")


def standing(
    best: str,
    over: Sequence[str],
    rest: Sequence[str],
    *,
    under: Sequence[str] = (),
    highest: Sequence[str] = (),
    words: Words = USUAL,
) -> tuple[str, ...]:
    """What is known of the policy that stands first: over which others it was shown better, and the rest.

    Args:
        best: The policy.
        over: Those that it was shown better than.
        rest: Those that it was not told from.
        under: Those that it was shown worse than: verdicts in a circle, each pair on tasks of its own.
        highest: Those that have the highest estimate: one, or several that are tied.
        words: What policies and tasks are called.
    """
    others = len(over) + len(rest)
    below, beside = f"Shown worse: {listed(over)}.", f"No difference was shown from: {listed(rest)}."
    if under:
        circle = (
            f"{best} is better than {listed(over)} and worse than {listed(under)}, on the {words.tasks} "
            "that they share."
        )
        return f"No {words.policy} stands first: {circle}", *((beside,) if over and rest else ())
    if not rest:
        return (OF_ALL[Verdict.BETTER].format(first=best),)
    if not over:
        first = f"Cannot tell which of {formatting.policies(others + 1, words)} is best"
        if len(highest) > 1:
            return (f"{first}; {tie(highest)}",)
        return (f"{first}; {highest[0]} has the highest estimate." if highest else f"{first}.",)
    if len(over) <= 2 and len(rest) <= 2:
        return (f"{best} is better than {listed(over)}; no difference was shown from {listed(rest)}.",)
    rests = f"the other {len(rest)}" if len(rest) > 1 else rest[0]
    first = f"{best} is better than {len(over)} of the {others} others; no difference was shown from {rests}."
    return first, below, *((beside,) if len(rest) > 1 else ())


def tie(names: Sequence[str]) -> str:
    """Several share the highest estimate."""
    return f"{listed(names)} are tied for the highest estimate."


def rows_hold(confidence: float, *, own: bool = False) -> str:
    """What the intervals of several rows hold."""
    level = formatting.percent(confidence)
    return f"Intervals: {level} for each row by itself." if own else f"Intervals: {level} for all rows together."


def claimed(claim: str, margin: float, first: str = "") -> str:
    """What a rule may show, as a clause."""
    first = first or "the first policy"
    by = f" by more than {margin:g}" if margin else ""
    return {
        "first better": f"{first} is better{by}",
        "first not worse": f"{first} is not worse{by}",
        "either": f"one policy is better{by}",
        "same": f"the policies differ by less than {margin:g}",
    }[claim]


def shown(verdict: Verdict, claim: str, margin: float, first: str = "") -> str:
    """What a rule that made this claim has shown, as a clause."""
    if verdict is Verdict.WORSE:
        return f"{first or 'the first policy'} is worse{f' by more than {margin:g}' if margin else ''}"
    return claimed("first better" if claim == "either" and verdict is Verdict.BETTER else claim, margin, first)


def listed(names: Sequence[str], most: int = 12) -> str:
    """``a, b and c``, or ``none``; a long list is cut short and says by how many."""
    if not names:
        return "none"
    shown = list(names) if len(names) <= most else [*names[: most - 1], f"{len(names) - most + 1} others"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


SHOWN: dict[str, Callable[[Any], str]] = {
    "items": partial(formatting.counted, noun="item"),
    "labels": partial(formatting.counted, noun="label"),
    "rounds": partial(formatting.counted, noun="round"),
    "was": lambda count: "was" if count == 1 else "were",
    "has": lambda count: "has" if count == 1 else "have",
    "quoted": lambda names: formatting.some_names([repr(name) for name in names], 12),
    "lines": formatting.lines,
    "percent": formatting.percent,
    "percent up": partial(formatting.percent, toward="up"),
    "gain": partial(formatting.number, scale="gain"),
    "score gain": partial(formatting.number, scale="score gain"),
}
"""How a value is shown in a sentence, by what stands after the colon: ``{count:rollouts}``."""


class _Places(Formatter):
    """What fills the places of a sentence: as Python's own does, by the words of `SHOWN`, and by nouns."""

    def __init__(self, words: Words) -> None:
        """The nouns of the sentence."""
        self._words = words

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec == "rollouts":
            return formatting.rollouts(value, self._words)
        return SHOWN[format_spec](value) if format_spec in SHOWN else format(value, format_spec)


def fill(sentence: str, /, *, words: Words = USUAL, **values: Any) -> str:
    """A sentence with its places filled, those for values and those for words: ``{words.rollouts}``."""
    return _Places(words).vformat(sentence, (), {**values, "words": words})
