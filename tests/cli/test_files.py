"""Tests of `surefoot.cli.files`."""

from __future__ import annotations

from pathlib import Path

import pytest

from surefoot.cli.main import run
from tests.samples import put


@pytest.mark.parametrize("name", ["x-rng=7", "x rng=7", "low=, high=", 'policy="b"'])
def test_odd_names_are_shown_as_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    path = put(tmp_path, f"{name}.csv", "success\n1\n0\n")
    assert run(["audit", str(path)]) == 0
    out, err = capsys.readouterr()
    assert f"note: The policy is called {name!r}, after the path." in err
    assert f"from {name}.csv" in out
    put(tmp_path, f"{name}.csv", "success\nmaybe\n")
    assert run(["audit", str(path)]) == 65
    assert f"surefoot: {name}.csv, row 1: `success` must" in capsys.readouterr().err
