"""Tests of `surefoot.cli.open`."""

import re
import sys
import webbrowser
from pathlib import Path

import pytest

from tests.support.command_line import said

uvicorn = pytest.importorskip("uvicorn")


@pytest.fixture
def served(monkeypatch):
    """What would have been served, and which addresses were opened."""
    seen = {"sockets": [], "opened": []}
    monkeypatch.setattr(
        uvicorn.Server, "run", lambda self, sockets: seen["sockets"].extend(s.getsockname() for s in sockets)
    )

    def opened(address):
        file = Path(address.removeprefix("file://"))
        seen["opened"].append((address, file.stat().st_mode, file.read_text()))

    monkeypatch.setattr(webbrowser, "open", opened)
    return seen


def test_the_page_is_for_this_machine_only_and_is_opened(capsys, served):
    code, out, _ = said(capsys, "open")
    ((host, port),) = served["sockets"]
    assert code == 0
    assert host == "127.0.0.1"
    address, rest = out.split("\n", 1)
    assert re.fullmatch(rf"http://127\.0\.0\.1:{port}/\?token=[\w-]{{24}}", address)
    assert rest == "Only who has this address can read the page. Stop with Ctrl+C.\n"
    ((opened, mode, text),) = served["opened"]
    assert opened.startswith("file:///"), "the words of a process are everybody's to read"
    assert "token" not in opened
    assert (mode & 0o077, address in text) == (0, True)


def test_no_browser_is_opened_when_told_so_and_a_file_is_answered_at_once(capsys, served, tmp_path):
    file = tmp_path / "results.csv"
    file.write_text("policy,success\n" + "new,1\nold,0\n" * 12)
    code, out, _ = said(capsys, "open", str(file), "--no-browser")
    assert code == 0
    assert "new is better than old" in out.splitlines()[0]
    assert served["opened"] == []


def test_a_port_that_cannot_be_is_refused(capsys, served):
    code, _, err = said(capsys, "open", "--port", "70000")
    assert code != 0
    assert "must be a whole number from 0 to 65535; got 70000" in err
    assert served["sockets"] == []


def test_without_the_extra_the_page_says_what_to_install(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    code, _, err = said(capsys, "open")
    assert code == 65
    assert "`surefoot open` needs the `console` extra (uvicorn is missing): pip install 'surefoot[console]'." in err
