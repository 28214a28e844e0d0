"""Is a rate claimed only when the guaranteed bound allows it, and is "how many more" the fewest?"""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import Tally, stats
from surefoot.core.record import Record
from tests.support.strategies import tallies


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


def test_a_billion_rollouts() -> None:
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
