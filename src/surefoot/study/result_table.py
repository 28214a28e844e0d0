"""A study's results as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot.analysis.live_slices import slices_of_pairs
from surefoot.analysis.slices import Slices, every_slices
from surefoot.core.notes import Note
from surefoot.errors import DataError, StudyError
from surefoot.files.importers import Sheet
from surefoot.files.reading import read
from surefoot.study.conduct import COUNTS, fates
from surefoot.study.decision import RankingDecision
from surefoot.study.events import seeded
from surefoot.study.log import checked
from surefoot.study.plans import Plan
from surefoot.study.schedules import Turn, block
from surefoot.study.state import Fold
from surefoot.study.stores import open_store
from surefoot.table.rollouts import Rollouts

if TYPE_CHECKING:
    import polars as pl


def slices_at_stop(fold: Fold) -> tuple[Slices, ...]:
    """The slices of a study of two that has stopped, by its tasks and conditions; none while it goes on or is blinded.

    Where the stop did not look at outcomes the labels are shuffled, as in any table. Otherwise each slice keeps a rule
    of its own on its pairs, which holds whenever the study stops; rollouts that share no environment have no such
    pairs.
    """
    plan, decision = fold.plan, fold.decision
    if fold.blinded or fold.exploratory or not plan.in_pairs or not fold.finished or plan.items:
        return ()
    if isinstance(decision, RankingDecision):
        return ()
    confidence, measure = plan.confidence, plan.measure
    if decision.state.rule.once and decision.state.ending in ("verdict", "horizon"):
        try:
            return every_slices(rollouts_of(fold), plan.policies, measure=measure, confidence=confidence)
        except DataError:
            return ()
    if plan.environments == "independent":
        return ()
    first, second = plan.policies
    turns = [_first_turn(fold, plan, number) for number in range(1, plan.horizon + 1)]
    became, met = fates(fold), []
    for _, pair in sorted(fold.blocks.items()):
        if all(became.get(turn.number) == "counted" for turn in pair):
            score = {turn.policy: float(fold.results[turn.number].score) for turn in pair}
            met.append((_levels(pair[0]), score[first], score[second]))
    found = slices_of_pairs(
        (first, second), [_levels(turn) for turn in turns], met, measure=measure, low=plan.low, high=plan.high,
        confidence=confidence,
    )  # fmt: skip
    return () if found is None else (found,)


def _first_turn(fold: Fold, plan: Plan, number: int) -> Turn:
    turns = block(plan, fold.seed.reveal(), number, 2 * number - 1, plan.policies, schema=fold.schema)
    return turns[0]


def _levels(turn: Turn) -> dict[str, str]:
    named = {"task": turn.task, "condition": turn.condition}
    return {name: level for name, level in named.items() if level}


FEW = 12
"""Where there are more, or tasks have conditions of their own ("pose 1" of one is not that of another), rollouts are
compared by task alone."""
LOOKED = Note("could stop by looking")
INSIDE = "it is a study's; name its file to read it by itself"
"""Why a study that lies in a folder of results is not read with them: they may be its own rollouts once more."""


def rollouts_of(fold: Fold) -> Rollouts:
    """Every recorded rollout in scheduled order, `valid` where it counts; the seed tells which shared an environment.

    Tasks and conditions that were drawn for each policy apart are watched, however even the draw turned out.

    Raises:
        StudyError: The study is blinded, or nothing was recorded yet.
    """
    plan, frame = fold.plan, _frame(fold)
    table = read(frame, low=plan.low, high=plan.high, collected=plan.environments)
    return replace(table, declared=_drawn(fold, frame.columns), notes=(*table.notes, LOOKED))


def sheet_of(path: Path, name: str) -> Sheet:
    """The rollouts of a study's file or of its exported log."""
    try:
        fold = checked(seeded(open_store(path).read()))
        frame = _frame(fold)
    except StudyError as error:
        raise DataError(str(error), source=name) from None
    plan = fold.plan
    return Sheet(
        frame.lazy(),
        "surefoot study",
        (LOOKED,),
        low=plan.low,
        high=plan.high,
        roles=_drawn(fold, frame.columns),
        unfinished=INSIDE,
        collected=plan.environments,
    )


def _drawn(fold: Fold, columns: Sequence[str]) -> dict[str, str]:
    shared = fold.plan.environments == "shared"
    apart = {name: "watched" for name in ("task", "condition") if name in columns}
    known = {"seed": "unit"} if "task" in columns else {}
    own = fold.plan.uneven or (fold.plan.tasks and len(fold.plan.contexts) > FEW)
    return (known if shared else apart) | ({"condition": "ignore"} if own and "condition" in columns else {})


def _frame(fold: Fold) -> pl.DataFrame:
    import polars as pl

    if fold.blinded:
        raise StudyError("The study is blinded: its results by policy are hidden until it is unblinded.")
    if not fold.results:
        raise StudyError("Nothing was recorded yet.")
    plan, became = fold.plan, fates(fold)
    rows = []
    for number, result in sorted(fold.results.items()):
        turn = fold.turns[number]
        rows.append(
            {
                "policy": result.policy,
                "task": turn.task or None,
                "condition": turn.condition or None,
                "robot": turn.rig or None,
                "seed": f"block {turn.block}" if plan.environments == "shared" else f"turn {number}",
                "order": number,
                plan.measure: bool(result.score) if plan.measure == "success" else result.score,
                "duration": result.duration,
                "stage": result.stage or None,
                "failure": result.failure or None,
                "evaluator": turn.operator or result.author or None,
                "valid": became[number] in COUNTS,
                "note": result.note or None,
            }
        )
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return frame.select(name for name in frame.columns if frame[name].null_count() < frame.height)
