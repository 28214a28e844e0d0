"""Do plans for a comparison end, whatever is asked, and say in the caller's own words why they cannot?"""

from typing import Any

import pytest

import surefoot as sf
from surefoot.planning import comparisons


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: sf.plan_paired_comparison(0.2, 0.2),
            "`first_only` must differ from `second_only`; got 0.2. No number of pairs shows a gain of 0",
        ),
        (lambda: sf.plan_paired_comparison(None, 0.2), "`first_only` or `pairs` must be given; got neither"),
        (lambda: sf.plan_paired_comparison(None, 0.4, pairs=3), "got 3. Ask for more pairs or less power"),
        (lambda: sf.plan_paired_comparison(None, 0.6, pairs=9), "second alone in 60.0% of pairs with 80% power"),
        (lambda: sf.plan_paired_comparison(0.05, 0.25, margin=0.2), "`margin` must leave something to show; got 0.2"),
        (lambda: sf.plan_comparison(0.5, 0.6, margin=0.1), "`margin` must leave something to show; got 0.1"),
        (lambda: sf.plan_comparison(0.6, 0.5, rollouts=10**9), "`rollouts` must be at most 1,000,000; got 1000000000"),
        (lambda: sf.plan_paired_comparison(0.6, 0.1, pairs=10**9), "`pairs` must be at most 1,000,000; got 1000000000"),
    ],
)
def test_refusals(call: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call()


def test_a_power_out_of_reach_is_refused_however_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparisons, "MOST", 40)
    for rate in (0.7, 0.50001):
        with pytest.raises(ValueError, match="`power` must be reachable with 40 rollouts"):
            sf.plan_comparison(rate, 0.5)
    with pytest.raises(ValueError, match="`power` must be reachable with 40 pairs"):
        sf.plan_paired_comparison(0.25, 0.15, power=0.9)
    monkeypatch.setattr(comparisons, "MOST", sf.plan_comparison(0.9, 0.6).rollouts)
    assert sf.plan_comparison(0.9, 0.6).rollouts == comparisons.MOST == 32


def test_a_gain_equal_to_the_margin_but_for_rounding_is_planned_as_not_worse() -> None:
    assert 0.8 - 0.7 > 0.1 > 0.7 - 0.6
    assert {sf.plan_comparison(*rates, rollouts=9, margin=0.1).shows for rates in ((0.8, 0.7), (0.7, 0.6))} == {
        "not worse"
    }


def test_a_plan_shows_its_margin_as_it_was_given() -> None:
    assert "show the first better by more than 1.25 points in" in str(
        sf.plan_comparison(0.9, 0.1, rollouts=9, margin=0.0125)
    )


@pytest.mark.parametrize(("chances", "margin"), [((0.0, 0.05), 0.3), ((0.5, 0.1), 0.0), ((0.25, 0.0), 0.0)])
def test_few_pairs_are_the_fewest(chances: tuple[float, float], margin: float) -> None:
    """The power is a sawtooth: 16 pairs reach .8, 17 to 20 do not, 21 do again."""

    def reached(pairs: int) -> float:
        return sf.plan_paired_comparison(*chances, pairs=pairs, margin=margin).power

    planned = sf.plan_paired_comparison(*chances, margin=margin).rollouts
    assert planned == next(pairs for pairs in range(1, planned + 1) if reached(pairs) >= 0.8)


def test_one_rollout_is_singular() -> None:
    assert str(sf.plan_comparison(0.9, 0.1, rollouts=1)).startswith("1 rollout of each policy shows the first better")
    assert str(sf.plan_paired_comparison(0.8, 0.1, pairs=1)).startswith("1 pair shows the first better")


def test_a_plan_at_nearly_full_confidence_is_that_of_the_test_that_will_run() -> None:
    sure = 1.0 - 1e-13
    size = sf.plan_comparison(1.0, 0.0, confidence=sure).rollouts
    before, there = (sf.stats.exact_gain(sf.Tally(n, n), sf.Tally(0, n), confidence=sure) for n in (size - 1, size))
    assert (before.verdict, there.verdict) == (sf.Verdict.UNDECIDED, sf.Verdict.BETTER)
