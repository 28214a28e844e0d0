"""How slices are told on a page and in a notebook: what is claimed, and a small map of two columns."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import combinations
from typing import TYPE_CHECKING, Any

from surefoot.core import formatting
from surefoot.core.verdict import Verdict
from surefoot.reporting.tables import cells_of, rows_under, section

if TYPE_CHECKING:
    from surefoot.analysis.slices import Slice, Slices

HEADER = ("claim", "slice", "gain", "interval", "seen", "p", "note")
MARKS = {Verdict.WORSE: "▼", Verdict.BETTER: "▲"}
WHOLE = "all levels"


def slice_sections(found: Sequence[Slices]) -> list[dict[str, Any]]:
    """The sections of the page: for each two policies, or for the one there is, where it is better and where worse."""
    return [_section(one) for one in found]


def _section(found: Slices) -> dict[str, Any]:
    title = f"{found.first}{f' against {found.second}' if found.second else ''}, slice by slice"
    rows = claim_rows(found)
    table = rows_under(f"What is claimed ({len(rows):,})", HEADER, rows) if rows else None
    made = section(title, [found.head, *found.beside], table)
    return {**made, "map": slice_map(found)}


def claim_rows(found: Slices) -> list[list[str]]:
    """Every claimed slice as the cells of a table; one that contains another stands after it and says so."""
    shown = [one for one in found.claimed if not one.under]
    ordered = [each for one in shown for each in (one, *(other for other in found.claimed if other.under == one.name))]
    rows = []
    for one in ordered:
        gain, interval = cells_of(one.interval) if one.interval is not None else ("", "")
        inside = f"contains {one.under}" if one.under else ""
        seen = one.shown(found.measure)
        p = found.p_of(one).removeprefix("p = ").removeprefix("p ")
        rows.append([found.way(one), one.name, gain, interval, seen, p, inside])
    return rows


def slice_map(found: Slices) -> dict[str, Any] | None:
    """Two columns as a grid of gains, what is claimed marked; none where nothing is claimed."""
    if not found.claimed:
        return None
    ours, other = _two(found)
    known = {frozenset(one.where): one for one in found.slices}
    levels = {column: _levels(found, column) for column in (ours, other) if column}
    across: list[str | None] = [None, *levels.get(other, [])]
    rows = []
    for level in [*levels[ours], None]:
        cells = []
        for beside in across:
            where = frozenset(
                (column, at) for column, at in ((ours, level), (other, beside)) if column and at is not None
            )
            cells.append(_cell(found, known.get(where)))
        rows.append({"level": WHOLE if level is None else level, "cells": cells})
    if not any(rows[-1]["cells"]):
        rows.pop()
    return {
        "caption": _caption(found, ours, other),
        "by": ours,
        "across": other,
        "columns": [WHOLE if one is None else one for one in across],
        "rows": rows,
    }


def _two(found: Slices) -> tuple[str, str]:
    """The two columns that hold most of what is claimed, the one of more levels first; one where there is one."""
    if len(found.columns) < 2:
        return found.columns[0], ""
    claimed = [{column for column, _ in one.where} for one in found.claimed]
    best = max(
        combinations(found.columns, 2), key=lambda pair: sum(len(where) for where in claimed if where <= set(pair))
    )
    one, other = sorted(best, key=lambda column: -len(_levels(found, column)))
    return one, other


def _levels(found: Slices, column: str) -> list[str]:
    return sorted({level for one in found.slices for name, level in one.where if name == column})


def _caption(found: Slices, ours: str, other: str) -> str:
    of = f"{ours} by {other}" if other else ours
    what = f"gain of {found.first} over {found.second}" if found.second else f"{found.first} there less elsewhere"
    points = ", in points" if found.measure == "success" else ""
    marks = "▼ shown to fail more" if not found.second else "▲ shown better, ▼ shown worse"
    return f"{of}: {what}{points}. {marks}; the others show nothing. Empty: few, or the same as another."


def _cell(found: Slices, one: Slice | None) -> dict[str, str] | None:
    if one is None:
        return None
    scale: formatting.Scale = "gain" if found.measure == "success" else "score gain"
    return {
        "kind": one.verdict.value,
        "mark": MARKS.get(one.verdict, ""),
        "text": formatting.number(one.estimate, scale),
        "size": " v ".join(f"{count:,}" for count in one.rollouts),
        "title": f"{one.name}: {one.shown(found.measure)}",
    }


STYLES = {"worse": "color:#b34700;font-weight:650", "better": "color:#0b62a0;font-weight:650"}


def map_html(found: Slices) -> str:
    """The map for a notebook, which has no style sheet of ours."""
    grid = slice_map(found)
    if grid is None:
        return ""
    cell = "text-align:center;padding:.15em .7em;border:1px solid #8884"
    head = "".join(f"<th style='{cell}'>{escape(name)}</th>" for name in (grid["by"], *grid["columns"]))
    body = []
    for row in grid["rows"]:
        cells = [
            "<td></td>"
            if one is None
            else f"<td style='{cell};{STYLES.get(one['kind'], '')}' title='{escape(one['title'], quote=True)}'>"
            f"{one['mark']} {one['text']}</td>"
            for one in row["cells"]
        ]
        body.append(f"<tr><th style='{cell}'>{escape(row['level'])}</th>{''.join(cells)}</tr>")
    return f"<table><caption>{escape(grid['caption'])}</caption><tr>{head}</tr>{''.join(body)}</table>"
