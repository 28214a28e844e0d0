"""A joint gate as a reviewer sees it in a pull request, and as a machine that runs tests reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot.analysis.gates import ENDINGS, ORDER
from surefoot.core import sentences
from surefoot.core.formatting import p_value
from surefoot.reporting.reviews import case, code_span, inert, suite

if TYPE_CHECKING:
    from surefoot.analysis.gates import Gated, NeedFound

COUNTED = {"pass": "hold", "fail": "broken"}
"""What a number of needs is called, where it is not how they ended."""


def markdown(gated: Gated) -> str:
    """A comment for a pull request: what is broken, what is open and what it lacks, what holds."""
    counts = [f"{len(gated.of(ends))} {COUNTED.get(ends, ends)}" for ends in ORDER if gated.of(ends)]
    lines = [f"### Gate {sentences.GATE_WORDS[gated.code]}. {', '.join(counts)}", ""]
    lines += ["| | need | seen | p | |", "|---|---|---|---|---|"]
    for one in gated.found:
        mark = "**FAIL**" if one.ends == "fail" else one.ends
        cells = [mark, code_span(one.title, cell=True), inert(one.shown), _p(one), _lacks(one)]
        lines.append(f"| {' | '.join(cells)} |")
    if gated.gate.rule == "one better, none worse":
        lines += ["", f"Better: {inert('; '.join(gated.better) or 'none shown')}."]
    return "\n".join([*lines, "", f"<sub>{inert(gated.how)}</sub>", ""])


def junit(gated: Gated) -> str:
    """The gate as a test suite: every need is a test, which fails where it is broken or open."""
    codes = [ENDINGS.index(one.ends) if gated.code else 0 for one in gated.found]
    cases = [case(one.title, code, str(one), str(one)) for one, code in zip(gated.found, codes, strict=True)]
    return suite(cases, failures=sum(code in (1, 2) for code in codes), errors=sum(code == 3 for code in codes))


def _p(one: NeedFound) -> str:
    if one.ends == "not comparable":
        return ""
    broken = one.ends == "fail"
    shown = p_value(one.adjusted_p if broken else one.p_value).removeprefix("p = ").removeprefix("p ")
    return inert(f"{shown} (broken)" if broken else shown)


def _lacks(one: NeedFound) -> str:
    if one.ends != "open":
        return ""
    if one.depends_on:
        return inert(sentences.DEPENDS.format(column=one.depends_on))
    return (
        f"about {one.lacks:,} more {inert(one.unit)}" if one.lacks else f"no number of {one.words.rollouts} would tell"
    )
