"""How is a decision said, so that no sentence says more than the declared rule decided?

Every sentence about a verdict is made here, from one template per verdict. Only the template of BETTER holds the word
"better", and only that of WORSE says that the first is worse; a test reads the templates to make sure.
"""

from __future__ import annotations

from surefoot.core import words
from surefoot.core.verdict import Verdict

SHORT = {
    Verdict.BETTER: "the first is better",
    Verdict.WORSE: "the first is worse",
    Verdict.SAME: "the two are the same",
    Verdict.UNDECIDED: "cannot tell",
}
"""The verdict in a few words, after an interval."""

DECIDED = {
    Verdict.BETTER: "{first} is better than {second}{beyond}: by at least {least}, at most {most}.",
    Verdict.WORSE: "{first} is worse than {second}{beyond}: by at least {least}, at most {most}.",
    Verdict.SAME: "{first} and {second} are the same, within {margin}.",
    Verdict.UNDECIDED: "Cannot tell: the gain may be anything from {low} to {high}{shown}.",
}
"""The verdict as a sentence; `beyond` and `margin` name the margin where there is one."""

NOT_WORSE = ", which is less than {margin} below"
"""Added to "cannot tell" where the first was shown not to fall below the second by as much as the margin."""


def sentence(
    verdict: Verdict,
    low: float,
    high: float,
    *,
    margin: float = 0.0,
    scale: words.Scale = "gain",
    first: str = "The first policy",
    second: str = "the second",
) -> str:
    """The verdict as one sentence, with the ends of the interval it rests on."""
    unit = words.unit(scale)
    edge = words.number(margin, scale).lstrip("+") + unit
    near, far = sorted((abs(low), abs(high)))
    return DECIDED[verdict].format(
        first=first,
        second=second,
        beyond=f" by more than {edge}" if margin else "",
        margin=edge,
        least=words.number(near, scale, "down").lstrip("+") + unit,
        most=words.number(far, scale, "up").lstrip("+") + unit,
        low=words.number(low, scale, "down"),
        high=words.number(high, scale, "up") + unit,
        shown=NOT_WORSE.format(margin=edge) if margin and low > -margin else "",
    )
