"""QR codes of links."""

from __future__ import annotations

import io

from markupsafe import Markup


def svg(link: str) -> Markup:
    """The link as a QR code to put into a page: one path, no style."""
    import segno

    code = segno.make(link, error="m", micro=False)
    picture = code.svg_inline(border=2, omitsize=True, svgclass="qr", lineclass=None, dark="#000", light="#fff")
    return Markup(picture)


def terminal(link: str) -> str:
    """The link as a QR code to print."""
    import segno

    text = io.StringIO()
    segno.make(link, error="l", micro=False).terminal(text, compact=True, border=2)
    return text.getvalue()
