"""How do a study's results become a table that every analysis can read?"""

from __future__ import annotations

from dataclasses import replace

from surefoot.core.notes import Note
from surefoot.errors import StudyError
from surefoot.files.reading import read
from surefoot.study.counts import COUNTS, fates
from surefoot.study.state import Fold
from surefoot.table.rollouts import Rollouts


def rollouts_of(fold: Fold) -> Rollouts:
    """Every recorded rollout in scheduled order, `valid` where it counts; the seed tells which shared an environment.

    Tasks and conditions that were drawn for each policy apart are watched, however even the draw turned out.

    Raises:
        StudyError: The study is blinded, or nothing was recorded yet.
    """
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
                "policy": turn.policy,
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
    known = [name for name in frame.columns if frame[name].null_count() < frame.height]
    table = read(frame.select(known), low=plan.low, high=plan.high, collected=plan.environments)
    shared = plan.environments == "shared"
    drawn: dict[str, str] = {} if shared else {name: "watched" for name in ("task", "condition") if name in known}
    return replace(table, declared=drawn, notes=(*table.notes, Note("could stop by looking")))
