"""A figure of another package is drawn among ours; one that cannot be drawn is left out."""

from __future__ import annotations

import logging

import pytest

import surefoot as sf
from surefoot.cli.main import run
from surefoot.reporting import added_figures
from tests.support.plugins import installed, put, put_toy

LOG = "#toy\nnew 11111111111111111111\nold 00000000001000000000\n"


@pytest.fixture
def toy(tmp_path):
    """The toy package, installed."""
    with installed(put_toy(tmp_path / "site")):
        yield


@pytest.fixture
def log(tmp_path):
    """A file of the toy format."""
    (tmp_path / "log.toy").write_text(LOG)
    return tmp_path / "log.toy"


def test_its_figure_is_on_the_page_and_among_the_figures(toy, log, tmp_path):
    made = sf.report(sf.read(log))
    assert "dots" in made.figures()
    assert "A dot for every policy." in made.html()
    assert run(("report", str(log), "-o", str(tmp_path / "page.html"), "--figures", str(tmp_path / "drawn"))) == 0
    assert (tmp_path / "drawn" / "dots.svg").exists()


@pytest.mark.parametrize("text", ["def thing(overview):\n    return 1 / 0\n", "def thing(overview):\n    return 7\n"])
def test_a_figure_that_cannot_be_drawn_is_left_out(tmp_path, log, caplog, text):
    folder = put(tmp_path / "broken", "broken-one", {"figures": {"bad": "broken:thing"}}, {"broken": text})
    with installed(put_toy(tmp_path / "site"), folder), caplog.at_level(logging.WARNING):
        made = sf.report(sf.read(log))
        assert "A dot for every policy." in made.html()
        assert "bad" not in made.figures()
    assert len(caplog.records) == 1


def test_every_figure_of_ours_has_a_name_that_is_kept(log, toy):
    made = sf.report(sf.read(log)).figures()
    assert {name for name in made if not name.startswith("band ")} <= added_figures.OWN | {"dots"}
