"""Tests of `surefoot.files`."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from surefoot import _files
from surefoot._files import whole_file, write_whole


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
