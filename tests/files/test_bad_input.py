"""Bad files: a sentence with file, row, column and value; nothing partly read, nothing executed."""

from __future__ import annotations

import json
import os
import pickle
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot.files import archives
from tests import samples
from tests.samples import FIXTURES, put

HEADER = "policy,task,success,score\n"


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


def test_a_doubled_key_inside_a_log_or_a_session_is_refused(tmp_path: Path) -> None:
    members = samples.inspect_members()
    header = members["header.json"].decode().replace("{", '{"status": "error", ', 1)
    assert header.count('"status"') == 2
    with pytest.raises(sf.DataError, match="a key must be named once in an object; got 'status' twice"):
        sf.read(put(tmp_path, "log.eval", samples.deflated({**members, "header.json": header.encode()})))
    pytest.importorskip("yaml")
    session = (
        "language_instruction: x\npolicies:\n  A:\n    policy_name: a\n    binary_success: 1\n    binary_success: 0\n"
    )
    with pytest.raises(sf.DataError, match="got 'binary_success' twice, again at line 6"):
        sf.read(put(tmp_path, "metadata.yaml", session))


def test_an_object_that_says_which_rollout_it_is_is_one(tmp_path: Path) -> None:
    for content in ('{"policy": "a", "success": true}', '{"policy": "a", "episode": 7, "score": 0.5}'):
        assert len(sf.read(put(tmp_path, "one.json", content))) == 1
    counts = '{"policy": "new", "successes": 38, "trials": 50}'
    assert sf.read(put(tmp_path, "counts.json", counts)).tally() == sf.Tally(38, 50)


def test_a_total_beside_rollouts_in_a_folder_is_left_out(tmp_path: Path) -> None:
    put(tmp_path, "rollouts.jsonl", '{"policy": "a", "score": 0.5}\n{"policy": "a", "score": 1.0}\n')
    put(tmp_path, "summary.json", '{"policy": "a", "score": 0.75}')
    rollouts = sf.read(tmp_path)
    assert len(rollouts) == 2
    assert any("summary.json: not rollouts, left out." in str(note) for note in rollouts.notes)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(sf.DataError, match=r"pipe.csv: the file must be a regular one; it is a pipe or a device\."):
        sf.read(tmp_path / "pipe.csv")


def test_no_such_file() -> None:
    with pytest.raises(sf.DataError, match=r"nowhere.csv: there is no such file"):
        sf.read("nowhere.csv")


def test_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(sf.DataError, match="the folder must hold files of rollouts; it is empty"):
        sf.read(tmp_path)


class Boom:
    """A pickle that would leave a trace if anything loaded it."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.trace),)


@pytest.mark.parametrize("kind", ["pickle", "npy", "npz", "torch"])
def test_a_pickle_is_refused_and_never_run(tmp_path: Path, kind: str) -> None:
    trace = tmp_path / "trace"
    if kind == "pickle":
        content = pickle.dumps(Boom(trace))
    elif kind == "npy":
        content = samples.npy(np.array([Boom(trace)], dtype=object))
    elif kind == "npz":
        content = samples.npz(timesteps=np.array([1]), results=np.array([Boom(trace)], dtype=object))
    else:
        content = samples.deflated({"archive/data.pkl": pickle.dumps(Boom(trace)), "archive/version": b"3"})
    with pytest.raises(sf.DataError, match=r"pickle.* Load it where you trust it and write plain data"):
        sf.read(put(tmp_path, "f", content))
    assert not trace.exists()


def test_npy_of_another_shape_or_with_a_lying_header(tmp_path: Path) -> None:
    with pytest.raises(sf.DataError, match=r"must have the shape \(N, 2\), one column per policy; got \(3,\)"):
        sf.read(put(tmp_path, "a.npy", samples.npy(np.zeros(3))))
    lie = samples.npy(np.zeros((2, 2))).replace(b"(2, 2)", b"(9, 2)")
    with pytest.raises(sf.DataError, match="the array must hold 144 bytes after its header; got 32"):
        sf.read(put(tmp_path, "b.npy", lie))
    with pytest.raises(sf.DataError, match="the array must hold numbers; got type <U3"):
        sf.read(put(tmp_path, "c.npy", samples.npy(np.array([["yes", "no"]]))))
    with pytest.raises(sf.DataError, match="row 1: `score` must be a finite number; got nan"):
        sf.read(put(tmp_path, "d.npy", samples.npy(np.array([[np.nan, 0.5]]))))


def test_an_array_that_python_2_wrote_is_read(tmp_path: Path) -> None:
    old = samples.npy(np.array([[1.0, 0.0], [1.0, 1.0]])).replace(b"(2, 2), }", b"(2L, 2),}")
    assert b"2L" in old
    assert sf.read(put(tmp_path, "old.npy", old)).where(policy="policy 0").tally() == sf.Tally(2, 2)


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
    with pytest.raises(sf.DataError, match="zip file must be whole"):
        sf.read(put(tmp_path, "x.eval", bytes(content)))


def test_an_encrypted_member(tmp_path: Path) -> None:
    content = bytearray(samples.binary_files()["deflate.eval"])
    start = content.index(b"PK\x01\x02")
    while start >= 0:
        content[start + 8] |= 1
        start = content.find(b"PK\x01\x02", start + 4)
    with pytest.raises(sf.DataError, match="must not be encrypted"):
        sf.read(put(tmp_path, "x.eval", bytes(content)))


def test_a_million_columns(tmp_path: Path) -> None:
    started = time.monotonic()
    header = ",".join(f"c{number}" for number in range(1_000_000))
    with pytest.raises(sf.DataError, match="a row must have at most 10,000 columns; got 1,000,000"):
        sf.read(put(tmp_path, "wide.csv", header + "\n"))
    with pytest.raises(sf.DataError, match=r"row 1: a row must have as many cells as the header, 2; got 1,000,000"):
        sf.read(put(tmp_path, "row.csv", "policy,success\n" + "1," * 999_999 + "1\n"))
    record = json.dumps({"policy": "a", "success": 1} | {f"c{number}": 1 for number in range(20_000)})
    with pytest.raises(sf.DataError, match="a row must have at most 10,000 columns"):
        sf.read(put(tmp_path, "wide.jsonl", record + "\n" + record + "\n"))
    assert time.monotonic() - started < 20


def test_one_endless_line(tmp_path: Path) -> None:
    with pytest.raises(sf.DataError, match="a line must be shorter than 16 MiB; the first is longer"):
        sf.read(put(tmp_path, "x.csv", "a" * (17 << 20)))


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


def test_yaml_neither_runs_nor_grows(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    trace = tmp_path / "trace"
    head = "language_instruction: x\npolicies:\n"
    run = head + f"  A: !!python/object/apply:os.mkdir [{trace}]\n"
    with pytest.raises(sf.DataError, match=r"`policies.A` must have a policy_name"):
        sf.read(put(tmp_path, "run.yaml", run))
    assert not trace.exists()
    laughs = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [{','.join([f'*{chr(97 + i)}'] * 9)}]\n" for i in range(9)
    )
    with pytest.raises(sf.DataError, match="YAML must have no aliases"):
        sf.read(put(tmp_path, "laughs.yaml", laughs + head + "  A: {policy_name: x, binary_success: 1}\n"))
    with pytest.raises(sf.DataError, match="at most 50 levels"):
        sf.read(put(tmp_path, "deep.yaml", head + "  A: " + "[" * 50_000))


def test_wrong_shapes_inside_known_logs(tmp_path: Path) -> None:
    log = json.loads((FIXTURES / "lerobot_old" / "eval_info.json").read_text())
    cases = [
        ({**log, "per_episode": 3}, r"`per_episode` must be a list; got 3"),
        ({**log, "per_episode": [3]}, r"`per_episode\[0\]` must be an object; got 3"),
        ({**log, "per_episode": [{"success": "yes"}]}, r"`per_episode\[0\].success` must be a number; got 'yes'"),
        ({**log, "aggregated": []}, r"`aggregated` must be an object; got \[\]"),
        (
            {"per_task": [{"metrics": {"successes": [True], "sum_rewards": [1, 2]}}], "overall": {}},
            r"must be as long as successes, 1; got 2",
        ),
        ({"per_task": [{}], "overall": {}}, r"`per_task\[0\].metrics` must be an object; got nothing"),
    ]
    for document, message in cases:
        with pytest.raises(sf.DataError, match=message):
            sf.read(put(tmp_path, "eval_info.json", json.dumps(document)))
