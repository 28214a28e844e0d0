"""A method is one file: a toy interval in a file of its own appears everywhere, with no other file touched."""

from __future__ import annotations

import sys

import pytest
from tools import registry_tables

import surefoot as sf
from surefoot import stats
from surefoot.cli.main import run
from surefoot.stats import all_counts, rate_methods

TOY = '''
"""What if every rate were known to ten points?"""

from surefoot.core.interval import Interval
from surefoot.stats.rate_methods import rate_method


def _ends(k, n, tail):
    return k / n - 0.1, k / n + 0.1


@rate_method("ten", "Ten points on both sides.", ends=_ends)
def ten(tally, *, confidence=0.95):
    """Ten points on both sides."""
    low, high = _ends(tally.successes, tally.trials, 1.0 - confidence)
    return Interval(low, high, tally.rate, confidence, "ten points", tally.trials)
'''

SIDES = (None, "lower", "upper")


@pytest.fixture
def ten(tmp_path, monkeypatch):
    """The toy interval as a file of the room."""
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "ten_points.py").write_text(TOY)
    monkeypatch.setattr(stats, "__path__", [*stats.__path__, str(tmp_path / "room")])
    rate_methods._read.cache_clear()
    yield rate_methods.methods()["ten"]
    monkeypatch.undo()
    for table, key in ((rate_methods.REGISTRY, ("ten", None)), (sys.modules, "surefoot.stats.ten_points")):
        table.pop(key)


def test_the_command_line_offers_it(ten, capsys):
    assert run(("rate", "--help")) == 0
    assert "ten" in capsys.readouterr().out
    assert run(("rate", "38/50", "--using", "ten")) == 0
    assert capsys.readouterr().out == "76.0% [66.0%, 86.0%] n=50 (95% ten points interval).\n"
    assert run(("rate", "38/50", "--using", "ten", "--lower")) == 64
    assert "`--using` must be one of wilson, clopper-pearson, optimal; got 'ten'." in capsys.readouterr().err


def test_its_coverage_is_counted(ten):
    slow = stats.coverage(lambda tally, *, confidence: ten.using(tally, confidence=confidence), trials=20, rate=0.7)
    assert stats.coverage(ten.using, trials=20, rate=0.7) == slow
    assert all_counts.smooth(ten.using)
    assert rate_methods.method_of(ten.using) is ten


def test_it_is_planned_with(ten, capsys):
    assert sf.plan_rate(0.1, using=ten.using).rollouts == 1
    assert run(("plan", "rate", "0.11", "--using", "ten")) == 0
    assert "ten points interval" in capsys.readouterr().out
    with pytest.raises(
        ValueError, match="be wilson, clopper_pearson, jeffreys, agresti_coull, wald or ten; got 'optimal"
    ):
        sf.plan_rate(0.1, using=stats.optimal_interval)


def test_the_docs_list_it(ten):
    assert "| `ten` | `--using ten` | Ten points on both sides. |" in registry_tables.methods()


def test_every_method_says_what_it_is():
    for side, size in ((None, 6), ("lower", 3), ("upper", 3)):
        found = rate_methods.methods(side)
        assert len(found) == size
        for name, one in found.items():
            assert (one.name, one.side) == (name, side)
            assert one.summary.endswith(".")
            assert one.drawn == all_counts.randomised(one.using)
            gives = all_counts.kind(one.using, 0.95)
            assert gives == (side or "interval")
    assert list(rate_methods.methods()) == ["wilson", "clopper-pearson", "jeffreys", "agresti-coull", "wald", "optimal"]


@pytest.mark.parametrize(
    "one",
    [one for side in SIDES for one in rate_methods.methods(side).values()],
    ids=lambda one: f"{one.name} {one.side or ''}",
)
def test_what_is_called_guaranteed_is(one):
    if one.guaranteed and not one.drawn:
        for rate in (0.01, 0.2, 0.5, 0.77, 0.99):
            assert stats.coverage(one.using, trials=15, rate=rate) >= 0.95 - 1e-12


def test_a_function_that_was_not_entered_is_none():
    assert rate_methods.method_of(print) is None
