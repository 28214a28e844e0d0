"""Tests of `surefoot.core.notes`."""

import re

import pytest

from surefoot.core.notes import SENTENCES, Note
from surefoot.core.record import Record


def test_a_note_is_its_kind_and_values_and_reads_as_a_sentence():
    note = Note("ranking promise", {"error": 0.05})
    assert note.values["error"] == 0.05
    assert str(note).endswith("is at most 5%.")
    assert note == Note("ranking promise", {"error": 0.05})
    assert hash(note) == hash(Note("ranking promise", {"error": 0.05}))
    assert note != Note("ranking promise", {"error": 0.1})


def test_a_note_comes_back_from_a_dictionary():
    note = Note("pairs rule", {"rule": "mixture", "pairs": 40, "once": False})
    back = Record.from_dict(note.to_dict())
    assert back == note
    assert str(back) == str(note)


def test_a_kind_that_has_no_sentence_is_refused():
    with pytest.raises(ValueError, match="`kind` must be one of"):
        Note("no such kind")


def test_every_kind_is_a_few_plain_words():
    odd = [kind for kind in SENTENCES if kind != kind.strip() or not re.fullmatch(r"[\w' ,-]+", kind)]
    assert odd == []
