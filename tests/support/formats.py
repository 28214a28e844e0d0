"""What several tests of formats share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import surefoot as sf
from tests.support.samples import put


def tallies(rollouts: sf.Rollouts, *by: str) -> dict[tuple[str | None, ...], tuple[int, int]]:
    return {group.key: (group.successes, group.outcomes) for group in rollouts.summary(by=by or ("policy",))}


def written(folder: Path, document: Any, name: str = "results.json") -> Path:
    return put(folder, name, json.dumps(document).encode())
