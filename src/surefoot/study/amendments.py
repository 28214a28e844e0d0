"""What of a plan may still be changed, once the study has begun?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from surefoot.core.verdict import Verdict
from surefoot.errors import StudyError
from surefoot.study.decision import table_of
from surefoot.study.plans import BINDING
from surefoot.study.recording import RefusedError
from surefoot.study.state import Fold

HANDED_OUT = ("policies", "measure", "environments")
"""What the turns already handed out were made from."""


def admitted(fold: Fold, changes: Mapping[str, Any]) -> dict[str, Any]:
    """What the log keeps of a change that may be made: the fields as the amended plan has them, its rule's table.

    Raises:
        RefusedError: It may not; the sentence says why, and what to do instead.
    """
    if not changes:
        raise RefusedError("invalid", "An amendment must change something; got nothing.")
    if "blinded" in changes:
        raise RefusedError("decided", "`blinded` cannot be amended: unblind the study, which reveals its seed.")
    fixed = [name for name in HANDED_OUT if name in changes and fold.turns]
    if fixed:
        raise RefusedError("decided", f"`{fixed[0]}` cannot change once turns were handed out; create another study.")
    binding = [name for name in BINDING if name in changes]
    if binding and fold.finished and fold.standing.verdict is not Verdict.UNDECIDED:
        raise RefusedError(
            "decided",
            f"The study is decided, and a decision stays: `{binding[0]}` cannot be amended any more. "
            "To ask again, begin another study.",
        )
    try:
        plan = fold.plan.amended(changes)
        for result in fold.results.values():
            plan.value(result.score)
        kept = plan.to_dict()
        return {"changes": {name: kept[name] for name in changes}, "table": table_of(plan)}
    except (ValueError, TypeError, StudyError) as error:
        raise RefusedError("invalid", f"The plan cannot be amended so: {error}") from None
