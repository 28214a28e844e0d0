"""Tests of `surefoot._lazy`."""

import pytest

from surefoot import _lazy


def test_a_name_is_fetched_from_its_module_and_a_module_is_itself():
    fetch, names = _lazy.attach("surefoot", {"Tally": "surefoot.core.tally", "stats": "surefoot.stats"})
    from surefoot import stats
    from surefoot.core.tally import Tally

    assert fetch("Tally") is Tally
    assert fetch("stats") is stats
    assert names() == ["Tally", "stats"]


def test_a_name_that_is_not_there_is_refused_like_any_other():
    fetch, _ = _lazy.attach("surefoot", {})
    with pytest.raises(AttributeError, match="module 'surefoot' has no attribute 'Tallies'"):
        fetch("Tallies")


def test_a_room_that_is_not_public_says_where_to_look():
    fetch, _ = _lazy.attach("surefoot", {"audit": "surefoot.auditing.audits", "Audit": "surefoot.auditing.audits"})
    with pytest.raises(AttributeError, match=r"'auditing'; what is public of it is surefoot\.Audit, surefoot\.audit"):
        fetch("auditing")
