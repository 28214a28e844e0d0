"""Tests of `surefoot.files.formats.droid`."""

from __future__ import annotations

from pathlib import Path

import surefoot as sf
from tests.support.samples import FIXTURES, put


def test_openpi_droid_success_is_a_share(tmp_path: Path) -> None:
    rollouts = sf.read(FIXTURES / "droid" / "eval_2025_03_04.csv")
    assert rollouts.policies == ("droid",)
    assert rollouts.scores().values == (1.0, 0.5, 0.0)
    whole = (FIXTURES / "droid" / "eval_2025_03_04.csv").read_text().replace("0.5", "1.0")
    assert str(sf.read(put(tmp_path, "a.csv", whole.encode())).tally()) == "2 of 3 succeeded."
