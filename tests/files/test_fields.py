"""Tests of `surefoot.files.fields`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import surefoot as sf
from tests.support.samples import FIXTURES, put


def test_wrong_shapes_inside_known_logs(tmp_path: Path) -> None:
    log = json.loads((FIXTURES / "lerobot_old" / "eval_info.json").read_text())
    cases = [
        ({**log, "per_episode": 3}, r"`per_episode` must be a list; got 3"),
        ({**log, "per_episode": [3]}, r"`per_episode\[0\]` must be an object; got 3"),
        ({**log, "per_episode": [{"success": "yes"}]}, r"`per_episode\[0\].success` must be a number; got 'yes'"),
        ({**log, "aggregated": []}, r"`aggregated` must be an object; got \[\]"),
        (
            {"per_task": [{"metrics": {"successes": [True], "sum_rewards": [1, 2]}}], "overall": {}},
            r"must have as many values as `successes`, 1; got 2",
        ),
        ({"per_task": [{}], "overall": {}}, r"`per_task\[0\].metrics` must be an object; got nothing"),
    ]
    for document, message in cases:
        with pytest.raises(sf.DataError, match=message):
            sf.read(put(tmp_path, "eval_info.json", json.dumps(document)))
