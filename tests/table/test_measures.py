"""Any column as what is measured."""

from __future__ import annotations

import polars as pl
import pytest

import surefoot as sf
from surefoot import DataError
from surefoot.table.measures import is_yes_or_no, measuring

ROWS = {
    "policy": ["new", "new", "old", "old"],
    "success": [1, 0, 1, 1],
    "crashed": ["no", "yes", "no", "no"],
    "tokens": [10, 20, 30, 40],
}


def test_a_column_of_words_is_a_success_and_one_of_numbers_a_score():
    table = sf.read(pl.DataFrame(ROWS))
    assert is_yes_or_no(table, "crashed")
    assert not is_yes_or_no(table, "tokens")
    assert measuring(table, "crashed", "success", ["new"]).where(policy="new").tally() == sf.Tally(1, 2)
    tokens = measuring(table, "tokens", "score", ["old"], limit=50).where(policy="old").scores()
    assert (tokens.values, tokens.high) == ((30.0, 40.0), 50.0)


def test_rows_of_other_policies_may_lack_it():
    table = sf.read(pl.DataFrame({**ROWS, "tokens": [10, 20, None, 40]}))
    assert measuring(table, "tokens", "score", ["new"], limit=50)
    with pytest.raises(DataError, match="1 rollout lacks it: row 3"):
        measuring(table, "tokens", "score", ["new", "old"], limit=50)
