"""Tests of `surefoot.table.given_letters`."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

import surefoot as sf
from surefoot.analysis.overview import overview
from surefoot.table.given_letters import GivenLetters


def test_letters_that_the_file_carries_are_held_against_ours():
    rows = [(name, task, i < k) for name, k in (("new", 13), ("old", 9)) for task in ("x", "y") for i in range(20)]
    table = sf.read(pl.DataFrame(rows, schema=["policy", "task", "success"], orient="row"))
    theirs = GivenLetters("x", (("new", "a"), ("old", "b")), "a test of theirs")
    same = GivenLetters("y", (("new", "a"), ("old", "a")), "a test of theirs")
    found = overview(replace(table, letters=(theirs, same))).disagreements
    assert [(one.task, one.theirs) for one in found] == [("x", True)]
    assert "come from another test, a test of theirs" in str(found[0])
    assert theirs.apart("new", "someone") is None
