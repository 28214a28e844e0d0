"""Tests of `surefoot.analysis.evidence`."""

from __future__ import annotations

import polars as pl

import surefoot as sf
from surefoot import Verdict
from surefoot.analysis.evidence import EvidenceCurve
from surefoot.analysis.overview import overview


def test_the_evidence_is_followed_only_when_the_order_is_recorded():
    rows = [(name, n, level) for n in range(30) for name, level in (("new", 0.9), ("old", 0.2 + 0.02 * (n % 3)))]
    table = sf.read(pl.DataFrame(rows, schema=["policy", "order", "score"], orient="row"))
    curves = overview(table).curves
    assert len(curves) == 1
    assert curves[0].verdict is Verdict.BETTER
    assert curves[0].evidence[-1] >= curves[0].threshold
    assert "would have decided after" in str(curves[0])
    assert overview(sf.read(table.polars().drop("order"))).curves == ()


def test_a_curve_says_whether_the_rule_would_have_decided():
    curve = EvidenceCurve("cut", 40, 3.0, (0.5, 1.0), Verdict.UNDECIDED, "Exact")
    assert str(curve) == "cut: Exact would not have decided in 2 pairs."
    decided = EvidenceCurve(None, 40, 3.0, (0.5, 3.5), Verdict.WORSE, "Exact")
    assert str(decided) == "Exact would have decided after 2 of 40 pairs."
