"""Do the intervals of one rate give the right numbers, in every corner?"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import Bound, Interval, Scores, Tally, stats
from surefoot.core.assumptions import ANY_RATE
from surefoot.core.record import Record
from surefoot.stats import score_mean
from tests.oracles import one_rate
from tests.reference import cases
from tests.support.strategies import confidences, tallies

INTERVALS: dict[str, Callable[..., Interval]] = {
    "wilson": stats.wilson,
    "clopper_pearson": stats.clopper_pearson,
    "jeffreys": stats.jeffreys,
    "agresti_coull": stats.agresti_coull,
    "wald": stats.wald,
}
LOWER = {"wilson": stats.wilson_lower, "clopper_pearson": stats.clopper_pearson_lower}
UPPER = {"wilson": stats.wilson_upper, "clopper_pearson": stats.clopper_pearson_upper}
KEYS = {
    "wald": ("lo_clipped", "hi_clipped"),
    "agresti_coull": ("lo_clipped", "hi_clipped"),
    "jeffreys": ("lo_bcd", "hi_bcd"),
}


@pytest.mark.parametrize("name", INTERVALS)
def test_every_stored_interval(name: str) -> None:
    low, high = KEYS.get(name, ("lo", "hi"))
    for given_, wanted in cases(name):
        interval = INTERVALS[name](Tally(given_["k"], given_["n"]), confidence=given_["conf"])
        assert interval.low == pytest.approx(wanted[low], rel=1e-10, abs=1e-14), given_
        assert interval.high == pytest.approx(wanted[high], rel=1e-10, abs=1e-14), given_


def test_every_stored_one_sided_bound() -> None:
    for given_, wanted in cases("clopper_pearson_one_sided"):
        tally, sure = Tally(given_["k"], given_["n"]), 1 - given_["alpha"]
        assert stats.clopper_pearson_lower(tally, confidence=sure).value == pytest.approx(wanted["lower"], rel=1e-10)
        assert stats.clopper_pearson_upper(tally, confidence=sure).value == pytest.approx(wanted["upper"], rel=1e-10)


@pytest.mark.parametrize(
    ("successes", "trials", "confidence", "low", "high"),
    [
        (9, 10, 0.99, 0.4928, 0.9881),  # methods, errata of the blog
        (140, 200, 0.95, 0.6332, 0.7593),  # methods, errata of the web page
        (290, 400, 0.95, 0.679, 0.766),
    ],
)
def test_published_wilson(successes: int, trials: int, confidence: float, low: float, high: float) -> None:
    interval = stats.wilson(Tally(successes, trials), confidence=confidence)
    assert (interval.low, interval.high) == (pytest.approx(low, abs=6e-4), pytest.approx(high, abs=6e-4))


def test_published_clopper_pearson() -> None:
    interval = stats.clopper_pearson(Tally(140, 200))
    assert (interval.low, interval.high) == (pytest.approx(0.6314, abs=5e-5), pytest.approx(0.7626, abs=5e-5))


@given(tallies(40), confidences)
def test_intervals_agree_with_their_slow_twins(tally: Tally, confidence: float) -> None:
    for name in ("wilson", "agresti_coull"):
        interval = INTERVALS[name](tally, confidence=confidence)
        wanted = getattr(one_rate, name)(tally.successes, tally.trials, confidence)
        assert (interval.low, interval.high) == pytest.approx(wanted, rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("method", INTERVALS.values(), ids=INTERVALS)
@given(tally=tallies(), confidence=confidences)
def test_swapping_success_and_failure_mirrors_the_interval(
    method: Callable[..., Interval], tally: Tally, confidence: float
) -> None:
    one = method(tally, confidence=confidence)
    other = method(Tally(tally.failures, tally.trials), confidence=confidence)
    assert one.low == pytest.approx(1 - other.high, abs=1e-12)
    assert one.high == pytest.approx(1 - other.low, abs=1e-12)


@pytest.mark.parametrize("method", INTERVALS.values(), ids=INTERVALS)
@given(tally=tallies())
def test_more_confidence_is_wider(method: Callable[..., Interval], tally: Tally) -> None:
    narrow, wide = method(tally, confidence=0.8), method(tally, confidence=0.99)
    assert wide.low <= narrow.low <= narrow.high <= wide.high
    if method is not stats.wald:
        assert wide.width > narrow.width


@pytest.mark.parametrize("name", LOWER)
@given(tally=tallies(), error=st.floats(0.001, 0.49))
def test_a_one_sided_bound_is_an_end_of_the_interval_that_errs_twice_as_often(
    name: str, tally: Tally, error: float
) -> None:
    interval = INTERVALS[name](tally, confidence=1 - 2 * error)
    assert LOWER[name](tally, confidence=1 - error).value == pytest.approx(interval.low, rel=1e-9, abs=1e-12)
    assert UPPER[name](tally, confidence=1 - error).value == pytest.approx(interval.high, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("trials", [1, 2, 10, 10**6])
def test_a_one_sided_wilson_bound_of_a_confidence_of_a_half_or_less_is_the_other_root(trials: int) -> None:
    for successes in {0, trials // 2, trials}:
        tally = Tally(successes, trials)
        assert stats.wilson_lower(tally, confidence=0.5).value == pytest.approx(tally.rate, rel=1e-12)
        assert stats.wilson_upper(tally, confidence=0.5).value == pytest.approx(tally.rate, rel=1e-12)
        # z falls through 0 here: a lower bound with error .7 is an upper one with error .3
        assert stats.wilson_lower(tally, confidence=0.3).value == stats.wilson_upper(tally, confidence=0.7).value
        assert stats.wilson_upper(tally, confidence=0.3).value == stats.wilson_lower(tally, confidence=0.7).value


@pytest.mark.parametrize("trials", [1, 2, 7, 50, 10**6, 10**9])
def test_no_success_starts_at_0_and_no_failure_ends_at_1(trials: int) -> None:
    for name in ("wilson", "clopper_pearson", "jeffreys"):
        assert INTERVALS[name](Tally(0, trials)).low == 0.0
        assert INTERVALS[name](Tally(trials, trials)).high == 1.0
        assert 0.0 < INTERVALS[name](Tally(0, trials)).high < 1.0 or trials == 1
    for name in LOWER:
        assert LOWER[name](Tally(0, trials)).value == 0.0
        assert UPPER[name](Tally(trials, trials)).value == 1.0


@pytest.mark.parametrize("successes", [0, 1, 2, 10**3, 76 * 10**7, 10**9 - 1, 10**9])
@pytest.mark.parametrize("method", INTERVALS.values(), ids=INTERVALS)
def test_a_billion_rollouts(method: Callable[..., Interval], successes: int) -> None:
    interval = method(Tally(successes, 10**9))
    assert 0.0 <= interval.low <= successes / 10**9 <= interval.high <= 1.0
    assert interval.width < 7e-5


def test_a_billion_rollouts_without_a_failure_follow_the_closed_form() -> None:
    # P(X = n) = p^n = 0.05
    assert stats.clopper_pearson_lower(Tally(10**9, 10**9)).value == pytest.approx(
        math.exp(math.log(0.05) / 1e9), rel=1e-15
    )
    assert stats.clopper_pearson_upper(Tally(0, 10**9)).value == pytest.approx(
        -math.expm1(math.log(0.05) / 1e9), rel=1e-9
    )


def test_results_keep_what_made_them() -> None:
    tally = Tally(38, 50)
    for name, method in INTERVALS.items():
        interval = method(tally, confidence=0.9)
        assert (interval.data, interval.trials, interval.estimate, interval.confidence) == ((tally,), 50, 0.76, 0.9)
        assert interval.assumptions
        assert (ANY_RATE in interval.assumptions) == (name == "clopper_pearson")
        assert type(interval.low) is float
        assert type(interval.high) is float
    for method in (*LOWER.values(), *UPPER.values()):
        bound = method(tally, confidence=0.9)
        assert isinstance(bound, Bound)
        assert (bound.data, bound.trials, bound.confidence) == ((tally,), 50, 0.9)
        assert bound.side == ("lower" if bound.value < 0.76 else "upper")


def test_wald_says_not_to_use_it() -> None:
    interval = stats.wald(Tally(10, 10))
    assert "do not use" in str(interval)
    assert any("covers far too little" in str(note) for note in interval.notes)


@pytest.mark.parametrize("bad", [(38, 50), 0.76, None, "38/50"])
def test_a_method_wants_a_tally(bad: Any) -> None:
    for method in (*INTERVALS.values(), *LOWER.values(), *UPPER.values()):
        with pytest.raises(TypeError, match=r"`tally` must be a Tally; got a \w+\. Write Tally\(38, 50\)"):
            method(bad)


def test_an_interval_knows_the_range_of_what_it_is_about():
    assert stats.wilson(Tally(38, 50)).limits == (0.0, 1.0)
    assert score_mean(Scores([1, 4, 2], 0, 5)).limits == (0.0, 5.0)
    assert Interval(0.1, 0.3, 0.2, 0.95, "none").limits == (0.0, 1.0)


def test_what_can_be_claimed() -> None:
    claim = stats.claim(Tally(38, 50), at_least=0.6)
    assert claim.holds
    assert claim.more == 0
    assert claim.bound == stats.clopper_pearson_lower(Tally(38, 50))
    assert str(claim) == "A rate of at least 60% can be claimed at 95% confidence: the bound is 64.0% (76.0% n=50)."


def test_what_needs_more_rollouts() -> None:
    claim = stats.claim(Tally(38, 50), at_least=0.7)
    assert not claim.holds
    assert claim.more == 125
    assert str(claim) == (
        "A rate of at least 70% cannot be claimed at 95% confidence: the bound is 64.0% (76.0% n=50). "
        "125 more rollouts at the observed rate would do."
    )


def test_what_can_never_be_claimed() -> None:
    for required in (0.76, 0.9):
        claim = stats.claim(Tally(38, 50), at_least=required)
        assert claim.more is None
        assert "no number of rollouts at that rate would be enough" in str(claim)
    close = stats.claim(Tally(38, 50), at_least=0.7599999999)
    assert close.more is None
    assert "more than 1,000,000,000 rollouts would be needed" in str(close)


@pytest.mark.parametrize("required", [0.5, 0.9, 0.99, 0.9999])
def test_without_a_failure_there_is_a_closed_form(required: float) -> None:
    # r^n <= 0.05
    claim = stats.claim(Tally(1, 1), at_least=required)
    assert claim.more == math.ceil(math.log(0.05) / math.log(required)) - 1


@settings(max_examples=60)
@given(tallies(60), st.floats(0.05, 0.95), st.sampled_from([0.8, 0.95, 0.99]))
def test_more_is_the_fewest_that_do(tally: Tally, required: float, confidence: float) -> None:
    claim = stats.claim(tally, at_least=required, confidence=confidence)
    assert claim.holds == (stats.clopper_pearson_lower(tally, confidence=confidence).value >= required)

    def does(more: int) -> bool:
        total = tally.trials + more
        then = Tally(tally.successes * total // tally.trials, total)
        return stats.clopper_pearson_lower(then, confidence=confidence).value >= required

    if claim.more is None:
        assert tally.rate < required + 1e-4  # at a billion rollouts the bound is nearer than that
    elif claim.more <= 400:
        assert does(claim.more)
        assert not any(does(more) for more in range(claim.more))


def test_a_policy_below_the_requirement_passes_at_most_as_often_as_it_may() -> None:
    from surefoot.numerics.rates import binomial

    passed = [stats.claim(Tally(k, 40), at_least=0.8).holds for k in range(41)]
    chance = sum(float(binomial.pmf(k, 40, 0.8)) for k in range(41) if passed[k])
    assert 0 < chance <= 0.05


def test_a_billion_rollouts_of_rate_claims() -> None:
    assert stats.claim(Tally(76 * 10**7, 10**9), at_least=0.7599).holds
    assert stats.claim(Tally(10**10, 10**10), at_least=0.9999999999).more is None


def test_a_claim_survives_a_dictionary() -> None:
    claim = stats.claim(Tally(38, 50), at_least=0.7)
    assert Record.from_dict(claim.to_dict()) == claim


@pytest.mark.parametrize(
    ("at_least", "error", "text"),
    [
        (60, ValueError, "`at_least` must be strictly between 0 and 1; got 60. Write 0.6 for 60%"),
        (97.5, ValueError, "`at_least` must be strictly between 0 and 1; got 97.5. Write 0.975 for 97.5%"),
        (0, ValueError, "`at_least` must be strictly between 0 and 1; got 0"),
        (1.0, ValueError, "`at_least` must be strictly between 0 and 1; got 1.0"),
        (float("nan"), ValueError, "`at_least` must be strictly between 0 and 1; got nan"),
        ("0.6", TypeError, "`at_least` must be a number; got '0.6'"),
    ],
)
def test_refusals(at_least: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        stats.claim(Tally(38, 50), at_least=at_least)
    with pytest.raises(ValueError, match=r"Write 0\.95 for 95%"):
        stats.claim(Tally(38, 50), at_least=0.5, confidence=95)
