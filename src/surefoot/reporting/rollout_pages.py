"""Links from the numbers of a page to the rollouts behind them, and to their clips.

The page lists every rollout. A number is a link to that list, narrowed to exactly the rollouts that it counts; the
address says how (`#rollouts?policy=new&outcome=success`), so that it can be kept and sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from surefoot.core import formatting
from surefoot.reporting.rollout_rows import NOT_COUNTED, RolloutRow
from surefoot.study.clips import PICTURES, is_link

if TYPE_CHECKING:
    from surefoot.reporting.reports import Report

PLACE = "#rollouts"
COLUMNS = ("turn", "clip", "policy", "task", "condition", "outcome", "failure", "duration", "operator", "note")
"""The columns of the list; one that is empty is left out. The clip stands where a phone shows it at once."""
AS_IT_IS = ("turn", "policy", "task", "condition", "counts", "third", "failure", "operator", "note")
OUTCOMES = {
    "counted": "all that count",
    "success": "success",
    "failure": "failure",
    "unknown": "not known",
    "void": "void",
    "surplus": "surplus",
}
"""What the list can be narrowed to, and how that is called."""
LINKED = ("success rate", "mean score", "n")
"""Columns of the table of policies whose numbers lead to rollouts, besides k/n."""
Links = list[tuple[str, str]]


class RolloutLinks:
    """The addresses of the list of rollouts, narrowed; none when the page has no list."""

    def __init__(self, rows: tuple[RolloutRow, ...], *, scripts: bool) -> None:
        """Without scripts every address is that of the whole list."""
        self.rows, self.scripts = rows, scripts

    def to(self, **only: str) -> str:
        """The address of the rollouts that have these values; empty when the page lists none."""
        if not self.rows:
            return ""
        return f"{PLACE}?{urlencode(only)}" if self.scripts and only else PLACE

    def of_policy(self, name: str, text: str, policy: str) -> Links:
        """The links of a cell of the table of policies, by the column's name: each number leads to what it counts."""
        good, counted = (self.to(policy=policy, outcome=outcome) for outcome in ("success", "counted"))
        if not self.rows or not text:
            return []
        if name == "k/n":
            successes, _, trials = text.partition("/")
            return [(successes, good), (trials, counted)]
        return [(text, good if name == "success rate" else counted)] if name in LINKED else []

    def of_part(self, policy: str, part: str) -> str:
        """The address of a part of a study, a third or a task and condition; empty for any other."""
        for row in self.rows:
            which = {"policy": policy}
            if part == row.third:
                which["third"] = part
            elif part and part == row.task:
                which["task"] = part
            elif part == part_of(row):
                which |= {name: value for name in ("task", "condition") if (value := getattr(row, name))}
            else:
                continue
            return self.to(**which, outcome="counted")
        return ""

    def of_operator(self, name: str) -> dict[int, str]:
        """The link of the count of what somebody recorded."""
        return {2: self.to(operator=name)} if any(row.operator == name for row in self.rows) else {}


def part_of(row: RolloutRow) -> str:
    """A task and condition as one name."""
    return " · ".join(filter(None, (row.task, row.condition)))


def rollouts_section(report: Report, links: RolloutLinks, clips: Mapping[str, str] | None) -> dict[str, Any] | None:
    """The list of rollouts as the template shows it.

    Args:
        report: The report.
        links: The addresses of the list.
        clips: The address of each clip by its path; none when the page has no folder beside it.
    """
    rows = report.rollouts
    if not rows:
        return None
    voids = sum(row.counts == "void" for row in rows)
    shown = [_shown(row, clips) for row in rows]
    there = {name for name in COLUMNS if any(one[name] for one in shown)}
    return {
        "columns": [name for name in COLUMNS if name in there],
        "rows": shown,
        "voids": {"text": f"{formatting.rollouts(voids)} void", "to": links.to(outcome="void")} if voids else None,
        "choices": _choices(rows),
        "clips": sum(bool(one["clip"]) and "to" in one["clip"] for one in shown),
    }


def _shown(row: RolloutRow, clips: Mapping[str, str] | None) -> dict[str, Any]:
    outcome = formatting.number(row.score, "score") if row.score is not None else OUTCOMES.get(row.counts, "")
    return {name: getattr(row, name) for name in AS_IT_IS} | {
        "outcome": f"{outcome} ({row.counts})" if row.counts in NOT_COUNTED and row.score is not None else outcome,
        "duration": "" if row.duration is None else f"{row.duration:.1f} s",
        "clip": _clip(row, clips),
    }


def _clip(row: RolloutRow, clips: Mapping[str, str] | None) -> dict[str, str] | None:
    """What the cell of a clip shows: a link, or why there is none."""
    if row.clip_fault:
        return {"text": "none", "why": row.clip_fault}
    if not row.clip:
        return None
    if is_link(row.clip):
        return {"text": "link", "to": row.clip}
    if clips is None:
        return {"text": "kept", "why": "it is in the folder of clips"}
    if row.clip not in clips:
        return {"text": "lost", "why": "its file is missing, or is not the one that was recorded"}
    kind = "picture" if clips[row.clip].rpartition(".")[2] in PICTURES else "video"
    return {"text": "watch" if kind == "video" else "look", "to": clips[row.clip], "kind": kind}


def _choices(rows: Iterable[RolloutRow]) -> list[dict[str, Any]]:
    """What the list can be narrowed by, where there is a choice."""
    rows = list(rows)
    values = {name: sorted({getattr(row, name) for row in rows} - {""}) for name in ("policy", "task", "failure")}
    found = [{"name": name, "values": [(each, each) for each in known]} for name, known in values.items()]
    classes = {row.counts for row in rows}
    outcomes = [(name, told) for name, told in OUTCOMES.items() if name in classes or name == "counted"]
    found.insert(2, {"name": "outcome", "values": outcomes})
    return [one for one in found if len(one["values"]) > 1 or (one["name"] == "failure" and one["values"])]
