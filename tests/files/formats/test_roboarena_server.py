"""Tests of `surefoot.files.formats.roboarena_server`."""

from __future__ import annotations

import surefoot as sf
from tests.support.samples import FIXTURES


def test_roboarena_server() -> None:
    rollouts = sf.read(FIXTURES / "roboarena_server" / "evaluations.json")
    assert rollouts.where(policy="fast").scores().values == (0.25, 0.5)
    assert rollouts.where(policy="pi0").column("condition") == ("s-1",)
    assert rollouts.pairs("pi0", "fast").matched == 1
