"""Tests of `surefoot.check`."""

import math
from typing import Any

import pytest

import surefoot as sf
from surefoot import Tally, _check
from surefoot._arguments import shown
from surefoot.stats import clopper_pearson_lower, optimal_lower, wilson


@pytest.mark.parametrize(
    ("confidence", "text"),
    [
        (0, "strictly between 0 and 1; got 0"),
        (1, "strictly between 0 and 1; got 1"),
        (95, "strictly between 0 and 1; got 95. Write 0.95 for 95%"),
        (99.5, "got 99.5. Write 0.995 for 99.5%"),
        (-0.1, "strictly between 0 and 1; got -0.1"),
        (math.nan, "strictly between 0 and 1; got nan"),
        (math.inf, "strictly between 0 and 1; got inf"),
    ],
)
def test_a_confidence_is_strictly_inside_0_and_1(confidence: Any, text: str) -> None:
    for method in (wilson, clopper_pearson_lower):
        with pytest.raises(ValueError, match=text):
            method(Tally(3, 10), confidence=confidence)
    with pytest.raises(ValueError, match=text):
        optimal_lower(Tally(3, 10), draw=0.5, confidence=confidence)


@pytest.mark.parametrize("confidence", ["0.95", None, True])
def test_a_confidence_is_a_number(confidence: Any) -> None:
    with pytest.raises(TypeError, match="`confidence` must be a number"):
        wilson(Tally(3, 10), confidence=confidence)


def test_a_refusal_is_grammatical_and_takes_anything() -> None:
    with pytest.raises(TypeError, match="`tally` must be a Tally; got an int"):
        wilson(38)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"`claim` must be one of a, b; got"):
        _check.choice(["a"], "claim", {"a": 1, "b": 2})


def test_a_refusal_is_a_value_and_names_the_option_where_there_is_one() -> None:
    error = _check.wrong(("low", "high"), "differ; got 1 and 1.", (1, 1), "Leave both out.")
    assert str(error) == "`low` and `high` must differ; got 1 and 1. Leave both out."
    assert (error.argument, error.value, error.cure) == ("low", (1, 1), "Leave both out.")
    assert shown(_check.wrong("low", "be given.").template, {"low": "--low"}) == "`--low` must be given."
    with pytest.raises(sf.ArgumentError) as caught:
        _check.span(2.0, 1.0)
    assert shown(caught.value.template, {"low": "--low"}).startswith("`--low` must be below `high`; got 2 and 1")
    kind = _check.wrong_kind("data", "be a path; got int.", 3)
    assert isinstance(kind, TypeError)
    assert (str(kind), kind.argument, kind.value) == ("`data` must be a path; got int.", "data", 3)
