"""How do labels by people on the command line come beside a judge's outcomes?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surefoot import _check

if TYPE_CHECKING:
    from surefoot.table.labelling import LabelsMethod
    from surefoot.table.rollouts import Rollouts

Human = Annotated[
    Path | None,
    typer.Option(
        "--human",
        metavar="FILE",
        help="Labels by people, a CSV: item[, epoch], policy (or the code of `surefoot labels draw`), human[, rater]. "
        "Comparisons are then corrected by them.",
    ),
]
Method = Annotated[
    str | None,
    typer.Option(
        "--labels-method",
        help="With human labels: 'judge', which lets the judge help (approximate; measured coverage at least 93.5%), "
        "or 'labels' alone (guaranteed). Fix it beforehand. [default: judge]",
    ),
]


def labelled(rollouts: Rollouts, human: Path | None, method: str | None, score: str | None) -> Rollouts:
    """The table with the labels of the file beside the judge's outcomes, to be used as asked."""
    import surefoot as sf

    known: dict[str, LabelsMethod] = {"judge": "judge", "labels": "labels"}
    how = _check.choice(method, "--labels-method", known) if method is not None else "judge"
    if human is not None:
        return sf.label(rollouts, human, measure="score" if score else None, method=how)
    if method is None:
        return rollouts
    if not rollouts.labels:
        raise ValueError("`--labels-method` must come with human labels: --human, or a `human` column.")
    from surefoot.files.label_files import labels_used

    return labels_used(rollouts, how)
