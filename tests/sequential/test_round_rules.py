"""Tests of `surefoot.sequential.round_rules`."""

from types import SimpleNamespace

import pytest

from surefoot import Verdict
from surefoot.sequential.round_rules import Standing


class Toy(Standing):
    """Three policies after 10 rounds: a above c, b between."""

    rule = SimpleNamespace(
        names=("a", "b", "c"), pairs=(("a", "b"), ("a", "c"), ("b", "c")), horizon=20, most=60, joined=(0, 0, 0)
    )
    rounds = 10
    rollouts = (10, 10, 8)
    totals = (9.0, 6.0, 2.0)
    verdicts = (Verdict.UNDECIDED, Verdict.BETTER, Verdict.UNDECIDED)
    ranks = ((1, 2), (1, 3), (2, 3))
    running = ("a", "b", "c")
    complete = False
    finished = False

    def interval(self, first, second):
        """Nothing here may ask for sizes."""
        raise AssertionError(first, second)


def test_what_follows_from_verdicts_ranks_and_rollouts():
    toy = Toy()
    assert toy.estimates == (0.9, 0.6, 0.25)
    assert toy.rollouts_used == 28
    assert (toy.letters.names, toy.letters.letters) == (("a", "b", "c"), ("a", "ab", "b"))
    assert toy.verdict("a", "c") is Verdict.BETTER
    assert toy.verdict("c", "a") is Verdict.WORSE
    assert toy.verdict("b", "a") is Verdict.UNDECIDED
    assert toy.undecided == (("a", "b"), ("b", "c"))
    assert (toy.paused, toy.evidence, toy.standing, toy.remarks) == ((), None, None, ())
    assert toy.summary == str(toy).splitlines()[-1]


def test_it_prints_as_a_table_and_says_what_is_open():
    lines = str(Toy()).splitlines()
    assert lines[0] == "a  rank 1 to 2  a  10 rollouts"
    assert lines[-1] == "3 places are open after 10 rounds and 28 rollouts (at most 60)."
    done = Toy()
    done.complete, done.ranks = True, ((1, 1), (2, 2), (3, 3))
    assert str(done).splitlines()[-1].startswith("All places are settled")


def test_a_policy_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="`second` must be another of a, b, c"):
        Toy().verdict("a", "a")
