"""Names and tables of a plan become checked values."""

from __future__ import annotations

import pytest

from surefoot.study.plan_parts import named_parts, names, part, text
from surefoot.study.policies import Policy


def test_names_and_tables_are_taken_apart():
    listed, details = named_parts(Policy, ["new", {"name": "old", "checkpoint": "abc1234"}], (), "policies")
    assert listed == ("new", "old")
    assert details == (Policy(name="old", checkpoint="abc1234"),)
    again, kept = named_parts(Policy, listed, details, "policies")
    assert (again, kept) == (listed, details)


def test_a_table_that_says_nothing_is_a_name():
    assert named_parts(Policy, [{"name": "new"}, "old"], (), "policies") == (("new", "old"), ())


@pytest.mark.parametrize("wrong", [["new", "new"], [3], [""], "new", [{"name": "new"}, "new"]])
def test_what_is_no_list_of_names_is_refused(wrong):
    with pytest.raises((TypeError, ValueError), match="`policies` must"):
        named_parts(Policy, wrong, (), "policies")


def test_what_is_described_must_be_named():
    with pytest.raises(ValueError, match="old is described only"):
        named_parts(Policy, ["new"], [Policy(name="old", checkpoint="x")], "policies")


def test_a_part_reads_its_own_json():
    policy = Policy(name="new", serving={"temperature": 0.5})
    assert part(Policy, policy.to_dict(), "policies") == policy


def test_half_a_character_is_no_text():
    assert text("a", "title") == "a"
    assert names(["a", "b"], "rigs") == ("a", "b")
    with pytest.raises(ValueError, match="whole Unicode text"):
        text("\ud800", "title")
