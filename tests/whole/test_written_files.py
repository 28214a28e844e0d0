"""Every file that the product writes is there whole or not at all: a full disk or Ctrl+C leaves the earlier one."""

from __future__ import annotations

import ast
import errno
from pathlib import Path

import pytest

import surefoot
from surefoot import _files
from surefoot.cli.main import run
from tests.support.trees import tree_of

SOURCE = Path(surefoot.__file__).parent
OWN = {
    "_files.py": "writes whole files",
    "study/stores/sqlite.py": "keeps a database",
    "study/clips.py": "a clip that arrives, which gets its name once it is whole",
    "integrations/tracking.py": "adds to a summary that others add to",
}


@pytest.mark.parametrize(
    "words", [("report", "-o", "out.html"), ("export", "-o", "out.html"), ("backup", "-o", "out.html")]
)
def test_a_full_disk_is_told_in_one_sentence_and_the_old_file_stands(tmp_path, monkeypatch, capsys, words):
    if words[0] == "backup":
        pytest.importorskip("cryptography", reason="needs the extra `seal`")
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
        for node in ast.walk(tree_of(path)):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            strings = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            if name in ("write_text", "write_bytes") or (name == "open" and any(set(s) & set("wax+") for s in strings)):
                found.append(f"{path.relative_to(SOURCE)}:{node.lineno}")
    assert found == []
