"""Tests of `surefoot.files.yaml_files`."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot as sf
from tests.support.samples import put


def test_yaml_neither_runs_nor_grows(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    trace = tmp_path / "trace"
    head = "language_instruction: x\npolicies:\n"
    run = head + f"  A: !!python/object/apply:os.mkdir [{trace}]\n"
    with pytest.raises(sf.DataError, match=r"`policies.A` must have a policy_name"):
        sf.read(put(tmp_path, "run.yaml", run))
    assert not trace.exists()
    laughs = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [{','.join([f'*{chr(97 + i)}'] * 9)}]\n" for i in range(9)
    )
    with pytest.raises(sf.DataError, match="YAML must have no aliases"):
        sf.read(put(tmp_path, "laughs.yaml", laughs + head + "  A: {policy_name: x, binary_success: 1}\n"))
    with pytest.raises(sf.DataError, match="at most 50 levels"):
        sf.read(put(tmp_path, "deep.yaml", head + "  A: " + "[" * 50_000))
