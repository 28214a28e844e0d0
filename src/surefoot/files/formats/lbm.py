"""LBM 1.0 CSV: a list of outcomes in each cell, in the order they were run."""

from __future__ import annotations

import math
from typing import Any

from surefoot.core.notes import Note, Noted
from surefoot.errors import DataError
from surefoot.files.importers import About, Sheet, frame_of
from surefoot.files.recognising import Head
from surefoot.files.text_files import csv_rows
from surefoot.table.cells import QUOTES, shown
from surefoot.table.findings import Finding, own_total, same_total
from surefoot.table.given_letters import GivenLetters

ABOUT = About(
    name="LBM tables",
    file="the CSV of TRI's LBM evaluations",
    becomes="lists of outcomes in order; aggregate rows left out",
    example="surefoot report Fig4_AB.csv",
)

SUCCESS, PROGRESS = "Success/Failure", "Task_Progress_Results"
THEIRS = "the authors' sequential test"
NAMED = {"policy": "Method", "task": "Task", "dataset": "Panel"}
ROLES = {"order": "repeat"}
TOTALS = ("Num_Rollouts", "Num_Successes", "Success_Rate", "Avg_Task_Progress")
KNOWN = frozenset(("Method", "Fraction", "Task", "Panel", "CLD_Letter", "Num_Milestones", "Task_Progress_Bins"))
TRUTH = {"true": 1.0, "false": 0.0}

Group = tuple[tuple[str | None, ...], str]
"""The panel and the policy of a row."""


def recognises(head: Head) -> bool:
    """The columns of the paper's tables."""
    return {"Task", "Method"} <= set(head.header) and bool({SUCCESS, PROGRESS} & set(head.header))


def load(head: Head) -> Sheet:
    """One row per rollout; aggregate rows repeat the tasks laid end to end and are left out."""
    header, table, left_out = csv_rows(head)
    source, column = (SUCCESS, "success") if SUCCESS in header else (PROGRESS, "score")
    known = KNOWN.union((source, *TOTALS))
    beside = [name for name in header if name.strip() and name not in known]
    rows: list[dict[str, Any]] = []
    findings: list[Finding] = []
    sums: dict[Group, list[float]] = {}
    whole: list[tuple[int, Group, str | None, list[float]]] = []
    letters: dict[tuple[tuple[str | None, ...], str | None], dict[str, str]] = {}
    panels = _panels([cells for _, cells in table], beside)
    marks: dict[str, list[int]] = {}
    for row, cells in table:
        values, mark = _list(cells[source], source, head.name, row)
        if mark:
            marks.setdefault(mark, []).append(left_out.line_of_row(row))
        findings += _totals(cells, values, f"{head.name}, row {row}", head.name, row)
        policy = " ".join(filter(None, (cells["Method"], cells.get("Fraction"))))
        group = tuple(cells.get(name) for name in panels), policy
        if cells.get("CLD_Letter"):
            letters.setdefault((group[0], cells["Task"]), {})[policy] = str(cells["CLD_Letter"])
        if _aggregate(cells["Task"]):
            whole.append((row, group, cells.get("Panel"), values))
            continue
        sums.setdefault(group, []).extend(values)
        common = {"policy": policy, "task": cells["Task"], "dataset": cells.get("Panel")}
        common |= {name: cells[name] for name in beside}
        rows += [{**common, "order": place, column: value} for place, value in enumerate(values, 1)]
    notes: list[Noted] = [*left_out.notes]
    notes += [Note("stray marks", {"mark": mark, "lines": tuple(at)}) for mark, at in marks.items()]
    for row, group, panel, values in whole:
        if group not in sums:  # a table of aggregates only: they are the rollouts
            own = {"policy": group[1], "task": "all tasks", "dataset": panel}
            rows += [{**own, column: value} for value in values]
        elif len(sums[group]) != len(values) or not math.isclose(sum(sums[group]), sum(values), abs_tol=1e-6):
            findings.append(own_total(f"the aggregate in row {row}", sum(values), sum(sums[group])))
    left = sum(group in sums for _, group, _, _ in whole)
    if left:
        notes.append(f"{left} aggregate rows are left out: they repeat the rollouts of the tasks.")
    given = tuple(GivenLetters(task, tuple(of.items()), THEIRS) for task, of in _by_task(letters).items())
    return Sheet(
        frame_of(rows, head.name), "LBM table", tuple(notes), tuple(findings), letters=given, named=NAMED, roles=ROLES
    )


def _aggregate(task: str | None) -> bool:
    return (task or "").startswith("Aggregate")


def _panels(table: list[dict[str, str | None]], beside: list[str]) -> list[str]:
    """Columns that tell panels apart: Panel, and any whose every level several policies have, aggregates no others."""
    told = ["Panel"]
    for name in beside:
        policies: dict[str | None, set[str | None]] = {}
        for cells in table:
            policies.setdefault(cells[name], set()).add(cells["Method"])
        whole, tasks = ({c[name] for c in table if _aggregate(c["Task"]) is one} for one in (True, False))
        if whole <= tasks and min(map(len, policies.values())) > 1:
            told.append(name)
    return told


def _by_task(
    letters: dict[tuple[tuple[str | None, ...], str | None], dict[str, str]],
) -> dict[str | None, dict[str, str]]:
    """The letters of each task, and of all together when the table has one panel; a task in two panels has none."""
    panels = {panel for panel, _ in letters}
    told = [task for _, task in letters]
    found: dict[str | None, dict[str, str]] = {}
    for (_, task), of in letters.items():
        if _aggregate(task):
            if len(panels) == 1:
                found[None] = of
        elif told.count(task) == 1:
            found[task] = of
    return found


def _list(cell: str | None, column: str, source: str, row: int) -> tuple[list[float], str]:
    """The values in brackets, and a quotation mark that stands outside them and was left out."""
    bare = (cell or "").strip()
    inside = bare.strip(QUOTES)
    mark = (bare.replace(inside, "", 1) or " ")[0].strip() if inside.startswith("[") and inside.endswith("]") else ""
    if not (inside.startswith("[") and inside.endswith("]")):
        end = f"it begins with {inside[:40]!r}" if not inside.startswith("[") else f"it ends with {inside[-40:]!r}"
        cure = f" Remove the text after the bracket: {after!r}." if (after := inside.rpartition("]")[2]) else ""
        raise DataError(f"`{column}` must be a list in brackets; {end}.{cure}", source=source, row=row)
    values = []
    for part in filter(None, map(str.strip, inside[1:-1].split(","))):
        try:
            value = TRUTH[part.casefold()] if part.casefold() in TRUTH else float(part)
        except ValueError:
            raise DataError(
                f"`{column}` must list True, False or numbers; got {shown(part)}.", source=source, row=row
            ) from None
        if not math.isfinite(value):
            raise DataError(f"`{column}` must list finite numbers; got {part[:40]!r}.", source=source, row=row)
        values.append(value)
    if not values:
        raise DataError(f"`{column}` must list at least one rollout; got none.", source=source, row=row)
    return values, mark


def _totals(cells: dict[str, str | None], values: list[float], who: str, source: str, row: int) -> list[Finding]:
    mean = sum(values) / len(values)
    found = []
    for name, mine in zip(TOTALS, (float(len(values)), sum(values), mean, mean), strict=True):
        cell = cells.get(name)
        if cell is None:
            continue
        try:
            says = float(cell)
        except ValueError:
            raise DataError(f"`{name}` must be a number; got {cell[:40]!r}.", source=source, row=row) from None
        if not same_total(says, mine, cell):
            found.append(own_total(f"{name} in {who}", says, mine))
    return found
