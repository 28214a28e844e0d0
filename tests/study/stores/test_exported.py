"""An exported log as a store that is only read: see also `tests/files/formats/test_study_logs.py`."""

from __future__ import annotations

import pytest

from surefoot.errors import StudyError
from surefoot.study.stores import open_store
from surefoot.study.stores.exported import is_export
from tests.support.studies import begun, driven, outcomes


def test_it_reads_what_was_exported_and_takes_no_line(tmp_path):
    study = driven(begun(blinded=False), outcomes(1, new=0.9, old=0.2))
    path = tmp_path / "study.jsonl"
    path.write_text(study.export())
    store = open_store(path)
    assert [line.hash for line in store.read(3)] == [line.hash for line in study.store.read(3)]
    assert store.clips == tmp_path / "study.clips"
    with pytest.raises(StudyError, match="only read"):
        store.append(store.read()[-1:], after=study.fold.head)


def test_other_files_are_no_exports(tmp_path):
    (tmp_path / "a.json").write_text('{"turn": 1}')
    assert not is_export(tmp_path / "a.json")
    assert not is_export(tmp_path / "none")
