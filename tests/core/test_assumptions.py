"""Tests of `surefoot.core.assumptions`."""

import pytest

from surefoot.core import assumptions
from surefoot.core.assumptions import ONE_RATE, SIZE_FIXED, Assumption
from surefoot.core.record import Record

NAMED = {name: one for name, one in vars(assumptions).items() if isinstance(one, Assumption)}


@pytest.mark.parametrize("one", NAMED.values(), ids=NAMED)
def test_each_is_a_sentence_a_clause_and_a_value(one):
    assert str(one)[0].isupper()
    assert str(one).endswith(".")
    assert str(one).lower().startswith(one.brief.lower())
    assert Record.from_dict(one.to_dict()) == one


def test_what_must_hold_is_apart_from_what_is_promised():
    promised = next(one for one in NAMED.values() if one.promise)
    stated = (ONE_RATE, promised, "A sentence of an older result.")
    assert assumptions.conditions(stated) == [str(ONE_RATE), "A sentence of an older result."]
    assert assumptions.promises(stated) == [str(promised)]


def test_a_fixed_size_is_said_once():
    alone = assumptions.holds_if([ONE_RATE])
    assert alone == f"This holds if {ONE_RATE.brief}; {SIZE_FIXED.brief}."
    assert assumptions.holds_if([ONE_RATE, SIZE_FIXED]) == alone
    assert assumptions.holds_if([ONE_RATE, assumptions.ANY_RATE]) == alone
    for near in (assumptions.CLUSTERS_MEASURED, assumptions.SCORES_MEASURED):  # not proved: said with the answer
        assert assumptions.holds_if([ONE_RATE, near]) == f"{alone} {near}"


def test_no_two_have_one_kind():
    assert len({one.kind for one in NAMED.values()}) == len(NAMED)
