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


def test_a_kind_of_an_earlier_version_keeps_its_sentence():
    old = {"type": "Note", "schema": 2, "kind": "one cluster", "values": {"n": 3}, "says": "All are of one cluster."}
    note = Record.from_dict(old)
    assert (note.kind, note.values["kind"], str(note)) == ("as told", "one cluster", "All are of one cluster.")
    assert Record.from_dict(note.to_dict()) == note


def test_a_kind_that_has_no_sentence_is_refused():
    with pytest.raises(ValueError, match="`kind` must be one of"):
        Note("no such kind")


@pytest.mark.parametrize(
    ("note", "said"),
    [
        (Note("no outcome", {"count": 1, "measure": "score"}), "1 rollout has no known score and was left out."),
        (Note("no outcome", {"count": 2, "measure": "score"}), "2 rollouts have no known score and were left out."),
        (Note("unused columns", {"columns": ("a", "b")}), "Not used: 'a', 'b'."),
        (Note("unused columns", {"columns": ("a",), "files": ("x.csv", "y.csv")}), "x.csv, y.csv: Not used: 'a'."),
        (Note("gain by stakes", {"observed": -0.25}), "without weights the gain is -0.250, which points the other way"),
    ],
)
def test_the_places_of_a_sentence_are_filled_as_they_say(note, said):
    assert said in str(note)


def test_every_kind_is_a_few_plain_words():
    odd = [kind for kind in SENTENCES if kind != kind.strip() or not re.fullmatch(r"[\w' ,-]+", kind)]
    assert odd == []


# --- what is said of a declared list ---

SIZE = {"items": 500, "run": 252, "confidence": 0.95}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"verdict": "better", "claim": "either", **SIZE},
         "On these 500 items new is better (252 run; error 5% for what a complete run would show). "),
        ({"verdict": "worse", "claim": "either", **SIZE, "margin": 0.05}, "On these 500 items new is worse by more"),
        ({"verdict": "undecided", "claim": "either", **SIZE, "run": 500},
         "On these 500 items new is neither better nor worse (all run). "),
        ({"verdict": "better", "claim": "first not worse", **SIZE}, "On these 500 items new is not worse (252 run;"),
    ],
)  # fmt: skip
def test_a_verdict_is_about_the_list(values, said):
    sentence = str(Note("verdict on these items", {"first": "new", **values}))
    assert sentence.startswith(said)
    assert sentence.endswith("It says nothing about other items.")


def test_a_verdict_on_items_like_these_says_what_it_needs():
    told = {"first": "new", "claim": "either", "confidence": 0.95}
    where = "On items like these, if the list is a random draw of them,"
    assert str(Note("verdict on items like these", {**told, "verdict": "better"})) == (
        f"{where} new is better too (error 5%)."
    )
    beyond = Note("verdict on items like these", {**told, "verdict": "worse", "margin": 0.1})
    assert "new is worse by more than 0.1 too" in str(beyond)
    assert str(Note("verdict on items like these", {**told, "verdict": "undecided"})) == (
        f"{where} nothing is decided yet."
    )


def test_a_declared_list_is_named_by_its_hashes():
    note = Note("declared list", {"items": 1319, "digest": "a" * 64, "order": "b" * 64})
    assert "1,319 items (SHA-256 aaaaaaaaaaaaaaaa) and its random order (SHA-256 bbbbbbbbbbbbbbbb)" in str(note)
    assert Note.from_dict(note.to_dict()) == note


def test_predictions_say_what_they_saved():
    assert "explain 56% of the scores' variance and save about 80 items" in str(
        Note("predictions", {"explained": 0.56, "saved": 80})
    )
    assert "do not explain" in str(Note("predictions", {"explained": 0.0, "saved": 0}))


@pytest.mark.parametrize(("run", "said"), [(500, "All 500 items were run"), (2, "of which 2 were run")])
def test_what_the_gain_is_of(run, said):
    assert said in str(Note("of these items", {"items": 500, "run": run}))
