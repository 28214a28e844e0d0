"""Tests of `surefoot.table.run_order`."""

import pytest

from surefoot.table.run_order import in_blocks


@pytest.mark.parametrize(
    ("contexts", "blocked"),
    [
        ("aaaaabbbbbccccc", True),
        ("abcabcabcabcabc", False),
        ("aaaaaaaaaaaaaaa", False),
        ("abcdefghijklmno", False),
        ("aaabbb", False),
    ],
)
def test_blocks_are_runs_longer_than_chance(contexts, blocked):
    assert in_blocks(tuple(contexts)) is blocked
