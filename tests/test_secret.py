"""Tests of `surefoot._secret`."""

import pickle

import pytest

from surefoot._secret import Secret, without_password


def test_a_secret_shows_itself_only_when_asked_by_name():
    secret = Secret("open sesame")
    assert "sesame" not in f"{secret} {secret!r} {secret:>40} {[secret]}"
    assert secret.reveal() == "open sesame"
    assert secret
    assert not Secret("")


def test_secrets_are_compared_and_never_pickled():
    assert Secret("a") == Secret("a")
    assert Secret("a") != Secret("b")
    assert Secret("a") != "a"
    assert len({Secret("a"), Secret("a"), Secret("b")}) == 2
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(Secret("a"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://ann:pw@lab/study", "postgresql://ann:***@lab/study"),
        ("cannot reach postgres://ann:p%40w@lab:5432/x now", "cannot reach postgres://ann:***@lab:5432/x now"),
        ("host=lab password='a \\' b' user=ann", "host=lab password=*** user=ann"),
        ("postgresql://lab/x?sslpassword=pw&user=ann", "postgresql://lab/x?sslpassword=***&user=ann"),
        ("study.db", "study.db"),
        ("http://lab:8080/study", "http://lab:8080/study"),
    ],
)
def test_a_password_is_taken_out_of_an_address_wherever_it_stands(text, shown):
    assert without_password(text) == shown
