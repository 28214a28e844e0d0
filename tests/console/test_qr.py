"""Tests of `surefoot.console.qr`."""

from __future__ import annotations

from surefoot.console import qr


def test_a_code_is_one_picture_without_style_or_script():
    picture = str(qr.svg("http://192.0.2.7:8765/join#token"))
    assert picture.startswith("<svg")
    assert "style" not in picture
    assert "script" not in picture
