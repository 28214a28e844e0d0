"""A report as PDF, printed by the browser that is here."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

import pytest

import surefoot as sf
from surefoot.cli.demo import example_rollouts
from surefoot.reporting import printing

pytestmark = pytest.mark.end_to_end


def test_a_report_is_printed_with_all_its_pages(tmp_path: Path, chromium) -> None:
    path = sf.report(example_rollouts()).save(tmp_path / "report.pdf")
    content = path.read_bytes()
    assert content.startswith(b"%PDF-")
    assert len(re.findall(rb"/Type\s*/Page\b", content)) >= 2
    assert b"/Type3" not in content
    text = b"".join(_streams(content))
    assert len(text) > 5_000


def _streams(content: bytes) -> list[bytes]:
    found = []
    for stream in re.findall(rb"stream\r?\n(.*?)endstream", content, re.DOTALL):
        try:
            found.append(zlib.decompress(stream))
        except zlib.error:
            continue
    return found


def test_no_browser_is_said_with_the_cure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(printing.shutil, "which", lambda name: None)
    target = tmp_path / "report.pdf"
    target.write_bytes(b"earlier")
    with pytest.raises(ValueError, match=r"none is here: install Chromium or Chrome, or write \.html"):
        sf.report(example_rollouts()).save(target)
    assert target.read_bytes() == b"earlier"


def test_a_browser_that_cannot_print_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printing.shutil, "which", lambda name: "/bin/true")
    with pytest.raises(ValueError, match="true must be able to print; it wrote nothing"):
        printing.pdf("<p>x</p>")


def test_a_browser_that_takes_too_long_and_one_that_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    def prints(asked: list[str], **_: object) -> None:
        target = next(word for word in asked if word.startswith("--print-to-pdf="))
        Path(target.removeprefix("--print-to-pdf=")).write_bytes(b"%PDF-1.7")

    def sleeps(asked: list[str], timeout: float, **_: object) -> None:
        raise printing.subprocess.TimeoutExpired(asked, timeout)

    monkeypatch.setattr(printing.shutil, "which", lambda name: "/bin/true")
    monkeypatch.setattr(printing.subprocess, "run", prints)
    assert printing.pdf("<p>x</p>") == b"%PDF-1.7"
    monkeypatch.setattr(printing.subprocess, "run", sleeps)
    with pytest.raises(ValueError, match=r"The browser must print within 120 seconds; it did not\."):
        printing.pdf("<p>x</p>")
