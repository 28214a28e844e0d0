"""Tests of `surefoot.table.fingerprints`."""

import hashlib

import polars as pl

from surefoot.table import fingerprints


def test_one_file_has_the_digest_of_its_bytes_and_several_do_not_depend_on_their_order(tmp_path):
    paths = []
    for name, text in (("a", "one"), ("b", "two")):
        (tmp_path / name).write_text(text)
        paths.append(str(tmp_path / name))
    assert fingerprints.of_files(paths[:1]) == f"sha256:{hashlib.sha256(b'one').hexdigest()}"
    both = sorted(hashlib.sha256(text).hexdigest() for text in (b"one", b"two"))
    assert fingerprints.of_files(paths) == f"sha256:{hashlib.sha256(' '.join(both).encode()).hexdigest()}"
    assert fingerprints.of_files(paths) == fingerprints.of_files(paths[::-1])


def test_rows_have_the_digest_of_their_csv_whatever_is_read_at_a_time(monkeypatch):
    frame = pl.DataFrame({"policy": list("abcde"), "success": [1, 0, 1, 1, 0]})
    whole = f"sha256:{hashlib.sha256(frame.write_csv().encode()).hexdigest()}"
    assert fingerprints.of_frame(frame) == whole
    monkeypatch.setattr(fingerprints, "ROWS_AT_A_TIME", 2)
    assert fingerprints.of_frame(frame) == whole
