"""`surefoot study serve`: where it listens, what it prints, and what it refuses."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from surefoot.cli.main import run
from surefoot.console import serving
from surefoot.console.authentication import Tokens
from surefoot.console.serving import Place, lan_address, serve
from surefoot.errors import StudyError
from tests.support.consoles import study


@pytest.fixture
def started(monkeypatch):
    """What the command would have served."""
    calls = []
    monkeypatch.setattr(serving, "serve", lambda *words, **more: calls.append((*words, more)))
    return calls


@pytest.fixture
def file(tmp_path):
    study(tmp_path)._store.close()
    return tmp_path / "study.db"


def test_loopback_and_tokens_beside_the_study_by_default(started, file):
    assert run(["study", "serve", str(file)]) == 0
    ((opened, tokens, place, _),) = started
    assert opened.plan.title == "Mug on the shelf"
    assert place == Place("127.0.0.1", 8765)
    assert Tokens.kept(file.with_name("study.db.tokens.json")) == tokens


def test_options_reach_the_server(started, file, tmp_path):
    words = ["--host", "0.0.0.0", "--port", "9000", "--name", "lab.example", "--tokens", str(tmp_path / "t.json")]
    assert run(["study", "serve", str(file), *words]) == 0
    ((_, tokens, place, _),) = started
    assert place == Place("0.0.0.0", 9000, ("lab.example",))
    assert Tokens.kept(tmp_path / "t.json") == tokens


def test_lan_listens_at_this_machines_address(started, file, monkeypatch):
    monkeypatch.setattr(serving, "lan_address", lambda: "192.0.2.7")
    assert run(["study", "serve", str(file), "--lan"]) == 0
    assert started[0][2].host == "192.0.2.7"


def test_lan_without_a_network_is_said(monkeypatch):
    class Cut:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def connect(self, _):
            raise OSError("unreachable")

    monkeypatch.setattr(serving.socket, "socket", lambda *_: Cut())
    with pytest.raises(StudyError, match="on no network"):
        lan_address()


def test_refusals(file, tmp_path, capsys):
    assert run(["study", "serve", str(tmp_path / "none.db")]) == 65
    assert "surefoot study create" in capsys.readouterr().err
    assert not (tmp_path / "none.db").exists()
    assert run(["study", "serve", str(file), "--certificate", "c.pem"]) == 64
    assert "`--certificate` needs `--key`" in capsys.readouterr().err


def test_every_role_gets_a_link_and_a_network_its_warning_and_code(tmp_path, monkeypatch):
    import uvicorn

    said = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: None)
    monkeypatch.setattr(serving, "listener", lambda place: serving.socket.create_server(("127.0.0.1", 0)))
    tokens = Tokens.fresh()
    serving.serve(study(tmp_path), tokens, Place("192.0.2.7"), say=said.append)
    text = "\n".join(said)
    for role in ("operator", "runner", "owner"):
        assert f"/join#{getattr(tokens, role).reveal()}" in text
    assert "Anyone on this network can read" in text
    assert "▀" in text or "█" in text
    said.clear()
    serving.serve(_other(tmp_path, "second"), tokens, Place(), say=said.append)
    assert "Anyone on this network" not in "\n".join(said)
    said.clear()
    monkeypatch.setattr(serving, "lan_address", lambda: "192.0.2.7")
    serving.serve(_other(tmp_path, "third"), tokens, Place("0.0.0.0"), say=said.append)
    text = "\n".join(said)
    assert re.search(rf"http://192\.0\.2\.7:\d+/join#{tokens.operator.reveal()}", text)  # a phone cannot open 0.0.0.0
    assert "0.0.0.0" not in text


def _other(path, name):
    folder = path / name
    folder.mkdir()
    return study(folder)


# --- the network ---


def test_only_this_machine_is_served_by_default():
    assert Place().host == "127.0.0.1"


def test_a_taken_port_is_said(tmp_path):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = Place(port=taken.getsockname()[1])
        with pytest.raises(StudyError, match=r"The server cannot listen at .*: Address already in use"):
            serve(study(tmp_path), Tokens.fresh(), place)


@pytest.mark.end_to_end
def test_without_the_extra_it_says_what_to_install(tmp_path):
    code = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("uvicorn", "starlette", "segno"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocked())
from surefoot.cli.main import run
made = run(["study", "create", "plan.toml", "--policies", "new,old", "--horizon", "20", "--yes"])
print(made, run(["study", "serve", "study.db"]), run(["open", "--no-browser"]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.stdout.splitlines()[-1] == "0 65 65", done.stderr
    assert done.stderr.count("`console` extra") == 2


def test_a_network_that_is_served_over_tls_needs_no_warning(tmp_path, monkeypatch):
    import uvicorn

    said = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: None)
    monkeypatch.setattr(serving, "listener", lambda place: serving.socket.create_server(("127.0.0.1", 0)))
    place = Place("192.0.2.7", certificate=tmp_path / "c.pem", key=tmp_path / "k.pem")
    serving.serve(study(tmp_path), Tokens.fresh(), place, say=said.append)
    text = "\n".join(said)
    assert "https://192.0.2.7:" in text
    assert "Anyone on this network can read" not in text
