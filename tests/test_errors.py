"""Tests of `surefoot.errors`."""

from surefoot import DataError, StudyError, SurefootError


def test_errors_say_where() -> None:
    error = DataError("`success` must be 0 or 1; got 'x'.", source="a.csv", row=3)
    assert str(error) == "a.csv, row 3: `success` must be 0 or 1; got 'x'."
    assert (error.source, error.row) == ("a.csv", 3)
    assert str(DataError("empty.")) == "empty."
    assert issubclass(DataError, SurefootError)
    assert issubclass(StudyError, SurefootError)
