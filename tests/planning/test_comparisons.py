"""Do plans for a comparison end, whatever is asked, and say in the caller's own words why they cannot?"""

from typing import Any

import pytest
from scipy.stats import binom

import surefoot as sf
from surefoot.numerics.rates import inversion
from surefoot.planning import comparisons
from surefoot.stats import exact_power
from surefoot.stats.exact_power import approximate_rollouts
from tests.reference import listed


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: sf.plan_paired_comparison(0.2, 0.2),
            "`first_only` must differ from `second_only`; got 0.2. No number of pairs shows a gain of 0",
        ),
        (lambda: sf.plan_paired_comparison(None, 0.2), "`first_only` must be given, or `pairs`; got neither"),
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


@pytest.mark.parametrize(
    "case", [case for case in listed("score.cases") if case["what"].startswith("plan")], ids=lambda c: str(c["rates"])
)
def test_no_more_rollouts_than_the_test_before_needed(case: dict[str, Any]) -> None:
    assert sf.plan_comparison(*case["rates"]).rollouts <= case["rollouts"]


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


@pytest.mark.parametrize(("rates", "rollouts"), [((0.9, 0.6), 26), ((0.85, 0.7), 95)])
def test_a_question_of_one_side_needs_fewer_rollouts(rates: tuple[float, float], rollouts: int) -> None:
    """Finding T10: both sides were paid for, 32 and 121 rollouts."""
    plan = sf.plan_comparison(*rates, claim="first better")
    assert plan.rollouts == rollouts < sf.plan_comparison(*rates).rollouts
    assert plan.power >= 0.8 > sf.plan_comparison(*rates, rollouts=rollouts - 1, claim="first better").power
    assert (plan.shows, plan.claim) == ("better", "first better")
    assert "show the first better in 80." in str(plan)
    assert "(one-sided exact unconditional, 95% confidence)" in str(plan)


@pytest.mark.parametrize("rollouts", [8, pytest.param(26, marks=pytest.mark.slow)])
def test_the_power_of_one_side_is_that_of_every_table(rollouts: int) -> None:
    chance = sum(
        binom.pmf(x, rollouts, 0.9) * binom.pmf(y, rollouts, 0.6)
        for x in range(rollouts + 1)
        for y in range(x)
        if sf.stats.gain_bounds(sf.Tally(x, rollouts), sf.Tally(y, rollouts))[0].value > 0.0
    )
    plan = sf.plan_comparison(0.9, 0.6, rollouts=rollouts, claim="first better")
    assert chance == pytest.approx(plan.power, abs=1e-9)


def test_one_side_of_pairs_and_of_a_margin() -> None:
    plan = sf.plan_paired_comparison(0.25, 0.05, claim="first better")
    assert plan.rollouts == 43 < sf.plan_paired_comparison(0.25, 0.05).rollouts
    kept = sf.plan_comparison(0.7, 0.7, margin=0.2, claim="first not worse")
    assert (kept.rollouts, kept.shows) == (65, "not worse")
    above = sf.plan_comparison(0.9, 0.5, margin=0.1, claim="first better")
    assert above.rollouts > sf.plan_comparison(0.9, 0.5, claim="first better").rollouts
    better = sf.plan_comparison(0.9, 0.5, margin=0.1, claim="first not worse")
    assert better.rollouts < above.rollouts
    assert sf.plan_comparison(None, 0.7, rollouts=50, claim="first better").gain == pytest.approx(0.1967, abs=2e-4)
    low = sf.plan_comparison(0.9, 0.6, confidence=0.4, claim="first better")
    assert low.rollouts < 26


def test_large_plans_of_one_side_are_exact_and_close_to_the_formula() -> None:
    plan = sf.plan_comparison(0.70, 0.65, claim="first better")
    assert plan.method == "one-sided exact unconditional"
    assert plan.rollouts == pytest.approx(approximate_rollouts(0.70, 0.65, confidence=0.9).rollouts, rel=0.01)
    pairs = sf.plan_paired_comparison(0.12, 0.07, claim="first better")
    assert pairs.method == "one-sided exact unconditional paired"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: sf.plan_comparison(0.5, 0.6, claim="first better"),
            "`first_rate` must exceed `second_rate` by more than 0 for the claim 'first better'; got 0.5. No number of",
        ),
        (lambda: sf.plan_comparison(0.5, 0.6, claim="first not worse", margin=0.1), "by more than -0.1 for the claim"),
        (lambda: sf.plan_comparison(0.7, 0.6, claim="same"), "`claim` must be one of either, first better, first not"),
        (lambda: sf.stats.power(0.7, 0.6, 9, claim="x"), "`claim` must be one of either"),
        (
            lambda: sf.stats.power(0.7, 0.6, 9, claim="first better", using=sf.reference.pooled_score),
            "`claim` must be 'either' with pooled_score",
        ),
        (
            lambda: sf.stats.paired_power(0.3, 0.1, 9, claim="first better", using=sf.stats.mcnemar),
            "`claim` must be 'either' with mcnemar",
        ),
    ],
)
def test_refusals_of_one_side(call: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call()


def test_only_the_size_that_is_answered_is_looked_at_beyond_the_edge(monkeypatch):
    """The chance by p-values at the edge alone is never smaller: where it falls short, that is the answer."""
    plain, looked_at = inversion.decided_beyond, []

    def counted(design, *args, **kwargs):
        looked_at.append(design)
        return plain(design, *args, **kwargs)

    exact_power._steps.cache_clear()
    monkeypatch.setattr(inversion, "decided_beyond", counted)
    plan = sf.plan_comparison(first_rate=0.75, second_rate=0.6)
    assert looked_at == [(plan.rollouts, plan.rollouts)]
    sizes, rates = (plan.rollouts - 1,) * 2, (0.75, 0.6)
    whole, at_edge = (
        exact_power.chance_above(sizes, rates, 0.05, 0.0, both=True, look=look) for look in ("all", "edge")
    )
    assert whole <= at_edge < 0.8
