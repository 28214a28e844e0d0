"""Do plans for one rate give the smallest number that does what was asked?"""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot import stats
from surefoot.core.record import Record
from surefoot.stats import bound_tightness

exact = stats.clopper_pearson_lower


def half(method: Any, rollouts: int, rate: float, confidence: float) -> float:
    low, high = bound_tightness.ends(method, rollouts * rate, rollouts, confidence)
    return float(high - low) / 2


def test_the_worst_case_of_wilson_has_a_closed_form() -> None:
    # z / (2 sqrt(n + z^2)) <= h
    for width in (0.2, 0.1, 0.05, 0.03, 0.01):
        wanted = 1.959963984540054**2 * (1 / (4 * width**2) - 1)
        plan = sf.plan_rate(width)
        assert plan.rollouts == -(-wanted // 1)
        assert plan.reached <= width


@settings(max_examples=40)
@given(
    st.floats(0.01, 0.3),
    st.floats(0, 1),
    st.sampled_from([0.8, 0.95, 0.99]),
    st.sampled_from([stats.wilson, stats.clopper_pearson, stats.jeffreys, stats.agresti_coull]),
)
def test_one_rollout_fewer_would_not_do(width: float, rate: float, confidence: float, using: Any) -> None:
    plan = sf.plan_rate(width, rate=rate, confidence=confidence, using=using)
    assert half(using, plan.rollouts, rate, confidence) <= width
    if plan.rollouts > 1:
        assert half(using, plan.rollouts - 1, rate, confidence) > width
    assert plan.reached == half(using, plan.rollouts, rate, confidence)


@pytest.mark.parametrize(
    "using", [stats.wilson, stats.clopper_pearson, stats.jeffreys, stats.agresti_coull, stats.wald]
)
def test_the_worst_rate_is_one_half(using: Any) -> None:
    for rollouts in (1, 2, 7, 30, 101):
        most = half(using, rollouts, 0.5, 0.95)
        assert all(half(using, rollouts, i / rollouts, 0.95) <= most + 1e-12 for i in range(rollouts + 1))


def test_a_plan_carries_the_table_of_what_n_buys() -> None:
    plan = sf.plan_rate(0.05)
    assert [size for size, _ in plan.table] == [10, 20, 50, 100, 200, 381, 500, 1000]
    assert dict(plan.table)[381] == plan.reached
    assert all(a > b for (_, a), (_, b) in zip(plan.table[:-1], plan.table[1:], strict=True))
    bound = sf.plan_bound(rollouts=50)
    assert dict(bound.table)[50] == pytest.approx(0.11721976, abs=1e-5)
    assert [size for size, _ in bound.table] == [10, 20, 50, 100, 200, 500, 1000]


def test_every_parameter_matters() -> None:
    base = sf.plan_rate(0.05).rollouts
    assert sf.plan_rate(0.04).rollouts > base
    assert sf.plan_rate(0.05, rate=0.9).rollouts < base
    assert sf.plan_rate(0.05, confidence=0.99).rollouts > base
    assert sf.plan_rate(0.05, using=stats.clopper_pearson).rollouts > base
    assert sf.plan_bound(tightness=0.1, using=exact).rollouts > sf.plan_bound(tightness=0.1).rollouts


def test_plans_are_sentences_and_survive_a_dictionary() -> None:
    plan = sf.plan_rate(0.05, rate=0.9)
    assert str(plan) == (
        "141 rollouts: the 95% Wilson interval then has a half-width of 5.0 points at a rate of 90% (asked: 5)."
    )
    bound = sf.plan_bound(tightness=0.1)
    assert str(bound) == (
        "69 rollouts: the 95% optimal bound is then on average within 10.0 points of the true rate, whatever that is "
        "(asked: 10)."
    )
    sure = sf.plan_bound(tightness=0.1, rollouts=50)
    assert str(sure) == (
        "50 rollouts: the 91.65% optimal bound is then on average within 10.0 points of the true rate, whatever that "
        "is (asked: 10)."
    )
    for result in (plan, bound, sure):
        assert Record.from_dict(result.to_dict()) == result


def test_very_narrow_intervals() -> None:
    assert sf.plan_rate(1e-5).rollouts == 9_603_647_048
    assert sf.plan_rate(0.9).rollouts == 1
    assert "0.0010 points" in str(sf.plan_rate(1e-5))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: sf.plan_rate(0), ValueError, "`half_width` must be strictly between 0 and 1; got 0. Write 0.05 for 5"),
        (lambda: sf.plan_rate(5), ValueError, "`half_width` must be strictly between 0 and 1; got 5"),
        (lambda: sf.plan_rate("x"), TypeError, "`half_width` must be a number; got 'x'"),
        (lambda: sf.plan_rate(0.1, using="wilson"), TypeError, "`using` must be a function such as `wilson`"),
        (lambda: sf.plan_rate(1e-9), ValueError, "`half_width` must be reachable with 1,000,000,000,000 rollouts"),
        (lambda: sf.plan_rate(0.1, rate=1.2), ValueError, "`rate` must be between 0 and 1; got 1.2"),
        (lambda: sf.plan_rate(0.1, confidence=95), ValueError, "Write 0.95 for 95%"),
        (lambda: sf.plan_rate(0.1, using=exact), ValueError, "`using` must be wilson, clopper_pearson"),
        (lambda: sf.plan_rate(0.1, using=stats.optimal_interval), ValueError, "For a bound ask `plan_bound`"),
        (sf.plan_bound, ValueError, "must leave exactly one to be found; got neither"),
        (lambda: sf.plan_bound(confidence=0.9), ValueError, "got neither of the last two"),
        (lambda: sf.plan_bound(confidence=0.9, tightness=0.1, rollouts=5), ValueError, "got all three"),
        (lambda: sf.plan_bound(tightness=10), ValueError, "Write 0.1 for 10 points"),
        (lambda: sf.plan_bound(rollouts=2.5), TypeError, "`rollouts` must be a whole number; got 2.5"),
        (lambda: sf.plan_bound(rollouts=0), ValueError, "`rollouts` must be at least 1; got 0"),
        (lambda: sf.plan_bound(rollouts=10**6), ValueError, "must be at most 100,000"),
        (lambda: sf.plan_bound(tightness=0.1, using="optimal"), TypeError, "`using` must be a function"),
        (lambda: sf.plan_bound(tightness=0.1, using=stats.wilson), ValueError, "must give a lower bound"),
    ],
)
def test_refusals(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()
