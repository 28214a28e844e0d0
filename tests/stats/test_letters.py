"""Tests of `surefoot.stats.letters`."""

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.stats import compact_letters, letters
from surefoot.stats.letters import Letters
from tests.oracles import many as twin
from tests.reference import cases


@pytest.mark.parametrize("case", cases("compact_letter_display"))
def test_letters_of_the_reference(case):
    asked, wanted = case
    found = compact_letters(asked["names"], asked["significant_pairs"], estimates=asked["means"])
    assert {name: found.of(name) for name in asked["names"]} == wanted


@given(data=st.data(), count=st.integers(1, 7))
@settings(max_examples=80)
def test_letters_are_their_twin(data, count):
    names = [f"p{i}" for i in range(count)]
    pairs = list(itertools.combinations(names, 2))
    separated = data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    means = data.draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
    found = compact_letters(names, separated, estimates=means)
    assert {name: found.of(name) for name in names} == twin.letters(names, means, separated)
    assert Letters.from_dict(found.to_dict()) == found


def named(count, separated):
    return compact_letters(
        [f"p{i}" for i in range(count)],
        [(f"p{i}", f"p{j}") for i, j in itertools.combinations(range(count), 2) if separated(i, j)],
    )


def test_letters_take_few_steps_and_never_hang(monkeypatch):
    def within(steps, count, separated):
        monkeypatch.setattr(letters, "WORK", steps)
        return named(count, separated)

    chance = random.Random(3)
    assert within(150, 30, lambda i, j: j - i > 3).letters[:3] == ("a", "ab", "abc")
    mixed = within(500, 30, lambda i, j: chance.random() < 0.5)
    assert mixed.complete
    assert not mixed.readable
    assert "rank intervals" in mixed.notes[0]
    assert within(350, 50, lambda i, j: j - i > 5).complete
    worst = within(2_000, 60, lambda i, j: i // 3 == j // 3)  # 3^20 groups: given up at 1,000
    assert not worst.complete
    assert str(worst).startswith("Too many letters: more than 1,000 groups")
    assert not within(50, 30, lambda i, j: j - i > 3).complete  # the search itself is cut


def test_two_share_a_letter_exactly_when_not_separated():
    chance = random.Random(8)
    apart = {pair for pair in itertools.combinations(range(40), 2) if chance.random() < 0.5}
    found = named(40, lambda i, j: (i, j) in apart)
    sets = [{g for g, group in enumerate(found.groups) if f"p{i}" in group} for i in range(40)]
    for i, j in itertools.combinations(range(40), 2):
        assert bool(sets[i] & sets[j]) == ((i, j) not in apart)
