"""Tests of `surefoot.files.imported`."""

import pytest

from surefoot import DataError
from surefoot.files.imported import MOST_COLUMNS, frame_of


def rows(*given):
    return frame_of(given, "made").collect()


def test_rows_that_lack_a_column_have_nothing_there():
    frame = rows({"a": 1}, {"b": True}, {"a": 3, "b": False})
    assert frame["a"].to_list() == [1, None, 3]
    assert frame["b"].to_list() == [None, True, False]


def test_one_type_for_each_column_and_text_where_types_are_mixed():
    frame = rows({"a": 1, "b": 0.5, "c": 1, "d": 2**70}, {"a": "one", "b": 1.5, "c": 2, "d": [1, "ä"]})
    assert frame["a"].to_list() == ["1", "one"]
    assert frame["b"].to_list() == [0.5, 1.5]
    assert frame["c"].to_list() == [1, 2]
    assert frame["d"].to_list() == [str(2**70), '[1, "ä"]']


def test_refusals():
    with pytest.raises(DataError, match=r"made: a row must have at most 10,000 columns; got 10,001"):
        rows({str(place): 1 for place in range(MOST_COLUMNS + 1)})
    with pytest.raises(DataError, match="valid Unicode") as refused:
        rows({"a": "fine"}, {"a": "\ud800"})
    assert refused.value.row == 2
