"""Scores between 0 and 1 from rubrics and named stages.

A rubric of K sub-tasks gives the share passed. Named stages, listed from the least to the most, are equally far
apart: the first is worth 0 and the last 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from surefoot import _check
from surefoot.table.cells import Cell


@dataclass(frozen=True, slots=True)
class Scoring:
    """How scores are written: as a number (nothing set), as a rubric, or as named stages.

    Attributes:
        rubric: The number of sub-tasks, when `score` holds how many were passed; or the columns of the sub-tasks.
        stages: The names in `stage`, from the least to the most.
        percent: How many percent a score of 1 is: 100, or 1 on a range of 0 to 100; None where none can be read.
    """

    rubric: int | tuple[str, ...] | None = None
    stages: tuple[str, ...] | None = None
    percent: float | None = None

    @classmethod
    def of(cls, rubric: int | Sequence[str] | None, stages: Sequence[str] | None) -> Scoring:
        """Check what the user said."""
        if rubric is not None and stages is not None:
            raise _check.wrong(
                ("rubric", "stages"), "not both be given; a score comes from one of them.", (rubric, stages)
            )
        if isinstance(rubric, (str, bytes)) or isinstance(stages, (str, bytes)):
            raise _check.wrong_kind(
                ("rubric", "stages"), "list names; got one text.", (rubric, stages), "Write them as a tuple."
            )
        if stages is not None:
            named = tuple(str(name).strip() for name in stages)
            if len(set(named)) != len(named) or len(named) < 2:
                raise _check.refused("stages", "name at least two different stages", stages)
            return cls(stages=named)
        if rubric is None or isinstance(rubric, int):
            return cls(rubric=None if rubric is None else _check.whole(rubric, "rubric", least=1))
        _check.filled(rubric, "rubric", "name at least one column")
        return cls(rubric=tuple(rubric))

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns a rubric names."""
        return self.rubric if isinstance(self.rubric, tuple) else ()

    def share(self, parts: Sequence[Cell]) -> Cell:
        """The share of a rubric's sub-tasks passed; missing when one of them is."""
        value, bad = parts[0]
        for part in parts[1:]:
            value, bad = value + part.value, bad | part.bad
        return Cell(value / len(parts), bad)

    def scaled(self, score: Cell) -> Cell:
        """A count of sub-tasks passed as a share; the score itself when there is no rubric."""
        if not isinstance(self.rubric, int):
            return score
        count = score.value
        fits = (count >= 0) & (count <= self.rubric) & (count == count.round())
        return Cell(count / self.rubric, score.bad | (~count.is_null() & ~fits))

    def reached(self, stage: Cell, library: Any) -> Cell:
        """The score of a stage; `library` is polars or narwhals, whose expressions read the same here."""
        names = self.stages or ()
        value = library.when(stage.value == names[0]).then(library.lit(0.0))
        for place, name in reversed(tuple(enumerate(names[1:], 1))):
            inner = library.when(stage.value == name).then(library.lit(place / (len(names) - 1))).otherwise(value)
            value = library.when(~stage.value.is_null()).then(inner)
        return Cell(value, ~stage.value.is_null() & ~stage.value.is_in(list(names)))

    @property
    def must(self) -> str:
        """What a cell must be, for messages; empty when a score is a plain number."""
        if self.stages:
            return f"be one of {', '.join(self.stages)}"
        if isinstance(self.rubric, int):
            return f"be a whole number of sub-tasks passed, 0 to {self.rubric}"
        return MUST_PASS if self.rubric else ""


MUST_PASS = "be one of 1, true, pass, 0, false, fail in every sub-task"
