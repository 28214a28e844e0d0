"""What several tests of command line share."""

from __future__ import annotations

from surefoot.cli.main import run


def said(capsys, *words: str) -> tuple[int, str, str]:
    code = run(words)
    out, err = capsys.readouterr()
    return code, out, err
