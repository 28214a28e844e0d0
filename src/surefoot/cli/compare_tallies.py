"""`surefoot compare 17/20 14/20`, and `--counts`: policies whose counts are known."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from surefoot import _check, reference, stats
from surefoot._arguments import unshown
from surefoot.cli import gate_verdicts, terminal
from surefoot.core import sentences
from surefoot.core.formatting import counted, estimate, number, p_value, percent, span
from surefoot.core.formatting import margin as margin_shown
from surefoot.core.gain import Gain
from surefoot.core.tally import PairTally, Tally
from surefoot.core.verdict import Verdict
from surefoot.errors import DataError

if TYPE_CHECKING:
    from surefoot.files.recognising import Head
    from surefoot.stats.detectable import Outlook
    from surefoot.stats.simultaneous_gains import FamilyGain


TALLIES = (
    "exact-gain",
    "newcombe",
    "miettinen-nurminen",
    "agresti-caffo",
    "barnard",
    "boschloo",
    "fisher",
    "pooled-score",
    "disjoint-bounds",
)
PAIRS = ("exact-paired-gain", "tango", "newcombe-paired", "mcnemar", "mcnemar-midp")
DETAILS = {
    2: ("newcombe", "miettinen_nurminen", "barnard", "boschloo", "fisher"),
    1: ("tango", "mcnemar", "mcnemar_midp"),
}


def pairs(word: str) -> PairTally:
    """Pairs as they are typed: BOTH,FIRST,SECOND,NEITHER."""
    parts = [part.strip() for part in word.split(",")]
    if len(parts) != 4 or not all(re.fullmatch(r"-?\d+", part) for part in parts):
        raise ValueError(f"`--pairs` must be BOTH,FIRST,SECOND,NEITHER, such as 20,12,2,16; got {word!r}.")
    try:
        return PairTally(*map(int, parts))
    except ValueError as error:
        raise DataError(f"{word}: {unshown(error)}") from None


def answer(
    data: tuple[Any, ...],
    using: str | None,
    details: bool,
    gate: bool,
    margin: float,
    confidence: float,
    as_json: bool,
) -> None:
    """Print the comparison of two tallies, or of one tally of pairs."""
    if using is not None and using not in ("exact-gain", "exact-paired-gain"):
        if gate or margin:
            raise ValueError("`--using` must not come with `--gate` or `--margin`: they need the exact gain.")
        terminal.show(_named(using.replace("-", "_"), data, confidence), as_json=as_json)
        return
    paired = len(data) == 1
    make = stats.exact_paired_gain if paired else stats.exact_gain
    gain = make(*data, confidence=confidence, margin=margin)
    undecided = gain.verdict is Verdict.UNDECIDED
    ahead = stats.outlook(gain) if undecided else None
    others = [_named(name, data, confidence) for name in DETAILS[len(data)]] if details else []
    bound = stats.paired_gain_bounds if paired else stats.gain_bounds
    bounds = bound(*data, confidence=confidence) if gate else None
    ends = gate_verdicts.of_bounds((bounds,), margin) if bounds else None
    if as_json:
        terminal.show_json(
            {
                "said": _said(gain),
                "gain": gain.to_dict(),
                "outlook": ahead.to_dict() if ahead else None,
                "details": [other.to_dict() for other in others],
                **gate_verdicts.told(ends, (bounds,) if bounds else ()),
            }
        )
    else:
        for line in lines(gain, ahead):
            typer.echo(line)
        for other in others:
            typer.echo(f"  {other}")
        if bounds:
            typer.echo(gate_verdicts.shown(bounds))
    gate_verdicts.end(ends, as_json=as_json)


def lines(gain: Gain, ahead: Outlook | None) -> list[str]:
    """Lines a person can act on: what it is about and the answer, the two rates, what would tell, what it rests on."""
    shown = []
    for name, tally in zip(("first", "second"), gain.tallies, strict=True):
        rate = stats.wilson(tally, confidence=gain.confidence)
        counts = f"{tally.successes:,}/{tally.trials:,}"
        shown.append(f"{name} {counts} {estimate(rate.estimate, rate.low, rate.high)}")
    level = percent(gain.confidence)
    pairs_shown = f", {counted(gain.interval.trials, 'pair')}" if gain.paired else ""
    return [
        headline(gain),
        f"  {'; '.join(shown)} ({level} Wilson intervals)",
        f"  Method: {gain.method}{pairs_shown}.",
        *([f"  {ahead}"] if ahead else []),
        f"  {_holds(paired=gain.paired)}",
    ]


def headline(gain: Gain) -> str:
    """What the answer is about, the verdict, and the gain with its interval: the first line, as files have it."""
    edge = margin_shown(gain.margin, "gain")
    if gain.verdict is Verdict.UNDECIDED and gain.margin and gain.not_worse:
        verdict = sentences.NO_WORSE.format(first="first", margin=edge)
    else:
        verdict = sentences.answer(gain.verdict, "first", "second", margin=edge if gain.margin else "")
    about = "pairs" if gain.paired else "rollouts"
    said = f"For {about} like these: {verdict}"
    return sentences.first_line(said, "first - second", gain.interval, gain.p_value)


def _said(gain: Gain) -> str:
    return sentences.sentence(gain.verdict, gain.interval.low, gain.interval.high, margin=gain.margin)


def _holds(*, paired: bool) -> str:
    if paired:
        return "This holds if the pairs are independent of one another and their number was fixed beforehand."
    return (
        "This holds if all rollouts are independent and their numbers were fixed beforehand; "
        "rollouts in shared conditions are pairs: use --pairs."
    )


def _named(name: str, data: tuple[Any, ...], confidence: float) -> Any:
    known = TALLIES if len(data) == 2 else PAIRS
    _check.choice(name.replace("_", "-"), "--using", dict.fromkeys(known))
    method = getattr(stats if name in stats.__all__ else reference, name)
    tests = {"barnard", "boschloo", "fisher", "pooled_score", "mcnemar", "mcnemar_midp"}
    return method(*data) if name in tests else method(*data, confidence=confidence)


BUNDLED = {"dream-machines": "dream_machines.csv", "rt2-vc1": "rt2_vc1.csv"}
GROUPS = ("group", "experiment", "setting", "task")
MARKS, SOURCES = ("baseline",), ("source",)


class Row(NamedTuple):
    """One policy of one group, with the row it stands in."""

    place: int
    group: str
    policy: str
    tally: Tally
    baseline: bool
    source: str


def compare_counts(name: str, baseline: str | None, *, confidence: float, margin: float, as_json: bool) -> None:
    """Compare and print, one error for all comparisons of a group."""
    rows, warnings = _read(name)
    groups: dict[str, dict[str, Tally]] = {}
    bases: dict[str, str] = {}
    for place, group, policy, tally, marked, _ in rows:
        if policy in groups.setdefault(group, {}):
            raise DataError(
                f"`policy` must be named once per group; got {policy!r} twice in {group!r}.", source=name, row=place
            )
        groups[group][policy] = tally
        if marked or policy == baseline:
            bases[group] = policy
    results = []
    for group, policies in groups.items():
        if len(policies) < 2:
            continue  # a group of one has nothing to compare with
        base = bases.get(group) or next(iter(policies))
        if baseline is not None and base != baseline:
            raise DataError(
                f"`--baseline` must be a policy of every group; {group!r} has no {baseline!r}.", source=name
            )
        found = stats.against_baseline(policies, base, confidence=confidence, margin=margin)
        results.append((group, base, policies, found))
    if not results:
        raise DataError("a group must hold at least two policies; none does.", source=name)
    if as_json:
        terminal.show_json([{"group": group, **found.to_dict()} for group, _, _, found in results])
        return
    shown = [
        _cells(group, policy, member, policies[policy], f"{base} {policies[base].successes}/{policies[base].trials}")
        for group, base, policies, found in results
        for policy, member in zip(found.names, found.members, strict=True)
    ]
    terminal.table(["group", "policy", "k/n", "baseline", "gain", "interval", "p", "verdict"], shown)
    typer.echo("Gains in points over the baseline; within a group all intervals hold together, and so do all verdicts.")
    for warning in warnings:
        typer.echo(warning)
    for source in dict.fromkeys(row.source for row in rows):
        if source:
            typer.echo(f"Source: {source}")


def _cells(group: str, policy: str, member: FamilyGain, tally: Tally, base: str) -> list[str]:
    gain, p = member.gain, member.p_value
    return [
        group,
        policy,
        f"{tally.successes}/{tally.trials}",
        base,
        number(gain.estimate, "gain"),
        span(gain.interval.low, gain.interval.high, "gain"),
        "" if p is None else p_value(p).removeprefix("p = ").removeprefix("p "),
        str(member.verdict),
    ]


def _read(name: str) -> tuple[list[Row], list[str]]:
    """The rows of a table of counts in any form that is read, and what must be known of them."""
    from importlib.resources import as_file, files

    from surefoot.files.recognising import Head

    if name not in BUNDLED:
        return _rows(Head(Path(name), name))
    with as_file(files("surefoot.files") / "examples" / BUNDLED[name]) as path:
        return _rows(Head(path, name))


def _rows(head: Head) -> tuple[list[Row], list[str]]:
    from surefoot.files.formats import counts
    from surefoot.files.naming import PERHAPS
    from surefoot.table.columns import match, plain

    head.refuse_unsafe()
    names = {plain(name): name for name in reversed(head.header)}
    policy = match(head.header, {})[0].get("policy") or names.get(PERHAPS)
    if policy is None or not counts.recognises(head):
        raise DataError("a row must have `policy`, `successes` and `rollouts`.", source=head.name, row=1)
    found = counts.counted_rows(head)
    group, baseline, source = (next((names[n] for n in of if n in names), "") for of in (GROUPS, MARKS, SOURCES))
    rows = []
    for (place, cells), successes, trials in zip(found.rows, found.successes, found.trials, strict=True):
        if not cells.get(policy):
            raise DataError("a row must have `policy`, `successes` and `rollouts`.", source=head.name, row=place)
        marked = (cells.get(baseline) or "").lower() in ("1", "true", "yes", "baseline")
        of = cells.get(group) or "all"
        rows.append(Row(place, of, str(cells[policy]), Tally(successes, trials), marked, cells.get(source) or ""))
    return rows, [*map(str, found.left_out.notes), *(f"! {finding}" for finding in found.findings)]
