"""Tests of `surefoot.core.record`."""

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import Interval, Moments, PairTally, Scores, Tally
from surefoot.core.interval import Certified
from surefoot.core.record import Record
from surefoot.stats import clopper_pearson_lower, optimal_interval, optimal_lower, wilson
from tests.support.strategies import confidences, draws, scores, tallies


def test_a_result_does_not_change_in_your_hand() -> None:
    bound, interval = clopper_pearson_lower(Tally(1, 2)), wilson(Tally(1, 2))
    for result, field in ((Tally(1, 2), "successes"), (interval, "low"), (bound, "value")):
        with pytest.raises(AttributeError):
            setattr(result, field, 0)


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (Tally(38, 50), "38 of 50 succeeded."),
        (Tally(38_000, 50_000), "38,000 of 50,000 succeeded."),
        (Tally(1, 1), "1 of 1 succeeded."),
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
    assert data == {"type": "Tally", "schema": 3, "successes": 1, "trials": 2}
    with pytest.raises(ValueError, match="must describe an Interval; got a Tally"):
        Interval.from_dict(data)
    with pytest.raises(ValueError, match="must be of schema 3; got 9"):
        Tally.from_dict({**data, "schema": 9})
    with pytest.raises(ValueError, match="must name a known type; got 'Tale'"):
        Tally.from_dict({**data, "type": "Tale"})
    with pytest.raises(ValueError, match=r"fields of Tally only; got \['extra'\]"):
        Tally.from_dict({**data, "extra": 1})
    with pytest.raises(ValueError, match="must hold every field of Tally; trials"):
        Tally.from_dict({name: value for name, value in data.items() if name != "trials"})
    with pytest.raises(TypeError, match="`data` must be a Mapping; got a list"):
        Tally.from_dict([])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at most `trials`"):
        Tally.from_dict({**data, "successes": 3})


def test_a_list_in_the_place_of_a_text_stays_what_it_was() -> None:
    data = {**wilson(Tally(3, 5)).to_dict(), "method": ["Wilson", "Wald"]}
    assert Interval.from_dict(data).method == ("Wilson", "Wald")


def test_a_record_of_another_package_does_not_displace_ours() -> None:
    class Tally(Record):
        pass

    assert Record._known["Tally"].__module__ == "surefoot.core.tally"
    assert Tally.__name__ == "Tally"
