"""What is the answer, in a sentence or two?

The only place that words a verdict about named policies. "Better" and "worse" are said when, and only when, the
declared rule gave that verdict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot.core import words
from surefoot.core.verdict import Verdict

if TYPE_CHECKING:
    from surefoot.analysis.comparisons import Comparison
    from surefoot.analysis.overviews import Overview

SHORT = {
    Verdict.BETTER: "better",
    Verdict.WORSE: "worse",
    Verdict.SAME: "the same, within the margin",
    Verdict.UNDECIDED: "cannot tell",
}


def verdict_sentence(first: str, second: str, verdict: Verdict, margin: str = "") -> str:
    """What was decided, in words: ``new is better than old``."""
    by = f" by more than {margin}" if margin else ""
    return {
        Verdict.BETTER: f"{first} is better than {second}{by}",
        Verdict.WORSE: f"{first} is worse than {second}{by}",
        Verdict.SAME: f"{first} and {second} are the same, within {margin or 'the margin'}",
        Verdict.UNDECIDED: f"Cannot tell whether {first} is better than {second}",
    }[verdict]


def comparison_answer(one: Comparison) -> tuple[str, ...]:
    """The verdict, and what stands behind it."""
    scale = one.interval.scale
    edge = words.number(one.gain.margin, scale).lstrip("+") + words.unit(scale) if one.gain.margin else ""
    shown = p_shown(one)
    gain = words.number(one.interval.estimate, scale) + words.unit(scale)
    behind = (
        f"Gain {gain} {words.span(one.interval.low, one.interval.high, scale)} at "
        f"{words.percent(one.interval.confidence)} confidence{shown}. {one.why}"
    )
    takes = (one.outlook,) if one.outlook else ()
    return f"{verdict_sentence(one.first, one.second, one.verdict, edge)}.", behind, *takes, *one.notes


def p_shown(one: Comparison) -> str:
    """The p-value as it follows an interval."""
    return "" if one.p_value is None else f", {words.p_value(one.p_value)}"


def overview_answer(found: Overview) -> tuple[str, ...]:
    """What the whole table says: about one policy, about two, or about many."""
    best = found.policies[0]
    if not found.comparisons:
        return (_alone(found),)
    if len(found.comparisons) == 1:
        return comparison_answer(found.comparisons[0])
    over = [_other(one, best.policy) for one in found.comparisons if _wins(one, best.policy)]
    rest = [p.policy for p in found.policies[1:] if p.policy not in over]
    if not rest:
        return f"{best.policy} is the best of {len(found.policies)}: better than each of the others.", _family(found)
    if not over:
        first = f"Cannot tell which of {len(found.policies)} policies is best; {best.policy} has the highest estimate."
        return first, _family(found)
    return (
        f"{best.policy} is better than {_listed(over)}; it cannot be told from {_listed(rest)}.",
        _family(found),
    )


def chip(found: Overview) -> tuple[str, str]:
    """The verdict in a word, and its kind."""
    if len(found.comparisons) == 1:
        verdict = found.comparisons[0].verdict
        return verdict.value, SHORT[verdict]
    return "", ""


def _alone(found: Overview) -> str:
    only = found.policies[0].of(found.measure)
    name = found.policies[0].policy
    if only is None:
        return f"Nothing is known of {name}."
    what = "succeeds in" if found.measure == "success" else "scores"
    after = " of rollouts on average" if found.measure == "success" else " on average"
    shown = f"{words.number(only.estimate, only.scale)} {words.span(only.low, only.high, only.scale)}"
    return f"{name} {what} {shown}{after} (n={only.trials:,}, {words.percent(only.confidence)} confidence)."


def _wins(one: Comparison, name: str) -> bool:
    return (one.first == name and one.verdict is Verdict.BETTER) or (
        one.second == name and one.verdict is Verdict.WORSE
    )


def _other(one: Comparison, name: str) -> str:
    return one.second if one.first == name else one.first


def _family(found: Overview) -> str:
    return (
        f"All {len(found.comparisons):,} pairs were compared with one error for all of them: "
        f"{words.percent(found.confidence)} that every statement here holds."
    )


def _listed(names: list[str], most: int = 6) -> str:
    shown = names if len(names) <= most else [*names[: most - 1], f"{len(names) - most + 1} others"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
