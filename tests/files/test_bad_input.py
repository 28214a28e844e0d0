"""Bad files: a sentence with file, row, column and value; nothing partly read, nothing executed."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import surefoot as sf
from tests.support.samples import put


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"f: the file must hold rollouts; it is empty\."),
        (" \n\n", r"f: the file must hold rollouts; it is empty\."),
        ("policy,success\n", r"f: there must be at least one rollout; got a header and no rows\."),
        ("hello world\n", r"f: the file must be a table of rollouts .* it is none of these\."),
        ("a,b\n1,2\n", r"f: there must be a `success` or a `score` column; got 'a', 'b'\. Say which"),
        (
            "policy,success\nnew,sucess\n",
            r"f, row 1: `success` must be one of 1, true, success, 0, false, failure; got 'sucess'\.",
        ),
        ("policy,success\nnew,1\nnew,0.5\n", r"f, row 2: `success` .* got '0.5'\. A partial success is a score"),
        ("policy,success\nnew,1\n,1\n", r"f, row 2: `policy` must name a policy in every row; got None\."),
        ("policy,score\nnew,NaN\n", r"f, row 1: `score` must be a finite number; got 'NaN'\. Leave the cell empty"),
        ("policy,score\nnew,inf\n", r"f, row 1: `score` must be a finite number; got 'inf'\."),
        (
            "policy,success,human\nnew,1,50%\n",
            r"f, row 1: `human` must be a finite number; got '50%'\. Write 0.5 for 50%\.",
        ),
        (
            "policy,grade\nnew,pass\n",
            r"f, row 1: `score` \(column 'grade'\) must be a finite number; got 'pass'\. "
            r"These are successes and failures: say columns=\{\"success\": 'grade'\}\.",
        ),
        (
            "policy,progress\nnew,high\n",
            r"f, row 1: `score` \(column 'progress'\) must be a finite number; got 'high'\.",
        ),
        ("policy,success,steps\nnew,1,2.5\n", r"f, row 1: `steps` must be a whole number; got '2.5'\."),
        ("policy,success,success\nnew,1,0\n", r"f: a column must be named once in the header; got 'success' twice\."),
        ("policy,trials,trials,successes\nnew,10,20,5\n", r"f: a column must be named once .*got 'trials'"),
        ("policy,success\nnew,1\nnew\n", r"f, row 2: a row must have as many cells as the header, 2; got 1\."),
        ("policy,success\nnew,1,1\n", r"f, row 1: a row must have as many cells as the header, 2; got 3\."),
        ('policy,success\n"new,1\n', r"f, row 1: a quoted cell must be closed; the one that begins with 'new,1'"),
        ("policy,success\nnew,\nold,\n", r"f: at least one rollout must have an outcome; got 2 without\."),
        (b"policy,success\nn\xe9w,1\n", r"f: text must be UTF-8; byte 16 is not\. Save the file as UTF-8\."),
        ("policy,success\nnew,1\n".encode("utf-16"), r"f: the file must be plain data; it is UTF-16 text\."),
        ('{"policy": "new", "succ', r"f: the file must be complete JSON; it is cut off after line 1, column 19"),
        ('{"policy": "new", oops}', r"f: the file must be complete JSON; .* at line 1, column 19\."),
        ('[{"policy": "new", "success": 1}, 3]', r"f, row 2: a rollout must be a JSON object; got '3'\."),
        ('{"policy": "a", "success": 1}\n{"policy": "a", "success": 2}\n', r"f, row 2: `success` .* got 2\."),
        ('{"policy": "a", "success": 1}\n[1]\n', r"f, row 2: a rollout must be a JSON object"),
        ('{"policy": "a", "success": 1}\n{"policy": \n', r"f, row 2: the file must be complete JSON"),
        (
            '{"policy": "a", "score": 0.5}\n{"policy": "a", "score": "high"}\n',
            r"f, row 2: `score` must be a finite number; got 'high'",
        ),
        (
            '{"policy": "a", "score": 0.5}\n{"policy": "a", "score": {"x": 1}}\n',
            r"f, row 2: `score` must be a finite number; got '{\"x\": 1}'",
        ),
        (
            '{"policy": "\\ud800", "success": 1}\n{"policy": "a", "success": 1}\n',
            r"f, row 1: text must be valid Unicode",
        ),
        ("[" * 100_000, r"f: JSON must not be nested this deeply\."),
        ('{"policy": "a", "score": 1' + "0" * 5000 + "}", r"f: the file must be readable JSON; Exceeds the limit"),
        (
            '[{"policy": "a", "success": 1}, {"policy": "a", "success": 1, "success": 0}]',
            r"f, row 2: a key must be named once in an object; got 'success' twice\.",
        ),
        (
            '{"policy": "a", "success": 1}\n{"success": 1, "policy": "a", "success": 0}\n',
            r"f, row 2: a key must be named once in an object; got 'success' twice\.",
        ),
        (
            '{"success": 1, "policy": "a", "success": 0}\n{"policy": "a", "success": 1}\n',
            r"f, row 1: a key must be named once in an object; got 'success' twice\.",
        ),
        (
            '{"per_task": [], "overall": {"pc_success": 1, "pc_success": 2}}',
            r"f: a key must be named once in an object; got 'pc_success' twice\.",
        ),
        (
            '{"score": 0.71}',
            r'f: an object by itself must be one rollout; \{"score": 0\.71\} may be a total over many, and of how many',
        ),
        ('{"model": "a", "acc": 0.71, "date": "2026-01-01"}', r"f: an object by itself must be one rollout"),
        ('{"model": "a", "success": 1.0, "epoch": 3}', r"f: an object by itself must be one rollout"),
        (b"\x1f\x8b\x08\x00abc", r"f: the file must be plain data; it is gzip-packed\. Unpack it first\."),
        (b"SQLite format 3\x00abc", r"f: the file must be plain data; it is an SQLite database"),
        (b"\x04\x22\x4d\x18abc", r"f: the file must be plain data; it is an lz4-packed pickle"),
        (b"PAR1 not parquet at all", r"f: the table must be readable"),
        (b"PK\x03\x04 not a zip", r"f: the zip file must be whole"),
        (b"\x93NUMPY\x01\x00", r"f: the array must have a readable header"),
    ],
)
def test_refused_with_its_place(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(sf.DataError, match=f"^{message}"):
        sf.read(put(tmp_path, "f", content))


def test_the_error_carries_file_and_row(tmp_path: Path) -> None:
    with pytest.raises(sf.DataError) as refused:
        sf.read(put(tmp_path, "r.csv", "policy,success\nnew,1\nnew,maybe\n"))
    assert (refused.value.source, refused.value.row) == ("r.csv", 2)


def test_a_bad_row_far_down_is_found(tmp_path: Path) -> None:
    rows = ["new,1"] * 70_000
    rows[65_431] = "new,x"
    with pytest.raises(sf.DataError, match=r"big.csv, row 65432: .* got 'x'"):
        sf.read(put(tmp_path, "big.csv", "policy,success\n" + "\n".join(rows)))


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("0.75'", r"got \"0\.75'\"\. Remove the stray \"'\"\."),
        ("\u2018" + "1", r"got '\u20181'\. Remove the stray '\u2018'\."),
        ("0.75 " + "x" * 100 + "'", r"got \"0\.75 x+\.\.\.x+'\"\."),
    ],
)
def test_a_stray_apostrophe_is_pointed_at(tmp_path: Path, cell: str, says: str) -> None:
    with pytest.raises(sf.DataError, match=f"^r.csv, row 2: `score` must be a finite number; {says}"):
        sf.read(put(tmp_path, "r.csv", f"policy,score\nnew,0.5\nnew,{cell}\n"))


def test_a_published_list_with_a_stray_end_is_quoted_at_its_end(tmp_path: Path) -> None:
    """Two of the published LBM tables end a list with an apostrophe; the good end of the cell says nothing."""
    head = "Panel,Task,Method,Success/Failure,Num_Successes,Num_Rollouts,Success_Rate,CLD_Letter\n"
    values = ", ".join(["True", "False"] * 25)
    with pytest.raises(
        sf.DataError,
        match=r"^f.csv, row 1: `Success/Failure` must be a list in brackets; it ends with \".*True, False\]'\"\. "
        r"Remove what stands after the bracket: \"'\"\.",
    ):
        sf.read(put(tmp_path, "f.csv", f'{head}A,T,M,"[{values}]\'",25,50,0.5,a\n'))
    with pytest.raises(sf.DataError, match=r"must be a list in brackets; it begins with \"'\[True"):
        sf.read(put(tmp_path, "f.csv", f'{head}A,T,M,"\'[{values}]",25,50,0.5,a\n'))


def test_unicode_names_survive(tmp_path: Path) -> None:
    names = ("größe", "机器人", "🤖 policy", "e\u0301clair", "'; DROP TABLE x; --", "<script>alert(1)</script>")
    pl.DataFrame({"policy": names, "success": [1] * len(names)}).write_csv(tmp_path / "u.csv")
    table = sf.read(tmp_path / "u.csv")
    assert set(table.policies) == set(names)
    assert table.where(policy="机器人").tally() == sf.Tally(1, 1)


def test_a_byte_order_mark_and_windows_lines(tmp_path: Path) -> None:
    table = sf.read(put(tmp_path, "w.csv", "\ufeffpolicy;success\r\nnew;1\r\nnew;0\r\n"))
    assert table.tally() == sf.Tally(1, 2)


def test_mixed_types_in_a_frame() -> None:
    with pytest.raises(
        sf.DataError, match=r"`score` must hold a finite number in every row; got a column of type List"
    ):
        sf.read(pl.DataFrame({"policy": ["a"], "score": [[1.0, 2.0]]}))
    with pytest.raises(sf.DataError, match="row 2: `score` must be a finite number; got nan"):
        sf.read(pl.DataFrame({"policy": ["a", "a"], "score": [1.0, float("nan")]}))
    with pytest.raises(sf.DataError, match="there must be a `policy` column; got 'success'"):
        sf.read(pl.DataFrame({"success": [1]}))
    assert sf.read(pl.DataFrame({"success": [1]}), policy="a").policies == ("a",)
