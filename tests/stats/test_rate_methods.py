"""A method is one function: a toy interval with the decorator above it appears everywhere."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tools import registry_tables

import surefoot as sf
from surefoot import stats
from surefoot.cli.main import run
from surefoot.stats import bound_tightness, rate_methods

SIDES = (None, "lower", "upper")


def _ends(k, n, tail):
    return k / n - 0.1, k / n + 0.1


@pytest.fixture
def ten(monkeypatch):
    """A toy interval, entered by a script before the commands are imported, which make their help then."""
    for command in ("rate", "plan"):
        monkeypatch.delitem(sys.modules, f"surefoot.cli.{command}", raising=False)

    @rate_methods.rate_method("ten", "Ten points on both sides.", ends=_ends)
    def ten(tally, *, confidence=0.95):
        """Ten points on both sides."""
        low, high = _ends(tally.successes, tally.trials, 1.0 - confidence)
        return sf.Interval(low, high, tally.rate, confidence, "ten points", tally.trials)

    yield rate_methods.methods()["ten"]
    del rate_methods.REGISTRY["ten", None]


def test_each_file_that_enters_a_method_is_named():
    room = Path(rate_methods.__file__).parent
    entering = {path.stem for path in room.glob("*.py") if "\n@rate_method(" in path.read_text(encoding="utf-8")}
    assert {f"surefoot.stats.{name}" for name in entering} == set(rate_methods.HOMES)


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
    assert bound_tightness.smooth(ten.using)
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
            assert one.drawn == bound_tightness.randomised(one.using)
            gives = bound_tightness.kind(one.using, 0.95)
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
