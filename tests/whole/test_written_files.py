"""Every file that the product writes is there whole or not at all: a full disk or Ctrl+C leaves the earlier one."""

from __future__ import annotations

import ast
import errno
import os
import stat
from pathlib import Path

import pytest

import surefoot
from surefoot import _files
from surefoot._files import whole_file, write_whole
from surefoot.cli.main import run

SOURCE = Path(surefoot.__file__).parent
OWN = {"_files.py", "study/stores/sqlite.py"}  # the one that writes whole files, and the one that keeps a database


def test_a_file_takes_the_place_of_the_earlier_one(tmp_path):
    path = tmp_path / "report.md"
    assert write_whole(path, "one\n") == path
    write_whole(path, "zwei: ä\r\n")
    assert path.read_bytes() == "zwei: ä\r\n".encode()
    assert [one.name for one in tmp_path.iterdir()] == ["report.md"]


def test_permissions_stay_and_secrets_are_private(tmp_path):
    before = os.umask(0o022)
    try:
        write_whole(tmp_path / "open", "x")
        write_whole(tmp_path / "secret", "x", private=True)
        (tmp_path / "open").chmod(0o640)
        write_whole(tmp_path / "open", "y")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "open").stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600


def test_a_link_stays_a_link_and_a_pipe_is_written_as_it_is(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    write_whole(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"
    write_whole("/dev/null", "gone")


@pytest.mark.parametrize("fault", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("moment", ["write", "fsync", "replace"])
def test_a_fault_at_any_moment_leaves_the_earlier_file(tmp_path, monkeypatch, fault, moment):
    path = tmp_path / "report.html"
    write_whole(path, "the good one")

    def fail(*_, **__):
        raise fault

    if moment == "fsync":
        monkeypatch.setattr(_files.os, "fsync", fail)
    elif moment == "replace":
        monkeypatch.setattr(Path, "replace", fail)

    def half() -> None:
        with whole_file(path) as file:
            file.write(b"half of")
            if moment == "write":
                fail()

    with pytest.raises(type(fault)):
        half()
    monkeypatch.undo()
    assert path.read_text() == "the good one"
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize(
    "words", [("report", "-o", "out.html"), ("export", "-o", "out.html"), ("backup", "-o", "out.html")]
)
def test_a_full_disk_is_told_in_one_sentence_and_the_old_file_stands(tmp_path, monkeypatch, capsys, words):
    monkeypatch.chdir(tmp_path)
    study = surefoot.Study.create(surefoot.Plan(policies=("new", "old"), blinded=False), "study.db")
    for _ in range(2):
        study.record(study.next_turn(), True)
    Path("out.html").write_text("the good one")
    key = ("--key", "k") if words[0] == "backup" else ()
    Path("k").write_text("a key that is long enough")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_files.os, "fsync", full)
    assert run(["study", words[0], "study.db", *words[1:], *key]) == 65
    assert capsys.readouterr().err == "surefoot: out.html: it cannot be read or written: No space left on device.\n"
    assert Path("out.html").read_text() == "the good one"


def test_no_other_place_writes_files():
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        if path.relative_to(SOURCE).as_posix() in OWN:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            strings = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            if name in ("write_text", "write_bytes") or (name == "open" and any(set(s) & set("wax+") for s in strings)):
                found.append(f"{path.relative_to(SOURCE)}:{node.lineno}")
    assert found == []
