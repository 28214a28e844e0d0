"""A study of two policies with clips, unblinded: what its report's numbers must lead to."""

from __future__ import annotations

from pathlib import Path

from surefoot.study.studies import Study
from tests.support.clips import GIF, PNG
from tests.support.studies import plan


def filmed(folder: Path, *, turns: int = 16, unblinded: bool = True, **changes: object) -> Study:
    """So many rollouts, each with its own clip but for one that was lost, one that is a link and one without."""
    fields = {"tasks": ("fold <b>", "pour & stir"), "conditions": ("left", "right"), "horizon": 10, "futility": 0.0}
    study = Study.create(plan(**{**fields, **changes}), folder / "study.db", author="Ann")
    clips: dict[int, object] = {3: folder / "lost.mp4", 4: "https://lab.example/4.mp4", 5: None}
    for number in range(1, turns + 1):
        turn = study.next_turn()
        film = folder / f"{turn.policy}-{number}.gif"
        film.write_bytes((PNG if number == 7 else GIF) + bytes([number]))
        good = number % 3 != 0
        study.record(
            turn,
            good if study.plan.measure == "success" else number / 100,
            failure="" if good else "slipped" if number % 2 else "dropped <it>",
            duration=1.5 * number,
            clip=clips.get(number, film),  # type: ignore[arg-type]
        )
    study.void(2, reason="hardware fault", note="the gripper")
    if unblinded:
        study.unblind(reason="done")
    return study
