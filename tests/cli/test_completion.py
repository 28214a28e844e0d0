"""Shell completion: commands and options are offered."""

from __future__ import annotations

import pytest

from surefoot.cli.main import run


@pytest.mark.parametrize(
    ("typed", "offered"), [("surefoot re", {"report", "replay"}), ("surefoot report --prev", {"--previous"})]
)
def test_what_is_typed_is_completed(capsys, monkeypatch, typed, offered):
    monkeypatch.setenv("_SUREFOOT_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split()) - 1))
    with pytest.raises(SystemExit) as ended:
        run([])
    assert ended.value.code == 0
    assert set(capsys.readouterr().out.split()) == offered
