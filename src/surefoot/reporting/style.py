"""How does every figure look, in print, on a dark screen and to colour-blind people?

Text and axes are drawn in one ink colour; on a page that ink becomes the page's own text colour.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot._files import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#1a1d21"
FAINT = "#8a8f98"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F6A00")
"""Okabe and Ito's colours, in an order whose neighbours differ in lightness too."""
GOOD, BAD, UNSURE = "#0072B2", "#D55E00", FAINT
PAGE_COLOURS = {GOOD: "good", BAD: "bad"}
"""Colours that a page replaces by its own, lighter ones when it is dark."""

RC: dict[Any, Any] = {
    "text.parse_math": False,  # a dollar sign in a policy's name is a dollar sign
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10.0,
    "text.color": INK,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def canvas(width: float, height: float) -> tuple[Figure, Axes]:
    """An empty figure with one pair of axes, in inches. Use it inside `drawing`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def drawing() -> AbstractContextManager[None]:
    """The settings every figure is drawn and saved with; a context manager."""
    import matplotlib as mpl

    return mpl.rc_context(RC)


def inline_svg(figure: Figure, name: str, description: str) -> str:
    """The figure as an SVG element to put into a page: named, described, and in the page's own ink."""
    import matplotlib as mpl

    buffer = io.StringIO()
    with _quietly(), mpl.rc_context({**RC, "svg.hashsalt": name}):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', text)
    text = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", text)
    text = re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', text)
    text = text.replace(INK, "currentColor").replace("#000000", "currentColor")
    for colour, variable in PAGE_COLOURS.items():
        text = re.sub(rf"(stroke|fill): {colour}", rf"\1: var(--{variable}, {colour})", text, flags=re.IGNORECASE)
    width = re.search(r'width="([\d.]+)pt"', text)
    text = re.sub(r'(<svg[^>]*?) width="[\d.]+pt"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) height="[\d.]+pt"', r"\1", text, count=1)
    most = f"{float(width.group(1)) * 4 / 3:.0f}" if width else "700"
    label = f'<svg role="img" aria-label="{_escaped(description)}" style="max-width:{most}px"'
    return text.replace("<svg", label, 1)


def save(figure: Figure, path: str | Path) -> Path:
    """Write the figure as .svg, .png or .pdf, by the ending of its name, the same bytes every time.

    Raises:
        ValueError: The name ends otherwise.
    """
    import matplotlib as mpl

    target = Path(path)
    dates = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {}}
    kind = target.suffix.lower()
    if kind not in dates:
        raise ValueError(f"A figure's name must end in .svg, .png or .pdf; got {target.name!r}.")
    look = mpl.rc_context({**RC, "svg.hashsalt": "surefoot", "svg.fonttype": "path"})
    with _quietly(), look, whole_file(target) as file:
        figure.savefig(file, format=kind[1:], dpi=160, metadata=dates[kind])
    return target


@contextmanager
def _quietly() -> Iterator[None]:
    """A name in a script that the font lacks is the reader's font's business: an SVG keeps it as text."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph \d+")
        yield


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
