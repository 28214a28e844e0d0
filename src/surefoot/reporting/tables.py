"""The tables of a report, in every format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from surefoot.core import formatting, sentences
from surefoot.core.verdict import Verdict
from surefoot.reporting.figures import tile_colours
from surefoot.table.design import noun

if TYPE_CHECKING:
    from surefoot.analysis.comparisons import Comparison
    from surefoot.analysis.overview import Overview
    from surefoot.core.interval import Interval
    from surefoot.core.tally import Tally

MOST_COLUMNS = 6
FEW = 5
"""Conditions that a policy met less often than this on average are told by the list of rollouts alone."""
"""With more columns there is no room for a bar beside them."""
MANY = 12
"""With more policies the cells of the matrix hold a short number only."""
Table = dict[str, Any]
COMPARED = ["first", "second", "gain", "interval", "p-value", "verdict"]
"""The header of a table of comparisons."""
LEVELS = ["first", "second", "column", "level", "gain", "interval", "verdict"]
"""The header of a table of levels that disagree."""
FIRST = ("depends on", "gain differs", "levels disagree")
"""Notes that stand before an answer: levels that disagree with it."""


def section(
    title: str,
    lines: Iterable[str] = (),
    table: Table | None = None,
    *,
    figures: Iterable[Any] = (),
    opened: bool = True,
) -> dict[str, Any]:
    """A section of the page; what was not drawn is left out, and a table is open unless told otherwise."""
    drawn = [figure for figure in figures if figure]
    return {"title": title, "lines": list(lines), "figures": drawn, "table": table, "open": opened}


def rows_under(
    summary: str, header: Sequence[str], rows: Sequence[Sequence[str]], *, links: Sequence[dict[int, str]] = ()
) -> Table:
    """A table of a section, under what it holds; each row's links lead from its cells to rollouts."""
    return {"summary": summary, "header": header, "rows": rows, "links": links}


def facts(found: Overview) -> str:
    """Where the data came from, in a line; with the dataset and the judge where they are known."""
    parts = [
        found.source,
        formatting.rollouts(found.rollouts, found.words),
        f"{len(found.policies):,} {found.words.policies}" if len(found.policies) > 1 else "",
        levels_shown(found),
        _named("dataset", found.datasets),
        _named("judge", found.judges),
    ]
    return " · ".join(part for part in parts if part)


def levels_shown(found: Overview) -> str:
    """How many tasks, or levels of what is shown side by side in their place; empty where there are none."""
    levels = len({one.task for one in found.cells})
    return formatting.counted(levels, noun(found.called("task"))) if levels else ""


def columns(found: Overview) -> list[str]:
    """The columns of the table of policies; the first as the user calls it."""
    names = [found.called("policy")]
    if any(one.success for one in found.policies):
        names += ["by the judge" if found.corrections else "success rate", "interval", "k/n"]
    if any(one.score for one in found.policies):
        names += ["mean score", "interval", "n"]
    if found.changes:
        names.append("change")
    if found.ranking is not None:
        names += ["rank", "letters"] if found.ranking.letters.readable else ["rank"]
    return names


def cells(found: Overview, place: int) -> list[tuple[str, str]]:
    """One policy's row as (kind, text)."""
    one = found.policies[place]
    row: list[tuple[str, str]] = []
    if any(p.success for p in found.policies):
        row += _number_cells(one.success, one.tally)
    if any(p.score for p in found.policies):
        row += _number_cells(one.score, None)
    if found.changes:
        row.append(("num", changed(found, one.policy)))
    if found.ranking is not None and one.of(found.measure) is None:  # nothing is known of it: it has no place
        row += [("num", "")] + [("letter", "")] * found.ranking.letters.readable
    elif found.ranking is not None:
        at = found.ranking.names.index(one.policy)
        best, worst = found.ranking.ranks[at]
        row.append(("num", f"{best}" if best == worst else f"{best} to {worst}"))
        if found.ranking.letters.readable:
            row.append(("letter", found.ranking.letters.letters[at]))
    return row


def cells_of(found: Interval) -> tuple[str, str]:
    """An estimate and its interval, each as a cell."""
    estimate = formatting.number(found.estimate, found.scale) + formatting.unit(found.scale)
    return estimate, formatting.span(found.low, found.high, found.scale)


def policy_rows(found: Overview) -> list[list[str]]:
    """The table of policies as text."""
    return [[one.policy, *(text for _, text in cells(found, place))] for place, one in enumerate(found.policies)]


def changed(found: Overview, policy: str) -> str:
    """A policy's change since the previous run, with its interval."""
    for one in found.changes:
        if one.policy == policy:
            scale = one.interval.scale
            gain = formatting.number(one.interval.estimate, scale)
            return f"{gain} {formatting.span(one.interval.low, one.interval.high, scale)}"
    return "not run before"


def row(found: Overview, place: int) -> dict[str, Any]:
    """One policy's row with its bar, as the page shows it."""
    one = found.policies[place]
    shown = one.of(found.measure)
    bar = None
    if shown is not None and len(columns(found)) <= 1 + MOST_COLUMNS:
        low, high = shown.limits if found.measure == "score" else (0.0, 1.0)
        ends = {"low": shown.low, "high": shown.high, "at": shown.estimate}
        bar = {name: f"{200 * (value - low) / (high - low):.2f}" for name, value in ends.items()}
    return {
        "policy": one.policy,
        "cells": [{"kind": kind, "text": text} for kind, text in cells(found, place)],
        "bar": bar,
    }


def notes(found: Overview) -> list[str]:
    """What stands below the table of policies."""
    said = _interval_notes(found)
    if found.ranking is not None:
        if found.ranking.letters.readable:
            said.append(f"Two {found.words.policies} share a letter exactly when no difference between them was shown.")
        else:
            said += found.ranking.letters.notes
        said.append(
            f"Ranks and letters are based on {found.measure}{', by human labels' if found.corrections else ''}."
        )
    if found.changes:
        points = " in points" if found.changes[0].interval.scale == "gain" else ""
        ended = {one.policy: sentences.CELL[one.verdict] for one in found.changes}
        told = "; ".join(f"{policy}: {verdict}" for policy, verdict in ended.items())
        said.append(f"Change{points}: now minus {found.previous}, all intervals holding together. {told}.")
    unknown = [one.policy for one in found.policies if one.of(found.measure) is None]
    if unknown:
        said.append(f"No {found.measure} is known for {sentences.listed(unknown)}: left out of every comparison.")
    voided = sum(one.void for one in found.policies)
    if voided:
        said.append(f"{formatting.rollouts(voided, found.words)} did not count, being void or not needed.")
    return said


def _interval_notes(found: Overview) -> list[str]:
    """What the intervals of the rows hold, and by how much the highest one is probably too high."""
    rows = [sum(one.of(what) is not None for one in found.policies) for what in ("success", "score")]
    said = [sentences.rows_hold(found.confidence)] if max(rows) > 1 else []
    if min(rows) > 1:
        said.append("Rates and mean scores are two families, each by itself.")
    bias = found.ranking.selection if found.ranking is not None else None
    return [*said, str(bias)] if bias is not None and bias.matters else said


def letters(found: Overview) -> tuple[str, ...]:
    """Each policy's letters, in the order of the policies; none when they would not be readable."""
    if found.ranking is None or not found.ranking.letters.readable:
        return ()
    named = dict(zip(found.ranking.names, found.ranking.letters.letters, strict=True))
    return tuple(named.get(one.policy, "") for one in found.policies)


def comparison_row(one: Comparison) -> list[str]:
    """One comparison as the cells of a table."""
    p = "" if one.p_value is None else formatting.p_value(one.p_value).removeprefix("p = ").removeprefix("p ")
    from surefoot.reporting.answers import verdict_word

    return [one.first, one.second, *cells_of(one.interval), p, verdict_word(one)]


def level_rows(found: Overview) -> list[list[str]]:
    """The gain on every level of the columns whose levels disagree with an answer, a row each."""
    rows = []
    for one in found.comparisons:
        for note in one.notes:
            for level, gain, low, high, sure in note.values["levels"] if note.kind in FIRST else ():
                verdict = Verdict.UNDECIDED if not sure else Verdict.BETTER if gain > 0.0 else Verdict.WORSE
                scale = note.values.get("scale", "gain")
                shown = formatting.number(gain, scale) + formatting.unit(scale), formatting.span(low, high, scale)
                rows.append([one.first, one.second, note.values["column"], str(level), *shown, sentences.CELL[verdict]])
    return rows


def roles(found: Overview) -> dict[str, Any]:
    """What every column was taken for, and why: a table, and how the whole was read."""
    design = found.audit.design
    rows = [[one.name, one.role, f"{one.levels:,}", one.why] for one in design.columns]
    return {
        "header": ["column", "role", "levels", "why"],
        "rows": rows,
        "lines": [f"Read as: {design.reading()}.", *map(str, design.said)] if rows else [],
    }


def corrections(found: Overview) -> tuple[list[str], list[list[str]]]:
    """The judge's rates beside those corrected by human labels: the header and a row per policy."""
    both = ("by the judge", "interval", "corrected", "interval", "human labels", "judged alike")
    rows = []
    for one in found.corrections:
        agreed = "" if one.agreed is None else f"{one.agreed:,}"
        rows.append([one.policy, *cells_of(one.judged), *cells_of(one.interval), f"{one.labels:,}", agreed])
    return [found.called("policy"), *both], rows


def correction_lines(found: Overview) -> list[str]:
    """What was corrected, how, and what was not."""
    what = "success rate" if found.measure == "success" else "mean score"
    methods = sentences.listed(sorted({one.interval.method for one in found.corrections}))
    without = [one.policy for one in found.policies if one.policy not in {c.policy for c in found.corrections}]
    return [
        f"Corrected: the {what} of each {found.words.policy} over all its {found.words.rollouts}, by those of them "
        "that a human labelled too "
        f"({methods} interval). This is right if those were drawn at random.",
        f"Gains, verdicts, ranks and letters are corrected item by item where both {found.words.policies} carry "
        f"labels. Rates by {found.words.task} "
        "and the tables below are what the judge said, and only as correct as the judge is.",
        *([f"Without human labels, so not corrected: {sentences.listed(without)}."] if without else []),
        *dict.fromkeys(str(note) for one in found.corrections for note in one.interval.notes),
    ]


def heat(found: Overview) -> dict[str, Any]:
    """Tasks against policies, each cell the darker the higher."""
    policies = [one.policy for one in found.policies]
    tasks = list(dict.fromkeys(one.task or "" for one in found.cells))
    known = {(one.task or "", one.policy): one.of(found.measure) for one in found.cells}
    rows = [{"task": task, "cells": [_heat_cell(known.get((task, name))) for name in policies]} for task in tasks]
    what = "Success rate" if found.measure == "success" else "Mean score"
    by = found.called("task")
    short = f"{what} by {by}{' in percent' if found.measure == 'success' else ''}; point at a cell for more."
    each = f"{formatting.percent(found.confidence)} for each cell by itself"
    told = short if len(policies) > MANY else f"{what} by {by}, with its interval ({each}) and n."
    return {
        "caption": told,
        "policies": policies,
        "rows": rows,
        "many": len(policies) > MANY,
        "by": by,
    }


def _heat_cell(one: Interval | None) -> dict[str, str] | None:
    if one is None:
        return None
    paper, ink = tile_colours(one)
    return {
        "paper": paper,
        "ink": ink,
        "text": formatting.number(one.estimate, one.scale),
        "short": f"{100 * one.estimate:.0f}" if one.scale == "rate" else f"{one.estimate:.2g}",
        "span": formatting.span(one.low, one.high, one.scale),
        "size": f"{formatting.span(one.low, one.high, one.scale)} n={one.trials:,}",
        "n": f"n={one.trials:,}",
    }


def _number_cells(interval: Interval | None, tally: Tally | None) -> list[tuple[str, str]]:
    if interval is None:
        return [("num", "")] * 3
    size = f"{tally.successes:,}/{tally.trials:,}" if tally is not None else f"{interval.trials:,}"
    return [("num", text) for text in (*cells_of(interval), size)]


def _named(what: str, names: tuple[str, ...]) -> str:
    if not names:
        return ""
    return f"{what} {sentences.listed(names)}" if len(names) <= 3 else f"{len(names):,} {what}s"
