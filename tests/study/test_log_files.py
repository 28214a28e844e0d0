"""Tests of `surefoot.study.log_files`."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

import surefoot as sf
from surefoot._secret import Secret
from surefoot.errors import StudyError
from surefoot.study.log_files import STEP, marks
from surefoot.study.stores.sqlite import SQLiteStore
from surefoot.study.studies import Study
from tests.support.attacked_studies import finished as attacks_finished
from tests.support.ended_studies import finished
from tests.support.studies import driven, outcomes, plan

# --- export, import, old logs ---


def test_an_export_is_restored_whole(tmp_path):
    study = finished()
    study.unblind(reason="done")
    text = study.export()
    again = Study.restore(text, tmp_path / "copy.db")
    assert again.export() == text
    assert again.verdict is study.verdict
    assert sf.verify(tmp_path / "copy.db").head == sf.verify(study.store).head
    with pytest.raises(StudyError, match="already holds a study"):
        Study.restore(text, tmp_path / "copy.db")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda rows: [], "it is empty"),
        (lambda rows: ["nonsense", *rows], "Line 1 of the exported log is not JSON"),
        (lambda rows: ["3", *rows], "not an event"),
        (lambda rows: [*rows[:4], *rows[5:]], "line 5 is missing"),
        (lambda rows: [row.replace('"result":true', '"result":false') for row in rows], "was changed by hand"),
        (lambda rows: [rows[0].replace('"schema":3', '"schema":9'), *rows[1:]], "newer surefoot"),
        (lambda rows: [re.sub(r'"seed":"."', '"seed":"x"', rows[0]), *rows[1:]], "seed"),
        (
            lambda rows: [row[: len(row) // 2] if i == 9 else row for i, row in enumerate(rows)],
            "Line 10 .* is not JSON",
        ),
        (lambda rows: ['{"number": 1}', *rows[1:]], "not an event"),
    ],
)
def test_a_damaged_export_restores_nothing(tmp_path, damage, said):
    study = finished()
    study.unblind(reason="done")
    rows = study.export().splitlines()
    rows[0] = re.sub(r'"seed":"[^"]*"', f'"seed":"{"0" if "seed" in said else ""}{study.fold.seed.reveal()}"', rows[0])
    with pytest.raises(StudyError, match=said):
        Study.restore("\n".join(damage(rows)), tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists() or SQLiteStore(tmp_path / "copy.db").read() == []


@pytest.fixture(params=["sqlite", "postgres"])
def address(request, tmp_path):
    return str(tmp_path / "study.db") if request.param == "sqlite" else request.getfixturevalue("postgres").address()


# --- backups ---

KEY = Secret("a key that is long enough")


@pytest.fixture
def _sealing():
    pytest.importorskip("cryptography", reason="needs the extra `seal`")


@pytest.mark.usefixtures("_sealing")
def test_a_blinded_study_can_be_backed_up_and_the_backup_tells_nothing(address, tmp_path):
    study = driven(Study.create(plan(title="Mugs"), address), outcomes(1, new=0.9, old=0.2), 9)
    held = study.next_turn(holder="arm 1")
    text = study.backup(KEY)
    for secret in (study.fold.seed.reveal(), "Mugs", "recorded", '"new"', '"old"', held.code):
        assert secret not in text
    again = Study.restore(text, tmp_path / "again.db", key=KEY)
    assert again.store.read() == study.store.read()
    assert again.fold.blinded
    assert again.fold.seed == study.fold.seed
    assert (marks(text)[0].lines, marks(text)[0].head) == (study.version, study.fold.head)
    assert study.backup(KEY) != text  # sealed afresh each time


@pytest.mark.usefixtures("_sealing")
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda text: text, "the key belongs to another backup"),
        (
            lambda text: text.replace('"lines":', '"lines":1'),
            "the key belongs to another backup, or the backup was changed",
        ),
        (lambda text: text[:-20] + "AAAA" + text[-16:], "cannot be|was changed"),
        (lambda text: text.replace('"schema":2', '"schema":3'), "made by a newer surefoot: schema 3"),
        (lambda text: text.replace('"schema":2', '"schema":1'), "cannot be read: 'proof'"),
        (lambda text: text.splitlines()[0] + "\n", "cut off"),
        (lambda text: text[: len(text) // 2], "not JSON"),
    ],
)
def test_a_spoilt_backup_restores_nothing(tmp_path, spoil, said):
    text = Study.create(plan(), ":memory:").backup(KEY)
    key = Secret("some other key, also long") if spoil(text) == text else KEY
    with pytest.raises(StudyError, match=said):
        Study.restore(spoil(text), tmp_path / "again.db", key=key)
    assert not (tmp_path / "again.db").exists()
    with pytest.raises(StudyError, match="give its key"):
        Study.restore(text, tmp_path / "again.db")


@pytest.mark.usefixtures("_sealing")
def test_the_size_of_a_backup_tells_no_outcome():
    sizes = set()
    for good in (True, False):
        study, grown = Study.create(plan(rule="fixed"), ":memory:"), []
        for _ in range(12):
            study.record(study.next_turn(), good)
            grown.append(len(study.backup(KEY).splitlines()[1]))
        sizes.add(tuple(grown))
    assert len(sizes) == 1
    hidden = len(json.loads(study.backup(KEY).splitlines()[1])["log"]) * 3 // 4
    assert 0 < hidden - 16 < 2 * STEP * study.version


def test_without_the_extra_a_backup_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers.aead", None)
    with pytest.raises(StudyError, match=r"needs the `seal` extra: in a clone of surefoot, pip install '\.\[seal\]'\."):
        Study.create(plan(), ":memory:").backup(KEY)


OLD = Path(__file__).parents[1] / "fixtures" / "studies" / "0.2.0.backup"


def test_a_backup_of_0_2_opens_without_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers.aead", None)
    text = OLD.read_text(encoding="utf-8")
    study = Study.restore(text, tmp_path / "again.db", key=KEY)
    assert (study.version, study.fold.head) == (15, "cf0c9fb2fa61946f112c764d0df53072381071aa18de23001124ca77a11d86b3")
    for spoilt, key in ((text, Secret("some other key, also long")), (text.replace('"lines":15', '"lines":14'), KEY)):
        with pytest.raises(StudyError, match="the key belongs to another backup, or the backup was changed"):
            Study.restore(spoilt, tmp_path / "no.db", key=key)


def test_a_cut_export_restores_nothing(tmp_path):
    rows = attacks_finished().export().splitlines(keepends=True)
    with pytest.raises(StudyError, match="lines were cut off"):
        Study.restore("".join(rows[:-1]), tmp_path / "copy.db")
    with pytest.raises(StudyError, match="its end tells of"):
        Study.restore("".join([*rows[:-2], rows[-1]]), tmp_path / "copy.db")
    assert Study.restore("".join(rows), tmp_path / "copy.db").finished
