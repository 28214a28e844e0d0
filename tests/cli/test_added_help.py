"""`--help` tells what installed packages add to a command."""

from __future__ import annotations

import pytest

from surefoot.cli.main import run
from tests.support.plugins import installed, put_toy


@pytest.fixture
def toy(tmp_path):
    """The toy package, installed."""
    with installed(put_toy(tmp_path / "site")):
        yield


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("replay",), "rules: third (surefoot-toy 1.0)"),
        (("plan", "compare"), "rules: third (surefoot-toy 1.0)"),
        (("study", "create"), "rules: third (surefoot-toy 1.0)"),
        (("study", "create"), "stores: toy (surefoot-toy 1.0)"),
        (("study", "status"), "stores: toy (surefoot-toy 1.0)"),
        (("study", "run"), "runners: always (surefoot-toy 1.0)"),
        (("report",), "figures: dots (surefoot-toy 1.0)"),
    ],
)
def test_help_tells_of_it(toy, capsys, command, said):
    assert run((*command, "--help")) == 0
    assert said in " ".join(capsys.readouterr().out.split())


def test_help_is_silent_where_nothing_is_added(capsys):
    assert run(("study", "create", "--help")) == 0
    assert "installed packages" not in capsys.readouterr().out
