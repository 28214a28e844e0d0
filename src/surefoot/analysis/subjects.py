"""What an answer is about: units like those that were met, or these very units."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from surefoot.core.record import Record
from surefoot.core.words import plural
from surefoot.table.design import FEW, MANY, Column, Design, noun

Target = Literal["like", "these"]
"""Units as a sample of units like them, or as the very ones that matter."""
TARGETS: tuple[Target, ...] = ("like", "these")


@dataclass(frozen=True, slots=True)
class Subject(Record):
    """What an answer is about.

    Attributes:
        target: Whether units stand for others like them, or for themselves.
        column: The column that tells them apart, as the file calls it; empty where no column does.
        count: How many there are.
        rollouts: What a row is called, for answers about rollouts.
        runs: How many runs of each policy are meant in the same way as the units; 0 where no run is counted.

    Example:
        >>> from surefoot.analysis.subjects import Subject
        >>> str(Subject("like", "task", 88)), str(Subject("these", "scene", 4))
        ('tasks like these 88', 'these 4 scenes')
    """

    target: Target
    column: str = ""
    count: int = 0
    rollouts: str = "rollouts"
    runs: int = 0

    def __str__(self) -> str:
        if not self.column:
            return f"{self.rollouts} like these"
        word, beside = self._noun()
        runs = f" and these {self.runs} runs of each" if self.runs else ""
        if self.target == "these" and self.count == 1:
            return f"this setting ({self.column}){runs}"
        if self.target == "these":
            return f"these {self.count:,} {word}{beside}{runs}"
        return f"{word} like these {self.count:,}{beside}{runs}"

    @property
    def plural(self) -> str:
        """Several of the units, in the user's word."""
        return self._noun()[0] if self.column else self.rollouts

    def _noun(self) -> tuple[str, str]:
        word = noun(self.column).replace("_", " ")
        if self.target == "these" and self.count < FEW:
            return "settings", f" ({self.column})"
        if not re.fullmatch(r"[^\W\d_]{3,}( [^\W\d_]{2,})*", word):
            return "units", f" ({self.column})"
        return (word if word.endswith("s") and not word.endswith("ss") else plural(word)), ""


def runs_that_count(design: Design, fewest: int) -> int:
    """How many runs of a policy stand for runs like them: declared ones from 2 on, others from 20 on; else 0."""
    said = any(key in design.declared for key in design.keys("run"))
    said = said or any(note.kind == "counted runs" for note in design.said)
    return fewest if fewest >= (2 if said else MANY) else 0


@dataclass(frozen=True, slots=True)
class Reading(Record):
    """How the rollouts of two policies were read: which units, in which cells.

    Attributes:
        design: The role of every column.
        about: What the answer is about.
        paired: Whether units that both met are compared with themselves.
        units: The units that both policies met; 0 where nothing tells them apart.
        cells: The cells that both policies met: units, or units by settings.
        groups: How many clusters rollouts of a unit, or units of a cluster, make; 0 where each rollout stands alone.
        repeats: The most rollouts of one policy in a cell.
        settings: How many levels of settings there are in all; 0 without settings.
        why: Why units are not compared with themselves, where they are not.
    """

    design: Design
    about: Subject
    paired: bool = False
    units: int = 0
    cells: int = 0
    groups: int = 0
    repeats: int = 1
    settings: int = 0
    why: str = ""

    @property
    def clusters(self) -> tuple[str, ...]:
        """The table's columns of what is independent, where rollouts are not: the unit's, or the clusters'."""
        return () if not self.groups else self.design.keys("cluster") or self.design.keys("unit")

    @property
    def environment(self) -> tuple[str, ...]:
        """The table's columns that tell apart what both policies met."""
        return self.design.keys("unit", "setting")

    def __str__(self) -> str:
        by = f", paired by {self.design.unit}" if self.paired and self.design.unit else ""
        if self.why:
            by = f", not paired: {self.why}"
        return f"Read as: {self.design.reading()}{by}."


def reading_of_structure(structure: Mapping[str, Any]) -> dict[str, Any]:
    """How version 0.2.0 read a table, as a reading of today: what it paired is the unit, what it clustered the cluster.

    Its answers named no target; they were about rollouts, or pairs of them, like those that were run.
    """

    def column(role: str, keys: Sequence[str], levels: int) -> dict[str, Any]:
        named = " and ".join(structure["named"].get(key, key) for key in keys)
        made = Column(named, "unit" if role == "unit" else "cluster", levels, "as version 0.2.0 read it", keys[0])
        return made.to_dict()

    met, clusters, groups = structure["environment"], structure["clusters"], structure["groups"]
    columns = [column("unit", met, structure["environments"])] if met else []
    columns += [column("cluster", clusters, groups)] if groups and clusters and clusters != met else []
    unpaired = structure["unpaired"]
    reading = Reading(
        Design(),
        Subject("like", "", 0, "rollouts" if unpaired else "pairs"),
        paired=unpaired is None,
        units=structure["shared"] if met else 0,
        cells=structure["shared"] if met else 0,
        groups=groups,
        repeats=2 if structure["recurring"] else 1,
        why=f"{unpaired}" if unpaired and unpaired != "one policy" else "",
    )
    made = reading.to_dict()
    return {**made, "design": {**made["design"], "columns": columns}}
