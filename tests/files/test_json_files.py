"""Tests of `surefoot.files.json_files`."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot as sf
from surefoot.files.json_files import flat, parsed
from tests.support import samples
from tests.support.samples import put


def test_a_doubled_key_inside_a_log_or_a_session_is_refused(tmp_path: Path) -> None:
    members = samples.inspect_members()
    header = members["header.json"].decode().replace("{", '{"status": "error", ', 1)
    assert header.count('"status"') == 2
    with pytest.raises(sf.DataError, match="a key must be named once in an object; got 'status' twice"):
        sf.read(put(tmp_path, "log.eval", samples.deflated({**members, "header.json": header.encode()})))
    pytest.importorskip("yaml")
    session = (
        "language_instruction: x\npolicies:\n  A:\n    policy_name: a\n    binary_success: 1\n    binary_success: 0\n"
    )
    with pytest.raises(sf.DataError, match="got 'binary_success' twice, again at line 6"):
        sf.read(put(tmp_path, "metadata.yaml", session))


@pytest.mark.parametrize(
    "line",
    [
        '{"a": 1, "a": 2}',
        '{"a" : 1, "a": 2}',
        '{"a"\t: 1, "a": 2}',
        '{"a": 1, "b": {"c": 1, "c": 2}}',
        '{"a": "\\":", "a": 2}',
        '{"a": 1',
        '{"a": 1} {"b": 2}',
        '{"a": [{"b": 1}]}',
        "[1]",
        "nothing",
    ],
)
def test_what_cannot_be_told_at_once_is_left_to_the_reader_that_looks_at_every_key(line: str) -> None:
    assert flat(line) is None


@pytest.mark.parametrize("line", ['{"a": 1, "b": "x y", "c": null, "d": [1, NaN]}\n', "{}", '{"a":true}\r\n'])
def test_a_flat_object_is_read_at_once_as_by_the_slow_reader(line: str) -> None:
    assert repr(flat(line)) == repr(parsed(line, ""))
