"""`surefoot audit`: what can these data not support?"""

from __future__ import annotations

import surefoot as sf
from surefoot.cli import files, terminal


@files.reads
def audit(
    paths: files.Paths,
    collected: files.Collected = None,
    *,
    reading: files.Reading,
    as_json: terminal.AsJson = False,
) -> None:
    """What can these data not support?

    Each finding says what it threatens and what to do.

    Examples:

        surefoot audit results.csv
    """
    rollouts = files.table(paths, reading, collected=collected, most_files=1)
    terminal.show(sf.audit(rollouts), as_json=as_json)
