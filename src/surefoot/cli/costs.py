"""What do `compare --cost` and `rank --cost` say of quality and cost?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import surefoot as sf
from surefoot.cli import terminal

if TYPE_CHECKING:
    from surefoot.analysis.fronts import Front
    from surefoot.table.rollouts import Rollouts


def front(rollouts: Rollouts, cost: str | None, policies: Sequence[str] = (), **asked: Any) -> Front | None:
    """The front of quality and cost as the option asks for it; None where it was not given."""
    if cost is None:
        return None
    column, equals, limit = cost.partition("=")
    if equals and (not terminal.is_number(limit) or not float(limit) > 0.0):
        raise ValueError(f"`--cost` must be a column and its limit, such as tokens=8000; got {cost!r}.")
    return sf.pareto(rollouts, column, policies=policies, limit=float(limit) if equals else None, **asked)


def told(found: Front | None) -> dict[str, Any]:
    """The front as JSON-ready data; nothing where none was asked for."""
    return {} if found is None else {"cost": found.to_dict()}
