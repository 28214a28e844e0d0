"""The rollouts behind a report's numbers: a row for each, links from the numbers to them, and their clips.

A page is one file; its clips lie in a folder beside it, each copied whole or not at all. The page lists every rollout.
A number is a link to that list, narrowed to exactly the rollouts that it counts; the address says how
(`#rollouts?policy=new&outcome=success`), so that it can be kept and sent.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote, urlencode

from surefoot._files import inside
from surefoot.core import formatting
from surefoot.core.formatting import counted
from surefoot.core.record import Record
from surefoot.table.rollouts import Rollouts

if TYPE_CHECKING:
    from surefoot.reporting.reports import Report
    from surefoot.study.clips import ClipFolder
    from surefoot.study.conduct import Fate
    from surefoot.study.recording import Result
    from surefoot.study.state import Fold


Class = Literal["success", "failure", "scored", "unknown", "void", "surplus"]
"""What a rollout counts as: a success or a failure, a score, or nothing: unknown, void, or not needed by its study."""
NOT_COUNTED: tuple[Class, ...] = ("unknown", "void", "surplus")
MOST = 5_000
"""More rollouts than this are not listed: a page of them would not open."""
NOT_BELOW = "there is no such regular file below the folder of the table"
"""Why a clip that a table names is not copied."""


@dataclass(frozen=True, slots=True)
class RolloutRow(Record):
    """One rollout as a report lists it.

    Attributes:
        turn: Its turn in a study, or its place in a table.
        policy: The policy.
        task: The task; empty when there is none.
        condition: The start, scene or item that it met.
        counts: What it counts as.
        score: Its score, in a study or table of scores.
        failure: What went wrong.
        duration: Seconds that it took.
        operator: Who recorded it.
        note: What was noted.
        clip: A link, or the file's path; empty when there is none.
        clip_hash: The hash of the file, when it is known.
        clip_fault: Why there is no clip, when one was meant to be.
        third: In which third of its study it was run, when it counts.
    """

    turn: int
    policy: str
    task: str
    condition: str
    counts: Class
    score: float | None
    failure: str
    duration: float | None
    operator: str
    note: str
    clip: str = ""
    clip_hash: str = ""
    clip_fault: str = ""
    third: str = ""


def rows_of_study(fold: Fold, folder: ClipFolder | None) -> tuple[RolloutRow, ...]:
    """Every recorded rollout of a study, voided ones marked; none while it is blinded, or when they are too many."""
    if fold.blinded or len(fold.results) > MOST:
        return ()
    from surefoot.study.conduct import fates, thirds

    parts = thirds(fold)
    return tuple(_row_of(fold, fold.results[turn], fate, folder, parts) for turn, fate in fates(fold).items())


def _row_of(fold: Fold, result: Result, fate: Fate, folder: ClipFolder | None, parts: Mapping[int, str]) -> RolloutRow:
    from surefoot.study.clips import FAULTS
    from surefoot.study.leases import PREFIX, known_as

    turn, success = fold.turns[result.turn], fold.plan.measure == "success"
    counts: Class = "scored" if not success else "success" if result.score else "failure"
    if fate == "void" or fate == "surplus":
        counts = fate
    clip, place, fault = result.clip, "", ""
    if clip is not None and clip.fault:
        fault = FAULTS[clip.fault]
    elif clip is not None:
        place = clip.link or ("" if folder is None else str(folder.where(clip)))
    return RolloutRow(
        turn=result.turn,
        policy=result.policy,
        task=turn.task,
        condition=turn.condition,
        counts=counts,
        score=None if success else result.score,
        failure=result.failure,
        duration=result.duration,
        operator="" if result.author.startswith(PREFIX) else known_as(result.author),
        note=result.note,
        clip=place,
        clip_hash="" if clip is None else clip.sha256,
        clip_fault=fault,
        third=parts.get(turn.block, "") if counts not in NOT_COUNTED else "",
    )


def rows_of_table(rollouts: Rollouts, measure: str) -> tuple[RolloutRow, ...]:
    """Every rollout of a table that names clips; none when it names none, or when they are too many."""
    if "clip" not in rollouts.columns or len(rollouts) > MOST:
        return ()
    folders = [Path(file).parent for file in rollouts.files]
    rows = rollouts.polars().iter_rows(named=True)
    return tuple(_row_in(place, one, measure, folders) for place, one in enumerate(rows, 1))


def _row_in(place: int, one: dict[str, Any], measure: str, folders: list[Path]) -> RolloutRow:
    from surefoot.study.clips import is_link

    value = one.get(measure)
    known: Class = "scored" if measure == "score" else "success" if value else "failure"
    texts = {name: str(one.get(name) or "") for name in ("policy", "task", "condition", "failure", "note")}
    clip = str(one.get("clip") or "")
    path = clip if not clip or is_link(clip) else _below(clip, folders)
    return RolloutRow(
        turn=place,
        counts="void" if one.get("valid") is False else "unknown" if value is None else known,
        score=value if measure == "score" else None,
        duration=one.get("duration"),
        operator=one.get("evaluator") or "",
        clip=path,
        clip_fault=NOT_BELOW if clip and not path else "",
        **texts,
    )


def _below(clip: str, folders: list[Path]) -> str:
    """The file that a table names, if it lies below the table's folder and no link leads to it; else empty.

    A table may come from anyone: a path of its choosing must not copy a file of this machine beside a page.
    """
    with contextlib.suppress(OSError, ValueError):
        places = (inside(clip, folder) for folder in folders)
        return str(next((path for path in places if path is not None and path.is_file()), ""))
    return ""


def gathered(rows: Iterable[RolloutRow], folder: Path) -> dict[str, str]:
    """Copy the clips of a page into the folder beside it; the address of each by its path.

    A file that is no clip, that is not there, or that is not the one that was recorded, is left out.
    """
    from surefoot.study.clips import Clip, ClipFolder, is_link

    beside, found, copied = ClipFolder(folder, private=False), dict[str, str](), dict[str, int]()
    for path, expected in dict.fromkeys((row.clip, row.clip_hash) for row in rows):
        clip = beside.kept(path, expected=expected) if path and not is_link(path) else Clip()
        if clip.sha256:
            found[path] = f"./{quote(folder.name)}/{clip.file}"
            copied[clip.file] = clip.bytes
    if copied:
        size = sum(copied.values()) / 1e6
        logging.getLogger("surefoot").warning("copied %s, %.3g MB, into %s", counted(len(copied), "clip"), size, folder)
    return found


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
        return {1: self.to(operator=name)} if any(row.operator == name for row in self.rows) else {}


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
    from surefoot.study.clips import PICTURES, is_link

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
