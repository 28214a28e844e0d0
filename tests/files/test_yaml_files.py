"""Tests of `surefoot.files.yaml_files`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import surefoot as sf
from surefoot.files import yaml_files
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


def test_a_large_file_and_a_missing_reader_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("yaml")
    path = put(tmp_path, "metadata.yaml", "preference: A\npolicies:\n  A: {policy_name: x, binary_success: 1}\n")
    assert sf.read(path).policies == ("x",)
    with monkeypatch.context() as small:
        small.setattr(yaml_files, "LARGEST", 20)
        with pytest.raises(sf.DataError, match=r"metadata.yaml: a YAML file must be at most 0 MiB"):
            sf.read(path)
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(sf.DataError, match=r"metadata.yaml: YAML needs the `yaml` extra"):
        sf.read(path)


def test_a_text_is_no_session(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    with pytest.raises(sf.DataError, match=r"x.yaml: the YAML file must hold a mapping"):
        sf.read(put(tmp_path, "x.yaml", '"a text\npolicies: 1\npreference: 2"\n'))
