"""Tests of `surefoot.files.item_files`."""

from __future__ import annotations

import pytest

from surefoot.errors import DataError
from surefoot.files.item_files import numbers_for, read_items


def written(tmp_path, text, name="items.csv"):
    place = tmp_path / name
    place.write_text(text, encoding="utf-8")
    return place


def test_a_list_is_read_as_it_stands(tmp_path):
    found = read_items(written(tmp_path, "item,simulated,old\na,0.9,yes\n b ,0.1,0\n"))
    assert found.items == ("a", "b")
    assert found.numbers("simulated", (0.0, 1.0)) == (0.9, 0.1)
    assert found.numbers("old", (0.0, 1.0)) == (1.0, 0.0)
    assert read_items(written(tmp_path, "score\tinstance_id\n1\tx\n", "list.tsv")).items == ("x",)
    assert read_items(written(tmp_path, "\ufefffirst one\n\nsecond\n", "list.txt")).items == ("first one", "second")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("item\na\nb\na\n", r"items.csv, row 3: each item must be listed once; 'a' is in row 1 too"),
        ("item,x\na,1\n ,2\n", "row 2: an item must have a name; got an empty cell"),
        ("item,x\na\n", "row 1: every row must have the 2 cells of the header; got 1"),
        ("name\na\n", "the items must be in a column `item`; got 'name'"),
        ("item\n", "at least one item; got none"),
        ("", "the items must be in a column `item`; got nothing"),
        ('item\n"a\n', "must be a CSV"),
    ],
)
def test_what_is_no_list_is_refused(tmp_path, text, said):
    with pytest.raises(DataError, match=said):
        read_items(written(tmp_path, text))


def test_a_file_that_is_no_text_or_not_there_is_refused(tmp_path):
    (tmp_path / "items.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="must be text"):
        read_items(tmp_path / "items.csv")
    with pytest.raises(DataError, match="cannot be read"):
        read_items(tmp_path / "none.csv")


def test_a_list_that_is_too_large_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("surefoot.files.item_files.LARGEST", 4)
    with pytest.raises(DataError, match=r"items.csv: a list of items must be at most 0 MiB"):
        read_items(written(tmp_path, "item\na\n"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("item,p\na,1\nb,\n", "row 2: there must be a number, yes or no for every item; got none for 'b'"),
        ("item,p\na,1\nb,high\n", "got 'high' for 'b'"),
        ("item,p\na,1\nb,1.5\n", "row 2: a number must lie between 0 and 1; got 1.5 for 'b'"),
        ("item,p\na,1\nb,nan\n", "must lie between 0 and 1; got nan"),
        ("item,p\na,1\n", "a number for every item of the list; got none for 'b'"),
        ("item,p\na,1\nb,1\nc,1\n", "row 3: an item must be on the declared list; 'c' is not"),
        ("item,p\na,1\nb,1\nb,0\n", "each item must be listed once"),
        ("item,p,q\na,1,1\nb,1,1\n", "one column besides the items; got 'p', 'q'"),
        ("item\na\nb\n", "one column besides the items; got none"),
    ],
)
def test_predictions_that_are_not_of_the_list_are_refused(tmp_path, text, said):
    with pytest.raises(DataError, match=said):
        numbers_for(("a", "b"), written(tmp_path, text), (0.0, 1.0))


def test_numbers_come_in_the_order_of_the_list(tmp_path):
    assert numbers_for(("a", "b"), written(tmp_path, "p,item\n0.25,b\n1,a\n"), (0.0, 1.0)) == (1.0, 0.25)
    with pytest.raises(DataError, match="must have a column 'q'; got 'p'"):
        read_items(tmp_path / "items.csv").numbers("q", (0.0, 1.0))
