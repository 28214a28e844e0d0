"""A joint gate: may it be released? Several needs at once, each tested by what the table's design asks for."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from surefoot import _check
from surefoot.analysis.changes import BEFORE, NOW, both_runs
from surefoot.analysis.comparison_data import Target, Weights
from surefoot.analysis.comparisons import columns_of
from surefoot.analysis.levels import Opposed
from surefoot.analysis.need_evidence import Asker, NotComparableError, Seen, lacking, seen, table_of
from surefoot.analysis.needs import GAINS, RATIO, Gate, Need, gate_of
from surefoot.auditing.audits import audit
from surefoot.auditing.collection_checks import DUPLICATED
from surefoot.core import formatting, sentences
from surefoot.core.formatting import Scale
from surefoot.core.record import Record
from surefoot.core.words import USUAL, Worded, Words, in_its_words, plural
from surefoot.errors import DataError
from surefoot.files.reading import reads_frames
from surefoot.stats.gates import ALL, BETTER, GateTest, gate_test, needed
from surefoot.stats.multiplicity import holm
from surefoot.table.design import noun, sounds_like_a_result
from surefoot.table.rollouts import Measure, Rollouts, a_table

Ending = Literal["pass", "fail", "open", "not comparable"]
ENDINGS: tuple[Ending, ...] = ("pass", "fail", "open", "not comparable")
"""How a need ends, by the exit code of a gate that ends so."""
ORDER: tuple[Ending, ...] = ("fail", "not comparable", "open", "pass")
WIDE = 20.0
"""The width of an interval of scores from which whole numbers tell enough."""
TWICE = "rows repeat others in every column, so rollouts may count twice. Remove the copies, or number the repeats"


@dataclass(frozen=True, slots=True)
class NeedFound(Worded):
    """One need, or one level of it, and what the data say about it.

    Attributes:
        need: The need.
        level: The level of its column, where it is one need for each.
        policy: The policy, where two of its runs are compared.
        ends: Whether it was shown to hold ("pass"), to be broken ("fail"), or neither ("open", "not comparable").
        p_value: The p-value of "it does not hold".
        broken_p: The p-value of "it holds".
        adjusted_p: That p-value adjusted by Holm over all needs.
        better_p: The p-value of "it is not better", for the rule that asks for one better.
        estimate: The observed gain, ratio, rate or mean.
        low: The lower bound, with the gate's confidence.
        high: The upper bound, with the gate's confidence.
        scale: What these numbers are.
        counted: Yes among all, where rollouts stand alone.
        about: What the answer is about.
        method: The test.
        lacks: About how many more would tell, if what was observed is true; None where none would.
        unit: What `lacks` counts.
        why: Why it is not comparable.
        depends_on: The column on some levels of which it is better and on others worse, so that no average holds.
        worse: The levels that are shown worse, by more than the need allows, though the average holds.
    """

    need: Need
    level: str | None = None
    policy: str | None = None
    ends: Ending = "open"
    p_value: float = 1.0
    broken_p: float = 1.0
    adjusted_p: float = 1.0
    better_p: float | None = None
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    scale: Scale = "gain"
    counted: str = ""
    about: str = ""
    method: str = ""
    lacks: int | None = None
    unit: str = ""
    why: str = ""
    depends_on: str = ""
    worse: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The need in words."""
        whose = f"{self.policy}: " if self.policy else ""
        return whose + self.need.said(self.level, rate=self.scale in ("gain", "rate"))

    @property
    def shown(self) -> str:
        """What was seen: ``4/200, 2.0% [0.7%, 4.5%]``."""
        if self.estimate is None or self.low is None or self.high is None:
            return self.why
        ends = formatting.estimate(self.estimate, self.low, self.high, self.scale)
        if self.scale.startswith("score") and self.high - self.low >= WIDE:  # such as tokens: no fractions of one
            shown = (round(self.estimate), math.floor(self.low), math.ceil(self.high))
            mean, low, high = (f"{one:{'+' if self.scale == 'score gain' else ''},}" for one in shown)
            ends = f"{mean} [{low}, {high}]"
        less = f" less {self.need.measure}" if self.need.claim in GAINS and self.need.lower_is_better else ""
        return f"{self.counted + ', ' if self.counted else ''}{ends}{less}"

    @property
    def _but(self) -> str:
        return f", but worse in {formatting.some_names(list(self.worse), 4)}" if self.worse else ""

    def __str__(self) -> str:
        word = {"fail": "FAIL"}.get(self.ends, self.ends)
        said = f"{word}: {self.title}: {self.shown}"
        if self.ends != "open":
            return f"{said}."
        if self.depends_on:
            return f"{said}{self._but}: {sentences.DEPENDS.format(column=self.depends_on)}; say what each level needs."
        edge = edge_of(self.need)
        if self.low is not None and self.high is not None and not self.low <= edge <= self.high:
            said += f" (broken by itself, {formatting.p_value(self.broken_p)}; not after all needs)"
        if self.lacks is None:
            return f"{said}; no number of {self.words.rollouts} would tell if this is the truth."
        return f"{said}; about {self.lacks:,} more {self.unit} would tell."


@dataclass(frozen=True, slots=True)
class Gated(Record):
    """How a gate ended: which need is broken, which are open and what they lack, which hold.

    Attributes:
        gate: The needs and the rule.
        first: The policy that is to be released.
        second: The policy it is compared with; None where there is none.
        found: Every need, one for each level, those that fail first.
        code: The exit code: 0 pass, 1 fail, 2 open, 3 not comparable.
        p_value: The p-value of "the rule does not hold".
        better: The needs that were shown better, where the rule asks for one.
        words: What the table calls policies and rollouts.
    """

    gate: Gate
    first: str
    second: str | None
    found: tuple[NeedFound, ...]
    code: int
    p_value: float
    better: tuple[str, ...] = ()
    words: Words = USUAL

    def of(self, ends: Ending) -> tuple[NeedFound, ...]:
        """The needs that ended so."""
        return tuple(one for one in self.found if one.ends == ends)

    @property
    def passed(self) -> bool:
        """Whether the gate was shown to hold."""
        return self.code == 0

    @property
    def says(self) -> str:
        """How it ended and why, in a sentence."""
        culprits = [one.title for one in self.of(ENDINGS[self.code])]
        named = f": {'; '.join(culprits[:3])}{f' and {len(culprits) - 3} more' if len(culprits) > 3 else ''}"
        return f"Gate: {sentences.GATE_WORDS[self.code]} (exit code {self.code}){named if self.code else ''}."

    @property
    def how(self) -> str:
        """Who was compared, for what, and by which rule."""
        against = f" against {self.second}" if self.second else ""
        told: dict[str, list[str]] = {}  # of levels with units of their own the number of units is not told
        for one in sorted((one for one in self.found if one.about), key=lambda one: one.level is not None):
            told.setdefault(re.sub(r" [\d,]+(?=( \(\S*\))?$)", "", one.about), []).append(
                "" if one.level else one.about
            )
        about = "; ".join(next(filter(None, names), bare) for bare, names in told.items())
        level, two = (formatting.percent(1.0 - sides * (1.0 - self.gate.confidence)) for sides in (1, 2))
        rule = "no need is charged for others" if self.gate.rule == ALL else self.gate.rule
        count = formatting.counted(len(self.found), "need")
        held = f"each at {level} one-sided (intervals of {two})"
        first = f"{self.first}{against}"
        if len({one.policy for one in self.found}) > 1:
            first = f"every {self.words.policy} ({NOW}) against itself ({BEFORE})"
        return f"{first}{', for ' if about else ''}{about}: {count}, {held}; {rule}."

    @property
    def passing(self) -> str:
        """The needs that hold, in a line; levels of one need together."""
        held, every = (Counter(id_of(one) for one in some) for some in (self.of("pass"), self.found))
        first = {id_of(one): one for one in reversed(self.found)}
        parts = []
        for key, many in held.items():
            one = first[key]
            if one.level is None:
                parts.append(f"{one.title}{one._but}")
                continue
            every_one = f"{many:,} of {every[key]:,} {plural(noun(str(one.need.by)))}"
            parts.append(one.title.replace(f'on "{one.level}"', f"on {every_one}"))
        return f"pass: {'; '.join(parts)}." if parts else ""

    def __str__(self) -> str:
        lines = [str(one) for one in self.found if one.ends != "pass"]
        lines += [self.passing] if self.passing else []
        if self.gate.rule == BETTER:
            lines.append(f"better: {'; '.join(self.better) or 'none shown'}.")
        return "\n".join([*lines, self.how, self.says])


def edge_of(need: Need) -> float:
    """The gain, ratio, rate or mean at which a need begins to hold."""
    return -need.value if need.claim == "not_worse_by" else need.value


def id_of(one: NeedFound) -> tuple[Need, str | None]:
    """What tells needs apart whose levels are told together."""
    return one.need, one.policy


@reads_frames
@in_its_words
def gate(
    rollouts: Rollouts,
    needs: Gate | str | Path | Sequence[Need | Mapping[str, Any]],
    rule: str = ALL,
    *,
    first: str | None = None,
    second: str | None = None,
    previous: Rollouts | None = None,
    confidence: float = 0.95,
    target: Target | None = None,
    weights: Weights = "units",
) -> Gated:
    """Intersection-union test of several needs of a release: all hold, at least k, or one better and none worse.

    Every need is tested by what the design of the table asks for: pairs, clusters, units, or rollouts by themselves;
    rates of rollouts that stand alone by Clopper and Pearson's bound, ratios of means by Gaffke's test. With "all" no
    need is charged for the others.

    Args:
        rollouts: The table.
        needs: Needs, or their keys, or a gate, or the TOML file that holds it.
        rule: "all", "at least 3" (or another number), or "one better, none worse"; a gate brings its own.
        first: The policy that is to be released; the first by name of two.
        second: The policy it is compared with.
        previous: An earlier run: each policy is compared with itself in it.
        confidence: One minus the chance of passing a gate that does not hold, and of failing one that does.
        target: "like" or "these", as for `compare`.
        weights: How units weigh, as for `compare`.

    Raises:
        DataError: A row lacks a measure, or lies above its limit; or a column is not there.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> ended = [1] * 90 + [0] * 10 + [1] * 88 + [0] * 12
        >>> table = sf.read(pl.DataFrame({"policy": ["new"] * 100 + ["old"] * 100, "success": ended}))
        >>> print(sf.gate(table, [{"measure": "success", "not_worse_by": 0.1}, {"rate_at_least": 0.97}]))
        FAIL: success rate at least 97%: 90/100, 90.0% [83.6%, 94.5%].
        pass: success not worse by 10 points.
        new against old, for rollouts like these: 2 needs, each at 95% one-sided ...
        Gate: failed (exit code 1): success rate at least 97%.
    """
    asked = gate_of(needs, rule, confidence)
    tables = _tables(a_table(rollouts), asked, first, second, previous)
    found = [
        one
        for at, who, policy in tables
        for one in _found(at, asked, replace(who, target=target, weights=weights), policy)
    ]
    return _judged(asked, tables[0][1], found, rollouts.words)


def _tables(
    rollouts: Rollouts, asked: Gate, first: str | None, second: str | None, previous: Rollouts | None
) -> list[tuple[Rollouts, Asker, str | None]]:
    """Every table with who is asked about in it: the table, or one of two runs for each policy."""
    error = 1.0 - asked.confidence
    first, second = first or asked.first, second or asked.second
    if previous is None:
        first, second = _two(rollouts, first, second)
        return [(rollouts, Asker(first, second, error), None)]
    a_table(previous, "previous")
    shared = [name for name in rollouts.policies if name in previous.policies and first in (None, name)]
    if not shared:
        both = [repr(name) for name in rollouts.policies if name in previous.policies]
        must = f"`first` must be of both runs, {formatting.some_names(both)}; got {first!r}; or leave `first` out."
        none = f"the two runs must share {rollouts.words.a_policy} by name; they share none."
        raise DataError(must if both else none, source=previous.source)
    names = (NOW, BEFORE)
    return [
        (
            both_runs(rollouts, previous, name, names, "score"),
            Asker(f"{name} ({NOW})", f"{name} ({BEFORE})", error),
            name if len(shared) > 1 else None,
        )
        for name in shared
    ]


def _two(rollouts: Rollouts, first: str | None, second: str | None) -> tuple[str, str | None]:
    """The policy to be released and the one it is compared with."""
    known = rollouts.policies
    for name in (first, second):
        if name is not None and name not in known:
            there = formatting.some_names(list(map(repr, known)), 8)
            raise DataError(f"a gate must be about {rollouts.words.policies} of the table, {there}; got {name!r}.",
                            source=rollouts.source)  # fmt: skip
    if first is None:
        left = [name for name in known if name != second]
        if len(left) > (2 if second is None else 1):
            raise _check.wrong("first", f"name the {rollouts.words.policy} to be released, of {', '.join(known[:8])}.")
        first = left[0]
    others = [name for name in known if name != first]
    return first, second or (others[0] if len(others) == 1 else None)


Pending = tuple[NeedFound, Seen | None]
"""A need with what was seen of it; None where nothing can be."""


def _found(rollouts: Rollouts, asked: Gate, who: Asker, policy: str | None) -> Iterator[Pending]:
    """Every need, or level of it, with what was seen."""
    two = [name for name in (who.first, who.second) if name is not None]
    if any(finding.about == DUPLICATED for finding in audit(rollouts.where(policy=two)).serious):
        yield from ((NeedFound(need, policy=policy, ends="not comparable", why=TWICE), None) for need in asked.needs)
        return
    for need in asked.needs:
        table, kind = table_of(rollouts, need, who)
        for level, part in _levels(table, need, kind, who):
            made = NeedFound(need, level, policy, scale=_scale(need, kind))
            try:
                if part is None:
                    raise NotComparableError(f"{level} was not met by both")
                yield made, seen(part, need, kind, who, level)
            except NotComparableError as error:
                yield replace(made, ends="not comparable", why=str(error)), None


def _scale(need: Need, kind: Measure) -> Scale:
    if need.claim in GAINS:
        return "gain" if kind == "success" else "score gain"
    return "rate" if kind == "success" else "score"


def _levels(table: Rollouts, need: Need, kind: Measure, who: Asker) -> Iterator[tuple[str | None, Rollouts | None]]:
    """Every level of the need's column with its rollouts; None where one of those it needs is not there."""
    if need.by is None:
        yield None, table
        return
    (key,) = columns_of(table, need.by)
    if key in ("success", "score") or sounds_like_a_result(table.called(key)):
        raise DataError(f"`by` must name what was set beforehand; {need.by!r} is a result.", source=table.source)
    met: dict[str, set[str | None]] = {}
    for group in table.summary(by=("policy", key)):
        if group.known(kind) and group.key[1] is not None:
            met.setdefault(group.key[1], set()).add(group.key[0])
    asked = set(who.policies(need))
    roles = {**table.design_roles(), key: "ignore"}
    for level, policies in met.items():
        if not policies & asked:
            continue
        part = replace(table.where(**{key: level}), declared=roles) if asked <= policies else None
        yield level, part


def _tested(made: NeedFound, found: Seen | None, asked: Gate, needs: int) -> NeedFound:
    """A need with its p-values and, where it is open, how many more would tell."""
    if found is None:
        return made
    need, error = made.need, 1.0 - asked.confidence
    edge = edge_of(need)
    above, below = found.sides(edge)
    more = need.claim in GAINS or need.claim.endswith("least")
    p_value, broken = (above, below) if more else (below, above)
    against = _against(need, found, asked) if p_value <= error else Opposed()
    p_value = 1.0 if against.column and against.worse else p_value  # no average answers
    better = None
    if asked.rule == BETTER and need.compares:
        better = found.sides(1.0)[1] if need.claim == RATIO else found.sides(0.0)[0]
    holding = (found.estimate > edge) is more
    return replace(
        made,
        p_value=p_value,
        broken_p=broken,
        better_p=better,
        estimate=found.estimate,
        low=found.ends[0],
        high=found.ends[1],
        counted=found.counted,
        about=found.about,
        method=found.method,
        lacks=None
        if p_value <= error or against.worse
        else lacking(found, edge, error, error if holding else error / needs),
        unit=found.unit,
        depends_on=against.column if against.worse else "",
        worse=against.worse,
    )


def _against(need: Need, found: Seen, asked: Gate) -> Opposed:
    """What levels show against a gain that holds on average, where no need asks about levels themselves."""
    alike = any(other.by is not None and other.measure == need.measure for other in asked.needs)
    return found.against() if need.claim in GAINS and not alike else Opposed()


def _judged(asked: Gate, who: Asker, pending: Sequence[Pending], words: Words) -> Gated:
    """The rule applied to all needs, the broken ones first."""
    if not pending:
        raise DataError("no level of any need was met; there is nothing to judge.")
    needed(asked.rule, len(pending))
    found = [_tested(made, what, asked, len(pending)) for made, what in pending]
    better = [(one.title, one.better_p) for one in found if one.better_p is not None]
    test = gate_test(
        [one.p_value for one in found],
        [one.broken_p for one in found],
        rule=asked.rule,
        better=[p for _, p in better],
        confidence=asked.confidence,
    )
    ended = [_ended(one, test, place) for place, one in enumerate(found)]
    ended.sort(key=lambda one: (ORDER.index(one.ends), one.adjusted_p if one.ends == "fail" else -one.p_value))
    sure = holm([p for _, p in better]) if better else ()
    shown = tuple(title for (title, _), p in zip(better, sure, strict=True) if p <= 1.0 - asked.confidence)
    code = _code(test, ended)
    return Gated(asked, who.first, who.second, tuple(ended), code, test.p_value, shown, words)


def _ended(one: NeedFound, test: GateTest, place: int) -> NeedFound:
    if one.ends == "not comparable":
        return one
    ends: Ending = "fail" if test.broken[place] else "pass" if test.holds[place] else "open"
    return replace(one, ends=ends, adjusted_p=test.broken_p[place])


def _code(test: GateTest, found: Sequence[NeedFound]) -> int:
    if test.failed:
        return 1
    if test.passed:
        return 0
    return 3 if any(one.ends == "not comparable" for one in found) else 2
