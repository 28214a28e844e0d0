"""Tests of `surefoot.files.formats.lines`."""

from __future__ import annotations

from pathlib import Path

import surefoot as sf
from tests.support.formats import tallies
from tests.support.samples import FIXTURES, put


def test_json_lines_may_begin_with_blank_lines(tmp_path: Path) -> None:
    path = put(tmp_path, "a.jsonl", b'\r\n\n{"policy": "a", "success": true}\r\n\r\n{"policy": "a", "success": 0.0}\n')
    assert tallies(sf.read(path)) == {("a",): (1, 2)}


def test_jsonl_and_records() -> None:
    assert tallies(sf.read(FIXTURES / "rollouts.jsonl")) == {("new",): (1, 2), ("old",): (0, 1)}
    rubric = sf.read(FIXTURES / "records.json", rubric=4)
    assert rubric.where(policy="new").scores().values == (0.5,)
