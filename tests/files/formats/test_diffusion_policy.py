"""Tests of `surefoot.files.formats.diffusion_policy`."""

from __future__ import annotations

import surefoot as sf
from tests.support.samples import FIXTURES


def test_diffusion_policy() -> None:
    rollouts = sf.read(FIXTURES / "diffusion" / "eval_log.json")
    assert rollouts.where(task="test").scores().values == (0.25, 1.0, 0.75)
    assert rollouts.where(task="test").column("seed") == ("100000", "100001", "100002")
    assert rollouts.findings == ()
