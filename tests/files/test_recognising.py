"""Tests of `surefoot.files.recognising`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import surefoot as sf
from tests.support.samples import deflated, put


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(sf.DataError, match=r"pipe.csv: it must be a regular file; it is a pipe or a device\."):
        sf.read(tmp_path / "pipe.csv")


def test_no_such_file() -> None:
    with pytest.raises(sf.DataError, match=r"nowhere.csv: there is no such file"):
        sf.read("nowhere.csv")


def test_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(sf.DataError, match="the folder must hold files of rollouts; it is empty"):
        sf.read(tmp_path)


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (deflated({"mimetype": b"x", "content.xml": b"<x/>"}), "an OpenDocument file. Save the sheet as .xlsx or CSV"),
        (b"\xd0\xcf\x11\xe0" + bytes(50), r"an old Office file \(.xls\). Save the sheet as .xlsx"),
        (b"\x89HDF\r\n\x1a\n" + bytes(50), "HDF5. Write the table of rollouts to CSV"),
        (b"ARROW1" + bytes(50), "an Arrow file. Write it as Parquet"),
        (b"\x1f\x8b\x08" + bytes(50), "gzip-packed. Unpack it first"),
    ],
)
def test_what_is_not_read_is_told_how_to_convert(tmp_path: Path, content: bytes, hint: str) -> None:
    with pytest.raises(sf.DataError, match=hint):
        sf.read(put(tmp_path, "a", content))
