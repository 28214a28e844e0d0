"""Several appends as one: all of it is kept, or nothing, and nothing is shown that was not kept."""

from __future__ import annotations

import pytest

from surefoot.study.stores import ConflictError
from surefoot.study.stores.memory import MemoryStore
from surefoot.study.stores.shared import SharedStore
from surefoot.study.studies import Study
from tests.support.studies import begun


def test_what_is_appended_together_is_read_within_and_kept_at_the_end():
    behind = MemoryStore()
    study = begun(SharedStore(behind))
    with study.store.together():
        turn = study.next_turn()
        study.record(turn, True)
        assert [line.event.kind for line in study.store.read(1)] == ["leased", "recorded"]
        assert len(behind.read()) == 1
    assert [line.event.kind for line in behind.read(1)] == ["leased", "recorded"]


def test_a_study_forgets_what_the_store_did_not_keep():
    store = MemoryStore()
    study, other = begun(store), Study.open(store)
    turns = study.next_turns(4)

    def recorded():
        with study.together():
            study.record(turns[0], True)
            assert study.status().recorded == 1
            other.refresh()
            other.check(["lights"])  # another device was faster

    with pytest.raises(ConflictError):
        recorded()
    assert study.status().recorded == 0
    assert study.held() == turns
    assert study.record(turns[0], True).status.recorded == 1
