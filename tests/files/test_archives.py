"""Tests of `surefoot.files.archives`."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot as sf
from surefoot.files import archives
from tests.support import samples
from tests.support.samples import put


def test_a_zip_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "LARGEST_MEMBER", 1 << 20)
    members = samples.inspect_members() | {"summaries.json": b"[" + b" " * (4 << 20) + b"]"}
    for content in (samples.deflated(members), samples.zstd_zip(members)):
        with pytest.raises(
            sf.DataError, match=r"must unpack to at most 1 MiB .*; summaries.json does not. It may be a zip bomb"
        ):
            sf.read(put(tmp_path, "bomb.eval", content))


@pytest.mark.parametrize("method", ["deflate", "zstd"])
def test_a_zip_bomb_that_lies_about_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    monkeypatch.setattr(archives, "LARGEST_MEMBER", 1 << 20)
    members = samples.inspect_members() | {"summaries.json": b" " * (4 << 20)}
    content = samples.deflated(members) if method == "deflate" else samples.zstd_zip(members)
    lie = content.replace((4 << 20).to_bytes(4, "little"), (100).to_bytes(4, "little"))
    with pytest.raises(sf.DataError, match=r"zip"):
        sf.read(put(tmp_path, "bomb.eval", lie))


def test_too_many_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_MEMBERS", 5)
    with pytest.raises(sf.DataError, match="a zip file must hold at most 5 files"):
        sf.read(put(tmp_path, "x.eval", samples.binary_files()["deflate.eval"]))


def test_a_damaged_member(tmp_path: Path) -> None:
    content = bytearray(samples.binary_files()["deflate.eval"])
    content[content.index(b"summaries.json") + 40] ^= 0xFF
    with pytest.raises(sf.DataError, match="zip file must be complete and undamaged"):
        sf.read(put(tmp_path, "x.eval", bytes(content)))


def test_an_encrypted_member(tmp_path: Path) -> None:
    content = bytearray(samples.binary_files()["deflate.eval"])
    start = content.index(b"PK\x01\x02")
    while start >= 0:
        content[start + 8] |= 1
        start = content.find(b"PK\x01\x02", start + 4)
    with pytest.raises(sf.DataError, match="must not be encrypted"):
        sf.read(put(tmp_path, "x.eval", bytes(content)))


def test_a_file_that_unpacks_to_more_than_its_directory_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "LARGEST_MEMBER", 1 << 16)
    content = samples.zstd_zip(samples.inspect_members() | {"summaries.json": b" " * (1 << 18)})
    before, size, after = content.rpartition((1 << 18).to_bytes(4, "little"))  # in the directory, at the end
    with pytest.raises(sf.DataError, match=r"summaries.json does not. It may be a zip bomb"):
        sf.read(put(tmp_path, "bomb.eval", before + (100).to_bytes(len(size), "little") + after))
