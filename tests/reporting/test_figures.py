"""Tests of `surefoot.reporting.figures`."""

from __future__ import annotations

import pytest

import surefoot as sf
from tests.support.reports import rollouts

EVIL = '<script>alert("x")</script> & $\\alpha$ %_#{}~^'


@pytest.fixture(scope="module")
def full() -> sf.Report:
    return sf.report(rollouts(("a", "b", EVIL), (0.9, 0.5, 0.2), scores=True), title=EVIL)


def test_every_figure_can_be_written(full, tmp_path):
    from surefoot.reporting import style

    drawn = full.figures()
    assert {"policies", "gains", "tasks", "heat", "scores"} < set(drawn)
    for place, figure in enumerate(drawn.values()):
        for suffix in (".svg", ".png", ".pdf") if not place else (".svg",):
            assert style.save(figure, tmp_path / f"{place}{suffix}").stat().st_size > 1000
