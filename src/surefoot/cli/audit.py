"""`surefoot audit`: what can these data not support?"""

from __future__ import annotations

import surefoot as sf
from surefoot.cli import files, terminal


def audit(
    paths: files.Paths,
    columns: files.Columns = None,
    where: files.Where = None,
    sheet: files.SheetName = None,
    policies: files.Policies = None,
    policies_in: files.PoliciesIn = None,
    low: files.Low = None,
    high: files.High = None,
    collected: files.Collected = None,
    as_json: terminal.AsJson = False,
) -> None:
    """What can these data not support?

    Each finding says what it threatens and what to do.

    Examples:

        surefoot audit results.csv
    """
    rollouts = files.table(
        paths,
        files.Reading(
            columns=columns, where=where, sheet=sheet, policies=policies, policies_in=policies_in, low=low, high=high
        ),
        collected=collected,
        most_files=1,
    )
    terminal.show(sf.audit(rollouts), as_json=as_json)
