"""Tests of `surefoot.study.log`."""

from __future__ import annotations

import pytest

import surefoot as sf
from surefoot.errors import StudyError
from surefoot.study.stores import ConflictError
from surefoot.study.stores.memory import MemoryStore
from surefoot.study.studies import Study
from tests.support.studies import begun, driven


def test_a_store_that_others_always_write_first_is_given_up():
    class Busy(MemoryStore):
        def append(self, lines, *, after):
            if self.read():
                raise ConflictError("somebody else was faster")
            super().append(lines, after=after)

    study = begun(Busy())
    with pytest.raises(StudyError, match="Others are writing too fast; nothing was recorded: try again"):
        study.next_turn()
    assert len(study.store.read()) == 1


def test_a_table_from_elsewhere_is_found_and_stops_the_study(monkeypatch):
    store = MemoryStore()
    study = begun(store, rule="exact", horizon=20)
    driven(study, lambda turn: turn.number % 2, 6)
    monkeypatch.setattr("surefoot.study.state.table_of", lambda plan: "another table")
    opened = Study.open(store)
    with pytest.raises(StudyError, match="not the one that the study declared"):
        opened.next_turn()
    found = sf.verify(store)
    (fault,) = found.faults
    assert f"(another tabl) is not the one that the study declared ({study.fold.table[:12]})" in fault
    assert fault.endswith("The verdict was not replayed; chain, plan and seed were checked.")
    assert (found.verdict, found.table) == (None, study.fold.table)
