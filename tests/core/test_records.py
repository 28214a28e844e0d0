"""Do the core types refuse nonsense, speak English, and come back from a dictionary unchanged?"""

import json
import math
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import (
    Bound,
    Certified,
    DataError,
    Gain,
    Interval,
    Moments,
    PairTally,
    Scores,
    StudyError,
    SurefootError,
    Tally,
    Verdict,
    _check,
)
from surefoot.core import formatting, sentences
from surefoot.core.record import Record
from surefoot.stats import clopper_pearson_lower, exact_gain, exact_paired_gain, optimal_interval, optimal_lower, wilson
from tests.strategies import confidences, draws, scores, tallies


@pytest.mark.parametrize(
    ("successes", "trials", "error", "text"),
    [
        (12, 10, ValueError, "`successes` must be at most `trials`; got 12 successes in 10 trials"),
        (-1, 5, ValueError, "`successes` must be at least 0; got -1"),
        (1, -5, ValueError, "`trials` must be at least 0; got -5"),
        (2.5, 10, TypeError, "`successes` must be a whole number; got 2.5"),
        (5.0, 10, TypeError, "`successes` must be a whole number; got 5.0"),
        (True, 3, TypeError, "`successes` must be a whole number; got True"),
        (0, 0, ValueError, "`trials` must be at least 1; got 0. Without a rollout there is no rate"),
        (math.nan, 10, TypeError, "`successes` must be a whole number; got nan"),
        ("3", 10, TypeError, "`successes` must be a whole number; got '3'"),
        (3, None, TypeError, "`trials` must be a whole number; got None"),
    ],
)
def test_a_tally_refuses_nonsense(successes: Any, trials: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Tally(successes, trials)


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


def test_numpy_whole_numbers_become_plain_ones() -> None:
    import numpy as np

    tally = Tally(np.int64(3), np.int32(10))
    assert type(tally.successes) is int
    assert type(tally.trials) is int
    assert tally == Tally(3, 10)


def test_a_result_does_not_change_in_your_hand() -> None:
    bound, interval = clopper_pearson_lower(Tally(1, 2)), wilson(Tally(1, 2))
    for result, field in ((Tally(1, 2), "successes"), (interval, "low"), (bound, "value")):
        with pytest.raises(AttributeError):
            setattr(result, field, 0)


def test_pair_tally() -> None:
    pairs = PairTally(both=20, first_only=12, second_only=2, neither=16)
    assert (pairs.first, pairs.second, pairs.gain) == (Tally(32, 50), Tally(22, 50), 0.2)
    assert str(pairs) == "50 pairs: both succeeded in 20, only the first in 12, only the second in 2, neither in 16."
    with pytest.raises(ValueError, match="`pairs` must be at least 1; got 0"):
        PairTally(0, 0, 0, 0)
    with pytest.raises(ValueError, match="`second_only` must be at least 0"):
        PairTally(1, 1, -1, 1)


@pytest.mark.parametrize(
    ("values", "span", "error", "text"),
    [
        ([], (0, 1), ValueError, "`values` must hold at least one score; got none"),
        ([0.5, 1.2], (0, 1), ValueError, r"stated range \[0, 1\]; score 2 is 1.2"),
        ([0.5, math.nan], (0, 1), ValueError, "score 2 is nan"),
        ([0.5], (1, 0), ValueError, "`low` must be below `high`"),
        ([0.5], (-1e308, 1e308), ValueError, "`high` - `low` must be finite"),
        ([0.5], (0, math.inf), ValueError, "`high` must be finite"),
        ("0.5", (0, 1), TypeError, "`values` must be a list of numbers; got '0.5'"),
        (0.5, (0, 1), TypeError, "`values` must be a list of numbers; got 0.5"),
        (["a"], (0, 1), TypeError, r"`values\[0\]` must be a number"),
    ],
)
def test_scores_refuse_nonsense(values: Any, span: tuple[Any, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Scores(values, low=span[0], high=span[1])


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (Tally(38, 50), "38 of 50 rollouts succeeded."),
        (Tally(38_000, 50_000), "38,000 of 50,000 rollouts succeeded."),
        (Tally(1, 1), "1 of 1 rollout succeeded."),
        (
            PairTally(1, 0, 0, 0),
            "1 pair: both succeeded in 1, only the first in 0, only the second in 0, neither in 0.",
        ),
        (Moments(1, 0.5, 0.0), "1 score in [0, 1], mean 0.500."),
        (wilson(Tally(38, 50)), "76.0% [62.5%, 85.8%] n=50 (95% Wilson interval)."),
        (wilson(Tally(0, 3), confidence=0.999), "0.0% [0.0%, 78.4%] n=3 (99.9% Wilson interval)."),
        (clopper_pearson_lower(Tally(38, 50)), "at least 64.0% n=50 (95% Clopper-Pearson bound)."),
        (
            Certified(0.117219764, 0.117220516, 0.5909, "The worst"),
            "The worst is between 0.11721976 and 0.11722052 (attained near 0.5909).",
        ),
        (Scores([0.2, 1.0, 0.5]), "3 scores in [0, 1], mean 0.567."),
    ],
)
def test_results_are_sentences(result: Record, sentence: str) -> None:
    assert str(result) == sentence


@given(tallies(), confidences)
def test_shown_ends_are_on_the_safe_side(tally: Tally, confidence: float) -> None:
    interval = wilson(tally, confidence=confidence)
    low, high = (float(part.strip("[]%")) / 100 for part in formatting.span(interval.low, interval.high).split(", "))
    assert low <= interval.low + 1e-12
    assert high >= interval.high - 1e-12
    assert interval.low - low < 0.0010001
    assert high - interval.high < 0.0010001


@pytest.mark.parametrize("rest", [0.5, 0.05, 0.0167, 1e-4, 1e-5, 3e-9, 1e-12, 1e-15])
def test_a_shown_confidence_is_never_more_than_it_is(rest: float) -> None:
    for share in (rest, 1.0 - rest):
        shown = float(formatting.percent(share).removesuffix("%"))
        assert 0.0 < shown < 100.0
        assert shown <= 100.0 * share * (1 + 1e-12)
        assert shown == pytest.approx(100.0 * share, abs=0.01)


def test_a_margin_is_shown_as_it_was_given() -> None:
    assert sentences.sentence(Verdict.SAME, -0.01, 0.01, margin=0.0125).endswith("are the same, within 1.25 points.")
    assert "by more than 0.04 points" in sentences.sentence(Verdict.BETTER, 0.1, 0.2, margin=0.0004)
    interval = Interval(-0.01, 0.01, 0.0, 0.95, "none", scale="gain")
    assert str(Gain(interval, None, Verdict.SAME, margin=0.0125)).endswith("the same (margin 1.25 points).")
    assert [formatting.margin(value, "gain") for value in (0.05, 0.1, 0.07)] == [
        "5.0 points",
        "10.0 points",
        "7.0 points",
    ]
    assert [formatting.margin(value, "score gain") for value in (0.05, 2.0, 0.0004)] == ["0.050", "2.000", "0.0004"]


def test_names_are_listed_however_many() -> None:
    listed = ["none", "a", "a and b", "a, b and c"]
    assert [sentences.listed("abc"[:many]) for many in range(4)] == listed
    assert sentences.listed("abcde", most=3) == "a, b and 3 others"


def test_numbers_too_large_for_decimals_are_shown_as_they_are() -> None:
    assert formatting.rounded(1e306, 3, "down") == formatting.rounded(1e306, 3, "up") == 1e306


@given(st.floats(1e-12, 1.0))
def test_a_shown_p_value_is_never_smaller_than_it_is(value: float) -> None:
    shown = formatting.p_value(value)
    number = float(shown.split()[-1])
    assert value <= number * (1 + 1e-9)


records = st.one_of(
    tallies(),
    scores(),
    st.builds(lambda t, c: wilson(t, confidence=c), tallies(), confidences),
    st.builds(lambda t, c: clopper_pearson_lower(t, confidence=c), tallies(), confidences),
    st.builds(lambda t, u: optimal_lower(t, draw=u), tallies(60), draws),
    st.builds(lambda t, s: optimal_interval(t, rng=s), tallies(20), st.integers(0, 2**40)),
    st.builds(lambda low, gap, at: Certified(low, low + gap, at), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)),
    st.builds(lambda a, b, c: PairTally(a, b, c, 1), *(st.integers(0, 99),) * 3),
)


@given(records)
def test_a_record_survives_json(record: Record) -> None:
    written = json.dumps(record.to_dict(), allow_nan=False)
    back = Record.from_dict(json.loads(written))
    assert back == record
    assert type(back) is type(record)
    assert str(back) == str(record)


def test_a_record_comes_back_where_nothing_was_imported_yet() -> None:
    data = json.dumps(wilson(Tally(3, 5)).to_dict())
    code = f"from surefoot.core.record import Record; print(Record.from_dict({data.replace('null', 'None')}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(wilson(Tally(3, 5)))


def test_from_dict_refuses_what_it_does_not_know() -> None:
    data = Tally(1, 2).to_dict()
    assert data == {"type": "Tally", "schema": 1, "successes": 1, "trials": 2}
    with pytest.raises(ValueError, match="must describe an Interval; got a Tally"):
        Interval.from_dict(data)
    with pytest.raises(ValueError, match="must be of schema 1; got 9"):
        Tally.from_dict({**data, "schema": 9})
    with pytest.raises(ValueError, match="must name a known type; got 'Tale'"):
        Tally.from_dict({**data, "type": "Tale"})
    with pytest.raises(ValueError, match=r"fields of Tally only; got \['extra'\]"):
        Tally.from_dict({**data, "extra": 1})
    with pytest.raises(ValueError, match="must hold every field of Tally; trials missing"):
        Tally.from_dict({name: value for name, value in data.items() if name != "trials"})
    with pytest.raises(TypeError, match="`data` must be a Mapping; got a list"):
        Tally.from_dict([])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at most `trials`"):
        Tally.from_dict({**data, "successes": 3})


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((0, 0.0, 0.0), ValueError, "`trials` must be at least 1; got 0"),
        ((4, 8.0, 16.0), ValueError, r"`mean` must lie in the stated range \[0, 1\]; got 2"),
        ((4, 2.0, 9.0), ValueError, "`variance` must be between 0 and 0.333333, the largest around this mean"),
        ((4, 2.0, 1.5, 0.0, math.inf), ValueError, "`high` must be finite"),
    ],
)
def test_moments_refuse_sums_that_no_scores_have(arguments: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Moments.of_sums(*arguments)


def test_moments_do_not_lose_a_spread_to_rounding() -> None:
    # Half at each end of a range so far from 0 that the sums cannot tell them apart: as wide as it can be, never 0.
    low, high = 1e6, 1e6 + 1
    moments = Moments.of_sums(1000, 500 * (low + high), 500 * (low * low + high * high), low, high)
    assert moments.variance == pytest.approx(0.25, rel=0.01)
    assert Moments.of_sums(1000, 100.0, 1000 * 0.1**2).variance == 0.0
    assert Moments.of_sums(3, 3 * (1 + 1e-12), 3.0).mean == 1.0  # rounding alone is forgiven


def test_a_refusal_is_grammatical_and_takes_anything() -> None:
    with pytest.raises(TypeError, match="`tally` must be a Tally; got an int"):
        wilson(38)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"`claim` must be one of a, b; got \['a'\]"):
        _check.choice(["a"], "claim", {"a": 1, "b": 2})


def test_intervals_and_bounds_refuse_impossible_ends() -> None:
    with pytest.raises(ValueError, match="`low` must be at most `high`"):
        Interval(low=0.6, high=0.4, estimate=0.5, confidence=0.95, method="none")
    with pytest.raises(ValueError, match="`low` must be at most `high`; got nan"):
        Interval(low=math.nan, high=0.4, estimate=0.5, confidence=0.95, method="none")
    with pytest.raises(ValueError, match="`side` must be 'lower' or 'upper'; got 'larger'"):
        Bound(side="larger", value=0.5, estimate=0.5, confidence=0.95, method="none")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`value` must be a number; got NaN"):
        Bound(side="lower", value=math.nan, estimate=0.5, confidence=0.95, method="none")
    with pytest.raises(ValueError, match="`low` must be at most `high`"):
        Certified(low=0.2, high=0.1, at=0.5)


def test_a_gain_cannot_contradict_its_interval() -> None:
    interval = Interval(0.1, 0.3, 0.2, 0.95, "none", scale="gain")
    assert Gain(interval, None, Verdict.UNDECIDED).mirrored.verdict is Verdict.UNDECIDED
    for margin, verdict in ((0.0, Verdict.WORSE), (0.2, Verdict.BETTER), (0.05, Verdict.SAME)):
        with pytest.raises(ValueError, match=r"`verdict` must be '\w+', which the interval supports, or 'undecided'"):
            Gain(interval, None, verdict, margin=margin)


def test_a_mirrored_gain_is_the_gain_of_the_others() -> None:
    pairs = PairTally(both=5, first_only=8, second_only=1, neither=6)
    swapped = PairTally(both=5, first_only=1, second_only=8, neither=6)
    assert exact_paired_gain(pairs).mirrored == exact_paired_gain(swapped)
    assert exact_gain(Tally(17, 20), Tally(8, 20)).mirrored == exact_gain(Tally(8, 20), Tally(17, 20))


def test_an_interval_knows_its_width_and_what_it_holds() -> None:
    interval = Interval(low=0.25, high=0.75, estimate=0.5, confidence=0.95, method="none")
    assert interval.width == 0.5
    assert 0.25 in interval
    assert 0.8 not in interval
    assert Certified(0.1, 0.3, 0.5).value == pytest.approx(0.2)


def test_a_verdict_is_mirrored_with_the_policies() -> None:
    assert Verdict.BETTER.mirrored is Verdict.WORSE
    assert Verdict.WORSE.mirrored is Verdict.BETTER
    assert Verdict.SAME.mirrored is Verdict.SAME
    assert Verdict.UNDECIDED.mirrored is Verdict.UNDECIDED


def test_errors_say_where() -> None:
    error = DataError("`success` must be 0 or 1; got 'x'.", source="a.csv", row=3)
    assert str(error) == "a.csv, row 3: `success` must be 0 or 1; got 'x'."
    assert (error.source, error.row) == ("a.csv", 3)
    assert str(DataError("empty.")) == "empty."
    assert issubclass(DataError, SurefootError)
    assert issubclass(StudyError, SurefootError)


@pytest.mark.parametrize("estimate", [0.1, 0.7, math.nan])
def test_no_interval_leaves_out_its_estimate(estimate):
    with pytest.raises(ValueError, match=r"`estimate` must lie between `low` and `high`, 0\.2 and 0\.6; got"):
        Interval(0.2, 0.6, estimate, 0.95, "made up")
    assert Interval(0.2, 0.6, 0.2 - 1e-12, 0.95, "made up").low == 0.2  # rounding alone is no matter
