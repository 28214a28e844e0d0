"""Comparisons and gates for reviewers of a change, and for machines that run tests.

Names come from files that anyone may have written: in Markdown they stand in code spans or are escaped, in XML they are
escaped, so that nothing in them is rendered, linked, notified or executed.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from surefoot.core import sentences
from surefoot.core.assumptions import holds_if
from surefoot.core.formatting import counted, number, p_value, percent, span, unit, visible
from surefoot.core.gain import Gain
from surefoot.core.interval import Interval
from surefoot.core.sentences import fill
from surefoot.reporting import answers

if TYPE_CHECKING:
    from surefoot.analysis.changes import Flips
    from surefoot.analysis.comparisons import Comparison, OtherTarget
    from surefoot.analysis.gates import Gated, NeedFound
    from surefoot.table.findings import Finding


NO_TASK = (
    "{first} and {second} share no {words.task}: the gain only describes the data, and no gate passes. Run both on "
    "the same "
    "{words.tasks}."
)
NO_VERDICT = "No verdict: the human labels do not allow one."
LISTED, MOST_TASKS = 8, 12
SHORT_ITEMS = 10
LONGEST = 80
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot hold, escaped or not."""


@dataclass(frozen=True, slots=True)
class Judged:
    """How a gate ended.

    Attributes:
        code: The exit code: 0 passed, 1 failed, 2 cannot tell, 3 not comparable.
        says: Why, in a sentence.
        codes: The code of each comparison; empty where they could not be judged one by one.
    """

    code: int
    says: str
    codes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Review:
    """Comparisons as a reviewer sees them.

    Attributes:
        found: The comparisons.
        flipped: The items that differ, for each of them; None where rollouts are not paired.
        tasks: The same comparison task by task, where one comparison spans several.
        findings: What can make the conclusion wrong.
        gate: How the gate ended; None without one.
    """

    found: tuple[Comparison, ...]
    flipped: tuple[Flips | None, ...] = ()
    tasks: tuple[Comparison, ...] = ()
    findings: tuple[Finding, ...] = ()
    gate: Judged | None = None

    def markdown(self) -> str:
        """A comment for a pull request."""
        lines = [*self._one(self.found[0])] if len(self.found) == 1 else self._several()
        for finding in self.findings:
            lines += ["", f"> **{inert(finding.about)}**: {inert(finding.says)} {inert(finding.remedy)}"]
        alone = len(self.found) == 1
        parts = [part for one in self.found for part in (one.why if alone else one.how, holds_if(one.gain.assumptions))]
        how = " ".join(dict.fromkeys(parts))
        return "\n".join([*lines, "", f"<sub>{inert(how)}</sub>", ""])

    def junit(self) -> str:
        """The gate as a test suite: a comparison is a test, which fails where the gate does."""
        gate = self.gate or Judged(0, "")
        codes = gate.codes or (gate.code,) * len(self.found)
        cases = [case(_title(one), code, _words(one), gate.says) for one, code in zip(self.found, codes, strict=True)]
        return suite(cases, failures=sum(code in (1, 2) for code in codes), errors=sum(code == 3 for code in codes))

    def short(self) -> list[dict[str, Any]]:
        """Each comparison in a few numbers and sentences, without the data behind it."""
        flipped = self.flipped or (None,) * len(self.found)
        return [_short(one, flips) for one, flips in zip(self.found, flipped, strict=True)]

    def _one(self, one: Comparison) -> list[str]:
        answer = sentence_of(one, code_span(one.first), code_span(one.second))
        about = inert(str(one.about)) if one.comparable else ""
        lines = [f"### {self._badge()}{sentences.about_units(about, answer)}", ""]
        for line in (*answers.in_front(one), *filter(None, (answers.other_answer(one),))):
            lines += [inert(line), ""]
        lines += [
            f"Gain **{_gain(one)}** {_span(one.interval)} ({_level(one)})",
            "",
            f"| | {'rate' if one.measure == 'success' else 'mean'} | interval | n |",
            "|---|---|---|---|",
        ]
        for name, alone in ((one.first, one.of_first), (one.second, one.of_second)):
            lines.append(f"| {code_span(name, cell=True)} | {_value(alone)} | {_span(alone)} | {alone.trials:,} |")
        if len(self.tasks) > 1:
            lines += ["", *_task_table(self.tasks)]
        lines += self._flips(self.flipped[0] if self.flipped else None)
        if self.gate is not None and self.gate.code:
            lines += ["", inert(self.gate.says)]
        if one.outlook is not None:
            lines += ["", f"What it would take: {inert(str(one.outlook))}"]
        for line in answers.behind(one):
            lines += ["", inert(line)]
        return lines

    def _several(self) -> list[str]:
        lines = [f"### {self._badge()}{counted(len(self.found), 'comparison')}", ""]
        lines += ["| | for | gain | interval | verdict | lost | won |", "|---|---|---|---|---|---|---|"]
        flipped = self.flipped or (None,) * len(self.found)
        for one, flips in zip(self.found, flipped, strict=True):
            lost, won = (len(flips.lost), len(flips.won)) if flips else ("", "")
            verdict = answers.verdict_word(one)
            about = inert(str(one.about))
            cells = [code_span(_title(one), cell=True), about, _gain(one), _span(one.interval), verdict, lost, won]
            lines.append(f"| {' | '.join(map(str, cells))} |")
        for one, flips in zip(self.found, flipped, strict=True):
            if flips is not None and flips.lost:
                lines += ["", f"{code_span(_title(one))} lost {_items(flips.lost)}."]
        return lines

    def _badge(self) -> str:
        return f"Gate {sentences.GATE_WORDS[self.gate.code]}. " if self.gate is not None else ""

    def _flips(self, flips: Flips | None) -> list[str]:
        if flips is None:
            which = f"which two {self.found[0].words.rollouts} belong together"
            return ["", f"No item can be said to have flipped: nothing tells {which}."]
        if not flips.lost and not flips.won:
            return ["", f"No item flipped, of {flips.pairs:,}."]
        parts = [
            f"**{word} {len(items):,}**: {_items(items)}"
            for word, items in (("Lost", flips.lost), ("Won", flips.won))
            if items
        ]
        several = any(_paired(one) not in (0, flips.pairs) for one in self.found)  # each pair was met several times
        pairs = f"{flips.pairs:,} pairs of {self.found[0].words.rollouts}" if several else counted(flips.pairs, "pair")
        return ["", f"Of {pairs}: {'. '.join(parts)}."]


def sentence_of(one: Comparison, first: str, second: str) -> str:
    """What is shown, in a sentence with these names."""
    if one.refused is not None:
        return NO_VERDICT
    if not one.comparable:
        return fill(NO_TASK, words=one.words, first=first, second=second)
    if one.depends_on and not one.opposite:
        said = sentences.NAMED_DEPENDS.format(first=first, second=second, column=one.depends_on)
        return f"{said[0].upper()}{said[1:]}"
    ends = one.interval
    said = sentences.sentence(
        one.verdict, ends.low, ends.high, margin=one.gain.margin, scale=ends.scale, first=first, second=second
    )
    return f"{said.removesuffix('.')}{answers.but_opposite(one)}."


def not_comparable(says: str, form: str) -> str:
    """The comment, or the test suite, of a gate on what could not be compared at all."""
    if form == "junit":
        return suite([case("gate", 3, says, says)], failures=0, errors=1)
    return f"### Gate {sentences.GATE_WORDS[3]}.\n\n{inert(says)}\n"


def code_span(name: str, *, cell: bool = False) -> str:
    """A name as Markdown shows it literally; `cell` inside a table, where a bar would end it."""
    text = " ".join(_allowed(name).split()) or " "
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
    fence = "`" * (1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    pad = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{fence}{pad}{text.replace('|', chr(92) + '|') if cell else text}{pad}{fence}"


def inert(text: str) -> str:
    """Free text in which a name may stand: nothing in it is markup, a link, a mention or an issue's number."""
    plain = html.escape(" ".join(_allowed(text).split()), quote=False)
    plain = re.sub(r"([\\`*_{}\[\]|~])", r"\\\1", plain)
    return re.sub(r"(?i)(@|#(?=\d)|://|www(?=\.))", lambda found: f"{found[0]}&#8203;", plain)


def suite(cases: Sequence[str], *, failures: int, errors: int) -> str:
    """A JUnit document of one suite."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuite name="surefoot" tests="{len(cases)}" failures="{failures}" errors="{errors}" skipped="0">\n'
        + "".join(cases)
        + "</testsuite>\n"
    )


def _allowed(text: str) -> str:
    return FORBIDDEN.sub(" ", visible(text))


def case(name: str, code: int, says: str, why: str) -> str:
    """One test of a suite: what it is called, how it ended, what it says, and why it failed."""
    start = f'  <testcase classname="surefoot.gate" name={quoteattr(_allowed(name))}>\n'
    said = escape(_allowed(says))
    if code == 0:
        return f"{start}    <system-out>{said}</system-out>\n  </testcase>\n"
    kind = "error" if code == 3 else "failure"
    message = f"message={quoteattr(_allowed(why))} type={quoteattr(sentences.GATE_WORDS[code])}"
    return f"{start}    <{kind} {message}>{said}</{kind}>\n  </testcase>\n"


def _words(one: Comparison) -> str:
    """What a test says: levels that disagree, the answer and what it is about, and the other target's."""
    said = (*answers.in_front(one), str(one), sentence_of(one, one.first, one.second), answers.other_answer(one))
    return " ".join(filter(None, said))


def _title(one: Comparison) -> str:
    """What a comparison among several is about: a task, a policy, or two policies."""
    return one.task or one.policy or f"{one.first} against {one.second}"


def _gain(one: Comparison) -> str:
    return f"{number(one.gain.estimate, one.interval.scale)}{unit(one.interval.scale)}"


def _level(one: Comparison) -> str:
    kind = counted(_paired(one), "pair") if _paired(one) else "not paired"
    p = f", {p_value(one.p_value)}" if one.p_value is not None else ""
    return f"{percent(one.interval.confidence)}{p}, {kind}"


def _paired(one: Comparison) -> int:
    """How many pairs were compared: outcomes, or the means of what was met several times; 0 where none were."""
    if one.gain.paired:
        return one.interval.trials
    return one.reading.units if one.reading.paired else 0


def _value(alone: Interval) -> str:
    return number(alone.estimate, alone.scale)


def _span(alone: Interval) -> str:
    return span(alone.low, alone.high, alone.scale)


def _items(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    return ", ".join(code_span(name) for name in names[:LISTED]) + more


def _task_table(tasks: Sequence[Comparison]) -> list[str]:
    """The tasks with the greatest changes; their intervals hold together."""
    ordered = sorted(tasks, key=lambda one: -abs(one.gain.estimate))
    first, second = (code_span(name, cell=True) for name in (tasks[0].first, tasks[0].second))
    lines = [f"| {tasks[0].words.task} | {first} | {second} | gain | interval | |", "|---|---|---|---|---|---|"]
    for one in ordered[:MOST_TASKS]:
        cells = [
            code_span(str(one.task), cell=True),
            _value(one.of_first),
            _value(one.of_second),
            _gain(one),
            _span(one.interval),
        ]
        lines.append(f"| {' | '.join(cells)} | {sentences.CELL[one.verdict]} |")
    if len(ordered) > MOST_TASKS:
        lines.append(f"\n{len(ordered) - MOST_TASKS:,} more {tasks[0].words.tasks} changed less.")
    return lines


def _short(one: Comparison, flips: Flips | None) -> dict[str, Any]:
    body: dict[str, Any] = {
        "type": "ComparisonSummary",
        "schema": 1,
        "first": one.first,
        "second": one.second,
        "policy": one.policy,
        "task": one.task,
        "measure": one.measure,
        "verdict": one.verdict.value,
        "depends_on": one.depends_on,
        "opposite": list(one.opposite),
        "comparable": one.comparable,
        "about": str(one.about),
        "target": one.target,
        "says": sentence_of(one, one.first, one.second),
        "paired": _paired(one) > 0,
        "gain": _gain_numbers(one.gain, one.p_value),
        "other": None if one.other is None else _other(one.other),
        "of_first": _numbers(one.of_first),
        "of_second": _numbers(one.of_second),
        "why": one.why,
        "holds_if": holds_if(one.gain.assumptions),
        "outlook": None if one.outlook is None else str(one.outlook),
        "notes": [str(note) for note in one.notes],
    }
    if one.bounds is not None:
        lower, upper = one.bounds
        body["bounds"] = {"at_least": lower.value, "at_most": upper.value, "confidence": lower.confidence}
    if one.uncorrected is not None:
        body["uncorrected"] = _gain_numbers(one.uncorrected, one.uncorrected.p_value)
    if flips is not None:
        items = {"lost_items": list(flips.lost[:SHORT_ITEMS]), "won_items": list(flips.won[:SHORT_ITEMS])}
        body["flipped"] = {"pairs": flips.pairs, "lost": len(flips.lost), "won": len(flips.won), **items}
    return body


def _other(other: OtherTarget) -> dict[str, Any]:
    """The answer for the other target."""
    gain = _gain_numbers(other.gain, other.gain.p_value)
    return {"about": str(other.about), "target": other.about.target, "gain": gain}


def _gain_numbers(gain: Gain, p: float | None) -> dict[str, Any]:
    return {"interval": _numbers(gain.interval), "p_value": p, "verdict": gain.verdict.value, "margin": gain.margin}


def _numbers(one: Interval) -> dict[str, Any]:
    """An interval as its record has it, without the data and what it rests on."""
    names = ("low", "high", "estimate", "confidence", "method", "trials", "scale")
    return {name: getattr(one, name) for name in names}


COUNTED = {"pass": "hold", "fail": "broken"}
"""What a number of needs is called, where it is not how they ended."""


def gate_markdown(gated: Gated) -> str:
    """A comment for a pull request: what is broken, what is open and what it lacks, what holds."""
    from surefoot.analysis.gates import ORDER

    counts = [f"{len(gated.of(ends))} {COUNTED.get(ends, ends)}" for ends in ORDER if gated.of(ends)]
    counts = ["1 holds" if one == "1 hold" else one for one in counts]
    lines = [f"### Gate {sentences.GATE_WORDS[gated.code]}. {', '.join(counts)}", ""]
    lines += ["| | need | seen | p | |", "|---|---|---|---|---|"]
    for one in gated.found:
        mark = "**FAIL**" if one.ends == "fail" else one.ends
        cells = [mark, code_span(one.title, cell=True), inert(one.shown), _p(one), _lacks(one)]
        lines.append(f"| {' | '.join(cells)} |")
    if gated.gate.rule == "one better, none worse":
        lines += ["", f"Better: {inert('; '.join(gated.better) or 'none shown')}."]
    return "\n".join([*lines, "", f"<sub>{inert(gated.how)}</sub>", ""])


def gate_junit(gated: Gated) -> str:
    """The gate as a test suite: every need is a test, which fails where it is broken or open."""
    from surefoot.analysis.gates import ENDINGS

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
