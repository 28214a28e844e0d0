"""Tests of `surefoot.cli.compare_tallies`."""

import pytest

from surefoot import PairTally, Tally, stats
from surefoot.cli import compare_tallies
from surefoot.errors import DataError


def test_pairs_are_typed_as_four_counts():
    assert compare_tallies.pairs("20, 12,2,16") == PairTally(both=20, first_only=12, second_only=2, neither=16)
    with pytest.raises(ValueError, match="must be BOTH,FIRST,SECOND,NEITHER"):
        compare_tallies.pairs("20,12,2")
    with pytest.raises(DataError, match="-2"):
        compare_tallies.pairs("20,12,-2,16")


def test_lines_give_the_answer_the_rates_and_what_it_rests_on():
    gain = stats.exact_gain(Tally(17, 20), Tally(14, 20))
    shown = compare_tallies.lines(gain, stats.outlook(gain))
    assert len(shown) == 5
    assert shown[0].startswith("For rollouts like these: cannot tell. first - second = +15.0 points, 95% interval")
    assert shown[1].startswith("  first 17/20 85.0%")
    assert compare_tallies.lines(gain, None) == [*shown[:3], shown[4]]


def test_every_method_that_the_help_names_answers(capsys):
    for name in compare_tallies.TALLIES:
        compare_tallies.answer((Tally(17, 20), Tally(8, 20)), name, False, False, 0.0, 0.95, False)
    for name in compare_tallies.PAIRS:
        compare_tallies.answer((PairTally(20, 12, 2, 16),), name, False, False, 0.0, 0.95, False)
    assert len(capsys.readouterr().out.splitlines()) >= len(compare_tallies.TALLIES + compare_tallies.PAIRS)
