"""Bad files: a sentence with file, row, column and value; nothing partly read, nothing executed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from tests.support import samples
from tests.support.samples import npz, parquet, put


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
        ("policy,success\nnew,1\n,1\n", r"f, row 2: `policy` must name a policy in every row; got an empty cell\."),
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
            r'f: a single object must be one rollout; \{"score": 0\.71\} may be a total over many, and it does not',
        ),
        ('{"model": "a", "acc": 0.71, "date": "2026-01-01"}', r"f: a single object must be one rollout"),
        ('{"model": "a", "success": 1.0, "epoch": 3}', r"f: a single object must be one rollout"),
        (b"\x1f\x8b\x08\x00abc", r"f: the file must be plain data; it is gzip-packed\. Unpack it first\."),
        (b"SQLite format 3\x00abc", r"f: the file must be plain data; it is an SQLite database"),
        (b"\x04\x22\x4d\x18abc", r"f: the file must be plain data; it is an lz4-packed pickle"),
        (b"PAR1 not parquet at all", r"f: the table must be readable"),
        (b"PK\x03\x04 not a zip", r"f: the zip file must be complete and undamaged"),
        (b"\x93NUMPY\x01\x00", r"f: the array must have a readable header"),
    ],
)
def test_refused_with_its_place(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(sf.DataError, match=f"^{message}"):
        sf.read(put(tmp_path, "f", content))


def of(*members: tuple[str, bytes | str]) -> bytes:
    return samples.deflated({name: body.encode() if isinstance(body, str) else body for name, body in members})


START = ("_journal/start.json", '{"eval": {"task": "t", "model": "m"}}')
ROBOTS = '{"eval": {"policy": "pi0", "task": "t"}, "samples": %s}'
LBM = "Task,Method,Success/Failure,Num_Rollouts\n"
SAMPLE = '{"doc_id": 0, "resps": [], "metrics": ["acc"], "acc": 1}\n'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (of(("header.json", b'{"a": "\xff"}')), r"f: header\.json must be UTF-8\."),
        (of(("header.json", "[]")), r"f: header\.json must be an object\."),
        (of(START, ("summaries.json", "{}")), r"f: summaries\.json must be a list\."),
        (of(START, ("_journal/summaries/1.json", "{}")), r"f: _journal/summaries/1\.json must be a list\."),
        (of(START), r"f: the log must hold samples; it has none\."),
        (ROBOTS % "[]", r"f: the log must hold trials; it has none\."),
        (ROBOTS % '[{"scene_id": 1, "epochs": [null]}]', r"f: at least one trial must be scored; none is\."),
        (ROBOTS % "[3]", r"f: `samples\[0\]` must be an object; got 3\."),
        (ROBOTS % '[{"epochs": 3}]', r"f: `samples\[0\]\.epochs` must be a list; got 3\."),
        (
            ROBOTS % '[{"epochs": [{"success": "yes"}]}]',
            r"f: `samples\[0\]\.epochs\[0\]\.success` must be a number; got 'yes'\.",
        ),
        (
            ROBOTS % f'[{{"epochs": [{{"success": 1{"0" * 400}}}]}}]',
            r"f: `samples\[0\]\.epochs\[0\]\.success` must be a finite number; got 10",
        ),
        (f'{LBM}T,M,"[1, nan]",2\n', r"f, row 1: `Success/Failure` must list finite numbers; got 'nan'\."),
        (f'{LBM}T,M,"[]",0\n', r"f, row 1: `Success/Failure` must list at least one rollout; got none\."),
        (f'{LBM}T,M,"[1, 0]",two\n', r"f, row 1: `Num_Rollouts` must be a number; got 'two'\."),
        (
            "Starting episode 1\nStarting episode 2\nSuccess: True\n",
            r"f: episode 1 must end with a Success line; line 2 starts another one before it\.",
        ),
        ("Starting episode 1 Success: True\n", r"f: the log must hold finished episodes; it has none\."),
        ("Success: True\nStarting episode 1\n", r"f: line 1: an outcome must follow the start of its episode\."),
        (
            '{"doc_id": 0, "resps": [], "loss": 1}\n' * 2,
            r"f, row 1: a line must name at least one known "
            r"metric; got none",
        ),
        (f'{SAMPLE}{{"doc_id": 1, "resps": []}}\n', r"f, row 2: a line must have `doc_id` and the metric `acc`\."),
        ('{"n-shot": {}, "results": {"t": 1}}', r"f: `results\.t` must be an object\."),
        (
            '{"n-samples": {"t": {"effective": 0}}, "results": {"t": {"acc,none": 0.5}}}',
            r"f: `n-samples\.t` must be a whole number, 1 or more; got 0\.",
        ),
        (
            '{"n-samples": {"t": {"effective": 9}}, "results": {"t": {"acc,none": 1.5}}}',
            r"f: `results\.t\.acc,none` must be between 0 and 1; got 1\.5\.",
        ),
        ('{"n-shot": {}, "results": {"t": {"acc,none": 0.5}}}', r"f: the file must give a share of documents"),
        ('#{"t_start": 1}\n', r"f: there must be at least one episode; the file has none\."),
        ('#{"t_start": 1}\nr,t\n1,2\n', r"f: the header must have r and l; got r, t\."),
        ('{"benchmark": "b", "tasks": []}', r"f: the file must hold episodes; it has none\."),
        (
            '{"benchmark": "b", "tasks": [{"episodes": [{"metrics": {}}]}]}',
            r"f: at least one episode must have a metric; none has\.",
        ),
        ("policy,n_per_seed,rate\na,10,0.5\n", r"f: a table with n per repeat must also have the number of repeats\."),
        ("policy,k,n\na,6,5\n", r"f, row 1: `k` must be at most the rollouts, 5; got 6\."),
        ("policy,k,n\na,x,5\n", r"f, row 1: `k` must be a whole number, 0 or more; got 'x'\."),
        ("policy,rate,n\na,1.2e,5\n", r"f, row 1: `rate` must be a rate between 0 and 1; got '1\.2e'\."),
        ("policy,result\na,3/5\nb,x\n", r"f, row 2: `result` must look like 38/50; got 'x'\."),
        ('[{"policy": "a", "k": 1, "n": 2}, 7]', r"f, row 2: a row must be a JSON object; got '7'\."),
        ("policy,k,n\na,1,30000000\n", r"f: counts must add up to at most 20,000,000 rollouts; got 30,000,000\."),
        ("policy,k,n\n", r"f: there must be at least one row; got a header and no rows\."),
        (npz(a=np.array([1])), r"f: an \.npz file must be Stable-Baselines3's, .* it has a\."),
        (
            npz(timesteps=np.array([1, 2]), results=np.array([[1.0]])),
            r"f: `results` must have one row per time step; got \(1, 1\) and \(2,\) steps\.",
        ),
        (
            npz(timesteps=np.array([1]), results=np.array([[1.0]]), successes=np.array([[True, False]])),
            r"f: `successes` must have the shape of results, \(1, 1\); got \(1, 2\)\.",
        ),
        (f"{',' * 10_000}\n", r"f: a row must have at most 10,000 columns; got 10,001\."),
        (parquet(pl.DataFrame({f"c{i}": [1] for i in range(10_001)})), r"f: a row must have at most 10,000 columns"),
        (
            '{"overall": {}, "per_task": [{"metrics": {"successes": [1, 0], "max_rewards": [1]}}]}',
            r"f: `per_task\[0\]\.metrics\.max_rewards` must have as many values as `successes`, 2; got 1\.",
        ),
        ('{"evaluations": [{"policyA": null}]}', r"f: the file must hold evaluated policies; it has none\."),
        ('{"resolved_ids": ["a", 3]}', r"f: `resolved_ids` must be a list of instances; got \"\['a', 3\]\"\."),
    ],
)
def test_a_file_of_a_known_format_is_refused_for_what_it_lacks(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    with pytest.raises(sf.DataError, match=f"^{message}"):
        sf.read(put(tmp_path, "f", content))


LINE = '{"policy": "a", "success": true}\n'


@pytest.mark.parametrize(
    ("module", "limit", "content", "message"),
    [
        ("formats.junit", "LARGEST_TEXT", "<testsuite><testcase name='a'/></testsuite>", "JUnit XML must be at most 0"),
        ("recognising", "LARGEST_TEXT", LINE, "a file of this kind must be at most 0 MiB; got 0 MiB. Write its"),
        ("text_files", "LARGEST_LINES", 2 * LINE, "JSON Lines must be at most 0 MiB; got 0 MiB. Write the rollouts"),
        ("text_files", "LONGEST_LINE", 2 * LINE, "row 1: a line must be shorter than 0 MiB"),
        (
            "row_checks",
            "LONGEST_ROW",
            f"policy,success,note\na,1,{'x' * 20}\n",
            "row 0: a row must be shorter than 0 MiB",
        ),
    ],
)
def test_what_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, limit: str, content: str, message: str
) -> None:
    assert len(sf.read(put(tmp_path, "f", content))) > 0
    monkeypatch.setattr(f"surefoot.files.{module}.{limit}", 8)
    monkeypatch.setattr("surefoot.files.row_checks.PIECE", 4)
    with pytest.raises(sf.DataError, match=f"^f(: |, ){message}"):
        sf.read(tmp_path / "f")


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
        ("0.75'", r"got \"0\.75'\"\. Remove the extra \"'\"\."),
        ("\u2018" + "1", r"got '\u20181'\. Remove the extra '\u2018'\."),
        ("0.75 " + "x" * 100 + "'", r"got \"0\.75 x+\.\.\.x+'\"\."),
    ],
)
def test_a_stray_apostrophe_is_pointed_at(tmp_path: Path, cell: str, says: str) -> None:
    with pytest.raises(sf.DataError, match=f"^r.csv, row 2: `score` must be a finite number; {says}"):
        sf.read(put(tmp_path, "r.csv", f"policy,score\nnew,0.5\nnew,{cell}\n"))


def test_a_list_with_a_stray_end_is_quoted_at_its_end(tmp_path: Path) -> None:
    """The good end of a cell says nothing."""
    head = "Panel,Task,Method,Success/Failure,Num_Successes,Num_Rollouts,Success_Rate,CLD_Letter\n"
    values = ", ".join(["True", "False"] * 25)
    with pytest.raises(
        sf.DataError,
        match=r"^f.csv, row 1: `Success/Failure` must be a list in brackets; it ends with '.*True, False\]x'\. "
        r"Remove the text after the bracket: 'x'\.",
    ):
        sf.read(put(tmp_path, "f.csv", f'{head}A,T,M,"[{values}]x",25,50,0.5,a\n'))
    with pytest.raises(sf.DataError, match=r"must be a list in brackets; it begins with 'x\[True"):
        sf.read(put(tmp_path, "f.csv", f'{head}A,T,M,"x[{values}]",25,50,0.5,a\n'))


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
