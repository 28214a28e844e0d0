"""Tests of `surefoot.cli.terminal`."""

from __future__ import annotations

from pathlib import Path

import pytest

from surefoot.cli.main import run
from tests.support.samples import put


def test_python_hints_still_become_options(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["audit", str(put(tmp_path, "a=b.csv", "policy,x\na,1\n"))]) == 65
    assert "--column success=YOURS" in capsys.readouterr().err
